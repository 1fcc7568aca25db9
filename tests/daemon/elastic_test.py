#!/usr/bin/env python3
"""A training job grows and shrinks while it runs, and loses no step: real
processes on emulated devices, under a policy that decides in rounds."""

import os
import re
import time
import unittest

from harness import DaemonTest, wait_until

QUICKSTART = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/quickstart")


class ElasticTest(DaemonTest):
    arguments = ("--policy", "equal_shares", "--set", "policy.round=1s",
                 "--devices", "gpu:H100-SXM5-80GB=4")

    def training(self, name, most, epochs):
        work = os.path.join(self.data, name)
        return {
            "name": name, "class": "train", "count": {"min": 1, "max": most},
            "each": {"gpu": 1, "cpu": 0.1, "memory": "64MiB"},
            "run": f"exec /usr/bin/python3 -B {QUICKSTART}/train.py --checkpoint {work} "
                   f"--epochs {epochs} --hidden 16 --accuracy 0.1 >> {work}.log.$RANK",
            "checkpoint": {"signal": "TERM", "grace": "30s"},
            "training": {"program": "digits"},
            "retry": {"max": 3, "backoff": "500ms"},
        }

    def running(self, job):
        return sum(task["phase"] == "running" for task in self.daemon.job(job)["tasks"])

    def wait_for_size(self, job, tasks):
        wait_until(lambda: self.running(job) == tasks, f"{job} runs {tasks} tasks",
                   seconds=120, step=0.1)

    def log(self, name):
        with open(os.path.join(self.data, name + ".log.0"), encoding="utf-8") as log:
            return log.read()

    def test_it_shrinks_for_another_and_grows_again(self):
        self.daemon.start()
        long = self.daemon.submit(self.training("long", 4, 1_000_000))
        self.wait_for_size(long, 4)
        wait_until(lambda: "epoch" in self.log("long"), "it trains", seconds=120, step=0.1)

        short = self.daemon.submit(self.training("short", 2, 60))
        self.wait_for_size(long, 2)
        self.wait_for_size(short, 2)
        self.assertEqual(self.daemon.wait(short)["state"], "succeeded")
        self.wait_for_size(long, 4)

        # What each run saved when it was asked to is where the next began.
        wait_until(lambda: self.log("long").count("resumed at") == 2, "it has gone on twice",
                   seconds=60, step=0.1)
        words = re.findall(r"(saved|resumed) at epoch ([0-9.]+)", self.log("long"))
        self.assertEqual([word for word, _ in words], ["saved", "resumed"] * 2, self.log("long"))
        self.assertEqual(words[0][1], words[1][1])
        self.assertEqual(words[2][1], words[3][1])
        self.assertGreater(float(words[2][1]), float(words[0][1]))
        record = self.daemon.job(long)
        self.assertEqual(record.get("evictions", 0), 0)

    def test_the_daemon_dies_while_it_shrinks(self):
        self.daemon.start()
        long = self.daemon.submit(self.training("long", 4, 1_000_000))
        self.wait_for_size(long, 4)
        other = self.daemon.submit(self.training("other", 4, 1_000_000))
        wait_until(lambda: self.daemon.job(long)["state"] == "stopping" or self.running(long) == 2,
                   "it is asked to shrink", seconds=60, step=0.01)
        self.daemon.kill()
        time.sleep(0.2)
        self.daemon.start()
        self.wait_for_size(long, 2)
        self.wait_for_size(other, 2)


if __name__ == "__main__":
    unittest.main()
