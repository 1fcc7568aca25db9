#!/usr/bin/env python3
"""bench/peers/slurm without Slurm: what it reads, and that it says when Slurm is missing."""
import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[1] / "bench" / "peers" / "slurm"
sys.dont_write_bytecode = True


def load():
    loader = importlib.machinery.SourceFileLoader("peer_slurm", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("peer_slurm", loader))
    loader.exec_module(module)
    return module


PEER = load()

SDIAG = """\
Server thread count:  3
Jobs submitted: 0
Jobs started:   200
Jobs completed: 0

Main schedule statistics (microseconds):
\tLast cycle:   38
\tMax cycle:    469511
\tTotal cycles: 2
\tMean cycle:   234774
\tMean depth cycle:  100
\tLast queue length: 200

Backfilling stats
\tTotal cycles: 7
\tMax cycle:  9
"""


class ReadSdiag(unittest.TestCase):
    def test_takes_the_main_schedulers_counters(self):
        self.assertEqual(PEER.read_sdiag(SDIAG),
                         {"started": 200, "cycles": 2, "mean_us": 234774, "longest_us": 469511})

    def test_without_a_cycle_there_is_no_mean(self):
        self.assertEqual(PEER.read_sdiag("Jobs started: 0\nMain schedule statistics\n\tTotal cycles: 0\n"),
                         {"started": 0, "cycles": 0, "mean_us": 0, "longest_us": 0})


class FindStreams(unittest.TestCase):
    def names_and_times(self, answer):
        return [(found["name"], found["ns_per_decision"]) for found in PEER.find_streams(answer)]

    def test_takes_the_innermost(self):
        answer = {"nodes": 8, "fill": {"ns_per_decision": 5}, "churn": {"ns_per_decision": 7},
                  "ns_per_decision": 7}
        self.assertEqual(self.names_and_times(answer), [("fill", 5), ("churn", 7)])

    def test_takes_them_from_lists_by_their_names(self):
        answer = {"streams": [{"name": "a", "ns_per_decision": 5}, {"name": "b"}]}
        self.assertEqual(self.names_and_times(answer), [("a", 5)])

    def test_leaves_out_what_decided_nothing(self):
        self.assertEqual(self.names_and_times({"fill": {"ns_per_decision": 0}}), [])


class GridfoldRound(unittest.TestCase):
    def answer(self, script):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "gridfold"
            program.write_text("#!/bin/sh\n" + script)
            program.chmod(0o755)
            return PEER.gridfold_round(program, "place", 4)

    def test_gives_the_streams(self):
        streams, problem = self.answer("echo '{\"streams\": [{\"ns_per_decision\": 3}]}'")
        self.assertEqual((streams, problem), ([{"name": "streams", "ns_per_decision": 3}], None))

    def test_says_why_there_are_none(self):
        self.assertEqual(self.answer("echo 'no bench here' >&2; exit 2"),
                         ([], "gridfold bench place: no bench here"))
        streams, problem = PEER.gridfold_round("/nowhere/gridfold", "gang", 4)
        self.assertEqual(streams, [])
        self.assertIn("No such file", problem)


class Program(unittest.TestCase):
    def run_without_slurm(self, *arguments):
        with tempfile.TemporaryDirectory() as empty:
            # The script adds /usr/sbin, where Slurm's and munge's daemons may lie; sbatch does not.
            return subprocess.run([sys.executable, "-B", str(SCRIPT), *arguments], env={"PATH": empty},
                                  capture_output=True, text=True)

    def test_is_skipped_where_slurm_is_missing(self):
        done = self.run_without_slurm()
        self.assertEqual(done.returncode, 77)
        self.assertIn("apt-get install slurmctld slurm-client munge", done.stderr)

    def test_refuses_sizes_that_have_no_meaning(self):
        for arguments in (["--nodes", "x"], ["--nodes", "3"], ["--rounds", "0"],
                          ["--nodes", "8", "--jobs", "65"]):
            self.assertEqual(self.run_without_slurm(*arguments).returncode, 2, arguments)


if __name__ == "__main__":
    unittest.main()
