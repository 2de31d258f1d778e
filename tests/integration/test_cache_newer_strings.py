"""Strings of Redis 8.4: MSETEX, DIGEST, and SET and DELEX that compare a digest. The expected
replies are those that Redis documents; the digests are those of libxxhash."""

import ctypes
import subprocess

import pytest
import redis as redis_py

from resp_wire import Wire
from strata_daemon import PATIENCE, eventually
from test_cache import new_cache

pytestmark = pytest.mark.once


@pytest.fixture
def wire(daemon):
    return Wire(new_cache(daemon))


def digest(value):
    library = ctypes.CDLL("libxxhash.so.0")
    library.XXH3_64bits.restype = ctypes.c_uint64
    return b"%016x" % library.XXH3_64bits(value, ctypes.c_size_t(len(value)))


def expect(wire, table):
    for call, reply in table:
        assert wire.ask(*call.split()) == reply, call


def bulk(value):
    return b"$%d\r\n%s\r\n" % (len(value), value)


WRONG_TYPE = b"-WRONGTYPE Operation against a key holding the wrong kind of value\r\n"
SYNTAX = b"-ERR syntax error\r\n"


# --- MSETEX

def test_several_keys_are_set_with_one_expiry(wire):
    wire.ask("SET", "a", "old", "EX", "50")
    expect(wire, [
        ("MSETEX 2 a 1 b 2 EX 100", b":1\r\n"), ("MGET a b", b"*2\r\n$1\r\n1\r\n$1\r\n2\r\n"),
        ("MSETEX 1 a 3 KEEPTTL", b":1\r\n"), ("GET a", b"$1\r\n3\r\n"),
        ("MSETEX 2 a 4 c 5 NX", b":0\r\n"), ("EXISTS c", b":0\r\n"), ("GET a", b"$1\r\n3\r\n"),
        ("MSETEX 2 a 4 c 5 XX PX 100000", b":0\r\n"), ("EXISTS c", b":0\r\n"),
        ("MSETEX 2 c 4 d 5 PXAT 99999999999999 nx", b":1\r\n"),
        ("PEXPIRETIME c", b":99999999999999\r\n"), ("PEXPIRETIME d", b":99999999999999\r\n"),
        ("MSETEX 2 c 6 d 7 XX EXAT 99999999999", b":1\r\n"), ("EXPIRETIME d", b":99999999999\r\n"),
        ("MSETEX 1 d 8", b":1\r\n"), ("TTL d", b":-1\r\n"),
        ("MSETEX 3 e 1 e 2 e 3 NX", b":1\r\n"), ("GET e", b"$1\r\n3\r\n"),
    ])
    assert int(wire.ask("TTL", "a")[1:]) > 50
    # Any type is replaced, as with MSET; but NX sees it.
    wire.ask("LPUSH", "l", "x")
    expect(wire, [("MSETEX 1 l v NX", b":0\r\n"), ("MSETEX 1 l v XX", b":1\r\n"),
                  ("GET l", b"$1\r\nv\r\n")])


def test_wrong_words_of_msetex(wire):
    numkeys, pairs = b"-ERR invalid numkeys value\r\n", b"-ERR wrong number of key-value pairs\r\n"
    expire = b"-ERR invalid expire time in 'msetex' command\r\n"
    arity = b"-ERR wrong number of arguments for 'msetex' command\r\n"
    not_integer = b"-ERR value is not an integer or out of range\r\n"
    expect(wire, [
        ("MSETEX", arity), ("MSETEX 1", arity), ("MSETEX 1 a", arity), ("MSETEX a 1 b", numkeys),
        ("MSETEX 0 a 1", numkeys), ("MSETEX -1 a 1", numkeys), ("MSETEX 2147483648 a 1", numkeys),
        ("MSETEX 9223372036854775808 a 1", numkeys), ("MSETEX 2147483647 a 1", pairs),
        ("MSETEX 2 a 1 b", pairs), ("MSETEX 3 a 1 b 2", pairs), ("MSETEX 1 a 1 b", SYNTAX),
        ("MSETEX 1 a 1 NX XX", SYNTAX), ("MSETEX 1 a 1 XX NX", SYNTAX),
        ("MSETEX 1 a 1 EX", SYNTAX), ("MSETEX 1 a 1 EX 1 PX 1", SYNTAX),
        ("MSETEX 1 a 1 KEEPTTL EX 1", SYNTAX), ("MSETEX 1 a 1 EX 1 KEEPTTL", SYNTAX),
        ("MSETEX 1 a 1 GET", SYNTAX), ("MSETEX 1 a 1 EX 0", expire), ("MSETEX 1 a 1 PX -1", expire),
        ("MSETEX 1 a 1 EX 9223372036854775807", expire), ("MSETEX 1 a 1 EX x", not_integer),
        ("MSETEX 1 a 1 EX x NX XX", SYNTAX), ("EXISTS a b", b":0\r\n"),
    ])


