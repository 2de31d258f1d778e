"""What cannot move in a takeover, an established connection, is drained by the earlier daemon."""

import contextlib
import hashlib
import http.client
import socket
import threading

import pytest

from http2_peer import Http2
from scripted_server import start
from strata_daemon import PATIENCE, eventually
from talker import Talker, free_port, port_of
from test_endings import WebSocket

ECHO = "function on_message(message, id) self.send(id, 'echo: ' .. message) end"
PART = b"0123456789abcdef" * (1 << 16)


@contextlib.contextmanager
def takeover(daemon):
    """Takes over; the block begins once the earlier daemon ends its connections."""
    failures = []

    def run():
        try:
            daemon.take_over()
        except AssertionError as failure:
            failures.append(failure)

    thread = threading.Thread(target=run)
    thread.start()
    eventually(lambda: "another daemon has taken over" in daemon.log(), "the later one serves")
    yield
    thread.join(PATIENCE)
    assert not thread.is_alive() and failures == []


def at_own_port(scheme="tcp"):
    return f"{scheme}://127.0.0.1:{free_port()}"


@pytest.fixture
def big_site(daemon, site):
    (site / "big.bin").write_bytes(PART * 64)  # more than lies in the buffers of both ends
    (site / "part.bin").write_bytes(PART)  # more than a stream's window
    return daemon.server("web", listen=[at_own_port("http")], http=str(site))[0]


def rest_of(connection):
    return b"".join(iter(lambda: connection.recv(1 << 16), b""))


@pytest.mark.parametrize("scheme", ["tcp", "unix"])
def test_a_stream_gets_what_it_has_asked_and_ends_in_good_order(daemon, tmp_path, scheme):
    url = at_own_port() if scheme == "tcp" else f"unix://{tmp_path}/echo.sock"
    url = start(daemon, tmp_path, ECHO, "echo", listen=[url], protocol="raw")
    with Talker(url) as held, Talker(url):
        held.say(b"before")
        assert held.hear() == b"echo: before"
        daemon.wait_connections("echo", 2)
        held.say(b"asked")
        with takeover(daemon):
            assert held.hear() == b"echo: asked"
            assert rest_of(held.socket) == b""  # FIN, no reset
    assert "echo: another daemon takes over: 2 connections cannot move" in daemon.log()
    with Talker(url) as again:
        again.say(b"after")
        assert again.hear() == b"echo: after"


def test_output_that_waits_for_a_slow_client_arrives(daemon, tmp_path):
    url = start(daemon, tmp_path,
                "function on_message(message, id)\n"
                "for _ = 1, 4000 do self.send(id, message) end end", "large",
                listen=[at_own_port()], protocol="raw", max_buffer=64 << 20)
    line = b"0123456789abcdef" * 500
    with Talker(url) as held:
        held.say(line)
        daemon.wait_connections("large", 1)
        eventually(lambda: daemon.stats("large")["messages"]["in"] == 1, "it is read")
        with takeover(daemon):
            assert rest_of(held.socket) == (line + b"\n") * 4000


def test_a_websocket_is_closed_as_the_page_says(daemon, tmp_path):
    url = start(daemon, tmp_path, ECHO, "chat", listen=[at_own_port("ws")])
    with WebSocket(port_of(url)) as held:
        held.send(1, b"asked")
        assert held.frame() == (1, b"echo: asked")
        with takeover(daemon):
            assert held.ending() == (1001, "")
            assert rest_of(held.socket) == b""
    with WebSocket(port_of(url)) as again:
        again.send(1, b"after")
        assert again.frame() == (1, b"echo: after")


def test_http2_says_that_it_goes_and_answers_the_open_stream(daemon, big_site):
    with Http2(big_site) as held:
        stream = held.request("GET", "/part.bin")
        held.until(lambda: len(held.bodies.get(stream, b"")) > 0)
        with takeover(daemon):
            held.until(lambda: stream in held.ended)
            assert held.ended[stream] == "end"
            assert held.bodies[stream] == PART
            held.until(lambda: held.farewell is not None)
            assert held.farewell == 0


@pytest.mark.parametrize("way", ["served", "behind a proxy", "behind a proxy by HTTP/2"])
def test_a_long_answer_under_way_arrives_whole(daemon, big_site, way):
    url = big_site
    if way != "served":
        more = " http2" if way.endswith("2") else ""
        url = daemon.create("proxy", "front", listen=[at_own_port("http")],
                            backend=[f"http://127.0.0.1:{port_of(big_site)}{more}"])
        url = url["endpoints"][0]
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port_of(url))) as held:
        held.request("GET", "/big.bin")
        answer = held.getresponse()
        digest = hashlib.sha256(answer.read(1000))
        with takeover(daemon):
            while piece := answer.read(1 << 16):
                digest.update(piece)
        assert digest.digest() == hashlib.sha256(PART * 64).digest()


def test_a_request_that_is_worked_on_is_answered(daemon, tmp_path):
    url = start(daemon, tmp_path,
                "function on_http_request(request) strata.sleep(0.7) return {body = 'done'} end",
                "slow", listen=[at_own_port("http")])
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port_of(url))) as held:
        held.request("GET", "/")
        daemon.wait_connections("slow", 1)
        with takeover(daemon):
            answer = held.getresponse()
            assert (answer.status, answer.read()) == (200, b"done")


def test_a_connection_through_a_proxy_goes_on_until_its_end(daemon):
    with socket.create_server(("127.0.0.1", 0)) as backend:
        front = daemon.create("proxy", "front", listen=[at_own_port()], protocol="raw",
                              backend=["127.0.0.1:%d" % backend.getsockname()[1]])["endpoints"][0]
        with Talker(front) as held, Talker.accepted(backend) as far:
            with takeover(daemon):
                for _ in range(3):
                    held.say(b"there")
                    assert far.hear() == b"there"
                    far.say(b"back")
                    assert held.hear() == b"back"
                held.close()
                assert far.hear() is None
