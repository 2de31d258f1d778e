"""Hash fields that expire: HEXPIRE and its relatives, HGETDEL, HGETEX and HSETEX. The replies are
those that Redis documents for 7.4 and 8.0, since the tests have no server of these versions."""

import random
import re
import shutil
import time

import pytest
import redis as redis_py

from resp_wire import RedisServer, Wire
from strata_daemon import eventually
from test_cache import new_cache

pytestmark = pytest.mark.once

SMALL, LARGE = 3, 700  # fields: a pack and a table
FAR = 4_000_000_000_000  # milliseconds since 1970


@pytest.fixture(params=[SMALL, LARGE], ids=["pack", "table"])
def size(request):
    return request.param


@pytest.fixture
def port(daemon):
    return new_cache(daemon)


class Client(redis_py.Redis):
    """Debian's redis-py, with the commands of Redis 7.4 and 8.0 that it does not know yet."""

    def on_fields(self, command, key, options, fields):
        return self.execute_command(command, key, *options, "FIELDS", len(fields), *fields)

    def hexpire(self, key, seconds, *fields):
        return self.on_fields("HEXPIRE", key, [seconds], fields)

    def hpexpire(self, key, ms, *fields):
        return self.on_fields("HPEXPIRE", key, [ms], fields)

    def hexpireat(self, key, seconds, *fields):
        return self.on_fields("HEXPIREAT", key, [seconds], fields)

    def hpexpireat(self, key, ms, *fields):
        return self.on_fields("HPEXPIREAT", key, [ms], fields)

    def httl(self, key, *fields):
        return self.on_fields("HTTL", key, [], fields)

    def hpttl(self, key, *fields):
        return self.on_fields("HPTTL", key, [], fields)

    def hexpiretime(self, key, *fields):
        return self.on_fields("HEXPIRETIME", key, [], fields)

    def hpexpiretime(self, key, *fields):
        return self.on_fields("HPEXPIRETIME", key, [], fields)

    def hpersist(self, key, *fields):
        return self.on_fields("HPERSIST", key, [], fields)

    def hgetdel(self, key, *fields):
        return self.on_fields("HGETDEL", key, [], fields)

    def hgetex(self, key, *fields, options=()):
        return self.on_fields("HGETEX", key, options, fields)


def client_of(port):
    return Client(port=port, decode_responses=True)


def fill(client, key, size):
    client.hset(key, mapping={f"f{i}": f"v{i}" for i in range(size)})


def integers(reply):
    """Returns the numbers of an array of integers."""
    assert reply.startswith(b"*"), reply
    return [int(each) for each in re.findall(rb":(-?\d+)\r\n", reply)]


