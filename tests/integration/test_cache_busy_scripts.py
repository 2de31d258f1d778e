"""Scripts that take longer than busy-reply-threshold: other clients are told that the cache is
busy, and can end them, as beside a real redis-server."""

import json
import time

import pytest

from resp_wire import Wire, encode
from strata_daemon import PATIENCE, eventually
from test_cache import new_cache

pytestmark = pytest.mark.once

ENDLESS = "while true do end"
LIBRARY = """#!lua name=lib
redis.register_function('spin', function() while true do end end)
redis.register_function('write', function(keys)
  redis.call('SET', keys[1], 1)
  while true do end
end)
"""
BUSY = b"-BUSY Redis is busy running a script. You can only call "


def say(wire, *words):
    """As `Wire.ask`, without a command more."""
    wire.send(*words)
    return wire.receive()


def busy_cache(daemon, **options):
    """A cache that tells others soon that it is busy."""
    [url] = daemon.create("cache", "db", listen=["tcp://127.0.0.1:0"], resp=True,
                          **options)["endpoints"]
    port = int(url.rpartition(":")[2])
    assert say(Wire(port), "CONFIG", "SET", "busy-reply-threshold", 50) == b"+OK\r\n"
    return port


def patient(port):
    """A connection on which a reply may take as long as a script on a busy machine."""
    wire = Wire(port)
    wire.socket.settimeout(4 * PATIENCE)
    return wire


def await_busy(wire, *words):
    """Asks until the cache is busy; returns its reply."""
    words = words or ("GET", "any")
    eventually(lambda: say(wire, *words).startswith(BUSY), "the script has been interrupted")
    return say(wire, *words)


def spin(port, text=ENDLESS, *arguments):
    """Starts a script, and returns the connection that waits for its reply."""
    wire = patient(port)
    wire.send("EVAL", text, *(arguments or ["0"]))
    await_busy(Wire(port))
    return wire


def rest_of(wire):
    """Returns what arrives until the cache closes the connection."""
    data = b""
    while part := wire.socket.recv(1 << 20):
        data += part
    return data


def story(port):
    """What clients see while scripts and functions take long, request by request."""
    seen = []
    control = Wire(port)
    other = Wire(port)

    def note(wire, *words):
        seen.append((words, say(wire, *words)))

    note(control, "CONFIG", "SET", "busy-reply-threshold", 50)
    note(control, "CONFIG", "GET", "lua-time-limit")
    note(control, "SCRIPT", "KILL")
    note(control, "FUNCTION", "KILL")
    note(control, "FUNCTION", "LOAD", LIBRARY)
    watching = Wire(port)
    note(watching, "WATCH", "k")
    queueing = Wire(port)
    note(queueing, "MULTI")
    running = spin(port)
    for words in [("GET", "k"), ("SET", "k", 1), ("PING",), ("INFO",), ("nosuch",), ("GET",),
                  ("EVAL", "return 1", 0), ("SCRIPT", "EXISTS", "x"), ("FUNCTION", "STATS"),
                  ("FUNCTION", "KILL"), ("SHUTDOWN",), ("SHUTDOWN", "SAVE"), ("MULTI",),
                  ("DISCARD",), ("WATCH", "a"), ("UNWATCH",), ("CONFIG", "GET", "save"),
                  ("SUBSCRIBE", "c"), ("HELLO", "2"), ("REPLCONF", "x"), ("RESET",)]:
        if words == ("HELLO", "2"):
            assert say(other, *words).startswith(b"*")
            continue
        note(other, *words)
    note(queueing, "GET", "k")
    note(queueing, "EXEC")
    note(control, "SCRIPT", "KILL")
    seen.append(("the script", running.receive()))
    note(control, "SET", "k", "1")
    # Functions.
    running.send("FCALL", "spin", 1, "key", "argument")
    await_busy(control)
    note(control, "GET", "k")
    stats = say(control, "FUNCTION", "STATS")
    seen.append(("stats", stats[:stats.index(b"duration_ms")]))
    note(control, "SCRIPT", "KILL")
    note(control, "FUNCTION", "KILL")
    seen.append(("the function", running.receive()))
    # A script that has written.
    running.send("EVAL", "redis.call('SET', KEYS[1], 'x') local n, most = 0, tonumber(ARGV[1]) "
                 "while n < most do n = n + 1 end return redis.call('GET', KEYS[1])",
                 1, "k", 10 ** 8)
    await_busy(control)
    note(control, "SCRIPT", "KILL")
    note(control, "FUNCTION", "KILL")
    note(watching, "MULTI")
    seen.append(("the writer", running.receive()))
    note(watching, "EXEC")
    note(control, "GET", "k")
    note(control, "SCRIPT", "KILL")
    seen.extend(story_of_a_transaction(port, control))
    return seen


