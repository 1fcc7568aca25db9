"""Files that are whole or not there, whatever moment the process dies at."""

import json
import os


def write_atomic(path, data):
    """Replaces the file at `path` by `data` (bytes), durably: after this
    returns the new content survives a crash; before, the old one does.

    One writer a path: the temporary name is fixed, so that what a killed
    writer leaves is overwritten by the next."""
    folder = os.path.dirname(os.path.abspath(path))
    os.makedirs(folder, exist_ok=True)
    temporary = os.path.join(folder, "." + os.path.basename(path) + ".tmp")
    with open(temporary, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class Report:
    """Appends JSON lines to the file named by GRIDFOLD_REPORT, through which a
    job tells the scheduler how it gets on. Without the variable: does nothing."""

    def __init__(self, path=None):
        self.path = path if path is not None else os.environ.get("GRIDFOLD_REPORT")

    def write(self, **facts):
        if not self.path:
            return
        # One write call in append mode: lines of several writers do not mix.
        line = json.dumps(facts, separators=(",", ":")) + "\n"
        with open(self.path, "ab", buffering=0) as file:
            file.write(line.encode())
