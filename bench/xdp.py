#!/usr/bin/env python3
"""Measures the AF_XDP loops of each language against each other, and against plain C on libxdp's
xsk.h: packets sent and received per second, over a veth pair of its own. The contenders take turns.

    +-- strata-x-<pid>-a --+            +-- strata-x-<pid>-b --+
    |  vethA  =============|============|=============  vethB  |
    +----------------------+            +----------------------+
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from harness import interval, links
from harness.goal import Goal, goal_line, judge, summarise_runs
from harness.machine import describe_machine
from harness.progress import Progress

SOURCE = Path(__file__).resolve().parents[1]
SENT = re.compile(r"\[udp_pkt_gen\] (\d+) \(pkts\) ([\d.]+) \(s\) (\d+) \(pps\)")
WINDOWS = re.compile(r"\[rxdrop\] max: (\d+) \(pps\) min: (\d+) \(pps\)")
ENDS = ["-dmac", "ff:ff:ff:ff:ff:ff", "-smac", "02:00:00:00:00:01", "-dip", "192.0.2.2:9000",
        "-sip", "192.0.2.1:9000"]
GOALS = [Goal(figure, limit, base=base, at_least=True, contender=one)
         for one, base, limit in (("ocaml", "c++", 0.97), ("ocaml", "plain c", 0.95),
                                  ("c++", "plain c", 0.95), ("rust", "plain c", 0.95))
         for figure in ("send", "receive")]


@dataclass(frozen=True)
class Contender:
    name: str
    send: list  # COUNT stands for the count
    receive: list


def build(build_dir, work):
    """Builds the tools of OCaml and Rust against the C library of that build."""
    def run(*command, **environment):
        subprocess.run([str(word) for word in command], cwd=SOURCE, check=True,
                       stdout=subprocess.DEVNULL, env={**os.environ, **environment})
    prefix = work / "prefix"
    run("cmake", "--install", build_dir, "--prefix", prefix, "--component", "c")
    found = next(prefix.rglob("strata-c.pc"))
    library = str(found.parents[1])
    paths = {"PKG_CONFIG_PATH": str(found.parent), "LD_LIBRARY_PATH": library,
             "LIBRARY_PATH": library}
    run("dune", "build", "--root", "bindings/ocaml", "--build-dir", work / "ocaml",
        "--profile", "release", "./bench/udp_pkt_gen.exe", "./bench/rxdrop.exe", **paths)
    run("cargo", "build", "--release", "--offline", "--examples", "--quiet", "--manifest-path",
        "bindings/rust/Cargo.toml", "--target-dir", work / "rust", **paths)
    return library


def contenders(build_dir, work):
    strata, plain = build_dir / "strata", build_dir / "strata-plain-xdp"
    ocaml, rust = work / "ocaml/default/bench", work / "rust/release/examples"

    def tools(send, receive):
        return ([send, "-d", "vethA", "-q", "0", "-c", "COUNT", *ENDS],
                [receive, "-d", "vethB", "-q", "0", "-c", "COUNT"])
    return [
        Contender("plain c", [plain, "gen", "vethA", "0", "COUNT"],
                  [plain, "drop", "vethB", "0", "COUNT"]),
        Contender("c++", [strata, "xdp", "gen", "vethA", "-c", "COUNT"],
                  [strata, "xdp", "drop", "vethB", "-c", "COUNT", "--timeout", "1s"]),
        Contender("ocaml", *tools(ocaml / "udp_pkt_gen.exe", ocaml / "rxdrop.exe")),
        Contender("rust", *tools(rust / "udp_pkt_gen", rust / "rxdrop")),
    ]


class Link:
    def __init__(self, a, b, library):
        self.a, self.b = links.Interface(a, "vethA"), links.Interface(b, "vethB")
        self.environment = {**os.environ, "LD_LIBRARY_PATH": library}
        links.join(self.a, self.b)

    def start(self, end, command, count):
        words = [str(count) if word == "COUNT" else word for word in command]
        return subprocess.Popen(links.inside(end.space, *words), env=self.environment, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def attached(self):
        return "xdp" in links.run("ip", "-n", self.b.space, "link", "show", self.b.name,
                                  stdout=subprocess.PIPE)


def output_of(process):
    out, errors = process.communicate(timeout=120)
    if process.returncode != 0:
        raise SystemExit(f"bench: {process.args} ended with {process.returncode}: {errors}")
    return out


def sent_by(link, who, count):
    """Returns the rate of sending. Nothing receives the packets: the far end's stack drops them."""
    return int(SENT.search(output_of(link.start(link.a, who.send, count)))[3])


def received_by(link, who, sender, count):
    """Returns the rate of receiving from a common sender. Dropped packets do not count."""
    receiving = link.start(link.b, who.receive, count)
    deadline = time.monotonic() + 30
    while not link.attached():
        if time.monotonic() > deadline or receiving.poll() is not None:
            raise SystemExit(f"bench: {who.name} attached no program: {receiving.communicate()[1]}")
        time.sleep(0.02)
    time.sleep(0.3)
    output_of(link.start(link.a, sender.send, count))
    out = output_of(receiving)
    links.detach_xdp(link.b)
    found = WINDOWS.search(out) or re.search(r"\[rxdrop\] \d+ \(pkts\) [\d.]+ \(s\) (\d+)", out)
    return int(found[1])


def measure(arguments):
    build_dir = arguments.build_dir.resolve()
    work = build_dir / "bench-xdp"
    library = build(build_dir, work)
    who = contenders(build_dir, work)
    sender = next(each for each in who if each.name == "c++")
    figures = {each.name: [] for each in who}
    bar = Progress(arguments.runs * len(who) * 2)
    with links.namespaces("x", "a", "b") as (a, b):
        link = Link(a, b, library)
        for run in range(arguments.runs):
            # Each run begins with another contender.
            for each in (*who[run % len(who):], *who[:run % len(who)]):
                bar.step(f"{each.name} sends")
                sent = sent_by(link, each, arguments.count)
                bar.step(f"{each.name} receives")
                figures[each.name].append(
                    {"send": sent, "receive": received_by(link, each, sender, arguments.count)})
    bar.close()
    contenders_found = {name: summarise_runs(runs) for name, runs in figures.items()}
    return {"machine": describe_machine(), "count": arguments.count, "runs": arguments.runs,
            "confidence": interval.confidence(arguments.runs), "contenders": contenders_found,
            "goals": judge(GOALS, contenders_found)}


def show(document):
    print(f"{'':10}{'sent/s':>34}{'received/s':>34}")
    for name, figures in document["contenders"].items():
        cells = "".join(f"{interval.text(figures[way], 0):>34}" for way in ("send", "receive"))
        print(f"{name:10}{cells}")
    print(interval.meaning(document["runs"]))
    for each in document["goals"]:
        print(goal_line(each, each["figure"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--build-dir", type=Path, default=SOURCE / "build/release")
    parser.add_argument("--runs", type=int, default=15,
                        help=f"of each, which take turns; below {interval.LEAST_RUNS} nothing is "
                             "decided")
    parser.add_argument("--count", type=int, default=200_000)
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
