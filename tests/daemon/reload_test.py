#!/usr/bin/env python3
"""The daemon's file is changed while work runs: read again at SIGHUP and by
`gridfold config reload`, taken over whole or not at all."""

import os
import signal
import subprocess
import unittest

from harness import DaemonTest, PROGRAM, wait_until

JOB = {"run": "sleep 600", "each": {"cpu": 0.1, "memory": "8Mi"}, "queue": "a",
       "stop": {"grace": "1s"}}


class ReloadTest(DaemonTest):
    def setUp(self):
        super().setUp()
        self.path = os.path.join(self.folder, "data", "gridfold.toml")
        self.daemon.serve(self.path)
        self.write(running=1)

    def write(self, running, more="", first=""):
        with open(self.path + ".new", "w", encoding="utf-8") as file:
            file.write(f'{first}\n[[queues]]\nname = "a"\nrunning_jobs = {running}\n{more}')
        os.replace(self.path + ".new", self.path)

    def hang_up(self, said):
        """SIGHUP, and waits for what the daemon says of it."""
        before = self.daemon.talk().count(said)
        self.daemon.process.send_signal(signal.SIGHUP)
        wait_until(lambda: self.daemon.talk().count(said) > before, f"the daemon says {said!r}")

    def states(self, jobs):
        return [self.daemon.job(job)["state"] for job in jobs]

    def queues(self):
        return [queue["name"] for queue in self.daemon.get("/v1/queues").json()["queues"]]

    def test_a_limit_is_raised_and_lowered(self):
        self.daemon.start()
        jobs = [self.daemon.submit(JOB | {"name": f"j{i}"}) for i in range(3)]
        self.daemon.wait_for_state(jobs[0], "running")
        self.assertEqual(self.states(jobs), ["running", "pending", "pending"])
        self.write(running=2)
        self.hang_up("changed queues.a")
        self.daemon.wait_for_state(jobs[1], "running")
        # Lowered: both go on, and one that ends makes no room for the third.
        self.write(running=1)
        answer = self.daemon.cli("config", "reload")
        self.assertEqual((answer.returncode, answer.stdout), (0, "queues.a\n"), answer.stderr)
        self.assertEqual(self.states(jobs), ["running", "running", "pending"])
        self.daemon.request("POST", f"{self.daemon.jobs_path}/{jobs[0]}:cancel")
        self.daemon.wait(jobs[0])
        self.assertEqual(self.states(jobs[1:]), ["running", "pending"])
        self.daemon.request("POST", f"{self.daemon.jobs_path}/{jobs[1]}:cancel")
        self.daemon.wait_for_state(jobs[2], "running")
        answer = self.daemon.cli("config", "reload")
        self.assertEqual((answer.returncode, answer.stdout), (0, ""))
        self.assertIn("nothing has changed", answer.stderr + answer.stdout)

    def test_a_queue_comes_and_goes(self):
        self.daemon.start()
        self.write(running=1, more='[[queues]]\nname = "b"\n')
        self.hang_up("changed queues.b")
        self.assertEqual(self.queues(), ["a", "b"])
        job = self.daemon.submit(JOB | {"name": "in-b", "queue": "b"})
        self.daemon.wait_for_state(job, "running")
        self.write(running=1)
        self.hang_up("changed queues.b")
        self.assertEqual(self.states([job]), ["running"])
        answer = self.daemon.submit_batch(JOB | {"name": "late", "queue": "b"})
        self.assertEqual(answer.status, 400)
        self.assertIn("open queues: a", answer.json()["hint"])

    def test_a_wrong_file_is_refused_whole(self):
        self.daemon.start()
        first = self.daemon.submit(JOB | {"name": "first"})
        second = self.daemon.submit(JOB | {"name": "second"})
        self.daemon.wait_for_state(first, "running")
        for more, field, step in (
                ("runing_jobs = 3\n", "queues[0].runing_jobs", "did you mean running_jobs?"),
                ("[[queues]]\nname = \"a\"\n", "queues[1].name", ""),
                ("cpu = \"lots\"\n", "queues[0].cpu", "write cores as 2 or 0.5"),
                ("[", "", "")):
            self.write(running=2, more=more)
            self.hang_up("the configuration stays as it was")
            answer = self.daemon.request("POST", "/v1/config:reload")
            self.assertEqual(answer.status, 400)
            self.assertEqual(answer.json().get("field", ""), field)
            self.assertIn(step, answer.json().get("hint", ""))
            told = self.daemon.cli("config", "check", self.path)
            self.assertEqual(told.returncode, 2, told.stderr)
            self.assertIn(field, told.stderr)
        # What only a start can change: said, and nothing else of the file is taken.
        self.write(running=2, first='policy = "fgd"')
        answer = self.daemon.request("POST", "/v1/config:reload")
        self.assertEqual((answer.status, answer.json()["field"]), (409, "policy"))
        self.assertIn("restart the daemon", answer.json()["hint"])
        self.assertEqual(self.daemon.cli("config", "check", self.path).returncode, 0)
        self.assertEqual(self.states([first, second]), ["running", "pending"])
        self.write(running=2)
        self.hang_up("changed queues.a")
        self.daemon.wait_for_state(second, "running")

    def test_without_a_file_there_is_nothing_to_read(self):
        self.daemon.serve(None)
        self.daemon.start()
        answer = self.daemon.request("POST", "/v1/config:reload")
        self.assertEqual(answer.status, 409)
        self.assertIn("gridfold serve --config", answer.json()["hint"])


class CheckTest(unittest.TestCase):
    def test_what_only_a_start_would_find_out_is_found_out(self):
        for text, field in (('policy = "nonsense"', "policy"), ('devices = "gpu:?"', "devices"),
                            ('listen = "0.0.0.0:80"', "listen")):
            path = os.path.join(os.environ.get("GRIDFOLD_TEST_DIR", "/tmp"),
                                f"gf-check-{os.getpid()}.toml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            try:
                told = subprocess.run([PROGRAM, "config", "check", path], capture_output=True,
                                      text=True, timeout=60)
            finally:
                os.remove(path)
            self.assertNotEqual(told.returncode, 0)
            self.assertIn("error: " + field, told.stderr)


if __name__ == "__main__":
    unittest.main()
