#!/usr/bin/env python3
"""Sends held-out digits to the service at a steady rate and checks the answers.

Open loop: request i is due at i / rate whether or not earlier ones have been
answered, and its latency counts from when it was due, so that a slow service
cannot hide behind a client that waits for it. Ends after --seconds, or before
on SIGTERM, when the requests that are open have been answered. Prints one JSON
object. Exit 0 when no request failed and the accuracy was reached, else 1.
"""

import argparse
import http.client
import json
import math
import queue
import signal
import socket
import sys
import threading
import time

import digits

REQUEST_SECONDS = 10.0  # after which a request counts as failed


class Load:
    """Counts shared by the sending threads; guarded by lock."""

    def __init__(self):
        self.lock = threading.Lock()
        self.latencies, self.right, self.failures = [], 0, {}

    def answered(self, seconds, right):
        with self.lock:
            self.latencies.append(seconds)
            self.right += right

    def failed(self, cause):
        with self.lock:
            self.failures[cause] = self.failures.get(cause, 0) + 1


def percentile(sorted_values, share):
    """The smallest value that at least `share` of the values do not exceed."""
    return sorted_values[max(math.ceil(share * len(sorted_values)) - 1, 0)]


def send_all(due, load, host, port, stop):
    """One thread: takes (due time, pixels, label) from the queue until it is
    empty, or `stop` is set."""
    connection = None
    while True:
        try:
            when, pixels, label = due.get_nowait()
        except queue.Empty:
            break
        if stop.wait(max(when - time.monotonic(), 0)):
            break
        try:
            if connection is None:
                connection = http.client.HTTPConnection(host, port, timeout=REQUEST_SECONDS)
                connection.connect()
                connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.request("POST", "/predict", json.dumps({"pixels": pixels}),
                               {"Content-Type": "application/json"})
            response = connection.getresponse()
            body = response.read()
            if response.status != 200:
                load.failed(f"status {response.status}")
            else:
                load.answered(time.monotonic() - when, json.loads(body)["digit"] == label)
            if response.will_close:
                connection.close()
                connection = None
        except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError) as error:
            load.failed(type(error).__name__)
            if connection is not None:
                connection.close()
            connection = None
    if connection is not None:
        connection.close()


def find_service(options):
    """The port of a service that answers; TimeoutError when there is none in
    time. The port file is read again each time: the service may be restarted."""
    deadline = time.monotonic() + options.wait
    while True:
        try:
            port = options.port
            if port is None:
                with open(options.port_file, encoding="ascii") as file:
                    port = int(file.read())
            if is_healthy(options.host, port):
                return port
        except (OSError, ValueError, http.client.HTTPException):
            pass  # not there yet
        if time.monotonic() > deadline:
            raise TimeoutError(f"no healthy service at {options.host}, "
                               f"{options.port_file or options.port} within {options.wait:.0f} s")
        time.sleep(0.1)


def is_healthy(host, port):
    connection = http.client.HTTPConnection(host, port, timeout=REQUEST_SECONDS)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == 200
    finally:
        connection.close()


def run(host, port, rate, seconds, threads, stop):
    """Facts of one load: counts, seconds, latencies in milliseconds."""
    _, _, images, labels = digits.split(*digits.load())
    pixels = (images * digits.FULL_INK).round().astype(int).tolist()
    count = max(int(rate * seconds), 1)
    started = time.monotonic()
    due, load = queue.Queue(), Load()
    for i in range(count):
        due.put((started + i / rate, pixels[i % len(pixels)], int(labels[i % len(labels)])))
    senders = [threading.Thread(target=send_all, args=(due, load, host, port, stop)) for _ in range(threads)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    latencies = sorted(load.latencies)
    answered, failed = len(latencies), sum(load.failures.values())
    return {
        "requests": answered + failed,
        "answered": answered,
        "failed": failed,
        "failures": load.failures,
        "accuracy": round(load.right / answered, 4) if answered else None,
        "latency_p50_ms": round(percentile(latencies, 0.50) * 1e3, 3) if answered else None,
        "latency_p99_ms": round(percentile(latencies, 0.99) * 1e3, 3) if answered else None,
        "wall_seconds": round(time.monotonic() - started, 3),
    }


def main():
    parser = argparse.ArgumentParser(description="load for serve.py")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int)
    parser.add_argument("--port-file", help="where serve.py wrote its port")
    parser.add_argument("--rate", type=float, default=50, help="requests a second")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--threads", type=int, default=8, help="requests that may be open at once")
    parser.add_argument("--accuracy", type=float, default=0.9, help="share of right answers to be reached")
    parser.add_argument("--wait", type=float, default=10, help="seconds for the service to come up")
    options = parser.parse_args()
    if (options.port is None) == (options.port_file is None):
        parser.error("give --port or --port-file, not both")
    if options.rate <= 0 or options.seconds <= 0 or options.threads < 1:
        parser.error("--rate and --seconds must be above 0, --threads at least 1")
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    try:
        port = find_service(options)
    except TimeoutError as error:
        print(error, file=sys.stderr)
        return 1
    facts = run(options.host, port, options.rate, options.seconds, options.threads, stop)
    print(json.dumps(facts))
    good = facts["failed"] == 0 and facts["answered"] > 0 and facts["accuracy"] >= options.accuracy
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
