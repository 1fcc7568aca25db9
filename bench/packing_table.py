#!/usr/bin/env python3
"""Placement policies side by side on the openb lists, as Markdown.

    bench/packing_table.py fill BINARY DATA      GPUs allocated at 80 … 130 % arrived
    bench/packing_table.py shuffle BINARY DATA   the same, mixes shuffled by the seed
    bench/packing_table.py drift BINARY DATA     the same, the second half from another list
    bench/packing_table.py churn BINARY DATA     GPU demand blocked at L = 0.8, 0.95, 1.1
    bench/packing_table.py queue BINARY DATA     mean wait in seconds, GPU utilisation
                                                 at the same loads, jobs waiting
    bench/packing_table.py shapes-fill …, shapes-churn …
                                                 Philly's and Gavel's shapes on openb's
                                                 nodes and on those of the cluster with
                                                 spot jobs, and openb's on the latter

DATA is the alibaba-openb-2023 folder; philly, gavel and alibaba-spot-2026 lie
beside it. fgd is told the true mix, gridfold learns it. Every figure is a mean
over the seeds; ties break by the lowest name.
"""
import argparse
import concurrent.futures
import json
import pathlib
import subprocess

MARKS = (80, 90, 95, 100, 130)
LOADS = ("0.8", "0.95", "1.1")
DRIFTS = (("default", "multigpu50"), ("gpushare60", "cpu250"), ("default", "gpushare100"),
          ("multigpu20", "gpuspec33"), ("multigpu50", "default"), ("cpu250", "gpushare60"))
SHUFFLED = ("default", "cpu250", "gpushare40", "gpuspec10", "multigpu20", "multigpu50")


OPENB_NODES = "openb_node_list_gpu_node.csv"
SPOT_NODES = "../alibaba-spot-2026/node_info_df.csv.gz"
GAVEL = "../gavel/msr/seed=0/{}.trace.csv.gz"
# Of Gavel's virtual clusters those of the most unlike sizes of job.
SHAPES = {"philly": "../philly/philly.csv.gz",
          **{f"gavel {name}": GAVEL.format(name)
             for name in ("103959", "0e4a51", "ee9e8c", "11cb48", "2869ce", "6214e9")}}
OPENB_ON_SPOT = ("default", "gpushare40", "cpu250", "multigpu20", "multigpu50")


def run(args, workload, policy, *settings, nodes=OPENB_NODES):
    cluster = args.data / nodes
    mix = "trace" if policy == "fgd" else "learned"
    command = [args.binary, "sim", "run", "--cluster", str(cluster), "--workload", workload,
               "--policy", policy, "--seed", args.seeds, "-o", "json", "--set", f"mix={mix}"]
    for setting in settings:
        command += ["--set", setting]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def fill(args, workload, policy, *settings, **place):
    answer = run(args, workload, policy, "mode=saturation", "arrived=1.3", *settings, **place)
    curve = answer["gpu_allocated_ratio_by_arrived"]
    return [100 * curve[at] for at in MARKS]


def churn(args, workload, policy, *settings, **place):
    jobs = [f"jobs={args.jobs}"] if args.jobs else []
    return [run(args, workload, policy, f"load={load}", "holding_mean=1h", *jobs, *settings, **place)
            for load in LOADS]


def blocked(args, workload, policy, **place):
    answers = churn(args, workload, policy, "when_full=leave", **place)
    return [100 * answer["gpu_demand_blocked_ratio"] for answer in answers]


def waits(args, workload, policy):
    return [figure for answer in churn(args, workload, policy)
            for figure in (answer["wait_mean_seconds"],
                           100 * answer["gpu_utilisation_mean_ratio"])]


def plan(args):
    """(title of the row, measure) of the experiment, and the columns of a policy."""
    lists = args.lists.split(",") if args.lists else sorted(
        path.name.removeprefix("openb_pod_list_").split(".")[0]
        for path in args.data.glob("openb_pod_list_*"))
    if args.experiment == "fill":
        return [(name, lambda p, n=name: fill(args, n, p)) for name in lists], MARKS
    if args.experiment == "shuffle":
        rows = lists if args.lists else SHUFFLED
        return [(name, lambda p, n=name: fill(args, n, p, "mix_weights=shuffled"))
                for name in rows], MARKS
    if args.experiment == "drift":
        return [(f"{a} then {b}", lambda p, a=a, b=b: fill(args, a, p, f"then={b}"))
                for a, b in DRIFTS], MARKS
    if args.experiment.startswith("shapes"):
        measure = fill if args.experiment == "shapes-fill" else blocked
        places = [(f"{name} on {on}", str(args.data / path), nodes)
                  for on, nodes in (("openb", OPENB_NODES), ("spot", SPOT_NODES))
                  for name, path in SHAPES.items()]
        places += [(f"openb {name} on spot", str(args.data / f"openb_pod_list_{name}.csv.gz"),
                    SPOT_NODES) for name in OPENB_ON_SPOT]
        return [(title, lambda p, w=path, n=nodes: measure(args, w, p, nodes=n))
                for title, path, nodes in places], MARKS if measure is fill else LOADS
    if args.experiment == "queue":
        return [(name, lambda p, n=name: waits(args, n, p)) for name in lists], tuple(
            f"{what} {load}" for load in LOADS for what in ("wait", "used"))
    return [(name, lambda p, n=name: blocked(args, n, p)) for name in lists], LOADS


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("experiment", choices=("fill", "shuffle", "drift", "churn", "queue",
                                                "shapes-fill", "shapes-churn"))
    parser.add_argument("binary")
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--policies", default="best_fit,fgd,gridfold")
    parser.add_argument("--seeds", default="1..10")
    parser.add_argument("--lists")
    parser.add_argument("--jobs", type=int, help="of a run under load, instead of the default")
    parser.add_argument("--processes", type=int, default=1)
    args = parser.parse_args()
    policies = args.policies.split(",")
    rows, columns = plan(args)
    print("| |", " | ".join(f"{p} {c}" for p in policies for c in columns), "|")
    print("|---" * (1 + len(policies) * len(columns)) + "|")
    sums = {}
    with concurrent.futures.ThreadPoolExecutor(args.processes) as pool:
        pending = {(title, p): pool.submit(measure, p) for title, measure in rows for p in policies}
        for title, _ in rows:
            figures = [value for p in policies for value in pending[title, p].result()]
            for at, value in enumerate(figures):
                sums[at] = sums.get(at, 0) + value
            print(f"| {title} |", " | ".join(f"{value:.2f}" for value in figures), "|", flush=True)
    print("| mean |", " | ".join(f"{sums[at] / len(rows):.2f}" for at in sorted(sums)), "|")


if __name__ == "__main__":
    main()
