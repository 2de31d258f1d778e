"""The order in which waiting clients are served, compared with a real redis-server; and the data
that waits for clients that do not read."""

import pytest

from resp_wire import Wire, sorted_reply
from strata_daemon import eventually
from test_cache import new_cache


# What some clients wait for; what another client does; the order in which replies must arrive.
TALKS = {
    "the key that is ready first": (
        ["BLPOP a b 0"], ["MULTI", "RPUSH b 1", "RPUSH a 2", "EXEC"]),
    "the key that is ready first, of many": (
        ["BRPOP a b c 0", "BLPOP c a 0"], ["MULTI", "RPUSH c 1 2", "RPUSH a 3", "EXEC"]),
    "another kind of value is nothing to wake up for": (
        ["BLPOP k 0"], ["SET k v", "DEL k", "SADD k v", "DEL k", "RPUSH k v"]),
    "nor for several keys": (
        ["BLMPOP 0 2 x y LEFT COUNT 2"], ["ZADD x 1 a", "HSET y f v", "DEL y", "RPUSH y 1 2 3"]),
    "nor for moving": (
        ["BLMOVE k t LEFT RIGHT 0"], ["SET k v", "DEL k", "RPUSH k v"]),
    "a target of another kind is": (
        ["BRPOPLPUSH k t 0"], ["SET t v", "RPUSH k v"]),
    "nor for sorted sets": (
        ["BZPOPMIN k 0", "BZMPOP 0 1 k MAX"], ["RPUSH k v", "DEL k", "ZADD k 1 a 2 b 3 c"]),
    "lists and sorted sets at one key": (
        ["BZPOPMIN k 0", "BLPOP k 0"], ["RPUSH k v", "ZADD k 1 a"]),
    "renaming and storing make keys ready": (
        ["BLPOP k l 0", "BLPOP s 0"], ["RPUSH x 1", "RENAME x k", "RPUSH x 2 1",
                                       "SORT x STORE s"]),
}


def play(port, waiting, doing):
    waiters = []
    for number, words in enumerate(waiting, 1):
        waiters.append(Wire(port))
        waiters[-1].send(*words.split())
        watcher = Wire(port)
        eventually(lambda: b"blocked_clients:%d\r" % number in watcher.ask("INFO", "clients"),
                   "it waits")
    doer = Wire(port)
    replies = []
    for words in doing:
        doer.send(*words.split())
        replies.append(doer.receive())
    for wire in waiters:
        # The replies that have arrived by now; the other clients still wait.
        replies.append(b"" if wire.is_silent() else wire.receive())
    replies.append(sorted_reply(doer.ask("KEYS", "*")))
    return replies


@pytest.mark.parametrize("talk", TALKS.values(), ids=TALKS.keys())
def test_who_waits_is_served_as_redis_serves(daemon, redis, talk):
    ours, theirs = (play(port, *talk) for port in (new_cache(daemon), redis.port))
    assert ours == theirs


def is_connected(port, name):
    return b" name=%s " % name in Wire(port).ask("CLIENT", "LIST")


def fill_subscriber(port, megabytes):
    """Returns a subscriber that reads none of the published data, and the publisher."""
    deaf = Wire(port)
    deaf.ask("CLIENT", "SETNAME", "deaf")
    deaf.send("SUBSCRIBE", "c")
    deaf.receive()
    speaker = Wire(port)
    for _ in range(megabytes):
        speaker.ask("PUBLISH", "c", "x" * (1 << 20))
    return deaf, speaker


def test_a_subscriber_that_does_not_read_is_ended_at_its_limit(daemon):
    port = new_cache(daemon)
    wire = Wire(port)
    deaf, _ = fill_subscriber(port, 20)
    assert is_connected(port, b"deaf")
    deaf.close()
    assert wire.ask("CONFIG", "SET", "client-output-buffer-limit", "pubsub 2mb 0 0") == b"+OK\r\n"
    deaf, _ = fill_subscriber(port, 20)
    eventually(lambda: not is_connected(port, b"deaf"), "it is ended")


def test_a_subscriber_may_be_over_its_soft_limit_for_a_while(daemon):
    port = new_cache(daemon)
    Wire(port).ask("CONFIG", "SET", "client-output-buffer-limit", "pubsub 0 1mb 1")
    deaf, speaker = fill_subscriber(port, 20)
    assert is_connected(port, b"deaf")

    def is_ended():
        speaker.ask("PUBLISH", "c", "more")
        return not is_connected(port, b"deaf")

    eventually(is_ended, "it is ended")


def test_who_asks_for_more_than_its_limit_is_ended(daemon):
    port = new_cache(daemon)
    wire = Wire(port)
    wire.ask("SET", "big", "x" * (8 << 20))
    assert len(wire.ask("GET", "big")) > 8 << 20
    wire.ask("CONFIG", "SET", "client-output-buffer-limit", "normal 1mb 0 0")
    greedy = Wire(port)
    greedy.ask("CLIENT", "SETNAME", "greedy")
    greedy.send("GET", "big")
    eventually(lambda: not is_connected(port, b"greedy"), "it is ended")


def used_memory(wire):
    info = wire.ask("INFO", "memory")
    return int(info.split(b"used_memory:")[1].split(b"\r")[0])


@pytest.mark.parametrize("how", ["UNLINK", "FLUSHALL"])
def test_memory_of_large_values_is_given_back_in_time(daemon, how):
    wire = Wire(new_cache(daemon))
    before = used_memory(wire)
    for first in range(0, 200_000, 10_000):
        numbers = [f"member-{i}" for i in range(first, first + 10_000)]
        wire.ask("SADD", "t", *numbers)
        wire.ask("HSET", "h", *[word for each in numbers for word in (each, "value")])
        wire.ask("ZADD", "z", *[word for each in numbers for word in ("1", each)])
        wire.ask("RPUSH", "l", *numbers)
        wire.ask("MSET", *[word for each in numbers for word in (each, "v")])
    assert used_memory(wire) > 20 << 20
    if how == "UNLINK":
        assert wire.ask("UNLINK", "t", "h", "z", "l", "none") == b":4\r\n"
        names = [f"member-{i}" for i in range(200_000)]
        assert wire.ask("UNLINK", *names) == b":200000\r\n"
    else:
        assert wire.ask("FLUSHALL", "ASYNC") == b"+OK\r\n"
    assert wire.ask("DBSIZE") == b":0\r\n"
    # There is room for the same data again at once.
    wire.ask("SADD", "t", "a")
    assert wire.ask("SCARD", "t") == b":1\r\n"
    eventually(lambda: used_memory(wire) < before + (2 << 20), "the memory is given back")


def test_a_client_that_is_idle_keeps_no_room_of_a_large_request(daemon):
    port = new_cache(daemon)
    watcher, clients = Wire(port), [Wire(port) for _ in range(3)]
    for wire in clients:
        wire.ask("CLIENT", "SETNAME", "large")
        assert wire.ask("SET", "k", "x" * (50 << 20)) == b"+OK\r\n"
    lines = [line for line in watcher.ask("CLIENT", "LIST").splitlines() if b"name=large" in line]
    assert len(lines) == 3
    for line in lines:
        fields = dict(word.split(b"=", 1) for word in line.split())
        assert fields[b"qbuf"] == b"0" and int(fields[b"qbuf-free"]) < 64 << 10
