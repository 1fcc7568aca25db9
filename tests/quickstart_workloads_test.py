#!/usr/bin/env python3
"""The quickstart's programs without a scheduler: real processes that train,
serve and clean, and are killed or asked to end at bad moments."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
QUICKSTART = os.path.join(ROOT, "examples", "quickstart")
sys.dont_write_bytecode = True
sys.path.insert(0, QUICKSTART)

import numpy as np  # noqa: E402

import digits  # noqa: E402
from network import CheckpointError, Network, State  # noqa: E402

PYTHON = "/usr/bin/python3"  # Debian's, which has numpy
PATIENCE_SECONDS = 60.0


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(condition, what):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited too long for {what}")
        time.sleep(0.02)


class Process:
    """A program of the quickstart with its output kept in a file."""

    def __init__(self, test, program, *arguments, **environment):
        self.output = tempfile.NamedTemporaryFile(dir=test.folder, delete=False)
        env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment}
        self.process = subprocess.Popen([PYTHON, os.path.join(QUICKSTART, program), *map(str, arguments)],
                                        stdout=self.output, stderr=subprocess.STDOUT, env=env)
        test.addCleanup(self.kill)

    def text(self):
        with open(self.output.name, encoding="utf-8") as file:
            return file.read()

    def wait(self):
        return self.process.wait(PATIENCE_SECONDS)

    def send(self, number):
        self.process.send_signal(number)

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.output.close()


class WithFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, *names):
        return os.path.join(self.folder, *names)


class Training(WithFolder):
    EPOCHS = 30
    expected = None  # see undisturbed()

    def ranks(self, name, *arguments):
        self.port, self.arguments = free_port(), ("--checkpoint", self.path(name), "--epochs", self.EPOCHS,
                                                  "--save-every", 3, *arguments)
        return [self.rank(r) for r in range(4)]

    def rank(self, rank):
        return Process(self, "train.py", *self.arguments, RANK=str(rank), WORLD_SIZE="4",
                       MASTER_ADDR="127.0.0.1", MASTER_PORT=str(self.port),
                       GRIDFOLD_REPORT=self.path(f"report-{rank}"))

    def finish(self, ranks):
        """Everyone's final parameters, by hash."""
        for rank in ranks:
            self.assertEqual(rank.wait(), 0, rank.text())
        hashes = {re.search(r"finished .* parameters (\w+)", rank.text()).group(1) for rank in ranks}
        self.assertEqual(len(hashes), 1, hashes)
        return hashes.pop()

    def undisturbed(self):
        """The hash of a run in which nothing happens; made once."""
        if Training.expected is None:
            Training.expected = self.finish(self.ranks("undisturbed"))
        return Training.expected

    def wait_for_checkpoint(self, name):
        wait_for(lambda: os.path.exists(self.path(name, "model.npz")), "a checkpoint")

    def test_four_ranks_reach_the_accuracy_and_report_their_steps(self):
        ranks = self.ranks("plain")
        Training.expected = self.finish(ranks)
        for rank in ranks:
            accuracy = float(re.search(r"finished  held-out accuracy (\S+)", rank.text()).group(1))
            self.assertGreaterEqual(accuracy, 0.95)
        with open(self.path("report-0"), encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        losses = [line["loss"] for line in lines if "loss" in line]
        self.assertEqual(len(losses), self.EPOCHS)
        self.assertLess(losses[-1], losses[0] / 4)
        self.assertTrue(any("saved" in line for line in lines))
        self.assertTrue(all(line["step_seconds"] > 0 for line in lines if "loss" in line))

        # A rank that is started again when all is done does not wait for the others.
        self.assertEqual(self.finish([self.rank(3)]), Training.expected)

    def test_a_killed_rank_that_is_restarted_changes_nothing(self):
        for victim in (2, 0):
            with self.subTest(victim=victim):
                name = f"killed-{victim}"
                ranks = self.ranks(name)
                self.wait_for_checkpoint(name)
                ranks[victim].send(signal.SIGKILL)
                self.assertEqual(ranks[victim].wait(), -signal.SIGKILL, "it was over before it was killed")
                time.sleep(0.3)
                ranks[victim] = self.rank(victim)
                self.assertEqual(self.finish(ranks), self.undisturbed())
                self.assertIn("meeting again", ranks[1].text())
                self.assertIn("resumed at epoch", ranks[victim].text())

    def test_a_preempted_gang_goes_on_where_it_was(self):
        ranks = self.ranks("preempted")
        self.wait_for_checkpoint("preempted")
        for rank in ranks:
            rank.send(signal.SIGTERM)
        for rank in ranks:
            self.assertEqual(rank.wait(), 143, rank.text())
        step = State.load(self.path("preempted", "model.npz")).step
        self.assertGreater(step, 0)
        self.assertEqual(self.finish([self.rank(r) for r in range(4)]), self.undisturbed())

    def test_strangers_at_the_door_do_no_harm(self):
        ranks = self.ranks("strangers")
        for message in (b"", b"GET / HTTP/1.0\r\n\r\n", b'{"rank": 99, "ring_port": 1}\n', b"[" * 100000 + b"\n"):
            wait_for(lambda: self.knock(message), "rank 0 to listen")
        self.assertEqual(self.finish(ranks), self.undisturbed())

    def knock(self, message):
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as door:
                door.sendall(message)
            return True
        except OSError:
            return False

    def test_too_low_an_accuracy_is_a_failure(self):
        lone = Process(self, "train.py", "--checkpoint", self.path("low"), "--epochs", 1, "--accuracy", 0.999)
        self.assertEqual(lone.wait(), 1)
        self.assertIn("below 0.999", lone.text())

    def test_a_checkpoint_of_another_run_is_refused(self):
        first = Process(self, "train.py", "--checkpoint", self.path("one"), "--epochs", 1, "--accuracy", 0)
        self.assertEqual(first.wait(), 0, first.text())
        other = Process(self, "train.py", "--checkpoint", self.path("one"), "--epochs", 2)
        self.assertEqual(other.wait(), 1)
        self.assertIn("give another --checkpoint directory", other.text())

    def test_a_damaged_checkpoint_is_named(self):
        state = State([2, 2], {}, 5, np.ones(6, np.float32), np.zeros(6, np.float32))
        data = bytearray(state.to_bytes())
        self.assertEqual(State.from_bytes(bytes(data)).step, 5)
        for damaged in (b"", data[:100], bytes(b ^ 1 for b in data)):
            with self.assertRaises(CheckpointError):
                State.from_bytes(bytes(damaged), "x")

    def test_the_gradient_is_the_slope_of_the_loss(self):
        network = Network([3, 5, 4])
        rng = np.random.default_rng(7)
        images, labels = rng.normal(size=(6, 3)), rng.integers(0, 4, 6)
        vector = network.initial(3).astype(np.float64)
        _, gradient = network.loss_and_gradient(vector, images, labels)
        for i in range(len(vector)):
            step = np.zeros_like(vector)
            step[i] = 1e-5
            slope = (network.loss_and_gradient(vector + step, images, labels)[0]
                     - network.loss_and_gradient(vector - step, images, labels)[0]) / 2e-5
            self.assertAlmostEqual(gradient[i], slope, delta=1e-3)


class Serving(WithFolder):
    def start(self):
        service = Process(self, "serve.py", "--checkpoint", self.path("train"), "--port", 0,
                          "--port-file", self.path("port"))
        wait_for(lambda: os.path.exists(self.path("port")), "the service")
        with open(self.path("port"), encoding="ascii") as file:
            self.port = int(file.read())
        return service

    def ask(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def load(self, *arguments):
        client = Process(self, "client.py", "--port-file", self.path("port"), "--rate", 100, "--seconds", 1,
                         *arguments)
        return client.wait(), json.loads(client.text())

    def test_answers_at_once_and_better_with_a_checkpoint(self):
        service = self.start()
        status, facts = self.load("--accuracy", 0.9)
        self.assertEqual(status, 0, facts)
        self.assertEqual((facts["requests"], facts["answered"], facts["failed"]), (100, 100, 0))
        self.assertLessEqual(facts["latency_p50_ms"], facts["latency_p99_ms"])

        trainer = Process(self, "train.py", "--checkpoint", self.path("train"), "--epochs", 20)
        self.assertEqual(trainer.wait(), 0, trainer.text())
        wait_for(lambda: b"step" in self.ask("GET", "/healthz")[1], "the newer model")
        status, facts = self.load("--accuracy", 0.95)
        self.assertEqual(status, 0, facts)
        service.send(signal.SIGTERM)
        self.assertEqual(service.wait(), 0, service.text())
        self.assertFalse(os.path.exists(self.path("port")))

    def test_a_load_that_is_asked_to_end_counts_what_it_sent(self):
        self.start()
        client = Process(self, "client.py", "--port-file", self.path("port"), "--rate", 100, "--seconds", 60,
                         "--accuracy", 0.5)
        own = iter(range(1, 10**6))  # looks at /healthz are requests, too
        wait_for(lambda: json.loads(self.ask("GET", "/healthz")[1])["requests"] > next(own) + 20, "some requests")
        client.send(signal.SIGTERM)
        self.assertEqual(client.wait(), 0, client.text())
        facts = json.loads(client.text())
        self.assertTrue(10 < facts["requests"] == facts["answered"] < 6000, facts)

    def test_a_request_that_is_open_at_the_end_is_answered(self):
        service = self.start()
        body = json.dumps({"pixels": [0] * digits.PIXELS}).encode()
        with socket.create_connection(("127.0.0.1", self.port), timeout=10) as slow:
            slow.sendall(b"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body[:9])
            time.sleep(0.3)
            service.send(signal.SIGTERM)
            time.sleep(0.5)
            slow.sendall(body[9:])
            answer = slow.recv(65536)
        self.assertIn(b" 200 ", answer)
        self.assertIn(b"Connection: close", answer)
        self.assertEqual(service.wait(), 0, service.text())

    def test_bad_requests_are_refused_with_the_reason(self):
        self.start()
        good = [0] * digits.PIXELS
        for body, words in ((b"{", b"not JSON"), (b"[]", b"list of 64"), (b'{"pixels": [1]}', b"list of 64"),
                            (json.dumps({"pixels": [17] + good[1:]}).encode(), b"found 17"),
                            (json.dumps({"pixels": ["7"] + good[1:]}).encode(), b"found 7"),
                            (b'{"pixels": [NaN' + b",0" * 63 + b"]}", b"found nan"),
                            (b"[" * 60000, b"not JSON")):
            status, answer = self.ask("POST", "/predict", body)
            self.assertEqual(status, 400, answer)
            self.assertIn(words, answer)
        self.assertEqual(self.ask("POST", "/predict", b" " * 65537)[0], 413)
        self.assertEqual(self.ask("POST", "/predict", b"x", {"Content-Length": "-1"})[0], 411)
        self.assertEqual(self.ask("POST", "/else", b"{}")[0], 404)
        self.assertEqual(self.ask("GET", "/predict")[0], 404)
        self.assertEqual(self.ask("POST", "/predict", json.dumps({"pixels": good}).encode())[0], 200)

    def test_a_client_without_service_says_so(self):
        client = Process(self, "client.py", "--port", free_port(), "--wait", 0.2)
        self.assertEqual(client.wait(), 1)
        self.assertIn("no healthy service", client.text())


class Cleaning(WithFolder):
    ITEMS = 3000

    def start(self, name, *arguments):
        return Process(self, "clean.py", "--output", self.path(name), "--items", self.ITEMS,
                       "--shard-items", 700, "--seed", 3, *arguments)

    def finish(self, name):
        process = self.start(name)
        self.assertEqual(process.wait(), 0, process.text())
        return re.search(r"mean squared error .*", process.text()).group(0), self.bytes(name)

    def bytes(self, name):
        shards = sorted(f for f in os.listdir(self.path(name)) if f.startswith("shard-"))
        parts = {}
        for shard in shards:
            with open(self.path(name, shard), "rb") as file:
                parts[shard] = file.read()
        return parts

    def done(self, name):
        try:
            with open(self.path(name, "position.json"), encoding="ascii") as file:
                return json.load(file)["done"]
        except FileNotFoundError:
            return 0

    def test_stopped_and_killed_runs_end_like_an_undisturbed_one(self):
        expected = self.finish("undisturbed")
        self.assertEqual(sum(map(len, expected[1].values())), self.ITEMS * 65)
        before, after = map(float, re.findall(r"\d\.\d+", expected[0])[:2])
        self.assertLess(after, before / 3)  # it does clean

        for name, number, code in (("stopped", signal.SIGTERM, 143), ("killed", signal.SIGKILL, -9)):
            reached = 0
            for _ in range(2):
                with self.subTest(name=name, reached=reached):
                    process = self.start(name)
                    wait_for(lambda: self.done(name) > reached, "progress")  # at least half a second of work
                    time.sleep(0.07)
                    process.send(number)
                    self.assertEqual(process.wait(), code, process.text())
                    self.assertGreater(self.done(name), reached)
                    reached = self.done(name)
                    self.assertLess(reached, self.ITEMS)
            self.assertEqual(self.finish(name), expected)

    def test_stopping_takes_far_less_than_the_grace(self):
        process = self.start("quick", "--items", 10 ** 6)
        wait_for(lambda: self.done("quick") > 0, "progress")
        started = time.monotonic()
        process.send(signal.SIGTERM)
        self.assertEqual(process.wait(), 143)
        self.assertLess(time.monotonic() - started, 2.5)

    def test_two_at_once_are_refused(self):
        first = self.start("both", "--items", 10 ** 6)
        wait_for(lambda: self.done("both") > 0, "progress")
        second = self.start("both", "--items", 10 ** 6)
        self.assertEqual(second.wait(), 1)
        self.assertIn("another process is at work", second.text())
        first.send(signal.SIGTERM)
        first.wait()

    def test_damage_is_found_not_built_upon(self):
        self.finish("damaged")
        shard = self.path("damaged", "shard-0001.bin")
        with open(shard, "r+b") as file:
            file.write(b"\xff\xff\xff")
        process = self.start("damaged")
        self.assertEqual(process.wait(), 1)
        self.assertIn("shard-0001.bin: does not match its checksum", process.text())
        with open(self.path("damaged", "position.json"), "w", encoding="ascii") as file:
            file.write("{")
        process = self.start("damaged")
        self.assertEqual(process.wait(), 1)
        self.assertIn("position.json: not readable", process.text())


class JobFiles(unittest.TestCase):
    def fill_in(self, *arguments):
        return subprocess.run([os.path.join(QUICKSTART, "job.sh"), *arguments], capture_output=True, text=True)

    def test_paths_are_filled_in(self):
        for name in ("train", "serve", "clean"):
            filled = self.fill_in(name, "/tmp/some work")
            self.assertEqual(filled.returncode, 0, filled.stderr)
            self.assertIn('WORK: "/tmp/some work"', filled.stdout)
            self.assertIn(f'QUICKSTART: "{QUICKSTART}"', filled.stdout)
            self.assertNotIn("@", filled.stdout)

    def test_what_would_not_stay_one_path_is_refused(self):
        for arguments in (("train", "relative"), ("train", '/a"b'), ("train", "/a\nb"), ("nosuch", "/a"), ("train",)):
            self.assertEqual(self.fill_in(*arguments).returncode, 2, arguments)


if __name__ == "__main__":
    unittest.main()
