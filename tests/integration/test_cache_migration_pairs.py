"""MIGRATE into a cache, from a cache and from a real redis-server: replies, events and what is left
on both servers are those of a redis-server that moves keys to a redis-server.

    source: cache | redis-server -- MIGRATE --> target: cache, beside a redis-server
"""

import signal
import socket
from pathlib import Path

import pytest

from cache_contents import assert_same, parsed
from resp_wire import RedisServer, Wire
from strata_daemon import eventually
from talker import free_port
from test_cache import new_cache
from test_cache_log_groups import stream_of
from test_cache_migration import CALLS, KEYS, VALUES, data_of, fill, migrate
from twin_servers import SAME_VERSION, Listener

MORE = """
SET int -77|SET float 3.25|RPUSH many {many}|SADD words {many}|HSET fields {many}|ZADD ranks {ranks}
SADD numbers {numbers}|PFADD dense {many}|SET expiring v EX 100000|HSET brief-hash f v
PEXPIRE brief-hash 10000000|XADD log-stream 1-1 f a|XADD log-stream 2-1 f b|XADD log-stream 3-1 f c
XADD log-stream 4-1 f d|XGROUP CREATE log-stream g 0|XGROUP CREATE log-stream h 2-1 ENTRIESREAD 2
XGROUP CREATE log-stream i $|XREADGROUP GROUP g alice COUNT 3 STREAMS log-stream >
XREADGROUP GROUP h bob NOACK COUNT 1 STREAMS log-stream >|XGROUP CREATECONSUMER log-stream i carol
XACK log-stream g 2-1|XCLAIM log-stream g dan 0 3-1 RETRYCOUNT 7 TIME 1600000000000
XDEL log-stream 1-1
""".replace("\n", "|").strip("|").format(
    many=" ".join(f"word-{i}" for i in range(1000)), numbers=" ".join(map(str, range(300))),
    ranks=" ".join(f"{i / 4} member-{i}" for i in range(300))).split("|")
EVERY_KEY = [*KEYS, *("int float many words fields ranks numbers dense expiring brief-hash"
                      " log-stream").split()]
PAIRS = [("cache", "cache"), ("redis", "cache")]


@pytest.fixture
def make_server(daemon, tmp_path):
    """Yields a function that makes a cache or a redis-server and returns its port."""
    servers = []

    def make(kind, name, *flags):
        if kind == "cache":
            return new_cache(daemon, *SAME_VERSION, *flags, name=name)
        servers.append(RedisServer(tmp_path / name, *flags))
        return servers[-1].port

    yield make
    for each in servers:
        each.close()


@pytest.fixture(params=["cache", "redis"])
def source(request, make_server):
    return make_server(request.param, "source")


def fill_all(port):
    wire = Wire(port)
    fill(wire)
    reply = wire.ask_all([each.split(" ") for each in MORE])
    assert b"\r\n-" not in reply and reply[:1] != b"-", reply


def state_of(port):
    """Returns the contents of database 0, with encodings, estimates and groups. A string's encoding
    depends on how it was made."""
    wire = Wire(port)
    # PFCOUNT stores its result in the value.
    estimates = [wire.ask("PFCOUNT", key) for key in ("log", "dense")]
    data = {key: value for (database, key), value in data_of(port).items() if database == 0}
    found = {"estimates": estimates, "data": data, "encodings": {}}
    for key, (kind, _, _) in data.items():
        if kind != b"+string\r\n":
            found["encodings"][key] = wire.ask("OBJECT", "ENCODING", key)
        if kind == b"+stream\r\n":
            found[key] = stream_of(wire, key)
    wire.close()
    return found