def test_keys_and_permissions_of_msetex(daemon):
    wire = Wire(new_cache(daemon))
    getkeys = ("COMMAND", "GETKEYS", "MSETEX")
    assert wire.ask(*getkeys, "2", "a", "1", "b", "2", "EX", "9") == b"*2\r\n$1\r\na\r\n$1\r\nb\r\n"
    for words in (["3", "a", "1", "b", "2"], ["0", "a", "1"], ["x", "a", "1"],
                  ["4611686018427387905", "a", "1"], ["9223372036854775807", "a", "1"]):
        assert wire.ask(*getkeys, *words) == (
            b"-ERR Invalid arguments specified for command\r\n"), words
    wire.ask("ACL", "SETUSER", "writer", "on", "nopass", "+@all", "%W~a*")
    wire.ask("AUTH", "writer", "any")
    assert wire.ask("MSETEX", "2", "a", "1", "a2", "2") == b":1\r\n"
    assert wire.ask("MSETEX", "2", "a", "1", "b", "2").startswith(b"-NOPERM")
    assert wire.ask("MSETEX", "3", "a", "1", "b", "2") == (
        b"-ERR wrong number of key-value pairs\r\n")
    assert wire.ask("DIGEST", "a").startswith(b"-NOPERM")


def test_descriptions_of_the_newer_commands(daemon):
    client = redis_py.Redis(port=new_cache(daemon))
    client.set_response_callback("COMMAND", lambda reply, **_: reply)
    expected = {
        "msetex": (-4, {b"write", b"denyoom", b"movablekeys"}, {b"@write", b"@string", b"@slow"},
                   {b"OW", b"update"}),
        "digest": (2, {b"readonly", b"fast"}, {b"@read", b"@string", b"@fast"},
                   {b"RO", b"access"}),
        "delex": (-2, {b"write", b"fast"}, {b"@write", b"@string", b"@fast"}, {b"RW", b"delete"}),
        "xdelex": (-5, {b"write", b"fast"}, {b"@write", b"@stream", b"@fast"},
                   {b"RW", b"delete"}),
        "xackdel": (-6, {b"write", b"fast"}, {b"@write", b"@stream", b"@fast"},
                    {b"RW", b"update", b"delete"}),
    }
    for name, (arity, flags, categories, uses) in expected.items():
        row = client.execute_command("COMMAND", "INFO", name)[0]
        assert (row[1], set(row[2]), set(row[6])) == (arity, flags, categories), name
        assert set(row[8][0][1]) == uses, name
        about = client.execute_command("COMMAND", "DOCS", name)[1]
        assert dict(zip(about[::2], about[1::2]))[b"since"] in (b"8.2.0", b"8.4.0"), name
        assert name.encode() in client.execute_command("ACL", "CAT",
                                                       "stream" if name[0] == "x" else "string")
    for name, since in (("cluster|myshardid", b"7.2.0"), ("cluster|slot-stats", b"8.2.0")):
        about = client.execute_command("COMMAND", "DOCS", name)[1]
        assert dict(zip(about[::2], about[1::2]))[b"since"] == since


def test_commands_of_a_cluster_that_are_newer(wire):
    disabled = b"-ERR This instance has cluster support disabled\r\n"
    expect(wire, [
        ("CLUSTER MYSHARDID", disabled), ("CLUSTER SLOT-STATS SLOTSRANGE 0 1", disabled),
        ("CLUSTER SLOT-STATS ORDERBY KEY-COUNT LIMIT 1 DESC", disabled),
        ("CLUSTER MYSHARDID x",
         b"-ERR wrong number of arguments for 'cluster|myshardid' command\r\n"),
        ("CLUSTER SLOT-STATS",
         b"-ERR wrong number of arguments for 'cluster|slot-stats' command\r\n")])


# --- DIGEST