def story_of_a_transaction(port, control):
    """What clients see while the scripts of a transaction take long, one after the other."""
    seen = []

    def note(words):
        seen.append((words, say(control, *words)))

    slow = ("local n, most = 0, tonumber(ARGV[1]) while n < most do n = n + 1 end "
            "return redis.call('GET', KEYS[1])")
    writer = "redis.call('SET', KEYS[1], 'y') " + slow
    running = patient(port)
    say(running, "MULTI")
    for words in [("SET", "k", "x"), ("EVAL", ENDLESS, 0), ("GET", "k"),
                  ("FCALL", "spin", 1, "key", "argument"), ("EVAL", writer, 1, "k", 10 ** 8),
                  ("EVAL", "return 'quick'", 0), ("EVAL_RO", slow, 1, "k", 10 ** 10),
                  ("APPEND", "k", "z")]:
        assert say(running, *words) == b"+QUEUED\r\n"
    running.send("EXEC")
    await_busy(control)
    for words in [("GET", "k"), ("FUNCTION", "STATS"), ("FUNCTION", "KILL"), ("SCRIPT", "KILL")]:
        note(words)
    eventually(lambda: say(control, "GET", "k").endswith(b"FUNCTION KILL or SHUTDOWN NOSAVE.\r\n"),
               "the function has been interrupted")
    stats = say(control, "FUNCTION", "STATS")
    seen.append(("stats", stats[:stats.index(b"duration_ms")]))
    note(("SCRIPT", "KILL"))
    note(("FUNCTION", "KILL"))
    eventually(lambda: say(control, "SCRIPT", "KILL").startswith(b"-UNKILLABLE"),
               "the script that writes has been interrupted")
    eventually(lambda: say(control, "SCRIPT", "KILL") == b"+OK\r\n", "the last one is killed")
    seen.append(("the transaction", running.receive()))
    note(("GET", "k"))
    return seen


def test_others_see_what_they_see_beside_redis(daemon, redis):
    ours, theirs = (story(port) for port in (new_cache(daemon, "--redis-version", "7.0"),
                                             redis.port))
    wrong = [f"{own[0]}: {own[1]!r}, and redis gives {other[1]!r}"
             for own, other in zip(ours, theirs, strict=True) if own != other]
    assert not wrong, "\n".join(wrong)


HARD_TO_STOP = {
    "a loop that catches errors": "while true do pcall(function() while true do end end) end",
    "a comparison of sort": "local t = {} for i = 1, 100 do t[i] = i end "
                            "table.sort(t, function(a, b) while true do end end)",
    "a replacement of gsub": "return (('x'):gsub('.', function() while true do end end))",
    "a coroutine": "local c = coroutine.wrap(function() while true do end end) c()",
    "a metamethod": "local t = setmetatable({}, {__index = function() while true do end end}) "
                    "return t.x",
    "commands that read": "while true do redis.call('GET', 'k') end",
    "commands that fail": "while true do redis.pcall('nosuch') end",
}


