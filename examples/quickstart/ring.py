"""A ring of processes that add up vectors over TCP, and find each other again
when one of them has died.

    member = Member(rank=0, world_size=4, address="127.0.0.1", port=29500, stop=stop)
    ring = member.join(finished=lambda: False)    # waits for all four
    ring.all_reduce(vector)                       # every rank: the same sum, bit for bit

Any failure of a neighbour is PeerLost; the caller then calls join() again and
all ranks meet in a new ring. Rank 0 is where they meet: it listens on `port`
for as long as it lives, so a restarted rank only has to knock.

Strangers that connect are ignored: the ring's sockets accept only the token
that rank 0 drew for this ring.
"""

import json
import secrets
import select
import socket
import time

import numpy as np

LINE_LIMIT = 65536  # bytes of a rendezvous message
LINE_SECONDS = 5.0  # in which it must be whole
POLL_SECONDS = 0.1  # how soon a stop request is seen


class PeerLost(Exception):
    """A neighbour died, hung, or did not come."""


class Stopped(Exception):
    """The process was asked to end."""


class Finished(Exception):
    """The others have finished; there is no ring to join."""


class Stop:
    """Set by a signal handler, read by everything that waits."""

    def __init__(self):
        self.requested = False

    def check(self):
        if self.requested:
            raise Stopped()


