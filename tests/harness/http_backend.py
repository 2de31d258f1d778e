"""Backends and clients of an HTTP proxy that see each byte."""

import contextlib
import socket
import threading

from strata_daemon import PATIENCE
from talker import port_of

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def gateway(daemon, *backends, name="gw", **options):
    """Returns the port of a running HTTP proxy."""
    options = {"listen": ["http://127.0.0.1:0"], "backend": [each.where for each in backends]} | options
    [url] = daemon.create("proxy", name, **options)["endpoints"]
    return port_of(url)


class Request:
    """A request as a backend has read it."""

    def __init__(self, head, body):
        start, *fields = head.decode("latin-1").split("\r\n")
        self.start, self.body = start, body
        self.fields = [tuple(each.split(": ", 1)) for each in fields]

    def field(self, name):
        return [value for known, value in self.fields if known == name]


class Wire:
    """Reads HTTP/1.1 byte by byte, without interpretation."""

    def __init__(self, over):
        self.over, self.rest = over, b""

    def more(self):
        piece = self.over.recv(65536)
        if not piece:
            raise ConnectionError("it has ended")
        self.rest += piece

    def until(self, mark):
        while mark not in self.rest:
            self.more()
        found, self.rest = self.rest.split(mark, 1)
        return found

    def take(self, count):
        while len(self.rest) < count:
            self.more()
        found, self.rest = self.rest[:count], self.rest[count:]
        return found

    def body(self, head):
        if b"transfer-encoding: chunked" in head.lower():
            whole = b""
            while size := int(self.until(b"\r\n"), 16):
                whole += self.take(size)
                self.take(2)
            self.until(b"\r\n")
            return whole
        length = [line for line in head.lower().split(b"\r\n")
                  if line.startswith(b"content-length: ")]
        return self.take(int(length[0].split()[1])) if length else b""

    def request(self):
        head = self.until(b"\r\n\r\n")
        return Request(head, self.body(head))

    def answer(self):
        head = self.until(b"\r\n\r\n")
        return head, self.body(head)


class Backend:
    """A server that records what it reads, and answers with `answers`: bytes, or a function of the
    connection's wire and the request that returns False to end the connection."""

    def __init__(self, answers=OK, secure=None, port=0):
        self.answers, self.secure = answers, secure
        self.requests, self.connections = [], 0
        self.server = socket.create_server(("127.0.0.1", port))
        self.where = f"127.0.0.1:{self.server.getsockname()[1]}"
        self.open = set()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                one = self.server.accept()[0]
                self.connections += 1
                threading.Thread(target=self.serve, args=(one,), daemon=True).start()

    def serve(self, one):
        with contextlib.suppress(OSError, ValueError):
            if self.secure is not None:
                one = self.secure.wrap_socket(one, server_side=True)
            self.open.add(one)
            wire = Wire(one)
            while True:
                asked = wire.request()
                self.requests.append(asked)
                if isinstance(self.answers, bytes):
                    one.sendall(self.answers)
                elif self.answers(wire, asked) is False:
                    break
        with contextlib.suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)
        one.close()
        self.open.discard(one)

    def hang_up(self):
        """Closes all open connections."""
        for each in list(self.open):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def close(self):
        with contextlib.suppress(OSError):
            self.server.shutdown(socket.SHUT_RDWR)
        self.server.close()
        self.hang_up()


@contextlib.contextmanager
def client(port):
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as over:
        yield Wire(over)


def ask(wire, text):
    wire.over.sendall(text)
    return wire.answer()


def get(port, path="/"):
    with client(port) as wire:
        head, body = ask(wire, f"GET {path} HTTP/1.1\r\nHost: h\r\n\r\n".encode())
        return int(head.split()[1]), body
