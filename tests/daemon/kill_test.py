#!/usr/bin/env python3
"""kill -9 of the daemon at random moments, again and again on one state, under
submissions, cancels and preemptions: no acknowledged job is lost, none is run
twice, every exit code is kept, nothing is left behind.

GRIDFOLD_ROUNDS (20) and GRIDFOLD_SEED (1) choose how often and when. Every
submission carries an idempotency key and is repeated until it is answered.
"""

import collections
import http.client
import os
import random
import threading
import time
import unittest

from harness import DaemonTest, is_over, wait_until

ROUNDS = int(os.environ.get("GRIDFOLD_ROUNDS", "20"))
SEED = int(os.environ.get("GRIDFOLD_SEED", "1"))
DEVICES = 8
SUBMITTERS = 3
# A round's work takes about as long as the round, so that the queue does not
# grow with the number of rounds.
SUBMISSION_PAUSE_SECONDS = 0.08

# Each task writes to a file of its own; the lock shows two that live at once.
# A filler ends by itself after a while; asked to stop before, it says so.
PROLOGUE = """f={data}/$GRIDFOLD_JOB_NAME.$GRIDFOLD_TASK_INDEX
exec 9>>$f.lock
flock -n 9 || echo "overlap $GRIDFOLD_ATTEMPT" >> $f
echo "start $GRIDFOLD_ATTEMPT" >> $f
"""
PLAIN = PROLOGUE + """sleep {seconds}
echo "end $GRIDFOLD_ATTEMPT" >> $f
exit {code}
"""
FILLER = PROLOGUE + """trap 'echo "stop $GRIDFOLD_ATTEMPT" >> $f; exit 0' TERM
i=0
while [ $i -lt {steps} ]; do i=$((i+1)); sleep 0.05; done
echo "end $GRIDFOLD_ATTEMPT" >> $f
exit {code}
"""


def code_of(name):
    """The code a job exits with follows from its name."""
    return sum(name.encode()) * 7 % 5


