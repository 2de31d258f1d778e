"""A cache and a real redis-server follow each other over a connection that is cut again and
again."""

import json
import os
import random
import re
import time

import pytest

from cache_commands import Commands, is_replicated
from cache_contents import assert_same, contents
from resp_wire import RedisServer, Wire, encode
from strata_daemon import eventually
from twin_servers import new_seed

CUTS = int(os.environ.get("STRATA_CUTS", "6"))


def new_cache(daemon, name, *flags):
    daemon.cli("create", "cache", name, "-l", "tcp://127.0.0.1:0", "--resp", "-s", *flags)
    return int(daemon.show(name)["endpoints"][0].rsplit(":", 1)[1])


@pytest.fixture
def redis(tmp_path):
    server = RedisServer(tmp_path / "redis", "--repl-diskless-sync-delay", "0",
                         "--repl-ping-replica-period", "1")
    yield server
    server.close()


def info(wire, field):
    found = re.search(rb"\r\n%s:([^\r]*)\r" % field.encode(), wire.ask("INFO", "everything"))
    return found and found.group(1).decode()


def await_same(leader, follower):
    """Waits until the follower has all the data of the leader."""
    def is_level():
        mine, its = info(follower, "master_link_status"), info(follower, "slave_repl_offset")
        return mine == "up" and int(its) >= int(info(leader, "master_repl_offset"))
    eventually(is_level, "the follower is level with its leader")


def disturb(leader, proxy, seed):
    """Sends random commands, and cuts the link between them as soon as it is up."""
    rng = random.Random(seed)
    commands = Commands(seed)

    def requests():
        return [each for each in (commands.next() for _ in range(200)) if is_replicated(each)]

    for _ in range(CUTS):
        eventually(lambda: proxy.pairs, "the follower is back")
        time.sleep(rng.choice([0, 0, 0.005, 0.05]))
        leader.ask_all(requests() + [["DISCARD"], ["SELECT", "0"]])
        proxy.cut()
        leader.ask_all(requests() + [["DISCARD"], ["SELECT", "0"]])


def run_pair(leader_port, follower_port, proxy, seed):
    leader, follower = Wire(leader_port), Wire(follower_port)
    leader.ask("SET", "before", "it was followed")
    assert follower.ask("REPLICAOF", "127.0.0.1", proxy.port) == b"+OK\r\n"
    await_same(leader, follower)
    assert follower.ask("GET", "before") == b"$15\r\nit was followed\r\n"
    disturb(leader, proxy, seed)
    await_same(leader, follower)
    assert proxy.accepted > CUTS
    assert_same(contents(leader_port), contents(follower_port))
    return leader, follower


def test_a_cache_follows_redis(daemon, redis, proxies):
    port = new_cache(daemon, "db")
    leader, _ = run_pair(redis.port, port, proxies(redis.port), new_seed())
    assert int(info(leader, "sync_partial_ok")) > 0
    assert int(info(leader, "sync_full")) < 1 + CUTS


def test_redis_follows_a_cache(daemon, redis, proxies):
    port = new_cache(daemon, "db")
    leader, _ = run_pair(port, redis.port, proxies(port), new_seed())
    assert "resumes replication" in daemon.log()
    assert int(info(leader, "sync_partial_ok")) > 0
    assert 0 < int(info(leader, "sync_full")) < 1 + CUTS
    assert info(leader, "connected_slaves") == "1"
    assert b"redis" not in leader.ask("ROLE") and b"master" in leader.ask("ROLE")


def test_a_cache_follows_a_cache(daemon, proxies, tmp_path):
    first = new_cache(daemon, "first")
    second = new_cache(daemon, "second", "--persistent", tmp_path / "second.aof")
    run_pair(first, second, proxies(first), new_seed())
    # The replicated data is also on the disk.
    before = contents(second)
    daemon.kill9()
    daemon.start()
    port = int(daemon.show("second")["endpoints"][0].rsplit(":", 1)[1])
    assert_same(before, contents(port))


