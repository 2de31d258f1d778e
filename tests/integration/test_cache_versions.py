"""The version of Redis that a cache is compatible with (--redis-version), and the smaller commands
and options of versions after 7.0."""

import pytest
import redis as redis_py

from resp_wire import RedisServer, Wire, encode
from strata_daemon import eventually
from test_cache import new_cache

pytestmark = pytest.mark.once


@pytest.fixture
def wire(daemon):
    return Wire(new_cache(daemon))


# A call of each addition, and the version that has it first.
ADDITIONS = [
    ("7.2", "CLIENT SETINFO LIB-NAME x"),
    ("7.2", "CLIENT NO-TOUCH ON"),
    ("7.2", "WAITAOF 0 0 1"),
    ("7.2", "ZRANK z m WITHSCORE"),
    ("7.2", "ZREVRANK z m WITHSCORE"),
    ("7.4", "HEXPIRE h 10 FIELDS 1 f"),
    ("7.4", "HPEXPIRE h 10 FIELDS 1 f"),
    ("7.4", "HEXPIREAT h 10 FIELDS 1 f"),
    ("7.4", "HPEXPIREAT h 10 FIELDS 1 f"),
    ("7.4", "HTTL h FIELDS 1 f"),
    ("7.4", "HPTTL h FIELDS 1 f"),
    ("7.4", "HEXPIRETIME h FIELDS 1 f"),
    ("7.4", "HPEXPIRETIME h FIELDS 1 f"),
    ("7.4", "HPERSIST h FIELDS 1 f"),
    ("7.4", "HSCAN there 0 NOVALUES"),
    ("7.4", "CLIENT KILL MAXAGE 1000000"),
    ("7.4", "XREAD STREAMS s +"),
    ("8.0", "HGETDEL h FIELDS 1 f"),
    ("8.0", "HGETEX h FIELDS 1 f"),
    ("8.0", "HSETEX h FIELDS 1 f v"),
    ("8.2", "BITOP DIFF d a b"),
    ("8.2", "BITOP DIFF1 d a b"),
    ("8.2", "BITOP ANDOR d a b"),
    ("8.2", "BITOP ONE d a b"),
    ("8.2", "XDELEX s IDS 1 1-1"),
    ("8.2", "XACKDEL s g IDS 1 1-1"),
    ("8.2", "XADD s2 KEEPREF * f v"),
    ("8.2", "XTRIM s MAXLEN 1 DELREF"),
    ("8.2", "XTRIM s MAXLEN 1 ACKED"),
    ("8.4", "MSETEX 1 k2 v"),
    ("8.4", "DIGEST none"),
    ("8.4", "SET k v IFDNE 0000000000000000"),
    ("8.4", "XREADGROUP GROUP g c CLAIM 0 STREAMS grouped >"),
    ("8.4", "SET k v IFEQ v"),
    ("8.4", "SET k v IFNE v"),
    ("8.4", "DELEX k"),
    ("9.0", "DELIFEQ k v"),
]
REPORTED = {"all": b"7.0.15", "7.0": b"7.0.15", "7.2": b"7.2.0", "7.4": b"7.4.0", "8.0": b"8.0.0",
            "8.2": b"8.2.0", "8.4": b"8.4.0"}


@pytest.mark.parametrize("version", REPORTED)
def test_a_version_knows_what_it_has_and_nothing_later(daemon, version):
    port = new_cache(daemon, "--redis-version", version)
    wire = Wire(port)
    wire.ask("HSET", "there", "f", "v")
    wire.ask("XGROUP", "CREATE", "grouped", "g", "0", "MKSTREAM")
    known = "99" if version == "all" else version
    for since, call in ADDITIONS:
        reply = wire.ask(*call.split())
        is_known = since <= known
        assert reply.startswith(b"-") != is_known, (version, call, reply)
    assert REPORTED[version] in wire.ask("HELLO", "2")
    assert b"redis_version:" + REPORTED[version] in wire.ask("INFO", "server")
    assert REPORTED[version] in wire.ask("LOLWUT")
    assert wire.ask("EVAL", "return redis.REDIS_VERSION", "0").endswith(REPORTED[version] + b"\r\n")
    rows = redis_py.Redis(port=port)
    rows.set_response_callback("COMMAND", lambda reply, **_: reply)
    names = {row[0].decode() for row in rows.execute_command("COMMAND")}
    assert ("hexpire" in names) == ("7.4" <= known) and "hset" in names
    assert ("hgetex" in names) == ("8.0" <= known)
    docs = rows.execute_command("COMMAND", "DOCS")
    assert {name.decode() for name in docs[::2]} == names
    assert rows.execute_command("COMMAND", "COUNT") == len(names)
    assert wire.ask("COMMAND", "INFO", "hexpire").startswith(
        b"*1\r\n*10" if "7.4" <= known else b"*1\r\n*-1")
    assert (b"client|setinfo" in wire.ask("COMMAND", "INFO", "client")) == ("7.2" <= known)
    listed = wire.ask("COMMAND", "LIST", "FILTERBY", "PATTERN", "client|*")
    assert (b"client|setinfo" in listed) == ("7.2" <= known)
    rank = rows.execute_command("COMMAND", "INFO", "zrank")[0]
    assert rank[1] == (-3 if "7.2" <= known else 3)


