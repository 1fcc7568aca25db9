"""What a run may have left on the machine: processes, cgroups, files."""

import hashlib
import os

# Where programs leave files when they do not know better.
COMMON_FOLDERS = ("/tmp", "/var/tmp", "/dev/shm", "/run", "~", "~/.local/state", "~/.cache")


def processes(folder, but=()):
    """["1234 (python3)"] of all processes that name `folder` in their command
    line or environment, except those with the pids `but`."""
    needle, found = os.fsencode(folder), []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if int(pid) in but or not any(needle in _read(f"/proc/{pid}/{part}") for part in ("cmdline", "environ")):
            continue
        found.append(f"{pid} ({_read(f'/proc/{pid}/comm').decode(errors='replace').strip()})")
    return found


def cgroups(state, root="/sys/fs/cgroup"):
    """Folders of the daemon that had this state directory, in all hierarchies."""
    instance = "gridfold-" + hashlib.sha256(os.fsencode(state)).hexdigest()[:12]
    return [os.path.join(path, name) for path, folders, _ in os.walk(root) for name in folders if name == instance]


def files(folder):
    """Entries of the common folders that carry the name of `folder`, except itself."""
    name, found = os.path.basename(folder), []
    for place in map(os.path.expanduser, COMMON_FOLDERS):
        entries = os.listdir(place) if os.path.isdir(place) else []
        paths = (os.path.join(place, entry) for entry in entries if name in entry)
        found += [path for path in paths if path != folder]
    return found


def default_state():
    """Change time of the default state directory, which we must not touch; None
    when there is none."""
    base = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    try:
        return os.stat(os.path.join(base, "gridfold")).st_mtime_ns
    except FileNotFoundError:
        return None


def _read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:  # it has ended, or is not ours to look at
        return b""
