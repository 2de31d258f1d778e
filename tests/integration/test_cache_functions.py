"""FUNCTION and FCALL: each request to a cache and to a real redis-server, byte for byte; libraries
in files and at followers, both ways."""

import pytest
import redis as redis_py

from resp_wire import Wire
from strata_daemon import eventually
from test_cache import new_cache

pytestmark = pytest.mark.once

LIBRARY = """#!lua name=lib
local calls = 0
local function add(keys, args)
  calls = calls + 1
  return redis.call('INCRBY', keys[1], args[1])
end
redis.register_function('add', add)
redis.register_function{function_name = 'peek', callback = function(keys)
  return redis.call('GET', keys[1])
end, flags = {'no-writes'}, description = 'reads'}
redis.register_function('count', function() return calls end)
redis.register_function('fail', function() return nosuch end)
"""
OTHER = "#!lua name=other\nredis.register_function('only', function(k, a) return a end)"

REQUESTS = [
    ("FUNCTION", "LIST"), ("FUNCTION", "STATS"), ("FCALL", "add", 1, "n", 2),
    ("FUNCTION", "LOAD", LIBRARY), ("FUNCTION", "LOAD", LIBRARY), ("FUNCTION", "STATS"),
    ("FCALL", "add", 1, "n", 2), ("FCALL", "add", 1, "n", 3), ("FCALL", "count", 0),
    ("FCALL", "peek", 1, "n"), ("FCALL_RO", "peek", 1, "n"), ("FCALL_RO", "add", 1, "n", 1),
    ("FCALL", "fail", 0), ("FCALL", "add", 2, "n"), ("FCALL", "add", -1), ("FCALL", "add", "x"),
    ("FUNCTION", "LOAD", "REPLACE", LIBRARY), ("FCALL", "count", 0),
    ("FUNCTION", "DUMP"), ("FUNCTION", "LOAD", OTHER), ("FCALL", "only", 0, "a", "b"),
    ("FUNCTION", "LIST", "LIBRARYNAME", "oth*"), ("FUNCTION", "LIST", "LIBRARYNAME", "x*"),
    ("FUNCTION", "LIST", "WITHCODE", "LIBRARYNAME", "other"), ("FUNCTION", "LIST", "NOSUCH"),
    ("FUNCTION", "LIST", "LIBRARYNAME"),
    ("FUNCTION", "LOAD", "return 1"), ("FUNCTION", "LOAD", "#!lua\nreturn 1"),
    ("FUNCTION", "LOAD", "#!lua name=x"), ("FUNCTION", "LOAD", "#!lua name=\nreturn 1"),
    ("FUNCTION", "LOAD", "#!lua name=a-b\nreturn 1"), ("FUNCTION", "LOAD", "#!js name=x\nreturn 1"),
    ("FUNCTION", "LOAD", "#!lua name=x more=y\nreturn 1"),
    ("FUNCTION", "LOAD", "#!lua name=x name=y\nreturn 1"),
    ("FUNCTION", "LOAD", "#!lua name=x\nreturn 1"), ("FUNCTION", "LOAD", "#!lua name=x\nno lua"),
    ("FUNCTION", "LOAD", "#!lua name=x\nlocal f = nil\nf()"),
    ("FUNCTION", "LOAD", "#!lua name=x\nredis.register_function()"),
    ("FUNCTION", "LOAD", "#!lua name=x\nredis.register_function(1, 2)"),
    ("FUNCTION", "LOAD", "#!lua name=x\nredis.register_function('f', 2)"),
    ("FUNCTION", "LOAD", "#!lua name=x\nredis.register_function('a-b', function() end)"),
    ("FUNCTION", "LOAD", "#!lua name=x\nredis.register_function{callback = function() end}"),
    ("FUNCTION", "LOAD", "#!lua name=x\nredis.register_function{function_name = 'f'}"),
    ("FUNCTION", "LOAD", "#!lua name=x\nredis.register_function{other = 'f'}"),
    *(("FUNCTION", "LOAD", "#!lua name=x\nredis.register_function{function_name = 'f', "
       f"callback = function() end, flags = {{{flags}}}}}")
      for flags in ("'nosuch'", "''", "','", "'no-writes,allow-oom'", "'no-writes,'", "1", "{}",
                    "'no-writes', false")),
    ("FUNCTION", "LOAD", "#!lua name=x\nredis.register_function('f', function() end)\n"
     "redis.register_function('f', function() end)"),
    ("FUNCTION", "LOAD", "#!lua name=x\nredis.register_function('only', function() end)"),
    ("FUNCTION", "LOAD", "NOSUCH", OTHER), ("FUNCTION", "DELETE", "nosuch"),
    ("FUNCTION", "DELETE", "other"), ("FCALL", "only", 0), ("FUNCTION", "STATS"),
    ("FUNCTION", "RESTORE", b"damaged"), ("FUNCTION", "RESTORE", b"x", "NOSUCH"),
    # While a library is loaded, it has nothing but what registers functions.
    *(("FUNCTION", "LOAD", f"#!lua name=x\n{body}") for body in (
        "math.random()", "redis.call('PING')", "redis.pcall('PING')", "redis.setresp(3)",
        "redis.sha1hex('x')", "redis.set_repl(1)", "return string.dump", "cjson.encode({})",
        "bit.band(1)", "pairs({})", "redis.REPL_ALL = 1", "while true do end", "return KEYS[1]",
        "redis.log(redis.LOG_WARNING, redis.REDIS_VERSION)")),
    # Functions of all libraries have names that differ in more than the case of their letters.
    ("FCALL", "PEEK", 1, "n"), ("FCALL_RO", "Peek", 1, "n"),
    ("FUNCTION", "LOAD", "#!lua name=x\nredis.register_function('PEEK', function() end)"),
    ("FUNCTION", "LOAD", "#!lua name=LIB\nredis.register_function('inner', function()\n"
     "redis.register_function('g', function() end) end)\n"
     "redis.register_function('later', function() return type(math) .. type(redis.call) .. "
     "type(redis.register_function) end)"),
    ("FCALL", "inner", 0), ("FCALL", "later", 0), ("FUNCTION", "DELETE", "LIB"),
    ("FUNCTION", "LOAD", "#!lua name=LIB\nlocal kept = redis\n"
     "redis.register_function('inner', function() kept.register_function('g', 1) end)"),
    ("FCALL", "inner", 0), ("FUNCTION", "DELETE", "LIB"),
    # The words of a head may be quoted.
    *(("FUNCTION", "LOAD", "REPLACE", f"{head}\nredis.register_function('q', function() end)")
      for head in ('#!lua name="quoted"', "#!lua 'name=other'", '#!lua name="open', '#!lua name=""',
                   '#!lua name=a"b"c', '#!"lua" name=x', '"#!lua" name=x', "#!lua name= name=x",
                   "#!", "#! name=x", '#!lua name="\\x41"')),
    ("FUNCTION", "LIST"), ("EVAL", '#!lua "flags=no-writes"\nreturn 1', 0),
    *(("EVAL", f'#!lua flags="{flags}"\nreturn 1', 0)
      for flags in ("no-writes,,allow-oom", "no-writes,", ",", "")),
    ("EVAL", '#!lua "\nreturn 1', 0),
    ("EVAL", "#!\nreturn 1", 0),
    ("FUNCTION", "FLUSH", "SYNC", "SYNC"),
    ("FUNCTION", "KILL"), ("FUNCTION", "FLUSH", "NOSUCH"), ("FUNCTION", "FLUSH"),
    ("FUNCTION", "LIST"), ("FUNCTION", "NOSUCH"), ("FUNCTION", "HELP"), ("SCRIPT", "HELP"),
    ("SCRIPT", "KILL"), ("FUNCTION",), ("FCALL", "f"),
]