def test_a_later_command_is_unknown_as_redis_says_it(daemon, tmp_path):
    """Everything that is later than 7.0 gets the bytes that redis-server 7.0 sends."""
    redis = RedisServer(tmp_path / "redis")
    ours, theirs = Wire(new_cache(daemon, "--redis-version", "7.0")), Wire(redis.port)
    calls = [call.split() for _, call in ADDITIONS]
    calls += [["EVAL", "return redis.pcall('HTTL', 'h', 'FIELDS', '1', 'f')", "0"],
              ["EVAL", "return redis.pcall('CLIENT', 'NO-TOUCH', 'ON')", "0"],
              ["COMMAND", "GETKEYS", "HTTL", "h", "FIELDS", "1", "f"],
              ["COMMAND", "INFO", "httl", "client|setinfo", "zrank"],
              ["CLIENT", "SETINFO"], ["CLIENT", "KILL", "MAXAGE", "x"],
              ["XREAD", "COUNT", "1", "STREAMS", "s", "+"], ["WAITAOF"]]
    for call in calls:
        our, their = ours.ask(*call), theirs.ask(*call)
        if call[:2] != ["COMMAND", "INFO"]:
            assert our == their, call
    for call in (["MULTI"], ["HTTL", "h", "FIELDS", "1", "f"], ["EXEC"]):
        ours.send(*call)
        theirs.send(*call)
        assert ours.receive() == theirs.receive(), call
    redis.close()


def test_the_version_must_be_one_of_the_list(daemon):
    done = daemon.run("create", "cache", "db", "-p", "0", "--redis-version", "6.2")
    assert done.returncode != 0 and "redis-version" in done.stderr
    assert "8.4" in done.stderr


def test_a_client_tells_its_library(daemon):
    port = new_cache(daemon)
    other, wire = Wire(port), Wire(port)
    assert other.ask("CLIENT", "SETINFO", "LIB-NAME", "toaster") == b"+OK\r\n"
    assert other.ask("CLIENT", "SETINFO", "lib-ver", "3.1") == b"+OK\r\n"
    assert b" lib-name=toaster lib-ver=3.1\n" in wire.ask("CLIENT", "LIST")
    assert wire.ask("CLIENT", "SETINFO", "lib-name", "a b") == (
        b"-ERR lib-name cannot contain spaces, newlines or special characters.\r\n")
    assert wire.ask("CLIENT", "SETINFO", "LIB-VER", "1\n2") == (
        b"-ERR lib-ver cannot contain spaces, newlines or special characters.\r\n")
    assert wire.ask("CLIENT", "SETINFO", "LIB-AGE", "1") == (
        b"-ERR Unrecognized option 'LIB-AGE'\r\n")
    assert wire.ask("CLIENT", "SETINFO", "LIB-VER").startswith(b"-ERR wrong number of arguments")
    assert b" lib-name= lib-ver=\n" in wire.ask("CLIENT", "INFO")
    assert wire.ask("CLIENT", "SETINFO", "LIB-VER", "") == b"+OK\r\n"


def test_no_touch_leaves_the_access_of_a_key(wire):
    def idle_s():
        return int(wire.ask("OBJECT", "IDLETIME", "k")[1:])

    wire.ask("SET", "k", "v")
    wire.ask("CLIENT", "NO-TOUCH", "ON")
    assert b"flags=T" in wire.ask("CLIENT", "INFO")
    eventually(lambda: idle_s() >= 2, "the key is idle")
    wire.ask("GET", "k")
    before = idle_s()
    assert before >= 2
    assert wire.ask("CLIENT", "NO-TOUCH", "OFF") == b"+OK\r\n"
    wire.ask("GET", "k")
    assert idle_s() < before
    assert wire.ask("CLIENT", "NO-TOUCH", "MAYBE") == b"-ERR syntax error\r\n"


