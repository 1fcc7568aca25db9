"""The openb replay: what each packing policy makes of a real cluster's GPUs,
beside the published figures."""

import concurrent.futures
import csv
import json
import os
import subprocess

from screen import columns

POLICIES = ("fgd", "best_fit", "gpu_packing", "gpu_clustering", "dot_product", "random")
SEEDS = "1..3"
ALLOWED_POINTS = 0.7  # from the published mean of ten other seeds


def command(program, policy):
    return [program, "sim", "run", "--cluster", "tests/data/openb", "--workload", "default", "--policy", policy,
            "--set", "mode=saturation", "--set", "arrived=1.3", "--set", "tie_break=seeded_order",
            "--seed", SEEDS, "-o", "json"]


def replay(program, clone):
    """{policy: document of `gridfold sim run`}; RuntimeError with its words."""
    def run(policy):
        done = subprocess.run(command(program, policy), cwd=clone, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"gridfold sim run --policy {policy}: {done.stderr.strip()}")
        return json.loads(done.stdout)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(POLICIES, pool.map(run, POLICIES)))


def published(clone):
    """{policy: (percent at 100 % asked for, at 130 %)}."""
    path = os.path.join(clone, "tests/data/openb/published_allocation_default.csv")
    with open(path, encoding="ascii") as file:
        return {row["policy"]: (float(row["allocated_percent_at_100"]), float(row["allocated_percent_at_130"]))
                for row in csv.DictReader(file)}


def compare(documents, figures):
    """[(policy, ours at 100, published at 100, ours at 130, published at 130)] in percent."""
    rows = []
    for policy, document in documents.items():
        allocated = document["gpu_allocated_ratio_by_arrived"]
        rows.append((policy, allocated[100] * 100, figures[policy][0], allocated[130] * 100, figures[policy][1]))
    return rows


def furthest_points(rows):
    return max(max(abs(row[1] - row[2]), abs(row[3] - row[4])) for row in rows)


def table(rows):
    head = ["POLICY", "100 % ASKED FOR", "PUBLISHED", "130 % ASKED FOR", "PUBLISHED"]
    return columns([head] + [[row[0], *(f"{value:6.2f} %" for value in row[1:])] for row in rows])
