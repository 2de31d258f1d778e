#!/usr/bin/env python3
"""Measures one netlink exchange by plain C, libnl, neli, and strata's library in C++ and in Rust:
the clients of clients/, which take turns. Without --family the other end is the kernel's
controller, else a family that speaks kernel/uapi/strata_echo.h."""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from harness.machine import describe_machine
from harness.progress import Progress

SOURCE = Path(__file__).resolve().parents[1]
CLIENTS = ["pure", "libnl", "neli", "cpp", "rust"]
OURS, PEER = ["cpp", "rust"], "pure"
TIMES = [("whole_ns", "connect + resolve + exchange"), ("exchange_ns", "exchange alone")]
ON_SOCKET = re.compile(r"^(socket|bind|connect|send\w*|recv\w*|[gs]etsockopt|getsockname)\(", re.M)
MOST_CALLS = 25


def other_end(arguments):
    return ["--family", arguments.family] if arguments.family else ["--controller"]


def output_of(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          timeout=600)
    if done.returncode != 0:
        sys.exit(f"bench: {' '.join(map(str, command))} ended with {done.returncode}: "
                 f"{done.stderr.strip()}")
    return done.stdout


def system_calls(client, arguments):
    """From exec to exit: all of them, and those on the socket."""
    with tempfile.NamedTemporaryFile() as trace:
        output_of("strace", "-f", "-o", trace.name, client, *other_end(arguments), "once")
        lines = re.sub(r"^\d+ +", "", Path(trace.name).read_text(), flags=re.M)
    calls = re.findall(r"^\w+\(", lines, re.M)
    return {"all": len(calls), "on_socket": len(ON_SOCKET.findall(lines))}


def measure(arguments):
    folder = arguments.clients
    runs = {name: [] for name in CLIENTS}
    bar = Progress(arguments.repetitions * len(CLIENTS))
    try:
        for _ in range(arguments.repetitions):
            for name in CLIENTS:
                bar.step(name)
                runs[name].append(json.loads(output_of(folder / name, *other_end(arguments), "time",
                                                       arguments.times)))
    finally:
        bar.close()

    def figures(name):
        times = {key: {part: statistics.median(run[key][part] for run in runs[name])
                       for part in ("median", "p99")} for key, _ in TIMES}
        return {"client": name, **times, "system_calls": system_calls(folder / name, arguments)}
    return {"machine": describe_machine(), "other_end": arguments.family or "nlctrl",
            "times": arguments.times, "repetitions": arguments.repetitions,
            "clients": [figures(name) for name in CLIENTS]}


def show(document):
    print(f"us, median and p99 of {document['times']}, medians of {document['repetitions']} runs; "
          f"the other end: {document['other_end']}")
    print(f"{'':8}{TIMES[0][1]:>30}{TIMES[1][1]:>22}{'system calls':>16}{'on the socket':>16}")
    by_name = {row["client"]: row for row in document["clients"]}
    for name, row in by_name.items():
        cells = [f"{row[key]['median'] / 1000:.2f} / {row[key]['p99'] / 1000:.2f}"
                 for key, _ in TIMES]
        print(f"{name:8}{cells[0]:>30}{cells[1]:>22}{row['system_calls']['all']:>16}"
              f"{row['system_calls']['on_socket']:>16}")
    for ours in OURS:
        for key, what in TIMES:
            ratio = by_name[ours][key]["median"] / by_name[PEER][key]["median"]
            print(f"{what}: {ours} to {PEER}: {ratio:.3f} (goal 1.0: "
                  f"{'reached' if ratio <= 1.0 else 'MISSED'})")
        calls = by_name[ours]["system_calls"]["all"]
        print(f"system calls of {ours}: {calls} (goal below {MOST_CALLS}: "
              f"{'reached' if calls < MOST_CALLS else 'MISSED'})")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--clients", type=Path, help="where they are built; else they are built")
    parser.add_argument("--family", help="of a module; else the controller")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--times", type=int, default=100_000)
    parser.add_argument("--format", choices=["table", "json"], default="table")
    arguments = parser.parse_args()
    if arguments.clients is None:
        arguments.clients = SOURCE / "build/clients"
        subprocess.run(["make", "-s", "-C", SOURCE / "clients", f"OUT={arguments.clients}"],
                       check=True, env={**os.environ, "MAKEFLAGS": ""})
    document = measure(arguments)
    if arguments.format == "json":
        print(json.dumps(document, indent=2))
    else:
        show(document)


if __name__ == "__main__":
    main()
