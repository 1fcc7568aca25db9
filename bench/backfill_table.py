#!/usr/bin/env python3
"""The table of backfill in docs/benchmarks.md, made by `gridfold sim run`.

    bench/backfill_table.py GRIDFOLD DATA [--seeds 1..3] [--load 0.9]

GRIDFOLD is the program, DATA a folder with hpc-swf/ and philly/. Users ask for
limits as `limits=rounded` says; `share` is how much of the gap in mean bounded
slowdown from planning by limits to planning by true run times is closed by
what is learned.
"""
import argparse
import json
import subprocess
import sys

WORLDS = {
    "NASA": ("nodes=128,cpu=1", "hpc-swf/NASA-iPSC-1993-3.1-cln.swf.gz"),
    "Philly": ("nodes=64,gpus=8", "philly/philly.csv.gz"),
}
MODES = ["easy", "conservative"]
RUN_TIMES = ["limits", "learned", "true"]


def run(args, world, backfill, run_times):
    cluster, workload = WORLDS[world]
    command = [args.gridfold, "sim", "run", "--cluster", cluster,
               "--workload", f"{args.data}/{workload}", "--seed", args.seeds, "-o", "json"]
    settings = {"load": args.load, "limits": "rounded", "backfill": backfill, "run_times": run_times}
    if args.jobs:
        settings["jobs"] = args.jobs
    for key, value in settings.items():
        command += ["--set", f"{key}={value}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("gridfold")
    parser.add_argument("data")
    parser.add_argument("--seeds", default="1..3")
    parser.add_argument("--load", default="0.9")
    parser.add_argument("--jobs", type=int, default=0, help="jobs a run (default: until it is steady)")
    parser.add_argument("--worlds", default=",".join(WORLDS))
    args = parser.parse_args()
    print("| world | backfill | run times | bounded slowdown | share closed | wait, mean s | s |")
    print("|---|---|---|---|---|---|---|")
    for world in args.worlds.split(","):
        plain = run(args, world, "none", "limits")
        row(world, "none", "", plain, "")
        for mode in MODES:
            by = {times: run(args, world, mode, times) for times in RUN_TIMES}
            slowdown = {times: by[times]["bounded_slowdown_mean"] for times in RUN_TIMES}
            gap = slowdown["limits"] - slowdown["true"]
            for times in RUN_TIMES:
                closed = (slowdown["limits"] - slowdown[times]) / gap if gap > 0 else None
                share = "" if times == "limits" or closed is None else f"{100 * closed:.0f} %"
                row(world, mode, times, by[times], share)


def row(world, mode, times, result, share):
    print(f"| {world} | {mode} | {times} | {result['bounded_slowdown_mean']:.2f} | {share} "
          f"| {result['wait_mean_seconds']:.0f} | {result['wall_seconds']:.1f} |", flush=True)


if __name__ == "__main__":
    main()
