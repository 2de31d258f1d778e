#!/usr/bin/env python3
"""Measures strata's cache against Redis 7 and Valkey 8: CPU of the server per operation,
throughput, p50 and p99 as redis-benchmark sees them, and memory. The contenders take turns."""

import csv
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from harness.comparison import (argument_parser, heading, is_chosen, medians, publish, tables,
                                take_turns, verdict)
from harness.machine import describe_machine
from harness.process import Failure, Process, free_port, memory, wait_until

CLIENTS = 50
MILLION = 1_000_000


@dataclass(frozen=True)
class Scenario:
    name: str
    about: str
    flags: tuple  # of redis-benchmark
    requests: int
    cpu_goal: float  # at most this times Redis's CPU per operation
    before: tuple = ()  # of a run that fills the server first
    rate_goal: float = 0  # at least this times Redis's throughput


def pipelined(test):
    # What is popped must have been pushed.
    before = ("-t", "lpush", "-P", "100", "-n", str(MILLION)) if test == "lpop" else ()
    return Scenario(f"p100 {test}", f"{test.upper()}, pipelines of 100", ("-t", test, "-P", "100"),
                    MILLION, 0.25, before, rate_goal=3)


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
]
MEMORY_GOAL = 0.8


class Server:
    """A contender while it runs."""

    def __init__(self, name, program, folder):
        self.name = name
        self.port = free_port()
        folder.mkdir()
        start = self._start_strata if name in ("strata", "before") else self._start_redis
        self._process = start(program, folder)
        wait_until(self._answers, f"{name} does not answer")

    @staticmethod
    def _log(folder):
        return folder / "log"

    def _start_redis(self, program, folder):
        argv = [program, "--bind", "127.0.0.1", "--port", self.port, "--save", "",
                "--appendonly", "no", "--dir", folder]
        return Process(argv, self._log(folder))

    def _start_strata(self, program, folder):
        control = folder / "control.sock"
        env = {**os.environ, "STRATA_SOCKET": str(control)}
        argv = [program, "daemon", "--state-dir", folder / "state", "--socket", control]
        daemon = Process(argv, self._log(folder), env)
        create = [program, "create", "cache", "bench", "--listen",
                  f"tcp://127.0.0.1:{self.port}", "--resp", "-s"]

        def created():
            done = subprocess.run(create, env=env, capture_output=True, check=False, timeout=10)
            return done.returncode == 0

        wait_until(created, "strata made no cache")
        return daemon

    def _answers(self):
        done = subprocess.run(["redis-cli", "-p", str(self.port), "PING"], capture_output=True,
                              check=False, timeout=10)
        return done.stdout.strip() == b"PONG"

    def cpu_s(self):
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self):
        return memory(self._process.pid)["rss"]

    def flush(self):
        subprocess.run(["redis-cli", "-p", str(self.port), "FLUSHALL"], check=True,
                       capture_output=True, timeout=60)

    def load(self, *flags):
        argv = ["redis-benchmark", "-p", self.port, "-c", CLIENTS, "--csv", *flags]
        done = subprocess.run([str(word) for word in argv], capture_output=True, text=True,
                              timeout=300, check=False)
        lines = list(csv.DictReader(done.stdout.splitlines()))
        if done.returncode != 0 or len(lines) != 1:
            why = done.stderr.strip()[-200:]
            raise Failure(f"redis-benchmark against {self.name} failed: {why}")
        return lines[0]

    def stop(self):
        self._process.stop()


def measure(server, scenario, scale):
    if scenario.before:
        server.load(*scenario.before)
    requests = max(1000, int(scenario.requests * scale))
    began = server.cpu_s()
    line = server.load("-n", requests, *scenario.flags)
    return {
        "cpu_us": (server.cpu_s() - began) / requests * 1e6,
        "rate": float(line["rps"]),
        "p50_ms": float(line["p50_latency_ms"]),
        "p99_ms": float(line["p99_latency_ms"]),
    }


def measure_memory(contenders, folder):
    """Bytes of resident memory for each of a million keys of 16 bytes with values of 32."""
    found = {}
    script = b"".join(
        b"*3\r\n$3\r\nSET\r\n$16\r\nkey:%012d\r\n$32\r\n%s\r\n" % (i, b"v" * 32)
        for i in range(MILLION)
    )
    for name, program in contenders.items():
        server = Server(name, program, folder / f"memory {name}")
        try:
            before = server.memory()
            subprocess.run(["redis-cli", "-p", str(server.port), "--pipe"], input=script,
                           check=True, capture_output=True, timeout=120)
            found[name] = (server.memory() - before) / MILLION
        finally:
            server.stop()
    return found


