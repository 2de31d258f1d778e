"""Entries that are removed with regard to consumer groups, as in Redis 8.2: XDELEX and XACKDEL, and
KEEPREF, DELREF and ACKED of XADD and XTRIM. The expected replies are those that Redis documents."""

import random
import re

import pytest
import redis as redis_py

from resp_wire import Wire
from stream_commands import without_times
from strata_daemon import eventually
from test_cache import new_cache
from twin_servers import new_seed

pytestmark = pytest.mark.once

WRONG_TYPE = b"-WRONGTYPE Operation against a key holding the wrong kind of value\r\n"
SYNTAX = b"-ERR syntax error\r\n"
BAD_ID = b"-ERR Invalid stream ID specified as stream command argument\r\n"


@pytest.fixture
def wire(daemon):
    return Wire(new_cache(daemon))


def integers(*numbers):
    return b"*%d\r\n" % len(numbers) + b"".join(b":%d\r\n" % each for each in numbers)


def fill(wire, entries=3, groups=("g", "h"), read=None):
    """A stream with these entries, of which each group has read and not acknowledged `read`."""
    wire.ask("DEL", "s")
    for number in range(1, entries + 1):
        wire.ask("XADD", "s", f"{number}-0", "f", "v")
    for group in groups:
        wire.ask("XGROUP", "CREATE", "s", group, "0")
        if read != 0:
            wire.ask("XREADGROUP", "GROUP", group, "c", "COUNT", read or entries, "STREAMS", "s",
                     ">")


def pending(wire, group):
    rows = wire.ask("XPENDING", "s", group, "-", "+", "100").split(b"\r\n")
    return [row.decode() for row in rows if row.endswith(b"-0")]


def entries(wire):
    return [row.decode() for row in wire.ask("XRANGE", "s", "-", "+").split(b"\r\n")
            if row.endswith(b"-0")]


# --- XDELEX

def test_xdelex_keeps_references(wire):
    for words in ((), ("KEEPREF",), ("keepref",)):
        fill(wire)
        assert wire.ask("XDELEX", "s", *words, "IDS", "3", "1-0", "9-0", "1-0") == (
            integers(1, -1, -1))
        assert entries(wire) == ["2-0", "3-0"]
        assert pending(wire, "g") == pending(wire, "h") == ["1-0", "2-0", "3-0"]


def test_xdelex_removes_references(wire):
    fill(wire)
    assert wire.ask("XDELEX", "s", "DELREF", "IDS", "2", "2-0", "9-0") == integers(1, -1)
    assert entries(wire) == ["1-0", "3-0"]
    assert pending(wire, "g") == pending(wire, "h") == ["1-0", "3-0"]
    # An entry that is gone, and still pending.
    wire.ask("XDEL", "s", "1-0")
    assert wire.ask("XDELEX", "s", "IDS", "1", "1", "DELREF") == integers(-1)
    assert pending(wire, "g") == pending(wire, "h") == ["3-0"]


def test_xdelex_removes_what_all_groups_have_acknowledged(wire):
    fill(wire, entries=4, read=3)
    wire.ask("XACK", "s", "g", "1-0", "2-0")
    wire.ask("XACK", "s", "h", "1-0")
    ask = ("XDELEX", "s", "ACKED", "IDS", "5", "1-0", "2-0", "3-0", "4-0", "9-0")
    assert wire.ask(*ask) == integers(1, 2, 2, 2, -1)
    assert entries(wire) == ["2-0", "3-0", "4-0"]
    assert pending(wire, "g") == ["3-0"] and pending(wire, "h") == ["2-0", "3-0"]
    wire.ask("XACK", "s", "h", "2-0")
    assert wire.ask(*ask) == integers(-1, 1, 2, 2, -1)
    # Without groups, nobody has acknowledged anything.
    fill(wire, groups=())
    assert wire.ask("XDELEX", "s", "ACKED", "IDS", "2", "1-0", "9-0") == integers(2, -1)


def test_xdelex_of_what_is_no_stream(wire):
    wire.ask("SET", "k", "v")
    assert wire.ask("XDELEX", "k", "IDS", "1", "1-0") == WRONG_TYPE
    assert wire.ask("XDELEX", "none", "IDS", "2", "1-0", "2-0") == integers(-1, -1)
    assert wire.ask("EXISTS", "none") == b":0\r\n"


# --- XACKDEL