@pytest.mark.parametrize("name", HARD_TO_STOP)
def test_a_script_is_interrupted_and_killed_wherever_it_is(daemon, name):
    port = busy_cache(daemon)
    running = spin(port, HARD_TO_STOP[name])
    control = Wire(port)
    assert say(control, "SCRIPT", "KILL") == b"+OK\r\n"
    reply = running.receive()
    assert b"Script killed by user with SCRIPT KILL" in reply, reply
    eventually(lambda: say(control, "PING") == b"+PONG\r\n", "the cache serves again")
    assert running.ask("EVAL", "return 1", 0) == b":1\r\n"


def test_an_interrupted_script_ends_as_if_it_had_not_been(daemon):
    port = busy_cache(daemon)
    running = patient(port)
    text = """
    local sum = 0
    for i = 1, tonumber(ARGV[1]) do sum = sum + i end
    local t = {}
    for i = 1, 1000 do t[i] = (i * 7919) % 1000 end
    table.sort(t)
    return {sum, t[1], t[1000], ARGV[2]}
    """
    # What is pipelined behind it waits for it, its words too.
    running.socket.sendall(b"".join(encode(words) for words in [
        ("SET", "a", 1), ("EVAL", text, 0, 10 ** 8, "last"), ("INCR", "a"), ("GET", "a")]))
    await_busy(Wire(port))
    assert running.receive() == b"+OK\r\n"
    total = 10 ** 8 * (10 ** 8 + 1) // 2
    assert running.receive() == b"*4\r\n:%d\r\n:0\r\n:999\r\n$4\r\nlast\r\n" % total
    assert running.receive() == b":2\r\n" and running.receive() == b"$1\r\n2\r\n"


def test_an_interrupted_transaction_ends_as_if_it_had_not_been(daemon, tmp_path):
    log, snapshot = tmp_path / "log.aof", tmp_path / "data.rdb"
    port = busy_cache(daemon, persistent=str(log), appendfsync="always", snapshot=str(snapshot))
    waits = Wire(port)
    waits.send("BLPOP", "l", 0)
    value = b"x" * (1 << 20)
    slow = "local n = 0 while n < 1e8 do n = n + 1 end return redis.call('INCR', 'n')"
    running = patient(port)
    running.socket.sendall(b"".join(encode(words) for words in [
        ("MULTI",), ("SET", "k", value), ("RPUSH", "l", "a"), ("GET", "k"), ("EVAL", slow, 0),
        ("BGSAVE",), ("GET", "k"), ("EVAL", slow, 0), ("LLEN", "l"), ("EXEC",), ("GET", "n")]))
    await_busy(Wire(port))
    bulk = b"$%d\r\n%s\r\n" % (len(value), value)
    assert [running.receive() for _ in range(9)] == [b"+OK\r\n"] + 8 * [b"+QUEUED\r\n"]
    replies = b"*8\r\n+OK\r\n:1\r\n%s:1\r\n+Background saving started\r\n%s:2\r\n:1\r\n"
    assert running.receive() == replies % (bulk, bulk)
    assert running.receive() == b"$1\r\n2\r\n"
    assert waits.receive() == b"*2\r\n$1\r\nl\r\n$1\r\na\r\n"
    words = [word for word in log.read_bytes().split(b"\r\n") if word.isupper()]
    begun = words.index(b"MULTI")
    assert words[begun:begun + 6] == [b"MULTI", b"SET", b"RPUSH", b"INCR", b"INCR", b"EXEC"], words
    eventually(lambda: snapshot.exists() and snapshot.stat().st_size > 0, "the snapshot is there")


