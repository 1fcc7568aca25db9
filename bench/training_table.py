#!/usr/bin/env python3
"""Policies of rounds on the worlds of training jobs, as a CSV and as Markdown.

    bench/training_table.py run BINARY DATA CSV    runs what the CSV lacks, a line a run
    bench/training_table.py table CSV              the table of docs/benchmarks.md

DATA is the pollux folder. A run that was broken off goes on where it stopped: a
line is written when its run is over. Choose with --loads, --rows and --workloads.
"""
import argparse
import csv
import json
import math
import pathlib
import subprocess
import sys
import tempfile

LOADS = ("0.5", "1.0", "1.5", "2.0")
WORKLOADS = tuple(str(n) for n in range(1, 8))
# Name of the row, policy, what it knows, settings.
ROWS = (
    ("fifo", "fifo", "nothing", ("world.batch=fixed",)),
    ("tiresias", "tiresias", "nothing", ("world.batch=fixed",)),
    ("optimus", "optimus", "oracle", ("world.batch=fixed",)),
    ("pollux", "pollux", "fitted", ()),
    ("gridfold", "gridfold", "fitted", ("policy.knows=nothing",)),
    ("gridfold declared", "gridfold", "fitted, declared epochs", ("policy.knows=declared",)),
    ("gridfold shared", "gridfold", "models shared, declared epochs", ("policy.knows=shared",)),
    ("gridfold free restart", "gridfold", "fitted, declared epochs; restarts cost nothing",
     ("policy.knows=declared", "policy.restart=1ns", "world.restart=1ns")),
)
COLUMNS = ("load", "row", "workload", "jobs", "finished", "jct_mean_seconds", "makespan_seconds",
           "finish_time_ratio_worst", "devices_held_ratio", "restarts", "policy_seconds",
           "decisions_sha256", "longest_jct_seconds")
LONGEST = 40  # jobs of each run that are kept for the pooled 99th percentile


def run_one(args, load, row, workload):
    folder = args.data / ("workloads" if load == "1.0" else f"workloads-{load}")
    with tempfile.NamedTemporaryFile(suffix=".csv") as jobs:
        command = [args.binary, "sim", "run", "--workload", str(folder / f"workload-{workload}.csv"),
                   "--policy", row[1], "--set", "world=pollux", "--set",
                   f"tables={args.data / 'traces'}", "--jobs", jobs.name, "-o", "json"]
        for setting in row[3]:
            command += ["--set", setting]
        answer = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        with open(jobs.name, encoding="utf-8") as lines:
            jcts = sorted(float(line["jct_seconds"]) for line in csv.DictReader(lines)
                          if line["jct_seconds"])
    return {"load": load, "row": row[0], "workload": workload, "jobs": answer["jobs_submitted"],
            "finished": answer["jobs_finished"],
            "longest_jct_seconds": " ".join(f"{jct:.0f}" for jct in jcts[-LONGEST:]),
            **{key: answer[key] for key in COLUMNS[5:] if key in answer}}


def run(args):
    done = set()
    if args.csv.exists():
        with open(args.csv, encoding="utf-8") as lines:
            done = {(line["load"], line["row"], line["workload"]) for line in csv.DictReader(lines)}
    with open(args.csv, "a", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
        if not done and out.tell() == 0:
            writer.writeheader()
        for load in args.loads.split(","):
            for row in ROWS:
                if args.rows and row[0] not in args.rows.split(","):
                    continue
                for workload in args.workloads.split(","):
                    if (load, row[0], workload) in done:
                        continue
                    writer.writerow(run_one(args, load, row, workload))
                    out.flush()


def pooled_p99(lines):
    count = sum(int(line["finished"]) for line in lines)
    longest = sorted((float(jct) for line in lines for jct in line["longest_jct_seconds"].split()),
                     reverse=True)
    return longest[count - math.ceil(0.99 * count)]


def table(args):
    with open(args.csv, encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    knows = {row[0]: row[2] for row in ROWS}
    print("| load | policy | may know | mean JCT s | p99 s | makespan s | worst ratio | held | restarts "
          "| policy s | jobs |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for load in LOADS:
        for name in knows:
            of = [line for line in lines if line["load"] == load and line["row"] == name]
            if not of:
                continue

            def mean(key):
                return sum(float(line[key]) for line in of) / len(of)

            finished = sum(int(line["finished"]) for line in of)
            jobs = sum(int(line["jobs"]) for line in of)
            worst = max(float(line["finish_time_ratio_worst"]) for line in of)
            part = "" if len(of) == len(WORKLOADS) else f" ({len(of)} workloads)"
            print(f"| {load} | {name}{part} | {knows[name]} | {mean('jct_mean_seconds'):,.0f} "
                  f"| {pooled_p99(of):,.0f} | {mean('makespan_seconds'):,.0f} | {worst:.2f} "
                  f"| {mean('devices_held_ratio'):.3f} | {sum(int(line['restarts']) for line in of):,} "
                  f"| {sum(float(line['policy_seconds']) for line in of):.1f} | {finished} of {jobs} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    runs = commands.add_parser("run")
    runs.add_argument("binary")
    runs.add_argument("data", type=pathlib.Path)
    runs.add_argument("csv", type=pathlib.Path)
    runs.add_argument("--loads", default=",".join(LOADS))
    runs.add_argument("--rows", default="", help="names of rows, all by default")
    runs.add_argument("--workloads", default=",".join(WORKLOADS))
    tables = commands.add_parser("table")
    tables.add_argument("csv", type=pathlib.Path)
    args = parser.parse_args()
    return run(args) if args.command == "run" else table(args)


sys.exit(main())
