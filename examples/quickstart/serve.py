#!/usr/bin/env python3
"""Answers which digit an image shows, over HTTP, with the newest checkpoint.

    POST /predict   {"pixels": [64 numbers 0..16]} -> {"digit": 7, "probability": 0.98, "model": "step 2520"}
    GET  /healthz   {"status": "ok", "model": "step 2520", "requests": 120}

Until there is a checkpoint it answers with a linear model trained in the first
second; a newer checkpoint is taken while it serves. On SIGTERM it stops
listening, finishes the requests that are open, and ends with 0.

The port: --port, else GRIDFOLD_PORT; 0 takes a free one. --port-file is
written once requests are answered.
"""

import argparse
import contextlib
import http.server
import json
import os
import signal
import sys
import threading
import time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np

import digits
from network import CheckpointError, Network, State
from storage import write_atomic

BODY_LIMIT = 64 * 1024  # bytes
LOOK_SECONDS = 1.0  # between looks for a newer checkpoint
FAREWELL_SECONDS = 5.0  # for open requests to finish
QUIET_SECONDS = 0.1  # without a new connection: nobody is at the door any more


class Model:
    """A network with its parameters. Immutable: a newer one replaces it whole,
    so a request never sees half of each."""

    def __init__(self, network, parameters, name):
        self.network, self.parameters, self.name = network, parameters, name

    def predict(self, pixels):
        """(digit, probability) of 64 pixels of 0..16."""
        scores = self.network.scores(self.parameters, np.asarray([pixels], np.float32) / digits.FULL_INK)[0]
        weights = np.exp(scores - scores.max())
        digit = int(scores.argmax())
        return digit, float(weights[digit] / weights.sum())

    @staticmethod
    def linear(steps=300, rate=1.0):
        """Softmax regression by gradient descent on the training part."""
        images, labels, _, _ = digits.split(*digits.load())
        network = Network([digits.PIXELS, digits.CLASSES])
        parameters = np.zeros(network.parameter_count, np.float32)
        for _ in range(steps):
            _, gradient = network.loss_and_gradient(parameters, images, labels)
            parameters -= rate / len(labels) * gradient
        return Model(network, parameters, "linear")

    @staticmethod
    def from_checkpoint(path):
        state = State.load(path)
        return state and Model(Network(state.sizes), state.parameters, f"step {state.step}")


