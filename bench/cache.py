#!/usr/bin/env python3
"""Measures strata's cache against Redis 7 and Valkey 8: the server's CPU per operation, throughput,
p50 and p99 as the load generator reports them, and memory. The contenders take turns."""

import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
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
class Load:
    """A command that clients repeat. NUMBER in its words is another number each time."""

    words: tuple
    requests: int
    pipeline: int = 1
    numbers: int = 0  # NUMBER is below
    clients: int = CLIENTS

    def scaled(self, scale):
        return replace(self, requests=max(1000, int(self.requests * scale)))


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
    goal: float  # at most this times Redis's CPU per operation, or memory
    load: Load | None = None
    before: tuple = ()  # loads that fill the server first
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


def pipelined(words, before=()):
    return Scenario(f"p100 {words[0].lower()}", f"{words[0]}, pipelines of 100", 0.25,
                    Load(words, 2 * MILLION, 100), before, rate_goal=3)


def single(prefix, about, words, goal, **more):
    return Scenario(f"{prefix} {words[0].lower()}", f"{words[0]}{about}, one at a time", goal,
                    Load(words, 200_000), **more)


def many(words, before=(), goal=0.4):
    """A command whose words differ at random, in pipelines of 100."""
    return Scenario(f"p100 {words[0].lower()}", f"{words[0]}, pipelines of 100", goal,
                    Load(words, 500_000, 100, 100_000), before)


def threaded(prefix, words, about, load, rate_goal=None):
    return Scenario(f"threads {prefix} {words[0].lower()}", f"{words[0]}, {about}, two threads", 0,
                    load, rate_goal=rate_goal, threads=2)


def memory_of(kind, keys):
    elements = MILLION // keys
    size = "" if kind == "string" else f" of {elements:,}"
    return Scenario(f"memory {kind}{size}", f"{keys:,} x {kind}{size}", 0.7, unit="B/element",
                    filling=Filling(kind, keys, elements))


NUMBER = "__rand_int__"
KEY = "key:000000000000"
SET = ("SET", KEY, "xxx")
GET = ("GET", KEY)
PUSH = ("LPUSH", "list", "xxx")
LARGE = "x" * 16384
SET_LARGE = ("SET", KEY, LARGE)
SET_RANDOM = ("SET", f"key:{NUMBER}", "v" * 32)
SCRIPT = ("EVAL", "return redis.call('INCRBY', KEYS[1], ARGV[1])", "1", "number", "2")
DEGREES = (f"{NUMBER}e-5", f"{NUMBER}e-5")  # a point, each up to a degree
MEMBER = f"m:{NUMBER}"
ADD_SCORE = ("ZADD", "z", NUMBER, MEMBER)
ADD_POINT = ("GEOADD", "g", *DEGREES, MEMBER)
WITH_KEY = (Load(SET, 1000),)
WITH_ENTRIES = (Load(("XGROUP", "CREATE", "s", "g", "0", "MKSTREAM"), 1, clients=1),
                Load(("XADD", "s", "*", "field", "value"), 600_000, 100))
