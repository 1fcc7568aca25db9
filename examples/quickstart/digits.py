"""The handwritten digits: reading, the held-out part, and distorted copies."""

import gzip
import os

import numpy as np

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "digits_8x8.csv.gz")
SIDE = 8
PIXELS = SIDE * SIDE
CLASSES = 10
FULL_INK = 16  # the largest pixel value


def load(path=PATH):
    """Images as float32 (n, 64) in 0..1 and labels as int64 (n,)."""
    with gzip.open(path, "rt", encoding="ascii") as file:
        header = file.readline().strip().split(",")
        if len(header) != PIXELS + 1 or header[-1] != "label":
            raise ValueError(f"{path}: expected 64 pixel columns and a label, found {len(header)} columns")
        table = np.loadtxt(file, delimiter=",", dtype=np.int64, ndmin=2)
    images, labels = table[:, :PIXELS], table[:, PIXELS]
    if images.min() < 0 or images.max() > FULL_INK or labels.min() < 0 or labels.max() >= CLASSES:
        raise ValueError(f"{path}: pixels must be 0..{FULL_INK} and labels 0..{CLASSES - 1}")
    return (images / FULL_INK).astype(np.float32), labels


def split(images, labels, seed=0, held_out=0.2):
    """(train images, train labels, held-out images, held-out labels). The
    held-out rows depend on `seed` alone, so that trainer, service and client
    agree on what no model has been trained on."""
    order = np.random.default_rng([seed, 0x5EED]).permutation(len(labels))
    cut = int(round(len(labels) * held_out))
    test, train = order[:cut], order[cut:]
    return images[train], labels[train], images[test], labels[test]


def distort(images, rng, noise=0.05):
    """Each image slightly rotated, scaled and moved, with noise. Same shape,
    clipped to 0..1."""
    count = len(images)
    angle = rng.uniform(-0.2, 0.2, count)
    scale = rng.uniform(0.9, 1.1, count)
    move = rng.uniform(-0.8, 0.8, (count, 2))
    cosine, sine = np.cos(angle) * scale, np.sin(angle) * scale
    axis = np.arange(SIDE) - (SIDE - 1) / 2
    y, x = (grid.ravel()[None, :] for grid in np.meshgrid(axis, axis, indexing="ij"))
    from_y = cosine[:, None] * y - sine[:, None] * x + move[:, :1]
    from_x = sine[:, None] * y + cosine[:, None] * x + move[:, 1:]
    moved = _sample(images, from_y + (SIDE - 1) / 2, from_x + (SIDE - 1) / 2)
    moved += rng.normal(0, noise, moved.shape)
    return np.clip(moved, 0, 1).astype(np.float32)


def _sample(images, y, x):
    """Bilinear values of each image at its (y, x), both (n, 64); 0 outside."""
    padded = np.zeros((len(images), SIDE + 2, SIDE + 2))
    padded[:, 1:-1, 1:-1] = images.reshape(-1, SIDE, SIDE)
    y, x = np.clip(y + 1, 0, SIDE + 0.999), np.clip(x + 1, 0, SIDE + 0.999)
    top, left = y.astype(np.int64), x.astype(np.int64)
    down, right = y - top, x - left
    row = np.arange(len(images))[:, None]
    return ((1 - down) * ((1 - right) * padded[row, top, left] + right * padded[row, top, left + 1])
            + down * ((1 - right) * padded[row, top + 1, left] + right * padded[row, top + 1, left + 1]))
