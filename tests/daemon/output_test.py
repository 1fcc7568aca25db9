#!/usr/bin/env python3
"""What a job writes and how it is ended, seen through the command line
(N10, F23), and work that outlives its daemon (C2)."""

import os
import pathlib
import subprocess
import time
import unittest

from harness import DaemonTest, wait_until

THREE_LINES = "echo one; sleep {pause}; echo two; sleep {pause}; printf three; exit {code}"


class OutputTest(DaemonTest):
    def follow(self, reference):
        return self.daemon.popen("logs", "-f", reference)

    def test_the_last_line_is_never_lost(self):  # N10
        self.daemon.start()
        for pause in (2, *([0.02] * 12)):
            with self.subTest(pause=pause):
                job = self.daemon.submit({"name": "lines", "each": {"cpu": 0.1, "memory": "8Mi"},
                                          "run": THREE_LINES.format(pause=pause, code=0)})
                follower = self.follow(job)
                output, talk = follower.communicate(timeout=60)
                ended = self.daemon.job(job)
                self.assertEqual((output, follower.returncode), (b"one\ntwo\nthree", 0), talk)
                # The stream ends with the attempt; the job's end is at most a turn later.
                wait_until(lambda: self.daemon.job(job)["state"] == "succeeded", "it has succeeded",
                           seconds=2)
                late = self.follow(job)
                self.assertEqual(late.communicate(timeout=60)[0], b"one\ntwo\nthree", ended)
                self.assertEqual(late.returncode, 0)

    def test_run_shows_all_and_returns_the_code(self):  # N10
        self.daemon.start()
        for code in (0, 3):
            ended = self.daemon.cli("run", "--", "sh", "-c", THREE_LINES.format(pause=0.05, code=code))
            self.assertEqual((ended.stdout, ended.returncode), ("one\ntwo\nthree", code), ended.stderr)
        ended = self.daemon.cli("run", "--", "sh", "-c", "kill -KILL $$")
        self.assertEqual(ended.returncode, 128 + 9, ended.stderr)

    def test_a_follower_outlives_the_daemon(self):
        self.daemon.start()
        go = os.path.join(self.data, "go")
        job = self.daemon.submit({
            "name": "long", "each": {"cpu": 0.1, "memory": "8Mi"},
            "run": f"echo begun; while [ ! -e {go} ]; do sleep 0.05; done; printf end; exit 5"})
        follower = self.follow(job)
        self.assertEqual(follower.stdout.readline(), b"begun\n")
        self.daemon.kill()
        time.sleep(0.3)
        self.daemon.start()
        pathlib.Path(go).touch()
        self.assertEqual(follower.communicate(timeout=60)[0], b"end")
        ended = self.daemon.wait(job)
        self.assertEqual((ended["tasks"][0]["exit"]["code"], ended["tasks"][0]["attempt"]), (5, 1))

    def test_a_job_ends_while_no_daemon_is_there(self):  # C2
        self.daemon.start()
        job = self.daemon.submit({"name": "alone", "each": {"cpu": 0.1, "memory": "8Mi"},
                                  "run": "echo begun; sleep 1; exit 6"})
        self.daemon.wait_for_state(job, "running")
        self.daemon.stop()
        wait_until(lambda: not self.daemon.processes(), "the job has ended by itself")
        self.daemon.start()
        ended = self.daemon.wait(job)
        self.assertEqual((ended["state"], ended["tasks"][0]["exit"]["code"]), ("failed", 6))


class StopTest(DaemonTest):
    GRACE_SECONDS = 4

    def test_the_whole_tree_hears_and_ends(self):  # F23
        self.daemon.start()
        saver = "trap 'sleep 1; echo saved > {data}/checkpoint; exit 0' TERM; echo > {data}/saver; " \
                "while :; do sleep 0.05; done"
        deaf = "trap '' TERM; echo > {data}/deaf; while :; do sleep 0.05; done"
        script = f'sh -c "{saver}" &\nsh -c "{deaf}" &\nwait; wait; wait\n'.format(data=self.data)
        job = self.daemon.submit({"name": "tree", "run": script, "each": {"cpu": 0.5, "memory": "64Mi"},
                                  "stop": {"grace": f"{self.GRACE_SECONDS}s"}})
        for name in ("saver", "deaf"):
            wait_until(lambda: os.path.exists(os.path.join(self.data, name)), f"{name} is there")
        free_before = self.free_cpu()
        asked = time.monotonic()
        self.assertEqual(self.daemon.cli("job", "cancel", "tree").returncode, 0)
        wait_until(lambda: os.path.exists(os.path.join(self.data, "checkpoint")), "it was saved",
                   seconds=self.GRACE_SECONDS)
        # The deaf child has its grace, and keeps what it holds.
        self.assertEqual(self.daemon.job(job)["state"], "stopping")
        self.assertEqual(self.free_cpu(), free_before)
        ended = self.daemon.wait(job)
        took = time.monotonic() - asked
        self.assertEqual((ended["state"], ended["tasks"][0]["exit"]["signal"]), ("cancelled", 15))
        self.assertGreaterEqual(took, self.GRACE_SECONDS - 0.5)
        self.assertEqual(pathlib.Path(self.data, "checkpoint").read_text(), "saved\n")
        self.assertFalse([words for words in self.daemon.processes().values() if "deaf" in words])
        self.assertEqual(self.free_cpu(), free_before + 500)

    def free_cpu(self):
        return self.daemon.get("/v1/summary").json()["free_cpu_millicores"]


if __name__ == "__main__":
    unittest.main()
