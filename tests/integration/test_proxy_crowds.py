"""Thousands of slow clients, and a backend that hangs: other clients are still served."""

import contextlib
import selectors
import socket
import threading

import pytest

from http_backend import OK, gateway, get
from strata_daemon import PATIENCE, eventually

SLOW = 10_000
# Bodies that arrive byte by byte, and answers that nobody reads. Each of these also takes a
# connection to a backend, so that the proxy has 12,000 descriptors. The other slow clients
# send heads byte by byte.
BODIES, READERS = 1500, 500
LONG = b"x" * (1 << 20)
MAX_BUFFER = 64 << 10
# KiB of the proxy's memory per client on average, including what the allocator keeps and
# what the sanitizers add.
MOST_EACH = 48


class Crowd:
    """Clients that have each sent a part of something."""

    def __init__(self, port):
        self.port, self.all = port, []

    def come(self, count, said, room=None):
        for _ in range(count):
            one = socket.socket()
            if room:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
            one.settimeout(PATIENCE)
            one.connect(("127.0.0.1", self.port))
            one.sendall(said)
            self.all.append(one)

    def say(self, piece, first, last):
        for one in self.all[first:last]:
            one.sendall(piece)

    def close(self):
        for one in self.all:
            one.close()


class Patient:
    """A backend in one thread: it reads all requests, answers GET of /long with a large body,
    and any other with OK."""

    def __init__(self):
        self.selector = selectors.DefaultSelector()
        self.server = socket.create_server(("127.0.0.1", 0), backlog=4096)
        self.where = f"127.0.0.1:{self.server.getsockname()[1]}"
        self.left, self.heard = {}, {}
        self.over = threading.Event()
        self.selector.register(self.server, selectors.EVENT_READ)
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.over.is_set():
            for key, events in self.selector.select(0.1):
                if key.fileobj is self.server:
                    one = self.server.accept()[0]
                    one.setblocking(False)
                    self.selector.register(one, selectors.EVENT_READ)
                elif events & selectors.EVENT_READ:
                    self.read(key.fileobj)
                else:
                    self.write(key.fileobj)

    def read(self, one):
        with contextlib.suppress(OSError):
            data = one.recv(65536)
            if not data:
                self.selector.unregister(one)
                one.close()
                return
            heard = self.heard[one] = self.heard.get(one, b"") + data
            if not heard.endswith(b"\r\n\r\n") or heard.startswith(b"POST"):
                return
            del self.heard[one]
            if b" /long " in heard:
                self.left[one] = (b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(LONG)
                                  + LONG)
            else:
                self.left[one] = OK
            self.selector.modify(one, selectors.EVENT_READ | selectors.EVENT_WRITE)

    def write(self, one):
        with contextlib.suppress(BlockingIOError, ConnectionError):
            left = self.left[one] = self.left[one][one.send(self.left[one]):]
            if not left:
                self.selector.modify(one, selectors.EVENT_READ)

    def close(self):
        self.over.set()
        self.thread.join()
        for key in list(self.selector.get_map().values()):
            key.fileobj.close()


@pytest.mark.serial
def test_ten_thousand_slow_clients_cost_memory_that_is_bounded_and_nobody_else_a_thing(daemon):
    with contextlib.closing(Patient()) as backend:
        port = gateway(daemon, backend=[backend.where], max_buffer=MAX_BUFFER,
                       http_head_timeout=1000, http_body_timeout=1000, answer_timeout=1000,
                       http_idle_timeout=1000)
        assert get(port) == (200, b"ok")
        before = daemon.resident_mib()
        with contextlib.closing(Crowd(port)) as crowd:
            crowd.come(SLOW - BODIES - READERS, b"GET /")
            crowd.come(BODIES, b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\nx")
            crowd.come(READERS, b"GET /long HTTP/1.1\r\nHost: h\r\n\r\n", room=4096)
            daemon.wait_connections("gw", SLOW)
            for _ in range(5):
                assert get(port) == (200, b"ok")
                crowd.say(b"y", 0, SLOW - READERS)
            assert get(port) == (200, b"ok")
            grown = daemon.resident_mib() - before
            assert grown < SLOW * MOST_EACH / 1024
        daemon.wait_connections("gw", 0)
        assert get(port) == (200, b"ok")


def test_a_backend_that_hangs_costs_the_others_nothing(daemon, make_backend):
    """The backend accepts requests and never answers; a route's requests to other
    backends are served meanwhile."""
    held = threading.Semaphore(0)

    def hang(_wire, _asked):
        held.acquire(timeout=2 * PATIENCE)
        return False
    hangs, well = make_backend(hang), make_backend()
    port = gateway(daemon, well, route=[f"path=/hang/* -> {hangs.where}"], answer_timeout=1000)
    with contextlib.closing(Crowd(port)) as crowd:
        crowd.come(200, b"GET /hang/x HTTP/1.1\r\nHost: h\r\n\r\n")
        eventually(lambda: len(hangs.requests) == 200, "all of them hang")
        assert [get(port) for _ in range(50)] == [(200, b"ok")] * 50
        held.release(1000)
        daemon.wait_connections("gw", 200)