def test_every_type_moves_into_a_cache_and_back(make_server, source):
    fill_all(source)
    target = make_server("cache", "target")
    before = state_of(source)
    assert len(before["data"]) == len(EVERY_KEY) == len(VALUES) - 1 + 11
    there, here = Wire(target), Wire(source)
    assert here.ask(*migrate(target, "COPY", "KEYS", *EVERY_KEY)) == b"+OK\r\n"
    assert_same(before, state_of(source))
    assert_same(before, state_of(target))
    for key in EVERY_KEY:
        assert here.ask(*migrate(target, "REPLACE", key=key)) == b"+OK\r\n"
        assert here.ask("EXISTS", key) == b":0\r\n"
    assert_same(before, state_of(target))
    for key, limit in (("brief", 10_000_000), ("expiring", 100_000_000),
                       ("brief-hash", 10_000_000)):
        assert limit - 1_000_000 < int(there.ask("PTTL", key)[1:]) <= limit, key
    assert there.ask(*migrate(source, "KEYS", *EVERY_KEY)) == b"+OK\r\n"
    assert there.ask("DBSIZE") == b":0\r\n"
    assert_same(before, state_of(source))


def outcome_of(source, target, call):
    """Returns the reply to a call, and the events and data of both servers afterwards."""
    key, *words = call.split(" ")
    wire, goal = Wire(source), Wire(target)
    goal.ask_all([["SET", "text", "is there"], ["RPUSH", "hash", "is there too"]])
    fill(wire)
    listeners = [Listener(source), Listener(target)]
    outcome = {"reply": wire.ask(*migrate(target, *words, key=key))}
    for name, server, listener in zip(("source", "target"), (wire, goal), listeners):
        server.ask("PUBLISH", "__key_mark", "the end")
        outcome[f"events of {name}"] = listener.events_until(b"the end")
        listener.close()
    outcome["data of source"], outcome["data of target"] = data_of(source), data_of(target)
    return outcome


@pytest.mark.parametrize("call", CALLS.strip("\n").replace("\n", "|").split("|"))
def test_each_call_has_the_outcome_between_two_redis_servers(make_server, call):
    expected = outcome_of(make_server("redis", "r1"), make_server("redis", "r2"), call)
    for source, target in PAIRS:
        outcome = outcome_of(make_server(source, f"{source}-source"),
                             make_server(target, f"{source}-target"), call)
        assert_same(expected, outcome)


# A redis-server keeps its connection to a target, and selects a database only if it changes.
DATABASES = [(0, 7), (0, 7), (5, 7), (5, 0), (0, 0), (0, 3), (5, 7), (5, 99), (0, 3)]


def test_keys_move_from_and_into_databases(make_server):
    outcomes = []
    for source, target in [*PAIRS, ("redis", "redis")]:
        place = len(outcomes)
        wire = Wire(make_server(source, f"source{place}"))
        goal = make_server(target, f"target{place}")
        replies = []
        for number, (origin, destination) in enumerate(DATABASES):
            wire.ask_all([["SELECT", origin], ["SET", f"k{number}", f"{origin} {destination}"]])
            replies.append(wire.ask(*migrate(goal, key=f"k{number}", database=destination)))
        # Redis sends a value even if the target has refused the database.
        assert replies[7].startswith(b"-ERR Target instance replied with error: ERR DB index")
        outcomes.append((replies, {key: value for key, value in data_of(goal).items()
                                   if key[1] != b"k7"}))
    for each in outcomes[:-1]:
        assert each[0] == outcomes[-1][0]
        assert_same(outcomes[-1][1], each[1])
    assert len(outcomes[0][1]) == len(DATABASES) - 1


RULES = [["ACL", "SETUSER", "mover", "on", ">own", "~app:*", "+restore", "+select"],
         ["ACL", "SETUSER", "reader", "on", ">own", "~*", "+@read", "+select"],
         ["CONFIG", "SET", "requirepass", "secret"], ["AUTH", "secret"]]
LOGINS = [("app:1", []), ("app:1", ["AUTH", "wrong"]), ("app:1", ["AUTH", "own"]),
          ("app:1", ["AUTH2", "mover", "wrong"]), ("app:1", ["AUTH2", "nobody", "own"]),
          ("app:1", ["AUTH", "secret"]), ("app:2", ["AUTH2", "default", "secret"]),
          ("app:1", ["AUTH2", "mover", "own"]), ("app:2", ["AUTH2", "mover", "own", "COPY"]),
          ("other", ["AUTH2", "mover", "own"]), ("other", ["AUTH2", "reader", "own"]),
          ("", ["AUTH2", "mover", "own", "KEYS", "app:1", "other", "app:2"]),
          ("", ["REPLACE", "AUTH", "secret", "KEYS", "other", "app:2", "nosuch"]),
          ("app:1", ["AUTH", "wrong"]), ("other", ["AUTH2", "mover", "wrong"])]


