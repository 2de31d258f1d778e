"""Long answers through a proxy: events as they arrive, and bodies of any length."""

import subprocess
import threading

import pytest

import long_bodies
from http_backend import gateway

EVENTS = 5


class EventSource:
    """Sends each event when the test says so."""

    def __init__(self):
        self.go_on = threading.Semaphore(0)

    def __call__(self, wire, _):
        wire.over.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                          b"Transfer-Encoding: chunked\r\n\r\n")
        for number in range(EVENTS):
            self.go_on.acquire()
            event = b"data: %d\n\n" % number
            wire.over.sendall(b"%x\r\n%s\r\n" % (len(event), event))
        self.go_on.acquire()
        wire.over.sendall(b"0\r\n\r\n")
        return True


@pytest.mark.parametrize("version", ["--http1.1", "--http2-prior-knowledge"])
def test_each_event_arrives_before_the_next_is_said(daemon, make_backend, version):
    source = EventSource()
    port = gateway(daemon, make_backend(source))
    with subprocess.Popen(["curl", "-sN", version, f"http://127.0.0.1:{port}/events"],
                          stdout=subprocess.PIPE) as curl:
        for number in range(EVENTS):
            source.go_on.release()
            assert curl.stdout.readline() == b"data: %d\n" % number
            assert curl.stdout.readline() == b"\n"
        assert curl.poll() is None
        source.go_on.release()
        assert curl.stdout.read() == b"" and curl.wait() == 0


def test_a_long_body_takes_no_memory(daemon):
    """Uses 128 MiB; tests/harness/long_bodies.py uses more."""
    found = long_bodies.pass_bodies(daemon, 128 << 20, seed=1)
    assert found["status"] == 200 and found["up_is_equal"] and found["down_is_equal"]
    assert found["memory_mib"]["most"] < found["memory_mib"]["before"] + 64
