#!/usr/bin/env python3
"""kill -9 of the daemon: what its queues have held lately and what it has learned
of run times is the same once it is back."""

import json
import os
import sqlite3
import time
import unittest

from harness import DaemonTest

JOB = {"each": {"cpu": 0.5, "memory": "8Mi"}, "stop": {"grace": "1s"}}
CONFIG = """
usage_half_life = "1h"
run_times = "learned"
[[queues]]
name = "a"
weight = 1
[[queues]]
name = "b"
weight = 1
"""


class HistoryTest(DaemonTest):
    def setUp(self):
        super().setUp()
        path = os.path.join(self.folder, "data", "gridfold.toml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(CONFIG)
        self.daemon.serve(path)

    def shares(self):
        return {queue["name"]: queue["share_millionths"]
                for queue in self.daemon.get("/v1/queues").json()["queues"]}

    def expected_run(self, job):
        """What is thought of a job that waits or runs, by its record."""
        number = self.daemon.job(job)["number"]
        store = sqlite3.connect(f"file:{self.daemon.state}/store.db?mode=ro", uri=True)
        try:
            row = store.execute("SELECT value FROM entries WHERE key = ?",
                                (f"live/job/{number:020d}",)).fetchone()
        finally:
            store.close()
        return json.loads(row[0]).get("expected_run")

    def test_usage_and_run_times_outlive_the_daemon(self):
        self.daemon.start()
        for seconds in (0.4, 0.8, 1.2):
            self.daemon.wait(self.daemon.submit(
                JOB | {"name": "learn", "queue": "a", "run": f"sleep {seconds}"}))
        held = self.daemon.submit(JOB | {"name": "holds", "queue": "b", "run": "sleep 600"})
        self.daemon.wait_for_state(held, "running")
        time.sleep(1)
        like_it = JOB | {"name": "learn", "queue": "a", "run": "sleep 600"}
        before_run = self.expected_run(self.daemon.submit(like_it))
        self.assertGreater(before_run, 1.0e9)
        self.assertLess(before_run, 3.0e9)
        self.daemon.kill()
        self.daemon.start()
        self.assertEqual(self.expected_run(self.daemon.submit(like_it)), before_run)

        # What decays within seconds is little, and so is what rounding takes.
        before, began = self.shares(), time.monotonic()
        self.daemon.kill()
        self.daemon.start()
        after = self.shares()
        within = 2 + 0.7 * (time.monotonic() - began) / 3600 * 1e6
        for queue in ("a", "b"):
            self.assertGreater(before[queue], 0)
            self.assertLessEqual(abs(after[queue] - before[queue]), within, (queue, before, after))


if __name__ == "__main__":
    unittest.main()