def test_xackdel_keeps_references_of_others(wire):
    fill(wire)
    assert wire.ask("XACKDEL", "s", "g", "IDS", "2", "1-0", "2-0") == integers(1, 1)
    assert entries(wire) == ["3-0"]
    assert pending(wire, "g") == ["3-0"] and pending(wire, "h") == ["1-0", "2-0", "3-0"]
    # The other group acknowledges entries that are gone.
    assert wire.ask("XACKDEL", "s", "h", "KEEPREF", "IDS", "2", "1-0", "2-0") == integers(1, 1)
    assert pending(wire, "h") == ["3-0"]
    assert wire.ask("XACKDEL", "s", "h", "IDS", "2", "1-0", "9-0") == integers(-1, -1)


def test_xackdel_removes_references(wire):
    fill(wire)
    assert wire.ask("XACKDEL", "s", "g", "DELREF", "IDS", "2", "1-0", "2-0") == integers(1, 1)
    assert pending(wire, "g") == pending(wire, "h") == ["3-0"]
    assert wire.ask("XACKDEL", "s", "h", "DELREF", "IDS", "2", "1-0", "2-0") == integers(-1, -1)


def test_xackdel_removes_what_all_groups_have_acknowledged(wire):
    fill(wire)
    assert wire.ask("XACKDEL", "s", "g", "ACKED", "IDS", "2", "1-0", "2-0") == integers(2, 2)
    assert len(entries(wire)) == 3
    assert pending(wire, "g") == ["3-0"] and pending(wire, "h") == ["1-0", "2-0", "3-0"]
    assert wire.ask("XACKDEL", "s", "h", "ACKED", "IDS", "2", "1-0", "2-0") == integers(1, 1)
    assert entries(wire) == ["3-0"] and pending(wire, "h") == ["3-0"]
    # A group that has not read it yet needs it still.
    fill(wire, groups=("g",))
    wire.ask("XGROUP", "CREATE", "s", "late", "0")
    assert wire.ask("XACKDEL", "s", "g", "ACKED", "IDS", "1", "1-0") == integers(2)
    # An entry that the group has read, but not pending, stays.
    fill(wire)
    wire.ask("XACK", "s", "g", "1-0")
    assert wire.ask("XACKDEL", "s", "g", "IDS", "1", "1-0") == integers(-1)
    assert len(entries(wire)) == 3


def test_xackdel_without_a_stream_or_a_group(wire):
    assert wire.ask("XACKDEL", "s", "g", "IDS", "2", "1-1", "2-2") == integers(-1, -1)
    wire.ask("XADD", "s", "1-0", "f", "v")
    assert wire.ask("XACKDEL", "s", "g", "IDS", "2", "1-0", "2-2") == integers(-1, -1)
    assert entries(wire) == ["1-0"]
    wire.ask("SET", "k", "v")
    assert wire.ask("XACKDEL", "k", "g", "IDS", "1", "1-0") == WRONG_TYPE


@pytest.mark.parametrize("head", [["XDELEX", "s"], ["XACKDEL", "s", "g"]])
def test_wrong_words(wire, head):
    fill(wire)
    name = head[0].lower().encode()
    arity = b"-ERR wrong number of arguments for '%s' command\r\n" % name
    number = b"-ERR Number of IDs must be a positive integer\r\n"
    match = b"-ERR The `numids` parameter must match the number of arguments\r\n"
    for words, reply in [
            ("", arity), ("IDS", arity), ("IDS 1", arity), ("IDS abc 1-0", number),
            ("IDS 0 1-0", number), ("IDS -5 1-0", number), ("IDS 1.5 1-0", number),
            ("IDS 9223372036854775808 1-0", number), ("IDS 9223372036854775807 1-0", match),
            ("IDS 3 1-0 2-0", match), ("IDS 1 1-0 2-0", SYNTAX), ("IDS 1 1-0 IDS 1 2-0", SYNTAX),
            ("1-0 IDS 1 1-0", SYNTAX), ("KEEPREF DELREF IDS 1 1-0", SYNTAX),
            ("KEEPREF ACKED IDS 1 1-0", SYNTAX), ("DELREF ACKED IDS 1 1-0", SYNTAX),
            ("ACKED ACKED IDS 1 1-0", SYNTAX), ("KEEPREF 1-0 2-0", SYNTAX),
            ("1-0 2-0 IDS", SYNTAX), ("IDS 1 x", BAD_ID), ("IDS 2 1-0 -", BAD_ID),
            ("IDS 2 1-0 1-", BAD_ID), ("IDS 1 18446744073709551616-0", BAD_ID),
            ("IDS 1 KEEPREF", BAD_ID)]:
        assert wire.ask(*head, *words.split()) == reply, words
    # Nothing is removed by what was refused, not even before the wrong id.
    assert len(entries(wire)) == 3 and len(pending(wire, "g")) == 3
    many = [f"{number}-0" for number in range(1, 5001)]
    assert wire.ask(*head, "IDS", 5000, *many).startswith(b"*5000\r\n:1\r\n:1\r\n:1\r\n:-1\r\n")


