#!/usr/bin/env python3
"""Tasks in partitions of a real GPU in MIG mode, on the fake driver: made when
they are needed, kept for the next task and for the next daemon, removed where
they are in the way."""

import os
import pathlib
import unittest

from harness import DaemonTest, PROGRAM, wait_until

FAKE = str(pathlib.Path(PROGRAM).parent / "tests" / "fake_nvml" / "libnvidia-ml.so.1")


def job(name, profile, run='echo "$CUDA_VISIBLE_DEVICES $GRIDFOLD_PARTITION"'):
    return {"name": name, "run": run, "stop": {"grace": "1s"},
            "each": {"cpu": 0.1, "memory": "8Mi", "gpu": 1, "gpu_partition": profile}}


class PartitionsTest(DaemonTest):
    def setUp(self):
        super().setUp()
        self.parts = os.path.join(self.folder, "data", "parts")
        self.config = os.path.join(self.folder, "data", "gridfold.toml")
        self.daemon.environment["GRIDFOLD_NVML_LIBRARY"] = FAKE
        self.daemon.environment["GRIDFOLD_FAKE_NVML_PARTS"] = self.parts
        self.daemon.serve(self.config)
        self.write("manage_partitions = true\n")

    def write(self, text):
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(text)

    def existing(self):
        """Number of the profile and start of each partition there is."""
        with open(self.parts, encoding="utf-8") as file:
            return sorted(tuple(int(word) for word in line.split()[1:]) for line in file)

    def seen(self, reference):
        """What a job that has ended was told: uid and place of its partition."""
        ended = self.daemon.wait(reference)
        self.assertEqual(ended["state"], "succeeded", ended)
        return self.daemon.cli("logs", reference).stdout.split()

    def test_is_made_named_and_kept(self):
        self.daemon.start()
        uid, place = self.seen(self.daemon.submit(job("a", "7g.80gb")))
        # Those that the fake driver begins with are removed: they were in the way.
        self.assertEqual((place, self.existing()), ("7g.80gb@0", [(4, 0)]))
        self.assertRegex(uid, "^MIG-")
        again, _ = self.seen(self.daemon.submit(job("b", "7g.80gb")))
        self.assertEqual(again, uid)

    def test_tasks_beside_one_another_and_a_new_daemon(self):
        self.daemon.start()
        wait = "echo $CUDA_VISIBLE_DEVICES; exec sleep 600"
        jobs = [self.daemon.submit(job(f"j{i}", profile, wait))
                for i, profile in enumerate(["3g.40gb", "3g.40gb", "1g.10gb"])]
        for one in jobs[:2]:
            self.daemon.wait_for_state(one, "running")
        # Both halves are taken: the third waits.
        self.assertEqual(self.daemon.job(jobs[2])["state"], "pending")
        self.assertEqual(self.existing(), [(2, 0), (2, 4)])
        self.daemon.kill()
        self.daemon.start()
        self.assertEqual([self.daemon.job(one)["state"] for one in jobs],
                         ["running", "running", "pending"])
        self.daemon.request("POST", f"{self.daemon.jobs_path}/{jobs[0]}:cancel")
        self.daemon.wait(jobs[0])
        self.daemon.wait_for_state(jobs[2], "running")
        wait_until(lambda: self.daemon.cli("logs", jobs[2]).stdout, "the third tells its partition")
        uids = {self.daemon.cli("logs", one).stdout for one in jobs}
        self.assertEqual(len(uids), 3)
        # In the half that is free again; the other runs on.
        self.assertEqual(sorted(profile for profile, _ in self.existing()), [0, 2])
        for one in jobs[1:]:
            self.daemon.request("POST", f"{self.daemon.jobs_path}/{one}:cancel")
            self.daemon.wait(one)

    def test_one_in_use_by_others_is_left_alone(self):
        self.daemon.environment["GRIDFOLD_FAKE_NVML"] = "parts_in_use"
        self.daemon.start()
        reference = self.daemon.submit(job("a", "7g.80gb"))
        # Tried twice; then the node is drained, and says why.
        wait_until(lambda: "In use by another client" in self.daemon.cli("node", "list").stdout,
                   "the driver's reason is shown")
        self.assertFalse(os.path.exists(self.parts))  # nothing was made or removed
        self.daemon.request("POST", f"{self.daemon.jobs_path}/{reference}:cancel")
        self.daemon.wait(reference)

    def test_nothing_is_touched_unless_it_is_said(self):
        self.write("")
        self.daemon.start()
        self.assertIn("manage_partitions = true", self.daemon.talk())
        self.assertFalse(os.path.exists(self.parts))
        reference = self.daemon.submit(job("a", "3g.40gb"))
        self.assertEqual(self.daemon.job(reference)["state"], "pending")
        self.daemon.request("POST", f"{self.daemon.jobs_path}/{reference}:cancel")
        self.daemon.wait(reference)


if __name__ == "__main__":
    unittest.main()
