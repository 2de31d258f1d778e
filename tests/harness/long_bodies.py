"""Sends bodies of many GiB through a proxy, up and down, and compares their hashes and the daemon's
memory meanwhile. By hand:

    STRATA_BIN=build/release/strata python3 tests/harness/long_bodies.py 10
"""

import hashlib
import json
import os
import pathlib
import random
import socket
import sys
import tempfile
import threading

from strata_daemon import Daemon
from talker import port_of

PIECE = 1 << 20


class LongBack:
    """Reads one POST and hashes its body, and answers a GET with `size` bytes in chunks."""

    def __init__(self, size, pieces):
        self.size, self.pieces, self.heard = size, pieces, hashlib.sha256()
        self.server = socket.create_server(("127.0.0.1", 0))
        self.where = f"127.0.0.1:{self.server.getsockname()[1]}"
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        for _ in range(2):
            with self.server.accept()[0] as over:
                head = b""
                while b"\r\n\r\n" not in head:
                    head += over.recv(PIECE)
                if head.startswith(b"POST"):
                    piece = head.split(b"\r\n\r\n", 1)[1]
                    left = self.size - len(piece)
                    self.heard.update(piece)
                    while left and (piece := over.recv(min(left, PIECE))):
                        self.heard.update(piece)
                        left -= len(piece)
                    over.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"
                                 b"Connection: close\r\n\r\n")
                else:
                    over.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                    for piece in self.pieces():
                        over.sendall(b"%x\r\n%s\r\n" % (len(piece), piece))
                    over.sendall(b"0\r\n\r\n")


def pieces_of(size, seed):
    """Returns a function that yields pieces of one MiB: the same bytes, rotated a little each
    time."""
    base = random.Random(seed).randbytes(PIECE)

    def pieces():
        for number in range(size // PIECE):
            turn = number * 4099 % PIECE
            yield base[turn:] + base[:turn]
    return pieces


def pass_bodies(daemon, size, seed):
    """Returns the result of `size` bytes (whole MiB) sent up, and down again."""
    pieces = pieces_of(size, seed)
    said = hashlib.sha256()
    for piece in pieces():
        said.update(piece)
    backend = LongBack(size, pieces)
    made = daemon.create("proxy", "long", listen=["http://127.0.0.1:0"], backend=[backend.where])
    place = ("127.0.0.1", port_of(made["endpoints"][0]))
    most_mib = before_mib = daemon.resident_mib()
    with socket.create_connection(place, timeout=60) as up:
        up.sendall(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n" % size)
        for piece in pieces():
            up.sendall(piece)
            most_mib = max(most_mib, daemon.resident_mib())
        status = up.recv(4096).split()[1]
    heard, left = hashlib.sha256(), size
    with socket.create_connection(place, timeout=60) as down:
        down.sendall(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        reading = down.makefile("rb")
        while reading.readline().strip():
            pass
        while length := int(reading.readline(), 16):
            heard.update(reading.read(length))
            left -= length
            reading.readline()
            most_mib = max(most_mib, daemon.resident_mib())
    daemon.remove("long")
    return {"bytes": size, "status": int(status),
            "up_is_equal": backend.heard.digest() == said.digest(),
            "down_is_equal": heard.digest() == said.digest() and left == 0,
            "memory_mib": {"before": round(before_mib, 1), "most": round(most_mib, 1)}}


def main():
    seed = int(os.environ.get("STRATA_SEED", random.randrange(1 << 32)))
    with tempfile.TemporaryDirectory() as folder:
        daemon = Daemon(pathlib.Path(folder) / "daemon").start()
        try:
            found = pass_bodies(daemon, int(sys.argv[1]) << 30, seed)
        finally:
            daemon.close()
    print(json.dumps({"seed": seed, **found}, indent=2))


if __name__ == "__main__":
    main()
