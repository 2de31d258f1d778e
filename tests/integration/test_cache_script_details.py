"""Details of scripts that Redis's own tests look at: each request to a cache and to a real
redis-server, byte for byte."""

import pytest

from cache_or_redis import port  # noqa: F401
from resp_wire import Wire
from test_cache import new_cache

MANY = "local all = {} for i = 1, 7999 do all[i] = i end "

REQUESTS = [
    ("EVAL", MANY + "return redis.call('RPUSH', 'l', unpack(all))", 0), ("LLEN", "l"),
    ("EVAL", MANY + "return redis.pcall('NOSUCH', unpack(all))", 0),
    ("EVAL", MANY + "return #redis.call('LRANGE', 'l', 0, -1)", 0),
    ("XGROUP", "CREATE", "s", "g", "$", "MKSTREAM"),
    *(("EVAL", f"return redis.{call}('{name}', {group}{block}'STREAMS', 's', '{start}')", 1, "s")
      for call in ("call", "pcall") for block in ("", "'BLOCK', 0, ", "'BLOCK', -1, ")
      for name, group, start in (("xread", "", "$"),
                                 ("XREADGROUP", "'GROUP', 'g', 'c', ", ">"))),
    *(("EVAL", body, 0) for body in (
        "redis.sha1hex()", "redis.sha1hex('a', 'b')", "redis.setresp()", "redis.setresp(2, 3)",
        "redis.set_repl()", "redis.set_repl(1, 2)",
        "return loadstring(string.dump(function() return 1 end))()",
        "return type(string.dump(function() return 1 end))")),
]


@pytest.mark.once
@pytest.mark.parametrize("protocol", [2, 3])
def test_each_request_gets_the_reply_of_redis(daemon, redis, protocol):
    wires = [Wire(port, protocol) for port in (new_cache(daemon), redis.port)]
    for request in REQUESTS:
        ours, theirs = (wire.ask(*request) for wire in wires)
        assert ours == theirs, request
    together = [("MULTI",), ("XREAD", "BLOCK", 0, "STREAMS", "s", "$"), ("EXEC",)]
    ours, theirs = (wire.ask_all(together) for wire in wires)
    assert ours == theirs


def test_monitors_see_scripts_before_their_commands(port):
    monitor, wire = Wire(port), Wire(port)
    monitor.send("MONITOR")
    monitor.receive()
    script = "return redis.call('PING')"
    wire.ask("EVAL", script, 0)
    wire.ask("EVAL_RO", script, 0)
    wire.ask("FUNCTION", "LOAD",
             f"#!lua name=x\nredis.register_function('f', function() {script} end)")
    wire.ask("FCALL", "f", 0)
    wire.ask("TIME")
    seen = b""
    while b'"TIME"' not in seen:
        seen += monitor.receive()
    names = [line.split(b"] ")[1].split()[0].strip(b'"').lower() for line in seen.splitlines()]
    assert [each for each in names if each not in (b"echo", b"function")] == [
        b"eval", b"ping", b"eval_ro", b"ping", b"fcall", b"ping", b"time"]


def test_a_lower_limit_evicts_at_once(port):
    listener, wire = Wire(port), Wire(port)
    wire.ask("CONFIG", "SET", "notify-keyspace-events", "Ee", "maxmemory-policy", "allkeys-lru")
    listener.send("PSUBSCRIBE", "*")
    listener.receive()
    wire.ask("SET", "key", "value")
    assert wire.ask("CONFIG", "SET", "maxmemory", "1") == b"+OK\r\n"
    assert listener.receive().endswith(b"__keyevent@0__:evicted\r\n$3\r\nkey\r\n")


def test_a_tracked_script_tracks_what_it_declares(port):
    wire, other = Wire(port, 3), Wire(port)
    wire.ask("CLIENT", "TRACKING", "ON")
    wire.ask("EVAL", "redis.call('SET', 'x', 1)", 1, "key")  # it reads nothing
    other.ask("SET", "key", 1)
    wire.ask("EVAL", "return redis.call('GET', 'other')", 1, "key")
    other.ask("SET", "key", 2)
    assert wire.receive() == b">2\r\n$10\r\ninvalidate\r\n*1\r\n$3\r\nkey\r\n"
