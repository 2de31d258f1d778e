#!/usr/bin/env python3
"""Measures strata's cache against Redis 7 and Valkey 8: the server's CPU per operation, throughput,
p50 and p99 as redis-benchmark reports them, and memory. The contenders take turns."""

import csv
import os
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
SINGLE = "single-strata"  # with one loop, where the others have several threads
MILLION = 1_000_000


@dataclass(frozen=True)
class Filling:
    """What a scenario of memory fills a server with."""

    kind: str
    keys: int
    elements: int  # of each key

    def commands(self):
        """Yields commands of at most 1,000 elements each."""
        for key in range(self.keys):
            name = f"key:{key:012}"
            for first in range(0, self.elements, 1000):
                numbers = range(first, min(first + 1000, self.elements))
                yield from ADDING[self.kind](name, numbers)


def adding(command, *words_of):
    """Returns what adds elements to a key with one command; each of `words_of` makes one word of
    an element from its number."""
    return lambda key, numbers: [[command, key, *(make(i) for i in numbers for make in words_of)]]


def member(i):
    return f"member:{i:09}"


def value(_):
    return "v" * 32


ADDING = {
    "string": lambda key, _: [["SET", key, value(0)]],
    "hash": adding("HSET", member, value),
    "list": adding("RPUSH", value),
    "set": adding("SADD", member),
    "number set": adding("SADD", str),
    "sorted set": adding("ZADD", str, member),
    "stream": lambda key, numbers: [["XADD", key, "*", "field", value(i)] for i in numbers],
}


@dataclass(frozen=True)
class Scenario:
    name: str
    about: str
    flags: tuple  # for redis-benchmark
    requests: int
    goal: float  # at most this times Redis's CPU per operation, or memory
    before: tuple = ()  # runs that fill the server first: the flags of each
    rate_goal: float | None = None  # at least this times Redis's throughput
    unit: str = "us/op"
    secure: bool = False
    threads: int = 1  # loops of strata, io-threads of the others
    filling: Filling | None = None  # set: measures the memory that it takes

    @property
    def goals(self):
        if self.filling:
            return [Goal("bytes", self.goal, "redis"), *to_before()]
        if self.threads > 1:
            return [Goal("rate", self.rate_goal, SINGLE, at_least=True),
                    Goal("cpu_us", None, SINGLE), Goal("rate", None, "redis")]
        return [Goal("cpu_us", self.goal, "redis"),
                Goal("rate", self.rate_goal, "redis", at_least=True),
                Goal("p99_ms", 1, "redis"), *to_before()]

    def contenders(self, names):
        return [*names, SINGLE] if self.threads > 1 and "strata" in names else names


def pipelined(test):
    # Only pushed elements can be popped.
    before = (("-t", "lpush", *P100, "-n", str(MILLION)),) if test == "lpop" else ()
    return Scenario(f"p100 {test}", f"{test.upper()}, pipelines of 100", ("-t", test, *P100),
                    MILLION, 0.25, before, rate_goal=3)


def many(name, words, before=(), goal=0.4):
    """A command whose words differ at random, in pipelines of 100."""
    return Scenario(f"p100 {name}", f"{words[0]}, pipelines of 100",
                    (*P100, "-r", "100000", *words), 500_000, goal, before)


def memory_of(kind, keys):
    elements = MILLION // keys
    size = "" if kind == "string" else f" of {elements:,}"
    return Scenario(f"memory {kind}{size}", f"{keys:,} x {kind}{size}", (), 0, 0.7,
                    unit="B/element", filling=Filling(kind, keys, elements))


P100 = ("-P", "100")
SCRIPT = "return redis.call('INCRBY', KEYS[1], ARGV[1])"
RANDOM = ("-r", str(MILLION), "-d", "32")
POINT = ("__rand_int__e-5", "__rand_int__e-5")  # up to a degree
WITH_SCORES = ((*P100, "-r", "100000", "-n", "200000", "ZADD", "z", "__rand_int__",
                "m:__rand_int__"),)
WITH_ENTRIES = (("-c", "1", "-n", "1", "XGROUP", "CREATE", "s", "g", "0", "MKSTREAM"),
                (*P100, "-n", "600000", "XADD", "s", "*", "field", "value"))
