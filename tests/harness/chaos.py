"""What a proxy's clients notice when backends fail and when the proxy is changed. By hand:

    STRATA_BIN=build/release/strata python3 tests/harness/chaos.py backends 100
    STRATA_BIN=build/release/strata python3 tests/harness/chaos.py changes 100

`backends`: under wrk's load, one of two backends is killed, restarted, stopped, resumed and slowed
down, in turn.

`changes`: under TLS load, a backend is added, drained and removed, the proxy's certificate is
replaced and `strata reload` is called, in turn. The document on standard output reports what
failed.
"""

import collections
import contextlib
import json
import pathlib
import re
import signal
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.request

from backend_process import BackProcess, NginxProcess, more, visitors
from background import Background
from certificates import Authority, client_context
from http_backend import get
from strata_daemon import Daemon, eventually
from talker import port_of

VISITORS = 4
WRK = ["wrk", "-t1", "-c8", "-d86400s", "--timeout", "30s"]
# The valid successors of each event of a backend's circuit and of its checks. A trial on a kept
# connection that has since ended has no result, so another trial follows. If no other backend is
# left, the proxy uses one whose circuit is open, and closes the circuit if that backend answers.
CIRCUIT = {None: {"open"}, "open": {"half-open", "closed"},
           "half-open": {"half-open", "open", "closed"}, "closed": {"open"}}
CHECKS = {None: {"down"}, "down": {"up"}, "up": {"down"}}


class Events:
    """The events of one proxy, each counted once however often it is read."""

    def __init__(self, daemon):
        self.daemon, self.seen = daemon, {}

    def look(self):
        for each in self.daemon.lines("/v1/events"):
            backend = re.search("backend '([^']*)'", each.get("detail", ""))
            if each["runtime"] == "gw" and backend:
                self.seen.setdefault(json.dumps(each, sort_keys=True), (backend[1], each["event"]))

    def counts(self, where):
        return dict(collections.Counter(
            kind for backend, kind in self.seen.values() if backend == where))

    def out_of_order(self):
        return [f"{kind} after {before} of {where}" for rule in (CIRCUIT, CHECKS)
                for where in {backend for backend, _ in self.seen.values()}
                for before, kind in pairs(kind for backend, kind in self.seen.values()
                                          if backend == where and kind in rule)
                if kind not in rule[before]]


def pairs(kinds):
    before = None
    for each in kinds:
        yield before, each
        before = each


class Watch(Background):
    """Sends requests directly to a backend and keeps the longest response time. A backend that the
    machine delays for longer than --answer-timeout has failed like any other."""

    def __init__(self, port):
        super().__init__()
        self.port, self.longest = port, 0

    def run(self):
        while not self.is_over.wait(0.02):
            began = time.monotonic()
            get(self.port)
            self.longest = max(self.longest, time.monotonic() - began)


class Load:
    """wrk, which sends requests continuously."""

    def __init__(self, daemon, port):
        self.daemon, self.port = daemon, port

    def __enter__(self):
        self.process = subprocess.Popen([*WRK, f"http://127.0.0.1:{self.port}/"], text=True,
                                        stdout=subprocess.PIPE)
        return self

    def served(self):
        return self.daemon.stats("gw")["http"]["answers"]["2xx"]

    def more(self, count=500):
        before = self.served()
        eventually(lambda: self.served() >= before + count, "requests are answered")

    def end(self):
        """Stops wrk. Returns the number of requests, and the failures by the kind that wrk
        reports."""
        self.process.send_signal(signal.SIGINT)
        said = self.process.communicate()[0]
        failed = {kind: int(count) for line in re.findall("Socket errors: .*", said)
                  for kind, count in re.findall(r"(\w+) (\d+)", line)}
        failed["non_2xx"] = sum(map(int, re.findall(r"Non-2xx or 3xx responses: (\d+)", said)))
        return int(re.search(r"(\d+) requests in", said)[1]), failed

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def report(rounds, answers, expected, **more_of_it):
    failed = [str(each) for each in answers if each != expected]
    return {"rounds": rounds, "requests": len(answers), "failed": len(failed),
            "first_failures": failed[:5], **more_of_it}


def try_backends(daemon, rounds):
    with contextlib.ExitStack() as stack:
        ill, well = [NginxProcess(daemon.folder / name) for name in ("ill", "well")]
        for each in (ill, well):
            stack.callback(each.kill)
        [url] = daemon.create("proxy", "gw", listen=["http://127.0.0.1:0"], answer_timeout=0.3,
                              backend=[ill.where, well.where], rest=0.05)["endpoints"]
        events = Events(daemon)
        with Load(daemon, port_of(url)) as load, Watch(well.port) as watch:
            for _ in range(rounds):
                ill.kill()
                load.more()
                ill.start()
                load.more()
                ill.pause()
                load.more()
                ill.go_on()
                load.more()
                ill.be_slow(0.2)
                load.more()
                events.look()
            requests, failed = load.end()
        refused = [line["text"] for line in daemon.logs("gw") if "was answered" in line["text"]]
        return {"rounds": rounds, "requests": requests, "failed": sum(failed.values()),
                "wrk": failed, "events": events.counts(ill.where),
                "events_of_the_other": events.counts(well.where),
                "longest_of_the_other_ms": round(1000 * watch.longest),
                "first_refused": refused[:5],
                "out_of_order": events.out_of_order()}


def try_changes(daemon, rounds):
    with contextlib.ExitStack() as stack:
        stays, comes = [BackProcess() for _ in range(2)]
        for each in (stays, comes):
            stack.callback(each.kill)
        authority = Authority(daemon.folder / "tls")
        certificate, key = authority.issue("localhost")
        [url] = daemon.create("proxy", "gw", listen=["https://127.0.0.1:0"], cert=[certificate],
                              key=[key], backend=[stays.where])["endpoints"]
        context = client_context(authority.ca)
        serials = set()

        def ask():
            with urllib.request.urlopen(f"https://localhost:{port_of(url)}/", timeout=30,
                                        context=context) as answer:
                return answer.status, answer.read()

        def serial():
            return ssl.get_server_certificate(("localhost", port_of(url)))

        with visitors(VISITORS, ask) as answers:
            for _ in range(rounds):
                daemon.cli("backends", "gw", "add", comes.where)
                more(answers, 8)
                daemon.cli("backends", "gw", "drain", comes.where)
                daemon.cli("backends", "gw", "remove", comes.where)
                authority.issue("localhost")  # the same files
                daemon.cli("reload", "gw")
                serials.add(serial())
                more(answers, 8)
        return report(rounds, answers, (200, b"ok"), certificates_seen=len(serials))


def tried(what, rounds):
    with tempfile.TemporaryDirectory() as folder:
        daemon = Daemon(pathlib.Path(folder) / "daemon").start()
        try:
            return {"backends": try_backends, "changes": try_changes}[what](daemon, rounds)
        finally:
            daemon.close()


if __name__ == "__main__":
    found = tried(sys.argv[1], int(sys.argv[2]))
    print(json.dumps(found, indent=2))
    sys.exit(1 if found["failed"] or found.get("out_of_order") else 0)
