"""A cache as its clients see it: redis-cli, redis-py, and raw connections that wait,
subscribe and misbehave."""

import socket
import subprocess
import threading
import time

import pytest
import redis as redis_py

from resp_wire import Wire, encode
from strata_daemon import PATIENCE, eventually


@pytest.fixture
def port(daemon):
    return new_cache(daemon)


def new_cache(daemon, *flags, name="db"):
    daemon.cli("create", "cache", name, "-p", "0", "--resp", "-s", *flags)
    return int(daemon.show(name)["endpoints"][0].rsplit(":", 1)[1])


def cli(port, *words):
    done = subprocess.run(["redis-cli", "-p", str(port), *map(str, words)], capture_output=True,
                          text=True, timeout=PATIENCE, check=True)
    return done.stdout.strip()


def test_redis_cli(port):
    assert cli(port, "SET", "greeting", "hello world") == "OK"
    assert cli(port, "GET", "greeting") == "hello world"
    assert cli(port, "INCR", "visits") == "1"
    assert cli(port, "RPUSH", "queue", "a", "b") == "2"
    assert cli(port, "LRANGE", "queue", 0, -1).split() == ["a", "b"]
    assert cli(port, "-3", "HSET", "h", "f", "v") == "1"
    assert "f" in cli(port, "-3", "HGETALL", "h")
    assert cli(port, "NOSUCH").startswith("ERR unknown command 'NOSUCH'")


def test_redis_py_does_a_round_of_every_kind(port):
    for _ in range(2):
        client = redis_py.Redis(port=port, decode_responses=True)
        client.flushall()
        assert client.set("s", "1", ex=100) and client.get("s") == "1"
        assert 0 < client.ttl("s") <= 100
        client.rpush("l", 1, 2, 3)
        assert client.lrange("l", 0, -1) == ["1", "2", "3"]
        client.sadd("t", "a", "b")
        assert client.smembers("t") == {"a", "b"}
        client.hset("h", mapping={"a": "1", "b": "2"})
        assert client.hgetall("h") == {"a": "1", "b": "2"}
        assert sorted(client.scan_iter()) == ["h", "l", "s", "t"]
        with client.pipeline(transaction=True) as pipe:
            pipe.incr("n").incr("n").lpop("l")
            assert pipe.execute() == [1, 2, "1"]
        listener = client.pubsub()
        listener.subscribe("news")
        listener.psubscribe("n*")
        for _ in range(2):
            assert "subscribe" in listener.get_message(timeout=PATIENCE)["type"]
        assert client.publish("news", "today") == 2
        heard = [listener.get_message(timeout=PATIENCE) for _ in range(2)]
        assert {each["type"] for each in heard} == {"message", "pmessage"}
        assert {each["data"] for each in heard} == {"today"}
        listener.close()
        assert client.info()["redis_version"].startswith("7.")
        client.close()


def test_a_watched_key_that_changes_fails_the_transaction(port):
    one, other = Wire(port), Wire(port)
    one.ask("SET", "k", "1")
    one.ask("WATCH", "k")
    other.ask("SET", "k", "2")
    one.send("MULTI")
    one.send("GET", "k")
    one.send("EXEC")
    assert [one.receive() for _ in range(3)] == [b"+OK\r\n", b"+QUEUED\r\n", b"*-1\r\n"]
    # Without a change, the transaction is executed.
    one.ask("WATCH", "k")
    one.send("MULTI")
    one.send("INCR", "k")
    one.send("EXEC")
    assert [one.receive() for _ in range(3)] == [b"+OK\r\n", b"+QUEUED\r\n", b"*1\r\n:3\r\n"]


def test_who_waits_longest_is_served_first(port):
    waiting = [Wire(port) for _ in range(3)]
    for each in waiting:
        each.send("BLPOP", "queue", "other", "0")
        eventually(lambda: b"blocked_clients:" in Wire(port).ask("INFO", "clients"), "it waits")
        time.sleep(0.05)
    pusher = Wire(port)
    assert pusher.ask("RPUSH", "queue", "a", "b") == b":2\r\n"
    assert waiting[0].receive() == b"*2\r\n$5\r\nqueue\r\n$1\r\na\r\n"
    assert waiting[1].receive() == b"*2\r\n$5\r\nqueue\r\n$1\r\nb\r\n"
    assert waiting[2].is_silent()
    pusher.ask("RPUSH", "other", "c")
    assert waiting[2].receive() == b"*2\r\n$5\r\nother\r\n$1\r\nc\r\n"
    assert pusher.ask("EXISTS", "queue", "other") == b":0\r\n"


def test_waiting_ends_in_time_and_what_came_meanwhile_is_executed(port):
    wire = Wire(port)
    begun = time.monotonic()
    wire.send("BLPOP", "nothing", "0.3")
    wire.send("PING")
    assert wire.receive() == b"*-1\r\n"
    assert time.monotonic() - begun >= 0.29  # the cache's clock counts milliseconds
    assert wire.receive() == b"+PONG\r\n"
    wire.send("BLMOVE", "nothing", "nowhere", "LEFT", "RIGHT", "0.05")
    assert wire.receive() == b"$-1\r\n"


