"""Strangers at the metrics port: limits of their data, of time, and of their number."""

import contextlib
import socket

from strata_daemon import PATIENCE, eventually
from talker import free_port

MOST = 256


def connect(port):
    made = socket.create_connection(("127.0.0.1", port), PATIENCE)
    made.settimeout(PATIENCE)
    return made


def test_strangers_at_the_metrics_have_limits(make_daemon):
    port = free_port()
    daemon = make_daemon("--metrics", f"tcp://127.0.0.1:{port}")
    before = daemon.resident_mib()
    with contextlib.ExitStack() as stack:
        # The server refuses a body before it arrives.
        for _ in range(20):
            one = stack.enter_context(connect(port))
            one.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 16777215\r\n\r\n")
            with contextlib.suppress(ConnectionError):
                one.sendall(b"x" * 100_000)
            assert one.recv(4096).startswith(b"HTTP/1.1 413 ")
        assert daemon.resident_mib() < before + 32
    with contextlib.ExitStack() as stack:
        # A head that does not end is dropped; connections above the limit are closed at once.
        crowd = [stack.enter_context(connect(port)) for _ in range(MOST + 20)]
        for each in crowd:
            with contextlib.suppress(ConnectionError):
                each.sendall(b"GET /met")
        closed = 0
        for each in crowd[MOST:]:
            with contextlib.suppress(ConnectionError):
                assert each.recv(4096) in (b"", b"HTTP")
            closed += 1
        assert closed == 20
        assert crowd[0].recv(4096).startswith(b"HTTP/1.1 408 ")
        assert daemon.ask("GET", "/v1/version")["version"]

    def answers():
        with contextlib.suppress(OSError), connect(port) as one:
            one.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
            return one.recv(4096).startswith(b"HTTP/1.1 200 ")
        return False

    eventually(answers, "others are served again")


def test_those_who_ask_for_the_metrics_without_end_do_not_keep_others_waiting(make_daemon):
    port = free_port()
    daemon = make_daemon("--metrics", f"tcp://127.0.0.1:{port}")
    for number in range(20):
        daemon.server(f"s{number}")
    question = b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 200
    with contextlib.ExitStack() as stack:
        for _ in range(100):
            one = stack.enter_context(connect(port))
            one.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                one.sendall(question)
        # The clients read nothing: their pages wait, and no further pages are written.
        assert len(daemon.cli("ls", "-q").split()) == 20
        assert daemon.resident_mib() < 400