# --- XADD and XTRIM

@pytest.mark.parametrize("words", [("MAXLEN", "1"), ("MINID", "=", "3-0")])
def test_trimming_with_references(wire, words):
    fill(wire)
    assert wire.ask("XTRIM", "s", *words, "KEEPREF") == b":2\r\n"
    assert pending(wire, "g") == ["1-0", "2-0", "3-0"]
    fill(wire)
    assert wire.ask("XTRIM", "s", "DELREF", *words) == b":2\r\n"
    assert entries(wire) == pending(wire, "g") == pending(wire, "h") == ["3-0"]
    # Entries that were gone before are not trimmed, and their references stay.
    fill(wire)
    wire.ask("XDEL", "s", "2-0")
    assert wire.ask("XTRIM", "s", *words, "DELREF") == b":1\r\n"
    assert entries(wire) == ["3-0"] and pending(wire, "h") == ["2-0", "3-0"]
    fill(wire)
    wire.ask("XACK", "s", "g", "2-0")
    wire.ask("XACK", "s", "h", "1-0", "2-0")
    assert wire.ask("XTRIM", "s", *words, "ACKED") == b":1\r\n"
    assert entries(wire) == ["1-0", "3-0"]
    assert b"max-deleted-entry-id\r\n$3\r\n2-0" in wire.ask("XINFO", "STREAM", "s")
    # Without groups, the options have no effect.
    for policy in ("KEEPREF", "DELREF", "ACKED"):
        fill(wire, groups=())
        assert wire.ask("XTRIM", "s", *words, policy) == b":2\r\n"


def test_adding_with_references(wire):
    fill(wire, entries=5, groups=("g",), read=0)
    assert wire.ask("XADD", "s", "MAXLEN", "=", "1", "ACKED", "6-0", "f", "v") == b"$3\r\n6-0\r\n"
    assert len(entries(wire)) == 6
    wire.ask("XREADGROUP", "GROUP", "g", "c", "COUNT", "1", "STREAMS", "s", ">")
    wire.ask("XACK", "s", "g", "1-0")
    wire.ask("XADD", "s", "ACKED", "MAXLEN", "=", "1", "7-0", "f", "v")
    assert entries(wire) == [f"{number}-0" for number in range(2, 8)]
    wire.ask("XREADGROUP", "GROUP", "g", "c", "STREAMS", "s", ">")
    wire.ask("XACK", "s", "g", *(f"{number}-0" for number in range(2, 8)))
    wire.ask("XADD", "s", "MAXLEN", "=", "1", "ACKED", "8-0", "f", "v")
    assert entries(wire) == ["8-0"]
    fill(wire, entries=5, groups=("g",))
    wire.ask("XADD", "s", "MAXLEN", "=", "1", "DELREF", "6-0", "f", "v")
    assert entries(wire) == ["6-0"] and pending(wire, "g") == []
    # The options need no trimming, and their place is before the id.
    for number, policy in enumerate(("KEEPREF", "DELREF", "ACKED"), 10):
        assert wire.ask("XADD", "s", policy, f"{number}-0", policy, "v") == (
            b"$4\r\n%d-0\r\n" % number)
    assert len(entries(wire)) == 4
    assert wire.ask("XADD", "none", "NOMKSTREAM", "ACKED", "*", "f", "v") == b"$-1\r\n"
    for words in ("KEEPREF DELREF * f v", "MAXLEN 1 ACKED KEEPREF * f v"):
        assert wire.ask("XADD", "s", *words.split()) == SYNTAX
    for words in ("MAXLEN 1 DELREF ACKED", "ACKED MAXLEN 1 ACKED"):
        assert wire.ask("XTRIM", "s", *words.split()) == SYNTAX
    assert wire.ask("XTRIM", "s", "DELREF").startswith(b"-ERR wrong number of arguments")
    assert wire.ask("XTRIM", "s", "DELREF", "LIMIT", "0") == (
        b"-ERR syntax error, LIMIT cannot be used without the special ~ option\r\n")
    assert wire.ask("XTRIM", "s", "KEEPREF", "NOMKSTREAM") == SYNTAX


