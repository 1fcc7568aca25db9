#!/usr/bin/env python3
"""Fits link curves to measured all-reduce times and writes data/link_curves.csv.

    bench/fit_link_curves.py VIDUR > data/link_curves.csv

VIDUR is the folder of microsoft/vidur's profiling/network tables. Of each
table's sizes every third, in order of size, is fitted (the 1st, 4th, …); the
others are left for the test. The model is that of docs/topology.md: a ring of n ranks
takes start + hops + transfer(volume), and its volume 2(n-1)/n of the buffer is
cut into as many channels as each node has ranks.
"""
import csv
import gzip
import pathlib
import sys

DATA = pathlib.Path(sys.argv[1])
# machine -> kinds -> groups (ranks, ranks a node) whose slowest link is of that kind.
MACHINES = {
    "a100_pairwise_nvlink": {("nvlink",): [(2, 2)], ("pcie", "numa", "socket"): [(4, 4)]},
    "h100_pairwise_nvlink": {("nvlink",): [(2, 2)], ("pcie", "numa", "socket"): [(4, 4)]},
    "a100_dgx": {("nvlink",): [(2, 2), (4, 4), (8, 8)],
                 ("ethernet",): [(2, 1), (4, 2), (8, 4), (16, 8)]},
    "h100_dgx": {("nvlink",): [(2, 2), (4, 4), (8, 8)]},
}
CARDS = 4  # of a node, each next to two devices
KNOTS = [2048 << i for i in range(6)] + [int(131072 * 2 ** (i / 2)) for i in range(26)]
HOPS = [0, 250, 500, 1000, 2000, 3000, 4000]  # ns


def median(values):
    values = sorted(values)
    return values[len(values) // 2]


def table(machine):
    """{(ranks, ranks a node): [(bytes, ns)]}, in order of bytes."""
    groups = {}
    with gzip.open(DATA / machine / "all_reduce.csv.gz", "rt") as file:
        for row in csv.DictReader(file):
            key = (int(row["num_workers"]), int(row["devices_per_node"]))
            time = float(row["all_reduce.median_ms"]) * 1e6
            groups.setdefault(key, {}).setdefault(int(row["size"]), []).append(time)
    return {key: [(size, median(times)) for size, times in sorted(by_size.items())]
            for key, by_size in groups.items()}


def samples(groups, keys, hop):
    """[(channel's bytes, ns of its transfer and start, weight of an error)]"""
    points = []
    for n, per_node in keys:
        channels = per_node if n > per_node else 1
        shared = -(-per_node // CARDS) if n > per_node else 1
        for size, time in groups[(n, per_node)][::3]:
            points.append((2 * (n - 1) / n * size / channels,
                           max((time - 2 * (n - 1) * hop) / shared, 100), shared / time))
    return sorted(points)


def interpolate(knots, values, x):
    if x <= knots[0]:
        return values[0]
    for i in range(1, len(knots)):
        if x <= knots[i]:
            share = (x - knots[i - 1]) / (knots[i] - knots[i - 1])
            return values[i - 1] + share * (values[i] - values[i - 1])
    return values[-1]


def never_falling(values):
    """Pool adjacent violators."""
    pools = []
    for value in values:
        pools.append([value, 1])
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            value, count = pools.pop()
            pools[-1] = [(pools[-1][0] * pools[-1][1] + value * count) / (pools[-1][1] + count),
                         pools[-1][1] + count]
    return [value for value, count in pools for _ in range(count)]


def fit(points):
    """Knots and values of least mean relative error; the values never fall."""
    low, high = points[0][0], points[-1][0]
    knots = [low] + [k for k in KNOTS if low * 1.2 < k < high / 1.2] + [high]
    near = lambda k: sorted(points, key=lambda p: abs(p[0] - k) / (p[0] + k))[:9]
    values = never_falling([median(p[1] for p in near(k)) for k in knots])

    def error(i):
        left, right = knots[max(i - 1, 0)], knots[min(i + 1, len(knots) - 1)]
        return sum(abs(interpolate(knots, values, x) - y) * weight
                   for x, y, weight in points if left <= x <= right)

    for _ in range(4):
        for i in range(len(knots)):
            best = error(i)
            for factor in (0.8, 0.92, 0.97, 0.99, 1.01, 1.03, 1.08, 1.25):
                kept = values[i]
                values[i] = kept * factor
                ordered = (i == 0 or values[i - 1] <= values[i]) and (
                    i + 1 == len(values) or values[i] <= values[i + 1])
                now = error(i) if ordered else best
                if ordered and now < best:
                    best = now
                else:
                    values[i] = kept
    total = sum(abs(interpolate(knots, values, x) - y) * weight for x, y, weight in points)
    return knots, values, total / len(points)


def main():
    print("machine,kind,start_ns,hop_ns,bits_per_second,knots")
    print("# Fitted by bench/fit_link_curves.py to every third size of the all-reduce tables of")
    print("# microsoft/vidur (MIT licence), data/profiling/network; see docs/topology.md.")
    for machine, kinds in MACHINES.items():
        groups = table(machine)
        for names, keys in kinds.items():
            error, hop, knots, values = min(
                (error, hop, knots, values) for hop in HOPS
                for knots, values, error in [fit(samples(groups, keys, hop))])
            start = values[0]
            slope = (values[-1] - values[-3]) / (knots[-1] - knots[-3])  # ns a byte
            text = " ".join(f"{round(k)}:{round(v - start)}" for k, v in zip(knots, values))
            for name in names:
                print(f"{machine},{name},{round(start)},{hop},{round(8e9 / slope)},{text}")
            print(f"{machine} {names}: {100 * error:.1f} % of the fitted times", file=sys.stderr)


main()
