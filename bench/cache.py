#!/usr/bin/env python3
"""Measures strata's cache against Redis 7 and Valkey 8: the server's CPU per operation, throughput,
p50 and p99 as redis-benchmark reports them, and memory. The contenders take turns."""

import csv
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from harness.comparison import (argument_parser, chosen, participants, publish, summarise,
                                take_turns, to_before)
from harness.goal import Goal
from harness.machine import describe_machine
from harness.measured import Measured
from harness.process import Failure, Process, free_port, memory, wait_until
from harness.strata_daemon import strata_daemon

CLIENTS = 50
MILLION = 1_000_000


@dataclass(frozen=True)
class Scenario:
    name: str
    about: str
    flags: tuple  # for redis-benchmark; empty: measures the memory of a million keys
    requests: int
    goal: float  # at most this times Redis's CPU per operation, or memory
    before: tuple = ()  # flags of a run that fills the server first
    rate_goal: float | None = None  # at least this times Redis's throughput
    unit: str = "us/op"

    @property
    def goals(self):
        if not self.flags:
            return [Goal("bytes", self.goal, "redis"), *to_before()]
        return [Goal("cpu_us", self.goal, "redis"),
                Goal("rate", self.rate_goal, "redis", at_least=True),
                Goal("p99_ms", 1, "redis"), *to_before()]


def pipelined(test):
    # Only pushed elements can be popped.
    before = ("-t", "lpush", "-P", "100", "-n", str(MILLION)) if test == "lpop" else ()
    return Scenario(f"p100 {test}", f"{test.upper()}, pipelines of 100", ("-t", test, "-P", "100"),
                    MILLION, 0.25, before, rate_goal=3)


SCRIPT = "return redis.call('INCRBY', KEYS[1], ARGV[1])"
RANDOM = ("-r", str(MILLION), "-d", "32")
SCENARIOS = [
    *map(pipelined, ("set", "get", "lpush", "lpop", "sadd", "hset")),
    Scenario("p1 set", "SET, one at a time", ("-t", "set"), 200_000, 0.8),
    Scenario("p1 get", "GET, one at a time", ("-t", "get"), 200_000, 0.8),
    Scenario("16k set", "SET of 16 KiB, one at a time", ("-t", "set", "-d", "16384"), 100_000, 0.6),
    Scenario("16k get", "GET of 16 KiB, one at a time", ("-t", "get", "-d", "16384"), 100_000, 0.6,
             before=("-t", "set", "-d", "16384", "-n", "1000")),
    Scenario("random set", "SET of a million keys, pipelines of 100",
             ("-t", "set", "-P", "100", *RANDOM), MILLION, 0.3),
    Scenario("random get", "GET of a million keys, pipelines of 100",
             ("-t", "get", "-P", "100", *RANDOM), MILLION, 0.3,
             before=("-t", "set", "-P", "100", "-n", str(2 * MILLION), *RANDOM)),
    Scenario("p1 eval", "EVAL of a small script, one at a time",
             ("EVAL", SCRIPT, "1", "number", "2"), 200_000, 0.8),
    Scenario("p100 eval", "EVAL of a small script, pipelines of 100",
             ("-P", "100", "EVAL", SCRIPT, "1", "number", "2"), 500_000, 0.6),
    Scenario("memory", "a million keys of 16 bytes with values of 32", (), MILLION, 0.8,
             unit="B/key"),
]


class Server(Measured):
    """A running contender."""

    def __init__(self, name, program, folder):
        self.name = name
        self.port = free_port()
        folder.mkdir()
        start = self._start_strata if name.endswith("strata") else self._start_redis
        self._process = start(program, folder)
        wait_until(self._answers, f"{name} does not answer")

    def _start_redis(self, program, folder):
        argv = [program, "--bind", "127.0.0.1", "--port", self.port, "--save", "",
                "--appendonly", "no", "--dir", folder]
        return Process(argv, folder / "log")

    def _start_strata(self, program, folder):
        words = ["cache", "bench", "--listen", f"tcp://127.0.0.1:{self.port}", "--resp"]
        return strata_daemon(program, folder, words)

    def _answers(self):
        done = subprocess.run(["redis-cli", "-p", str(self.port), "PING"], capture_output=True,
                              check=False, timeout=10)
        return done.stdout.strip() == b"PONG"

    def memory(self):
        return memory(self._process.pid)["rss"]

    def load(self, *flags):
        argv = ["redis-benchmark", "-p", self.port, "-c", CLIENTS, "--csv", *flags]
        done = subprocess.run([str(word) for word in argv], capture_output=True, text=True,
                              timeout=300, check=False)
        lines = list(csv.DictReader(done.stdout.splitlines()))
        if done.returncode != 0 or len(lines) != 1:
            why = done.stderr.strip()[-200:]
            raise Failure(f"redis-benchmark against {self.name} failed: {why}")
        return lines[0]


def measure(server, scenario, scale):
    if not scenario.flags:
        return measure_memory(server)
    if scenario.before:
        server.load(*scenario.before)
    requests = max(1000, int(scenario.requests * scale))
    began = server.cpu_us()
    line = server.load("-n", requests, *scenario.flags)
    return {
        "cpu_us": (server.cpu_us() - began) / requests,
        "rate": float(line["rps"]),
        "p50_ms": float(line["p50_latency_ms"]),
        "p99_ms": float(line["p99_latency_ms"]),
    }


def measure_memory(server):
    script = b"".join(
        b"*3\r\n$3\r\nSET\r\n$16\r\nkey:%012d\r\n$32\r\n%s\r\n" % (i, b"v" * 32)
        for i in range(MILLION)
    )
    before = server.memory()
    subprocess.run(["redis-cli", "-p", str(server.port), "--pipe"], input=script, check=True,
                   capture_output=True, timeout=120)
    return {"bytes": (server.memory() - before) / MILLION}


def parse_arguments():
    parser = argument_parser(__doc__, SCENARIOS)
    parser.add_argument("--scale", type=float, default=1, help="times the usual number of requests")
    parser.add_argument("--valkey", default=shutil.which("valkey-server"),
                        help="the program, which Debian has in bookworm-backports")
    return parser.parse_args()


def main():
    wanted = parse_arguments()
    programs = {"strata": wanted.build_dir / "strata", "before-strata": wanted.before,
                "redis": shutil.which("redis-server"), "valkey": wanted.valkey}
    for name in [name for name in ("redis", "valkey") if not programs[name]]:
        print(f"{name}-server is not installed: it does not take part", file=sys.stderr)
        del programs[name]
    contenders = participants(wanted, [name for name in programs if name != "before-strata"])
    scenarios = chosen(wanted, SCENARIOS)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            found = take_turns(
                wanted.repetitions, scenarios, lambda _: contenders,
                lambda name, _, place: Server(name, programs[name], folder / place),
                lambda server, scenario: measure(server, scenario, wanted.scale))
        except Failure as failure:
            sys.exit(f"bench-cache: {failure}")
    publish({"machine": describe_machine(), "repetitions": wanted.repetitions,
             "scenarios": summarise(found, scenarios, lambda _: contenders)}, wanted, "bench-cache",
            f"{CLIENTS} clients; CPU and memory are the server's alone")


if __name__ == "__main__":
    main()
