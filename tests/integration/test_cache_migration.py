"""MIGRATE: a cache and a redis-server move keys to each other; replies, events, what is propagated
and what is left are Redis's. Other clients are served meanwhile."""

import contextlib
import socket

import pytest

from cache_contents import assert_same, contents
from resp_wire import RedisServer, Wire
from strata_daemon import eventually
from test_cache import new_cache
from twin_servers import Listener, Twins

VALUES = """
SET text some-text|SET number 12345|SET brief v PX 10000000|SET long {long}|RPUSH list a b 3 {long}
SADD ints 1 2 3|SADD set a b {long}|HSET hash f v g w|ZADD zset 1 a 2.5 b|XADD stream 1-1 f v
XGROUP CREATE stream group 0|PFADD log a b c|SETBIT bits 100 1|GEOADD geo 1 2 place
""".replace("\n", "|").replace("{long}", "x" * 3000).strip("|").split("|")
KEYS = "text number brief long list ints set hash zset stream log bits geo".split()


@pytest.fixture
def target(tmp_path):
    server = RedisServer(tmp_path / "target")
    yield server
    server.close()


@pytest.fixture(params=["cache", "redis"])
def target_port(request, daemon, target):
    return target.port if request.param == "redis" else new_cache(daemon, name="target")


def data_of(port):
    """Returns the contents; of expiry times, only whether there is one: the other server's clock
    counts the rest."""
    return {key: (kind, value, expires != b":-1\r\n")
            for key, (kind, value, expires) in contents(port).items()}


def fill(wire):
    wire.ask_all([each.split(" ") for each in VALUES])


def migrate(port, *words, database=0, timeout=20000, key=""):
    return ["MIGRATE", "127.0.0.1", port, key, database, timeout, *words]


def test_every_kind_of_value_arrives(daemon, target_port):
    port = new_cache(daemon)
    source, goal = Wire(port), Wire(target_port)
    fill(source)
    before = data_of(port)
    assert source.ask(*migrate(target_port, "COPY", "KEYS", *KEYS)) == b"+OK\r\n"
    assert_same(before, data_of(port))
    assert_same(before, data_of(target_port))
    ttl = int(goal.ask("PTTL", "brief")[1:])
    assert 9_000_000 < ttl <= 10_000_000
    assert goal.ask("FLUSHALL") == b"+OK\r\n"
    for key in KEYS:
        assert source.ask(*migrate(target_port, key=key)) == b"+OK\r\n"
    assert source.ask("DBSIZE") == b":0\r\n"
    assert_same(before, data_of(target_port))


# Each is sent to a cache and to a redis-server that have the values, and whose targets have `text`.
CALLS = """
text|text COPY|text REPLACE|nokey|nokey REPLACE|text BAD|text COPY COPY|text KEYS a b|text AUTH
text AUTH pw|text AUTH2 u|text AUTH2 u p|text AUTH pw COPY|text AUTH COPY|text AUTH x AUTH2 a b
 KEYS text list set| KEYS text list REPLACE| REPLACE KEYS text list| KEYS nokey| KEYS
 KEYS list list| COPY KEYS brief list nokey| REPLACE KEYS list list| COPY|text keys
hash copy replace| KEYS text
 COPY REPLACE KEYS text text|ints auth
"""


@pytest.mark.parametrize("call", CALLS.strip("\n").replace("\n", "|").split("|"))
def test_each_call_gives_redis_s_reply_events_and_data(daemon, redis, target, call):
    key, *words = call.split(" ")
    outcomes = []
    for port in (new_cache(daemon), redis.port):
        goal = Wire(target.port)
        goal.ask_all([["FLUSHALL"], ["SET", "text", "is there"]])
        wire = Wire(port)
        fill(wire)
        listener = Listener(port)
        reply = wire.ask(*migrate(target.port, *words, key=key))
        wire.ask("PUBLISH", "__key_mark", "the end")
        events = listener.events_until(b"the end")
        outcomes.append((reply, events, data_of(port), data_of(target.port)))
        listener.close()
    assert outcomes[0][0] == outcomes[1][0]
    assert outcomes[0][1] == outcomes[1][1]
    for ours, theirs in zip(outcomes[0][2:], outcomes[1][2:]):
        assert_same(ours, theirs)


