#!/usr/bin/env python3
"""`gridfold report effective` beside what tasks say that they did: each writes
down when it began and ended, and the account has to agree within 2 %."""

import json
import os
import unittest

from harness import DaemonTest, wait_until

DEVICES = 4
WORK_SECONDS = 15.0
# Starts and ends are seen a moment after they happen.
SLACK_SECONDS = 0.1
# Writes down when its process began, and again and again the time now.
TASK = """
import json, os, sys, time
with open("/proc/uptime") as uptime, open("/proc/self/stat") as stat:
    ticks = int(stat.read().rsplit(")", 1)[1].split()[19])
    age = float(uptime.read().split()[0]) - ticks / os.sysconf("SC_CLK_TCK")
begun = time.time() - age
ends, mode = begun + float(sys.argv[1]), sys.argv[2]
saved = False
while True:
    now = time.time()
    with open(sys.argv[3] + ".new", "w") as out:
        json.dump([begun, now], out)
    os.replace(sys.argv[3] + ".new", sys.argv[3])
    if now >= ends:
        sys.exit(1 if mode in ("fail", "save") else 0)
    if mode == "save" and not saved and now >= begun + float(sys.argv[1]) / 2:
        saved = True
        with open(os.environ["GRIDFOLD_REPORT"], "a") as report:
            report.write(json.dumps({"saved": 1}) + "\\n")
    time.sleep(max(0.0, min(0.02, ends - now)))
"""


class EffectiveTest(DaemonTest):
    arguments = ("--devices", f"gpu:H100-SXM5-80GB={DEVICES}")

    def submit(self, name, mode, seconds, gpus=1):
        return self.daemon.submit({
            "name": name, "each": {"gpu": gpus, "cpu": 0.1, "memory": "32Mi"},
            "run": ["python3", os.path.join(self.data, "task.py"), str(seconds), mode,
                        os.path.join(self.data, name)]})

    def worked(self, name):
        """Seconds, by the task's own clock."""
        with open(os.path.join(self.data, name), encoding="utf-8") as file:
            begun, last = json.load(file)
        return last - begun

    def report(self):
        answer = self.daemon.get("/v1/report/effective")
        self.assertEqual(answer.status, 200, answer)
        return answer.json()

    def assert_near(self, device_hours, seconds, what):
        self.assertAlmostEqual(device_hours * 3600, seconds, msg=what,
                               delta=0.02 * seconds + SLACK_SECONDS)

    def test_the_account_is_what_the_tasks_did(self):
        with open(os.path.join(self.data, "task.py"), "w", encoding="utf-8") as file:
            file.write(TASK)
        self.daemon.start()
        jobs = [self.submit("good", "succeed", WORK_SECONDS),
                self.submit("bad", "fail", WORK_SECONDS),
                self.submit("saver", "save", WORK_SECONDS)]
        long = self.submit("long", "succeed", 10 * WORK_SECONDS)
        for job in jobs:
            self.daemon.wait(job)
        open_work = self.report()["all"]
        self.assertGreater(open_work["in_progress_device_hours"], 0)
        cancelled = self.daemon.cli("job", "cancel", long)
        self.assertEqual(cancelled.returncode, 0, cancelled.stderr)
        self.daemon.wait(long)
        wide = self.submit("wide", "succeed", WORK_SECONDS / 2, gpus=DEVICES)
        waiting = self.submit("behind", "succeed", 0.1, gpus=DEVICES)
        self.daemon.wait(wide)
        self.daemon.wait(waiting)

        report = self.report()
        account = report["all"]
        losses = account["losses_device_hours"]
        wasted = losses["allocated_not_useful"]
        half = WORK_SECONDS / 2
        useful = self.worked("good") + half + DEVICES * (self.worked("wide") + self.worked("behind"))
        # What was saved is known to about a second: reports are read that often.
        self.assertAlmostEqual(account["useful_device_hours"] * 3600, useful,
                               delta=0.02 * useful + 1.5, msg=account)
        self.assert_near(wasted["cancelled"], self.worked("long"), "cancelled")
        either = account["useful_device_hours"] + wasted["failed"]
        self.assert_near(either, self.worked("bad") + self.worked("saver") + useful - half,
                         "useful or failed")
        self.assertEqual(account["in_progress_device_hours"], 0)
        self.assertIsNone(account["busy_device_hours"])

        parts = account["useful_device_hours"] + sum(sum(group.values()) for group in losses.values())
        self.assertAlmostEqual(parts, account["supplied_device_hours"], delta=1e-4 * parts)
        self.assertEqual([(one["class"], one["emulated"]) for one in report["classes"]],
                         [("gpu", True)])

    def test_what_stands_idle_has_its_cause(self):
        self.daemon.start()
        node = json.loads(self.daemon.cli("node", "list", "-o", "json").stdout)["nodes"][0]["name"]
        wait_until(lambda: self.report()["all"]["losses_device_hours"]["idle"]["no_demand"] > 0,
                   "time passes without demand")
        drained = self.daemon.cli("node", "drain", node)
        self.assertEqual(drained.returncode, 0, drained.stderr)
        wait_until(lambda: self.report()["all"]["losses_device_hours"]["not_pooled"]["drained"] > 0,
                   "the drained node's devices are not pooled")
        table = self.daemon.cli("report", "effective")
        self.assertEqual(table.returncode, 0, table.stderr)
        self.assertIn("node drained", table.stdout)
        self.assertIn("gpu (emulated)", table.stdout)
        chinese = self.daemon.cli("--lang", "zh-CN", "report", "effective")
        self.assertIn("节点已排空", chinese.stdout)


if __name__ == "__main__":
    unittest.main()
