"""The three jobs of the quickstart as its driver sees them: submitted, looked
at through the files that they keep, and compared with undisturbed runs."""

import http.client
import json
import os
import re
import signal
import subprocess

from daemon import Trouble
from screen import bar

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = "/usr/bin/python3"  # Debian's, which has numpy
DEVICES = 8
KILLED_RANK = 2
CLIENT_SECONDS = 3600  # more than the client will be let run


class Work:
    """What is under way in `folder`."""

    fillers = range(1, 8)

    def __init__(self, daemon, folder):
        self.daemon, self.folder = daemon, folder
        self._client = None
        os.makedirs(folder)

    def submit(self, *names):
        for name in names:
            made = subprocess.run([os.path.join(HERE, "job.sh"), name, self.folder], capture_output=True, text=True,
                                  check=False)
            if made.returncode != 0:
                raise Trouble(made.stderr.strip())
            self.daemon.call("job", "submit", "-", text=made.stdout)

    def last_words(self, job):
        """The end of what the first task of a failed job wrote."""
        return self.daemon.logs(job["id"], "--stderr")[-500:]

    # --- the service and its client ---

    def service_is_up(self):
        return self._health() is not None

    def start_client(self):
        self._client = subprocess.Popen(
            [PYTHON, os.path.join(HERE, "client.py"), "--port-file", self._path("serve.port"), "--rate", "40",
             "--seconds", str(CLIENT_SECONDS)],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)

    def stop_client(self):
        """Its facts, and whether it calls them good."""
        client, self._client = self._client, None
        client.send_signal(signal.SIGTERM)
        output, _ = client.communicate(timeout=60)
        try:
            return {**json.loads(output), "good": client.returncode == 0}
        except ValueError as error:
            raise Trouble(f"the client: {output.strip()}") from error

    def end(self):
        """Ends what runs outside the daemon."""
        if self._client is not None:
            self._client.kill()
            self._client.communicate()
            self._client = None

    def _health(self):
        try:
            with open(self._path("serve.port"), encoding="ascii") as file:
                connection = http.client.HTTPConnection("127.0.0.1", int(file.read()), timeout=5)
            connection.request("GET", "/healthz")
            facts = json.loads(connection.getresponse().read())
            connection.close()
            return facts
        except (OSError, ValueError, http.client.HTTPException):
            return None  # not up, or up no more

    # --- the training ---

    def has_checkpoint(self):
        return os.path.exists(self._path("train", "model.npz"))

    def pid_of_rank(self, rank):
        """The process that trains as this rank, found as a person would find it."""
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    words = file.read().split(b"\0")
                with open(f"/proc/{pid}/environ", "rb") as file:
                    environment = file.read().split(b"\0")
            except OSError:
                continue
            if (os.fsencode(self._path("train")) in words and os.fsencode(PYTHON) == words[0]
                    and b"RANK=%d" % rank in environment):
                return int(pid)
        raise Trouble(f"there is no process of rank {rank}")

    def held_out_accuracy(self):
        found = re.findall(r"finished +held-out accuracy ([\d.]+)", self.daemon.logs("digits-train"))
        if not found:
            raise Trouble("the training did not say which accuracy it reached")
        return float(found[-1])

    # --- the fillers ---

    def cleaned(self, index):
        """Items whose cleaning is saved."""
        return self._position(index)["done"]

    def resumed(self, index):
        return "resumed at item" in self.daemon.logs(filler_name(index))

    def checksum(self, index):
        return _checksum(self.daemon.logs(filler_name(index)))

    def undisturbed_checksum(self, index):
        """Of the same work, done alone and in one go."""
        items = self._position(index)["settings"]["items"]
        done = subprocess.run([PYTHON, os.path.join(HERE, "clean.py"), "--output", self._path("undisturbed"),
                               "--seed", str(index), "--items", str(items)], capture_output=True, text=True,
                              check=False)
        return _checksum(done.stdout)

    # --- progress ---

    def progress(self, name):
        """A few words for the live table."""
        if name == "digits-serve":
            facts = self._health()
            return f"{facts['requests']} requests answered, model: {facts['model']}" if facts else ""
        if name == "digits-train":
            found = re.findall(r"epoch (\d+)/(\d+) .*accuracy ([\d.]+)", self.daemon.logs(name))
            return "epoch {} of {}, accuracy {}".format(*found[-1]) if found else ""
        position = self._position(int(re.search(r"\d+", name)[0]))
        share = position["done"] / position["settings"]["items"]
        return f"{bar(share)} {share * 100:3.0f} %"

    def _position(self, index):
        try:
            with open(self._path(f"clean-{index}", "position.json"), encoding="utf-8") as file:
                return json.load(file)
        except FileNotFoundError:
            return {"done": 0, "settings": {"items": 1}}

    def _path(self, *parts):
        return os.path.join(self.folder, *parts)


def fillers_text(indices):
    """"filler 4", "fillers 4, 5, 6"."""
    return f"filler{'s' if len(indices) > 1 else ''} {', '.join(map(str, indices))}"


def filler_name(index):
    return f"digits-clean[{index}]"


def _checksum(output):
    found = re.findall(r"sha256 ([0-9a-f]{64})", output)
    if not found:
        raise Trouble(f"a filler gave no checksum: {output.strip()[-300:]}")
    return found[-1]
