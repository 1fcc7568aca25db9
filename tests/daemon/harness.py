"""Runs the real daemon for tests: on a state directory of its own, spoken to
over its Unix socket and through the command line, and asked at the end what
it has left behind.

    class SomeTest(DaemonTest):
        def test_something(self):
            self.daemon.start()
            job = self.daemon.submit({"name": "a", "run": "exit 3"})
            self.assertEqual(self.daemon.wait(job)["state"], "failed")

The binary is that of GRIDFOLD_PROGRAM. Standard library only.
"""

import glob
import hashlib
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

PROGRAM = os.path.abspath(os.environ.get("GRIDFOLD_PROGRAM", "build/dev/gridfold"))
# Long enough for a build with sanitizers on a machine that others use too.
PATIENCE_SECONDS = 60.0


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class Answer:
    """Status, headers and body of one HTTP answer."""

    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"{self.status} {self.body[:500]!r}"


def exchange(connection, method, path, body=None, headers=None):
    """One request on a new connection. OSError or HTTPException when the other
    end is not there or goes away."""
    headers = dict(headers or {})
    if body is not None and not isinstance(body, (bytes, str)):
        body = json.dumps(body)
        headers.setdefault("Content-Type", "application/json")
    try:
        connection.request(method, path, body=body, headers=headers)
        reply = connection.getresponse()
        return Answer(reply.status, dict(reply.headers), reply.read())
    finally:
        connection.close()


class Daemon:
    """`gridfold up` on one state directory, started and ended any number of times;
    after serve(), `gridfold serve` with that file (None: `up` again)."""

    def __init__(self, state, *arguments, cwd, environment=None):
        self.state = str(state)
        self.arguments = list(arguments)
        self.cwd = str(cwd)
        self.environment = dict(os.environ if environment is None else environment)
        for name in [name for name in self.environment if name.startswith("GRIDFOLD_")]:
            del self.environment[name]
        self.process = None
        self.verb = ["up"]
        self.log = os.path.join(self.cwd, "..", "daemon.log")
        self.jobs_path = "/v1/tenants/default/jobs"

    # --- its process ---

    def serve(self, config):
        self.verb = ["up"] if config is None else ["serve", "--config", config]

    def spawn(self):
        """Starts the process and returns at once."""
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [PROGRAM, "--state", self.state, *self.verb, *self.arguments], cwd=self.cwd,
                env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def start(self):
        """Starts it and waits until it answers."""
        self.spawn()
        self.wait_ready()

    def wait_ready(self):
        def answers():
            if self.process.poll() is not None:
                raise AssertionError(f"the daemon ended with {self.process.returncode}: {self.talk()}")
            try:
                return self.get("/livez", timeout=5).status == 200
            except (OSError, http.client.HTTPException):
                return False
        wait_until(answers, "the daemon answers", step=0.01)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        """Ends it as a user does; running tasks go on."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE_SECONDS)

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def talk(self):
        """What it has written to its terminal."""
        with open(self.log, encoding="utf-8", errors="replace") as log:
            return log.read()

    # --- its API ---

    def request(self, method, path, body=None, headers=None, timeout=PATIENCE_SECONDS):
        connection = _UnixConnection(os.path.join(self.state, "gridfold.sock"), timeout)
        return exchange(connection, method, path, body, headers)

    def get(self, path, timeout=PATIENCE_SECONDS):
        return self.request("GET", path, timeout=timeout)

    def submit_batch(self, jobs, key=None):
        """The answer to a submission; `jobs` is one job document or a list."""
        return self.request("POST", self.jobs_path, jobs, {"Idempotency-Key": key} if key else None)

    def submit(self, job):
        """Submits one job and gives its id."""
        answer = self.submit_batch(job)
        if answer.status != 201:
            raise AssertionError(f"the submission was answered with {answer}")
        return answer.json()["jobs"][0]["id"]

    def job(self, reference):
        answer = self.get(f"{self.jobs_path}/{reference}")
        if answer.status != 200:
            raise AssertionError(f"job {reference}: {answer}")
        return answer.json()

    def wait(self, reference):
        """The job's document once it has ended."""
        end = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < end:
            answer = self.get(f"{self.jobs_path}/{reference}:wait?timeout=5s")
            if answer.status != 200:
                raise AssertionError(f"waiting for job {reference}: {answer}")
            if is_over(answer.json()):
                return answer.json()
        raise AssertionError(f"job {reference} has not ended: {answer}")

    def wait_for_state(self, reference, state):
        wait_until(lambda: self.job(reference)["state"] == state, f"job {reference} is {state}")

    def list_jobs(self, query=""):
        """All jobs, newest first, over all pages."""
        jobs, token = [], ""
        while True:
            page = self.get(f"{self.jobs_path}?page_size=1000{query}{token}").json()
            jobs += page["jobs"]
            if "next_page_token" not in page:
                return jobs
            token = "&page_token=" + page["next_page_token"]

    # --- its command line ---

    def command(self, *words):
        return [PROGRAM, "--state", self.state, *words]

    def cli(self, *words, timeout=PATIENCE_SECONDS):
        """Runs a command to its end; its outputs are text."""
        return subprocess.run(self.command(*words), cwd=self.cwd, env=self.environment, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout)

    def popen(self, *words, **options):
        return subprocess.Popen(self.command(*words), cwd=self.cwd, env=self.environment,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, **options)

    # --- what it leaves ---

    def groups(self):
        """Its control groups, in every hierarchy."""
        instance = "gridfold-" + hashlib.sha256(self.state.encode()).hexdigest()[:12]
        return [path for pattern in ("/sys/fs/cgroup/gridfold/", "/sys/fs/cgroup/*/gridfold/")
                for path in glob.glob(pattern + instance)]

    def processes(self):
        """Processes that carry the state directory: the daemon, its shims, its tasks."""
        mark = self.state.encode()
        found = {}
        for entry in os.listdir("/proc"):
            if not entry.isdigit() or int(entry) == os.getpid():
                continue
            try:
                words = pathlib.Path("/proc", entry, "cmdline").read_bytes()
                own = mark in words
                own = own or mark in pathlib.Path("/proc", entry, "environ").read_bytes()
            except OSError:
                continue  # it has just ended
            if own:
                found[int(entry)] = words.replace(b"\0", b" ").decode(errors="replace")
        return found