def test_clients_are_killed_by_their_age(daemon):
    port = new_cache(daemon)
    old = Wire(port)
    old.ask("PING")
    young = Wire(port)
    assert young.ask("CLIENT", "KILL", "MAXAGE", "100000") == b":0\r\n"
    assert young.ask("CLIENT", "KILL", "MAXAGE", "x") == (
        b"-ERR maxage is not an integer or out of range\r\n")
    assert young.ask("CLIENT", "KILL", "MAXAGE", "0") == (
        b"-ERR maxage should be greater than 0\r\n")
    eventually(lambda: young.ask("CLIENT", "KILL", "MAXAGE", "1", "SKIPME", "yes") == b":1\r\n",
               "the old client is killed")
    assert old.socket.recv(1) == b""


def test_ranks_with_scores(wire):
    wire.ask("ZADD", "z", "1", "a", "2.5", "b")
    assert wire.ask("ZRANK", "z", "b", "WITHSCORE") == b"*2\r\n:1\r\n$3\r\n2.5\r\n"
    assert wire.ask("ZREVRANK", "z", "b", "withscore") == b"*2\r\n:0\r\n$3\r\n2.5\r\n"
    assert wire.ask("ZRANK", "z", "c", "WITHSCORE") == b"*-1\r\n"
    assert wire.ask("ZRANK", "none", "c", "WITHSCORE") == b"*-1\r\n"
    assert wire.ask("ZRANK", "z", "c") == b"$-1\r\n"
    assert wire.ask("ZRANK", "z", "b", "WITHSCORES") == b"-ERR syntax error\r\n"
    assert wire.ask("ZRANK", "z", "b", "WITHSCORE", "x").startswith(b"-ERR wrong number")
    wire.ask("HELLO", "3")
    assert wire.ask("ZRANK", "z", "b", "WITHSCORE") == b"*2\r\n:1\r\n,2.5\r\n"
    assert wire.ask("ZRANK", "z", "c", "WITHSCORE") == b"_\r\n"


def test_the_last_entry_of_a_stream(daemon):
    port = new_cache(daemon)
    wire = Wire(port)
    assert wire.ask("XREAD", "STREAMS", "s", "+") == b"*-1\r\n"
    for ident in ("1-0", "1-18446744073709551615", "2-0"):
        wire.ask("XADD", "s", ident, "f", ident)
        assert wire.ask("XREAD", "COUNT", "9", "STREAMS", "s", "+") == (
            b"*1\r\n*2\r\n$1\r\ns\r\n*1\r\n*2\r\n" + encode([ident])[4:]
            + b"*2\r\n$1\r\nf\r\n" + encode([ident])[4:])
    wire.ask("XDEL", "s", "2-0")
    assert b"1-18446744073709551615" in wire.ask("XREAD", "STREAMS", "s", "+")
    wire.ask("XTRIM", "s", "MAXLEN", "0")
    assert wire.ask("XREAD", "STREAMS", "s", "+") == b"*-1\r\n"
    wire.send("XREAD", "BLOCK", "0", "STREAMS", "s", "+")
    other = Wire(port)
    eventually(lambda: b"blocked_clients:1" in other.ask("INFO", "clients"), "the client waits")
    other.ask("XADD", "s", "3-0", "f", "v")
    assert b"3-0" in wire.receive()


def test_a_comparison_reads_the_value(daemon):
    """SET that says whether a value is equal needs the permission to read it, as with GET."""
    wire = Wire(new_cache(daemon))
    wire.ask("ACL", "SETUSER", "writer", "on", "nopass", "+@all", "%W~*")
    wire.ask("SET", "k", "secret")
    wire.ask("AUTH", "writer", "any")
    assert wire.ask("SET", "k", "v", "XX") == b"+OK\r\n"
    for condition in ("IFEQ", "IFNE", "ifeq"):
        assert wire.ask("SET", "k", "v", condition, "secret").startswith(b"-NOPERM"), condition
        assert b"access" in wire.ask("COMMAND", "GETKEYSANDFLAGS", "SET", "k", "v", condition, "x")