@pytest.mark.parametrize("protocol", [2, 3])
def test_each_request_gets_the_reply_of_redis(daemon, redis, protocol):
    wires = [Wire(port) for port in (new_cache(daemon), redis.port)]
    if protocol == 3:
        for wire in wires:
            wire.ask("HELLO", 3)
    wrong = []
    for request in REQUESTS:
        ours, theirs = (wire.ask(*request) for wire in wires)
        if sorted(ours.split(b"\n")) != sorted(theirs.split(b"\n")):
            wrong.append(f"{request}: {ours!r}, and redis gives {theirs!r}")
    assert not wrong, "\n".join(wrong)


def test_libraries_move_by_dump_and_restore_both_ways(daemon, redis):
    clients = [redis_py.Redis(port=port) for port in (new_cache(daemon), redis.port)]
    for giver, taker in (clients, clients[::-1]):
        giver.function_flush()
        taker.function_flush()
        giver.function_load(LIBRARY)
        giver.function_load(OTHER)
        payload = giver.function_dump()
        taker.function_load(OTHER)
        with pytest.raises(redis_py.ResponseError, match="already exists"):
            taker.function_restore(payload)
        assert len(taker.function_list()) == 1
        taker.function_restore(payload, "REPLACE")
        assert taker.fcall("only", 0, "x") == [b"x"] and taker.fcall("add", 1, "moved", 1) > 0
        taker.function_restore(payload, "FLUSH")
        assert len(taker.function_list()) == 2