def outcomes_of_logins(source, target):
    """Returns the reply to each call, and the keys of both servers afterwards."""
    wire, goal = Wire(source), Wire(target)
    assert goal.ask_all(RULES) == b"+OK\r\n" * len(RULES)
    outcomes = []
    for key, login in LOGINS:
        goal.ask("FLUSHALL")
        wire.ask_all([["SET", name, name] for name in ("app:1", "app:2", "other")])
        reply = wire.ask(*migrate(target, *login, key=key))
        outcomes.append((key, login, reply, *(sorted(parsed(each.ask("KEYS", "*")))
                                              for each in (wire, goal))))
    return outcomes


def test_logins_at_the_target(make_server):
    """A redis-server sends its values even if the target has refused a login, and over a connection
    that has logged in before; a cache does neither."""
    by_cache, by_redis, expected = (
        outcomes_of_logins(make_server(source, f"source-{source}-{target}"),
                           make_server(target, f"target-{source}-{target}"))
        for source, target in [*PAIRS, ("redis", "redis")])
    assert by_redis == expected
    for ours, theirs in zip(by_cache, expected, strict=True):
        assert ours[:3] == theirs[:3]
        if b"WRONGPASS" in ours[2]:
            assert ours[3:] == ([b"app:1", b"app:2", b"other"], []), ours
        else:
            assert ours[3:] == theirs[3:], ours


REFUSALS = {
    "full": ["CONFIG", "SET", "maxmemory", "1"],
    "follower": ["REPLICAOF", "127.0.0.1", "1"],
    "without followers": ["CONFIG", "SET", "min-replicas-to-write", "1"],
}


@pytest.mark.parametrize("reason", REFUSALS)
def test_a_target_that_takes_no_changes(make_server, reason):
    replies = []
    for source, target in [*PAIRS, ("redis", "redis")]:
        wire = Wire(make_server(source, f"source{len(replies)}"))
        port = make_server(target, f"target{len(replies)}")
        wire.ask_all([["SET", "a", "1"], ["RPUSH", "b", "2"]])
        assert Wire(port).ask_all([["SET", "x", "y"], REFUSALS[reason]]) == b"+OK\r\n+OK\r\n"
        replies.append(wire.ask(*migrate(port, "KEYS", "a", "b")))
        assert wire.ask("DBSIZE") == b":2\r\n"
        assert Wire(port).ask("KEYS", "*") == b"*1\r\n$1\r\nx\r\n"
    assert replies[0].startswith(b"-ERR Target instance replied with error: ")
    assert replies[0] == replies[2]
    assert replies[1] == replies[2]


def test_a_target_that_is_not_there(make_server):
    replies = []
    for kind in ("cache", "redis"):
        wire = Wire(make_server(kind, kind))
        wire.ask("SET", "k", "v")
        replies.append([wire.ask(*migrate(free_port(), *words, key=key)) for key, words in (
            ("k", []), ("nosuch", []), ("k", ["COPY"]), ("", ["KEYS", "nosuch", "k"]))])
        assert wire.ask("GET", "k") == b"$1\r\nv\r\n"
    assert replies[0][0].startswith(b"-IOERR") and replies[0][1] == b"+NOKEY\r\n"
    assert replies[0] == replies[1]


def test_a_target_that_never_answers(source):
    wire = Wire(source)
    wire.ask_all([["SET", "k", "v"], ["SET", "l", "w"]])
    for words in (["COPY", "KEYS", "k"], ["AUTH", "x", "KEYS", "k"], ["KEYS", "l", "nosuch", "k"]):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            reply = wire.ask(*migrate(silent.getsockname()[1], *words, timeout=100))
        assert reply == b"-IOERR error or timeout reading to target instance\r\n", words
        assert wire.ask("MGET", "k", "l") == b"*2\r\n$1\r\nv\r\n$1\r\nw\r\n"


