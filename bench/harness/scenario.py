"""The scenarios: what bench_load does in each, and the resulting figures."""

import json
import selectors
import subprocess
import time
from dataclasses import dataclass
from typing import Callable

from harness.process import Failure, memory, settled_memory

IDLE_CONNECTIONS = 5000
HOLD_CONNECTIONS = 10000
HOLD_SECONDS = 60


@dataclass(frozen=True)
class Metric:
    """A figure. Figures that a scenario's table omits are still in the JSON."""

    key: str
    title: str
    digits: int = 0
    in_table: bool = True


@dataclass(frozen=True)
class Scenario:
    name: str
    about: str
    metrics: tuple[Metric, ...]
    cost: str  # the metric to compare contenders by; lower is better
    measure: Callable  # (Load, Contender, Server, seconds) -> report of figures
    with_redis: bool = False
    once: bool = False  # in the first round only: it is long, and checks what arrives


DELAYS = (
    Metric("delay_p50_us", "delay p50 µs", 0),
    Metric("delay_p99_us", "delay p99 µs", 0),
)
MESSAGE_METRICS = (
    Metric("delivered_per_s", "delivered/s"),
    Metric("sent_per_s", "sent/s", in_table=False),
    Metric("cpu_us_per_message", "CPU µs/message", 3),
    Metric("cpu_us_per_delivery", "CPU µs/delivery", 3),
    Metric("server_cores", "cores busy", 2),
    *DELAYS,
)
CONNECT_METRICS = (
    Metric("connections_per_s", "connections/s"),
    Metric("cpu_us_per_connection", "CPU µs/connection", 2),
    Metric("server_cores", "cores busy", 2),
    *DELAYS,
)
IDLE_METRICS = (
    Metric("rss_bytes_per_connection", "RSS B/connection"),
    Metric("anonymous_bytes_per_connection", "anonymous B/connection"),
    Metric("rss_kib_empty", "RSS KiB at 0"),
    Metric("rss_kib_full", f"RSS KiB at {IDLE_CONNECTIONS}"),
)
HOLD_METRICS = (
    Metric("lost", "lost"),
    Metric("duplicated", "duplicated"),
    *DELAYS,
    Metric("delay_max_us", "delay max µs"),
    Metric("cpu_us_per_delivery", "CPU µs/delivery", 3),
    Metric("rss_kib_empty", "RSS KiB before"),
    Metric("rss_kib_full", "RSS KiB after"),
)


class Load:
    """The load generator's program."""

    def __init__(self, program):
        self._program = program

    def argv(self, server, *words):
        where = ["--port", server.port, "--server-pid", server.pid]
        return [str(word) for word in (self._program, *words, *where)]

    def run(self, server, seconds, *words):
        """Returns one scenario's report. bench_load ends by itself; the limit is for
        the worst case."""
        argv = self.argv(server, *words, "--seconds", seconds)
        try:
            done = subprocess.run(
                argv, capture_output=True, text=True, timeout=seconds + 90, check=False
            )
        except subprocess.TimeoutExpired:
            raise Failure("bench_load did not end") from None
        return read_report(done.stdout)


def read_report(line):
    try:
        report = json.loads(line)
    except json.JSONDecodeError:
        raise Failure(f"bench_load printed no report but {line!r}") from None
    if "error" in report:
        raise Failure(report["error"])
    return report


def _measure_messages(*words):
    def measure(load, contender, server, seconds):
        report = load.run(server, seconds, *words, "--protocol", contender.protocol)
        cpu_us = report["server_cpu_ns"] / 1000
        if report["delivered"] == 0:
            raise Failure("nothing was delivered")
        report["cpu_us_per_message"] = cpu_us / report["sent"]
        report["cpu_us_per_delivery"] = cpu_us / report["delivered"]
        report["server_cores"] = cpu_us / 1e6 / report["seconds"]
        return report

    return measure


def _measure_connections(load, _contender, server, seconds):
    report = load.run(server, seconds, "connect-rate")
    report["cpu_us_per_connection"] = report["server_cpu_ns"] / 1000 / report["sent"]
    report["server_cores"] = report["server_cpu_ns"] / 1e9 / report["seconds"]
    return report


def _measure_idle(load, _contender, server, _seconds):
    empty = settled_memory(server.pid)
    argv = load.argv(server, "idle", "--connections", IDLE_CONNECTIONS)
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, stdin=pipe, stdout=pipe, text=True) as holder:
        try:
            read_report(_first_line(holder, 60))
            full = settled_memory(server.pid)
            rest, _ = holder.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            raise Failure("bench_load did not end") from None
        finally:
            holder.kill()
    report = read_report(rest)
    for part in ("rss", "anonymous"):
        grown = full[part] - empty[part]
        report[f"{part}_bytes_per_connection"] = grown / IDLE_CONNECTIONS
    report["rss_kib_empty"] = empty["rss"] / 1024
    report["rss_kib_full"] = full["rss"] / 1024
    return report


def _first_line(process, seconds):
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        if not selector.select(seconds):
            raise Failure(f"{IDLE_CONNECTIONS} connections were not open within {seconds} s")
    return process.stdout.readline()


def _measure_hold(stalled):
    def measure(load, _contender, server, _seconds):
        empty = memory(server.pid)
        words = ["--connections", HOLD_CONNECTIONS, "--size", 1024, "--interval", 1]
        report = load.run(server, HOLD_SECONDS, "hold", *words, "--stalled", stalled)
        time.sleep(0.5)
        report["rss_kib_empty"] = empty["rss"] / 1024
        report["rss_kib_full"] = memory(server.pid)["rss"] / 1024
        if report["delivered"] == 0:
            raise Failure("nothing was delivered")
        report["cpu_us_per_delivery"] = report["server_cpu_ns"] / 1000 / report["delivered"]
        return report

    return measure


def _relay(size, window):
    return Scenario(
        f"relay-{size}-w{window}",
        f"1 sender, 1 receiver, {size} B, window {window}",
        MESSAGE_METRICS,
        "cpu_us_per_message",
        _measure_messages("relay", "--size", size, "--window", window),
        with_redis=True,
    )


def _fanout(window):
    return Scenario(
        f"fanout-100-w{window}",
        f"1 sender, 100 receivers, 64 B, window {window}",
        MESSAGE_METRICS,
        "cpu_us_per_message",
        _measure_messages("fanout", "--receivers", 100, "--size", 64, "--window", window),
        with_redis=True,
    )


def _hold(name, stalled):
    return Scenario(
        name,
        f"{HOLD_CONNECTIONS} receivers, {stalled} stalled, 1 KiB/s for {HOLD_SECONDS} s, once",
        HOLD_METRICS,
        "cpu_us_per_delivery",
        _measure_hold(stalled),
        once=True,
    )


SCENARIOS = (
    _relay(64, 1),
    _relay(64, 256),
    _relay(1024, 1),
    _relay(1024, 256),
    _fanout(1),
    _fanout(64),
    Scenario(
        "connect",
        "connect, one line delivered, close; one at a time",
        CONNECT_METRICS,
        "cpu_us_per_connection",
        _measure_connections,
    ),
    Scenario(
        "idle",
        f"resident memory with 0 and with {IDLE_CONNECTIONS} silent connections",
        IDLE_METRICS,
        "rss_bytes_per_connection",
        _measure_idle,
    ),
)
HOLD_SCENARIOS = (_hold("hold", 0), _hold("hold-stalled", 1))
