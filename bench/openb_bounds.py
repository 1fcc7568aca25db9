#!/usr/bin/env python3
"""How full any policy could get the openb cluster, list by list, as Markdown.

    bench/openb_bounds.py BINARY DATA [--seeds 1..10] [--lists default,cpu200] > bounds.md

DATA is a folder of openb lists. Beside each list: the most that can have arrived
with nothing refused (L*); the most allocated at 100 and 130 per cent arrived
(B100, B130); and at 130 per cent for a policy that at 95 per cent was at most 0.1
point below `fgd` (S130), whose mean over the seeds is measured first. Per cent of
the cluster's GPUs, the lower of the two bounds; in brackets the fluid one where
it is below 99.995.
"""
import argparse
import json
import pathlib
import subprocess
import sys

SLACK = 0.001  # of the GPUs: what a policy may be below fgd at 95 per cent


def answer(command):
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def fgd_at_95(binary, data, workload, seeds):
    runs = answer([binary, "sim", "run", "--cluster", data, "--workload", workload, "--policy", "fgd",
                   "--set", "mode=saturation", "--set", "arrived=1.3", "--seed", seeds, "-o", "json"])
    curves = [run["gpu_allocated_ratio_by_arrived"] for run in runs.get("runs", [runs])]
    return sum(curve[95] for curve in curves) / len(curves)


def cell(bound):
    text = f"{100 * bound['gpu_allocated_ratio']:.2f}"
    fluid = 100 * bound["fluid_ratio"]
    return f"{text} ({fluid:.2f})" if fluid < 99.995 else text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--seeds", default="1..10")
    parser.add_argument("--lists")
    arguments = parser.parse_args()
    names = arguments.lists.split(",") if arguments.lists else sorted(
        path.name.removeprefix("openb_pod_list_").split(".")[0]
        for path in arguments.data.glob("openb_pod_list_*"))
    print("| list | classes | fgd at 95 | L* | B100 | S130 | B130 | seconds |")
    print("|---|---|---|---|---|---|---|---|")
    for name in names:
        held = fgd_at_95(arguments.binary, str(arguments.data), name, arguments.seeds)
        report = answer([arguments.binary, "sim", "bound", "--cluster", str(arguments.data),
                         "--workload", name, "--kept", f"{held - SLACK:.6f}@0.95", "-o", "json"])
        by_kind = {(b["kind"], b.get("arrived_ratio")): b for b in report["bounds"]}
        lossless = cell(by_kind["lossless", None])
        if report["tasks_that_fit_no_node"]:
            lossless = f"none: {report['tasks_that_fit_no_node']} fit no node"
        print(f"| {name} | {report['task_classes']} | {100 * held:.2f} | {lossless} | "
              f"{cell(by_kind['arrived', 1.0])} | {cell(by_kind['kept', 1.3])} | "
              f"{cell(by_kind['arrived', 1.3])} | {report['wall_seconds']:.2f} |", flush=True)
    return 0


sys.exit(main())