def is_stopped(pid):
    """Reports whether every thread of the process is stopped by a signal."""
    try:
        states = {(task / "stat").read_text().rpartition(")")[2].split()[0]
                  for task in Path(f"/proc/{pid}/task").iterdir()}
    except FileNotFoundError:  # a thread has ended
        return False
    return states == {"T"}


def test_a_cache_that_is_stopped_by_a_signal_gets_the_key_afterwards(make_server, make_daemon,
                                                                     source):
    target = make_daemon()
    port = new_cache(target)
    wire = Wire(source)
    wire.ask_all([["SET", "first", "1"], ["SET", "k", "v"]])
    assert wire.ask(*migrate(port, key="first")) == b"+OK\r\n"
    target.signal(signal.SIGSTOP)
    try:
        eventually(lambda: is_stopped(target.pid), "every thread has stopped")
        assert wire.ask(*migrate(port, timeout=100, key="k")).startswith(b"-IOERR")
        assert wire.ask("GET", "k") == b"$1\r\nv\r\n"
    finally:
        target.signal(signal.SIGCONT)
    assert wire.ask(*migrate(port, "REPLACE", key="k")) == b"+OK\r\n"
    assert wire.ask("DBSIZE") == b":0\r\n"
    assert Wire(port).ask("MGET", "first", "k") == b"*2\r\n$1\r\n1\r\n$1\r\nv\r\n"


@pytest.mark.parametrize("ending", ["restart", "SIGKILL"])
def test_a_cache_that_starts_again_gets_the_next_key(make_daemon, source, tmp_path, ending):
    """A redis-server still has its connection to the cache that has ended, and tries another."""
    target = make_daemon()
    port = free_port()
    target.create("cache", "db", listen=[f"tcp://127.0.0.1:{port}"], resp=True,
                  persistent=str(tmp_path / "db.aof"), appendfsync="always")
    wire = Wire(source)
    for number in range(3):
        wire.ask("RPUSH", f"k{number}", "a", number)
        assert wire.ask(*migrate(port, key=f"k{number}")) == b"+OK\r\n"
        if ending == "restart":
            target.act("db", "restart")
        else:
            target.kill9()
            target.start()
        eventually(lambda: target.show("db")["state"] == "running", "it has started again")
    assert wire.ask("DBSIZE") == b":0\r\n"
    assert sorted(parsed(Wire(port).ask("KEYS", "*"))) == [b"k0", b"k1", b"k2"]


def test_many_large_values_arrive(make_server, source):
    target = make_server("cache", "target")
    wire, goal = Wire(source), Wire(target)
    keys = [f"k{i}" for i in range(100)]
    wire.ask_all([["SET", key, key * 50_000] for key in keys])
    goal.ask("SET", "k50", "is there")
    assert wire.ask(*migrate(target, "KEYS", *keys)) == (
        b"-ERR Target instance replied with error: BUSYKEY Target key name already exists.\r\n")
    assert wire.ask("KEYS", "*") == b"*1\r\n$3\r\nk50\r\n"
    assert goal.ask("DBSIZE") == b":100\r\n"
    assert goal.ask("GET", "k7") == b"$100000\r\n" + b"k7" * 50_000 + b"\r\n"


def test_a_node_of_a_redis_cluster_moves_keys_into_a_cache(make_server):
    """It sends RESTORE-ASKING."""
    node = make_server("redis", "node", "--cluster-enabled", "yes")
    wire = Wire(node)
    assert wire.ask("CLUSTER", "ADDSLOTSRANGE", 0, 16383) == b"+OK\r\n"
    eventually(lambda: b"cluster_state:ok\r" in wire.ask("CLUSTER", "INFO"), "the node serves")
    fill_all(node)
    target = make_server("cache", "target")
    before = state_of(node)
    for key in EVERY_KEY:
        assert wire.ask(*migrate(target, key=key)) == b"+OK\r\n"
    assert wire.ask("DBSIZE") == b":0\r\n"
    assert_same(before, state_of(target))
