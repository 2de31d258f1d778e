"""Clients that connect, ask, and compare the answer again and again, while something happens to the
daemon. They count what fails, by the kind of the failure."""

import collections
import http.client
import socket
import ssl
import threading
import time
import uuid

import redis

from http2_peer import Http2
from talker import address_of
from web_talker import WebTalker

WAIT = 20  # seconds for one answer


def ask_stream(url, context=None):
    family, kind, address = address_of(url)
    text = f"{uuid.uuid4()}".encode()
    with socket.socket(family, kind) as plain:
        plain.settimeout(WAIT)
        plain.connect(address)
        stream = context.wrap_socket(plain, server_hostname="localhost") if context else plain
        stream.sendall(text + b"\n")
        heard = b""
        while not heard.endswith(b"\n"):
            piece = stream.recv(4096)
            if not piece:
                raise EOFError("the connection has ended without an answer")
            heard += piece
        assert heard == b"echo: " + text + b"\n", heard
        if context:
            stream.close()


def ask_datagram(url):
    family, kind, address = address_of(url)
    text = f"{uuid.uuid4()}".encode()
    with socket.socket(family, kind) as port:
        port.settimeout(WAIT)
        port.connect(address)
        port.send(text)
        heard = port.recv(4096)
        assert heard == b"echo: " + text, heard


def ask_websocket(url):
    with WebTalker(url) as talker:
        talker.say("hello")
        assert talker.hear() == "echo: hello"


def ask_page(url):
    _, _, address = address_of(url)
    connection = http.client.HTTPConnection(*address, timeout=WAIT)
    connection.request("GET", "/page.txt")
    answer = connection.getresponse()
    assert (answer.status, answer.read()) == (200, b"a page")
    connection.close()


def ask_page_by_http2(url):
    with Http2(url) as peer:
        stream = peer.request("GET", "/page.txt")
        peer.until(lambda: stream in peer.ended)
        assert peer.bodies[stream] == b"a page"


class Counter:
    """Increments a key of a cache, and knows how often that was acknowledged."""

    def __init__(self, url):
        _, _, (host, self.port) = address_of(url)
        self.acknowledged = 0

    def __call__(self, _):
        with redis.Redis(port=self.port, socket_timeout=WAIT,
                         retry=redis.retry.Retry(redis.backoff.NoBackoff(), 0)) as cache:
            cache.incr("count")
            self.acknowledged += 1


class Steady:
    """Runs askers, a thread each, until the end of the block."""

    def __init__(self):
        self.threads = {}
        self.is_over = threading.Event()
        self.answered = collections.Counter()
        self.failed = collections.defaultdict(list)

    def add(self, name, ask, url, *more):
        """Adds a client that calls `ask` with the URL and the further arguments."""
        self.threads[name] = threading.Thread(target=self.run, args=(name, ask, url, *more))

    def names(self):
        return list(self.threads)

    def run(self, name, ask, *arguments):
        while not self.is_over.is_set():
            try:
                ask(*arguments)
                self.answered[name] += 1
            except Exception as problem:  # whatever it is, it is counted
                self.failed[name].append(f"{type(problem).__name__}: {problem}")
            time.sleep(0.002)

    def __enter__(self):
        for each in self.threads.values():
            each.start()
        return self

    def __exit__(self, *_):
        self.is_over.set()
        for each in self.threads.values():
            each.join(60)


def trusting(ca):
    return ssl.create_default_context(cafile=ca)
