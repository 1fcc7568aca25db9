#!/usr/bin/env python3
"""Policies of rounds on the worlds of training jobs, as a CSV and as Markdown.

    bench/training_table.py run BINARY DATA CSV            runs what the CSV lacks, a line a run
    bench/training_table.py table CSV                      the table of docs/benchmarks.md
    bench/training_table.py gavel BINARY DATA CSV          the same in the world of Gavel
    bench/training_table.py gavel-table CSV
    bench/training_table.py deadlines BINARY DATA CSV      the same in the world of ElasticFlow
    bench/training_table.py deadlines-table DATA CSV       with the bounds

DATA is the pollux folder, gavel's or elasticflow's. A run that was broken off goes on where it stopped: a
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
    ("sia", "sia", "fitted", ()),
    ("gridfold", "gridfold", "fitted", ("policy.knows=nothing",)),
    ("gridfold declared", "gridfold", "fitted, declared epochs", ("policy.knows=declared",)),
    ("gridfold shared", "gridfold", "models shared, declared epochs", ("policy.knows=shared",)),
    ("gridfold free restart", "gridfold", "fitted, declared epochs; restarts cost nothing",
     ("policy.knows=declared", "policy.restart=1ns", "world.restart=1ns")),
)
# Deadlines: name of the trace, the cluster, what was published of policies.
DEADLINE_TRACES = {"elasticVpollux_e": "t4", "philly_103959": "a100"}
PUBLISHED = {"elasticVpollux_e": {"edf": .118, "tiresias": .287, "pollux": .523, "elasticflow": .728},
             "philly_103959": {"edf": .01, "tiresias": .32, "elasticflow": .87}}
DEADLINE_ROWS = (
    ("fifo", "fifo", "nothing", ()),
    ("edf", "edf", "deadlines", ()),
    ("tiresias", "tiresias", "nothing", ()),
    ("pollux", "pollux", "fitted", ()),
    ("elasticflow", "elasticflow", "oracle", ()),
    ("gridfold declared", "gridfold", "fitted, declared length", ("policy.knows=declared",)),
    ("gridfold shared", "gridfold", "models shared, declared length", ("policy.knows=shared",)),
    ("gridfold profiled", "gridfold", "oracle (speeds), declared length", ("policy.knows=profiled",)),
    ("gridfold profiled, free restart", "gridfold", "as above; restarts cost nothing",
     ("policy.knows=profiled", "policy.restart=1ns", "world.restart=1ns")),
)
DEADLINE_COLUMNS = ("trace", "row", "jobs_submitted", "jobs_finished", "deadlines", "deadlines_met",
                    "deadlines_met_ratio", "jct_mean_seconds", "makespan_seconds", "restarts",
                    "devices_held_ratio", "policy_seconds", "decisions_sha256")
COLUMNS = ("load", "row", "workload", "jobs", "finished", "jct_mean_seconds", "makespan_seconds",
           "finish_time_ratio_worst", "devices_held_ratio", "restarts", "policy_seconds",
           "decisions_sha256", "longest_jct_seconds")
# In the world of Gavel: its traces, and rows as above.
# The last has 2,000 jobs, for 300 devices of each model.
GAVEL_TRACES = ("max_min_fairness", "minimize_makespan", "seed=0/b436b2")
GAVEL_ROWS = (
    ("gavel max-min", "gavel", "measured rates", ("policy.objective=max_min",)),
    ("gavel makespan", "gavel", "measured rates, declared steps", ("policy.objective=makespan",)),
    ("sia", "sia", "measured rates", ()),
    ("gridfold nothing", "gridfold", "measured rates", ("policy.knows=nothing",)),
    ("gridfold", "gridfold", "measured rates, declared steps", ()),
    ("gridfold makespan", "gridfold", "measured rates, declared steps",
     ("policy.objective=makespan",)),
)
GAVEL_COLUMNS = ("trace", "row", "jobs", "dropped", "finished", "jct_mean_seconds", "jct_p99_seconds",
                 "makespan_seconds", "finish_time_ratio_worst", "devices_held_ratio", "restarts",
                 "policy_seconds", "jct_mean_bound_seconds", "makespan_bound_seconds",
                 "decisions_sha256")
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


def run_gavel_one(args, trace, row, bounded):
    """A run of one policy; its bounds too, where `bounded`: they are the trace's, and dear."""
    is_msr = "/" in trace
    file = f"msr/{trace}.trace.csv.gz" if is_msr else f"physical_cluster/{trace}.trace.csv"
    command = [args.binary, "sim", "run", "--workload", str(args.data / file), "--policy", row[1],
               "--set", "world=gavel", "--set", f"tables={args.data}", "-o", "json"]
    settings = list(row[3]) + (["world.bounds=relaxed"] if bounded else [])
    if is_msr:
        settings += ["world.rates=simulation"] + [f"world.{m}=300" for m in ("v100", "p100", "k80")]
    for setting in settings:
        command += ["--set", setting]
    answer = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return {"trace": trace, "row": row[0], "jobs": answer["jobs_submitted"],
            "dropped": answer["jobs_dropped"], "finished": answer["jobs_finished"],
            **{key: answer[key] for key in GAVEL_COLUMNS[5:] if answer.get(key) is not None}}