def test_libraries_are_kept_in_files(daemon, redis, tmp_path):
    for name, options in (("log", {"persistent": str(tmp_path / "log.aof")}),
                          ("file", {"snapshot": str(tmp_path / "file.rdb")})):
        [url] = daemon.create("cache", name, listen=["tcp://127.0.0.1:0"], resp=True,
                              **options)["endpoints"]
        client = redis_py.Redis(port=int(url.rpartition(":")[2]))
        client.function_load(LIBRARY)
        client.fcall("add", 1, "n", 5)
        if name == "file":
            client.save()
        else:
            client.bgrewriteaof()
        client.function_load(OTHER)
        client.function_delete("other")
        daemon.act(name, "restart")
        [url] = daemon.show(name)["endpoints"]
        client = redis_py.Redis(port=int(url.rpartition(":")[2]))
        assert client.fcall("add", 1, "n", 1) == 6 and len(client.function_list()) == 1, name


def test_a_follower_gets_libraries_and_effects(daemon, redis):
    """Of a real Redis and of a cache, and a real Redis of a cache."""
    cache = new_cache(daemon)
    [url] = daemon.create("cache", "copy", listen=["tcp://127.0.0.1:0"], resp=True,
                          follow=f"tcp://127.0.0.1:{redis.port}")["endpoints"]
    copy = int(url.rpartition(":")[2])
    leader, follower = redis_py.Redis(port=redis.port), redis_py.Redis(port=copy)
    leader.function_load(LIBRARY)
    leader.fcall("add", 1, "n", 5)
    leader.eval("redis.call('SET', 'a', 1) redis.call('SET', 'b', 2)", 0)
    eventually(lambda: follower.mget("n", "a", "b") == [b"5", b"1", b"2"], "the effects arrive")
    assert [each[1] for each in follower.function_list()] == [b"lib"]
    assert follower.fcall_ro("peek", 1, "n") == b"5"
    with pytest.raises(redis_py.ResponseError, match="read only replica"):
        follower.fcall("add", 1, "n", 1)
    with pytest.raises(redis_py.ResponseError, match="READONLY|read only"):
        follower.eval("return redis.call('SET', 'x', 1)", 0)
    first = redis_py.Redis(port=cache)
    first.function_load(OTHER)
    leader.replicaof("127.0.0.1", cache)
    eventually(lambda: [each[1] for each in leader.function_list()] == [b"other"], "it is copied")
    first.function_load(LIBRARY)
    first.fcall("add", 1, "n", 7)
    first.eval("redis.call('SET', 'c', 1) redis.call('SET', 'd', 2)", 0)
    eventually(lambda: leader.mget("n", "c", "d") == [b"7", b"1", b"2"], "the effects arrive")
    eventually(lambda: len(leader.function_list()) == 2, "the library arrives")
