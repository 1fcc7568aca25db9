#!/usr/bin/env python3
"""Cleans noisy scans of digits, item by item, into shards with checksums: the
kind of work that fills gaps and must give its place back at any moment.

Item i is digit i of the data set (round and round) with noise drawn from the
seed and i. It is cleaned by non-local means over all other digits, and written
as one record of 65 bytes, 64 pixels of 0..255 and the label, to
shard-NNNN.bin.

position.json is the truth about what is done. It is replaced atomically, after
the records it counts are on the disk; what lies behind it in the shards is cut
off and made again. So an item is never lost and never there twice, whether the
process was asked to end (SIGTERM: it saves and ends with 143) or killed. The
shards are the same, byte for byte, as those of an undisturbed run; their
sha256 is printed at the end.

Exit: 0 all items done · 1 error · 2 usage · 143 stopped, run again to go on.
"""

import argparse
import fcntl
import glob
import hashlib
import json
import os
import signal
import sys
import time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np

import digits
from storage import Report, write_atomic

EXIT_STOPPED = 128 + signal.SIGTERM
RECORD = digits.PIXELS + 1  # bytes
SAVE_SECONDS = 0.5  # between saved positions: the most a kill costs


class DataError(Exception):
    """The directory is not what the position says, or not of this run."""


class Cleaner:
    """Makes and cleans items; a pure function of seed and index."""

    def __init__(self, seed, noise=0.25, likeness=0.007):
        self.seed, self.noise, self.likeness = seed, noise, likeness
        self.images, self.labels = digits.load()
        self.library = self._shifted(self.images)
        self._difference = np.empty_like(self.library)  # scratch, made once: it is 3 MB

    @staticmethod
    def _shifted(images):
        """(9, n, 64): every image moved by -1, 0, 1 pixels each way."""
        padded = np.pad(images.reshape(-1, digits.SIDE, digits.SIDE), ((0, 0), (1, 1), (1, 1)))
        return np.stack([padded[:, y:y + digits.SIDE, x:x + digits.SIDE].reshape(-1, digits.PIXELS)
                         for y in range(3) for x in range(3)])

    def item(self, index):
        """(clean pixels as uint8 (64,), label, mean squared error before, after)."""
        source = index % len(self.labels)
        rng = np.random.default_rng([self.seed, index])
        truth = self.images[source]
        noisy = truth + rng.normal(0, self.noise, digits.PIXELS).astype(np.float32)
        # The mean of the library, weighted by how alike each image is to this
        # one; its own original must not help.
        difference = np.subtract(self.library, noisy, out=self._difference)
        distance = np.einsum("snp,snp->sn", difference, difference) / digits.PIXELS
        distance[:, source] = np.inf
        weight = np.exp((distance.min() - distance) / self.likeness)
        clean = np.einsum("sn,snp->p", weight, self.library) / weight.sum()
        pixels = np.clip(np.rint(clean * 255), 0, 255).astype(np.uint8)
        return (pixels, int(self.labels[source]),
                float(np.square(noisy - truth).mean()), float(np.square(clean - truth).mean()))