def run_gavel(args):
    done = set()
    if args.csv.exists():
        with open(args.csv, encoding="utf-8") as lines:
            done = {(line["trace"], line["row"]) for line in csv.DictReader(lines)}
    with open(args.csv, "a", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, GAVEL_COLUMNS, lineterminator="\n")
        if not done and out.tell() == 0:
            writer.writeheader()
        for trace in args.traces.split(","):
            for row in GAVEL_ROWS:
                if (trace, row[0]) in done or (args.rows and row[0] not in args.rows.split(",")):
                    continue
                bounded = row is GAVEL_ROWS[0] and "/" not in trace
                writer.writerow(run_gavel_one(args, trace, row, bounded))
                out.flush()


def gavel_table(args):
    with open(args.csv, encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    knows = {row[0]: row[2] for row in GAVEL_ROWS}
    print("| trace | policy | may know | mean JCT h | p99 h | makespan h | worst ratio | held | moves "
          "| policy s | jobs (dropped) |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")

    def hours(line, key):
        return f"{float(line[key]) / 3600:.2f}" if line[key] else "–"

    for trace in dict.fromkeys(line["trace"] for line in lines):
        of = [line for line in lines if line["trace"] == trace]
        for line in of:
            print(f"| {trace} | {line['row']} | {knows[line['row']]} | {hours(line, 'jct_mean_seconds')} "
                  f"| {hours(line, 'jct_p99_seconds')} | {hours(line, 'makespan_seconds')} "
                  f"| {float(line['finish_time_ratio_worst']):.2f} "
                  f"| {float(line['devices_held_ratio']):.3f} | {int(line['restarts']):,} "
                  f"| {float(line['policy_seconds']):.1f} "
                  f"| {line['finished']} of {line['jobs']} ({line['dropped']}) |")
        for line in of:
            if line["makespan_bound_seconds"]:
                print(f"| {trace} | *bound* | all | {hours(line, 'jct_mean_bound_seconds')} | – "
                      f"| {hours(line, 'makespan_bound_seconds')} | – | – | – | – | – |")


def deadlines(args):
    done = set()
    if args.csv.exists():
        with open(args.csv, encoding="utf-8") as lines:
            done = {(line["trace"], line["row"]) for line in csv.DictReader(lines)}
    with open(args.csv, "a", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, DEADLINE_COLUMNS, lineterminator="\n")
        if out.tell() == 0:
            writer.writeheader()
        for trace in args.traces.split(","):
            cluster = DEADLINE_TRACES[trace]
            for row in DEADLINE_ROWS:
                if (trace, row[0]) in done:
                    continue
                command = [args.binary, "sim", "run", "--workload",
                           str(args.data / "traces" / f"{trace}.csv"), "--policy", row[1]]
                for setting in ("world=elasticflow", f"tables={args.data}", f"world.cluster={cluster}",
                                *row[3]):
                    command += ["--set", setting]
                answer = json.loads(subprocess.run(command + ["-o", "json"], check=True,
                                                   capture_output=True).stdout)
                writer.writerow({"trace": trace, "row": row[0],
                                 **{key: answer[key] for key in DEADLINE_COLUMNS[2:]}})
                out.flush()


def feasible(data, trace, restart, slot):
    """Share of the jobs that could meet their deadline with the whole cluster to themselves."""
    folder = data / ("throughputs_T4" if DEADLINE_TRACES[trace] == "t4" else "throughputs_A100")
    with open(data / "traces" / f"{trace}.csv", encoding="utf-8") as file:
        jobs = list(csv.DictReader(file))
    rates = {}
    for model in {job["model_name"] for job in jobs}:
        with open(folder / f"{model}.csv", encoding="utf-8") as file:
            for line in csv.DictReader(file):
                batch = line.pop("global_batch_size")
                rates[model, batch] = max(float(rate) for rate in line.values()
                                          if rate and rate != "nan")
    origin = int(jobs[0]["submit_time"])
    met = 0
    for job in jobs:
        submitted = int(job["submit_time"]) - origin
        begin = math.ceil(submitted / slot) * slot if slot else submitted
        steps = int(job.get("real_iteration") or job["iteration"])
        end = begin + restart + steps / rates[job["model_name"], job["batch_size"]]
        met += end <= int(job["ddl"]) - origin
    return met / len(jobs)


def deadlines_table(args):
    with open(args.csv, encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    knows = {row[0]: row[2] for row in DEADLINE_ROWS}
    print("| trace | policy | may know | deadlines met | published | mean JCT s | makespan s | restarts "
          "| held | policy s | jobs |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for trace in dict.fromkeys(line["trace"] for line in lines):
        for line in lines:
            if line["trace"] != trace:
                continue
            published = PUBLISHED[trace].get(line["row"])
            print(f"| {trace} | {line['row']} | {knows[line['row']]} "
                  f"| {float(line['deadlines_met_ratio']):.1%} ({line['deadlines_met']}) "
                  f"| {f'{published:.1%}' if published else ''} "
                  f"| {float(line['jct_mean_seconds']):,.0f} | {float(line['makespan_seconds']):,.0f} "
                  f"| {int(line['restarts']):,} | {float(line['devices_held_ratio']):.3f} "
                  f"| {float(line['policy_seconds']):.1f} "
                  f"| {line['jobs_finished']} of {line['jobs_submitted']} |")
        print(f"| {trace} | *bound: each job alone, from the next slot, with a restart* | "
              f"| {feasible(args.data, trace, 30, 60):.1%} | | | | | | | |")
        print(f"| {trace} | *bound: each job alone, at once, without restart* | "
              f"| {feasible(args.data, trace, 0, 0):.1%} | | | | | | | |")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    runs = commands.add_parser("run")
    runs.add_argument("--loads", default=",".join(LOADS))
    runs.add_argument("--workloads", default=",".join(WORKLOADS))
    gavel = commands.add_parser("gavel")
    gavel.add_argument("--traces", default=",".join(GAVEL_TRACES))
    timed = commands.add_parser("deadlines")
    timed.add_argument("--traces", default=",".join(DEADLINE_TRACES))
    for each in (runs, gavel, timed):
        each.add_argument("binary")
        each.add_argument("data", type=pathlib.Path)
        each.add_argument("csv", type=pathlib.Path)
    for each in (runs, gavel):
        each.add_argument("--rows", default="", help="names of rows, all by default")
    timed_table = commands.add_parser("deadlines-table")
    timed_table.add_argument("data", type=pathlib.Path)
    timed_table.add_argument("csv", type=pathlib.Path)
    for name in ("table", "gavel-table"):
        commands.add_parser(name).add_argument("csv", type=pathlib.Path)
    args = parser.parse_args()
    return {"run": run, "table": table, "gavel": run_gavel, "gavel-table": gavel_table,
            "deadlines": deadlines, "deadlines-table": deadlines_table}[args.command](args)


sys.exit(main())