def test_a_cache_follows_from_its_start(daemon, redis):
    leader = Wire(redis.port)
    leader.ask("SET", "k", "v")
    leader.ask("CONFIG", "SET", "requirepass", "secret")
    port = new_cache(daemon, "db", "--follow", f"tcp://127.0.0.1:{redis.port}",
                     "--follow-password", "secret")
    follower = Wire(port)
    eventually(lambda: follower.ask("GET", "k") == b"$1\r\nv\r\n", "the data is there")
    assert follower.ask("SET", "k", "w").startswith(b"-READONLY")
    assert b"slave" in follower.ask("ROLE") and b"connected" in follower.ask("ROLE")
    assert follower.ask("REPLICAOF", "NO", "ONE") == b"+OK\r\n"
    assert follower.ask("SET", "k", "w") == b"+OK\r\n"
    leader.ask("SET", "k", "x")
    assert follower.ask("GET", "k") == b"$1\r\nw\r\n"


def test_a_follower_comes_back_behind_a_write_larger_than_the_backlog(daemon):
    """The write and the follower's request arrive in one turn of the loop."""
    port = new_cache(daemon, "db")
    first, second = Wire(port), Wire(port)
    second.ask("CONFIG", "SET", "repl-backlog-size", 16384)
    first.send("PSYNC", "?", "-1")
    _, history, offset = first.receive().split()
    write = "redis.call('SET', 'wide', string.rep('x', 100000))"
    second.socket.sendall(encode(["EVAL", write, 0])
                          + encode(["PSYNC", history, int(offset) + 1]))
    assert second.receive() == b"$-1\r\n"
    assert second.receive().startswith(b"+FULLRESYNC")


def test_whom_clients_let_it_follow_outlives_the_daemon(daemon, redis, tmp_path):
    Wire(redis.port).ask("SET", "key", "leader's")
    port = new_cache(daemon, "db", "--persistent", tmp_path / "db.aof", "--appendfsync", "always")
    follower = Wire(port)
    assert follower.ask("REPLICAOF", "127.0.0.1", redis.port) == b"+OK\r\n"
    url = f"tcp://127.0.0.1:{redis.port}"
    eventually(lambda: record(daemon)["follow"] == url, "the record has the leader")
    await_same(Wire(redis.port), follower)

    def crash():
        daemon.kill9()
        daemon.start()
        return Wire(int(daemon.show("db")["endpoints"][0].rsplit(":", 1)[1]))

    follower = crash()
    assert info(follower, "master_port") == str(redis.port)
    assert text_of(follower.ask("CONFIG", "GET", "replicaof")) == f"127.0.0.1 {redis.port}"
    assert follower.ask("REPLICAOF", "NO", "ONE") == b"+OK\r\n"
    assert follower.ask("SET", "key", "its own") == b"+OK\r\n"
    assert follower.ask("CONFIG", "REWRITE") == b"+OK\r\n"
    eventually(lambda: record(daemon)["follow"] == "", "the record has none")
    leader = crash()
    assert info(leader, "role") == "master"
    assert leader.ask("GET", "key") == b"$7\r\nits own\r\n"


def record(daemon):
    """Returns the options of `db` as they are on the disk."""
    return json.loads((daemon.state_dir / "runtimes" / "db.json").read_text())["options"]


def text_of(reply):
    """Returns the last bulk string of a reply."""
    return reply.split(b"\r\n")[-2].decode()


def test_parameters_that_clients_set_outlive_the_daemon(daemon):
    wire = Wire(new_cache(daemon, "db"))
    wire.ask("CONFIG", "SET", "maxmemory", "50mb")
    eventually(lambda: record(daemon)["max_memory"] == 50 << 20, "the record has it")
    daemon.kill9()
    daemon.start()
    wire = Wire(int(daemon.show("db")["endpoints"][0].rsplit(":", 1)[1]))
    assert text_of(wire.ask("CONFIG", "GET", "maxmemory")) == str(50 << 20)
    assert wire.ask("CONFIG", "REWRITE") == b"+OK\r\n"
    wire.ask("CONFIG", "SET", "hz", "20", "notify-keyspace-events", "KEA", "slave-priority", "7")
    wire.ask("CONFIG", "SET", "client-output-buffer-limit", "pubsub 1mb 1mb 60")
    assert wire.ask("CONFIG", "REWRITE") == b"+OK\r\n"
    eventually(lambda: len(record(daemon).get("config", [])) == 4, "the record has them")
    daemon.kill9()
    daemon.start()
    wire = Wire(int(daemon.show("db")["endpoints"][0].rsplit(":", 1)[1]))
    for name, value in (("hz", "20"), ("notify-keyspace-events", "AKE"), ("replica-priority", "7"),
                        ("slave-priority", "7")):
        assert text_of(wire.ask("CONFIG", "GET", name)) == value
    assert "pubsub 1048576 1048576 60" in text_of(
        wire.ask("CONFIG", "GET", "client-output-buffer-limit"))
    wire.ask("CONFIG", "SET", "hz", "10")  # as without it
    assert wire.ask("CONFIG", "REWRITE") == b"+OK\r\n"
    eventually(lambda: len(record(daemon)["config"]) == 3, "the record has it no more")