class Service(http.server.ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True  # idle connections do not hold up the end

    def __init__(self, port, checkpoint):
        self.path = os.path.join(checkpoint, "model.npz")
        self.model = Model.linear()
        self.ending = False
        self.answered = 0
        self._quiet = False
        self._seen = None
        self._open = 0  # requests being answered; guarded by _change
        self._change = threading.Condition()
        super().__init__(("127.0.0.1", port), Handler)

    def look_for_newer(self):
        try:
            facts = os.stat(self.path)
        except FileNotFoundError:
            return
        signature = (facts.st_mtime_ns, facts.st_ino)
        if signature == self._seen:
            return
        self._seen = signature
        try:
            self.model = Model.from_checkpoint(self.path) or self.model
            print(f"serving {self.model.name}", flush=True)
        except CheckpointError as error:
            print(f"keeping {self.model.name}: {error}", file=sys.stderr, flush=True)

    @contextlib.contextmanager
    def open_request(self):
        with self._change:
            self._open += 1
        try:
            yield
        finally:
            with self._change:
                self._open -= 1
                self.answered += 1
                self._change.notify_all()

    def farewell(self):
        """Ends listening, but lets in those that had already connected, and
        waits until no request is open. The number still open after that."""
        self.ending = True
        self.shutdown()
        deadline = time.monotonic() + FAREWELL_SECONDS
        self.timeout = QUIET_SECONDS
        while not self._quiet and time.monotonic() < deadline:
            self.handle_request()
        self.server_close()
        with self._change:
            self._change.wait_for(lambda: self._open == 0, max(deadline - time.monotonic(), 0))
            return self._open

    def handle_timeout(self):
        self._quiet = True

    def handle_error(self, request, client_address):
        print(f"connection of {client_address[0]} broken: {sys.exc_info()[1]}", file=sys.stderr, flush=True)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30  # seconds a connection may be silent
    wbufsize = 64 * 1024  # head and body leave in one piece
    disable_nagle_algorithm = True

    def do_POST(self):
        with self.server.open_request():
            if self.path != "/predict":
                return self._refuse(404, "not_found", "only /predict takes POST")
            body = self._body()
            if body is None:
                return None
            try:
                pixels = _pixels(body)
            except ValueError as error:
                return self._refuse(400, "bad_pixels", str(error))
            model = self.server.model
            digit, probability = model.predict(pixels)
            return self._answer(200, {"digit": digit, "probability": round(probability, 6),
                                      "model": model.name})

    def do_GET(self):
        with self.server.open_request():
            if self.path != "/healthz":
                return self._refuse(404, "not_found", "only /healthz takes GET")
            return self._answer(200, {"status": "ending" if self.server.ending else "ok",
                                      "model": self.server.model.name,
                                      "requests": self.server.answered})

    def _body(self):
        length = self.headers.get("Content-Length", "")
        if not length.isascii() or not length.isdigit():
            self._refuse(411, "length_required", "send a Content-Length")
        elif int(length) > BODY_LIMIT:
            self._refuse(413, "too_large", f"the body may have {BODY_LIMIT} bytes")
        else:
            return self.rfile.read(int(length))
        return None

    def _refuse(self, status, code, detail):
        self.close_connection = True  # the rest of the request is not read
        self._answer(status, {"code": code, "detail": detail}, "application/problem+json")

    def _answer(self, status, document, content_type="application/json"):
        data = json.dumps(document).encode()
        self.close_connection = self.close_connection or self.server.ending
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(data)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()

    def log_message(self, *_):
        """Hundreds of lines a second help nobody; counts are in /healthz."""


def _pixels(body):
    """64 numbers of 0..16 out of a request's body, or ValueError."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"the body is not JSON: {error}") from error
    pixels = document.get("pixels") if isinstance(document, dict) else None
    if not isinstance(pixels, list) or len(pixels) != digits.PIXELS:
        raise ValueError(f"pixels must be a list of {digits.PIXELS} numbers")
    for value in pixels:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= digits.FULL_INK:
            raise ValueError(f"pixels must be numbers of 0..{digits.FULL_INK}, found {str(value)[:20]}")
    return pixels


def serve(options):
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    signal.signal(signal.SIGINT, lambda *_: ended.set())
    service = Service(options.port, options.checkpoint)
    service.look_for_newer()
    acceptor = threading.Thread(target=service.serve_forever, args=(0.1,), daemon=True)
    acceptor.start()
    port = service.server_address[1]
    if options.port_file:
        write_atomic(options.port_file, f"{port}\n".encode())
    print(f"serving {service.model.name} on http://127.0.0.1:{port}", flush=True)
    while not ended.wait(LOOK_SECONDS):
        service.look_for_newer()

    still_open = service.farewell()
    if options.port_file:
        os.unlink(options.port_file)
    print(f"ended after {service.answered} requests", flush=True)
    if still_open:
        print(f"{still_open} requests had not come in whole after {FAREWELL_SECONDS:.0f} s", file=sys.stderr)
    return 0


def main():
    parser = argparse.ArgumentParser(description="digit recognition over HTTP")
    parser.add_argument("--checkpoint", required=True, help="directory in which train.py keeps model.npz")
    parser.add_argument("--port", type=int, default=None, help="default: GRIDFOLD_PORT; 0: any free one")
    parser.add_argument("--port-file", help="where to write the port")
    options = parser.parse_args()
    if options.port is None:
        text = os.environ.get("GRIDFOLD_PORT", "")
        if not text.isdigit():
            parser.error("give --port or set GRIDFOLD_PORT to a number")
        options.port = int(text)
    if not 0 <= options.port < 65536:
        parser.error(f"--port {options.port} must be 0..65535")
    try:
        return serve(options)
    except (OSError, OverflowError) as error:
        print(f"cannot serve on port {options.port}: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