def test_approximate_trimming_removes_whole_blocks(wire):
    wire.ask("CONFIG", "SET", "stream-node-max-entries", "10")
    fill(wire, entries=35, groups=("g",))
    wire.ask("XACK", "s", "g", *(f"{number}-0" for number in range(1, 36) if number != 5))
    assert wire.ask("XTRIM", "s", "MAXLEN", "~", "12", "LIMIT", "10", "ACKED") == b":9\r\n"
    assert wire.ask("XTRIM", "s", "MAXLEN", "~", "12", "ACKED") == b":10\r\n"
    assert entries(wire) == ["5-0"] + [f"{number}-0" for number in range(21, 36)]
    assert wire.ask("XTRIM", "s", "MINID", "~", "31-0", "ACKED") == b":10\r\n"
    assert wire.ask("XTRIM", "s", "MINID", "~", "35-0", "DELREF") == b":1\r\n"
    assert wire.ask("XTRIM", "s", "MAXLEN", "0", "ACKED") == b":5\r\n"
    assert pending(wire, "g") == [] and entries(wire) == []


def test_versions_before_them_know_none_of_it(daemon):
    wire = Wire(new_cache(daemon, "--redis-version", "8.0"))
    fill(wire)
    assert wire.ask("XTRIM", "s", "MAXLEN", "1", "ACKED") == SYNTAX
    assert wire.ask("XADD", "s", "DELREF", "*", "f", "v") == BAD_ID
    assert wire.ask("XDELEX", "s", "IDS", "1", "1-0").startswith(b"-ERR unknown command")


def test_events_and_watches(daemon):
    port = new_cache(daemon)
    wire, other = Wire(port), Wire(port)
    other.ask("CONFIG", "SET", "notify-keyspace-events", "KEt")
    fill(other)
    wire.send("PSUBSCRIBE", "__keyevent*")
    wire.receive()
    other.ask("XDELEX", "s", "IDS", "2", "1-0", "9-0")
    other.ask("XACKDEL", "s", "g", "ACKED", "IDS", "1", "2-0")  # removes no entry: no event
    other.ask("XACKDEL", "s", "h", "ACKED", "IDS", "1", "2-0")
    other.ask("XADD", "s", "MAXLEN", "1", "DELREF", "4-0", "f", "v")
    events = [wire.receive().split(b"\r\n")[6].split(b":")[1] for _ in range(4)]
    assert events == [b"xdel", b"xdel", b"xadd", b"xtrim"]
    for call, is_seen in (("XDELEX s IDS 1 99-0", False), ("XDELEX s IDS 1 4-0", True)):
        watcher = Wire(port)
        watcher.ask("WATCH", "s")
        other.ask(*call.split())
        reply = watcher.ask_all([["MULTI"], ["EXEC"]])
        assert (b"*-1" in reply) == is_seen, call


# --- log and followers

def random_call(rng):
    ids = [f"{rng.randrange(1, 60)}-0" for _ in range(rng.randrange(1, 6))]
    group, policy = rng.choice("gh"), rng.choice(["KEEPREF", "DELREF", "ACKED"])
    trimming = rng.choice([[], ["MAXLEN", rng.choice("=~"), rng.randrange(30)],
                           ["MINID", rng.choice("=~"), f"{rng.randrange(60)}-0"]])
    return rng.choice([
        ["XADD", "s", policy, *trimming, "*", "f", rng.randrange(9)],
        ["XADD", "s", *trimming, policy, "*", "f", "v"],
        ["XTRIM", "s", *(trimming or ["MAXLEN", 20]), policy],
        ["XDELEX", "s", policy, "IDS", len(ids), *ids],
        ["XACKDEL", "s", group, "IDS", len(ids), *ids, policy],
        ["XREADGROUP", "GROUP", group, rng.choice("cd"), "COUNT", 3, "STREAMS", "s", ">"],
        ["XREADGROUP", "GROUP", group, rng.choice("cd"), "COUNT", 3, "CLAIM", 0, "STREAMS", "s",
         ">"],
        ["XACK", "s", group, *ids], ["XDEL", "s", ids[0]], ["XCLAIM", "s", group, "e", 0, *ids],
        ["MULTI"], ["EXEC"]])