class Load:
    """Submits and cancels until told to end; knows what was promised."""

    def __init__(self, daemon, data):
        self.daemon, self.data = daemon, data
        self.lock = threading.Lock()
        self.acknowledged = {}  # name: id
        self.asked = collections.Counter()  # name: submissions sent, repeats included
        self.cancelled = set()  # names whose cancel was sent
        self.repeats = 0
        self.refusals = []  # answers that should not be
        self.ending = threading.Event()
        self.threads = [threading.Thread(target=self._submit, args=(number,))
                        for number in range(SUBMITTERS)]
        self.threads.append(threading.Thread(target=self._cancel))
        for thread in self.threads:
            thread.start()

    def end(self):
        self.ending.set()
        for thread in self.threads:
            thread.join()

    def _batch(self, random_stream, prefix):
        kind = random_stream.choices(("plain", "batch", "filler", "trainer", "gang"),
                                     (8, 3, 2, 1, 1))[0]
        size = random_stream.randint(2, 4) if kind == "batch" else 1
        jobs = []
        for index in range(size):
            name = f"{prefix}-{index}-{kind}"
            words = {"data": self.data, "code": code_of(name),
                     "seconds": random_stream.choice((0, 0.01, 0.05, 0.2)),
                     "steps": random_stream.randint(1, 12)}
            job = {"name": name, "each": {"cpu": 0.01, "memory": "8Mi"},
                   "run": (FILLER if kind == "filler" else PLAIN).format(**words)}
            if kind == "filler":
                job |= {"class": "filler", "stop": {"grace": "2s"}}
                job["each"]["gpu"] = random_stream.randint(1, 2)
            if kind == "trainer":
                job["each"]["gpu"] = random_stream.choice((DEVICES // 2, DEVICES))
            if kind == "gang":
                job["count"] = 3
                job["each"]["gpu"] = 1
            jobs.append(job)
        return jobs

    def _submit(self, number):
        stream = random.Random(f"{SEED}/submit/{number}")
        count = 0
        while not self.ending.is_set():
            count += 1
            jobs = self._batch(stream, f"s{number}-{count}")
            key = f"key-{number}-{count}"
            answer = self._persist(jobs, key)
            # The same again: the same answer, no second job.
            if stream.random() < 0.1:
                again = self._persist(jobs, key)
                if again.json()["jobs"] != answer.json()["jobs"] or again.status != 200:
                    self.refusals.append(f"repeated {key}: {again}, first {answer}")
            time.sleep(SUBMISSION_PAUSE_SECONDS * stream.uniform(0.2, 1.8))

    def _persist(self, jobs, key):
        while True:
            with self.lock:
                self.asked.update(job["name"] for job in jobs)
            try:
                answer = self.daemon.submit_batch(jobs, key)
            except (OSError, http.client.HTTPException):
                self.repeats += 1
                time.sleep(0.01)
                continue
            if answer.status not in (200, 201):
                self.refusals.append(f"{key}: {answer}")
            with self.lock:
                for job in answer.json()["jobs"]:
                    self.acknowledged[job["name"]] = job["id"]
            return answer

    def _cancel(self):
        stream = random.Random(f"{SEED}/cancel")
        while not self.ending.is_set():
            time.sleep(stream.uniform(0.02, 0.25))
            with self.lock:
                names = list(self.acknowledged)
            if not names:
                continue
            name = stream.choice(names[-20:])
            with self.lock:
                self.cancelled.add(name)
            try:
                answer = self.daemon.request("POST", f"{self.daemon.jobs_path}/"
                                                     f"{self.acknowledged[name]}:cancel")
            except (OSError, http.client.HTTPException):
                continue  # it may or may not have taken effect
            if answer.status not in (200, 409):
                self.refusals.append(f"cancel of {name}: {answer}")


class KillTest(DaemonTest):
    arguments = ("--devices", f"gpu:H100-SXM5-80GB={DEVICES}")

    def test_killed_at_random_moments(self):
        moments = random.Random(f"{SEED}/kill")
        started = time.monotonic()
        load = Load(self.daemon, self.data)
        try:
            for _ in range(ROUNDS):
                self.daemon.spawn()
                # Some within the start, most under load.
                time.sleep(moments.choice((moments.uniform(0, 0.1), moments.uniform(0.1, 1.5))))
                self.assertTrue(self.daemon.is_running(), self.daemon.talk())
                self.daemon.kill()
            self.daemon.start()
        finally:
            if not self.daemon.is_running():
                self.daemon.spawn()
            load.end()
        killed_for = time.monotonic() - started
        # Gangs behind fillers included: the work of some rounds may be left.
        wait_until(lambda: not self.daemon.list_jobs("&state=live"), "all jobs have ended",
                   seconds=120, step=0.1)
        self.check(load)
        print(f"{ROUNDS} kills in {killed_for:.1f} s: {len(load.acknowledged)} jobs, "
              f"{load.repeats} submissions repeated, {len(load.cancelled)} cancels, "
              f"{self.evictions} evictions, {self.runs} runs; seed {SEED}")

    def check(self, load):
        self.assertEqual(load.refusals, [])
        jobs = self.daemon.list_jobs()
        names = collections.Counter(job["name"] for job in jobs)
        self.assertEqual([name for name, count in names.items() if count > 1], [], "submitted twice")
        by_name = {job["name"]: job for job in jobs}
        lost = [name for name, uid in load.acknowledged.items()
                if name not in by_name or by_name[name]["id"] != uid]
        self.assertEqual(lost, [], "acknowledged and lost")
        self.assertEqual([name for name in names if name not in load.asked], [], "nobody asked for")
        self.evictions = sum(job["evictions"] for job in jobs)
        self.runs = 0
        for name in by_name:
            with self.subTest(job=name):
                self.check_job(self.daemon.job(by_name[name]["id"]), name in load.cancelled)

    def check_job(self, job, cancelled):
        name, code = job["name"], code_of(job["name"])
        self.assertTrue(is_over(job))
        if job["state"] == "cancelled":
            self.assertTrue(cancelled, "cancelled, but nobody asked for it")
        else:
            self.assertEqual(job["state"], "failed" if code else "succeeded")
        for task in job["tasks"]:
            steps = self.steps_of(f"{name}.{task['index']}")
            with self.subTest(steps=steps):
                self.check_task(job, task, steps)

    def steps_of(self, file):
        try:
            with open(os.path.join(self.data, file), encoding="utf-8") as lines:
                return [(word, int(attempt)) for word, attempt in (line.split() for line in lines)]
        except FileNotFoundError:
            return []

    def check_task(self, job, task, steps):
        starts = [attempt for word, attempt in steps if word == "start"]
        ends = [attempt for word, attempt in steps if word == "end"]
        self.runs += len(starts)
        self.assertNotIn("overlap", [word for word, _ in steps], "two attempts lived at once")
        self.assertEqual(len(set(starts)), len(starts), "an attempt was started twice")
        self.assertEqual(starts, sorted(starts), "an older attempt came after a newer one")
        if job["state"] == "cancelled":
            self.assertLessEqual(len(ends), 1 + job["evictions"])
            return
        self.assertFalse(task["exit"]["lost"], "its end was not seen")
        if "gang" in job["name"]:
            # Its fellows are stopped when one has failed.
            return
        self.assertEqual(task["exit"]["signal"], 0)
        self.assertEqual(task["exit"]["code"], code_of(job["name"]))
        self.assertEqual(ends[-1:], [task["attempt"]])
        if job["evictions"] == 0:
            self.assertEqual(starts, [1], "started more than once without an eviction")
            self.assertEqual(len(ends), 1)
        else:
            # A filler may reach its end in the moment in which it is evicted.
            self.assertLessEqual(len(starts), 1 + job["evictions"])


if __name__ == "__main__":
    unittest.main()
