#!/usr/bin/env python3
"""The closing summary of the quickstart: what ran where and why, how long it
waited, and how well the shared devices were used compared with the same work
on static partitions.

    scripts/quickstart_summary.py snapshots.jsonl --devices 8

A snapshot a line: {"at": "2026-01-01T10:00:00.5Z", "jobs": [...]}, where jobs
is what `gridfold job list -o json` prints (a list, or an object with one under
"jobs"); a reason may have its text beside it as "sentence". A job document
tells of its current run only, so the runs before an eviction come from the
snapshots: their starts are the scheduler's own times, their ends are exact to
the distance of two snapshots.

Everything but main() and read() is a pure function of its arguments.
"""

import argparse
import dataclasses
import datetime
import itertools
import json
import sys

# The field names of a job document that are used here, in one place.
NAME, CLASS, STATE, REASON = "name", "class", "state", "reason"
SUBMITTED, STARTED, ENDED, EVICTIONS = "submitted_at", "started_at", "ended_at", "evictions"
NODES, DEVICES, TASKS = "nodes", "devices", "tasks_total"
# Codes that tell what happened and not why; they are left out.
PASSING_CODES = ("Placed", "Started", "Completed", "NotYetConsidered")
ACTIVE_STATES = ("starting", "running", "stopping")
STANDING_CLASS = "infer"  # runs until it is stopped: has no end of its own


@dataclasses.dataclass
class Run:
    start: float  # seconds since the epoch, as all times here
    end: float | None = None
    devices: int = 0
    place: str = ""

    def seconds(self):
        return self.end - self.start


@dataclasses.dataclass
class Job:
    name: str
    workload_class: str
    submitted: float
    state: str = ""
    evictions: int = 0
    runs: list[Run] = dataclasses.field(default_factory=list)
    reasons: list[str] = dataclasses.field(default_factory=list)  # each once, in order

    def devices(self):
        return max((run.devices for run in self.runs), default=0)

    def waited(self):
        """Seconds without a place: before the first run and between runs."""
        waits, free_since = 0.0, self.submitted
        for run in self.runs:
            waits += max(run.start - free_since, 0)
            free_since = run.end
        return waits

    def ran(self):
        return sum(run.seconds() for run in self.runs)

    def ended(self):
        return self.runs[-1].end


# --- from snapshots to jobs --------------------------------------------------

def parse_time(text):
    return datetime.datetime.fromisoformat(text).timestamp()


def jobs_from_snapshots(snapshots):
    """The jobs with all their runs, in order of submission."""
    jobs, last = {}, None
    for snapshot in snapshots:
        last = parse_time(snapshot["at"])
        documents = snapshot["jobs"]
        if isinstance(documents, dict):
            documents = documents["jobs"]
        for document in documents:
            # An id tells jobs of one name apart; without one the name has to do.
            key = document.get("id", document[NAME])
            if key not in jobs:
                jobs[key] = Job(document[NAME], document[CLASS], parse_time(document[SUBMITTED]))
            _observe(jobs[key], document, last)
    for job in jobs.values():
        for run in job.runs:
            run.end = last if run.end is None else run.end
    return sorted(jobs.values(), key=lambda job: (job.submitted, job.name))


def _observe(job, document, at):
    job.state = document[STATE]
    job.evictions = document.get(EVICTIONS, 0)
    reason = describe_reason(document.get(REASON))
    if reason and reason not in job.reasons:
        job.reasons.append(reason)

    run = job.runs[-1] if job.runs else None
    start = parse_time(document[STARTED]) if document.get(STARTED) else None
    if start is not None and (run is None or start > run.start):
        if run is not None and run.end is None:  # evicted and restarted between two looks
            run.end = start
        run = Run(start)
        job.runs.append(run)
    if run is None or run.end is not None:
        return
    if document.get(ENDED):
        run.end = parse_time(document[ENDED])
    elif document[STATE].lower() not in ACTIVE_STATES:
        run.end = at
    else:
        run.devices = max(run.devices, sum(kind["count"] for kind in document.get(DEVICES, [])))
        run.place = ", ".join(document.get(NODES, [])) or run.place


