"""The counters of what a cache sends."""

import pytest

from cache_config import new_cache
from resp_wire import Wire, encode
from strata_daemon import eventually


@pytest.fixture
def wire(daemon):
    return Wire(new_cache(daemon))


def sent(daemon):
    stats = daemon.stats("db")
    return stats["messages"]["out"], stats["bytes"]["out"]


def await_sent(daemon, messages, size):
    eventually(lambda: sent(daemon) == (messages, size), f"{messages} messages in {size} bytes")


def test_replies_and_pushes_are_counted(daemon):
    port = new_cache(daemon)
    wire, other = Wire(port), Wire(port)
    wire.socket.sendall(encode(["PING"]) * 1000)
    for _ in range(1000):
        assert wire.receive() == b"+PONG\r\n"
    await_sent(daemon, 1000, 7000)
    wire.send("SUBSCRIBE", "channel")
    size = 7000 + len(wire.receive())
    await_sent(daemon, 1001, size)
    other.send("PUBLISH", "channel", "message")
    size += len(other.receive()) + len(wire.receive())
    await_sent(daemon, 1003, size)


def test_what_is_answered_late_or_not_at_all_is_counted_as_it_is(daemon):
    port = new_cache(daemon)
    blocked, other, silent = Wire(port), Wire(port), Wire(port)
    blocked.send("BLPOP", "queue", "0")
    eventually(lambda: daemon.stats("db")["messages"]["in"] == 1, "it waits")
    assert sent(daemon) == (0, 0)
    other.send("RPUSH", "queue", "job")
    size = len(other.receive()) + len(blocked.receive())
    await_sent(daemon, 2, size)
    silent.socket.sendall(encode(["CLIENT", "REPLY", "OFF"]) + encode(["PING"]) * 10
                          + encode(["CLIENT", "REPLY", "ON"]) + encode(["CLIENT", "REPLY", "SKIP"])
                          + encode(["PING"]) + encode(["ECHO", "end"]))
    heard = silent.receive() + silent.receive()
    assert heard == b"+OK\r\n$3\r\nend\r\n"
    await_sent(daemon, 4, size + len(heard))
    assert daemon.stats("db")["messages"]["in"] == 2 + 15


def test_rates_are_counted(daemon, wire):
    def rates():
        wire.ask_all([["PING"]] * 100)
        rate = daemon.stats("db")["rates"]
        return rate["in_1s"] >= 100 and rate["out_1s"] >= 100

    eventually(rates, "rates of the last second are there")


def test_large_replies_are_counted(daemon, wire):
    wire.ask("SET", "k", "x" * (1 << 20))
    before = sent(daemon)[1]
    for _ in range(8):
        wire.ask("GET", "k")
    eventually(lambda: sent(daemon)[1] - before > 8 << 20, "eight MiB have gone")


def test_keys_and_what_becomes_of_them_are_counted(daemon, wire):
    wire.ask_all([["SET", "k", "v"], ["SELECT", "3"], ["SET", "k", "v"], ["GET", "k"], ["GET", "n"],
                  ["SET", "short", "v", "PX", "1"]])
    eventually(lambda: daemon.stats("db")["keys"]["expired"] == 1, "a key's time is over")
    stats = daemon.stats("db")
    assert stats["keys"] == {"now": 2, "hits": 1, "misses": 1, "expired": 1, "evicted": 0}
    assert stats["memory"]["used"] > 0
    metrics = daemon.exchange("GET", "/metrics")[1].decode().splitlines()
    assert 'strata_cache_hits_total{name="db",type="cache"} 1' in metrics
    shown = daemon.cli("stats", "db", "--columns", "keys,hits,expired").split()
    assert shown == ["KEYS", "HITS", "EXPIRED", "2", "1", "1"]
    daemon.act("db", "stop")
    stats = daemon.stats("db")
    assert stats["keys"] == {"now": 0, "hits": 1, "misses": 1, "expired": 1, "evicted": 0}
    assert stats["memory"]["used"] == 0
