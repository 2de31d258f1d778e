"""How connections end that strata closes: what the peer sees, by protocol and by cause."""

import base64
import contextlib
import hashlib
import re
import socket
import struct
import subprocess
import threading

from concurrent.futures import ThreadPoolExecutor

import pytest

from http2_peer import Http2
from http_backend import client, gateway
from semantics import make_backend
from strata_daemon import BINARY, PATIENCE, eventually
from talker import port_of

OPENING = (b"GET / HTTP/1.1\r\nHost: h\r\nConnection: upgrade\r\nUpgrade: websocket\r\n"
           b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")


class WebSocket:
    """An HTTP/1.1 WebSocket client that reads raw frames, and answers a close frame as
    required unless it is deaf."""

    def __init__(self, port, deaf=False):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        self.deaf = deaf
        self.socket.sendall(OPENING)
        self.rest = b""
        while b"\r\n\r\n" not in self.rest:
            self.more()
        self.head, self.rest = self.rest.split(b"\r\n\r\n", 1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def more(self):
        piece = self.socket.recv(65536)
        if not piece:
            raise ConnectionError("it has ended")
        self.rest += piece

    def take(self, count):
        while len(self.rest) < count:
            self.more()
        found, self.rest = self.rest[:count], self.rest[count:]
        return found

    def frame(self):
        first, size = self.take(2)
        if size == 126:
            [size] = struct.unpack(">H", self.take(2))
        return first & 0x0F, self.take(size)

    def send(self, opcode, payload=b""):
        mask = b"\x01\x02\x03\x04"
        masked = bytes(each ^ mask[at % 4] for at, each in enumerate(payload))
        self.socket.sendall(bytes([0x80 | opcode, 0x80 | len(payload)]) + mask + masked)

    def ending(self):
        """Returns the code and the reason of the close frame; 1006 if none arrives."""
        with contextlib.suppress(OSError):
            while True:
                opcode, payload = self.frame()
                if opcode != 8:
                    continue
                code = struct.unpack(">H", payload[:2])[0] if payload else 1005
                if not self.deaf:
                    self.send(8, payload)
                return code, payload[2:].decode()
        return 1006, ""


@contextlib.contextmanager
def ordered(daemon, name, action="stop"):
    thread = threading.Thread(target=daemon.act, args=(name, action))
    thread.start()
    yield
    thread.join(PATIENCE)
    assert not thread.is_alive()
    assert daemon.show(name)["state"] == ("stopped" if action == "stop" else "running")


@pytest.mark.parametrize("drain", [False, True])
@pytest.mark.parametrize("action", ["stop", "restart"])
@pytest.mark.parametrize("deaf", [False, True])
def test_websockets_of_a_server_are_told_that_it_goes(daemon, drain, action, deaf):
    [url] = daemon.server("s", **({"drain": True, "drain_timeout": 1} if drain else {}))
    with WebSocket(port_of(url), deaf) as one:
        one.send(1, b"hello")
        with ordered(daemon, "s", action):
            assert one.ending()[0] == 1001


def test_a_script_disconnects_websockets_in_good_order(daemon, tmp_path):
    script = tmp_path / "s.lua"
    script.write_text("function on_client_message(id, message) self.disconnect(id) end")
    [url] = daemon.server("s", lua=str(script))
    with WebSocket(port_of(url)) as one:
        one.send(1, b"leave")
        assert one.ending() == (1000, "")


def test_idle_and_silent_websockets_are_told(daemon):
    [url] = daemon.server("idle", idle_timeout=0.3)
    with WebSocket(port_of(url)) as one:
        assert one.ending() == (1001, "idle for too long")
    [url] = daemon.server("silent", ws_ping=0.2)
    with WebSocket(port_of(url)) as one:
        assert one.ending() == (1001, "no answer to a ping")


def test_one_that_is_dismissed_and_does_not_answer_is_ended(daemon):
    [url] = daemon.server("s", idle_timeout=0.3)
    with WebSocket(port_of(url), deaf=True) as one:
        assert one.ending() == (1001, "idle for too long")
        eventually(lambda: daemon.stats("s")["connections"]["now"] == 0, "it is gone")


def test_a_client_above_the_limit_of_http_is_answered(daemon):
    [url] = daemon.server("s", listen=["ws://127.0.0.1:0"], max_connections=1)
    with WebSocket(port_of(url)) as one, WebSocket(port_of(url)) as other:
        assert one.head.startswith(b"HTTP/1.1 101 ")
        assert other.head.startswith(b"HTTP/1.1 503 ")


# --- proxies


def upgrading_backend():
    """Returns a backend that switches protocols and then sends nothing."""
    return make_backend("1.1", [("raw",
                                 b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                                 b"Connection: upgrade\r\n\r\n")])


WAITING = {
    "websocket": (OPENING, upgrading_backend),
    "answer": (b"GET / HTTP/1.1\r\nHost: h\r\n\r\n",
               lambda: make_backend("1.1", [("head", 200, []), ("data", b"a part")])),
    "answer_by_http2": (b"GET / HTTP/1.1\r\nHost: h\r\n\r\n",
                        lambda: make_backend("2", [("head", 200, []), ("data", b"a part")])),
    "request": (b"GET / HTTP/1.1\r\nHost: h\r\n\r\n", lambda: make_backend("1.1", [])),
}


@pytest.mark.parametrize("what", WAITING)
@pytest.mark.parametrize("action", ["stop", "restart"])
def test_a_proxy_stops_within_its_limit(daemon, what, action):
    asked, make = WAITING[what]
    with contextlib.closing(make()) as backend:
        port = gateway(daemon, backend=[backend.where], drain_timeout=0.3, answer_timeout=3600)
        with client(port) as wire:
            wire.over.sendall(asked)
            eventually(lambda: backend.requests, "the backend has been asked")
            with ordered(daemon, "gw", action):
                with contextlib.suppress(ConnectionResetError):
                    while wire.over.recv(65536):
                        pass


def test_a_proxy_of_http2_clients_stops_within_its_limit(daemon):
    with contextlib.closing(make_backend("1.1", [])) as backend:
        port = gateway(daemon, backend=[backend.where], drain_timeout=0.3, answer_timeout=3600)
        with Http2(f"http://127.0.0.1:{port}") as over:
            over.request("GET", "/")
            eventually(lambda: backend.requests, "the backend has been asked")
            with ordered(daemon, "gw"):
                over.until(lambda: over.farewell == 0)


@pytest.mark.parametrize("drain", [False, True])
def test_connections_of_a_proxy_that_drains_end_by_themselves(daemon, drain):
    [url] = daemon.server("echo", mode="echo")
    port = gateway(daemon, listen=["tcp://127.0.0.1:0"], backend=["echo"], drain=drain,
                   drain_timeout=PATIENCE)
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as one:
        one.sendall(b"first\n")
        assert one.recv(100) == b"first\n"
        with ordered(daemon, "gw"):
            if drain:
                eventually(lambda: daemon.show("gw")["state"] != "stopped", "it waits")
                one.sendall(b"second\n")
                assert one.recv(100) == b"second\n"
                one.shutdown(socket.SHUT_WR)
                assert one.recv(100) == b""
            else:
                with pytest.raises(ConnectionResetError):
                    one.recv(100)


@pytest.mark.parametrize("front", ["1.1", "2"])
@pytest.mark.parametrize("version", ["1.1", "2"])
def test_a_client_that_leaves_a_silent_answer_is_noticed(daemon, front, version):
    """The proxy closes the backend's exchange: its connection, or with HTTP/2 its stream."""
    steps = [("head", 200, [("content-type", "text/event-stream")]), ("data", b"data: 1\n\n")]
    with contextlib.closing(make_backend(version, steps)) as backend:
        port = gateway(daemon, backend=[backend.where], answer_timeout=3600)
        if front == "1.1":
            with client(port) as wire:
                wire.over.sendall(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
                wire.until(b"data: 1")
        else:
            with Http2(f"http://127.0.0.1:{port}") as over:
                stream = over.request("GET", "/")
                over.until(lambda: stream in over.bodies)
        if version == "1.1":
            # A backend that only reads notices the end when it reads.
            eventually(lambda: daemon.stats("gw")["connections"]["now"] == 0, "nobody is left")
        assert backend.left.wait(PATIENCE)


# --- messages: the codes of WebSockets pass through


@pytest.fixture
def joined(daemon, tmp_path):
    """Yields a client of a message proxy, and the WebSocket of its backend."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(PATIENCE)
        port = gateway(daemon, listen=["ws://127.0.0.1:0"],
                       backend=[f"ws://127.0.0.1:{server.getsockname()[1]}"])
        with ThreadPoolExecutor(1) as pool:
            opening = pool.submit(WebSocket, port)
            with ServedWebSocket(server.accept()[0]) as backend, opening.result() as one:
                yield one, backend


class ServedWebSocket(WebSocket):
    """The server's side of a WebSocket."""

    def __init__(self, over):
        self.socket, self.rest, self.deaf = over, b"", False
        over.settimeout(PATIENCE)
        while b"\r\n\r\n" not in self.rest:
            self.more()
        self.head, self.rest = self.rest.split(b"\r\n\r\n", 1)
        [key] = re.findall(rb"Sec-WebSocket-Key: (\S+)", self.head, re.IGNORECASE)
        hashed = hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()
        over.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                     b"Connection: Upgrade\r\nSec-WebSocket-Accept: "
                     + base64.b64encode(hashed) + b"\r\n\r\n")

    def frame(self):
        first, size = self.take(2)
        mask, payload = self.take(4), self.take(size & 0x7F)
        return first & 0x0F, bytes(each ^ mask[at % 4] for at, each in enumerate(payload))

    def send(self, opcode, payload=b""):
        self.socket.sendall(bytes([0x80 | opcode, len(payload)]) + payload)


CLOSES = [(1000, ""), (1000, "bye"), (1001, "away"), (1008, "not so"), (1011, "broken"),
          (3000, "mine"), (4999, "\u00fc")]


@pytest.mark.parametrize("code, reason", CLOSES)
@pytest.mark.parametrize("by_backend", [False, True])
def test_codes_and_reasons_pass(joined, code, reason, by_backend):
    one, other = reversed(joined) if by_backend else joined
    one.send(8, struct.pack(">H", code) + reason.encode())
    assert other.ending() == (code, reason)


@pytest.mark.parametrize("by_backend", [False, True])
def test_a_close_without_a_code_passes(joined, by_backend):
    one, other = reversed(joined) if by_backend else joined
    one.send(8)
    assert other.ending() == (1005, "")


@pytest.mark.parametrize("by_backend", [False, True])
def test_an_end_without_a_close_frame_is_no_good_end(joined, by_backend):
    one, other = reversed(joined) if by_backend else joined
    one.socket.shutdown(socket.SHUT_RDWR)
    assert other.ending()[0] in (1006, 1011)


@pytest.mark.parametrize("code, is_good", [(1000, True), (1001, True), (None, False),
                                           (1011, False), (4000, False)])
def test_a_pipe_fails_where_a_websocket_ends_abnormally(code, is_good):
    """With None, the WebSocket ends without a close frame."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(PATIENCE)
        with subprocess.Popen([BINARY, "pipe", "-", f"ws://127.0.0.1:{server.getsockname()[1]}"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as pipe:
            with ServedWebSocket(server.accept()[0]) as backend:
                if code is None:
                    backend.socket.shutdown(socket.SHUT_RDWR)
                else:
                    backend.send(8, struct.pack(">H", code) + b"why")
                    assert backend.ending()[0] == code
            errors = pipe.stderr.read().decode()
            pipe.stdin.close()
            assert (pipe.wait(PATIENCE) == 0) == is_good, errors
    assert is_good or "without a close frame" in errors or f"{code}: why" in errors, errors
