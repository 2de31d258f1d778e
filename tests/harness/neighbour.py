"""A daemon in use, beside hostile neighbours. By hand, for any number of seconds:

    STRATA_BIN=build/release/strata python3 tests/harness/neighbour.py 300

    +-- strata-t-<pid>-a ------------------------+        +-- strata-t-<pid>-b ------+
    |  the daemon, its users and its operator;   |        |  forged datagrams,       |
    |  strangers, as nobody    vethA 192.0.2.1 = |========|= vethB    half-open TCP  |
    +--------------------------------------------+        +--------------------------+
"""

import contextlib
import ctypes
import hashlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

import stranger
from resp_wire import encode
from strata_daemon import PATIENCE, Daemon
from veth import Veth

TARGET = "192.0.2.1"
PORTS = {"web": 8080, "echo": 9000, "db": 6379, "dgram": 9001}
STREAMS = [PORTS["web"], PORTS["echo"], PORTS["db"]]


@contextlib.contextmanager
def inside(namespace):
    """Makes the calling thread create its sockets in the namespace."""
    with open("/proc/thread-self/ns/net") as own, \
            open(f"/run/netns/{namespace}") as other:
        ctypes.CDLL(None, use_errno=True).setns(other.fileno(), 0)
        try:
            yield
        finally:
            ctypes.CDLL(None).setns(own.fileno(), 0)


class User(threading.Thread):
    """Exchanges messages with one service, over one connection for as long as it lasts."""

    def __init__(self, name, namespace, until):
        super().__init__()
        self.name, self.namespace, self.until = name, namespace, until
        self.tried = self.well = 0
        self.longest = 0.0
        self.trouble = ""

    def open(self):
        kind = socket.SOCK_DGRAM if self.name == "dgram" else socket.SOCK_STREAM
        one = socket.socket(socket.AF_INET, kind)
        one.settimeout(PATIENCE)
        one.connect(("127.0.0.1", PORTS[self.name]))
        return one

    def exchange(self, over):
        number = b"%d" % self.tried
        if self.name == "web":
            over.sendall(b"GET /page HTTP/1.1\r\nHost: s\r\n\r\n")
            return self.hear(over, b"the page\n").startswith(b"HTTP/1.1 200")
        if self.name == "db":
            over.sendall(encode(["SET", "k", number]) + encode(["GET", "k"]))
            return self.hear(over, number + b"\r\n").startswith(b"+OK")
        if self.name == "echo":
            over.sendall(number + b"\n")
            return self.hear(over, b"\n") == number + b"\n"
        return self.ask_by_datagram(over, number)

    @staticmethod
    def ask_by_datagram(over, number):
        """Sends a datagram until its answer arrives: it may be lost, above all in a flood."""
        over.settimeout(0.5)
        for _ in range(2 * PATIENCE):
            over.send(number)
            with contextlib.suppress(TimeoutError):
                while over.recv(100) != number:  # a late answer
                    pass
                return True
        return False

    @staticmethod
    def hear(over, end):
        heard = b""
        while not heard.endswith(end):
            piece = over.recv(65536)
            if not piece:
                raise ConnectionError("it was cut off")
            heard += piece
        return heard

    def run(self):
        with inside(self.namespace):
            over = self.open()
            while time.monotonic() < self.until:
                self.tried += 1
                begun = time.monotonic()
                try:
                    self.well += self.exchange(over)
                except OSError as trouble:
                    self.trouble = str(trouble)
                    over.close()
                    over = self.open()
                self.longest = max(self.longest, time.monotonic() - begun)
                time.sleep(0.03)
            over.close()

    def report(self):
        return {"tried": self.tried, "well": self.well, "longest_s": round(self.longest, 3),
                "trouble": self.trouble}