def test_parameters_can_be_given_as_options(daemon):
    port = new_cache(daemon, "db", "--config", "notify-keyspace-events=KEA", "--config",
                     "timeout=600", "--config", "tracking-table-max-keys=5")
    wire = Wire(port)
    assert text_of(wire.ask("CONFIG", "GET", "notify-keyspace-events")) == "AKE"
    assert text_of(wire.ask("CONFIG", "GET", "timeout")) == "600"
    wire.send("SUBSCRIBE", "__keyspace@0__:k")
    wire.receive()
    Wire(port).ask("SET", "k", "v")
    assert b"set" in wire.receive()
    for text, why in (("hz", "it is not NAME=VALUE"), ("=1", "Unknown option"),
                      ("no-such=1", "Unknown option"), ("hz=fast", "couldn't be parsed"),
                      ("maxmemory=1mb", "use --max-memory"),
                      ("port=1", "is an option of the cache"),
                      ("replicaof=a 1", "is an option of the cache"),
                      ("databases=17", "immutable")):
        done = daemon.run("create", "cache", "other", "-p", "0", "--config", text)
        assert done.returncode != 0 and why in done.stderr and f"'{text}'" in done.stderr, done


def test_wait_counts_followers(daemon, redis):
    port = new_cache(daemon, "db")
    leader, follower = Wire(port), Wire(redis.port)
    assert leader.ask("WAIT", 1, 100) == b":0\r\n"
    follower.ask("REPLICAOF", "127.0.0.1", port)
    await_same(leader, follower)
    for value in range(20):
        leader.ask("SET", "k", value)
        assert leader.ask("WAIT", 1, 5000) == b":1\r\n"
        assert follower.ask("GET", "k").split(b"\r\n")[1] == b"%d" % value
    assert leader.ask("WAIT", 2, 50) == b":1\r\n"


def test_a_followers_keys_expire_when_the_leader_says_so(daemon, redis):
    leader = Wire(redis.port)
    port = new_cache(daemon, "db", "--follow", f"tcp://127.0.0.1:{redis.port}")
    follower = Wire(port)
    leader.ask("DEBUG", "SET-ACTIVE-EXPIRE", 0)
    leader.ask_all([["SET", "short", "v", "PX", 150], ["SET", "long", "v", "EX", 100]])
    await_same(leader, follower)
    time.sleep(0.3)
    assert follower.ask("GET", "short") == b"$-1\r\n"
    assert follower.ask("DBSIZE") == b":2\r\n"
    assert leader.ask("GET", "short") == b"$-1\r\n"  # the GET removes the key
    await_same(leader, follower)
    assert follower.ask("DBSIZE") == b":1\r\n"


def test_messages_are_published_to_followers_too(daemon, redis):
    port = new_cache(daemon, "db")
    leader, follower = Wire(port), Wire(redis.port)
    follower.ask("REPLICAOF", "127.0.0.1", port)
    await_same(leader, follower)
    follower.send("SUBSCRIBE", "news")
    follower.receive()
    leader.ask("PUBLISH", "news", "today")
    assert follower.receive() == b"*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$5\r\ntoday\r\n"


def test_large_data_reaches_a_follower_while_it_changes(daemon, redis):
    port = new_cache(daemon, "db")
    leader, follower = Wire(port), Wire(redis.port)
    leader.ask("DEBUG", "POPULATE", 200_000, "key", 100)
    follower.ask("REPLICAOF", "127.0.0.1", port)
    for turn in range(60):
        leader.ask_all([["INCR", f"count{i}"] for i in range(50)]
                       + [["APPEND", f"key:{turn * 997 + i}", "+"] for i in range(50)])
        time.sleep(0.01)
    await_same(leader, follower)
    for wire in (leader, follower):
        assert wire.ask("DBSIZE") == b":200050\r\n"
    for turn in range(60):
        key = f"key:{turn * 997}"
        assert leader.ask("GET", key) == follower.ask("GET", key)
    assert follower.ask("GET", "count7") == b"$2\r\n60\r\n"