COUNTED = re.compile(rb"(entries-read|lag|radix-tree-\w+)\r\n(:\d+|\$-1)\r\n")


def whole(wire):
    """All of the stream, without times, blocks, and what is counted of a group's readings: as in
    Redis, a delivery that is propagated does not name it."""
    full = ["XINFO", "STREAM", "s", "FULL", "COUNT", "0"]
    return COUNTED.sub(b"", without_times(full, wire.ask(*full)))


@pytest.mark.parametrize("redis_version", ["7.0", "all"])
def test_the_log_and_followers_repeat_it(daemon, tmp_path, redis_version):
    """A follower that knows none of the options has the same streams, and so has the log."""
    seed = new_seed()
    rng = random.Random(seed)
    port = new_cache(daemon, "--persistent", str(tmp_path / "db.aof"))
    follower = Wire(new_cache(daemon, "--follow", f"tcp://127.0.0.1:{port}", "--redis-version",
                              redis_version, name="follower"))
    wire = Wire(port)
    wire.ask("CONFIG", "SET", "stream-node-max-entries", "5")
    follower.ask("CONFIG", "SET", "stream-node-max-entries", "5")
    eventually(lambda: b"master_link_status:up" in follower.ask("INFO", "replication"), "linked")
    fill(wire, entries=50, read=40)
    for _ in range(40):
        wire.ask_all([random_call(rng) for _ in range(50)] + [["DISCARD"]])
    wire.ask("XADD", "s", "MAXLEN", "0", "DELREF", "*", "f", "v")
    for number in range(20):
        wire.ask("XADD", "s", "*", "f", number)
        wire.ask("XREADGROUP", "GROUP", "g", "c", "STREAMS", "s", ">")
    eventually(lambda: whole(follower) == whole(wire), f"the follower is level (seed {seed})")
    wire.ask("WAITAOF", "1", "0", "0")
    log = (tmp_path / "db.aof").read_bytes()
    for word in (b"XDELEX", b"XACKDEL", b"KEEPREF", b"DELREF", b"ACKED", b"\nCLAIM"):
        assert word not in log, (word, seed)
    before = whole(wire)
    daemon.cli("restart", "db")
    wire = Wire(int(daemon.show("db")["endpoints"][0].rsplit(":", 1)[1]))
    assert whole(wire) == before, seed


def test_a_redis_that_follows_has_the_same(daemon, redis):
    port = new_cache(daemon)
    wire, theirs = Wire(port), Wire(redis.port)
    theirs.ask("REPLICAOF", "127.0.0.1", port)
    fill(wire, entries=20, read=15)
    eventually(lambda: b"master_link_status:up" in theirs.ask("INFO", "replication"), "it follows")
    for call in ("XDELEX s DELREF IDS 2 1-0 2-0", "XACKDEL s g ACKED IDS 2 3-0 4-0",
                 "XACKDEL s h ACKED IDS 1 3-0", "XADD s MAXLEN 14 DELREF 30-0 f v",
                 "XTRIM s MAXLEN ~ 5 ACKED", "XTRIM s MAXLEN 5 ACKED",
                 "XREADGROUP GROUP g other CLAIM 0 COUNT 3 STREAMS s >"):
        wire.ask(*call.split())
    eventually(lambda: whole(theirs) == whole(wire), "redis has the same stream")


def test_redis_py_uses_them(daemon):
    client = redis_py.Redis(port=new_cache(daemon), decode_responses=True)
    for number in range(1, 4):
        client.xadd("s", {"f": "v"}, id=f"{number}-0")
    client.xgroup_create("s", "g", "0")
    client.execute_command("XREADGROUP", "GROUP", "g", "c", "STREAMS", "s", ">")
    assert client.execute_command("XDELEX", "s", "ACKED", "IDS", 1, "1-0") == [2]
    assert client.execute_command("XACKDEL", "s", "g", "ACKED", "IDS", 1, "1-0") == [1]
    assert client.eval("return redis.call('XDELEX', 's', 'IDS', 1, '2-0')", 0) == [1]
    assert client.xlen("s") == 1
