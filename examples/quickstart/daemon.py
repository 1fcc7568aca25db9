"""A Gridfold daemon of our own, and its commands as Python calls."""

import json
import os
import signal
import subprocess
import time

START_SECONDS = 30.0
STOP_SECONDS = 60.0  # longer than the longest grace of the jobs
COMMAND_SECONDS = 30.0


class Trouble(Exception):
    """What went wrong, in words for the person at the terminal."""


class Daemon:
    """`gridfold up` on a state directory, until stop()."""

    def __init__(self, program, state, devices):
        self.program, self.state, self.devices = program, state, devices
        self.log = state + ".log"
        self._process = None
        # No configuration but what is on the command line.
        self._environment = {name: value for name, value in os.environ.items()
                             if not name.startswith("GRIDFOLD_")}

    def start(self):
        command = [self.program, "--state", self.state, "up", "--devices", self.devices, "--stop-tasks"]
        with open(self.log, "wb") as log:
            # A session of its own: Ctrl-C is for the driver, which then stops it in order.
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                             env=self._environment, start_new_session=True)
        deadline = time.monotonic() + START_SECONDS
        while self._try("node", "list", "-o", "name").returncode != 0:
            if self._process.poll() is not None:
                raise Trouble(f"the daemon did not start:\n{self.last_words()}")
            if time.monotonic() > deadline:
                raise Trouble(f"the daemon did not answer within {START_SECONDS:.0f} s:\n{self.last_words()}")
            time.sleep(0.05)

    def is_up(self):
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self):
        return self._process.pid

    def stop(self):
        """Cancels all jobs, waits for their ends and the daemon's. The exit
        code; nothing to do when it was never started."""
        if self._process is None:
            return 0
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        try:
            return self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()

    def call(self, *words, text=None):
        """Output of a command; Trouble with its own words when it fails."""
        done = self._try(*words, text=text)
        if done.returncode != 0:
            raise Trouble(f"gridfold {' '.join(words)}: {done.stderr.strip()}")
        return done.stdout

    def jobs(self):
        """All jobs, ended ones too, as documents of the API."""
        return json.loads(self.call("job", "list", "--all", "-o", "json"))["jobs"]

    def job(self, name):
        return json.loads(self.call("job", "get", name, "-o", "json"))

    def logs(self, name, *words):
        """What the job's first task has written; nothing before it has begun."""
        return self._try("logs", name, *words).stdout

    def last_words(self, lines=5):
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return "".join(f"  {line}" for line in file.readlines()[-lines:]).rstrip()

    def _try(self, *words, text=None):
        if self._process.poll() is not None:
            raise Trouble(f"the daemon has ended:\n{self.last_words()}")
        return subprocess.run([self.program, "--state", self.state, "--lang", "en", *words], input=text,
                              capture_output=True, text=True, env=self._environment, timeout=COMMAND_SECONDS,
                              check=False)