def test_time_stands_still_and_nothing_expires(daemon):
    port = busy_cache(daemon)
    control = Wire(port)
    control.ask("SET", "k", "v", "PX", 300)
    running = spin(port, "redis.call('EXISTS', 'k') " + ENDLESS)
    time.sleep(0.5)
    say(control, "SCRIPT", "KILL")
    running.receive()
    assert control.ask("GET", "k") == b"$-1\r\n"
    control.ask("SET", "k", "v", "PX", 300)
    begun = time.monotonic()
    running.send("EVAL", "local n = 0 while n < 2e8 do n = n + 1 end "
                 "return {redis.call('EXISTS', 'k'), redis.call('PTTL', 'k') > 0}", 0)
    assert running.receive() == b"*2\r\n:1\r\n:1\r\n"
    assert time.monotonic() - begun > 0.3, "the loop was too short to say anything"


@pytest.mark.parametrize("begin, end", [((), ()), (("MULTI",), ("EXEC",))],
                         ids=["script", "transaction"])
def test_a_client_that_leaves_lets_its_script_end(daemon, begin, end):
    port = busy_cache(daemon)
    running = patient(port)
    for words in [begin, ("EVAL", "redis.call('SET', 'k', 1) local n = 0 "
                          "while n < 1e8 do n = n + 1 end return redis.call('INCR', 'k')", 0), end]:
        if words:
            running.send(*words)
    control = Wire(port)
    await_busy(control)
    running.close()
    eventually(lambda: say(control, "GET", "k") == b"$1\r\n2\r\n", "the script has ended")
    eventually(lambda: len(daemon.ask("GET", "/v1/runtimes/db/clients")) == 1, "it has left")


def test_waiting_clients_are_served_after_it(daemon):
    port = busy_cache(daemon)
    waits = Wire(port)
    waits.send("BLPOP", "l", 0)
    running = patient(port)
    running.send("EVAL", "redis.call('RPUSH', 'l', 'a', 'b') local n = 0 "
                 "while n < 1e8 do n = n + 1 end return redis.call('LRANGE', 'l', 0, -1)", 0)
    control = Wire(port)
    await_busy(control)
    assert say(control, "MULTI") == b"+OK\r\n" and say(control, "DISCARD") == b"+OK\r\n"
    assert waits.is_silent(0.05)
    assert running.receive() == b"*2\r\n$1\r\na\r\n$1\r\nb\r\n"
    assert waits.receive() == b"*2\r\n$1\r\nl\r\n$1\r\na\r\n"


def test_its_changes_are_one_transaction_on_the_disk(daemon, tmp_path):
    log = tmp_path / "log.aof"
    port = busy_cache(daemon, persistent=str(log), appendfsync="always")
    running = patient(port)
    running.send("EVAL", "redis.call('SET', 'a', 1) local n = 0 "
                 "while n < 1e8 do n = n + 1 end redis.call('SET', 'b', 1) return 1", 0)
    control = Wire(port)
    await_busy(control)
    control.send("REPLCONF", "x")
    assert running.receive() == b":1\r\n"
    words = [word for word in log.read_bytes().split(b"\r\n") if word.isalpha()]
    assert words[-6:] == [b"MULTI", b"SET", b"a", b"SET", b"b", b"EXEC"], words


@pytest.mark.parametrize("begin", [
    lambda port: spin(port, "redis.call('SET', 'half', 1) " + ENDLESS),
    lambda port: spin_in_transaction(port, 100, ("SET", "half", 1), ("SET", "half", 2)),
], ids=["script", "transaction"])
def test_shutdown_nosave_leaves_nothing_of_it(daemon, tmp_path, begin):
    log = tmp_path / "log.aof"
    port = busy_cache(daemon, persistent=str(log))
    control = Wire(port)
    control.ask("SET", "before", 1)
    running = begin(port)
    assert say(control, "SHUTDOWN").startswith(BUSY)
    control.send("SHUTDOWN", "NOSAVE")
    assert control.socket.recv(10) == b""
    eventually(lambda: daemon.show("db")["state"] != "running", "the cache has ended")
    daemon.act("db", "start")
    wire = Wire(int(daemon.show("db")["endpoints"][0].rpartition(":")[2]))
    assert wire.ask("EXISTS", "before", "half") == b":1\r\n"
    running.close()