class Ring:
    """One ring: a socket to the right neighbour, one from the left."""

    def __init__(self, rank, world_size, right, left, stop, timeout_seconds=30.0):
        self.rank, self.world_size = rank, world_size
        self._right, self._left, self._stop = right, left, stop
        self._timeout_seconds = timeout_seconds
        for end in (right, left):
            if end is not None:
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                end.setblocking(False)

    def close(self):
        for end in (self._right, self._left):
            if end is not None:
                end.close()

    def all_reduce(self, vector):
        """Replaces `vector` (1-D, same shape everywhere) by the sum over the
        ranks. Each chunk is summed on one rank and copied to the others, so
        that the ranks agree in every bit."""
        self._stop.check()
        n, r = self.world_size, self.rank
        if n == 1:
            return
        bounds = [len(vector) * i // n for i in range(n + 1)]
        chunk = [vector[a:b] for a, b in zip(bounds, bounds[1:])]
        incoming = np.empty(max(len(c) for c in chunk), vector.dtype)
        for s in range(n - 1):  # reduce-scatter
            target = chunk[(r - s - 1) % n]
            part = incoming[:len(target)]
            self._exchange(chunk[(r - s) % n], part)
            target += part
        for s in range(n - 1):  # all-gather
            self._exchange(chunk[(r + 1 - s) % n], chunk[(r - s) % n])

    def all_gather(self, data):
        """The `data` (bytes of one length) of every rank, by rank."""
        parts = [None] * self.world_size
        parts[self.rank] = bytes(data)
        for s in range(self.world_size - 1):
            incoming = bytearray(len(data))
            self._exchange(parts[(self.rank - s) % self.world_size], incoming)
            parts[(self.rank - s - 1) % self.world_size] = bytes(incoming)
        return parts

    def broadcast(self, data):
        """Rank 0's `data` on every rank; the others pass None."""
        if self.world_size == 1:
            return data
        if self.rank > 0:
            size = bytearray(8)
            self._exchange(b"", size)
            data = bytearray(int.from_bytes(size, "big"))
            self._exchange(b"", data)
        if self.rank < self.world_size - 1:
            self._exchange(len(data).to_bytes(8, "big"), b"")
            self._exchange(data, b"")
        return bytes(data)

    def _exchange(self, outgoing, incoming):
        """Sends all of `outgoing` right while filling `incoming` from the left:
        at once, for neither may wait for room in the other's buffers."""
        out, into = memoryview(outgoing).cast("B"), memoryview(incoming).cast("B")
        deadline = time.monotonic() + self._timeout_seconds
        try:
            while out or into:
                self._stop.check()
                if out:
                    out = out[_try(self._right.send, out):]
                if into:
                    into = into[_try(self._left.recv_into, into, ends=True):]
                if out or into:
                    select.select([self._left] if into else [], [self._right] if out else [],
                                  [], POLL_SECONDS)
                    if time.monotonic() > deadline:
                        raise PeerLost("a neighbour is silent")
        except OSError as error:
            raise PeerLost(str(error)) from error


def _try(operation, buffer, ends=False):
    """Bytes moved by a non-blocking `operation`; 0 when it would wait."""
    try:
        moved = operation(buffer)
    except BlockingIOError:
        return 0
    if moved == 0 and ends:
        raise PeerLost("the left neighbour closed the connection")
    return moved


class Member:
    """One rank's part in the meeting."""

    def __init__(self, rank, world_size, address, port, stop, patience_seconds=60.0):
        self.rank, self.world_size = rank, world_size
        self._address, self._port, self._stop = address, port, stop
        self._patience_seconds = patience_seconds
        self._meeting = None  # rank 0's listening socket

    def close(self):
        if self._meeting is not None:
            self._meeting.close()

    def join(self, finished):
        """A ring with all ranks in it. PeerLost when they do not come in time;
        Finished as soon as `finished()` says that there is nothing left to do."""
        deadline = time.monotonic() + self._patience_seconds
        while True:
            self._stop.check()
            if finished():
                raise Finished()
            if time.monotonic() > deadline:
                raise TimeoutError(f"rank {self.rank}: the {self.world_size} ranks did not meet at "
                                   f"{self._address}:{self._port} in {self._patience_seconds:.0f} s")
            try:
                return self._try_join(deadline, finished)
            except PeerLost:
                time.sleep(POLL_SECONDS)

    def _try_join(self, deadline, finished):
        if self.world_size == 1:
            return Ring(0, 1, None, None, self._stop)
        if self.rank == 0:
            with _listen(self._address) as ring_listener:
                own = [self._address, ring_listener.getsockname()[1]]
                return self._close_ring(ring_listener, self._call_together(own, deadline))
        with self._knock() as door, _listen(door.getsockname()[0]) as ring_listener:
            _send_line(door, {"rank": self.rank, "ring_port": ring_listener.getsockname()[1]})
            answer = self._wait_for_answer(door, deadline, finished)
            return self._close_ring(ring_listener, answer)

    def _call_together(self, own, deadline):
        """Rank 0: collects one hello a rank, then tells everyone everyone's
        place. A rank that leaves while it waits is forgotten."""
        if self._meeting is None:
            self._meeting = _listen(self._address, self._port)
        waiting = {}  # rank -> (connection, place)
        try:
            while len(waiting) < self.world_size - 1:
                self._stop.check()
                if time.monotonic() > deadline:
                    raise PeerLost("not all ranks came")
                doors = {c: r for r, (c, _) in waiting.items()}
                ready, _, _ = select.select([self._meeting, *doors], [], [], POLL_SECONDS)
                for connection in ready:
                    if connection is self._meeting:
                        self._welcome(waiting)
                    elif connection.fileno() >= 0:  # speaks out of turn, or has left
                        connection.close()
                        waiting.pop(doors[connection], None)
            places = [own] + [waiting[r][1] for r in range(1, self.world_size)]
            answer = {"places": places, "token": secrets.token_hex(16)}
            for connection, _ in waiting.values():
                _send_line(connection, answer)
            return answer
        finally:
            for connection, _ in waiting.values():
                connection.close()

    def _welcome(self, waiting):
        connection, (host, _) = self._meeting.accept()
        try:
            hello = _read_line(connection)
            rank, ring_port = int(hello["rank"]), int(hello["ring_port"])
            if not (0 < rank < self.world_size and 0 < ring_port < 65536):
                raise ValueError("no such rank or port")
        except (PeerLost, ValueError, KeyError, TypeError, OSError):
            connection.close()
            return
        if rank in waiting:  # it was restarted meanwhile
            waiting[rank][0].close()
        waiting[rank] = (connection, [host, ring_port])

    def _knock(self):
        try:
            return socket.create_connection((self._address, self._port), timeout=2.0)
        except OSError as error:
            raise PeerLost(f"rank 0 is not there: {error}") from error

    def _wait_for_answer(self, door, deadline, finished):
        while True:
            self._stop.check()
            if finished():
                raise Finished()
            if time.monotonic() > deadline:
                raise PeerLost("rank 0 does not call")
            if select.select([door], [], [], POLL_SECONDS)[0]:
                return _read_line(door)

    def _close_ring(self, listener, answer):
        """Connects to the right neighbour and lets the left one in."""
        places, token = answer["places"], answer["token"]
        right = left = None
        try:
            host, port = places[(self.rank + 1) % self.world_size]
            right = socket.create_connection((host, port), timeout=5.0)
            _send_line(right, {"token": token})
            listener.settimeout(5.0)
            while left is None:
                left, _ = listener.accept()
                if not _has_token(left, token):
                    left.close()
                    left = None
            return Ring(self.rank, self.world_size, right, left, self._stop)
        except (OSError, PeerLost) as error:
            for end in (right, left):
                if end is not None:
                    end.close()
            raise PeerLost(f"the ring did not close: {error}") from error


def _has_token(connection, token):
    try:
        return secrets.compare_digest(str(_read_line(connection)["token"]), token)
    except (PeerLost, KeyError, TypeError, OSError):
        return False


def _listen(address, port=0):
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((address, port))
        listener.listen(64)
    except OSError as error:
        listener.close()
        if port:  # perhaps still held by this rank's last attempt
            raise PeerLost(f"cannot listen on {address}:{port}: {error}") from error
        raise
    return listener


def _send_line(connection, message):
    try:
        connection.sendall(json.dumps(message).encode() + b"\n")
    except OSError as error:
        raise PeerLost(str(error)) from error


def _read_line(connection):
    """One JSON line. Byte by byte, so that nothing behind it is taken."""
    line = bytearray()
    deadline = time.monotonic() + LINE_SECONDS
    try:
        while not line.endswith(b"\n"):
            connection.settimeout(max(deadline - time.monotonic(), 0.001))
            byte = connection.recv(1)
            if not byte or len(line) > LINE_LIMIT:
                raise PeerLost("no whole message came")
            line += byte
        return json.loads(line)
    except (OSError, ValueError) as error:
        raise PeerLost(str(error)) from error
