"""What a proxy's clients notice of backs that fail, and of a proxy that is changed. By hand:

    STRATA_BIN=build/release/strata python3 tests/harness/chaos.py backs 100
    STRATA_BIN=build/release/strata python3 tests/harness/chaos.py changes 100

`backs`: under load, one of two backs is killed, brought again, stopped, woken and slowed, in turn.
`changes`: under load by TLS, a back is added, drained and removed, the proxy's certificate is
replaced and `strata reload` called, in turn. The document on the standard output says what failed.
"""

import collections
import contextlib
import json
import pathlib
import ssl
import sys
import tempfile
import urllib.request

from back_process import BackProcess, more, visitors
from certificates import Authority, client_context
from http_back import get
from strata_daemon import Daemon
from talker import port_of

VISITORS = 4
# What may follow what, of one back's circuit and its checks.
CIRCUIT = {None: {"open"}, "open": {"half-open"}, "half-open": {"open", "closed"},
           "closed": {"open"}}
CHECKS = {None: {"down"}, "down": {"up"}, "up": {"down"}}


class Events:
    """Of one proxy, each once, however often they are looked at."""

    def __init__(self, daemon):
        self.daemon, self.seen = daemon, {}

    def look(self):
        for each in self.daemon.lines("/v1/events"):
            if each["runtime"] == "gw":
                self.seen.setdefault(json.dumps(each, sort_keys=True), each["event"])

    def counts(self):
        return dict(collections.Counter(self.seen.values()))

    def out_of_order(self):
        return [f"{kind} after {before}" for rule in (CIRCUIT, CHECKS)
                for before, kind in pairs(each for each in self.seen.values() if each in rule)
                if kind not in rule[before]]


def pairs(kinds):
    before = None
    for each in kinds:
        yield before, each
        before = each


def report(rounds, answers, expected, **more_of_it):
    failed = [str(each) for each in answers if each != expected]
    return {"rounds": rounds, "requests": len(answers), "failed": len(failed),
            "first_failures": failed[:5], **more_of_it}


def try_backs(daemon, rounds):
    with contextlib.ExitStack() as stack:
        ill, well = [BackProcess() for _ in range(2)]
        for each in (ill, well):
            stack.callback(each.kill)
        [url] = daemon.create("proxy", "gw", listen=["http://127.0.0.1:0"], answer_timeout=0.3,
                              backend=[ill.where, well.where], rest=0.05)["endpoints"]
        port, events = port_of(url), Events(daemon)
        with visitors(VISITORS, lambda: get(port)) as answers:
            for _ in range(rounds):
                ill.kill()
                more(answers)
                ill.start()
                more(answers)
                ill.pause()
                more(answers)
                ill.go_on()
                more(answers)
                ill.be_slow(0.2)
                more(answers)
                events.look()
        return report(rounds, answers, (200, b"ok"), events=events.counts(),
                      out_of_order=events.out_of_order())


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
            return {"backs": try_backs, "changes": try_changes}[what](daemon, rounds)
        finally:
            daemon.close()


if __name__ == "__main__":
    found = tried(sys.argv[1], int(sys.argv[2]))
    print(json.dumps(found, indent=2))
    sys.exit(1 if found["failed"] or found.get("out_of_order") else 0)
