#!/usr/bin/env python3
"""The table of backfill in docs/benchmarks.md, made by `gridfold sim run`.

    bench/backfill_table.py GRIDFOLD DATA [--seeds 1..8] [--modes easy] [--order shortest]

GRIDFOLD is the program, DATA a folder with hpc-swf/ and philly/. Users ask for
limits as `limits=rounded` says. Each seed draws the same jobs and limits for all
rows; `gap closed` is how much of the gap in mean bounded slowdown from planning
by limits to planning by true run times is closed by what is learned, `+-` the
standard error of a difference to planning by limits, over the seeds.
"""
import argparse
import json
import math
import statistics
import subprocess
import sys

WORLDS = {
    "NASA": ("nodes=128,cpu=1", "hpc-swf/NASA-iPSC-1993-3.1-cln.swf.gz"),
    "Philly": ("nodes=64,gpus=8", "philly/philly.csv.gz"),
}
RUN_TIMES = ["limits", "learned", "true"]


def run(args, world, backfill, run_times):
    cluster, workload = WORLDS[world]
    command = [args.gridfold, "sim", "run", "--cluster", cluster,
               "--workload", f"{args.data}/{workload}", "--seed", args.seeds, "-o", "json"]
    settings = {"load": args.load, "limits": "rounded", "backfill": backfill,
                "backfill_order": args.order, "run_times": run_times}
    if args.jobs:
        settings["jobs"] = args.jobs
    for key, value in settings.items():
        command += ["--set", f"{key}={value}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    result = json.loads(done.stdout)
    return result.get("runs", [result])


def column(runs, key):
    return [one[key] for one in runs]


def standard_error(values):
    return statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan


def row(args, world, mode, times, runs, base, truth):
    slowdown = column(runs, "bounded_slowdown_mean")
    difference = closed = ""
    if base is not None:
        less = [mine - other for mine, other in zip(slowdown, base)]
        difference = f"{statistics.mean(less):+.2f} +- {standard_error(less):.2f}"
    if truth is not None:
        gap = statistics.mean(base) - statistics.mean(truth)
        gained = statistics.mean(base) - statistics.mean(slowdown)
        closed = f"{100 * gained / gap:.0f} %" if gap > 0 else "no gap"
    wait = statistics.mean(column(runs, "wait_mean_seconds"))
    wall = sum(column(runs, "wall_seconds"))
    print(f"| {world} | {mode} | {args.order} | {times} | {statistics.mean(slowdown):.2f} "
          f"| {difference} | {closed} | {wait:.0f} | {wall:.0f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("gridfold")
    parser.add_argument("data")
    parser.add_argument("--seeds", default="1..8")
    parser.add_argument("--load", default="0.9")
    parser.add_argument("--jobs", type=int, default=0, help="jobs a run (default: until it is steady)")
    parser.add_argument("--worlds", default=",".join(WORLDS))
    parser.add_argument("--modes", default="easy,conservative")
    parser.add_argument("--order", default="arrival", help="of those backfilled: arrival or shortest")
    args = parser.parse_args()
    print("| world | backfill | order | run times | bounded slowdown | beside limits | gap closed "
          "| wait, mean s | s |")
    print("|---|---|---|---|---|---|---|---|---|")
    for world in args.worlds.split(","):
        for mode in args.modes.split(","):
            runs = {times: run(args, world, mode, times) for times in RUN_TIMES}
            base = column(runs["limits"], "bounded_slowdown_mean")
            truth = column(runs["true"], "bounded_slowdown_mean")
            for times in RUN_TIMES:
                row(args, world, mode, times, runs[times], None if times == "limits" else base,
                    truth if times == "learned" else None)


if __name__ == "__main__":
    main()