class Shards:
    """The output directory: records appended in order, and the position."""

    def __init__(self, folder, settings, shard_items):
        self.folder, self.shard_items = folder, shard_items
        self.settings = settings
        self.done = 0
        self.facts = {"error_before": 0.0, "error_after": 0.0}  # sums over the done items
        self.finished = []  # sha256 of each full shard
        self._file = None
        os.makedirs(folder, exist_ok=True)
        self._lock = open(os.path.join(folder, "lock"), "wb")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise DataError(f"{folder}: another process is at work here") from error
        self._resume()

    def append(self, record):
        """Adds one record; it counts once save() has returned."""
        if self._file is None:
            self._file = open(self._path(self.done // self.shard_items), "ab")
        self._file.write(record)
        self.done += 1
        if self.done % self.shard_items == 0:
            self._flush()
            self._file.close()
            self._file = None
            self.finished.append(_sha256(self._path(len(self.finished))))

    def save(self):
        self._flush()
        position = {"settings": self.settings, "done": self.done, "facts": self.facts,
                    "shards": self.finished}
        write_atomic(self._position_path(), json.dumps(position).encode())

    def checksum(self):
        """sha256 over all records, read back from the shards."""
        return _sha256(*(self._path(i) for i in range(-(-self.done // self.shard_items))))

    def _flush(self):
        if self._file is not None:
            self._file.flush()
            os.fsync(self._file.fileno())

    def _resume(self):
        """Takes up at the position, and cuts off what lies behind it."""
        try:
            with open(self._position_path(), "rb") as file:
                position = json.load(file)
            if position["settings"] != self.settings:
                raise DataError(f"{self.folder}: is of a run with {position['settings']}, this one has "
                                f"{self.settings}; give another --output")
            self.done, self.facts = position["done"], position["facts"]
            self.finished = position["shards"]
        except FileNotFoundError:
            pass
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(f"{self._position_path()}: not readable ({error})") from error
        for i, expected in enumerate(self.finished):
            if _sha256(self._path(i)) != expected:
                raise DataError(f"{self._path(i)}: does not match its checksum")
        self._cut(self.done % self.shard_items * RECORD)

    def _cut(self, size):
        """Leaves `size` bytes in the open shard and nothing after it."""
        open_shard = self._path(len(self.finished))
        for path in glob.glob(os.path.join(glob.escape(self.folder), "shard-*.bin")):
            if path > open_shard or (path == open_shard and size == 0):
                os.unlink(path)
        if size:
            if os.path.getsize(open_shard) < size:
                raise DataError(f"{open_shard}: is shorter than the position says")
            os.truncate(open_shard, size)

    def _path(self, index):
        return os.path.join(self.folder, f"shard-{index:04}.bin")

    def _position_path(self):
        return os.path.join(self.folder, "position.json")


def _sha256(*paths):
    digest = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as file:
            digest.update(file.read())
    return digest.hexdigest()


def clean(options):
    stop = []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(True))
    settings = {"seed": options.seed, "items": options.items, "shard_items": options.shard_items}
    shards = Shards(options.output, settings, options.shard_items)
    report = Report()
    cleaner = Cleaner(options.seed)
    print(f"{'resumed' if shards.done else 'started'} at item {shards.done} of {options.items}", flush=True)
    last_save, last_done = time.monotonic(), shards.done
    while shards.done < options.items and not stop:
        pixels, label, before, after = cleaner.item(shards.done)
        shards.facts["error_before"] += before
        shards.facts["error_after"] += after
        shards.append(pixels.tobytes() + bytes([label]))
        now = time.monotonic()
        if now - last_save >= SAVE_SECONDS:
            shards.save()
            report.write(step=shards.done, saved=shards.done,
                         step_seconds=round((now - last_save) / (shards.done - last_done), 6))
            last_save, last_done = now, shards.done
    shards.save()
    if shards.done < options.items:
        print(f"stopped at item {shards.done} of {options.items}; saved", flush=True)
        return EXIT_STOPPED
    facts = {name: round(total / options.items, 6) for name, total in shards.facts.items()}
    print(f"finished {options.items} items in {len(shards.finished) + bool(options.items % options.shard_items)} "
          f"shards  mean squared error {facts['error_before']} -> {facts['error_after']}  "
          f"sha256 {shards.checksum()}", flush=True)
    return 0


def main():
    parser = argparse.ArgumentParser(description="resumable cleaning of noisy digits")
    parser.add_argument("--output", required=True, help="directory of the shards, one run's alone")
    parser.add_argument("--items", type=int, default=10000)
    parser.add_argument("--shard-items", type=int, default=1000, help="records a shard")
    parser.add_argument("--seed", type=int, default=0, help="of the noise; give each filler its own")
    options = parser.parse_args()
    if options.items < 1 or not 1 <= options.shard_items or not 0 <= options.seed:
        parser.error("--items and --shard-items must be at least 1, --seed at least 0")
    try:
        return clean(options)
    except (DataError, OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
