#!/usr/bin/env python3
"""The table of fillers in docs/benchmarks.md, made by `gridfold sim run`.

    bench/fillers_table.py GRIDFOLD DATA [--seeds 1..2] [--load 0.8]

GRIDFOLD is the program, DATA a folder with alibaba-openb-2023/ and philly/.
openb's pods that are not best effort come at the load as guaranteed work;
Philly's jobs of one GPU are the fillers. `useful` is the share of the cluster's
GPU time that did work which was kept. The bound is everything that guaranteed
work, alone on the cluster, leaves as whole GPUs, or the fillers' whole demand
where that is less. Static partitions: so many nodes of each model are the
fillers' own; of the splits tried on seed 101 with half as many jobs the one of
the highest use is taken for which guaranteed jobs wait at most a minute on the
average.
"""
import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile

OPENB = "alibaba-openb-2023"
NODES = "openb_node_list_all_node.csv"
TUNING_SEED = "101"


class Table:
    def __init__(self, args):
        self.args = args
        self.folder = tempfile.mkdtemp(prefix="fillers")
        self.openb = os.path.join(args.data, OPENB)
        self.philly = os.path.join(args.data, "philly", "philly.csv.gz")
        with open(os.path.join(self.openb, NODES), encoding="utf-8") as file:
            self.nodes = list(csv.DictReader(file))

    def run(self, cluster, workload, seeds, **settings):
        command = [self.args.gridfold, "sim", "run", "--cluster", cluster, "--workload", workload,
                   "--policy", self.args.policy, "--seed", seeds, "-o", "json"]
        for key, value in settings.items():
            command += ["--set", f"{key}={value}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}: {done.stderr}")
        return json.loads(done.stdout)

    def shared(self, load, admission, victims="least_lost", seeds=None, **settings):
        result = self.run(self.openb, "default", seeds or self.args.seeds, load=self.args.load,
                        rights="guaranteed", fillers=self.philly, fillers_load=load,
                        fillers_admission=admission, fillers_victims=victims,
                        longest_duration=self.args.longest, **settings)
        return result.get("runs", [result])

    def split(self, per_cent):
        """Two node lists: of each model every so manieth GPU node is the fillers'."""
        parts = {"own": [], "fillers": []}
        seen = {}
        for node in self.nodes:
            if int(node["gpu"]) == 0:
                parts["own"].append(node)
                continue
            model = node["model"]
            gpus = seen.setdefault(model, [0, 0])  # all so far, the fillers'
            gpus[0] += int(node["gpu"])
            mine = (gpus[1] + int(node["gpu"])) * 100 <= gpus[0] * per_cent
            gpus[1] += int(node["gpu"]) if mine else 0
            parts["fillers" if mine else "own"].append(node)
        paths = {}
        for name, nodes in parts.items():
            paths[name] = os.path.join(self.folder, f"{name}{per_cent}.csv")
            with open(paths[name], "w", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, self.nodes[0].keys())
                writer.writeheader()
                writer.writerows(nodes)
        count = {name: sum(int(node["gpu"]) for node in nodes) for name, nodes in parts.items()}
        return paths, count

    def static(self, load, per_cent, seeds, **settings):
        """Both partitions, each with its own work at the same rate as when shared."""
        paths, gpus = self.split(per_cent)
        total = sum(gpus.values())
        own = self.run(paths["own"], os.path.join(self.openb, "openb_pod_list_default.csv.gz"),
                       seeds, load=round(float(self.args.load) * total / gpus["own"], 3),
                       rights="guaranteed", longest_duration=self.args.longest, **settings)
        # The other partition's work is all fillers, with their saves and restarts spared.
        rest = self.run(paths["fillers"], self.philly, seeds,
                        load=round(float(load) * total / gpus["fillers"], 3), largest_gpus=1,
                        longest_duration=self.args.longest, **settings)
        useful = (own["gpu_utilisation_mean_ratio"] * gpus["own"] +
                  rest["gpu_utilisation_mean_ratio"] * gpus["fillers"]) / total
        return {"useful": useful, "wait": own["wait_mean_seconds"],
                "queueing": rest["wait_mean_seconds"], "never": own["jobs"]["infeasible"]}

    def best_split(self, load):
        tried = []
        for per_cent in self.args.splits.split(","):
            part = self.static(load, int(per_cent), TUNING_SEED, jobs=self.args.tuning_jobs)
            print(f"  split {per_cent} %: useful {part['useful']:.4f}, wait {part['wait']:.1f} s, "
                  f"never fit {part['never']}", file=sys.stderr, flush=True)
            if part["wait"] <= 60 and part["never"] == 0:
                tried.append((part["useful"], int(per_cent)))
        return max(tried)[1] if tried else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("gridfold")
    parser.add_argument("data")
    parser.add_argument("--seeds", default="1")
    parser.add_argument("--load", default="0.8")
    parser.add_argument("--filler-loads", default="0.12,0.16,0.2")
    parser.add_argument("--policy", default="best_fit")
    parser.add_argument("--longest", default="48h")
    parser.add_argument("--splits", default="5,10,15,20")
    parser.add_argument("--tuning-jobs", type=int, default=300_000)
    parser.add_argument("--no-static", action="store_true")
    parser.add_argument("--guaranteed", default="4m,10m,20m", help="of the rows by forecast")
    args = parser.parse_args()
    table = Table(args)
    print("| fillers' load | | useful | of the bound | evictions (least, most) "
          "| fillers wait, mean s | guaranteed wait, mean s | delayed | guaranteed JCT | s |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for load in args.filler_loads.split(","):
        alone = table.shared(load, "none")
        bound = statistics.mean(bound_of(run, load) for run in alone)
        row(load, "no fillers", alone, alone)
        print(f"| {load} | bound | {bound:.4f} | | | | | | | |")
        if not args.no_static:
            split = table.best_split(load)
            if split is not None:
                part = table.static(load, split, args.seeds)
                print(f"| {load} | static partitions, {split} % | {part['useful']:.4f} | "
                      f"{100 * part['useful'] / bound:.1f} % | 0 | {part['queueing']:.0f} | "
                      f"{part['wait']:.3f} | | | |", flush=True)
        row(load, "naive", table.shared(load, "any", "youngest"), alone)
        row(load, "least lost first", table.shared(load, "any"), alone)
        for guaranteed in args.guaranteed.split(","):
            row(load, f"forecast, {guaranteed}",
                table.shared(load, "forecast", fillers_guaranteed=guaranteed), alone)


def bound_of(run, load):
    return run["fillers"]["gpus_with_rights_ratio"] + min(run["fillers"]["gpus_left_whole_ratio"],
                                                          float(load))


def row(load, name, runs, alone):
    """Means over the seeds; `alone` are the runs without fillers."""
    def mean(value):
        return statistics.mean(value(run) for run in runs)
    queueing = [run["fillers"]["queueing_mean_seconds"] for run in runs]
    share = statistics.mean(run["fillers"]["all_useful_ratio"] / bound_of(one, load)
                            for run, one in zip(runs, alone))
    longer = mean(lambda run: run["jct_mean_seconds"]) / statistics.mean(
        run["jct_mean_seconds"] for run in alone) - 1
    evictions = [run["fillers"]["evictions"] for run in runs]
    print(f"| {load} | {name} | {mean(lambda run: run['fillers']['all_useful_ratio']):.4f} "
          f"| {100 * share:.1f} % | {statistics.mean(evictions):.0f} ({min(evictions)} to "
          f"{max(evictions)}) | {'' if None in queueing else f'{statistics.mean(queueing):.0f}'} "
          f"| {mean(lambda run: run['wait_mean_seconds']):.2f} "
          f"| {mean(lambda run: run['fillers']['delayed_jobs']):.0f} | {100 * longer:+.3f} % "
          f"| {mean(lambda run: run['wall_seconds']):.0f} |", flush=True)


if __name__ == "__main__":
    main()
