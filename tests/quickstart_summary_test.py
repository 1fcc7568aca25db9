#!/usr/bin/env python3
"""The closing summary, against cases small enough to count by hand."""

import datetime
import os
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "scripts"))

import quickstart_summary as summary  # noqa: E402


def clock(seconds):
    base = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)
    return (base + datetime.timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")


def document(name, workload_class, state, submitted=0.0, started=None, ended=None, devices=0, **more):
    facts = {"id": name, "name": name, "class": workload_class, "state": state,
             "submitted_at": clock(submitted), "evictions": 0, "nodes": ["here"] if devices else [],
             "devices": [{"class": "gpu", "count": devices}] if devices else [], **more}
    if started is not None:
        facts["started_at"] = clock(started)
    if ended is not None:
        facts["ended_at"] = clock(ended)
    return facts


def job(name, workload_class, submitted, devices, *runs):
    return summary.Job(name, workload_class, submitted, "Succeeded", len(runs) - 1,
                       [summary.Run(start, end, devices, "here") for start, end in runs])


class Snapshots(unittest.TestCase):
    def test_an_eviction_makes_two_runs(self):
        busy = {"code": "Preempted", "params": {"by": "gang"}}
        looks = [
            {"at": clock(1), "jobs": [document("f", "filler", "Pending")]},
            {"at": clock(3), "jobs": [document("f", "filler", "Running", 0, 2, devices=1)]},
            {"at": clock(6), "jobs": [document("f", "filler", "Pending", 0, 2, evictions=1, reason=busy)]},
            {"at": clock(9), "jobs": {"jobs": [document("f", "filler", "Running", 0, 8, devices=1, evictions=1)]}},
            {"at": clock(12), "jobs": [document("f", "filler", "Succeeded", 0, 8, 11.5, evictions=1)]},
        ]
        found, = summary.jobs_from_snapshots(looks)
        start = summary.parse_time(clock(0))
        self.assertEqual([(r.start - start, r.end - start, r.devices) for r in found.runs], [(2, 6, 1), (8, 11.5, 1)])
        self.assertEqual(found.waited(), 2 + 2)
        self.assertEqual(found.ran(), 4 + 3.5)
        self.assertEqual(found.reasons, ["Preempted (by gang)"])

    def test_a_restart_between_two_looks_is_seen_by_its_start(self):
        looks = [{"at": clock(3), "jobs": [document("f", "filler", "Running", 0, 1, devices=2)]},
                 {"at": clock(9), "jobs": [document("f", "filler", "Running", 0, 7, devices=2)]}]
        found, = summary.jobs_from_snapshots(looks)
        start = summary.parse_time(clock(0))
        self.assertEqual([(r.start - start, r.end - start) for r in found.runs], [(1, 7), (7, 9)])

    def test_nanoseconds_are_read(self):
        self.assertAlmostEqual(summary.parse_time("2026-01-01T00:00:00.500000001Z")
                               - summary.parse_time("2026-01-01T00:00:00Z"), 0.5)


class Figures(unittest.TestCase):
    # Four devices. Fillers of 10 s on 3 of them and a gang of 2 that comes at 5,
    # for which two fillers leave and come back.
    jobs = [job("s", "infer", 0, 1, (0, 100)),
            job("f1", "filler", 0, 1, (0, 10)),
            job("f2", "filler", 0, 1, (0, 5), (15, 20)),
            job("f3", "filler", 0, 1, (0, 5), (15, 20)),
            job("gang", "train", 5, 2, (5, 15))]

    def test_pool(self):
        figures = summary.pool_figures(self.jobs, 4)
        self.assertEqual(figures["makespan_seconds"], 20)
        self.assertEqual(figures["device_seconds"], 20 + 30 + 20)
        self.assertEqual(figures["utilisation_ratio"], 70 / 80)
        self.assertEqual(figures["wait_mean_seconds"], (0 + 10 + 10 + 0) / 4)

    def test_partition(self):
        figures = summary.partition_figures(self.jobs, {"filler": 1, "infer": 1, "train": 2})
        # One device for three fillers: 30 s; the gang from 5 to 15.
        self.assertEqual(figures["makespan_seconds"], 30)
        self.assertEqual(figures["device_seconds"], 30 + 30 + 20)
        self.assertEqual(figures["utilisation_ratio"], 80 / 120)
        self.assertEqual(figures["wait_mean_seconds"], (0 + 10 + 20 + 0) / 4)

    def test_a_part_too_small_for_the_gang_is_no_partition(self):
        self.assertIsNone(summary.partition_figures(self.jobs, {"filler": 2, "infer": 1, "train": 1}))

    def test_the_best_split_is_the_best_of_all(self):
        self.assertEqual(summary.best_partition(self.jobs, 4)["parts"], {"filler": 1, "infer": 1, "train": 2})
        six = [figures for filler in range(1, 5) for infer in range(1, 6 - filler)
               if (figures := summary.partition_figures(
                   self.jobs, {"filler": filler, "infer": infer, "train": 6 - filler - infer}))]
        best = summary.best_partition(self.jobs, 6)
        self.assertEqual(best["utilisation_ratio"], max(f["utilisation_ratio"] for f in six))
        self.assertEqual(best["parts"], {"filler": 3, "infer": 1, "train": 2})

    def test_two_gangs_in_one_part_follow_each_other(self):
        gangs = [job("a", "train", 0, 2, (0, 4)), job("b", "train", 1, 2, (4, 6)), job("c", "train", 1, 1, (4, 5))]
        figures = summary.partition_figures(gangs, {"train": 3})
        self.assertEqual(figures["makespan_seconds"], 6)  # c has its own device, and waits for its turn
        self.assertEqual(figures["wait_mean_seconds"], (0 + 3 + 3) / 3)

    def test_nothing_to_sum_up_is_said(self):
        with self.assertRaisesRegex(ValueError, "never ran: x"):
            summary.summarise([summary.Job("x", "train", 0)], 8)
        with self.assertRaisesRegex(ValueError, "ends by itself"):
            summary.summarise(self.jobs[:1], 8)


class Text(unittest.TestCase):
    def test_says_what_matters(self):
        text = summary.render(summary.summarise(Figures.jobs, 4))
        self.assertIn("87.5 %  shared pool", text)
        self.assertIn("66.7 %  best static (1 filler + 1 infer + 2 train)", text)
        self.assertIn("+20.8 points", text)
        self.assertRegex(text, r"f2 +filler .* +10.0 s +10.0 s +1×")

    def test_reasons_are_sentences_where_there_are_any(self):
        facts = {"code": "InsufficientFree", "params": {"resource": "gpu", "need": 1}}
        self.assertEqual(summary.describe_reason(facts), "InsufficientFree (resource gpu, need 1)")
        self.assertEqual(summary.describe_reason({**facts, "sentence": "Needs 1 of gpu."}), "Needs 1 of gpu")
        self.assertEqual(summary.describe_reason({"code": "Placed", "params": {"tasks": 1}}), "")

    def test_chart(self):
        self.assertEqual(summary.chart([{"start": 0, "end": 5}], 0, 10), "█" * 15 + "·" * 15)


if __name__ == "__main__":
    unittest.main()