def is_over(job):
    return job["state"] in ("succeeded", "failed", "cancelled")


def wait_until(condition, what, seconds=PATIENCE_SECONDS, step=0.02):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"within {seconds} s it did not come true that {what}")
        time.sleep(step)


class DaemonTest(unittest.TestCase):
    """Gives each test a daemon (not started) and folders of its own, and asserts
    at the end that nothing is left but files in the state directory.

    self.folder/state   the daemon's state
    self.folder/home    HOME, TMPDIR and the working directory of daemon and commands:
                        must stay empty
    self.folder/data    for the jobs of the test
    """

    arguments = ()  # of `gridfold up`

    def setUp(self):
        # A short path: a socket's name has at most 107 bytes.
        self.folder = tempfile.mkdtemp(prefix="gf-", dir=os.environ.get("GRIDFOLD_TEST_DIR", "/tmp"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        for name in ("home", "data"):
            os.mkdir(os.path.join(self.folder, name))
        self.home = os.path.join(self.folder, "home")
        self.data = os.path.join(self.folder, "data")
        environment = dict(os.environ, HOME=self.home, TMPDIR=self.home, LC_ALL="C.UTF-8")
        environment.pop("XDG_STATE_HOME", None)
        self.daemon = Daemon(os.path.join(self.folder, "state"), *self.arguments, cwd=self.home,
                             environment=environment)
        self.addCleanup(self._end)

    def tearDown(self):
        """Of a test that passed: a clean end, then nothing is left."""
        if self.daemon.is_running():
            self.cancel_all()
            self.assertEqual(self.daemon.stop(), 0, self.daemon.talk())
        self.assert_nothing_left()

    def cancel_all(self):
        for job in self.daemon.list_jobs("&state=live"):
            self.daemon.request("POST", f"{self.daemon.jobs_path}/{job['id']}:cancel")
        wait_until(lambda: not self.daemon.list_jobs("&state=live"), "all jobs have ended")

    def assert_nothing_left(self):
        wait_until(lambda: not self.daemon.processes() and not self.daemon.groups(),
                   f"no process and no group is left, of {self.daemon.processes()} and "
                   f"{self.daemon.groups()}", seconds=10)
        self.assertEqual(os.listdir(self.home), [], "files outside the state directory")
        self.assertEqual(sorted(os.listdir(self.folder)), ["daemon.log", "data", "home", "state"])

    def _end(self):
        """Whatever became of the test, no process of it goes on."""
        if self.daemon.is_running():
            self.daemon.kill()
        for _ in range(100):
            left = self.daemon.processes()
            if not left:
                return
            for process in left:
                try:
                    os.kill(process, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            time.sleep(0.05)