def test_conditional_set_and_delete(daemon, tmp_path):
    port = new_cache(daemon, "--persistent", str(tmp_path / "db.aof"))
    wire = Wire(port)
    assert wire.ask("SET", "k", "new", "IFEQ", "old") == b"$-1\r\n"
    assert wire.ask("EXISTS", "k") == b":0\r\n"
    assert wire.ask("SET", "k", "old", "IFNE", "other") == b"+OK\r\n"
    assert wire.ask("SET", "k", "new", "IFNE", "old") == b"$-1\r\n"
    assert wire.ask("SET", "k", "new", "IFEQ", "old", "PX", "100000") == b"+OK\r\n"
    assert wire.ask("SET", "k", "17", "IFEQ", "new", "KEEPTTL", "GET") == b"$3\r\nnew\r\n"
    assert wire.ask("TTL", "k") != b":-1\r\n"
    assert wire.ask("SET", "k", "18", "ifeq", "17") == b"+OK\r\n"
    assert wire.ask("TTL", "k") == b":-1\r\n"
    assert wire.ask("SET", "k", "19", "GET", "IFEQ", "0") == b"$2\r\n18\r\n"
    for words in ("IFEQ", "IFEQ 1 NX", "NX IFEQ 1", "XX IFNE 1", "IFEQ 1 IFNE 2", "IFEQ 1 IFEQ 1"):
        assert wire.ask("SET", "k", "v", *words.split()) == b"-ERR syntax error\r\n", words
    wire.ask("LPUSH", "l", "x")
    assert wire.ask("SET", "l", "v", "IFEQ", "x").startswith(b"-WRONGTYPE")
    assert wire.ask("SET", "l", "v", "IFNE", "x").startswith(b"-WRONGTYPE")
    assert wire.ask("DELIFEQ", "l", "x").startswith(b"-WRONGTYPE")
    assert wire.ask("DELEX", "l", "IFEQ", "x") == (
        b"-ERR Key should be of string type if conditions are specified\r\n")
    assert wire.ask("DELEX", "k", "IFEQ", "17") == b":0\r\n"
    assert wire.ask("DELEX", "k", "IFNE", "18") == b":0\r\n"
    assert wire.ask("DELEX", "none", "IFNE", "18") == b":0\r\n"
    assert wire.ask("DELEX", "k", "IFSO", "18").startswith(b"-ERR Invalid condition")
    assert wire.ask("DELEX", "k", "IFEQ").startswith(b"-ERR wrong number of arguments")
    for number, key in enumerate(("a", "b", "c")):
        wire.ask("SET", key, number)
    assert wire.ask("DELEX", "a", "IFEQ", "0") == b":1\r\n"
    assert wire.ask("DELIFEQ", "b", "0") == b":0\r\n"
    assert wire.ask("DELIFEQ", "b", "1") == b":1\r\n"
    assert wire.ask("DELIFEQ", "b", "1") == b":0\r\n"
    assert wire.ask("DELEX", "c") == b":1\r\n"
    assert wire.ask("DELEX", "l") == b":1\r\n"
    # The log has plain commands, which every version reads.
    wire.ask("WAITAOF", "1", "0", "0")
    log = (tmp_path / "db.aof").read_bytes()
    assert b"SET" in log and not any(word in log for word in (b"IFEQ", b"IFNE", b"DELEX", b"DELIF"))
    daemon.cli("restart", "db")
    wire = Wire(int(daemon.show("db")["endpoints"][0].rsplit(":", 1)[1]))
    assert wire.ask("GET", "k") == b"$2\r\n18\r\n" and wire.ask("DBSIZE") == b":1\r\n"


def bits_of(operation, values):
    size = max(len(each) for each in values)
    columns = zip(*(each.ljust(size, b"\0") for each in values))
    result = []
    for column in columns:
        first, others, once, several = column[0], 0, 0, 0
        for each in column[1:]:
            others |= each
        for each in column:
            several |= once & each
            once |= each
        result.append({"DIFF": first & ~others, "DIFF1": others & ~first,
                       "ANDOR": first & others, "ONE": once & ~several}[operation] & 255)
    return bytes(result)