WITH_POINTS = ((*P100, "-r", "100000", "-n", "100000", "GEOADD", "g", *POINT, "m:__rand_int__"),)
SCENARIOS = [
    *map(pipelined, ("set", "get", "lpush", "lpop", "sadd", "hset")),
    Scenario("p1 set", "SET, one at a time", ("-t", "set"), 200_000, 0.85),
    Scenario("p1 get", "GET, one at a time", ("-t", "get"), 200_000, 0.85),
    Scenario("tls set", "SET with TLS, one at a time", ("-t", "set"), 200_000, 0.9, secure=True),
    Scenario("tls get", "GET with TLS, one at a time", ("-t", "get"), 200_000, 0.9, secure=True),
    Scenario("16k set", "SET of 16 KiB, one at a time", ("-t", "set", "-d", "16384"), 100_000, 0.6),
    Scenario("16k get", "GET of 16 KiB, one at a time", ("-t", "get", "-d", "16384"), 100_000, 0.6,
             before=(("-t", "set", "-d", "16384", "-n", "1000"),)),
    Scenario("random set", "SET of a million keys, pipelines of 100",
             ("-t", "set", *P100, *RANDOM), MILLION, 0.3),
    Scenario("random get", "GET of a million keys, pipelines of 100",
             ("-t", "get", *P100, *RANDOM), MILLION, 0.3,
             before=(("-t", "set", *P100, "-n", str(2 * MILLION), *RANDOM),)),
    Scenario("p1 eval", "EVAL of a small script, one at a time",
             ("EVAL", SCRIPT, "1", "number", "2"), 200_000, 0.8),
    Scenario("p100 eval", "EVAL of a small script, pipelines of 100",
             (*P100, "EVAL", SCRIPT, "1", "number", "2"), 500_000, 0.6),
    many("zadd", ("ZADD", "z", "__rand_int__", "m:__rand_int__")),
    many("zrangebyscore", ("ZRANGEBYSCORE", "z", "__rand_int__", "+inf", "LIMIT", "0", "10"),
         WITH_SCORES),
    many("xadd", ("XADD", "s", "MAXLEN", "~", "100000", "*", "field", "value")),
    many("xreadgroup", ("XREADGROUP", "GROUP", "g", "c", "COUNT", "1", "STREAMS", "s", ">"),
         WITH_ENTRIES),
    many("geoadd", ("GEOADD", "g", *POINT, "m:__rand_int__")),
    many("geosearch", ("GEOSEARCH", "g", "FROMLONLAT", *POINT, "BYRADIUS", "1", "km"),
         WITH_POINTS),
    many("pfadd", ("PFADD", "h", "m:__rand_int__")),
    *(Scenario(f"threads p1 {test}", f"{test.upper()}, one at a time, two threads", ("-t", test),
               200_000, 0, rate_goal=1.4, threads=2) for test in ("set", "get")),
    Scenario("threads p100 get", "GET, pipelines of 100, two threads", ("-t", "get", *P100),
             MILLION, 0, threads=2),
    memory_of("string", MILLION),
    *(memory_of(kind, keys) for kind in ADDING if kind != "string" for keys in (100_000, 1)),
]