RESTORED = bytes.fromhex("00036162630a00d9ac303d4172a2e2")


@pytest.mark.parametrize("command", ["RESTORE", "RESTORE-ASKING"])
def test_a_replaced_key_has_redis_s_events(daemon, redis, command):
    twins = Twins([new_cache(daemon), redis.port], 2)
    for words in ([0], [0], [0, "REPLACE"], [100000, "REPLACE"], [1, "REPLACE", "ABSTTL"],
                  [1, "ABSTTL"], [0, "REPLACE"], [0, "REPLACE", "IDLETIME", 5]):
        twins.compare([[command, "k", words[0], RESTORED, *words[1:]]])
    twins.compare([["RPUSH", "l", "a"], [command, "l", 0, RESTORED, "REPLACE"],
                   [command, "l", 0, "x", "REPLACE"]])
    twins.close()


WRONG = [
    ["MIGRATE"], ["MIGRATE", "a", "b", "c", "d"], ["MIGRATE", "nosuch.invalid", 7, "k", 0, 100],
    ["MIGRATE", "127.0.0.1", "x", "k", 0, 100], ["MIGRATE", "127.0.0.1", 1, "k", 0, 100],
    ["MIGRATE", "127.0.0.1", 7, "k", "x", 100], ["MIGRATE", "127.0.0.1", 7, "k", 0, "x"],
    ["MIGRATE", "127.0.0.1", 7, "nokey", "x", "x"], ["MIGRATE", "127.0.0.1", "x", "nokey", 0, 0],
    ["MIGRATE", "127.0.0.1", 99999, "k", 0, 100], ["MIGRATE", "127.0.0.1", 0, "k", 0, 100],
    ["MIGRATE", "127.0.0.1", -5, "k", 0, 100], ["MIGRATE", "a\0b", 1, "k", 0, 100],
    ["MIGRATE", "", 1, "k", 0, 100], ["MIGRATE", "tcp://127.0.0.1", 1, "k", 0, 100],
]


def test_wrong_calls_are_refused_as_redis_refuses_them(daemon, redis, target):
    ours, theirs = Wire(new_cache(daemon)), Wire(redis.port)
    for wire in (ours, theirs):
        wire.ask("SET", "k", "v")
    for words in WRONG:
        assert ours.ask(*words) == theirs.ask(*words), words
    for database in (16, 99, -2, 2**40):
        words = migrate(target.port, key="k", database=database)
        reply = ours.ask(*words)
        # Redis sends its values all the same, into the database 0.
        assert Wire(target.port).ask("DBSIZE") == b":0\r\n"
        assert reply == theirs.ask(*words), words
        Wire(target.port).ask("FLUSHALL")
    assert ours.ask("GET", "k") == b"$1\r\nv\r\n"


def test_nothing_is_sent_before_the_target_has_accepted_the_password(daemon, target):
    """Redis sends its values all the same, so that the key is then on both servers."""
    wire = Wire(new_cache(daemon))
    wire.ask("SET", "list", "v")
    reply = wire.ask(*migrate(target.port, "AUTH", "pw", "KEYS", "list"))
    assert reply.startswith(b"-ERR Target instance replied with error: ERR AUTH <password> called")
    assert wire.ask("DBSIZE") == b":1\r\n"
    assert Wire(target.port).ask("DBSIZE") == b":0\r\n"


def test_keys_move_from_and_into_databases(daemon, redis, target):
    for port in (new_cache(daemon), redis.port):
        wire, goal = Wire(port), Wire(target.port)
        goal.ask("FLUSHALL")
        wire.ask_all([["SET", "k", "zero"], ["SELECT", 5], ["SET", "k", "five"]])
        assert wire.ask(*migrate(target.port, key="k", database=7)) == b"+OK\r\n"
        assert wire.ask_all([["EXISTS", "k"], ["SELECT", 0], ["GET", "k"]]) == (
            b":0\r\n+OK\r\n$4\r\nzero\r\n")
        assert goal.ask_all([["DBSIZE"], ["SELECT", 7], ["GET", "k"], ["SELECT", 0]]) == (
            b":0\r\n+OK\r\n$4\r\nfive\r\n+OK\r\n")