def describe_reason(reason):
    """The sentence that came with a reason document, else "InsufficientFree
    (resource gpu, need 1, free 0)"; "" when it says nothing of the why."""
    if not reason or reason["code"] in PASSING_CODES:
        return ""
    if reason.get("sentence"):
        return reason["sentence"].rstrip(".")
    numbers = ", ".join(f"{name} {value}" for name, value in reason.get("params", {}).items())
    return reason["code"] + (f" ({numbers})" if numbers else "")


# --- the figures ---------------------------------------------------------------

def pool_figures(jobs, devices):
    """How the shared pool was used, from the first submission to the end of the
    last job that ends by itself. Device-seconds held by tasks count as used."""
    first = min(job.submitted for job in jobs)
    last = max(job.ended() for job in jobs if job.workload_class != STANDING_CLASS)
    used = sum(run.devices * max(min(run.end, last) - run.start, 0) for job in jobs for run in job.runs)
    waits = [job.waited() for job in jobs if job.workload_class != STANDING_CLASS]
    return {"makespan_seconds": last - first, "device_seconds": used,
            "utilisation_ratio": used / (devices * (last - first)),
            "wait_mean_seconds": sum(waits) / len(waits)}


def partition_figures(jobs, parts):
    """The same work when class c may use parts[c] devices and no others; None
    when a job does not fit into its part.

    Exact: in each part jobs start in order of submission as soon as enough of
    its devices are free, for as long as their runs on the pool took together.
    Standing jobs hold their devices until the last other job has ended."""
    first = min(job.submitted for job in jobs)
    ends, waits, used = [], [], 0.0
    for workload_class, size in parts.items():
        if workload_class == STANDING_CLASS:
            continue
        free_at, previous = [first] * size, first
        for job in (job for job in jobs if job.workload_class == workload_class):
            need = job.devices()
            if need > size:
                return None
            free_at.sort()
            start = max([job.submitted, previous] + free_at[:need])
            free_at[:need] = [start + job.ran()] * need
            previous = start
            ends.append(start + job.ran())
            waits.append(start - job.submitted)
            used += need * job.ran()
    last = max(ends)
    standing = [job for job in jobs if job.workload_class == STANDING_CLASS]
    if sum(job.devices() for job in standing) > parts.get(STANDING_CLASS, 0):
        return None
    used += sum(job.devices() * max(last - job.submitted, 0) for job in standing)
    return {"parts": dict(parts), "makespan_seconds": last - first, "device_seconds": used,
            "utilisation_ratio": used / (sum(parts.values()) * (last - first)),
            "wait_mean_seconds": sum(waits) / len(waits)}


def best_partition(jobs, devices):
    """The split with the highest utilisation, then the shortest waits, out of
    all splits of the devices over the classes; None when none holds the jobs."""
    classes = sorted({job.workload_class for job in jobs})
    best = None
    for cuts in itertools.combinations(range(1, devices), len(classes) - 1):
        sizes = [b - a for a, b in zip((0, *cuts), (*cuts, devices))]
        figures = partition_figures(jobs, dict(zip(classes, sizes)))
        if figures and (best is None or _rank(figures) > _rank(best)):
            best = figures
    return best


def _rank(figures):
    return (figures["utilisation_ratio"], -figures["wait_mean_seconds"])


def summarise(jobs, devices):
    """The whole summary as plain data. ValueError when there is nothing to sum up."""
    idle = [job.name for job in jobs if not job.runs]
    if idle:
        raise ValueError(f"never ran: {', '.join(idle)}")
    if all(job.workload_class == STANDING_CLASS for job in jobs):
        raise ValueError("no job that ends by itself")
    return {
        "jobs": [{"name": job.name, "class": job.workload_class, "state": job.state,
                  "submitted": job.submitted, "place": job.runs[-1].place, "devices": job.devices(),
                  "waited_seconds": job.waited(), "ran_seconds": job.ran(),
                  "evictions": job.evictions, "reasons": job.reasons,
                  "runs": [dataclasses.asdict(run) for run in job.runs]} for job in jobs],
        "devices": devices,
        "pool": pool_figures(jobs, devices),
        "static": best_partition(jobs, devices),
    }