def test_moving_wakes_who_waits_for_the_target(port):
    waiting, mover = Wire(port), Wire(port)
    waiting.send("BRPOP", "target", "0")
    time.sleep(0.1)
    mover.ask("RPUSH", "source", "x")
    assert mover.ask("LMOVE", "source", "target", "LEFT", "LEFT") == b"$1\r\nx\r\n"
    assert waiting.receive() == b"*2\r\n$6\r\ntarget\r\n$1\r\nx\r\n"


def test_a_transaction_wakes_who_waits_only_when_it_is_over(port):
    waiting, other = Wire(port), Wire(port)
    waiting.send("BLPOP", "k", "0")
    time.sleep(0.1)
    assert other.ask_all([["MULTI"], ["RPUSH", "k", "1"], ["DEL", "k"], ["EXEC"]]).endswith(
        b"*2\r\n:1\r\n:1\r\n")
    assert waiting.is_silent()
    other.ask("RPUSH", "k", "2")
    assert waiting.receive().endswith(b"$1\r\n2\r\n")


def test_clients_can_be_unblocked_and_ended(port):
    waiting, other = Wire(port), Wire(port)
    number = waiting.ask("CLIENT", "ID")[1:-2]
    waiting.send("BLPOP", "k", "0")
    time.sleep(0.1)
    assert other.ask("CLIENT", "UNBLOCK", number, "ERROR") == b":1\r\n"
    assert waiting.receive() == b"-UNBLOCKED client unblocked via CLIENT UNBLOCK\r\n"
    assert other.ask("CLIENT", "KILL", "ID", number) == b":1\r\n"
    assert waiting.socket.recv(1) == b""
    assert b"id=" + number not in other.ask("CLIENT", "LIST")


def test_keys_expire_when_nobody_looks(port):
    wire = Wire(port)
    wire.ask("CONFIG", "SET", "notify-keyspace-events", "Ex")
    hearer = Wire(port)
    hearer.send("SUBSCRIBE", "__keyevent@0__:expired")
    hearer.receive()
    wire.ask_all([["SET", f"k{i}", "v", "PX", "50"] for i in range(500)])
    keys = {hearer.receive().split(b"\r\n")[6] for _ in range(500)}
    assert keys == {b"k%d" % i for i in range(500)}
    assert wire.ask("DBSIZE") == b":0\r\n"


def test_keys_expire_while_somebody_waits_and_others_keep_it_busy(port):
    waiting, busy = Wire(port), Wire(port)
    waiting.send("BLPOP", "queue", 0)
    busy.ask("SET", "k", "v", "PX", 50)
    end = time.monotonic() + PATIENCE
    while busy.ask("DBSIZE") != b":0\r\n":
        assert time.monotonic() < end, "the key does not go"
    waiting.close()
    busy.close()


def test_many_keys_that_expire_at_once_leave_it_answering(port):
    wire = Wire(port)
    deadline = int(time.time() * 1000) + 4000
    for start in range(0, 100_000, 10_000):
        wire.ask_all([["SET", f"k{start + i}", "v", "PXAT", deadline] for i in range(10_000)])
    slowest = 0
    gone = False
    while not gone:
        begun = time.monotonic()
        gone = wire.ask("DBSIZE") == b":0\r\n"
        slowest = max(slowest, time.monotonic() - begun)
        assert time.time() * 1000 < deadline + PATIENCE * 1000
    print(f"slowest answer while 100,000 keys expired: {slowest * 1000:.1f} ms")


def test_maxmemory_evicts_or_refuses(daemon):
    port = new_cache(daemon, "--max-memory", "1MiB", "--eviction", "allkeys-lru")
    wire = Wire(port)
    assert b"-" not in wire.ask_all([["SET", f"k{i}", "v" * 100] for i in range(20_000)])
    assert int(wire.ask("DBSIZE")[1:]) < 10_000
    assert int(redis_py.Redis(port=port).info("memory")["used_memory"]) <= 1 << 20
    wire.ask("CONFIG", "SET", "maxmemory-policy", "noeviction")
    answers = wire.ask_all([["SET", f"more{i}", "v" * 100] for i in range(20_000)])
    assert b"-OOM command not allowed when used memory > 'maxmemory'.\r\n" in answers
    assert wire.ask("GET", "nothing") == b"$-1\r\n"


def test_a_password_is_asked_for(daemon):
    port = new_cache(daemon, "--password", "secret")
    wire = Wire(port)
    assert wire_error(wire, "GET", "k").startswith(b"-NOAUTH")
    assert wire_error(wire, "AUTH", "wrong").startswith(b"-WRONGPASS")
    assert wire_error(wire, "AUTH", "secret") == b"+OK\r\n"
    assert wire_error(wire, "GET", "k") == b"$-1\r\n"
    assert redis_py.Redis(port=port, password="secret").ping()


def wire_error(wire, *words):
    wire.send(*words)
    return wire.receive()


