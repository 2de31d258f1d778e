"""Redis's protocol as raw bytes: requests, and replies exactly as they arrive."""

import os
import shutil
import socket
import subprocess
import time

from strata_daemon import PATIENCE


def encode(words):
    """Returns a request of byte strings."""
    parts = [b"*%d\r\n" % len(words)]
    for word in words:
        if isinstance(word, str):
            word = word.encode()
        elif isinstance(word, int):
            word = b"%d" % word
        elif isinstance(word, float):
            word = repr(word).encode()
        parts.append(b"$%d\r\n%s\r\n" % (len(word), word))
    return b"".join(parts)


def end_of_reply(data, at):
    """Returns where the reply that begins at `at` ends."""
    missing = 1
    while missing:
        missing -= 1
        line_end = data.index(b"\r\n", at) + 2
        mark = data[at:at + 1]
        if mark in b"$=":
            size = int(data[at + 1:line_end - 2])
            at = line_end + (size + 2 if size >= 0 else 0)
        else:
            if mark in b"*~>":
                missing += max(int(data[at + 1:line_end - 2]), 0)
            elif mark == b"%":
                missing += 2 * int(data[at + 1:line_end - 2])
            at = line_end
    return at


def split_replies(data):
    """Returns the raw bytes of each reply."""
    replies = []
    at = 0
    while at < len(data):
        end = end_of_reply(data, at)
        replies.append(data[at:end])
        at = end
    return replies


def sorted_reply(reply, pairs=False):
    """Returns an aggregate reply with its elements (or pairs of elements) sorted."""
    if reply[:1] not in b"*~%":
        return reply
    head_end = reply.index(b"\r\n") + 2
    elements = split_replies(reply[head_end:])
    if pairs or reply[:1] == b"%":
        elements = [b"".join(elements[i:i + 2]) for i in range(0, len(elements), 2)]
    return reply[:head_end] + b"".join(sorted(elements))


class Wire:
    """A connection that sends requests and returns the replies' bytes."""

    def __init__(self, port, protocol=2):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.rest = b""
        self.marks = 0
        if protocol == 3:
            self.ask("HELLO", "3")

    def close(self):
        self.socket.close()

    def ask_all(self, requests):
        """Sends all requests as one pipeline and returns the bytes of their replies."""
        self.marks += 1
        mark = b"mark-%d-of-this-connection" % self.marks
        self.socket.sendall(b"".join(map(encode, requests)) + encode(["ECHO", mark]))
        end = b"$%d\r\n%s\r\n" % (len(mark), mark)
        data = bytearray()
        while not data.endswith(end):
            part = self.socket.recv(1 << 20)
            assert part, f"the server hung up; so far {bytes(data[-200:])!r}"
            data += part
        return bytes(data[:-len(end)])

    def ask(self, *words):
        return self.ask_all([words])

    def send(self, *words):
        self.socket.sendall(encode(words))

    def receive(self):
        """Returns the next reply's bytes."""
        while True:
            try:
                end = end_of_reply(self.rest, 0)
                if end <= len(self.rest):
                    reply, self.rest = self.rest[:end], self.rest[end:]
                    return reply
            except (ValueError, IndexError):
                pass
            part = self.socket.recv(1 << 16)
            assert part, f"the server hung up; so far {self.rest!r}"
            self.rest += part

    def is_silent(self, seconds=0.2):
        """Reports whether nothing arrives for that time."""
        assert not self.rest
        self.socket.settimeout(seconds)
        try:
            self.rest = self.socket.recv(1 << 16)
            return False
        except TimeoutError:
            return True
        finally:
            self.socket.settimeout(PATIENCE)


class RedisServer:
    """A real redis-server, without persistence unless `flags` enable it."""

    def __init__(self, folder, *flags):
        self.binary = shutil.which("redis-server")
        assert self.binary, "redis-server is not installed: run make deps"
        folder.mkdir(parents=True, exist_ok=True)
        self.command = ["--bind", "127.0.0.1", "--save", "", "--dir", str(folder),
                        "--enable-debug-command", "local", *flags]
        # Another process may take the port between the probe and the start.
        for _ in range(5):
            if self.start():
                return
        raise AssertionError(f"redis-server does not start: {self.command}")

    def start(self):
        """Reports whether the server that answers is the one that was started."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.process = subprocess.Popen([self.binary, "--port", str(self.port), *self.command],
                                        stdout=subprocess.DEVNULL,
                                        env={**os.environ, "LC_ALL": "C"})
        deadline = time.monotonic() + PATIENCE
        while self.process.poll() is None and time.monotonic() < deadline:
            try:
                wire = Wire(self.port)
                mine = b"process_id:%d\r" % self.process.pid in wire.ask("INFO", "server")
                wire.close()
                if mine:
                    return True
            except (OSError, AssertionError):
                pass
            time.sleep(0.02)
        self.close()
        return False

    def close(self):
        self.process.terminate()
        self.process.wait(PATIENCE)