def spin_in_transaction(port, count, *before):
    """Starts a transaction of scripts, and returns the connection that waits for its reply."""
    wire = patient(port)
    for words in [("MULTI",), *before, *[("EVAL", ENDLESS, 0)] * count]:
        say(wire, *words)
    wire.send("EXEC")
    await_busy(Wire(port))
    return wire


@pytest.mark.parametrize("begin", [spin, lambda port: spin_in_transaction(port, 1000)],
                         ids=["script", "transaction"])
@pytest.mark.parametrize("how", ["stop", "--now"])
def test_a_stop_ends_it(daemon, how, begin):
    port = busy_cache(daemon, drain_timeout=0.5)
    running = begin(port)
    daemon.cli("stop", "db", *([how] if how != "stop" else []))
    assert daemon.show("db")["state"] == "stopped"
    data = rest_of(running)
    is_cut_off = data in (b"", b"*1000\r\n")
    assert is_cut_off or b"Script ended since the cache ends" in data, data


def test_the_daemon_ends_although_a_script_does_not(daemon):
    port = busy_cache(daemon, drain_timeout=0.5)
    spin(port)
    daemon.stop()


def test_the_control_api_answers_meanwhile(daemon):
    port = busy_cache(daemon)
    running = spin(port)
    assert daemon.show("db")["state"] == "running"
    assert daemon.stats("db") is not None
    eventually(lambda: len(json.loads(daemon.cli("clients", "db", "--format", "json"))) == 1,
               "the client that has left is not listed")
    daemon.cli("edit", "db", "--user", "other on nopass ~* +@all")
    say(Wire(port), "SCRIPT", "KILL")
    assert b"killed" in running.receive()


def test_a_snapshot_waits_for_its_end(daemon, tmp_path):
    snapshot = tmp_path / "data.rdb"
    port = busy_cache(daemon, snapshot=str(snapshot), save="1 1")
    running = patient(port)
    running.send("EVAL", "redis.call('SET', 'a', 1) local n = 0 while n < 6e8 do n = n + 1 end "
                 "redis.call('SET', 'b', 1) return 1", 0)
    await_busy(Wire(port))
    sizes = []
    while running.is_silent(0.1):
        sizes.append(snapshot.stat().st_size if snapshot.exists() else 0)
    assert len(sizes) > 11, "the script was too short to say anything"
    assert not any(sizes[:-1])
    assert running.receive() == b":1\r\n"
    eventually(lambda: snapshot.stat().st_size > 0, "the snapshot is there")
    assert b"a" in snapshot.read_bytes() and b"b" in snapshot.read_bytes()


def test_a_follower_gets_its_changes_at_once(daemon):
    port = busy_cache(daemon)
    copy, control = Wire(follower_of(daemon, port)), Wire(port)
    running = patient(port)
    running.send("EVAL", "redis.call('SET', 'a', 1) local n = 0 while n < 1e8 do n = n + 1 end "
                 "redis.call('SET', 'b', 1) return 1", 0)
    await_busy(control)
    assert copy.ask("MGET", "a", "b") == b"*2\r\n$-1\r\n$-1\r\n"
    assert running.receive() == b":1\r\n"
    eventually(lambda: copy.ask("MGET", "a", "b") == b"*2\r\n$1\r\n1\r\n$1\r\n1\r\n",
               "the follower has both changes")


def follower_of(daemon, leader_port):
    """Starts a follower that has the leader's data; returns its port."""
    daemon.cli("create", "cache", "copy", "-p", "0", "--follow", f"tcp://127.0.0.1:{leader_port}",
               "-s")
    port = int(daemon.show("copy")["endpoints"][0].rpartition(":")[2])
    assert say(Wire(port), "CONFIG", "SET", "busy-reply-threshold", 50) == b"+OK\r\n"
    assert say(Wire(leader_port), "SET", "k", "before") == b"+OK\r\n"
    eventually(lambda: say(Wire(port), "GET", "k") == b"$6\r\nbefore\r\n",
               "the follower has the data")
    return port


