#!/usr/bin/env python3
"""The table of a mixed day in docs/benchmarks.md, made by `gridfold sim run`.

    bench/effective_table.py GRIDFOLD DATA [--nodes 32] [--seeds 1 2 3] [--loads 0.6 0.8 1]

GRIDFOLD is the program, DATA a folder with alibaba-openb-2023/ and philly/. In
24 hours on nodes of 8 devices, tasks of openb (most a share of a device) and
gangs of Philly arrive at random, each trace with half of the load; openb in the
one half of the day three times as often as in the other, Philly the other way
round. Runs are at most 8 hours long.

Static partitions: so many nodes belong to each trace, for each split that is
tried; the best is shown, chosen with hindsight on the same day. The bound: work
served as a fluid, no faster than with a device of its own for each that asks,
and no faster than the cluster. What is useful by the end of the day counts.
"""
import argparse
import csv
import datetime
import gzip
import json
import os
import random
import subprocess
import tempfile

DAY = 24 * 3600
LONGEST = 8 * 3600
DEVICES_A_NODE = 8


def openb_tasks(data):
    """(devices, seconds, gpu request, cores) of the tasks that ask for devices."""
    path = os.path.join(data, "alibaba-openb-2023", "openb_pod_list_default.csv.gz")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            count = int(row["num_gpu"])
            begin = row["scheduled_time"] or row["creation_time"]
            seconds = min(int(row["deletion_time"]) - int(begin), LONGEST)
            if count == 0 or seconds <= 0:
                continue
            milli = int(row["gpu_milli"])
            share = count if count > 1 or milli >= 1000 else milli / 1000
            yield share, seconds, share, min(int(row["cpu_milli"]) / 1000, 12.0 * max(1, count))


def philly_gangs(data):
    """Likewise; the whole gang's devices, split over nodes of 8."""
    with gzip.open(os.path.join(data, "philly", "philly.csv.gz"), "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            count, seconds = int(row["num_gpus"]), min(float(row["duration"]), LONGEST)
            if 0 < count <= 64 and seconds >= 1:
                yield count, seconds, count, 0


def job_document(devices, cores):
    tasks, each = 1, devices
    if devices > DEVICES_A_NODE:
        tasks = next(n for n in range(2, int(devices) + 1)
                     if devices % n == 0 and devices // n <= DEVICES_A_NODE)
        each = devices // tasks
    request = {"gpu": each, "cpu": max(0.1, cores)}
    return {"name": "j", "count": tasks, "each": request, "run": "simulated"}


def arrivals(tasks, load, devices, busy_half, rng):
    """[(arrival, devices, seconds, document)] with half of the load."""
    tasks = list(tasks)
    work = sum(size * seconds for size, seconds, _, _ in tasks) / len(tasks)
    expected = load / 2 * devices * DAY / work
    drawn = []
    for _ in range(max(1, round(rng.gauss(expected, expected ** 0.5)))):
        size, seconds, request, cores = rng.choice(tasks)
        half = busy_half if rng.random() < 0.75 else 1 - busy_half
        at = (half + rng.random()) * DAY / 2
        drawn.append((at, size, seconds, job_document(request, cores)))
    return drawn


def simulate(args, jobs, nodes):
    """Useful and supplied device-hours of the day, and the parts lost."""
    mark = {"name": "mark", "each": {"cpu": 0.1}, "run": "simulated"}
    lines = [{"arrive": "0s", "duration": "1s", "count": 4 + len(jobs) // 100, "job": mark},
             {"arrive": f"{DAY}s", "duration": "1s", "job": mark}]
    lines += [{"arrive": f"{at:.3f}s", "duration": f"{seconds:.3f}s", "job": job}
              for at, _, seconds, job in jobs]
    with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8") as file:
        json.dump({"jobs": lines}, file)
        file.flush()
        # Some of the first marks are not counted: so the day ends with the last arrival.
        warm_up = 0.001 if len(jobs) >= 1000 else 0.005
        command = [args.gridfold, "sim", "run", "--cluster", f"nodes={nodes},gpus={DEVICES_A_NODE}",
                   "--workload", file.name, "--policy", args.policy, "-o", "json"]
        for setting in ("account=on", f"warm_up={warm_up}", *args.set):
            command += ["--set", setting]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)["effective"]


def fluid_bound(jobs, devices):
    """Share of the day that any schedule can make useful."""
    changes = sorted([(at, size) for at, size, _, _ in jobs] +
                     [(at + seconds, -size) for at, size, seconds, _ in jobs])
    served = backlog = 0.0
    now = inflow = 0.0
    for at, change in changes + [(float(DAY), 0)]:
        step = min(at, DAY) - now
        if step > 0:
            done = min(backlog + inflow * step, devices * step)
            # While there is backlog the rate is the cluster's, else the inflow's.
            served += done
            backlog += inflow * step - done
            now += step
        inflow += change
        if at >= DAY:
            break
    return served / (devices * DAY)


def largest_losses(effective, number=3):
    losses = [(hours, cause) for group in effective["losses_device_hours"].values()
              for cause, hours in group.items()]
    losses.sort(reverse=True)
    return ", ".join(f"{cause} {100 * hours / effective['supplied_device_hours']:.1f} %"
                     for hours, cause in losses[:number] if hours > 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("gridfold")
    parser.add_argument("data")
    parser.add_argument("--nodes", type=int, default=32)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--loads", type=float, nargs="+", default=[0.6, 0.8, 1.0])
    parser.add_argument("--policy", default="gridfold")
    parser.add_argument("--splits", type=int, nargs="+", default=[25, 37, 50, 62, 75])
    parser.add_argument("--set", nargs="*", default=["backfill=easy", "limits=rounded"],
                        help="settings of every run")
    args = parser.parse_args()
    traces = list(openb_tasks(args.data)), list(philly_gangs(args.data))
    devices = args.nodes * DEVICES_A_NODE
    print(f"{datetime.date.today()}: {args.nodes} nodes, seeds {args.seeds}, policy {args.policy}")
    print("| load | bound | one pool | in progress | static, best split | openb's nodes | "
          "largest losses in one pool |\n|---|---|---|---|---|---|---|")
    for load in args.loads:
        bound = ours = progress = 0.0
        static = dict.fromkeys(args.splits, 0.0)
        for seed in args.seeds:
            rng = random.Random(seed)
            days = [arrivals(tasks, load, devices, half, rng) for half, tasks in enumerate(traces)]
            bound += fluid_bound(days[0] + days[1], devices) / len(args.seeds)
            pool = simulate(args, days[0] + days[1], args.nodes)
            ours += pool["useful_ratio"] / len(args.seeds)
            progress += (pool["in_progress_device_hours"] / pool["supplied_device_hours"] /
                         len(args.seeds))
            for split in args.splits:
                first = round(args.nodes * split / 100)
                parts = [simulate(args, day, nodes)
                         for day, nodes in zip(days, (first, args.nodes - first))]
                static[split] += (sum(part["useful_device_hours"] for part in parts) /
                                  sum(part["supplied_device_hours"] for part in parts) /
                                  len(args.seeds))
        best = max(static, key=static.get)
        print(f"| {load} | {bound:.3f} | {ours:.3f} | {progress:.3f} | {static[best]:.3f} | {best} % "
              f"| {largest_losses(pool)} |", flush=True)


if __name__ == "__main__":
    main()
