#!/usr/bin/env python3
"""Trains a digit classifier on WORLD_SIZE processes that share every step.

Each rank takes its part of every batch; a ring all-reduce adds up the
gradients, so all ranks hold the same parameters in every bit, which they check
by hash at the end of each epoch. Rank 0 writes a checkpoint every few epochs,
on SIGUSR1, and on SIGTERM before it ends.

When a rank dies, the others lose their connection, meet again, and go on from
the last checkpoint together with the restarted rank. Batches and distortions
follow from the seed and the step alone: a run with losses ends with the very
parameters of an undisturbed one.

From the environment: RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT (as torchrun
gives them; without them it trains alone), GRIDFOLD_REPORT.

Exit: 0 the accuracy was reached · 1 it was not, or an error · 2 usage ·
143 stopped by SIGTERM (not finished: run it again to go on).
"""

import argparse
import os
import signal
import sys
import time

# Before numpy is loaded: ranks share few cores, threads of theirs would fight.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np

import digits
from network import CheckpointError, Network, State
from ring import Finished, Member, PeerLost, Stop, Stopped
from storage import Report

EXIT_STOPPED = 128 + signal.SIGTERM
LEARNING_RATE, MOMENTUM, WEIGHT_DECAY = 0.1, 0.9, 1e-4


class Trainer:
    """The work of one rank between two meetings."""

    def __init__(self, options, rank, world_size, stop):
        self.options, self.rank, self.world_size, self.stop = options, rank, world_size, stop
        self.save_requested = False
        self.path = os.path.join(options.checkpoint, "model.npz")
        self.settings = {"seed": options.seed, "epochs": options.epochs, "batch": options.batch,
                         "hidden": options.hidden}
        parts = digits.split(*digits.load(), seed=options.split_seed)
        self.images, self.labels, self.test_images, self.test_labels = parts
        self.network = Network([digits.PIXELS, *options.hidden, digits.CLASSES])
        self.steps_per_epoch = len(self.labels) // options.batch
        self.total_steps = options.epochs * self.steps_per_epoch
        self.report = Report()
        self._latest = None  # the state being trained, a whole step at any time
        self._seen, self._seen_done = None, False

    def run(self, ring):
        """Trains to the end in this ring; returns the final state."""
        state = self._begin(ring)
        started, first, losses = time.monotonic(), state.step, 0.0
        while state.step < self.total_steps:
            losses += self._step(ring, state)
            if self.save_requested:
                self.save_requested = False
                self._save(state)
            if state.step % self.steps_per_epoch == 0:
                steps = state.step - first  # fewer in an epoch resumed half-way
                self._end_of_epoch(ring, state, (time.monotonic() - started) / steps,
                                   losses / (steps * self.options.batch))
                started, first, losses = time.monotonic(), state.step, 0.0
        state.accuracy = self.network.accuracy(state.parameters, self.test_images, self.test_labels)
        state.done = True
        # First the file, then the farewell: a rank that dies in between finds
        # in the file that there is nothing left to do.
        self._save(state)
        self._check_agreement(ring, state)
        return state

    def finished(self):
        """Whether the checkpoint says that the run is over."""
        try:
            facts = os.stat(self.path)
        except FileNotFoundError:
            return False
        signature = (facts.st_mtime_ns, facts.st_ino)
        if signature != self._seen:
            self._seen, self._seen_done = signature, self.load().done
        return self._seen_done

    def load(self):
        """The checkpoint of this very run, or None."""
        state = State.load(self.path)
        if state is not None and state.settings != self.settings:
            raise CheckpointError(f"{self.path}: is of a run with {state.settings}, this one has "
                                  f"{self.settings}; give another --checkpoint directory")
        return state

    def _begin(self, ring):
        """Rank 0's word is what counts: its checkpoint goes to everyone."""
        data = None
        if self.rank == 0:
            state = self.load()
            if state is None:
                parameters = self.network.initial(self.options.seed)
                state = State(self.network.sizes, self.settings, 0, parameters,
                              np.zeros_like(parameters))
            data = state.to_bytes()
        state = State.from_bytes(ring.broadcast(data), "rank 0's state")
        if state.step:
            self._say(f"resumed at epoch {state.step / self.steps_per_epoch:.1f}")
        self._latest = state
        return state

    def _step(self, ring, state):
        """One optimiser step; returns the loss summed over the batch."""
        images, labels = self._share_of_batch(state.step)
        loss, gradient = self.network.loss_and_gradient(state.parameters, images, labels)
        summed = np.append(gradient, np.float32(loss))
        ring.all_reduce(summed)
        # From here on nothing can fail: the state is always that of a whole step.
        gradient = summed[:-1] / self.options.batch + WEIGHT_DECAY * state.parameters
        rate = LEARNING_RATE * 0.5 * (1 + np.cos(np.pi * state.step / self.total_steps))
        state.velocity = (MOMENTUM * state.velocity + gradient).astype(np.float32)
        state.parameters = (state.parameters - rate * state.velocity).astype(np.float32)
        state.step += 1
        return float(summed[-1])

    def _share_of_batch(self, step):
        epoch, place = divmod(step, self.steps_per_epoch)
        order = np.random.default_rng([self.options.seed, 2, epoch]).permutation(len(self.labels))
        first = place * self.options.batch
        rows = order[first:first + self.options.batch][self.rank::self.world_size]
        rng = np.random.default_rng([self.options.seed, 3, step, self.rank])
        return digits.distort(self.images[rows], rng), self.labels[rows]

    def _end_of_epoch(self, ring, state, step_seconds, loss):
        self._check_agreement(ring, state)
        epoch = state.step // self.steps_per_epoch
        self.report.write(step=state.step, step_seconds=round(step_seconds, 6),
                          batch=self.options.batch, loss=round(loss, 6))
        if self.rank == 0 and (epoch % self.options.save_every == 0 or epoch == self.options.epochs):
            accuracy = self.network.accuracy(state.parameters, self.test_images, self.test_labels)
            self._say(f"epoch {epoch}/{self.options.epochs}  loss {loss:.4f}  "
                      f"held-out accuracy {accuracy:.4f}  step {step_seconds * 1e3:.1f} ms")
            self._save(state)

    def _check_agreement(self, ring, state):
        hashes = ring.all_gather(state.parameter_hash())
        if len(set(hashes)) != 1:
            raise RuntimeError(f"the ranks disagree on the parameters at step {state.step}: "
                               + ", ".join(h.hex()[:12] for h in hashes))

    def _save(self, state):
        if self.rank != 0:
            return
        started = time.monotonic()
        state.save(self.path)
        self.report.write(saved=state.step, save_seconds=round(time.monotonic() - started, 6))

    def save_latest(self):
        """The last whole step, when asked to stop."""
        if self._latest is not None and self.rank == 0:
            self._save(self._latest)
            self._say(f"saved at epoch {self._latest.step / self.steps_per_epoch:.1f}")

    def _say(self, text):
        print(f"rank {self.rank}: {text}", flush=True)


