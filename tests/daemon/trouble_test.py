#!/usr/bin/env python3
"""Bad input and bad luck: each is told clearly, with the next step, and nothing
is lost: a damaged database, a full disk, jobs that can never run, traces that
cannot be read, two daemons on one state."""

import ctypes
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

from harness import DaemonTest, PROGRAM, wait_until

HELD = {"run": "true", "each": {"cpu": 0.1, "memory": "8Mi"}}


class DamagedStoreTest(DaemonTest):
    """The daemon refuses to start, names file and next step, changes nothing."""

    def setUp(self):
        super().setUp()
        self.daemon.start()
        answer = self.daemon.request("POST", self.daemon.jobs_path + "?hold=true",
                                     [HELD | {"name": f"job-{i}"} for i in range(200)])
        self.assertEqual(answer.status, 201)
        self.daemon.stop()
        self.store = pathlib.Path(self.daemon.state, "store.db")
        self.whole = self.store.read_bytes()

    def refuses(self, damaged):
        self.store.write_bytes(damaged)
        ended = subprocess.run(self.daemon.command("up"), cwd=self.home, capture_output=True,
                               text=True, timeout=60)
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn(str(self.store), ended.stderr)
        self.assertIn("next:", ended.stderr)
        self.assertIn("backup", ended.stderr)
        self.assertEqual(self.store.read_bytes(), damaged, "the file was changed")

    def test_refused_and_untouched(self):
        middle = len(self.whole) // 2
        self.assertGreater(len(self.whole), 16 * 4096)
        cases = {
            "header": b"\xff" * 16 + self.whole[16:],
            "middle page": self.whole[:middle] + os.urandom(4096) + self.whole[middle + 4096:],
            "truncated in a page": self.whole[:-100],
            "truncated by half": self.whole[:middle // 4096 * 4096],
            "zero length": b"",
            "no database": b"hello\n" * 1000,
        }
        for name, damaged in cases.items():
            with self.subTest(name):
                self.refuses(damaged)
        # The backup put back, everything is there.
        self.store.write_bytes(self.whole)
        self.daemon.start()
        self.assertEqual(len(self.daemon.list_jobs("&state=live")), 200)


class FullDiskTest(DaemonTest):
    """Read-only while the disk is full, and said so; running work goes on; no
    restart is needed once there is room."""

    def setUp(self):
        super().setUp()
        os.mkdir(self.daemon.state)
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.mount(b"tmpfs", self.daemon.state.encode(), b"tmpfs", 0, b"size=3m") != 0:
            self.skipTest("mounting a small file system needs rights that are not there: "
                          + os.strerror(ctypes.get_errno()))
        # After the daemon's end, which comes first in the other direction.
        self.addCleanup(lambda: libc.umount2(self.daemon.state.encode(), 2))

    def fill(self, left=0):
        """Takes all of the disk but `left` bytes."""
        with open(os.path.join(self.daemon.state, "ballast"), "ab", buffering=0) as ballast:
            for size in (65536, 4096, 1):
                try:
                    while True:
                        ballast.write(b"\0" * size)
                except OSError:
                    pass
            ballast.truncate(max(0, ballast.tell() - left))

    def test_read_only_then_recovers(self):
        self.daemon.start()
        go = os.path.join(self.data, "go")
        running = self.daemon.submit({"name": "running", "each": {"cpu": 0.1, "memory": "8Mi"},
                                      "run": f"while [ ! -e {go} ]; do sleep 0.05; done; exit 7"})
        self.daemon.wait_for_state(running, "running")
        acknowledged = [running]
        refused = None
        self.fill(left=300_000)
        for number in range(1000):
            answer = self.daemon.request(
                "POST", self.daemon.jobs_path + "?hold=true",
                [HELD | {"name": f"held-{number}-{i}"} for i in range(20)])
            if answer.status != 201:
                refused = answer
                break
            acknowledged += [job["id"] for job in answer.json()["jobs"]]
        self.assertIsNotNone(refused, "the disk is never full")
        self.assertGreater(len(acknowledged), 20)
        self.fill()
        self.assertEqual(refused.status, 503)
        self.assertEqual(refused.json()["code"], "StoreReadOnly")
        self.assertIn("Retry-After", refused.headers)
        self.assertIn("full", refused.json()["detail"])
        self.assertIn("space", refused.json()["hint"])

        # Said wherever one looks; reading goes on.
        self.assertEqual(self.daemon.get("/readyz").status, 503)
        self.assertTrue(self.daemon.get("/v1/summary").json()["read_only"])
        cancel = self.daemon.request("POST", f"{self.daemon.jobs_path}/{running}:cancel")
        self.assertEqual((cancel.status, cancel.json()["code"]), (503, "StoreReadOnly"))
        command = self.daemon.cli("job", "cancel", running)
        self.assertEqual(command.returncode, 6, command)
        self.assertIn("store", command.stderr)
        self.assertIn("space", command.stderr)
        self.assertEqual(self.daemon.job(running)["state"], "running")

        # What runs goes on to its end, which is told once it can be kept.
        pathlib.Path(go).touch()
        os.unlink(os.path.join(self.daemon.state, "ballast"))
        ended = self.daemon.wait(running)
        self.assertEqual((ended["state"], ended["tasks"][0]["exit"]["code"]), ("failed", 7))
        wait_until(lambda: self.daemon.get("/readyz").status == 200, "the daemon is ready again")
        self.daemon.submit(HELD | {"name": "after"})
        self.assertEqual([uid for uid in acknowledged
                          if self.daemon.get(f"{self.daemon.jobs_path}/{uid}").status != 200], [])
        # And again after a restart.
        self.daemon.kill()
        self.daemon.start()
        self.assertEqual([uid for uid in acknowledged
                          if self.daemon.get(f"{self.daemon.jobs_path}/{uid}").status != 200], [])
        self.daemon.stop()  # to cancel them all would fill the small disk again

    def test_a_job_that_ends_while_the_disk_is_full_keeps_its_code(self):
        self.daemon.start()
        go = os.path.join(self.data, "go")
        job = self.daemon.submit({"name": "ends", "each": {"cpu": 0.1, "memory": "8Mi"},
                                  "run": f"while [ ! -e {go} ]; do sleep 0.05; done; exit 9"})
        self.daemon.wait_for_state(job, "running")
        self.fill()
        pathlib.Path(go).touch()
        wait_until(lambda: not any("sleep 0.05" in words and "sh -c" in words
                                   for words in self.daemon.processes().values()), "the task has ended")
        # In the same trouble the daemon itself is killed.
        self.daemon.kill()
        os.unlink(os.path.join(self.daemon.state, "ballast"))
        self.daemon.start()
        self.assertEqual(self.daemon.wait(job)["tasks"][0]["exit"]["code"], 9)


    def test_jobs_whose_launch_met_the_full_disk_run_once_there_is_room(self):
        self.daemon.start()
        acknowledged = []
        self.fill(left=200_000)
        for number in range(1000):
            answer = self.daemon.submit_batch(HELD | {"name": f"short-{number}"})
            if answer.status != 201:
                break
            acknowledged.append(answer.json()["jobs"][0]["id"])
        self.assertEqual(answer.status, 503)
        self.assertNotEqual(acknowledged, [])
        self.fill()
        time.sleep(1)
        os.unlink(os.path.join(self.daemon.state, "ballast"))
        self.assertEqual({self.daemon.wait(uid)["state"] for uid in acknowledged}, {"succeeded"})
        self.assertFalse(self.daemon.get("/v1/nodes").json()["nodes"][0]["drained"])


class RefusedJobsTest(DaemonTest):
    arguments = ("--devices", "gpu:H100-SXM5-80GB=2")

    def test_a_job_that_no_node_can_hold(self):
        self.daemon.start()
        job = self.daemon.submit({"name": "huge", "each": {"gpu": 3}, "run": "true"})
        reason = self.daemon.job(job)["reason"]
        self.assertEqual(reason["code"], "NoMatchingNode")
        self.assertEqual((reason["params"]["need"], reason["params"]["largest"]), (3, 2), reason)
        explained = self.daemon.cli("job", "explain", "huge")
        self.assertEqual(explained.returncode, 0)
        self.assertIn("is pending", explained.stdout)
        self.assertIn("3", explained.stdout)
        self.assertIn("2", explained.stdout)
        self.assertIn("No waiting will change this", explained.stdout)
        self.assertIn("[NoMatchingNode]", explained.stdout)

    def test_an_unknown_queue(self):
        self.daemon.start()
        answer = self.daemon.submit_batch([HELD | {"name": "good"},
                                           HELD | {"name": "lost", "queue": "nowhere"}])
        self.assertEqual((answer.status, answer.json()["field"]), (400, "queue"))
        self.assertIn("nowhere", answer.json()["detail"])
        self.assertIn("default", answer.json()["hint"])
        self.assertEqual(self.daemon.list_jobs(), [], "half a batch was taken")

    def test_a_second_daemon_is_refused_with_the_holder(self):
        self.daemon.start()
        second = self.daemon.cli("up")
        self.assertNotIn(second.returncode, (0, 2))
        self.assertIn(f"process {self.daemon.process.pid}", second.stderr)
        self.assertIn("next:", second.stderr)
        job = self.daemon.submit(HELD | {"name": "still-served"})
        self.assertEqual(self.daemon.wait(job)["state"], "succeeded")


class TraceTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="gf-")
        self.addCleanup(shutil.rmtree, self.folder)

    def simulate(self, name, text):
        path = os.path.join(self.folder, name)
        pathlib.Path(path).write_text(text, encoding="utf-8")
        return path, subprocess.run(
            [PROGRAM, "sim", "run", "--cluster", "nodes=2,gpus=8", "--workload", path],
            capture_output=True, text=True, timeout=60)

    def test_a_missing_column(self):
        path, ended = self.simulate(
            "openb_pod_list_x.csv", "name,cpu_milli,memory_mib,num_gpu,gpu_spec,qos\np1,1000,1024,1,,LS\n")
        self.assertEqual(ended.returncode, 2, ended)
        self.assertIn(path, ended.stderr)
        self.assertIn("gpu_milli", ended.stderr)

    def test_pods_without_times(self):
        _, ended = self.simulate(
            "openb_pod_list_x.csv",
            "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\np1,1000,1024,1,1000,\n")
        self.assertEqual(ended.returncode, 2, ended)
        self.assertIn("time", ended.stderr)
        self.assertIn("mode=saturation", ended.stderr)  # the next step


if __name__ == "__main__":
    unittest.main()