# --- the text ------------------------------------------------------------------

CHART_COLUMNS = 30


def render(summary):
    jobs = summary["jobs"]
    first = min(job["submitted"] for job in jobs)
    span = max(run["end"] for job in jobs for run in job["runs"]) - first
    rows = [("JOB", "CLASS", f"0 s {span:>{CHART_COLUMNS - 6}.0f} s", "DEVICES", "NODE", "WAITED", "RAN", "EVICTED",
             "STATE")]
    for job in jobs:
        rows.append((job["name"], job["class"], chart(job["runs"], first, span), str(job["devices"]),
                     job["place"] or "?", f"{job['waited_seconds']:.1f} s", f"{job['ran_seconds']:.1f} s",
                     f"{job['evictions']}×" if job["evictions"] else "-", job["state"].lower()))
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = ["What ran where", ""]
    lines += ["  " + "  ".join(f"{cell:{width}}" for cell, width in zip(row, widths)).rstrip() for row in rows]
    lines += ["", "Why it waited or ended", ""]
    for reasons, names in group_by_reasons(jobs).items():
        lines += [f"  {', '.join(names)}", *(f"    {reason}" for reason in reasons)]
    lines += ["", "The shared pool against static partitions", ""]
    lines += _figures_line("shared pool", summary["pool"])
    static = summary["static"]
    if static is None:
        lines += ["  static partitions: no split of the devices holds these jobs"]
    else:
        split = " + ".join(f"{size} {name}" for name, size in static["parts"].items())
        lines += _figures_line(f"best static ({split})", static)
        gain = (summary["pool"]["utilisation_ratio"] - static["utilisation_ratio"]) * 100
        lines += [f"  difference: {gain:+.1f} points of utilisation"]
    lines += ["", "  Used: held by a running task, from the first submission to the end of the last job that",
              "  ends by itself. Static: every split of the devices over the classes is tried; in its part a",
              "  class starts jobs in order of submission, each for as long as its runs took here (evictions",
              "  and processors shared with the other jobs included). The best split is shown."]
    return "\n".join(lines)


def chart(runs, first, span):
    """One line of CHART_COLUMNS cells; a cell is full when the job ran in its middle."""
    cells = []
    for column in range(CHART_COLUMNS):
        middle = first + span * (column + 0.5) / CHART_COLUMNS
        cells.append("█" if any(run["start"] <= middle < run["end"] for run in runs) else "·")
    return "".join(cells)


def group_by_reasons(jobs):
    """{reasons: names}, so that alike jobs of an array take one line."""
    groups = {}
    for job in jobs:
        groups.setdefault(tuple(job["reasons"]) or ("started at once, and ran to its end",), []).append(job["name"])
    return groups


def _figures_line(title, figures):
    filled = round(figures["utilisation_ratio"] * 20)
    return [f"  {'█' * filled}{'░' * (20 - filled)} {figures['utilisation_ratio'] * 100:5.1f} %  {title}: "
            f"{figures['makespan_seconds']:.1f} s in all, mean wait {figures['wait_mean_seconds']:.1f} s"]


def read(file):
    return [json.loads(line) for line in file if line.strip()]


def main():
    parser = argparse.ArgumentParser(description="closing summary of the quickstart")
    parser.add_argument("snapshots", help="JSON lines, or - for standard input")
    parser.add_argument("--devices", type=int, required=True, help="devices in the pool")
    parser.add_argument("-o", "--output", choices=("text", "json"), default="text")
    options = parser.parse_args()
    try:
        if options.snapshots == "-":
            snapshots = read(sys.stdin)
        else:
            with open(options.snapshots, encoding="utf-8") as file:
                snapshots = read(file)
        summary = summarise(jobs_from_snapshots(snapshots), options.devices)
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"quickstart_summary: {type(error).__name__}: {error}", file=sys.stderr)
        return 1
    print(json.dumps(summary) if options.output == "json" else render(summary))
    return 0


if __name__ == "__main__":
    sys.exit(main())
