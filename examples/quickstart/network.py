"""A small fully connected network on one flat parameter vector, and the
checkpoint it is kept in."""

import hashlib
import io
import json
import zipfile

import numpy as np

import storage


class CheckpointError(Exception):
    """The checkpoint cannot be read, or belongs to other settings."""


class Network:
    """Layers of `sizes`, ReLU between them, softmax at the end. Holds no
    parameters: they are a float32 vector of `parameter_count` values, which is
    what an all-reduce and a checkpoint want."""

    def __init__(self, sizes):
        self.sizes = list(sizes)
        self.slices = []
        offset = 0
        for rows, columns in zip(sizes, sizes[1:]):
            weights = slice(offset, offset + rows * columns)
            bias = slice(weights.stop, weights.stop + columns)
            self.slices.append((weights, bias, (rows, columns)))
            offset = bias.stop
        self.parameter_count = offset

    def initial(self, seed):
        rng = np.random.default_rng([seed, 1])
        vector = np.zeros(self.parameter_count, np.float32)
        for weights, _, shape in self.slices:
            vector[weights] = rng.normal(0, np.sqrt(2 / shape[0]), shape).ravel()
        return vector

    def _layers(self, vector):
        return [(vector[w].reshape(shape), vector[b]) for w, b, shape in self.slices]

    def scores(self, vector, images):
        """Logits, (n, classes)."""
        layers = self._layers(vector)
        for weights, bias in layers[:-1]:
            images = np.maximum(images @ weights + bias, 0)
        return images @ layers[-1][0] + layers[-1][1]

    def accuracy(self, vector, images, labels):
        return float(np.mean(self.scores(vector, images).argmax(axis=1) == labels))

    def loss_and_gradient(self, vector, images, labels):
        """Cross-entropy *summed* over the images, and its gradient: sums of
        several ranks add up to that of the whole batch."""
        layers = self._layers(vector)
        inputs = [images]
        for weights, bias in layers[:-1]:
            inputs.append(np.maximum(inputs[-1] @ weights + bias, 0))
        logits = inputs[-1] @ layers[-1][0] + layers[-1][1]
        logits -= logits.max(axis=1, keepdims=True)
        log_sum = np.log(np.exp(logits).sum(axis=1, keepdims=True))
        rows = np.arange(len(labels))
        loss = float((log_sum[:, 0] - logits[rows, labels]).sum())

        error = np.exp(logits - log_sum)
        error[rows, labels] -= 1
        gradient = np.empty(self.parameter_count, np.float32)
        for index in reversed(range(len(layers))):
            w, b, _ = self.slices[index]
            gradient[w] = (inputs[index].T @ error).ravel()
            gradient[b] = error.sum(axis=0)
            if index:
                error = (error @ layers[index][0].T) * (inputs[index] > 0)
        return loss, gradient


class State:
    """All that training needs to go on exactly where it was."""

    def __init__(self, sizes, settings, step, parameters, velocity, done=False, accuracy=None):
        self.sizes = list(sizes)    # of the network's layers
        self.settings = settings    # of the run it belongs to
        self.step = step            # finished optimiser steps
        self.parameters = parameters
        self.velocity = velocity
        self.done = done
        self.accuracy = accuracy    # on the held-out part, once done

    def parameter_hash(self):
        return hashlib.sha256(self.parameters.tobytes()).digest()

    def to_bytes(self):
        facts = {"sizes": self.sizes, "settings": self.settings, "step": self.step,
                 "done": self.done, "accuracy": self.accuracy,
                 "parameters_sha256": self.parameter_hash().hex()}
        buffer = io.BytesIO()
        np.savez(buffer, facts=np.frombuffer(json.dumps(facts).encode(), np.uint8),
                 parameters=self.parameters, velocity=self.velocity)
        return buffer.getvalue()

    @staticmethod
    def from_bytes(data, name="checkpoint"):
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as archive:
                facts = json.loads(archive["facts"].tobytes())
                state = State(facts["sizes"], facts["settings"], facts["step"],
                              archive["parameters"], archive["velocity"],
                              facts["done"], facts["accuracy"])
            expected = facts["parameters_sha256"]
        except (ValueError, KeyError, TypeError, EOFError, OSError, zipfile.BadZipFile) as error:
            raise CheckpointError(f"{name}: not a readable checkpoint ({error})") from error
        if state.parameter_hash().hex() != expected:
            raise CheckpointError(f"{name}: the parameters do not match their checksum")
        return state

    def save(self, path):
        storage.write_atomic(path, self.to_bytes())

    @staticmethod
    def load(path):
        """The state at `path`, or None when there is no such file."""
        try:
            with open(path, "rb") as file:
                data = file.read()
        except FileNotFoundError:
            return None
        return State.from_bytes(data, path)