class Server(Measured):
    """A running contender."""

    def __init__(self, name, tools, folder, scenario):
        self.name = name
        self.port = free_port()
        self._tools = tools
        self._security = ["--tls", "--insecure"] if scenario.secure else []
        self._threads = 1 if name == SINGLE else scenario.threads
        folder.mkdir()
        start = self._start_strata if name.endswith("strata") else self._start_redis
        self._process = start(tools.programs[name], folder)
        wait_until(self._answers, f"{name} does not answer")

    def _start_redis(self, program, folder):
        argv = [program, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", folder]
        if self._security:
            argv += ["--port", "0", "--tls-port", self.port, "--tls-auth-clients", "no",
                     "--tls-cert-file", self._tools.certificate, "--tls-key-file", self._tools.key,
                     "--tls-ca-cert-file", self._tools.certificate]
        else:
            argv += ["--port", self.port]
        if self._threads > 1:
            argv += ["--io-threads", self._threads, "--io-threads-do-reads", "yes"]
        return Process(argv, folder / "log")

    def _start_strata(self, program, folder):
        scheme = "tls" if self._security else "tcp"
        words = ["cache", "bench", "--listen", f"{scheme}://127.0.0.1:{self.port}", "--resp"]
        if self._threads > 1:
            words += ["--threads", str(self._threads)]
        if self._security:
            words += ["--cert", self._tools.certificate, "--key", self._tools.key]
        return strata_daemon(program, folder, words)

    def _answers(self):
        done = subprocess.run(["redis-cli", "-p", str(self.port), *self._security, "PING"],
                              capture_output=True, check=False, timeout=10)
        return done.stdout.strip() == b"PONG"

    def memory(self):
        return memory(self._process.pid)["rss"]

    def load(self, *flags):
        argv = ["redis-benchmark", "-p", self.port, "-c", CLIENTS, "--csv", *self._security, *flags]
        done = subprocess.run([str(word) for word in argv], capture_output=True, text=True,
                              timeout=300, check=False)
        lines = list(csv.DictReader(done.stdout.splitlines()))
        if done.returncode != 0 or len(lines) != 1:
            why = done.stderr.strip()[-200:]
            raise Failure(f"redis-benchmark against {self.name} failed: {why}")
        return lines[0]

    def fill(self, filling):
        """Fails unless the server accepts every command."""
        count, commands = 0, bytearray()
        for words in filling.commands():
            count += 1
            commands += b"*%d\r\n" % len(words)
            for word in words:
                commands += b"$%d\r\n%s\r\n" % (len(word), word.encode())
        done = subprocess.run(["redis-cli", "-p", str(self.port), "--pipe"], input=commands,
                              check=True, capture_output=True, timeout=120)
        if b"errors: 0, replies: %d" % count not in done.stdout:
            raise Failure(f"{self.name} refused commands: {done.stdout.decode()[-200:]}")


def measure(server, scenario, scale):
    if scenario.filling:
        return measure_memory(server, scenario.filling)
    for flags in scenario.before:
        server.load(*flags)
    requests = max(1000, int(scenario.requests * scale))
    began = server.cpu_us()
    line = server.load("-n", requests, *scenario.flags)
    return {
        "cpu_us": (server.cpu_us() - began) / requests,
        "rate": float(line["rps"]),
        "p50_ms": float(line["p50_latency_ms"]),
        "p99_ms": float(line["p99_latency_ms"]),
    }


def measure_memory(server, filling):
    before = server.memory()
    server.fill(filling)
    return {"bytes": (server.memory() - before) / (filling.keys * filling.elements)}


@dataclass(frozen=True)
class Tools:
    programs: dict  # by contender
    certificate: Path
    key: Path


def make_tools(programs, folder):
    env = {**os.environ, "STRATA_CONFIG_DIR": str(folder / "config")}
    subprocess.run([programs["strata"], "cert", "make", "localhost", "127.0.0.1", "-o", folder],
                   env=env, check=True, capture_output=True)
    return Tools(programs, folder / "localhost.pem", folder / "localhost-key.pem")


def parse_arguments():
    parser = argument_parser(__doc__, SCENARIOS)
    parser.add_argument("--scale", type=float, default=1, help="times the usual number of requests")
    parser.add_argument("--valkey", default=shutil.which("valkey-server"),
                        help="the program, which Debian has in bookworm-backports")
    return parser.parse_args()


def main():
    wanted = parse_arguments()
    strata = wanted.build_dir / "strata"
    programs = {"strata": strata, SINGLE: strata, "before-strata": wanted.before,
                "redis": shutil.which("redis-server"), "valkey": wanted.valkey}
    for name in [name for name in ("redis", "valkey") if not programs[name]]:
        print(f"{name}-server is not installed: it does not take part", file=sys.stderr)
        del programs[name]
    contenders = participants(wanted, [name for name in programs
                                       if name not in ("before-strata", SINGLE)])
    scenarios = chosen(wanted, SCENARIOS)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tools = make_tools(programs, folder)
        try:
            found = take_turns(
                wanted.repetitions, scenarios,
                lambda scenario: scenario.contenders(contenders),
                lambda name, scenario, place: Server(name, tools, folder / place, scenario),
                lambda server, scenario: measure(server, scenario, wanted.scale))
        except Failure as failure:
            sys.exit(f"bench-cache: {failure}")
    summary = summarise(found, scenarios, lambda scenario: scenario.contenders(contenders))
    publish({"machine": describe_machine(), "repetitions": wanted.repetitions,
             "scenarios": summary}, wanted, "bench-cache",
            f"{CLIENTS} clients; CPU and memory are the server's alone")


if __name__ == "__main__":
    main()
