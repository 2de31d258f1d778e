#!/usr/bin/env python3
"""Measures endpoints of raw Ethernet against plain C: frames per second that return from a server
that echoes, or that a pipe forwards, counted by the interface where they arrive, and the CPU per
frame. One common sender sends more than any contender can handle. The contenders take turns.

    +-- strata-e-<pid>-far --+          +-- strata-e-<pid>-near --+
    |  src  =================|==========|================  in     |
    |  dst  =================|==========|================  out    |
    +------------------------+          +-------------------------+
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from harness import links
from harness.comparison import argument_parser, chosen, publish, summarise, take_turns
from harness.goal import Goal
from harness.machine import describe_machine
from harness.measured import Measured
from harness.process import Failure, Process, wait_until

SECONDS = 3.0
SETTLE = 0.5
GOAL = 0.8
ETHERTYPE = "0x88b5"
MACS = {"src": "02:00:00:00:e0:01", "in": "02:00:00:00:e0:02", "out": "02:00:00:00:e0:03",
        "dst": "02:00:00:00:e0:04"}


@dataclass(frozen=True)
class Scenario:
    name: str
    about: str
    arrives: str  # the interface where frames are counted
    size: int
    contenders: dict  # commands by name; they begin with STRATA, PLAIN or RUNTIME

    unit: str = "us/frame"

    @property
    def goals(self):
        """Compares each endpoint with plain C on the same kind of socket."""
        return [Goal("rate", GOAL, base=plain_one, at_least=True, contender=own)
                for own in self.contenders if own.startswith("strata")
                for plain_one in self.contenders if plain_one.startswith("plain")
                if ("xdp" in own) == ("xdp" in plain_one)]


def plain(way, *ends):
    return ["PLAIN", way, *ends]


def echo(size):
    listen = {"strata l2": f"l2://in/{ETHERTYPE}",
              "strata xdp": f"xdp://in/0?ethertype={ETHERTYPE}"}
    return Scenario(
        f"echo {size}", f"a server sends frames of {size} B of payload back", "src", size,
        {"plain simple": plain("simple", "in", "in", "-"),
         "plain batch": plain("batch", "in", "in", "-"),
         "plain xdp": plain("xdp", "in", "in", "-"),
         **{name: ["RUNTIME", "server", "bench", "--mode", "echo", "--listen", url, "-s"]
            for name, url in listen.items()}})


def passed_on(size):
    return Scenario(
        f"pipe {size}", f"frames of {size} B of payload go from one interface to another", "dst",
        size,
        {"plain simple": plain("simple", "in", "out", MACS["dst"]),
         "plain batch": plain("batch", "in", "out", MACS["dst"]),
         "strata l2": ["STRATA", "pipe", f"l2://in/{ETHERTYPE}?dst={MACS['src']}",
                       f"l2://out/{ETHERTYPE}?dst={MACS['dst']}"],
         "plain xdp": plain("xdp", "in", "out", MACS["dst"]),
         "strata xdp": ["STRATA", "pipe",
                        f"xdp://in/0?ethertype={ETHERTYPE}&dst={MACS['src']}",
                        f"xdp://out/0?ethertype={ETHERTYPE}&dst={MACS['dst']}"]})


SCENARIOS = [echo(46), echo(1400), passed_on(46), passed_on(1400)]


class Links:
    """The far and the near ends of the links between two namespaces."""

    def __init__(self, far, near):
        self.far, self.near = far, near
        for one, other in (("src", "in"), ("dst", "out")):
            links.join(links.Interface(far, one, MACS[one]),
                       links.Interface(near, other, MACS[other]))

    def arrived(self, interface):
        return int(links.run(*links.inside(self.far, "cat",
                                           f"/sys/class/net/{interface}/statistics/rx_packets"),
                             stdout=subprocess.PIPE))


class Endpoint(Measured):
    """A running contender, in the near namespace."""

    def __init__(self, name, build_dir, near, folder, words):
        self.name = name
        self._near = near
        folder.mkdir(parents=True)
        log, strata = folder / "log", build_dir / "strata"
        if words[0] == "RUNTIME":
            control = folder / "control.sock"
            self._process = Process(
                links.inside(near, strata, "daemon", "--state-dir", folder / "state", "--socket",
                             control), log)
            environment = {**os.environ, "STRATA_SOCKET": str(control)}
            wait_until(control.exists, f"{name}: no daemon")
            made = subprocess.run([strata, "create", *words[1:]], env=environment, text=True,
                                  capture_output=True, check=False, timeout=30)
            if made.returncode != 0:
                raise Failure(f"{name}: {made.stderr}")
            return
        program = strata if words[0] == "STRATA" else build_dir / "strata-plain-forward"
        self._process = Process(links.inside(near, program, *words[1:]), log)
        time.sleep(SETTLE)

    def stop(self):
        super().stop()
        links.detach_xdp(links.Interface(self._near, "in"))


def measure(ends, build_dir):
    def once(endpoint, scenario):
        sender = subprocess.Popen(
            links.inside(ends.far, build_dir / "strata", "l2", "flood", "src", MACS["in"], "-e",
                         ETHERTYPE, "-s", scenario.size),
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            time.sleep(SETTLE)
            came, spent, began = (ends.arrived(scenario.arrives), endpoint.cpu_us(),
                                  time.monotonic())
            time.sleep(SECONDS)
            took = time.monotonic() - began
            count = ends.arrived(scenario.arrives) - came
            spent = endpoint.cpu_us() - spent
            if sender.poll() is not None:
                raise Failure(f"the sender has ended: {sender.communicate()[1]}")
        finally:
            sender.send_signal(signal.SIGINT)
            sender.wait(timeout=10)
        if count == 0:
            raise Failure(f"{endpoint.name} sends nothing")
        return {"cpu_us": spent / count, "rate": count / took}
    return once


def main():
    wanted = argument_parser(__doc__.split("\n\n", maxsplit=1)[0], SCENARIOS).parse_args()
    if os.geteuid() != 0:
        sys.exit("bench: it makes network namespaces; run it as root")
    build_dir = wanted.build_dir.resolve()
    scenarios = chosen(wanted, SCENARIOS)
    with (links.namespaces("e", "far", "near") as (far, near),
          tempfile.TemporaryDirectory() as folder):
        found = take_turns(
            wanted.repetitions, scenarios, lambda scenario: scenario.contenders,
            lambda name, scenario, place: Endpoint(name, build_dir, near,
                                                   Path(folder) / place.replace(" ", "-"),
                                                   scenario.contenders[name]),
            measure(Links(far, near), build_dir))
    publish({"machine": describe_machine(), "repetitions": wanted.repetitions,
             "scenarios": summarise(found, scenarios, lambda each: each.contenders)}, wanted,
            "endpoints of raw Ethernet", "frames that arrived")


if __name__ == "__main__":
    main()
