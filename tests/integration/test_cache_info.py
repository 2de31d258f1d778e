"""The figures of INFO match what happened, as a real redis-server's do."""

import os
import re
import time
from pathlib import Path

import pytest

from cache_or_redis import port  # noqa: F401
from resp_wire import Wire, encode
from strata_daemon import eventually
from test_cache import new_cache


def info(wire):
    text = wire.ask("INFO", "everything").decode()
    return dict(line.split(":", 1) for line in text.splitlines() if ":" in line)


def set_config(wire, name, value):
    assert wire.ask("CONFIG", "SET", name, value) == b"+OK\r\n"


def test_where_it_is_and_how_it_is(port):
    figures = info(Wire(port))
    assert figures["tcp_port"] == str(port)
    assert re.fullmatch("[0-9a-f]{40}", figures["run_id"])
    assert abs(int(figures["lru_clock"]) - (int(time.time()) & 0xFFFFFF)) < 5
    assert abs(int(figures["server_time_usec"]) / 1e6 - time.time()) < 5
    pages = int(Path(f"/proc/{figures['process_id']}/statm").read_text().split()[1])
    resident = pages * os.sysconf("SC_PAGESIZE")
    assert 0.5 < int(figures["used_memory_rss"]) / resident < 2
    assert float(figures["used_cpu_user"]) + float(figures["used_cpu_sys"]) > 0


def test_each_run_has_another_name(daemon):
    port = new_cache(daemon)
    before = info(Wire(port))["run_id"]
    daemon.act("db", "restart")
    port = int(daemon.show("db")["endpoints"][0].rsplit(":", 1)[1])
    assert info(Wire(port))["run_id"] != before


def test_the_loop_is_named(daemon):
    assert info(Wire(new_cache(daemon)))["multiplexing_api"] == os.environ.get(
        "STRATA_LOOP", "io_uring")


def test_bytes_are_counted(port):
    wire = Wire(port)

    def figures():
        wire.send("INFO", "stats")
        reply = wire.receive()
        found = {name: int(re.search(rb"total_net_%s_bytes:(\d+)" % name, reply)[1])
                 for name in (b"input", b"output")}
        return found, len(reply)

    before, size = figures()
    for _ in range(100):
        wire.send("ECHO", "x" * 1000)
        wire.receive()
    after, _ = figures()
    assert after[b"input"] - before[b"input"] == (
        100 * len(encode(["ECHO", "x" * 1000])) + len(encode(["INFO", "stats"])))
    assert after[b"output"] - before[b"output"] == 100 * len(b"$1000\r\n\r\n" + b"x" * 1000) + size
    wire.ask("CONFIG", "RESETSTAT")
    assert figures()[0][b"input"] < 1000


def test_the_rate_of_commands_is_counted(port):
    wire = Wire(port)

    def is_busy():
        wire.ask_all([["PING"]] * 1000)
        return int(info(wire)["instantaneous_ops_per_sec"]) > 1000

    eventually(is_busy, "a thousand commands a second")


def make_large(wire, *keys):
    for key in keys:
        wire.ask("HSET", key, *[word for i in range(1000) for word in (i, i)])


def free_by(wire, name):
    """Removes two large values in a way that defers their freeing if the parameter is set."""
    make_large(wire, "a", "b")
    if name == "lazyfree-lazy-expire":
        wire.ask_all([["PEXPIRE", "a", "1"], ["PEXPIRE", "b", "1"]])
        eventually(lambda: wire.ask("DBSIZE") == b":0\r\n", "they have expired")
    else:
        wire.ask(*(["FLUSHALL"] if name == "lazyfree-lazy-user-flush" else ["DEL", "a", "b"]))


@pytest.mark.parametrize("name", ["lazyfree-lazy-user-del", "lazyfree-lazy-user-flush",
                                  "lazyfree-lazy-expire"])
def test_what_is_freed_later(port, name):
    wire = Wire(port)
    free_by(wire, name)
    assert (info(wire)["lazyfreed_objects"], info(wire)["lazyfree_pending_objects"]) == ("0", "0")
    set_config(wire, name, "yes")
    free_by(wire, name)
    eventually(lambda: (info(wire)["lazyfreed_objects"], info(wire)["lazyfree_pending_objects"])
               == ("2", "0"), "both are free")
    wire.ask("CONFIG", "RESETSTAT")
    assert info(wire)["lazyfreed_objects"] == "0"


REFUSED = [
    ("nosuch",), ("GET",), ("LPUSH", "text", 1), ("INCR", "text"), ("CONFIG", "nosuch"),
    ("EXEC",), ("EVAL", "return redis.call('LPUSH', 'text', 1)", 0),
    ("EVAL", "return redis.error_reply('MINE is mine')", 0), ("EVALSHA", "x", 0), ("MULTI",),
    ("SUBSCRIBE",), ("EXEC",), ("XADD", "text", "*", "a", "b"), ("SET", "text", "v", "NOSUCH"),
]


def test_errors_are_counted_by_their_codes(daemon, redis):
    def counts(port):
        wire = Wire(port)
        wire.ask("SET", "text", "v")
        for words in REFUSED:
            wire.send(*words)
            wire.receive()
        figures = info(wire)
        assert wire.ask("INFO").count(b"# Errorstats") == 1
        commands = {name: re.sub("usec.*?,|usec_per_call.*?,", "", value)
                    for name, value in figures.items() if name.startswith("cmdstat_")
                    and name.split("_")[1] in ("lpush", "incr", "get", "set", "xadd", "evalsha")}
        wire.ask("CONFIG", "RESETSTAT")
        left = [name for name in info(wire) if name.startswith("errorstat_")]
        return commands, {name: value for name, value in figures.items()
                          if name.startswith("errorstat_")}, left

    ours, theirs = counts(new_cache(daemon, "--redis-version", "7.0")), counts(redis.port)
    assert ours == theirs