def test_a_password_opens_the_target_and_is_shown_nowhere(daemon, redis, target):
    goal = Wire(target.port)
    goal.ask("CONFIG", "SET", "requirepass", "secret")
    for port in (new_cache(daemon), redis.port):
        wire = Wire(port)
        goal.ask("FLUSHALL")
        wire.ask_all([["SET", "k", "v"], ["SET", "l", "w"],
                      ["CONFIG", "SET", "slowlog-log-slower-than", "0"]])
        assert wire.ask(*migrate(target.port, key="k")) == (
            b"-ERR Target instance replied with error: NOAUTH Authentication required.\r\n")
        assert wire.ask(*migrate(target.port, "AUTH", "secret", key="k")) == b"+OK\r\n"
        assert wire.ask(*migrate(target.port, "AUTH2", "default", "secret", "KEYS", "l")) == (
            b"+OK\r\n")
        assert b"secret" not in wire.ask("SLOWLOG", "GET", "-1")
        assert goal.ask("DBSIZE") == b":2\r\n"


@pytest.fixture
def silent():
    """A server that accepts connections and never answers; yields its listening socket."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def serve_one(server, replies):
    """Accepts a connection, and answers with these bytes at once."""
    connection, _ = server.accept()
    connection.sendall(replies)
    return connection


def test_others_are_served_and_changes_of_the_key_wait(daemon, silent):
    port = new_cache(daemon)
    wire, other = Wire(port), Wire(port)
    other.ask_all([["SET", "k", "v"], ["SET", "l", "1"]])
    wire.send(*migrate(silent.getsockname()[1], timeout=600000, key="k"))
    connection, _ = silent.accept()
    assert other.ask("GET", "k") == b"$1\r\nv\r\n"
    assert other.ask("INCR", "l") == b":2\r\n"
    waiting = {}
    for words in ("APPEND k w", "RENAME l k", "FLUSHALL", "EVAL return(1) 0", "EXPIRE k 100"):
        waiting[words] = Wire(port)
        waiting[words].send(*words.split(" "))
        eventually(lambda: other.ask("CLIENT", "LIST").count(b"flags=b")  # noqa: B023
                   == len(waiting) + 1, "the command waits")  # noqa: B023
    assert other.ask("GET", "k") == b"$1\r\nv\r\n"
    connection.sendall(b"+OK\r\n-BUSYKEY Target key name already exists.\r\n")
    assert wire.receive() == (
        b"-ERR Target instance replied with error: BUSYKEY Target key name already exists.\r\n")
    assert waiting["APPEND k w"].receive() == b":2\r\n"
    assert waiting["EVAL return(1) 0"].receive() == b":1\r\n"
    assert waiting["FLUSHALL"].receive() == b"+OK\r\n"
    connection.close()


@pytest.mark.parametrize("replies, error, is_left", [
    (b"", b"IOERR error or timeout reading to target instance", True),
    (b"+OK\r\n", b"IOERR error or timeout reading to target instance", True),
    (b"-ERR no\r\n", b"ERR Target instance replied with error: ERR no", True),
    (b"+OK\r\n-LOADING wait\r\n", b"ERR Target instance replied with error: LOADING wait", True),
    (b"\xff\xff\r\n", b"IOERR error or timeout reading to target instance", True),
    (b"+OK\r\n$99999999999\r\n", b"IOERR error or timeout reading to target instance", True),
    (b"+OK\r\n" + b"+" + b"x" * 100_000, b"IOERR error or timeout reading to target instance",
     True),
    (b"+OK\r\n+OK\r\n", None, False),
])
def test_a_target_that_does_not_answer_well_keeps_no_key(daemon, silent, replies, error, is_left):
    wire = Wire(new_cache(daemon))
    wire.ask("SET", "k", "v")
    wire.send(*migrate(silent.getsockname()[1], timeout=600000, key="k"))
    connection = serve_one(silent, replies)
    if error and not error.startswith(b"ERR"):
        # The cache may have given the connection up already.
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_WR)
    assert wire.receive() == (b"-" + error if error else b"+OK") + b"\r\n"
    assert wire.ask("EXISTS", "k") == (b":1\r\n" if is_left else b":0\r\n")
    connection.close()


def test_a_target_that_is_silent_ends_it_by_its_time(daemon, silent):
    wire = Wire(new_cache(daemon))
    wire.ask("SET", "k", "v")
    assert wire.ask(*migrate(silent.getsockname()[1], timeout=100, key="k")) == (
        b"-IOERR error or timeout reading to target instance\r\n")
    assert wire.ask("GET", "k") == b"$1\r\nv\r\n"


def test_it_ends_although_its_client_has_left(daemon, silent):
    port = new_cache(daemon)
    wire, other = Wire(port), Wire(port)
    other.ask("SET", "k", "v")
    wire.send(*migrate(silent.getsockname()[1], timeout=600000, key="k"))
    connection, _ = silent.accept()
    wire.close()
    eventually(lambda: other.ask("CLIENT", "LIST").count(b"id=") == 1, "the client has left")
    connection.sendall(b"+OK\r\n+OK\r\n")
    eventually(lambda: other.ask("EXISTS", "k") == b":0\r\n", "the key has moved")
    connection.close()


def test_a_cache_that_ends_meanwhile_keeps_the_key(daemon, silent, tmp_path):
    port = new_cache(daemon, "--persistent", str(tmp_path / "db.aof"))
    wire, other = Wire(port), Wire(port)
    other.ask("SET", "k", "v")
    wire.send(*migrate(silent.getsockname()[1], timeout=600000, key="k"))
    connection, _ = silent.accept()
    waiting = Wire(port)
    waiting.send("DEL", "k")
    eventually(lambda: other.ask("CLIENT", "LIST").count(b"flags=b") == 2, "both wait")
    daemon.cli("restart", "db")
    port = int(daemon.show("db")["endpoints"][0].rsplit(":", 1)[1])
    assert Wire(port).ask("GET", "k") == b"$1\r\nv\r\n"
    connection.close()


def test_a_removal_reaches_the_log_and_followers(daemon, redis, target, tmp_path):
    port = new_cache(daemon, "--persistent", str(tmp_path / "db.aof"))
    wire, follower = Wire(port), Wire(redis.port)
    wire.ask_all([["SET", "a", "1"], ["SET", "b", "2"], ["SET", "c", "3"]])
    follower.ask("REPLICAOF", "127.0.0.1", port)
    eventually(lambda: follower.ask("DBSIZE") == b":3\r\n", "it follows")
    assert wire.ask(*migrate(target.port, "KEYS", "a", "b", "nokey")) == b"+OK\r\n"
    eventually(lambda: follower.ask("DBSIZE") == b":1\r\n", "the follower has removed them")
    daemon.cli("restart", "db")
    port = int(daemon.show("db")["endpoints"][0].rsplit(":", 1)[1])
    assert Wire(port).ask("KEYS", "*") == b"*1\r\n$1\r\nc\r\n"


def test_a_follower_and_a_transaction_do_not_migrate(daemon, redis, target):
    port = new_cache(daemon)
    wire = Wire(port)
    wire.ask("SET", "k", "v")
    words = migrate(target.port, key="k")
    replies = []
    for each in (["MULTI"], words, ["EXEC"]):
        wire.send(*each)
        replies.append(wire.receive())
    assert b"a transaction or a script cannot execute it" in replies[-1]
    assert wire.ask("GET", "k") == b"$1\r\nv\r\n"
    wire.ask("REPLICAOF", "127.0.0.1", redis.port)
    assert wire.ask(*words).startswith(b"-READONLY")
    assert Wire(target.port).ask("DBSIZE") == b":0\r\n"


def test_many_large_values_arrive(daemon, target):
    wire = Wire(new_cache(daemon))
    keys = [f"k{i}" for i in range(100)]
    wire.ask_all([["SET", key, key * 100_000] for key in keys])
    assert wire.ask(*migrate(target.port, "KEYS", *keys, timeout=60000)) == b"+OK\r\n"
    assert wire.ask("DBSIZE") == b":0\r\n"
    goal = Wire(target.port)
    assert goal.ask("DBSIZE") == b":100\r\n"
    assert goal.ask("GET", "k7") == b"$200000\r\n" + b"k7" * 100_000 + b"\r\n"