def summarise(found, scenarios, contenders):
    rows = []
    for scenario in scenarios:
        row = {"name": scenario.name, "about": scenario.about, "cpu_goal": scenario.cpu_goal,
               "rate_goal": scenario.rate_goal or None, "contenders": {}}
        for name in contenders:
            row["contenders"][name] = medians(found[scenario.name, name])
        ours, redis = (row["contenders"].get(each) for each in ("strata", "redis"))
        if ours and redis:
            row["cpu_ratio"] = ours["cpu_us"] / redis["cpu_us"]
            row["rate_ratio"] = ours["rate"] / redis["rate"]
            row["p99_ratio"] = ours["p99_ms"] / redis["p99_ms"]
        if ours and "before" in row["contenders"]:
            row["before_cpu_ratio"] = ours["cpu_us"] / row["contenders"]["before"]["cpu_us"]
        rows.append(row)
    return rows


def figures_line(_row, figures):
    return (f"{figures['cpu_us']:8.3f} us/op {figures['rate']:12,.0f} op/s   "
            f"p50 {figures['p50_ms']:7.3f} ms   p99 {figures['p99_ms']:7.3f} ms")


def verdict_lines(row):
    if "cpu_ratio" in row:
        met = verdict(row["cpu_ratio"] <= row["cpu_goal"])
        line = f"CPU {row['cpu_ratio']:.2f} x redis, goal {row['cpu_goal']}: {met}"
        if row["rate_goal"]:
            met = verdict(row["rate_ratio"] >= row["rate_goal"])
            line += f"; rate {row['rate_ratio']:.2f} x, goal {row['rate_goal']}: {met}"
        yield f"{line}; p99 {row['p99_ratio']:.2f} x: {verdict(row['p99_ratio'] <= 1)}"
    if "before_cpu_ratio" in row:
        yield f"CPU {row['before_cpu_ratio']:.3f} x before"


def render(document):
    lines = heading("bench-cache", document,
                    f"{CLIENTS} clients; CPU is the server's alone, in us per operation")
    lines += tables(document, figures_line, verdict_lines)
    if document["memory"]:
        lines += ["", "resident bytes for a key of 16 with a value of 32, of a million"]
        lines += [f"  {name:8} {value:6.1f}" for name, value in document["memory"].items()]
        if "memory_ratio" in document:
            met = verdict(document["memory_ratio"] <= MEMORY_GOAL)
            lines.append(f"  {document['memory_ratio']:.2f} x redis, goal {MEMORY_GOAL}: {met}")
    return "\n".join(lines)


def parse_arguments():
    parser = argument_parser(__doc__, "memory")
    parser.add_argument("--scale", type=float, default=1, help="times the usual number of requests")
    parser.add_argument("--valkey", default=shutil.which("valkey-server"),
                        help="the program, which Debian has in bookworm-backports")
    parser.add_argument("--before", type=Path, help="another strata binary, to take turns with")
    return parser.parse_args()


def main():
    wanted = parse_arguments()
    contenders = {"strata": wanted.build_dir / "strata", "redis": shutil.which("redis-server"),
                  "valkey": wanted.valkey}
    for name in [name for name, program in contenders.items() if not program]:
        print(f"{name}-server is not installed: it does not take part", file=sys.stderr)
        del contenders[name]
    if wanted.before:
        contenders["before"] = wanted.before
    scenarios = [scenario for scenario in SCENARIOS if is_chosen(wanted, scenario.name)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            found = take_turns(
                wanted.repetitions, scenarios, lambda _: contenders,
                lambda name, _, place: Server(name, contenders[name], folder / place),
                lambda server, scenario: measure(server, scenario, wanted.scale))
            memories = measure_memory(contenders, folder) if is_chosen(wanted, "memory") else {}
        except Failure as failure:
            sys.exit(f"bench-cache: {failure}")
    document = {"machine": describe_machine(), "repetitions": wanted.repetitions,
                "scenarios": summarise(found, scenarios, contenders), "memory": memories}
    if "strata" in memories and "redis" in memories:
        document["memory_ratio"] = memories["strata"] / memories["redis"]
    publish(document, wanted, render)


if __name__ == "__main__":
    main()
