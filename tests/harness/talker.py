"""Clients that talk to strata over real sockets: one line client, and a crowd of them."""

import itertools
import os
import random
import select
import socket
import struct
from urllib.parse import urlsplit

from strata_daemon import PATIENCE

RESET_ON_CLOSE = struct.pack("ii", 1, 0)  # SO_LINGER of 0 s


def address_of(url):
    """Returns family, type and address of an endpoint, as the daemon shows it."""
    parts = urlsplit(url)
    if parts.scheme == "unix":
        return socket.AF_UNIX, socket.SOCK_STREAM, parts.path
    host = "127.0.0.1" if parts.hostname == "*" else parts.hostname
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    kind = socket.SOCK_DGRAM if parts.scheme == "udp" else socket.SOCK_STREAM
    return family, kind, (host, parts.port)


def port_of(url):
    return urlsplit(url).port


def own_ports():
    """Returns the ports that belong to this process of the run. They lie below the range that the
    kernel assigns to connections (net.ipv4.ip_local_port_range), so that no other process takes a
    port between its choice and its use."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw20").removeprefix("gw")) % 21
    ports = range(10000 + 1000 * worker, 11000 + 1000 * worker)
    begin = random.randrange(len(ports))
    return itertools.cycle([*ports[begin:], *ports[:begin]])


OWN_PORTS = own_ports()


def free_port(kind=socket.SOCK_STREAM):
    """Returns a port that is free at this moment."""
    while True:
        port = next(OWN_PORTS)
        with socket.socket(socket.AF_INET, kind) as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


class Talker:
    """One connection that sends and receives lines. Every wait has a deadline."""

    def __init__(self, url, room=None):
        """`room`: the size of the kernel's receive buffer, for a slow reader."""
        family, kind, address = address_of(url)
        self.over(socket.socket(family, kind))
        if room:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
        self.socket.connect(address)

    def over(self, connection):
        self.socket = connection
        self.socket.settimeout(PATIENCE)
        self.rest = b""
        return self

    @classmethod
    def accepted(cls, listener):
        """Returns the talker that connects to a listening socket."""
        return cls.__new__(cls).over(listener.accept()[0])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def fileno(self):
        return self.socket.fileno()

    def send(self, data):
        self.socket.sendall(data)

    def say(self, *lines):
        self.send(b"".join(line + b"\n" for line in lines))

    def hear(self):
        """Returns the next line, without its LF; None at the end of the stream."""
        while b"\n" not in self.rest:
            more = self.socket.recv(65536)
            if not more:
                assert self.rest == b"", f"cut: {self.rest[-200:]!r}"
                return None
            self.rest += more
        line, self.rest = self.rest.split(b"\n", 1)
        return line

    def hear_lines(self, count):
        return [self.hear() for _ in range(count)]

    def read(self, size):
        """Returns exactly `size` bytes."""
        while len(self.rest) < size:
            more = self.socket.recv(65536)
            assert more, f"the end, behind {self.rest!r}"
            self.rest += more
        data, self.rest = self.rest[:size], self.rest[size:]
        return data

    def hear_to_end(self):
        """Returns all lines until the other side closes."""
        lines = []
        while (line := self.hear()) is not None:
            lines.append(line)
        return lines

    def is_ended(self):
        """Waits for the end of the stream or a reset; drops the data before it."""
        try:
            while self.socket.recv(65536):
                pass
        except ConnectionError:
            pass
        return True

    def has_something(self):
        """Reports whether data is ready to be read."""
        return bool(self.rest) or bool(select.select([self.socket], [], [], 0)[0])

    def finish(self):
        """Ends its own direction, and continues to receive."""
        self.socket.shutdown(socket.SHUT_WR)

    def close(self):
        self.socket.close()

    def reset(self):
        """Resets the connection."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
        self.socket.close()


class TextTalker(Talker):
    """Sends and receives text instead of bytes."""

    def say(self, *lines):
        super().say(*(line.encode() for line in lines))

    def hear(self):
        line = super().hear()
        return None if line is None else line.decode()


class Peer:
    """A UDP peer: a datagram is a message."""

    def __init__(self, url):
        family, kind, address = address_of(url)
        self.socket = socket.socket(family, kind)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(address)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def say(self, message):
        self.socket.send(message)

    def hear(self):
        return self.socket.recv(65536)

    def has_something(self):
        return bool(select.select([self.socket], [], [], 0)[0])