def test_a_digest_is_that_of_the_library(wire):
    assert digest(b"Hello world") == b"b6acb9d84a38ff74"  # as Redis's page of DIGEST has it
    # A number, a leading zero, lengths around those at which XXH3 changes its way, and long ones.
    values = [b"Hello world", b"123", b"-5", b"v8", b"\0", *(b"x" * size for size in (
        1, 3, 4, 8, 9, 16, 17, 128, 129, 240, 241, 1024, 5000, 1 << 20))]
    for value in values:
        wire.ask("SET", "k", value)
        assert wire.ask("DIGEST", "k") == bulk(digest(value)), value[:20]
    wire.ask("SETRANGE", "empty", "0", "x")
    wire.ask("SET", "empty", "")
    assert wire.ask("DIGEST", "empty") == bulk(digest(b""))
    wire.ask("LPUSH", "l", "x")
    expect(wire, [("DIGEST none", b"$-1\r\n"), ("DIGEST l", WRONG_TYPE),
                  ("DIGEST", b"-ERR wrong number of arguments for 'digest' command\r\n"),
                  ("DIGEST k k", b"-ERR wrong number of arguments for 'digest' command\r\n")])


def test_set_compares_a_digest(wire):
    other = b"0" * 16
    hello = digest(b"hello")
    assert wire.ask("SET", "k", "v", "IFDEQ", hello) == b"$-1\r\n"
    assert wire.ask("EXISTS", "k") == b":0\r\n"
    assert wire.ask("SET", "k", "hello", "IFDNE", hello) == b"+OK\r\n"
    assert wire.ask("SET", "k", "v", "IFDNE", hello) == b"$-1\r\n"
    assert wire.ask("SET", "k", "v", "IFDEQ", other) == b"$-1\r\n"
    assert wire.ask("SET", "k", "hello", "IFDEQ", hello.upper(), "GET") == b"$5\r\nhello\r\n"
    assert wire.ask("SET", "k", "bye", "ifdeq", hello, "EX", "100") == b"+OK\r\n"
    assert wire.ask("SET", "k", "17", "IFDEQ", digest(b"bye"), "KEEPTTL") == b"+OK\r\n"
    assert wire.ask("TTL", "k") != b":-1\r\n"
    for wrong in (b"", b"0" * 15, b"0" * 17, b"0x" + b"0" * 15):
        for word in ("IFDEQ", "IFDNE"):
            assert wire.ask("SET", "k", "v", word, wrong) == (
                b"-ERR must be exactly 16 hexadecimal characters\r\n"), wrong
            assert wire.ask("DELEX", "k", word, wrong) == (
                b"-ERR must be exactly 16 hexadecimal characters\r\n"), wrong
    assert wire.ask("GET", "k") == b"$2\r\n17\r\n"
    for words in ("IFDEQ", "IFDEQ 1 NX", "NX IFDEQ 1", "IFDEQ 1 IFEQ 1", "IFDNE 1 IFDNE 1"):
        assert wire.ask("SET", "k", "v", *words.split()) == SYNTAX, words
    wire.ask("LPUSH", "l", "x")
    assert wire.ask("SET", "l", "v", "IFDEQ", other) == WRONG_TYPE
    assert wire.ask("SET", "l", "v", "IFDNE", other) == WRONG_TYPE


def test_delex_compares_a_digest(wire):
    wire.ask("SET", "k", "hello")
    hello, other = digest(b"hello"), b"f" * 16
    for condition in ("IFEQ", "IFNE", "IFDEQ", "IFDNE", "FOO"):
        assert wire.ask("DELEX", "none", condition, "x") == b":0\r\n"
    assert wire.ask("DELEX", "k", "IFDEQ", other) == b":0\r\n"
    assert wire.ask("DELEX", "k", "IFDNE", hello.upper()) == b":0\r\n"
    assert wire.ask("DELEX", "k", "IFDEQ", hello) == b":1\r\n"
    wire.ask("SET", "k", "hello")
    assert wire.ask("DELEX", "k", "IFDNE", other) == b":1\r\n"
    wire.ask("SET", "k", "hello")
    assert wire.ask("DELEX", "k", "FOO", "x") == (
        b"-ERR Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE\r\n")
    wire.ask("LPUSH", "l", "x")
    for condition in ("IFDEQ", "IFDNE", "FOO"):
        assert wire.ask("DELEX", "l", condition, hello) == (
            b"-ERR Key should be of string type if conditions are specified\r\n")


def test_a_comparison_of_a_digest_reads_the_value(wire):
    wire.ask("ACL", "SETUSER", "writer", "on", "nopass", "+@all", "%W~*")
    wire.ask("SET", "k", "secret")
    wire.ask("AUTH", "writer", "any")
    for condition in ("IFDEQ", "ifdne"):
        assert wire.ask("SET", "k", "v", condition, "0" * 16).startswith(b"-NOPERM")


