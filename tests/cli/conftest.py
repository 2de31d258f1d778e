"""Fixtures for the CLI's tests. STRATA_BIN names the binary under test."""

import os
import socket
import subprocess
import threading

import pytest

from fake_daemon import FakeDaemon
from pipe import Pipe

BINARY = os.environ.get("STRATA_BIN")


def pytest_collection_modifyitems(items):
    if BINARY is None:
        for item in items:
            item.add_marker(pytest.mark.skip(reason="STRATA_BIN does not name the strata binary"))


class Strata:
    """Runs the binary against one socket."""

    binary = BINARY

    def __init__(self, path):
        self.environment = {"PATH": os.environ["PATH"], "STRATA_SOCKET": str(path)}

    def start(self, *arguments):
        process = subprocess.Popen([BINARY, *arguments], env=self.environment, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   stdin=subprocess.PIPE)
        killer = threading.Timer(20, process.kill)  # a test may wait for output that never comes
        killer.daemon = True
        killer.start()
        return process

    def __call__(self, *arguments, given=""):
        return subprocess.run([BINARY, *arguments], env=self.environment, text=True, input=given,
                              capture_output=True, timeout=30)


class Hostile:
    """Answers every connection with the same bytes, then closes it."""

    def __init__(self, path, reply):
        self.reply = reply
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen(16)
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with connection:
                try:
                    connection.recv(65536)
                    connection.sendall(self.reply)
                except OSError:
                    pass

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join()


class Slow(Hostile):
    """Sends its pieces one by one with pauses, and keeps the connection open."""

    def __init__(self, path, pieces, moment):
        self.pieces = pieces
        self.moment = moment
        self.ending = threading.Event()
        super().__init__(path, b"")

    def serve(self):
        talks = []
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                break
            talks.append(threading.Thread(target=self.talk, args=(connection,)))
            talks[-1].start()
        for talk in talks:
            talk.join()

    def talk(self, connection):
        with connection:
            try:
                connection.recv(65536)
                for piece in self.pieces:
                    connection.sendall(piece)
                    if self.ending.wait(self.moment):
                        return
                self.ending.wait()
            except OSError:
                pass

    def close(self):
        self.ending.set()
        super().close()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "s.sock"


@pytest.fixture
def strata(path):
    return Strata(path)


@pytest.fixture
def daemon(path):
    fake = FakeDaemon(path)
    yield fake
    fake.close()


@pytest.fixture
def slow(path):
    servers = []
    yield lambda pieces, moment=0: servers.append(Slow(path, pieces, moment))
    for server in servers:
        server.close()


@pytest.fixture
def hostile(path):
    servers = []
    yield lambda reply: servers.append(Hostile(path, reply))
    for server in servers:
        server.close()


@pytest.fixture(params=os.environ.get("STRATA_LOOP", "io_uring epoll").split())
def pipe(request):
    made = []

    def start(*words, **how):
        made.append(Pipe(request.param, *words, **how))
        return made[-1]

    yield start
    for each in made:
        each.close()


@pytest.fixture
def listener():
    """Yields a TCP server's socket, and its URL."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(30)
        yield server, f"tcp://127.0.0.1:{server.getsockname()[1]}"