@pytest.mark.parametrize("garbage, answer", [
    (b"*2147483648\r\n", b"-ERR Protocol error: invalid multibulk length\r\n"),
    (b"*1\r\n$-2\r\n", b"-ERR Protocol error: invalid bulk length\r\n"),
    (b"*1\r\n$9223372036854775808\r\n", b"-ERR Protocol error: invalid bulk length\r\n"),
    (b"*1\r\nx", b"-ERR Protocol error: expected '$', got 'x'\r\n"),
    (b"x" * 70_000, b"-ERR Protocol error: too big inline request\r\n"),
])
def test_who_breaks_the_protocol_is_told_and_ended(port, garbage, answer):
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as wire:
        wire.sendall(encode(["PING"]) + garbage)
        heard = b""
        while part := wire.recv(4096):
            heard += part
    assert heard == b"+PONG\r\n" + answer
    assert Wire(port).ask("PING") == b"+PONG\r\n"


def test_random_bytes_do_no_harm(port):
    import random
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    for _ in range(50):
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as wire:
            wire.sendall(chance.randbytes(chance.randrange(1, 3000)))
    assert Wire(port).ask("PING") == b"+PONG\r\n"


def test_who_does_not_read_is_not_read_from(daemon, port):
    setter = Wire(port)
    setter.ask("SET", "big", "x" * 100_000)
    before = daemon.resident_mib()
    with socket.create_connection(("127.0.0.1", port), timeout=2) as wire:
        request = encode(["GET", "big"])
        sent = 0
        try:
            # The client requests a gigabyte of replies and reads none of them.
            while sent < 10_000:
                wire.sendall(request)
                sent += 1
        except TimeoutError:
            pass
        assert setter.ask("PING") == b"+PONG\r\n"
        assert daemon.resident_mib() - before < 64


@pytest.mark.serial
def test_a_pattern_that_explodes_does_not(port):
    wire = Wire(port)
    wire.ask("SET", "a" * 500, "v")
    begun = time.monotonic()
    assert wire.ask("KEYS", "a*" * 100 + "b") == b"*0\r\n"
    assert time.monotonic() - begun < PATIENCE / 2


def test_a_value_of_many_megabytes_comes_back(port):
    client = redis_py.Redis(port=port)
    value = bytes(range(256)) * 40_000
    client.set("big", value)
    assert client.get("big") == value
    assert client.strlen("big") == len(value)


def test_monitor_shows_commands(port):
    watcher, other = Wire(port), Wire(port)
    watcher.send("MONITOR")
    assert watcher.receive() == b"+OK\r\n"
    other.ask("SET", "k", "a\nb")
    lines = [watcher.receive(), watcher.receive()]
    assert any(b'"SET" "k" "a\\nb"' in each for each in lines)


def test_replies_can_be_switched_off(port):
    wire = Wire(port)
    wire.send("CLIENT", "REPLY", "SKIP")
    wire.send("SET", "a", "1")
    wire.send("GET", "a")
    assert wire.receive() == b"$1\r\n1\r\n"
    wire.send("CLIENT", "REPLY", "OFF")
    wire.send("SET", "a", "2")
    wire.send("GET", "a")
    wire.send("CLIENT", "REPLY", "ON")
    assert wire.receive() == b"+OK\r\n"
    assert wire.ask("GET", "a") == b"$1\r\n2\r\n"


def test_many_connections_at_once(port):
    wires = [Wire(port) for _ in range(500)]
    errors = []

    def talk(some):
        for number, each in some:
            if each.ask("SET", f"k{number}", number) != b"+OK\r\n":
                errors.append(number)

    numbered = list(enumerate(wires))
    threads = [threading.Thread(target=talk, args=(numbered[i::4],)) for i in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not errors and wires[0].ask("DBSIZE") == b":500\r\n"


def test_a_cache_on_a_unix_socket(daemon, tmp_path):
    path = tmp_path / "cache.sock"
    daemon.cli("create", "cache", "local", "--listen", f"unix://{path}", "--resp", "-s")
    client = redis_py.Redis(unix_socket_path=str(path))
    assert client.set("k", "v") and client.get("k") == b"v"


def lines_of(port, text):
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as wire:
        wire.sendall(text.encode())
        wire.shutdown(socket.SHUT_WR)
        heard = b""
        while part := wire.recv(4096):
            heard += part
    return heard.decode()


def test_who_speaks_in_lines_is_answered_in_lines(daemon):
    daemon.cli("create", "cache", "plain", "-p", "0", "-s")
    port = int(daemon.show("plain")["endpoints"][0].rsplit(":", 1)[1])
    said = 'set key "a value"\nget key\nget nothing\nrpush l 1 2\nlrange l 0 -1\nbad\n'
    heard = lines_of(port, said).splitlines()
    assert heard[:6] == ["ok", "a value", "(nil)", "2", "1", "2"]
    assert heard[6].startswith("error: ERR unknown command 'bad'")
    # Redis clients speak their protocol on the same port.
    assert Wire(port).ask("GET", "key") == b"$7\r\na value\r\n"


def test_with_resp_lines_are_answered_in_the_protocol(port):
    assert lines_of(port, "PING\nset k v\n") == "+PONG\r\n+OK\r\n"