def test_times_are_set_and_read(port, size):
    client = client_of(port)
    fill(client, "h", size)
    assert client.hexpire("h", 100, "f0", "none") == [1, -2]
    assert client.hpexpire("h", 200_000, "f1") == [1]
    assert client.hpexpireat("h", FAR, "f2") == [1]
    assert 90 < client.httl("h", "f0")[0] <= 100
    assert 190_000 < client.hpttl("h", "f1")[0] <= 200_000
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

    for call in (("HSET", "h", "n", "2"), ("HMSET", "h", "n", "2"), ("HSETEX", "h", "FIELDS", 1, "n", 2),
                 ("HPERSIST", "h", "FIELDS", 1, "n"), ("HGETEX", "h", "PERSIST", "FIELDS", 1, "n")):
        assert remaining(*call) == -1, call
    for call in (("HINCRBY", "h", "n", 2), ("HINCRBYFLOAT", "h", "n", 0.5), ("HSETNX", "h", "n", 2),
                 ("HSET", "h", "f0", "x"), ("HDEL", "h", "f0"), ("HGETEX", "h", "FIELDS", 1, "n"),
                 ("HSETEX", "h", "KEEPTTL", "FIELDS", 1, "n", 2), ("HSETEX", "h", "FNX", "FIELDS", 1, "n", 2),
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
    eventually(lambda: client.hlen("moved") == size - 1, "the field of the swapped database expires")


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


WRONG_USES = """
HEXPIRE h 10 FIELD 1 f|Mandatory argument FIELDS is missing or not at the right position
HEXPIRE h 10 NX XX FIELDS 1 f|Mandatory argument FIELDS is missing or not at the right position
HEXPIRE h 10 FIELDS 0 f|Parameter `numFields` should be greater than 0
HEXPIRE h 10 FIELDS -1 f|Parameter `numFields` should be greater than 0
HEXPIRE h 10 FIELDS x f|Parameter `numFields` should be greater than 0
HEXPIRE h 10 FIELDS 2 f|The `numfields` parameter must match the number of arguments
HEXPIRE h 10 FIELDS 1 f g|The `numfields` parameter must match the number of arguments
HEXPIRE h 10 FIELDS 9223372036854775807 f|The `numfields` parameter must match the number of arguments
HEXPIRE h x FIELDS 1 f|value is not an integer or out of range
HEXPIRE h -1 FIELDS 1 f|invalid expire time, must be >= 0
HPEXPIREAT h -5 FIELDS 1 f|invalid expire time, must be >= 0
HEXPIRE h 9223372036854775807 FIELDS 1 f|invalid expire time in 'hexpire' command
HPEXPIRE h 9223372036854775807 FIELDS 1 f|invalid expire time in 'hpexpire' command
HPEXPIREAT h 70368744177664 FIELDS 1 f|invalid expire time in 'hpexpireat' command
HEXPIREAT h 70368744178 FIELDS 1 f|invalid expire time in 'hexpireat' command
HTTL h FIELD 1 f|Mandatory argument FIELDS is missing or not at the right position
HTTL h FIELDS 0 f|Number of fields must be a positive integer
HPTTL h FIELDS 3 f g|The `numfields` parameter must match the number of arguments
HPERSIST h FIELDS x f|Number of fields must be a positive integer
HGETDEL h FIELDS 0 f|Number of fields must be a positive integer
HGETDEL h FIELDS 2 f|The `numfields` parameter must match the number of arguments
HGETDEL h FIELDZ 1 f|Mandatory argument FIELDS is missing or not at the right position
HGETEX h EX 10 PX 10 FIELDS 1 f|Only one of EX, PX, EXAT, PXAT or PERSIST arguments can be specified
HGETEX h PERSIST EX 10 FIELDS 1 f|Only one of EX, PX, EXAT, PXAT or PERSIST arguments can be specified
HGETEX h KEEPTTL FIELDS 1 f|unknown argument: KEEPTTL
HGETEX h EX -1 FIELDS 1 f|invalid expire time, must be >= 0
HGETEX h EX x FIELDS 1 f|value is not an integer or out of range
HGETEX h EX 10 PX|Only one of EX, PX, EXAT, PXAT or PERSIST arguments can be specified
HGETEX h EX 9223372036854775807 FIELDS 1 f|invalid expire time in 'hgetex' command
HSETEX h EX 10 KEEPTTL FIELDS 1 f v|Only one of EX, PX, EXAT, PXAT or KEEPTTL arguments can be specified
HSETEX h FNX FXX FIELDS 1 f v|Only one of FXX or FNX arguments can be specified
HSETEX h PERSIST FIELDS 1 f v|unknown argument: PERSIST
HSETEX h FIELDS 2 f v|The `numfields` parameter must match the number of arguments
HSETEX h FIELDS 1 f v w|The `numfields` parameter must match the number of arguments
HSETEX h FIELDS 9223372036854775807 f v|The `numfields` parameter must match the number of arguments
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


def everything(client):
    return {key: (client.hgetall(key), dict(zip(client.hkeys(key),
                                                client.hpexpiretime(key, *client.hkeys(key)))))
            for key in client.keys()}


def random_calls(rng, count):
    """Returns calls on hashes whose fields expire soon, late or never."""
    calls = []
    for _ in range(count):
        key = f"h{rng.randrange(4)}"
        fields = [f"f{rng.randrange(20)}" for _ in range(rng.randint(1, 4))]
        time_ms = rng.choice([0, 1, 5, 30, 100_000, 10_000_000])
        calls.append(rng.choice([
            ["HSET", key, *(word for each in fields for word in (each, rng.randrange(99)))],
            ["HSETEX", key, "PX", time_ms, "FIELDS", len(fields),
             *(word for each in fields for word in (each, rng.randrange(99)))],
            ["HSETEX", key, "KEEPTTL", "FIELDS", 1, fields[0], rng.randrange(99)],
            ["HPEXPIRE", key, time_ms, rng.choice(["NX", "XX", "GT", "LT"]), "FIELDS", len(fields),
             *fields],
            ["HPEXPIRE", key, time_ms, "FIELDS", len(fields), *fields],
            ["HPERSIST", key, "FIELDS", len(fields), *fields],
            ["HGETEX", key, "PX", time_ms, "FIELDS", len(fields), *fields],
            ["HGETEX", key, "PERSIST", "FIELDS", len(fields), *fields],
            ["HGETDEL", key, "FIELDS", 1, fields[0]], ["HDEL", key, *fields],
            ["HINCRBY", key, fields[0], 3], ["HINCRBYFLOAT", key, fields[0], 0.5],
            ["COPY", key, f"h{rng.randrange(4)}", "REPLACE"], ["RENAME", key, f"h{rng.randrange(4)}"],
            ["HLEN", key], ["HGETALL", key], ["HRANDFIELD", key, -5],
            ["EVAL", "redis.call('HSET', KEYS[1], 'a', 1, 'b', 2); "
             "redis.call('HPEXPIRE', KEYS[1], ARGV[1], 'FIELDS', 1, 'a'); "
             "return redis.call('HGET', KEYS[1], 'a')", 1, key, time_ms]]))
    return calls


def test_the_log_and_a_snapshot_keep_the_times(daemon, tmp_path):
    seed = random.randrange(1 << 32)
    print(f"STRATA_SEED={seed}")
    port = new_cache(daemon, "--persistent", str(tmp_path / "db.aof"), "--snapshot",
                     str(tmp_path / "db.rdb"))
    client = client_of(port)
    client.config_set("hash-max-listpack-entries", 12)
    wire = Wire(port)
    rng = random.Random(seed)
    for round_number in range(6):
        wire.ask_all(random_calls(rng, 300))
        if round_number == 2:
            wire.ask("BGREWRITEAOF")
    time.sleep(0.3)  # longer than the short times of fields
    eventually(lambda: all(int(each) == -1 or each > time.time() * 1000 for _, times in
                           everything(client).values() for each in times.values()),
               "no field is overdue")
    before = everything(client)
    assert any(each != -1 for _, times in before.values() for each in times.values())
    wire.ask("SAVE")
    daemon.kill9()
    daemon.start()
    eventually(lambda: daemon.show("db")["state"] == "running", "the cache is restored")
    port = int(daemon.show("db")["endpoints"][0].rsplit(":", 1)[1])
    assert everything(client_of(port)) == before
    shutil.copy(tmp_path / "db.rdb", tmp_path / "copy.rdb")
    other = new_cache(daemon, "--snapshot", str(tmp_path / "copy.rdb"), name="from-snapshot")
    assert everything(client_of(other)) == before


def test_a_follower_has_the_same_fields_and_times(daemon):
    seed = random.randrange(1 << 32)
    print(f"STRATA_SEED={seed}")
    rng = random.Random(seed)
    port = new_cache(daemon, name="leader")
    leader = Wire(port)
    leader.ask_all(random_calls(rng, 300))
    copy = new_cache(daemon, "--follow", f"tcp://127.0.0.1:{port}", name="copy")
    late = new_cache(daemon, name="late")
    leader.ask_all(random_calls(rng, 600))
    Wire(late).ask("REPLICAOF", "127.0.0.1", port)
    leader.ask_all(random_calls(rng, 300))
    ours = client_of(port)
    for name, follower in (("copy", copy), ("late", late)):
        eventually(lambda: everything(client_of(follower)) == everything(ours),
                   f"{name} has the leader's data (seed {seed})")


def test_a_follower_hides_what_its_leader_has_not_removed_yet(daemon):
    port = new_cache(daemon, name="leader")
    leader = client_of(port)
    leader.execute_command("DEBUG", "SET-ACTIVE-EXPIRE", "0")
    follower_port = new_cache(daemon, "--follow", f"tcp://127.0.0.1:{port}", name="copy")
    follower = client_of(follower_port)
    leader.hset("h", mapping={f"f{i}": i for i in range(5)})
    leader.hpexpire("h", 100, "f0", "f1")
    eventually(lambda: follower.hlen("h") == 3, "the follower's clients do not see the fields")
    assert sorted(follower.hgetall("h")) == ["f2", "f3", "f4"]
    assert sorted(follower.hkeys("h")) == ["f2", "f3", "f4"]
    assert sorted(follower.hrandfield("h", 9)) == ["f2", "f3", "f4"]
    assert set(follower.hrandfield("h", -200)) == {"f2", "f3", "f4"}
    assert follower.hmget("h", "f0", "f4") == [None, "4"]
    assert follower.hexists("h", "f1") is False and follower.httl("h", "f1", "f2") == [-2, -1]
    assert sorted(dict(follower.hscan_iter("h"))) == ["f2", "f3", "f4"]
    # The leader removes them when it finds them.
    assert leader.hlen("h") == 3
    eventually(lambda: Wire(follower_port).ask("HLEN", "h") == b":3\r\n", "the follower has 3")


def test_a_redis_of_7_0_follows_without_the_times(daemon, tmp_path):
    """It cannot read them: it gets the fields without, and their removal when they expire."""
    port = new_cache(daemon)
    client = client_of(port)
    client.hset("h", mapping={"late": 1, "soon": 2, "never": 3})
    client.hpexpireat("h", FAR, "late")
    redis = RedisServer(tmp_path / "redis", "--repl-diskless-sync-delay", "0")
    follower = client_of(redis.port)
    follower.replicaof("127.0.0.1", port)
    eventually(lambda: follower.info("replication")["master_link_status"] == "up", "Redis follows")
    assert follower.hgetall("h") == {"late": "1", "soon": "2", "never": "3"}
    client.execute_command("HSETEX", "h", "PX", 100_000, "FIELDS", 1, "more", 4)
    client.hpexpire("h", 20, "soon")
    eventually(lambda: follower.hgetall("h") == {"late": "1", "never": "3", "more": "4"},
               "the expired field is removed from the follower")
    assert client.hpexpiretime("h", "late") == [FAR]
    assert follower.info("replication")["master_link_status"] == "up"
    redis.close()


def test_snapshots_without_times_stay_readable_for_redis_7_0(daemon, tmp_path):
    port = new_cache(daemon, "--snapshot", str(tmp_path / "db.rdb"))
    client = client_of(port)
    client.hset("h", mapping={"a": 1})
    client.save()
    assert (tmp_path / "db.rdb").read_bytes().startswith(b"REDIS0010")
    client.hpexpireat("h", FAR, "a")
    client.save()
    assert (tmp_path / "db.rdb").read_bytes().startswith(b"REDIS0012")
    client.hpersist("h", "a")
    client.save()
    assert (tmp_path / "db.rdb").read_bytes().startswith(b"REDIS0010")


def test_damaged_payloads_are_refused(daemon):
    """The payload is changed, and its checksum made right again, so that the value is read."""
    port = new_cache(daemon)
    client = Client(port=port)
    rng = random.Random(7)
    for size in (SMALL, LARGE):
        client.delete("h")
        client.hset("h", mapping={f"f{i}": f"v{i}" for i in range(size)})
        client.hpexpireat("h", FAR, "f0", "f1")
        whole = client.dump("h")
        assert whole[0] == (25 if size == SMALL else 24)
        assert client.restore("copy", 0, whole, replace=True)
        for _ in range(400):
            body = bytearray(whole[:-8])
            for _ in range(rng.randint(1, 3)):
                body[rng.randrange(len(body) - 2)] = rng.randrange(256)
            damaged = bytes(body) + crc64(bytes(body)).to_bytes(8, "little")
            try:
                client.restore("damaged", 0, damaged, replace=True)
                client.execute_command("HGETALL", "damaged")
            except redis_py.ResponseError:
                pass
        assert client.ping()


def crc64(data):
    """Returns CRC-64/REDIS: reflected, of polynomial 0xAD93D23594C935A9."""
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ 0x95AC9329AC4BC9B5 if crc & 1 else crc >> 1
    return crc


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
