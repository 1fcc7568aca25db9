"""Looks at the jobs again and again: shows them, keeps what it saw, and waits
for what is to come."""

import datetime
import json
import re
import time

from daemon import Trouble
from screen import bar, columns
from work import DEVICES, filler_name, fillers_text

LOOK_SECONDS = 0.3  # between two looks at the jobs
PATIENCE_SECONDS = 240.0  # for any one step; on two quiet cores none takes 30
STATE_COLOURS = {"running": "green", "pending": "yellow", "stopping": "yellow", "starting": "yellow",
                 "failed": "red", "cancelled": "dim", "succeeded": "dim"}


class Watch:
    """All jobs of the daemon, as of the latest look; every look is appended to
    the file `snapshots` for scripts/quickstart_summary.py."""

    def __init__(self, daemon, work, screen, snapshots):
        self.daemon, self.work, self.screen, self.snapshots = daemon, work, screen, snapshots
        self.jobs = {}  # by name
        self.kept = {}  # items that the fillers which gave way had done
        self._names = {}  # of jobs, by id
        self._sentences = {}  # of reasons, as `job explain` says them
        self._look_due = 0.0

    def until(self, condition, what):
        """Looks at the jobs, and shows them, until the condition holds."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            self.look()
            if condition():
                return
            for job in self.jobs.values():
                if job["state"] == "failed":
                    raise Trouble(f"{job['name']} failed: {self._sentence(job)}\n{self.work.last_words(job)}")
            if time.monotonic() > deadline:
                raise Trouble(f"waited {PATIENCE_SECONDS:.0f} s for {what}")

    def until_ended(self, name):
        self.until(lambda: "ended_at" in self.jobs[name], f"{name} to end")
        return self.jobs[name]

    def look(self):
        time.sleep(max(self._look_due - time.monotonic(), 0))
        self._look_due = time.monotonic() + LOOK_SECONDS
        at = datetime.datetime.now(datetime.timezone.utc).isoformat()
        jobs = sorted(self.daemon.jobs(), key=lambda job: job["number"])
        self._names = {job["id"]: job["name"] for job in jobs}
        for job in jobs:
            if job.get("reason"):
                job["reason"]["sentence"] = self._sentence(job)
        with open(self.snapshots, "a", encoding="utf-8") as file:
            file.write(json.dumps({"at": at, "jobs": jobs}) + "\n")
        before, self.jobs = self.jobs, {job["name"]: job for job in jobs}
        self._tell_who_goes_on(before)
        self._show()

    def _tell_who_goes_on(self, before):
        back = [i for i in self.kept if self.jobs[filler_name(i)]["state"] == "running"
                and before[filler_name(i)]["state"] in ("pending", "starting")]
        if back:
            items = ", ".join(str(self.kept[i]) for i in back)
            self.screen.step(f"a GPU is free again for {fillers_text(back)}; cleaning goes on at item {items}")

    def _sentence(self, job):
        """The reason of a job in words; its code when the reason has changed meanwhile."""
        reason = job.get("reason") or {"code": job["state"]}
        key = json.dumps(reason, sort_keys=True)
        if key not in self._sentences:
            found = re.search(rf"^ +(.*?) +\[{reason['code']}\]$", self.daemon.call("job", "explain", job["id"]), re.M)
            if not found:
                return reason["code"]
            # "Preempted by job 01a2…": people know jobs by their names.
            self._sentences[key] = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}",
                                          lambda match: self._names.get(match[0], match[0]), found[1])
        return self._sentences[key]

    def _show(self):
        held = sum(kind["count"] for job in self.jobs.values() for kind in job["devices"])
        if not self.screen.live:
            if self.screen.line_is_due():
                self.screen.line(self._summary(held))
            return
        rows = [["JOB", "STATE", "GPU*", "PROGRESS"]]
        for name, job in self.jobs.items():
            count = sum(kind["count"] for kind in job["devices"])
            rows.append([name, self.screen.colour(job["state"], STATE_COLOURS.get(job["state"])),
                         str(count) if count else "-", self.work.progress(name)])
        head = f"GPU*  {bar(held / DEVICES, 2 * DEVICES)}  {held} of {DEVICES} held   {self.screen.seconds():.1f} s"
        self.screen.table([head, "", *columns(rows), "", "* emulated: the processes are real, the GPUs are not"])

    def _summary(self, held):
        """The table in one line."""
        states = [job["state"] for name, job in self.jobs.items() if name.startswith("digits-clean")]
        fillers = ", ".join(f"{states.count(state)} {state}" for state in sorted(set(states)))
        text = f"{held} of {DEVICES} GPUs held; fillers: {fillers or 'none'}"
        train = self.jobs.get("digits-train")
        if train is None:
            return text
        progress = self.work.progress("digits-train") if train["state"] == "running" else ""
        return f"{text}; training: {progress or train['state']}"
