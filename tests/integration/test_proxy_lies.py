"""The HTTP proxy between backends and clients that lie."""

import contextlib
import socket

import pytest

from http_backend import OK, Wire, ask, client, gateway, get
from strata_daemon import PATIENCE, eventually


@pytest.mark.parametrize("broken", [
    b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfive!",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfive!\r\n",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfive!\r\nzz\r\n"])
def test_a_part_is_not_passed_off_as_the_whole(daemon, make_backend, broken):
    def answer(wire, _):
        wire.over.sendall(broken)
        return False
    with client(gateway(daemon, make_backend(answer))) as wire:
        with contextlib.suppress(ConnectionError):
            head, _ = ask(wire, b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            assert head.split()[1] == b"502"  # no part of an answer had been sent
    eventually(lambda: daemon.stats("gw")["errors"] == 1, "it is counted")


@pytest.mark.parametrize("lying", [
    b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent Length: 1\r\n\r\n",
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000 + b"\r\n\r\n", b"\x16\x03\x01\x02\x00", b"\0" * 100])
def test_heads_that_lie_are_no_answers(daemon, make_backend, lying):
    def answer(wire, _):
        wire.over.sendall(lying)
        return False
    assert get(gateway(daemon, make_backend(answer)))[0] == 502


def test_what_comes_behind_an_answer_is_not_the_next_one(daemon, make_backend):
    backend = make_backend(OK + b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
    port = gateway(daemon, backend)
    for _ in range(5):
        assert get(port) == (200, b"ok")


@pytest.mark.parametrize("request_text", [
    b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"0\r\n\r\nX",
    b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: h\r\n X: folded\r\n\r\n", b"GET / HTTP/1.1\nHost: h\n\n",
    b"GET /\x01 HTTP/1.1\r\nHost: h\r\n\r\n", b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    b"GET  / HTTP/1.1\r\nHost: h\r\n\r\n", b"CONNECT h:1 HTTP/1.1\r\nHost: h:1\r\n\r\n"])
def test_what_two_could_read_differently_reaches_no_backend(daemon, make_backend, request_text):
    backend = make_backend()
    with client(gateway(daemon, backend)) as wire:
        head, _ = ask(wire, request_text)
        assert head.split()[1] in (b"400", b"501"), head
    assert backend.requests == [] and backend.connections == 0


def test_a_client_that_breaks_off_is_no_whole_request(daemon):
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(PATIENCE)
        port = gateway(daemon, backend=[f"127.0.0.1:{server.getsockname()[1]}"])
        with client(port) as wire:
            wire.over.sendall(b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
                              b"4\r\nhalf\r\n")
            backend = server.accept()[0]
            backend.settimeout(PATIENCE)
            heard = Wire(backend)
            heard.until(b"half\r\n")
        with backend, pytest.raises(ConnectionError):
            heard.until(b"0\r\n")  # no last chunk
