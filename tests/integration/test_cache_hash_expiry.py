"""Hash fields that expire: HEXPIRE and its relatives, HGETDEL, HGETEX and HSETEX. The replies are
those that Redis documents for 7.4 and 8.0, since the tests have no server of these versions."""

import time

import pytest

from field_client import FAR, Client, client_of, fill
from resp_wire import Wire
from strata_daemon import eventually
from test_cache import new_cache

pytestmark = pytest.mark.once

SMALL, LARGE = 3, 700  # fields: a pack and a table


@pytest.fixture(params=[SMALL, LARGE], ids=["pack", "table"])
def size(request):
    return request.param


@pytest.fixture
def port(daemon):
    return new_cache(daemon)


def test_times_are_set_and_read(port, size):
    client = client_of(port)
    fill(client, "h", size)
    assert client.hexpire("h", 100, "f0", "none") == [1, -2]
    assert client.hpexpire("h", 200_000, "f1") == [1]
    assert client.hpexpireat("h", FAR, "f2") == [1]
    assert 0 < client.httl("h", "f0")[0] <= 100
    assert 0 < client.hpttl("h", "f1")[0] <= 200_000
    assert client.hpexpiretime("h", "f2") == [FAR]
    assert client.hexpiretime("h", "f2") == [FAR // 1000]
    assert client.hexpireat("h", FAR // 1000 + 1, "f2") == [1]
    assert client.hpexpiretime("h", "f2") == [FAR + 1000]
    fill(client, "other", size)
    for command in (client.httl, client.hpttl, client.hexpiretime, client.hpexpiretime):
        assert command("other", "f0", "none", "f1") == [-1, -2, -1]
        assert command("missing", "a", "b") == [-2, -2]
    assert client.hpersist("h", "f0", "none", "f0") == [1, -2, -1]
    assert client.hpersist("missing", "a") == [-2]
    assert client.hexpire("missing", 10, "a", "b") == [-2, -2]
    assert client.httl("h", "f0") == [-1]
    assert client.exists("missing") == 0


def test_conditions(port):
    client = client_of(port)
    client.hset("h", mapping={"a": 1, "b": 2})
    for condition, without, sooner, same, later in (("NX", 1, 0, 0, 0), ("XX", 0, 1, 1, 1),
                                                    ("GT", 0, 0, 0, 1), ("LT", 1, 1, 0, 0)):
        wanted = (None, without), (FAR - 1, sooner), (FAR, same), (FAR + 1, later)
        for at, expected in wanted:
            client.hpersist("h", "a")
            if at:
                client.hpexpireat("h", FAR, "a")
            assert client.execute_command("HPEXPIREAT", "h", at or FAR, condition, "FIELDS", 1,
                                          "a") == [expected], (condition, at)
            after = at or FAR if expected else FAR if at else -1
            assert client.hpexpiretime("h", "a") == [after], (condition, at)


def test_a_time_that_is_over_removes_the_field(port, size):
    client = client_of(port)
    fill(client, "h", size)
    assert client.hexpire("h", 0, "f0") == [2]
    assert client.hpexpireat("h", 1, "f1", "f1", "none") == [2, -2, -2]
    assert client.hlen("h") == size - 2 and not client.hexists("h", "f0")
    names = client.hkeys("h")
    assert client.hpexpire("h", 0, *names) == [2] * len(names)
    assert client.exists("h") == 0 and client.dbsize() == 0


def test_fields_expire_without_being_read(port, size):
    client = client_of(port)
    fill(client, "h", size)
    fill(client, "all", size)
    assert client.hpexpire("h", 50, "f0", "f2") == [1, 1]
    client.hpexpire("all", 50, *client.hkeys("all"))
    client.hset("untouched", "f", "v")
    eventually(lambda: client.dbsize() == 2, "the hash whose fields have expired is gone")
    assert client.hlen("h") == size - 2
    assert client.hmget("h", "f0", "f1", "f2") == [None, "v1", None]
    assert client.info("stats")["expired_subkeys"] == size + 2


def test_an_expired_field_is_not_seen(port, size):
    """Without active expiry: each command finds the field's time itself."""
    client = client_of(port)
    client.execute_command("DEBUG", "SET-ACTIVE-EXPIRE", "0")
    checks = {
        "hget": lambda: client.hget("h", "f0") is None,
        "hmget": lambda: client.hmget("h", "f0", "f1") == [None, "v1"],
        "hexists": lambda: not client.hexists("h", "f0"),
        "hstrlen": lambda: client.hstrlen("h", "f0") == 0,
        "hlen": lambda: client.hlen("h") == size - 1,
        "hkeys": lambda: "f0" not in client.hkeys("h"),
        "hvals": lambda: "v0" not in client.hvals("h"),
        "hgetall": lambda: len(client.hgetall("h")) == size - 1,
        "hscan": lambda: "f0" not in dict(client.hscan_iter("h", count=5000)),
        "hrandfield": lambda: "f0" not in client.hrandfield("h", size),
        "httl": lambda: client.httl("h", "f0") == [-2],
        "hpersist": lambda: client.hpersist("h", "f0") == [-2],
        "hexpire": lambda: client.hexpire("h", 10, "f0") == [-2],
        "hsetnx": lambda: client.hsetnx("h", "f0", "x") == 1,
        "hset": lambda: client.hset("h", "f0", "x") == 1,
        "hincrby": lambda: client.hincrby("h", "f0", 5) == 5,
        "hincrbyfloat": lambda: client.hincrbyfloat("h", "f0", 1.5) == 1.5,
        "hdel": lambda: client.hdel("h", "f0") == 0,
        "hgetdel": lambda: client.hgetdel("h", "f0") == [None],
        "hgetex": lambda: client.hgetex("h", "f0") == [None],
        "copy": lambda: client.copy("h", "copy") and not client.hexists("copy", "f0"),
        "rename": lambda: client.rename("h", "copy") and not client.hexists("copy", "f0"),
        "sort": lambda: client.sort("list", by="nosort", get="h->*") == [None],
        "eval": lambda: client.eval("return redis.call('HGET', 'h', 'f0')", 0) is None,
        "type of a hash without fields": lambda: client.type("gone") == "none",
        "exists": lambda: client.exists("gone") == 0,
    }
    for name, check in checks.items():
        client.flushall()
        fill(client, "h", size)
        client.rpush("list", "f0")
        client.hset("gone", "f", "v")
        client.hpexpire("gone", 1, "f")
        assert client.hpexpire("h", 1, "f0") == [1]
        time.sleep(0.01)
        assert check(), name


def test_what_removes_a_time_and_what_keeps_it(port, size):
    client = client_of(port)

    def remaining(*call):
        client.delete("h", "other")
        fill(client, "h", size)
        client.hset("h", "n", 1)
        client.hpexpireat("h", FAR, "n")
        client.execute_command(*call)
        return client.hpexpiretime("h", "n")[0] if client.exists("h") else None

    for call in (("HSET", "h", "n", "2"), ("HMSET", "h", "n", "2"),
                 ("HSETEX", "h", "FIELDS", 1, "n", 2),
                 ("HPERSIST", "h", "FIELDS", 1, "n"), ("HGETEX", "h", "PERSIST", "FIELDS", 1, "n")):
        assert remaining(*call) == -1, call
    for call in (("HINCRBY", "h", "n", 2), ("HINCRBYFLOAT", "h", "n", 0.5), ("HSETNX", "h", "n", 2),
                 ("HSET", "h", "f0", "x"), ("HDEL", "h", "f0"), ("HGETEX", "h", "FIELDS", 1, "n"),
                 ("HSETEX", "h", "KEEPTTL", "FIELDS", 1, "n", 2),
                 ("HSETEX", "h", "FNX", "FIELDS", 1, "n", 2),
                 ("PERSIST", "h"), ("EXPIRE", "h", 100),
                 ("CONFIG", "SET", "hash-max-listpack-entries", "512")):
        assert remaining(*call) == FAR, call
    assert remaining("HDEL", "h", "n") == -2
    # A field that is removed and set again has no time.
    client.hset("h", "n", "1")
    assert client.hpexpiretime("h", "n") == [-1]
    # Growing to a table keeps the times.
    client.hpexpireat("h", FAR, "n")
    client.hset("h", mapping={f"more{i}": "x" for i in range(600)})
    assert client.object("ENCODING", "h") == "hashtable"
    assert client.hpexpiretime("h", "n", "more1") == [FAR, -1]


def test_copies_keep_the_times(port, size):
    client = client_of(port)
    fill(client, "h", size)
    client.hpexpireat("h", FAR, "f0")
    client.hpexpireat("h", FAR + 7, "f2")
    client.copy("h", "copied")
    client.restore("restored", 0, Client(port=port).dump("h"))
    client.rename("copied", "renamed")
    client.copy("h", "moved")
    client.move("moved", 1)
    client.expire("h", 1000)  # the entry gets another block
    for db, key in ((0, "h"), (0, "renamed"), (0, "restored"), (1, "moved")):
        client.select(db)
        assert client.hpexpiretime(key, "f0", "f1", "f2") == [FAR, -1, FAR + 7], key
        assert client.hgetall(key) == {f"f{i}": f"v{i}" for i in range(size)}, key
    client.select(0)
    client.swapdb(0, 1)
    client.hpexpire("moved", 1, "f1")
    eventually(lambda: client.hlen("moved") == size - 1, "the swapped database's field expires")


def test_events(port):
    client = client_of(port)
    client.config_set("notify-keyspace-events", "KEA")
    listener = client.pubsub()
    listener.psubscribe("__keyspace@0__:*")
    listener.get_message(timeout=5)
    client.hset("h", mapping={"a": 1, "b": 2, "c": 3})
    client.hexpire("h", 100, "a")
    client.hpersist("h", "a")
    client.hpersist("h", "a")
    client.hexpire("h", 0, "a")
    client.hgetex("h", "b", options=["EX", 100])
    client.hgetex("h", "b", options=["PERSIST"])
    client.execute_command("HSETEX", "h", "EX", 100, "FIELDS", 1, "d", 4)
    client.hgetdel("h", "d")
    client.hpexpire("h", 1, "b")
    client.hpexpire("h", 1, "c")
    eventually(lambda: not client.exists("h"), "all fields have expired")
    client.set("end", "1")
    events = []
    while not events or events[-1] != "set":
        message = listener.get_message(timeout=5)
        assert message, events
        events.append(message["data"])
    head, tail = events[:12], events[12:]
    assert head == ["hset", "hexpire", "hpersist", "hdel", "hexpire", "hpersist", "hset", "hexpire",
                    "hdel", "hexpire", *head[10:]]
    rest = head[10:] + tail
    assert sorted(rest) in (sorted(["hexpire", "hexpired", "del", "set"]),
                            sorted(["hexpire", "hexpired", "hexpired", "del", "set"]))
    assert rest[-2:] == ["del", "set"]


def test_hgetdel_hgetex_and_hsetex(port, size):
    client = client_of(port)
    fill(client, "h", size)
    assert client.hgetdel("h", "f0", "none", "f0") == ["v0", None, None]
    assert client.hgetdel("missing", "a", "b") == [None, None]
    assert client.hgetex("h", "f1", "none", options=["PX", 10 ** 12]) == ["v1", None]
    assert client.httl("h", "f1")[0] > 1000
    assert client.hgetex("h", "f1", options=["PXAT", 1]) == ["v1"]
    assert client.hexists("h", "f1") is False
    assert client.hgetex("missing", "a") == [None]
    assert client.hgetdel("h", *client.hkeys("h")) and not client.exists("h")
    run = client.execute_command
    assert run("HSETEX", "n", "FXX", "FIELDS", 1, "a", 1) == 0 and not client.exists("n")
    assert run("HSETEX", "n", "FNX", "PXAT", FAR, "FIELDS", 2, "a", 1, "b", 2) == 1
    assert client.hpexpiretime("n", "a", "b") == [FAR, FAR]
    assert run("HSETEX", "n", "FNX", "FIELDS", 2, "c", 3, "b", 3) == 0
    assert run("HSETEX", "n", "FXX", "FIELDS", 2, "c", 3, "b", 3) == 0
    assert run("HSETEX", "n", "KEEPTTL", "FXX", "FIELDS", 1, "a", 5) == 1
    assert client.hgetall("n") == {"a": "5", "b": "2"}
    assert client.hpexpiretime("n", "a") == [FAR]
    assert run("HSETEX", "n", "PX", 0, "FIELDS", 2, "a", 5, "b", 6) == 1
    assert not client.exists("n")


FIELDS_MISSING = "Mandatory argument FIELDS is missing or not at the right position"
COUNT_DIFFERS = "The `numfields` parameter must match the number of arguments"
ONE_TIME = "Only one of EX, PX, EXAT, PXAT or %s arguments can be specified"
WRONG_USES = f"""
HEXPIRE h 10 FIELD 1 f|{FIELDS_MISSING}
HEXPIRE h 10 NX XX FIELDS 1 f|{FIELDS_MISSING}
HEXPIRE h 10 FIELDS 0 f|Parameter `numFields` should be greater than 0
HEXPIRE h 10 FIELDS -1 f|Parameter `numFields` should be greater than 0
HEXPIRE h 10 FIELDS x f|Parameter `numFields` should be greater than 0
HEXPIRE h 10 FIELDS 2 f|{COUNT_DIFFERS}
HEXPIRE h 10 FIELDS 1 f g|{COUNT_DIFFERS}
HEXPIRE h 10 FIELDS 9223372036854775807 f|{COUNT_DIFFERS}
HEXPIRE h x FIELDS 1 f|value is not an integer or out of range
HEXPIRE h -1 FIELDS 1 f|invalid expire time, must be >= 0
HPEXPIREAT h -5 FIELDS 1 f|invalid expire time, must be >= 0
HEXPIRE h 9223372036854775807 FIELDS 1 f|invalid expire time in 'hexpire' command
HPEXPIRE h 9223372036854775807 FIELDS 1 f|invalid expire time in 'hpexpire' command
HPEXPIREAT h 70368744177664 FIELDS 1 f|invalid expire time in 'hpexpireat' command
HEXPIREAT h 70368744178 FIELDS 1 f|invalid expire time in 'hexpireat' command
HTTL h FIELD 1 f|{FIELDS_MISSING}
HTTL h FIELDS 0 f|Number of fields must be a positive integer
HPTTL h FIELDS 3 f g|{COUNT_DIFFERS}
HPERSIST h FIELDS x f|Number of fields must be a positive integer
HGETDEL h FIELDS 0 f|Number of fields must be a positive integer
HGETDEL h FIELDS 2 f|{COUNT_DIFFERS}
HGETDEL h FIELDZ 1 f|{FIELDS_MISSING}
HGETEX h EX 10 PX 10 FIELDS 1 f|{ONE_TIME % "PERSIST"}
HGETEX h PERSIST EX 10 FIELDS 1 f|{ONE_TIME % "PERSIST"}
HGETEX h KEEPTTL FIELDS 1 f|unknown argument: KEEPTTL
HGETEX h EX -1 FIELDS 1 f|invalid expire time, must be >= 0
HGETEX h EX x FIELDS 1 f|value is not an integer or out of range
HGETEX h EX 10 PX|{ONE_TIME % "PERSIST"}
HGETEX h EX 9223372036854775807 FIELDS 1 f|invalid expire time in 'hgetex' command
HSETEX h EX 10 KEEPTTL FIELDS 1 f v|{ONE_TIME % "KEEPTTL"}
HSETEX h FNX FXX FIELDS 1 f v|Only one of FXX or FNX arguments can be specified
HSETEX h PERSIST FIELDS 1 f v|unknown argument: PERSIST
HSETEX h FIELDS 2 f v|{COUNT_DIFFERS}
HSETEX h FIELDS 1 f v w|{COUNT_DIFFERS}
HSETEX h FIELDS 9223372036854775807 f v|{COUNT_DIFFERS}
HTTL h FIELDS 1|wrong number of arguments for 'httl' command
HEXPIRE h 1 FIELDS 1|wrong number of arguments for 'hexpire' command
"""


def test_wrong_uses(port):
    wire = Wire(port)
    wire.ask("HSET", "h", "f", "v")
    before = wire.ask("HGETALL", "h")
    for line in WRONG_USES.strip().splitlines():
        call, error = line.split("|")
        assert wire.ask(*call.split()) == b"-ERR " + error.encode() + b"\r\n", call
    wire.ask("SET", "s", "x")
    for call in ("HEXPIRE s 10 FIELDS 1 f|HTTL s FIELDS 1 f|HPERSIST s FIELDS 1 f|"
                 "HGETDEL s FIELDS 1 f|HGETEX s FIELDS 1 f|HSETEX s FIELDS 1 f v").split("|"):
        assert wire.ask(*call.split()).startswith(b"-WRONGTYPE"), call
    assert wire.ask("HGETALL", "h") == before


def test_scanning_without_values(port, size):
    client = client_of(port)
    client.set_response_callback("HSCAN", lambda reply, **_: reply)
    fill(client, "h", size)
    cursor, names = "0", []
    while not names or cursor != "0":
        cursor, found = client.execute_command("HSCAN", "h", cursor, "NOVALUES", "COUNT", 50)
        names += found
    assert sorted(set(names)) == sorted(f"f{i}" for i in range(size))
    wire = Wire(port)
    assert wire.ask("HSCAN", "h", "0", "MATCH", "f1", "NOVALUES", "COUNT", "5000") == (
        b"*2\r\n$1\r\n0\r\n*1\r\n$2\r\nf1\r\n")
    assert wire.ask("HSCAN", "h", "0", "NOVALUES", "NOVALUES") == b"-ERR syntax error\r\n"


def test_memory_is_given_back(port):
    client = client_of(port)
    wire = Wire(port)
    empty = client.info("memory")["used_memory"]
    for _ in range(3):
        wire.ask("HSET", "h", *(word for i in range(5000) for word in (f"f{i}", "x" * 20)))
        without = client.memory_usage("h")
        wire.ask("HEXPIRE", "h", "1000", "FIELDS", "5000", *(f"f{i}" for i in range(5000)))
        assert client.memory_usage("h") > without + 5000 * 40
        wire.ask("HPERSIST", "h", "FIELDS", "5000", *(f"f{i}" for i in range(5000)))
        assert client.memory_usage("h") == without
        wire.ask("HEXPIRE", "h", "1000", "FIELDS", "5000", *(f"f{i}" for i in range(5000)))
        client.unlink("h")
    eventually(lambda: client.info("memory")["used_memory"] < empty + 100_000, "memory is free")
