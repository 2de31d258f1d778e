"""What a cache records about slow commands."""

import re

import pytest

from resp_wire import Wire
from test_cache import new_cache


@pytest.fixture
def wire(daemon):
    made = Wire(new_cache(daemon))
    yield made
    made.close()


def be_slow(wire):
    """Runs a command that takes some milliseconds on any machine."""
    if wire.ask("EXISTS", "big") == b":0\r\n":
        for first in range(0, 200_000, 10_000):
            wire.ask("RPUSH", "big", *range(first, first + 10_000))
    assert wire.ask("SORT", "big", "ALPHA", "LIMIT", "0", "1") == b"*1\r\n$1\r\n0\r\n"


def test_nothing_is_noted_without_a_threshold(wire):
    be_slow(wire)
    assert wire.ask("LATENCY", "LATEST") == b"*0\r\n"
    assert b"latency-monitor-threshold" in wire.ask("LATENCY", "DOCTOR")


def test_what_takes_longer_than_the_threshold_is_noted(wire):
    wire.ask("CONFIG", "SET", "latency-monitor-threshold", "1")
    wire.ask("PING")
    be_slow(wire)
    assert re.search(rb"\$7\r\ncommand\r\n:\d{10}\r\n:\d+\r\n:\d+\r\n",
                     wire.ask("LATENCY", "LATEST"))
    assert re.fullmatch(rb"(\*\d\r\n)+(\*2\r\n)?:\d{10}\r\n:\d+\r\n(\*2\r\n:\d{10}\r\n:\d+\r\n)*",
                        wire.ask("LATENCY", "HISTORY", "command"))
    graph = wire.ask("LATENCY", "GRAPH", "command")
    assert re.search(rb"command - high \d+ ms, low \d+ ms \(all time high \d+ ms\)\n-{80}\n", graph)
    assert b"command" in wire.ask("LATENCY", "DOCTOR")
    assert wire.ask("LATENCY", "RESET", "command", "nosuchevent") == b":1\r\n"
    assert b"$7\r\ncommand\r\n" not in wire.ask("LATENCY", "LATEST")
    assert wire.ask("LATENCY", "GRAPH", "command").startswith(b"-ERR No samples available")


def test_a_histogram_has_all_calls_of_a_command(wire):
    wire.ask("CONFIG", "SET", "latency-tracking", "yes")
    for _ in range(10):
        wire.ask("GET", "k")
    wire.ask("CLIENT", "ID")
    wire.ask("CLIENT", "GETNAME")
    told = wire.ask("LATENCY", "HISTOGRAM", "get", "client", "set", "nosuchcommand")
    assert b"$3\r\nget\r\n*4\r\n$5\r\ncalls\r\n:10\r\n$14\r\nhistogram_usec\r\n*" in told
    assert told.startswith(b"*6\r\n")
    assert b"client|id" in told and b"client|getname" in told and b"set" not in told.split()
    wire.ask("CONFIG", "RESETSTAT")
    assert wire.ask("LATENCY", "HISTOGRAM", "get") == b"*0\r\n"
