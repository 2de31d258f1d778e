"""Connections of each protocol to a runtime `s`, and how they end from the peer's view, in the
terms of docs/endings.md."""

import contextlib
import socket
import ssl
import struct
import time

from http2_peer import Http2
from resp_wire import encode
from strata_daemon import PATIENCE
from talker import RESET_ON_CLOSE, port_of

GET = b"GET / HTTP/1.1\r\nHost: h\r\n\r\n"
EVENTS = b"GET / HTTP/1.1\r\nHost: h\r\nAccept: text/event-stream\r\n\r\n"
UPGRADE = (b"GET / HTTP/1.1\r\nHost: h\r\nConnection: upgrade\r\nUpgrade: websocket\r\n"
           b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")


class Stream:
    """A TCP connection, the base of the other protocols."""

    kind, scheme = "server", "tcp"
    greeting, garbage = b"hello\n", b"x" * 70_000
    options, idle_limit, breach_limit = {}, "idle_timeout", {"max_message": 1000}

    def __init__(self, daemon, trust=None):
        self.daemon, self.trust = daemon, trust
        self.patience = PATIENCE  # how long to wait for an end

    def make(self, **more):
        """Creates the runtime. Options that its type does not have make no difference."""
        options = {"listen": [f"{self.scheme}://127.0.0.1:0"], **self.options, **more}
        self.url = self.daemon.create(self.kind, "s", **options)["endpoints"][0]

    def connect(self):
        """Connects and waits until the runtime serves the connection."""
        self.socket = socket.create_connection(("127.0.0.1", port_of(self.url)), PATIENCE)
        self.socket.sendall(self.greeting)
        self.open()

    def open(self):
        """Waits for what the runtime sends first."""
        self.wait_served()

    def wait_served(self):
        deadline = time.monotonic() + PATIENCE
        while self.daemon.stats("s")["connections"]["now"] == 0:
            assert time.monotonic() < deadline
            time.sleep(0.01)

    def read_to_end(self):
        """Returns all remaining data, and how the transport ends."""
        data = b""
        try:
            while piece := self.socket.recv(65536):
                data += piece
            return data, self.good_end()
        except ConnectionResetError:
            return data, "RST"
        except ssl.SSLError as error:
            assert "EOF" in str(error), error
            return data, "FIN"
        except TimeoutError:
            return data, "stays"

    def good_end(self):
        return "FIN"

    def words(self, data):
        """Returns what the protocol sends before the transport's end; empty if nothing."""
        return ""

    def ending(self):
        self.socket.settimeout(self.patience)
        data, end = self.read_to_end()
        return ", ".join(filter(None, [self.words(data), end]))

    def leave(self):
        self.socket.close()

    def half_close(self):
        self.socket.shutdown(socket.SHUT_WR)

    def reset(self):
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
        self.socket.close()

    def breach(self):
        """Sends what the protocol forbids, or more than the runtime accepts."""
        with contextlib.suppress(OSError):  # the peer may close before it has read all
            self.socket.sendall(self.garbage)


class Tls(Stream):
    scheme = "tls"

    def make(self, **more):
        certificate, key = self.trust.issue("localhost")
        super().make(cert=[certificate], key=[key], **more)

    def connect(self):
        context = ssl.create_default_context(cafile=self.trust.ca)
        context.options &= ~ssl.OP_IGNORE_UNEXPECTED_EOF
        plain = socket.create_connection(("127.0.0.1", port_of(self.url)), PATIENCE)
        self.socket = context.wrap_socket(plain, server_hostname="localhost",
                                          suppress_ragged_eofs=False)
        self.socket.sendall(self.greeting)
        self.open()

    def good_end(self):
        return "close_notify"


class WebSocket(Stream):
    scheme, greeting, garbage = "ws", UPGRADE, b"\x93\x80\0\0\0\0"

    def open(self):
        data = b""
        while not data.endswith(b"\r\n\r\n"):
            piece = self.socket.recv(1)
            if not piece:
                break
            data += piece
        self.head = data

    def words(self, data):
        if not self.head.startswith(b"HTTP/1.1 101"):
            return self.head.split(b" ")[1].decode() if self.head else ""
        while len(data) >= 2:
            opcode, size = data[0] & 0x0F, data[1]
            payload, data = data[2:2 + size], data[2 + size:]
            if opcode == 8:
                return str(struct.unpack(">H", payload[:2])[0])
        return "no close frame"

    def ending(self):
        """Answers the close frame, as clients do, and returns how the connection ends."""
        data = b""
        try:
            while piece := self.socket.recv(65536):
                data += piece
                if self.words(data) not in ("", "no close frame"):
                    self.socket.sendall(b"\x88\x80\0\0\0\0")
                    break
        except (ConnectionResetError, BrokenPipeError):
            return ", ".join(filter(None, [self.words(data), "RST"]))
        except TimeoutError:
            return "stays"
        rest, end = self.read_to_end()
        return ", ".join(filter(None, [self.words(data + rest), end]))


class IdleHttp(Stream):
    """HTTP/1.1 between two requests."""

    scheme, greeting, garbage = "http", GET, b"no request\r\n\r\n"
    options, idle_limit, breach_limit = {"http_messages": True}, "http_idle_timeout", {}

    def connect(self):
        self.socket = socket.create_connection(("127.0.0.1", port_of(self.url)), PATIENCE)
        self.socket.sendall(b"GET /none HTTP/1.1\r\nHost: h\r\n\r\n")
        self.open()

    def open(self):
        self.head = self.socket.recv(65536)

    def words(self, data):
        answer = data or (self.head if not self.head.startswith(b"HTTP/1.1 404") else b"")
        return answer.split(b" ")[1].decode() if answer.startswith(b"HTTP/1.1 ") else ""


class EventStream(Stream):
    """An HTTP/1.1 response that has begun and does not end by itself."""

    scheme, greeting = "http", EVENTS
    options = {"http_messages": True}
    garbage = b"no request\r\n\r\n"

    def open(self):
        self.head = b""
        while b"\r\n\r\n" not in self.head:
            piece = self.socket.recv(65536)
            if not piece:
                break
            self.head += piece

    def words(self, data):
        if not self.head.startswith(b"HTTP/1.1 200"):
            return self.head.split(b" ")[1].decode() if self.head else ""
        return "last chunk" if (self.head + data).endswith(b"0\r\n\r\n") else "cut"


class Http2Stream(Stream):
    """HTTP/2 with a response that has begun."""

    scheme = "http"
    options = {"http_messages": True}
    garbage = b"\0\0\5\2\0\0\0\0\0\0\0\0\0\1"  # PRIORITY on stream 0

    def connect(self):
        self.peer = Http2(self.url)
        self.socket = self.peer.socket
        self.stream = self.peer.request("GET", "/", [("accept", "text/event-stream")])
        self.peer.until(lambda: self.stream in self.peer.heads)

    def ending(self):
        self.socket.settimeout(self.patience)
        try:
            self.peer.until(lambda: False)
        except AssertionError:
            end = "FIN"
        except ConnectionResetError:
            end = "RST"
        except TimeoutError:
            end = "stays"
        ended = self.peer.ended.get(self.stream)
        stream = {None: "", "end": "END_STREAM"}.get(ended, f"RST_STREAM {ended}")
        farewell = "" if self.peer.farewell is None else f"GOAWAY {int(self.peer.farewell)}"
        return ", ".join(filter(None, [stream, farewell, end]))


class Resp(Stream):
    kind, greeting, garbage = "cache", encode(["PING"]), b"*1\r\nno bulk string\r\n"
    options, breach_limit = {"resp": True}, {}

    def open(self):
        self.head = self.socket.recv(65536)

    def words(self, data):
        answer = data or (b"" if self.head == b"+PONG\r\n" else self.head)
        return answer[1:].split(b"\r\n")[0].decode().split(" ")[0] if answer else ""


class TcpProxy(Stream):
    kind, breach_limit = "proxy", {}

    def make(self, **more):
        self.daemon.server("backend", mode="echo")
        super().make(backend=["backend"], **more)

    def open(self):
        self.socket.recv(65536)


class HttpProxy(IdleHttp):
    kind, options = "proxy", {}

    def make(self, **more):
        self.daemon.server("backend", listen=["http://127.0.0.1:0"], http_messages=True)
        super().make(backend=["backend"], **more)


PEERS = {"TCP": Stream, "TLS": Tls, "WebSocket": WebSocket, "HTTP/1.1, idle": IdleHttp,
         "HTTP/1.1, answer": EventStream, "HTTP/2, answer": Http2Stream, "RESP": Resp,
         "TCP proxy": TcpProxy, "HTTP proxy": HttpProxy}
