#!/usr/bin/env python3
"""Shows that bench_cache_load counts replies of every form, however they are cut into pieces, and
detects what a bad server does. Usage: cache_load_test.py PATH_OF_BENCH_CACHE_LOAD"""

import json
import socket
import subprocess
import sys
import threading
import unittest

PROGRAM = sys.argv.pop(1) if len(sys.argv) > 1 else "build/release/bench/bench_cache_load"
REQUEST = b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n"


class Server(threading.Thread):
    """Answers each request of one client with a reply, in pieces of `size` bytes."""

    def __init__(self, reply, size=1 << 16, request=len(REQUEST)):
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.reply, self.size, self.request = reply, size, request
        self.received = b""

    def run(self):
        client, _ = self.listener.accept()
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        answered = 0
        with client:
            while arrived := client.recv(1 << 16):
                self.received += arrived
                whole = len(self.received) // self.request
                answer = self.reply * (whole - answered)
                answered = whole
                for at in range(0, len(answer), self.size):
                    client.sendall(answer[at:at + self.size])


def load(server, requests=20, pipeline=4, numbers=0, words=("GET", "k")):
    server.start()
    done = subprocess.run([PROGRAM, str(server.port), "1", str(pipeline), str(requests),
                           str(numbers), *words], capture_output=True, timeout=60, check=False)
    return json.loads(done.stdout) | {"code": done.returncode}


class CacheLoad(unittest.TestCase):
    def test_replies_of_every_form_are_counted(self):
        for reply in (b"+OK\r\n", b":7\r\n", b"$-1\r\n", b"$0\r\n\r\n", b"$4\r\n\r\n+O\r\n",
                      b"*-1\r\n", b"*0\r\n", b"_\r\n", b"#t\r\n", b",1.5\r\n", b"(99\r\n",
                      b"=5\r\ntxt:a\r\n", b"*2\r\n*2\r\n:1\r\n$1\r\na\r\n*-1\r\n",
                      b"%1\r\n+a\r\n*1\r\n_\r\n", b"~2\r\n+a\r\n%0\r\n"):
            for size in (1, 3, 1 << 16):
                with self.subTest(reply=reply, size=size):
                    report = load(Server(reply, size))
                    self.assertEqual((report["code"], report.get("requests")), (0, 20), report)

    def test_a_pipeline_is_sent_whole(self):
        server = Server(b"+OK\r\n")
        report = load(server, requests=10, pipeline=4)
        self.assertEqual(report["requests"], 12)
        self.assertEqual(server.received, REQUEST * 12)

    def test_numbers_differ_and_stay_below_their_limit(self):
        words = ("GET", "__rand_int__")
        request = b"*2\r\n$3\r\nGET\r\n$12\r\n000000000000\r\n"
        server = Server(b"+OK\r\n", request=len(request))
        self.assertEqual(load(server, 100, 10, 50, words)["requests"], 100)
        numbers = [int(part[:12]) for part in server.received.split(b"$12\r\n")[1:]]
        self.assertEqual(len(numbers), 100)
        self.assertLess(max(numbers), 50)
        self.assertGreater(len(set(numbers)), 20)

    def test_bad_servers_are_detected(self):
        for reply, reason in ((b"-ERR no\r\n", "the server answered '-ERR no'"),
                              (b"*1\r\n-ERR no\r\n", "the server answered '-ERR no'"),
                              (b"+OK\r\n+OK\r\n", "a reply to no request"),
                              (b"$x\r\n", "a length that is none"), (b"?\r\n", "of no type"),
                              (b"$-2\r\n", "a length that is none")):
            with self.subTest(reply=reply):
                report = load(Server(reply))
                self.assertEqual(report["code"], 1)
                self.assertIn(reason, report["error"])

    def test_a_server_that_leaves_is_detected(self):
        server = Server(b"")
        server.run = lambda: server.listener.accept()[0].close()
        report = load(server)
        self.assertEqual(report["code"], 1)


if __name__ == "__main__":
    unittest.main()
