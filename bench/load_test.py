#!/usr/bin/env python3
"""Shows that bench_load detects what a bad server does. Usage: load_test.py PATH_OF_BENCH_LOAD"""

import json
import selectors
import socket
import subprocess
import sys
import threading
import unittest

PROGRAM = sys.argv.pop(1) if len(sys.argv) > 1 else "build/release/bench/bench_load"
EVERY = 100  # one of this many lines is spoiled, but never the first ones (probes)


class BadServer(threading.Thread):
    """Broadcasts lines, of which one in a hundred is replaced by spoil(line)."""

    def __init__(self, spoil, echo=False):
        super().__init__(daemon=True)
        self._spoil = spoil
        self._echo = echo
        self._lines = 0
        self._clients = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self.port = self._listener.getsockname()[1]

    def run(self):
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is self._listener:
                    client, _ = self._listener.accept()
                    self._clients.append(client)
                    self._selector.register(client, selectors.EVENT_READ)
                else:
                    self._serve(key.fileobj)

    def _serve(self, client):
        try:
            received = client.recv(65536)
        except ConnectionResetError:
            received = b""
        if not received:
            self._selector.unregister(client)
            self._clients.remove(client)
            client.close()
        for line in received.splitlines(keepends=True):
            self._lines += 1
            if self._lines % EVERY == 0:
                line = self._spoil(line)
            for other in self._clients:
                if self._echo or other is not client:
                    other.sendall(line)


def load(scenario, port, *words):
    argv = [PROGRAM, scenario, "--port", str(port), "--seconds", "0.2", *words]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False)
    return json.loads(done.stdout)


class LoadTest(unittest.TestCase):
    def fanout(self, spoil, **server):
        bad = BadServer(spoil, **server)
        bad.start()
        return load("fanout", bad.port, "--receivers", "3", "--window", "16")

    def assert_faults(self, report, *expected):
        faults = ("lost", "duplicated", "corrupted", "echoed_bytes")
        self.assertEqual({key for key in faults if report[key] > 0}, set(expected), report)
        self.assertGreater(report["delivered"], 0)

    def test_good_server(self):
        report = self.fanout(lambda line: line)
        self.assert_faults(report)
        self.assertEqual(report["delivered"], 3 * report["sent"])

    def test_dropped_line(self):
        self.assert_faults(self.fanout(lambda line: b""), "lost")

    def test_repeated_line(self):
        self.assert_faults(self.fanout(lambda line: line * 2), "duplicated")

    def test_changed_byte(self):
        changed = self.fanout(lambda line: line[:40] + b"Z" + line[41:])
        self.assert_faults(changed, "lost", "corrupted")

    def test_cut_line(self):
        self.assert_faults(self.fanout(lambda line: line[:40]), "lost", "corrupted")

    def test_line_sent_back(self):
        self.assert_faults(self.fanout(lambda line: line, echo=True), "echoed_bytes")

    def test_server_that_never_accepts(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            report = load("relay", listener.getsockname()[1])
        self.assertEqual(report["error"], "only 0 of 1 receivers are served")

    def test_nobody_listens(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
        self.assertIn("Connection refused", load("relay", port)["error"])


if __name__ == "__main__":
    unittest.main()