# --- memory, log, followers, scripts

def test_a_full_cache_refuses_what_takes_memory(daemon):
    wire = Wire(new_cache(daemon))
    wire.ask("SET", "k", "hello")
    wire.ask("XADD", "s", "1-1", "f", "v")
    wire.ask("CONFIG", "SET", "maxmemory", "1")
    oom = b"-OOM command not allowed when used memory > 'maxmemory'.\r\n"
    assert wire.ask("MSETEX", "1", "a", "1") == oom
    assert wire.ask("SET", "k", "v", "IFDNE", "0" * 16) == oom
    assert wire.ask("XADD", "s", "MAXLEN", "1", "DELREF", "*", "f", "v") == oom
    assert wire.ask("DIGEST", "k") == bulk(digest(b"hello"))
    assert wire.ask("XDELEX", "s", "IDS", "1", "1-1") == b"*1\r\n:1\r\n"
    assert wire.ask("DELEX", "k", "IFDEQ", digest(b"hello")) == b":1\r\n"


def test_the_log_and_followers_get_commands_of_every_version(daemon, tmp_path):
    port = new_cache(daemon, "--persistent", str(tmp_path / "db.aof"))
    follower = Wire(new_cache(daemon, "--follow", f"tcp://127.0.0.1:{port}", "--redis-version",
                              "7.0", name="follower"))
    wire = Wire(port)
    wire.ask("SET", "old", "1", "PXAT", "99999999999999")
    expect(wire, [("MSETEX 2 a 1 b 2", b":1\r\n"), ("MSETEX 2 c 1 d 2 EX 1000", b":1\r\n"),
                  ("MSETEX 2 old 2 new 3 KEEPTTL", b":1\r\n"), ("MSETEX 1 a 9 NX", b":0\r\n")])
    wire.ask("SET", "e", "hello")
    wire.ask("SET", "e", "bye", "IFDEQ", digest(b"hello"), "KEEPTTL")
    wire.ask("SET", "f", "hello")
    wire.ask("DELEX", "f", "IFDEQ", digest(b"hello"))
    whole = wire.ask("DEBUG", "DIGEST")
    eventually(lambda: follower.ask("DEBUG", "DIGEST") == whole, "the follower has the same data")
    wire.ask("WAITAOF", "1", "0", "0")
    log = (tmp_path / "db.aof").read_bytes()
    assert b"MSET\r\n" in log and b"KEEPTTL" in log
    assert not any(word in log for word in (b"MSETEX", b"IFDEQ", b"DELEX"))
    daemon.cli("restart", "db")
    wire = Wire(int(daemon.show("db")["endpoints"][0].rsplit(":", 1)[1]))
    assert wire.ask("DEBUG", "DIGEST") == whole
    assert wire.ask("PEXPIRETIME", "old") == b":99999999999999\r\n"
    assert wire.ask("TTL", "new") == b":-1\r\n"


def test_keys_that_msetex_sets_are_seen_by_who_watches(daemon):
    port = new_cache(daemon)
    wire, other = Wire(port), Wire(port)
    wire.ask("CONFIG", "SET", "notify-keyspace-events", "KEA")
    wire.ask("WATCH", "b")
    other.ask("MSETEX", "2", "a", "1", "b", "2", "EX", "9")
    assert wire.ask_all([["MULTI"], ["EXEC"]]) == b"+OK\r\n*-1\r\n"
    wire.send("PSUBSCRIBE", "__keyevent*")
    wire.receive()
    other.ask("MSETEX", "1", "c", "1", "PX", "90000")
    events = [wire.receive().split(b"\r\n")[-4:-1:2] for _ in range(2)]
    assert events == [[b"__keyevent@0__:set", b"c"], [b"__keyevent@0__:expire", b"c"]]


def test_scripts_and_clients_use_them(daemon):
    port = new_cache(daemon)
    client = redis_py.Redis(port=port)
    assert client.eval("return redis.call('MSETEX', 2, 'a', 1, 'b', 2, 'EX', 100)", 0) == 1
    assert client.eval("return redis.call('DIGEST', 'a')", 0) == digest(b"1")
    with client.pipeline() as pipe:
        pipe.execute_command("MSETEX", 1, "a", "2", "NX").execute_command("DIGEST", "a")
        assert pipe.execute() == [0, digest(b"1")]
    done = subprocess.run(["redis-cli", "-p", str(port), "MSETEX", "1", "k", "v", "EX", "10"],
                          capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert done.stdout == "1\n"