# How the leader sends its changes on.
WAYS = {
    "as they come": [],
    "continued": [("CLIENT", "KILL", "TYPE", "replica")],
    "as a whole": [("DEBUG", "CHANGE-REPL-ID"), ("CLIENT", "KILL", "TYPE", "replica")],
}


@pytest.mark.parametrize("way", WAYS)
def test_a_followers_script_does_not_see_changes_of_the_leader(daemon, redis, way):
    control = Wire(follower_of(daemon, redis.port))
    running = patient(control.socket.getpeername()[1])
    running.send("EVAL_RO", "local first, n = redis.call('GET', 'k'), 0 "
                 "while n < 4e8 do n = n + 1 end return {first, redis.call('GET', 'k')}", 0)
    await_busy(control)
    for words in [("SET", "k", "after"), *WAYS[way]]:
        assert not say(Wire(redis.port), *words).startswith(b"-")
    assert running.receive() == b"*2\r\n" + b"$6\r\nbefore\r\n" * 2
    eventually(lambda: say(control, "GET", "k") == b"$5\r\nafter\r\n", "the change has arrived")
    assert say(running, "EVAL", "return redis.call('GET', 'k')", 0) == b"$5\r\nafter\r\n"


@pytest.mark.parametrize("at", ["leader", "follower"])
def test_replication_outlasts_a_script_that_takes_longer_than_its_timeout(daemon, at):
    leader = Wire(busy_cache(daemon))
    follower = Wire(follower_of(daemon, leader.socket.getpeername()[1]))
    busy = leader if at == "leader" else follower
    for wire in (leader, follower):
        say(wire, "CONFIG", "SET", "repl-ping-replica-period", 1)
    for wire in [leader, *[follower] * (at == "follower")]:
        say(wire, "CONFIG", "SET", "repl-timeout", 2)
    running = spin(busy.socket.getpeername()[1])
    time.sleep(4)
    assert say(busy, "SCRIPT", "KILL") == b"+OK\r\n"
    assert b"killed" in running.receive()
    say(leader, "SET", "k", "after")
    eventually(lambda: say(follower, "GET", "k") == b"$5\r\nafter\r\n", "the change has arrived")
    stats = say(leader, "INFO", "stats")
    assert b"sync_full:1\r\n" in stats and b"sync_partial_ok:0\r\n" in stats


def test_without_a_threshold_it_is_stopped(daemon):
    wire = patient(busy_cache(daemon))
    wire.ask("CONFIG", "SET", "busy-reply-threshold", 0)
    reply = wire.ask("EVAL", "redis.call('SET', 'k', 1) " + ENDLESS, 0)
    assert b"it ran for 5000 ms, the limit of a script" in reply
    assert b"on @user_script:1" in reply and wire.ask("GET", "k") == b"$1\r\n1\r\n"


def test_silent_clients_stay_silent(daemon):
    port = busy_cache(daemon)
    wire = patient(port)
    wire.send("CLIENT", "REPLY", "SKIP")
    wire.send("EVAL", "local n = 0 while n < 1e8 do n = n + 1 end return 'unseen'", 0)
    wire.send("ECHO", "seen")
    assert wire.receive() == b"$4\r\nseen\r\n"
    wire.send("CLIENT", "REPLY", "OFF")
    wire.send("EVAL", "local n = 0 while n < 1e8 do n = n + 1 end return 'unseen'", 0)
    wire.send("CLIENT", "REPLY", "ON")
    assert wire.receive() == b"+OK\r\n"
    assert daemon.stats("db")["messages"]["out"] < 10
