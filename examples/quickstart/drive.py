#!/usr/bin/env python3
"""The quickstart: a daemon of its own, a mixed workload of real processes on
emulated GPUs, and a replay of a real cluster. Everything it says it has seen;
the exit code is 0 only when all checks hold.

    scripts/quickstart                 # set-up, build, then this
    scripts/quickstart --keep          # leaves the daemon up

Everything lives in one temporary directory, which is removed at the end.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import leftovers
import openb
from daemon import Daemon, Trouble
from screen import Screen
from watch import Watch
from work import DEVICES, KILLED_RANK, Work, filler_name, fillers_text

HERE = os.path.dirname(os.path.abspath(__file__))
CLONE = os.path.dirname(os.path.dirname(HERE))
DEVICE_SPEC = f"gpu:H100-SXM5-80GB={DEVICES}"
ALONE_SECONDS = 5.0  # that the fillers have the devices for themselves


class Quickstart:
    """The story, step by step; what it finds out goes into `checks`."""

    def __init__(self, program, folder, screen):
        self.folder, self.screen = folder, screen
        self.state = os.path.join(folder, "state")
        self.daemon = Daemon(program, self.state, DEVICE_SPEC)
        self.work = Work(self.daemon, os.path.join(folder, "work"))
        self.watch = Watch(self.daemon, self.work, screen, os.path.join(folder, "snapshots.jsonl"))
        self.checks = []  # (whether it holds, sentence)
        self.evicted = []  # fillers that gave way

    # --- the story ---

    def run(self):
        self.start()
        self.fill()
        self.train()
        self.kill_a_rank()
        self.finish_training()
        self.finish_fillers()
        self.finish_serving()

    def start(self):
        self.daemon.start()
        self.screen.step(f"gridfold is up: one node, {DEVICES} GPUs (emulated), embedded SQLite, no configuration")

    def fill(self):
        self.work.submit("serve", "clean")
        self.screen.step("submitted digits-serve (1 GPU) and 7 fillers digits-clean (1 GPU each)")
        self.watch.until(self.work.service_is_up, "the service to answer")
        self.work.start_client()
        self.screen.step("the service answers; a client sends it 40 requests a second from now on")
        self.watch.until(lambda: all(self.work.cleaned(i) for i in self.work.fillers), "every filler to have begun")
        self.screen.step(f"all {DEVICES} GPUs are taken; the fillers clean scans of digits")
        enough = time.monotonic() + ALONE_SECONDS
        self.watch.until(lambda: time.monotonic() > enough, "the fillers to get on")

    def train(self):
        self.work.submit("train")
        submitted = self.screen.seconds()
        self.screen.step("submitted digits-train, a gang: 4 GPUs, all or nothing; no GPU is free")
        self.watch.until(lambda: self.watch.jobs["digits-train"]["tasks_running"] == 4, "the gang to run")
        self.evicted = [i for i in self.work.fillers if self.filler(i)["evictions"]]
        self.watch.kept.update((i, self.work.cleaned(i)) for i in self.evicted)
        self.screen.step(f"the gang runs after {self.screen.seconds() - submitted:.1f} s: {fillers_text(self.evicted)} "
                         "saved their place and gave back a GPU each")

    def kill_a_rank(self):
        self.watch.until(self.work.has_checkpoint, "the first checkpoint")
        before = self.trainer()
        pid = self.work.pid_of_rank(KILLED_RANK)
        os.kill(pid, signal.SIGKILL)
        killed = time.monotonic()
        self.screen.step(f"killed rank {KILLED_RANK} of the training (kill -9 {pid})")
        self.watch.until(self.has_restarted, "the killed rank to be restarted")
        after = self.trainer()
        in_place = (after["node"], after["devices"]) == (before["node"], before["devices"])
        others = [task["attempt"] for task in self.daemon.job("digits-train")["tasks"]]
        others.pop(KILLED_RANK)
        self.screen.step(f"it is back after {time.monotonic() - killed:.1f} s, {self.place(after)}; "
                         "the others waited and go on from the checkpoint")
        self.check(in_place and others == [1, 1, 1],
                   f"restart in place: rank {KILLED_RANK} again {self.place(after)}, the other three never left")

    def finish_training(self):
        job = self.watch.until_ended("digits-train")
        accuracy = self.work.held_out_accuracy()
        self.screen.step(f"training has ended: {accuracy * 100:.1f} % of digits it had never seen are read right")
        self.check(job["state"] == "succeeded" and accuracy >= 0.95,
                   f"training: accuracy {accuracy:.4f} on held-out digits, at least 0.95 was asked")

    def finish_fillers(self):
        for i in self.work.fillers:
            self.watch.until_ended(filler_name(i))
        done = [i for i in self.evicted if self.filler(i)["state"] == "succeeded" and self.work.resumed(i)]
        self.screen.step("all fillers are done")
        self.check(len(done) == len(self.evicted) > 0,
                   f"preemption with grace: {len(done)} fillers gave way, went on from their place and finished")
        self.check(all(self.filler(i)["state"] == "succeeded" for i in self.work.fillers), "all 7 fillers succeeded")

    def finish_serving(self):
        facts = self.work.stop_client()
        self.check(facts["good"], f"service: {facts['requests']} requests, {facts['failed']} failed, {rightness(facts)}")
        self.daemon.call("job", "cancel", "digits-serve")
        self.watch.until_ended("digits-serve")
        end = self.daemon.job("digits-serve")["tasks"][0].get("exit", {})
        self.screen.step("asked the service to end; it finished its requests first")
        self.check(end.get("code") == 0 and not end.get("signal"), "service: ended with exit code 0 when asked")

    # --- what follows the story ---

    def summarise(self):
        self.screen.clear_table()
        program = os.path.join(CLONE, "scripts", "quickstart_summary.py")
        done = subprocess.run([sys.executable, program, self.watch.snapshots, "--devices", str(DEVICES)],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Trouble(done.stderr.strip())
        self.screen.print()
        self.screen.print(done.stdout.rstrip())

    def compare_with_undisturbed(self):
        index = self.evicted[0]
        same = self.work.checksum(index) == self.work.undisturbed_checksum(index)
        self.check(same, f"filler {index}: its shards equal those of a run that nobody disturbed, byte for byte")

    def replay_openb(self):
        self.screen.title("openb, a public GPU cluster: 1,213 nodes, 6,212 GPUs, its 8,152 pods as the mix")
        self.screen.print("The same engine places them until GPUs are asked for that nobody has. GPUs allocated:\n")
        rows = openb.compare(openb.replay(self.daemon.program, CLONE), openb.published(CLONE))
        for line in openb.table(rows):
            self.screen.print(f"  {line}")
        self.screen.print("\n  Published: Weng et al., USENIX ATC 2023, mean of ten seeds; here the mean of three.")
        off = openb.furthest_points(rows)
        self.check(off <= openb.ALLOWED_POINTS, f"openb: within {off:.2f} points of the published figures")

    # --- small things ---

    def check(self, holds, sentence):
        self.checks.append((bool(holds), sentence))

    def filler(self, index):
        return self.watch.jobs[filler_name(index)]

    def trainer(self):
        return self.daemon.job("digits-train")["tasks"][KILLED_RANK]

    def has_restarted(self):
        return self.trainer()["attempt"] > 1 and self.trainer()["phase"] == "running"

    @staticmethod
    def place(task):
        return f"on {task['node']}, GPU {', '.join(str(device['index']) for device in task['devices'])}"

    def check_leftovers(self):
        left = leftovers.processes(self.folder, but=(os.getpid(),)) + leftovers.cgroups(self.state)
        self.check(not left, "nothing is left running: no process, no cgroup" if not left
                   else f"left behind: {', '.join(left)}")


def rightness(facts):
    if not facts["answered"]:
        return "none answered"
    return f"{facts['accuracy'] * 100:.1f} % right, 99 % within {facts['latency_p99_ms']:.0f} ms"


def check_files(quickstart, folder, default_state):
    left = [folder] if os.path.exists(folder) else []
    left += leftovers.files(folder)
    if leftovers.default_state() != default_state:
        left.append("a change in the default state directory")
    quickstart.check(not left, "no file is left outside the clone" if not left else f"left behind: {', '.join(left)}")


def print_checks(screen, checks):
    screen.title("Checks")
    for holds, sentence in checks:
        screen.print(f"  {screen.colour('✓', 'green') if holds else screen.colour('✗', 'red')} {sentence}")
    failed = sum(not holds for holds, _ in checks)
    screen.print(f"\n{len(checks) - failed} checks hold, {failed} do not, in {screen.seconds():.0f} s.")
    return failed


def print_next(screen, quickstart):
    program = os.path.relpath(quickstart.daemon.program)
    screen.title("The daemon is still up. Try")
    screen.print(f"  export GRIDFOLD_STATE={quickstart.state}")
    for command in ("run --gpu 2 -- env", "top", "ps --all", "job explain digits-train",
                    "run --gpu 9 -- echo too many"):
        screen.print(f"  {program} {command}")
    screen.print(f"\nTo end it, and then to remove all of it:\n  kill {quickstart.daemon.pid}\n"
                 f"  rm -r {quickstart.folder}")


def make_folder():
    """A fresh directory in the clone's .gridfold/, or in the system's when a
    socket's path there would be too long."""
    base = os.path.join(CLONE, ".gridfold")
    if len(base) > 60:
        return tempfile.mkdtemp(prefix="gridfold-quickstart.")
    os.makedirs(base, exist_ok=True)
    return tempfile.mkdtemp(prefix="quickstart.", dir=base)