def train(options, rank, world_size, address, port):
    stop = Stop()
    trainer = Trainer(options, rank, world_size, stop)

    def on_terminate(*_):
        stop.requested = True

    def on_save(*_):
        trainer.save_requested = True

    signal.signal(signal.SIGTERM, on_terminate)
    signal.signal(signal.SIGUSR1, on_save)
    member = Member(rank, world_size, address, port, stop, options.patience)
    try:
        state = _train_through_losses(trainer, member)
    except Stopped:
        trainer.save_latest()
        return EXIT_STOPPED
    finally:
        member.close()
    reached = state.accuracy >= options.accuracy
    print(f"rank {rank}: finished  held-out accuracy {state.accuracy:.4f} "
          f"({'reached' if reached else 'below'} {options.accuracy})  "
          f"parameters {state.parameter_hash().hex()[:16]}", flush=True)
    return 0 if reached else 1


def _train_through_losses(trainer, member):
    while True:
        try:
            ring = member.join(trainer.finished)
        except Finished:
            return trainer.load()
        try:
            return trainer.run(ring)
        except PeerLost as error:
            print(f"rank {trainer.rank}: lost a neighbour ({error}); meeting again", flush=True)
        finally:
            ring.close()


def main():
    parser = argparse.ArgumentParser(description="data-parallel training on handwritten digits")
    parser.add_argument("--checkpoint", required=True, help="directory of model.npz, shared by the ranks")
    parser.add_argument("--epochs", type=int, default=240)
    parser.add_argument("--batch", type=int, default=160, help="images a step, over all ranks")
    parser.add_argument("--hidden", type=int, nargs="+", default=[256, 128], help="hidden layer sizes")
    parser.add_argument("--accuracy", type=float, default=0.95, help="to be reached on the held-out part")
    parser.add_argument("--save-every", type=int, default=20, help="epochs between checkpoints")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--split-seed", type=int, default=0, help="which rows are held out")
    parser.add_argument("--patience", type=float, default=60, help="seconds to wait for the other ranks")
    options = parser.parse_args()
    try:
        rank, world_size = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
        address, port = os.environ.get("MASTER_ADDR", "127.0.0.1"), int(os.environ.get("MASTER_PORT", 29500))
    except ValueError as error:
        parser.error(f"RANK, WORLD_SIZE and MASTER_PORT must be whole numbers: {error}")
    if not 0 <= rank < world_size:
        parser.error(f"RANK={rank} must be at least 0 and below WORLD_SIZE={world_size}")
    if options.epochs < 1 or options.save_every < 1 or not world_size <= options.batch <= 1000:
        parser.error("--epochs and --save-every must be at least 1, --batch from WORLD_SIZE to 1000")
    try:
        return train(options, rank, world_size, address, port)
    except (CheckpointError, TimeoutError, OSError, RuntimeError, ValueError) as error:
        print(f"rank {rank}: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
