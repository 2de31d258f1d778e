"""Hash fields that expire, in logs and snapshots, and in followers: caches and a Redis 7.0."""

import random
import shutil
import time

import pytest
import redis as redis_py

from field_client import FAR, Client, client_of
from resp_wire import RedisServer, Wire
from strata_daemon import eventually
from test_cache import new_cache

pytestmark = pytest.mark.once

SMALL, LARGE = 3, 700  # fields: a pack and a table


def everything(client):
    """Returns the fields of each hash, and their times. A hash may expire meanwhile."""
    found = {}
    for key in client.keys():
        if fields := client.hgetall(key):
            found[key] = (fields, dict(zip(fields, client.hpexpiretime(key, *fields))))
    return found


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
            ["COPY", key, f"h{rng.randrange(4)}", "REPLACE"],
            ["RENAME", key, f"h{rng.randrange(4)}"],
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
    client.hset("kept", mapping={"dated": 1, "never": 2})
    client.hpexpireat("kept", FAR, "dated")
    time.sleep(0.3)  # longer than the short times of fields
    eventually(lambda: all(int(each) == -1 or each > time.time() * 1000 for _, times in
                           everything(client).values() for each in times.values()),
               "no field is overdue")
    before = everything(client)
    assert before["kept"] == ({"dated": "1", "never": "2"}, {"dated": FAR, "never": -1})
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
        for _ in range(400 if size == SMALL else 60):
            body = bytearray(whole[:-8])
            for _ in range(rng.randint(1, 3)):
                # Half of the changes are of the time at the beginning.
                last = rng.choice([9, len(body) - 2])
                body[rng.randrange(last)] = rng.randrange(256)
            damaged = bytes(body) + crc64(bytes(body)).to_bytes(8, "little")
            try:
                client.restore("damaged", 0, damaged, replace=True)
                names = client.hkeys("damaged")
                client.hexpiretime("damaged", *names)
                client.httl("damaged", *names)
                client.hexpire("damaged", 100, *names)
                client.restore("again", 0, client.dump("damaged"), replace=True)
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


def test_the_digest_covers_times_of_keys_and_fields(daemon):
    wire = Wire(new_cache(daemon))
    wire.ask("HSET", "hash", "field", "value")
    digest = wire.ask("DEBUG", "DIGEST")
    for expire, persist in ((["PEXPIRE", "hash", "9000000"], ["PERSIST", "hash"]),
                            (["HPEXPIRE", "hash", "9000000", "FIELDS", "1", "field"],
                             ["HPERSIST", "hash", "FIELDS", "1", "field"])):
        wire.ask(*expire)
        assert wire.ask("DEBUG", "DIGEST") != digest
        wire.ask(*persist)
        assert wire.ask("DEBUG", "DIGEST") == digest