def remove(folder):
    shutil.rmtree(folder, ignore_errors=True)
    base = os.path.join(CLONE, ".gridfold")
    if os.path.isdir(base) and not os.listdir(base):
        os.rmdir(base)


def main():
    parser = argparse.ArgumentParser(prog="scripts/quickstart", description="set-up, build, and a mixed workload")
    parser.add_argument("--keep", action="store_true", help="leave the daemon up and say what to try next")
    parser.add_argument("--program", default=os.path.join(CLONE, "build", "release", "gridfold"),
                        help="the gridfold to run (default: the release build)")
    options = parser.parse_args()

    def interrupt(*_):
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    screen = Screen()
    default_state = leftovers.default_state()
    folder = make_folder()
    quickstart = Quickstart(os.path.abspath(options.program), folder, screen)
    kept, finished, code = False, False, 1
    try:
        screen.title("Gridfold: real work on this machine")
        quickstart.run()
        quickstart.summarise()
        quickstart.replay_openb()
        quickstart.compare_with_undisturbed()
        kept, finished, code = options.keep, True, 0
    except (Trouble, RuntimeError, OSError, subprocess.TimeoutExpired) as trouble:
        screen.print(f"\nquickstart: {trouble}")
        kept = options.keep and quickstart.daemon.is_up()  # to look into what went wrong
    except KeyboardInterrupt:
        screen.print("\nquickstart: interrupted; cleaning up")
        code = 130
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the clean-up is brief, and is done to the end
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        quickstart.work.end()
        if not kept:
            quickstart.daemon.stop()
            quickstart.check_leftovers()
            remove(folder)
            check_files(quickstart, folder, default_state)
    if print_checks(screen, quickstart.checks) and code == 0:
        code = 1
    if not finished:
        screen.print("It did not get to the end: the rest was not checked.")
    if kept:
        print_next(screen, quickstart)
    return code


if __name__ == "__main__":
    sys.exit(main())