SCENARIOS = [
    pipelined(SET),
    pipelined(GET, WITH_KEY),
    pipelined(PUSH),
    pipelined(("LPOP", "list"), (Load(PUSH, 2 * MILLION, 100),)),  # only the pushed can be popped
    pipelined(("SADD", "set", "element:000000000000")),
    pipelined(("HSET", "hash", "element:000000000000", "xxx")),
    single("p1", "", SET, 0.85),
    single("p1", "", GET, 0.85, before=WITH_KEY),
    single("tls", " with TLS", SET, 0.9, secure=True),
    single("tls", " with TLS", GET, 0.9, secure=True, before=WITH_KEY),
    single("16k", " of 16 KiB", SET_LARGE, 0.6),
    single("16k", " of 16 KiB", GET, 0.6, before=(Load(SET_LARGE, 1000),)),
    Scenario("random set", "SET of a million keys, pipelines of 100", 0.3,
             Load(SET_RANDOM, MILLION, 100, MILLION)),
    Scenario("random get", "GET of a million keys, pipelines of 100", 0.3,
             Load(("GET", f"key:{NUMBER}"), MILLION, 100, MILLION),
             (Load(SET_RANDOM, 2 * MILLION, 100, MILLION),)),
    single("p1", " of a small script", SCRIPT, 0.8),
    replace(many(SCRIPT, goal=0.6), about="EVAL of a small script, pipelines of 100"),
    many(ADD_SCORE),
    many(("ZRANGEBYSCORE", "z", NUMBER, "+inf", "LIMIT", "0", "10"),
         (Load(ADD_SCORE, 200_000, 100, 100_000),)),
    many(("XADD", "s", "MAXLEN", "~", "100000", "*", "field", "value")),
    many(("XREADGROUP", "GROUP", "g", "c", "COUNT", "1", "STREAMS", "s", ">"), WITH_ENTRIES),
    many(ADD_POINT),
    many(("GEOSEARCH", "g", "FROMLONLAT", *DEGREES, "BYRADIUS", "1", "km"),
         (Load(ADD_POINT, 100_000, 100, 100_000),)),
    many(("PFADD", "h", MEMBER)),
    *(threaded("p1", words, "one at a time", Load(words, 200_000), 1.4) for words in (SET, GET)),
    threaded("p100", GET, "pipelines of 100", Load(GET, 2 * MILLION, 100)),
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

    def run(self, load):
        """Returns what the load generator reports. bench_cache_load speaks no TLS."""
        if self._security or not self._tools.load:
            return self._run_redis_benchmark(load)
        argv = [self._tools.load, self.port, load.clients, load.pipeline, load.requests,
                load.numbers, *load.words]
        return json.loads(self._output_of(argv))

    def _run_redis_benchmark(self, load):
        argv = ["redis-benchmark", "-p", self.port, "-c", load.clients, "-P", load.pipeline, "-n",
                load.requests, "--csv", *self._security]
        if load.numbers:
            argv += ["-r", load.numbers]
        [line] = csv.DictReader(self._output_of([*argv, *load.words]).splitlines())
        return {"requests": load.requests, "rate": float(line["rps"]),
                "p50_ms": float(line["p50_latency_ms"]), "p99_ms": float(line["p99_latency_ms"])}

    def _output_of(self, argv):
        done = subprocess.run([str(word) for word in argv], capture_output=True, text=True,
                              timeout=300, check=False)
        if done.returncode != 0:
            why = (done.stderr + done.stdout).strip()[-200:]
            raise Failure(f"{argv[0]} against {self.name} failed: {why}")
        return done.stdout

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
    for load in scenario.before:
        server.run(load)
    began, kernel_began = server.cpu_us(), server.kernel_us()
    report = server.run(scenario.load.scaled(scale))
    return {
        "cpu_us": (server.cpu_us() - began) / report["requests"],
        "kernel_us": (server.kernel_us() - kernel_began) / report["requests"],
        "rate": report["rate"],
        "p50_ms": report["p50_ms"],
        "p99_ms": report["p99_ms"],
    }


def measure_memory(server, filling):
    before = server.memory()
    server.fill(filling)
    return {"bytes": (server.memory() - before) / (filling.keys * filling.elements)}


@dataclass(frozen=True)
class Tools:
    programs: dict  # by contender
    load: Path | None  # null: redis-benchmark makes every load
    certificate: Path
    key: Path


def make_tools(programs, load, folder):
    env = {**os.environ, "STRATA_CONFIG_DIR": str(folder / "config")}
    subprocess.run([programs["strata"], "cert", "make", "localhost", "127.0.0.1", "-o", folder],
                   env=env, check=True, capture_output=True)
    return Tools(programs, load, folder / "localhost.pem", folder / "localhost-key.pem")


def parse_arguments():
    parser = argument_parser(__doc__, SCENARIOS)
    parser.add_argument("--scale", type=float, default=1, help="times the usual number of requests")
    parser.add_argument("--valkey", default=shutil.which("valkey-server"),
                        help="the program, which Debian has in bookworm-backports")
    parser.add_argument("--redis-benchmark", action="store_true",
                        help="make every load with redis-benchmark, not only those with TLS")
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
        load = None if wanted.redis_benchmark else wanted.build_dir / "bench/bench_cache_load"
        tools = make_tools(programs, load, folder)
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
