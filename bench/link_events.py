#!/usr/bin/env python3
"""Measures how soon a running server on l2:// notices a change of its interface: from shortly
before `ip` is asked to change it until the line in the server's log, by the log's clock.

    +-- strata-e-<pid>-a --+            +-- strata-e-<pid>-b --+
    |  vethA, the server  =|============|=  vethB              |
    +----------------------+            +----------------------+

The figures include the time that `ip` and the kernel take. The log's clock counts whole
milliseconds, and the end of the millisecond is taken: a figure may be up to one too large.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

from harness import links
from harness.machine import describe_machine
from harness.progress import Progress

SOURCE = Path(__file__).resolve().parents[1]
GOAL_MS = 10
PATIENCE_S = 10
# In this order, the last step restores the state before the first one.
STEPS = [
    ("down", ["link set vethA down"], "vethA is down"),
    ("up", ["link set vethA up"], "vethA is up"),
    ("rename", ["link set vethA name field0"], "vethA is called field0 now"),
    ("MTU", ["link set field0 mtu 1400"], "field0 has an MTU of 1400 bytes now"),
    ("removal", ["link del field0"], "the interface 'vethA' was removed"),
    ("made again", ["link add vethA type veth peer vethB netns PEER", "link set vethA up"],
     "the interface 'vethA' has appeared"),
]


class Bench:
    def __init__(self, strata, folder, a, b):
        self.strata, self.a, self.b = strata, a, b
        # Reads one command per line, so that no figure includes a program's start.
        self.ip = subprocess.Popen(["ip", "-n", self.a, "-force", "-batch", "-"], text=True,
                                   stdin=subprocess.PIPE)
        self.make_again()
        self.environment = {**os.environ, "STRATA_SOCKET": str(folder / "socket"),
                            "STRATA_STATE_DIR": str(folder / "state")}
        self.daemon = subprocess.Popen(links.inside(a, strata, "daemon"), env=self.environment,
                                       stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + PATIENCE_S
        while not (folder / "socket").exists():
            if time.monotonic() > deadline or self.daemon.poll() is not None:
                sys.exit("bench: the daemon did not start")
            time.sleep(0.02)
        links.run(strata, "create", "server", "s", "--listen", "l2://vethA", "-s",
                  env=self.environment, stdout=subprocess.DEVNULL)

    def change(self, lines):
        for line in lines:
            self.ip.stdin.write(line.replace("PEER", self.b) + "\n")
        self.ip.stdin.flush()

    def make_again(self):
        """Restores the veth as the first step needs it."""
        self.change(STEPS[-1][1])
        deadline = time.monotonic() + PATIENCE_S
        while subprocess.run(["ip", "-n", self.b, "link", "set", "vethB", "up"], check=False,
                             stderr=subprocess.DEVNULL).returncode != 0:
            if time.monotonic() > deadline:
                sys.exit("bench: there is no veth")
            time.sleep(0.02)

    def lines(self):
        shown = links.run(self.strata, "logs", "s", "--format", "json", env=self.environment,
                          stdout=subprocess.PIPE)
        return [json.loads(line) for line in shown.splitlines()]

    def step(self, lines, wanted):
        """Returns the milliseconds until the log reported it."""
        known = len(self.lines())
        begin = time.time()
        if lines is STEPS[-1][1]:
            self.make_again()
        else:
            self.change(lines)
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            for line in self.lines()[known:]:
                if wanted in line["text"]:
                    said = datetime.fromisoformat(line["time"].replace("Z", "+00:00"))
                    return (said.timestamp() - begin) * 1000 + 1
            time.sleep(0.01)
        sys.exit(f"bench: the log did not say '{wanted}' in {PATIENCE_S} s")

    def close(self):
        self.daemon.terminate()
        self.daemon.wait(30)
        self.ip.stdin.close()
        self.ip.wait(30)


def measure(arguments):
    figures = {name: [] for name, _, _ in STEPS}
    bar = Progress(arguments.rounds * len(STEPS))
    with (links.namespaces("e", "a", "b") as (a, b), tempfile.TemporaryDirectory() as folder):
        bench = Bench(arguments.build_dir.resolve() / "strata", Path(folder), a, b)
        try:
            for _ in range(arguments.rounds):
                for name, lines, wanted in STEPS:
                    bar.step(name)
                    figures[name].append(bench.step(lines, wanted))
        finally:
            bar.close()
            bench.close()
    return {"machine": describe_machine(), "rounds": arguments.rounds, "goal_ms": GOAL_MS,
            "results": [{"event": name, "median_ms": statistics.median(times),
                         "most_ms": max(times),
                         "in_time": sum(each < GOAL_MS for each in times)}
                        for name, times in figures.items()]}


def show(document):
    print(f"{'':12}{'median ms':>10}{'most ms':>10}  below {document['goal_ms']} ms")
    for row in document["results"]:
        print(f"{row['event']:12}{row['median_ms']:>10.1f}{row['most_ms']:>10.1f}  "
              f"{row['in_time']} of {document['rounds']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--build-dir", type=Path, default=SOURCE / "build/release")
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--format", choices=["table", "json"], default="table")
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("bench: it makes network namespaces; run it as root")
    document = measure(arguments)
    if arguments.format == "json":
        print(json.dumps(document, indent=2))
    else:
        show(document)


if __name__ == "__main__":
    main()
