"""Transactions when memory runs out, when keys expire and when other clients watch, as a real
redis-server executes them."""

import time

import pytest

from cache_or_redis import port  # noqa: F401
from resp_wire import RedisServer, Wire


def begin(wire, *commands):
    """Starts a transaction with these commands; drops their replies."""
    for each in (["MULTI"], *commands):
        wire.send(*each)
        wire.receive()


def fill_memory(wire):
    wire.ask("SET", "ballast", "x" * 1_000_000)
    wire.ask("CONFIG", "SET", "maxmemory", 100_000)


def test_a_transaction_is_refused_whole_when_memory_runs_out(port):
    wire, other = Wire(port), Wire(port)
    wire.ask("SET", "old", "1")
    begin(wire, ["DEL", "old"], ["SET", "new", "1"])
    fill_memory(other)
    assert wire.ask("EXEC") == (
        b"-EXECABORT Transaction discarded because of: OOM command not allowed when used memory > "
        b"'maxmemory'.\r\n")
    assert wire.ask("EXISTS", "old", "new") == b":1\r\n"
    assert wire.ask("EXEC") == b"-ERR EXEC without MULTI\r\n"


def test_a_transaction_that_needs_no_memory_is_executed(port):
    wire, other = Wire(port), Wire(port)
    wire.ask("SET", "old", "1")
    begin(wire, ["DEL", "old"], ["GET", "old"])
    fill_memory(other)
    assert wire.ask("EXEC") == b"*2\r\n:1\r\n$-1\r\n"


def test_nothing_is_queued_when_memory_has_run_out(port):
    wire = Wire(port)
    fill_memory(wire)
    wire.send("MULTI")
    assert wire.receive() == b"+OK\r\n"
    wire.send("GET", "ballast")
    assert wire.receive().startswith(b"-OOM ")
    assert wire.ask("EXEC") == (
        b"-EXECABORT Transaction discarded because of previous errors.\r\n")


def test_a_transaction_is_refused_whole_by_one_that_follows(port, tmp_path):
    leader = RedisServer(tmp_path / "leader")
    wire, other = Wire(port), Wire(port)
    wire.ask("SET", "key", "1")
    begin(wire, ["GET", "key"], ["SET", "key", "2"])
    other.ask("REPLICAOF", "127.0.0.1", leader.port)
    refused = wire.ask("EXEC")
    leader.close()
    assert refused.startswith(b"-EXECABORT Transaction discarded because of: ")


CHANGES = {
    "nothing": ([], True), "delete": ([["DEL", "key"]], True),
    "flush": ([["FLUSHDB"]], True), "flush all": ([["FLUSHALL"]], True),
    "swap": ([["SWAPDB", "0", "1"]], True), "read": ([["GET", "key"]], True),
    "set": ([["SET", "key", "2"]], False),
    "delete, set": ([["DEL", "key"], ["SET", "key", "2"]], False),
    "set elsewhere, swap": ([["SELECT", "1"], ["SET", "key", "2"], ["SWAPDB", "0", "1"]], False),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_key_that_had_expired_when_it_was_watched(port, change):
    commands, is_executed = CHANGES[change]
    wire, other = Wire(port), Wire(port)
    other.ask("DEBUG", "SET-ACTIVE-EXPIRE", 0)
    other.ask("SET", "key", "1", "PX", 1)
    time.sleep(0.05)
    wire.ask("WATCH", "key")
    other.ask_all(commands)
    begin(wire, ["PING"])
    assert wire.ask("EXEC") == (b"*1\r\n+PONG\r\n" if is_executed else b"*-1\r\n")


@pytest.mark.parametrize("commands", [[["DEL", "key"]], [["FLUSHDB"]], [["SWAPDB", "0", "1"]],
                                      [["SET", "key", "2"]]])
def test_a_watched_key_that_was_there(port, commands):
    wire, other = Wire(port), Wire(port)
    wire.ask_all([["SET", "key", "1"], ["WATCH", "key"]])
    other.ask_all(commands)
    begin(wire, ["PING"])
    assert wire.ask("EXEC") == b"*-1\r\n"


def test_monitors_see_exec_behind_its_commands(port):
    wire, monitor = Wire(port), Wire(port)
    monitor.send("MONITOR")
    assert monitor.receive() == b"+OK\r\n"
    begin(wire, ["SET", "key", "1"])
    wire.ask("EXEC")
    seen = []
    while not seen or not seen[-1].endswith(b'"exec"\r\n'):
        line = monitor.receive().lower()
        if b'"echo"' in line:
            break
        seen.append(line)
    assert [line.split(b'"')[1] for line in seen] == [b"multi", b"set", b"exec"]


def test_a_parameter_that_is_set_twice_is_refused(port):
    assert Wire(port).ask("CONFIG", "SET", "maxmemory", "1mb", "MAXMEMORY", "2mb") == (
        b"-ERR CONFIG SET failed (possibly related to argument 'MAXMEMORY') - duplicate "
        b"parameter\r\n")


def test_confirmations_of_subscriptions_come_to_one_that_wants_no_replies(port):
    wire, other = Wire(port, protocol=3), Wire(port)
    wire.send("CLIENT", "REPLY", "OFF")
    wire.send("SUBSCRIBE", "news")
    assert wire.receive() == b">3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n"
    other.ask("PUBLISH", "news", "today")
    assert wire.receive() == b">3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$5\r\ntoday\r\n"
    wire.send("PING")
    wire.send("UNSUBSCRIBE", "news")
    assert wire.receive() == b">3\r\n$11\r\nunsubscribe\r\n$4\r\nnews\r\n:0\r\n"


def test_those_whom_a_pause_holds_count_as_blocked(port):
    wire, held = Wire(port), Wire(port)
    wire.ask("CLIENT", "PAUSE", 60_000, "WRITE")
    held.send("SET", "key", "1")
    for _ in range(500):
        if b"blocked_clients:1\r\n" in wire.ask("INFO", "clients"):
            break
        time.sleep(0.01)
    assert b"blocked_clients:1\r\n" in wire.ask("INFO", "clients")
    wire.ask("CLIENT", "UNPAUSE")
    assert held.receive() == b"+OK\r\n"


def test_a_sleep_is_in_the_slow_log(port):
    wire = Wire(port)
    wire.ask("CONFIG", "SET", "slowlog-log-slower-than", 10_000)
    assert wire.ask("DEBUG", "SLEEP", "0.02") == b"+OK\r\n"
    assert b"sleep" in wire.ask("SLOWLOG", "GET").lower()
