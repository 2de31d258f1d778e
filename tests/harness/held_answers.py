"""Proxy backends that answer only when a test lets them, and clients that wait for them."""

import threading

from http_backend import OK, get
from strata_daemon import PATIENCE, eventually


class Gate:
    """Holds each answer until `let` releases it."""

    def __init__(self):
        self.now, self.most, self.order = 0, 0, []
        self.lock, self.places = threading.Lock(), threading.Semaphore(0)

    def __call__(self, wire, asked):
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
            self.order.append(asked.start.split()[1])
        assert self.places.acquire(timeout=PATIENCE)
        with self.lock:
            self.now -= 1
        wire.over.sendall(OK)

    def let(self, count=1):
        self.places.release(count)


def queue_of(daemon):
    return daemon.stats("gw")["queue"]


def wait_waiting(daemon, count):
    eventually(lambda: queue_of(daemon)["waiting"] == count, f"{count} wait")


class Visitors:
    """Requests in progress, each with its own connection and thread."""

    def __init__(self, port):
        self.port, self.answers, self.threads = port, {}, []

    def ask(self, path):
        def visit():
            self.answers[path] = get(self.port, path)
        self.threads.append(threading.Thread(target=visit))
        self.threads[-1].start()

    def join(self):
        for each in self.threads:
            each.join()
        return self.answers