def test_times_have_percentiles(port):
    wire = Wire(port)
    set_config(wire, "latency-tracking", "yes")
    for _ in range(100):
        wire.ask("LPUSH", "l", 1)
    found = re.fullmatch(r"p50=([\d.]+),p99=([\d.]+),p99.9=([\d.]+)",
                         info(wire)["latency_percentiles_usec_lpush"])
    times = [float(each) for each in found.groups()]
    assert 0 < times[0] <= times[1] <= times[2] < 1e6


def test_the_memory_of_connections_is_counted(port):
    wire = Wire(port)
    other = Wire(port)
    other.socket.sendall(b"*2\r\n$4\r\nECHO\r\n$1000000\r\n" + b"x" * 500_000)
    # The room for the whole text is reserved when its first bytes arrive.
    eventually(lambda: int(info(wire)["mem_clients_normal"]) > 500_000, "it is read")
    assert int(info(wire)["client_recent_max_input_buffer"]) > 500_000
    assert info(wire)["mem_clients_slaves"] == "0"


# --- followers -----------------------------------------------------------------------------------


def follow(port, *about):
    """Returns a follower that acknowledges when a test lets it."""
    wire = Wire(port)
    assert wire.ask("REPLCONF", "capa", "eof", *about) == b"+OK\r\n"
    wire.send("PSYNC", "?", "-1")
    heard = b""
    while b"$EOF:" not in heard or heard.count(heard.split(b"$EOF:")[1][:40]) < 2:
        heard += wire.socket.recv(1 << 16)
    return wire


@pytest.mark.parametrize("names", [("min-replicas-to-write", "min-replicas-max-lag"),
                                   ("min-slaves-to-write", "min-slaves-max-lag")])
def test_changes_are_refused_without_followers(port, names):
    wire = Wire(port)
    if b"redis_git_sha1" in wire.ask("INFO", "server"):
        set_config(wire, "repl-diskless-sync-delay", "0")
    refusal = b"-NOREPLICAS Not enough good replicas to write.\r\n"
    assert "min_slaves_good_slaves" not in info(wire)
    set_config(wire, names[0], "1")
    set_config(wire, names[1], "3")
    assert wire.ask("SET", "k", "v") == refusal
    assert wire.ask("GET", "k") == b"$-1\r\n"
    assert info(wire)["min_slaves_good_slaves"] == "0"
    follower = follow(port)
    follower.send("REPLCONF", "ACK", "0")

    def is_taken():
        follower.send("REPLCONF", "ACK", "0")
        return wire.ask("SET", "k", "v") == b"+OK\r\n"

    eventually(is_taken, "one follows")
    assert info(wire)["min_slaves_good_slaves"] == "1"
    eventually(lambda: wire.ask("SET", "k", "v") == refusal, "it is silent for too long")
    eventually(is_taken, "it speaks again")
    follower.close()
    eventually(lambda: wire.ask("SET", "k", "v") == refusal, "it is gone")
    set_config(wire, names[0], "0")
    assert wire.ask("SET", "k", "v") == b"+OK\r\n"


@pytest.mark.parametrize("role", ["replica", "slave"])
def test_a_follower_says_what_it_is_told_to_say(port, daemon, role):
    leader = Wire(new_cache(daemon, name="leader"))
    wire = Wire(port)
    set_config(wire, f"{role}-announce-ip", "192.0.2.7")
    set_config(wire, f"{role}-announce-port", "1234")
    set_config(wire, f"{role}-priority", "7")
    wire.ask("REPLICAOF", "127.0.0.1", leader.socket.getpeername()[1])
    eventually(lambda: info(leader).get("slave0", "").startswith(
        "ip=192.0.2.7,port=1234,state=online,"), "the leader knows")
    assert info(wire)["slave_priority"] == "7"
    assert b"192.0.2.7" in leader.ask("ROLE")
    assert info(leader)["sync_full"] == "1" and info(leader)["sync_partial_err"] <= "1"


def test_an_address_that_a_follower_announces_is_one_word(daemon):
    wire = Wire(new_cache(daemon))
    for address in ("a\r\nb", "a b", "x" * 256):
        assert wire.ask("REPLCONF", "ip-address", address).startswith(b"-ERR")
        assert wire.ask("CONFIG", "SET", "replica-announce-ip", address).startswith(b"-ERR")


def test_memory_and_shard_channels_are_reported_as_redis_reports_them(daemon, redis):
    found = []
    for server in (new_cache(daemon), redis.port):
        wire, subscriber = Wire(server), Wire(server)
        for name in "abc":
            subscriber.send("SSUBSCRIBE", name)
            subscriber.receive()
        wire.ask_all([["SET", "j", "stays"], ["SET", "k", "x" * 100_000], ["DEL", "k"]])
        fields = info(wire)
        assert re.fullmatch(r"[0-9]+\.[0-9]{2}%", fields["used_memory_peak_perc"])
        found.append([fields[name] for name in (
            "pubsubshard_channels", "total_system_memory", "total_system_memory_human",
            "total_forks", "migrate_cached_sockets")])
    assert found[0] == found[1]
    assert found[0][0] == "3"