class Operator(threading.Thread):
    """Sends requests to the control API."""

    def __init__(self, daemon, until):
        super().__init__()
        self.daemon_under_test, self.until = daemon, until
        self.took = []

    def run(self):
        while time.monotonic() < self.until:
            begun = time.monotonic()
            assert len(self.daemon_under_test.names()) == len(PORTS)
            self.took.append(time.monotonic() - begun)
            time.sleep(0.02)

    def report(self):
        ordered = sorted(self.took)
        return {"asked": len(ordered), "p50_ms": round(1000 * ordered[len(ordered) // 2], 2),
                "p99_ms": round(1000 * ordered[len(ordered) * 99 // 100], 2)}


def fingerprint(folder):
    """Returns all that the neighbours must not change: the files, their owners and their bytes. The
    log and the cache's file are left out, because the daemon's own work makes them grow."""
    found = {}
    for path in [folder, *sorted(folder.rglob("*"))]:
        about = path.lstat()
        grows = path.name in ("daemon.log", "db.aof")
        data = path.read_bytes() if path.is_file() and not path.is_symlink() and not grows else b""
        found[str(path)] = (about.st_ino, about.st_mode, about.st_uid, about.st_gid, about.st_nlink,
                            hashlib.sha256(data).hexdigest())
    return found


def start_site(daemon, folder):
    """Starts the services with the options that docs/security.md advises for use by strangers."""
    (folder / "page").write_text("the page\n")
    listen = {name: [f"{'udp' if name == 'dgram' else 'tcp'}://*:{port}"]
              for name, port in PORTS.items()}
    daemon.create("server", "web", listen=listen["web"], http=str(folder), protocol="http")
    daemon.create("server", "echo", listen=listen["echo"], mode="echo")
    daemon.create("server", "dgram", listen=listen["dgram"], mode="echo")
    daemon.create("cache", "db", listen=listen["db"], persistent=str(daemon.folder / "db.aof"))


def start_strangers(veth, daemon, seconds):
    local = [("links", {"folders": [str(daemon.folder), str(daemon.state_dir)]}),
             ("control", {"where": str(daemon.socket)}),
             ("hold", {"ports": STREAMS}), ("flood", {"ports": STREAMS}),
             ("garbage", {"ports": STREAMS})]
    away = [("datagrams", {"target": TARGET, "ports": [PORTS["dgram"]]}),
            ("syns", {"target": TARGET, "ports": STREAMS})]
    started = []
    for space, roles in [(veth.a, local), (veth.b, away)]:
        for role, what in roles:
            what["as_nobody"] = space == veth.a
            command = ["ip", "netns", "exec", space, sys.executable, stranger.__file__, role,
                       str(seconds), json.dumps(what)]
            started.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
    return started


def memory_mib(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) >> 10


def live_beside_strangers(seconds):
    """Returns what the neighbours tried, and the results."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="strata-neighbour-"))
    folder.chmod(0o755)  # the strangers can reach the daemon's own folders
    veth = Veth()
    daemon = Daemon(folder / "daemon", namespace=veth.a)
    try:
        daemon.start()
        (folder / "site").mkdir()
        start_site(daemon, folder / "site")
        before = fingerprint(folder)
        until = time.monotonic() + seconds
        users = [User(name, veth.a, until) for name in PORTS]
        operator = Operator(daemon, until)
        strangers = start_strangers(veth, daemon, seconds)
        for each in [*users, operator]:
            each.start()
        tried = [json.loads(each.communicate(timeout=seconds + 60)[0]) for each in strangers]
        for each in [*users, operator]:
            each.join()
        memory = memory_mib(daemon.process.pid)
        changed = {path: (was, fingerprint(folder).get(path))
                   for path, was in before.items() if fingerprint(folder).get(path) != was}
        added = sorted(set(fingerprint(folder)) - set(before))
        states = {each["name"]: each["state"] for each in daemon.ask("GET", "/v1/runtimes")}
        daemon.stop()
        return {"seconds": seconds, "strangers": tried, "changed": changed, "added": added,
                "states": states, "users": {each.name: each.report() for each in users},
                "control_api": operator.report(), "memory_mib": memory}
    finally:
        daemon.close()
        veth.close()
        shutil.rmtree(folder)


if __name__ == "__main__":
    if os.geteuid() != 0:
        sys.exit("neighbour.py: network namespaces need root: run it with sudo")
    print(json.dumps(live_beside_strangers(float(sys.argv[1])), indent=2))