def test_bit_operations(daemon, tmp_path):
    port = new_cache(daemon, "--persistent", str(tmp_path / "db.aof"))
    wire = Wire(port)
    sets = [[b"\xff\x0f", b"\x0f\xf0\xaa", b"\x11"], [b"\x01", b"\x03", b"\x07", b"\x0f\xff"],
            [b"\xaa" * 40, b""], [b"", b"\x55\xff"]]
    for values in sets:
        keys = [f"k{i}" for i in range(len(values))]
        wire.ask("DEL", *(f"k{i}" for i in range(9)))
        for key, value in zip(keys, values):
            if value:
                wire.ask("SET", key, value)
        for operation in ("DIFF", "DIFF1", "ANDOR", "ONE"):
            expected = bits_of(operation, values)
            assert wire.ask("BITOP", operation, "d", *keys) == b":%d\r\n" % len(expected)
            assert wire.ask("GET", "d") == b"$%d\r\n%s\r\n" % (len(expected), expected), operation
    for operation in ("diff", "DIFF1", "ANDOR"):
        assert wire.ask("BITOP", operation, "d", "k0") == (
            b"-ERR BITOP %s must be called with at least two source keys.\r\n"
            % operation.upper().encode())
    wire.ask("DEL", "k0", "k1")
    assert wire.ask("BITOP", "ONE", "d", "k0", "k1") == b":0\r\n"
    assert wire.ask("EXISTS", "d") == b":0\r\n"
    wire.ask("LPUSH", "l", "x")
    assert wire.ask("BITOP", "DIFF", "d", "l", "k0").startswith(b"-WRONGTYPE")
    assert wire.ask("BITOP", "ONE", "d", "k0", "l").startswith(b"-WRONGTYPE")
    wire.ask("WAITAOF", "1", "0", "0")
    log = (tmp_path / "db.aof").read_bytes()
    assert b"SET" in log and b"BITOP" not in log


def test_waiting_for_the_log(daemon, tmp_path):
    bare = Wire(new_cache(daemon, name="bare"))
    assert bare.ask("WAITAOF", "0", "0", "0") == b"*2\r\n:0\r\n:0\r\n"
    assert bare.ask("WAITAOF", "1", "0", "0") == (
        b"-ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.\r\n")
    wire = Wire(new_cache(daemon, "--persistent", str(tmp_path / "db.aof"), name="kept"))
    wire.ask("SET", "k", "v")
    assert wire.ask("WAITAOF", "1", "0", "0") == b"*2\r\n:1\r\n:0\r\n"
    assert wire.ask("WAITAOF", "1", "1", "300") == b"*2\r\n:1\r\n:0\r\n"
    for call, reply in (("MULTI", b"+OK"), ("WAITAOF 1 5 0", b"+QUEUED"),
                        ("EXEC", b"*1\r\n*2\r\n:")):
        wire.send(*call.split())
        assert wire.receive().startswith(reply)
    for words, error in (("2 0 0", b"value is out of range, value must between 0 and 1"),
                         ("-1 0 0", b"value is out of range, value must between 0 and 1"),
                         ("x 0 0", b"value is not an integer or out of range"),
                         ("0 -1 0", b"value is out of range, must be positive"),
                         ("0 x 0", b"value is not an integer or out of range"),
                         ("0 0 -1", b"timeout is negative"),
                         ("0 0 x", b"timeout is not an integer or out of range")):
        assert wire.ask("WAITAOF", *words.split()) == b"-ERR " + error + b"\r\n"
    # A client that leaves while it waits harms nobody.
    leaving = Wire(int(daemon.show("kept")["endpoints"][0].rsplit(":", 1)[1]))
    leaving.send("WAITAOF", "0", "3", "0")
    leaving.close()
    wire.ask("SET", "k", "w")
    assert wire.ask("WAITAOF", "1", "0", "0") == b"*2\r\n:1\r\n:0\r\n"


def test_waiting_for_the_log_of_a_follower(daemon, tmp_path):
    port = new_cache(daemon, name="leader")
    leader = Wire(port)
    follower = Wire(new_cache(daemon, "--follow", f"tcp://127.0.0.1:{port}", "--persistent",
                              str(tmp_path / "follower.aof"), name="follower"))
    eventually(lambda: b"master_link_status:up" in follower.ask("INFO", "replication"),
               "the follower has its leader's data")
    leader.ask("SET", "k", "v")
    assert leader.ask("WAITAOF", "0", "1", "0") == b"*2\r\n:0\r\n:1\r\n"
    assert follower.ask("WAITAOF", "1", "0", "0").startswith(
        b"-ERR WAITAOF cannot be used with replica instances.")
