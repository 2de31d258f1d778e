"""Libraries of functions, and what functions write, in the log: a cache and a redis-server that are
killed have the same when they start again, and each of them has the other's when it loads the
other's log.

    requests --> cache ---------> log --> SIGKILL --> cache, redis-server
            `--> redis-server --> log --> SIGKILL --> redis-server, cache
"""

import pytest

from cache_contents import assert_same, contents, paired, parsed, text
from resp_wire import Wire
from test_cache_log_groups import pair, run_requests  # noqa: F401
from test_cache_stream_storage import read_length

pytestmark = pytest.mark.once

STEPS = {"one": 1, "two": 2, "three": 3}
LIBRARY = """#!lua name=NAME
-- The code is long enough to be compressed in a snapshot: ------------------------------------
local function write(keys, args)
  redis.call('INCRBY', keys[1], STEP * args[1])
  redis.call('RPUSH', keys[2], args[1], STEP)
  redis.call('PEXPIREAT', keys[2], 4000000000000 + STEP)
  redis.call('SELECT', 3)
  redis.call('HINCRBY', 'NAME', 'calls', 1)
  redis.call('SELECT', 0)
  return redis.call('GET', keys[1])
end
redis.register_function('NAME_write', write)
redis.register_function{function_name = 'NAME_read', flags = {'no-writes', 'allow-stale'},
  description = 'reads a number', callback = function(keys) return redis.call('GET', keys[1]) end}
redis.register_function('NAME_fail', function(keys)
  redis.call('SADD', keys[1], 'before the error')
  redis.call('INCR', keys[2])
end)
redis.register_function('NAME_now', function(keys)
  return redis.call('SET', keys[1], table.concat(redis.call('TIME'), '.') .. math.random())
end)
"""


def load(name, *words, step=None):
    code = LIBRARY.replace("NAME", name).replace("STEP", str(step or STEPS[name]))
    return ["FUNCTION", "LOAD", *words, code]


def call(name, number=1):
    return ["FCALL", f"{name}_write", 2, "number", "list", number]


# The dump of libraries that a request restores.
DUMP = object()
RESTORED = ("one", "two")

# For each name, requests before and after the log may be rewritten, and the steps of the libraries
# that are left.
CASES = {
    "loaded": ([load("one"), call("one")], [load("two"), call("two", 5), call("one", 7)],
               {"one": 1, "two": 2}),
    "replaced": ([load("one"), load("two"), call("one")],
                 [load("one", "REPLACE", step=20), call("one", 3)], {"one": 20, "two": 2}),
    "deleted": ([load("one"), load("two"), load("three"), call("two")],
                [["FUNCTION", "DELETE", "two"], call("three"), load("two", step=7), call("two"),
                 ["FUNCTION", "DELETE", "one"]], {"two": 7, "three": 3}),
    "flushed": ([load("one"), call("one")],
                [load("two"), call("two"), ["FUNCTION", "FLUSH", "SYNC"], load("three"),
                 ["FUNCTION", "FLUSH", "ASYNC"], load("one", step=4)], {"one": 4}),
    "all gone": ([load("one"), call("one")], [["FUNCTION", "FLUSH"]], {}),
    "restored": ([load("three"), call("three")],
                 [["FUNCTION", "RESTORE", DUMP], call("one"), call("two")],
                 {"one": 10, "two": 10, "three": 3}),
    "restored, appended": ([load("three")],
                           [["FUNCTION", "RESTORE", DUMP, "APPEND"], call("two")],
                           {"one": 10, "two": 10, "three": 3}),
    "restored, replacing": ([load("one"), load("three"), call("one")],
                            [["FUNCTION", "RESTORE", DUMP, "REPLACE"], call("one")],
                            {"one": 10, "two": 10, "three": 3}),
    "restored, flushing": ([load("one"), load("three"), call("three")],
                           [["FUNCTION", "RESTORE", DUMP, "FLUSH"], call("one"), call("two")],
                           {"one": 10, "two": 10}),
    "in a transaction": ([["MULTI"], load("one"), call("one"), ["EXEC"]],
                         [["MULTI"], load("two"), call("two", 9), ["FUNCTION", "DELETE", "one"],
                          ["SET", "other", "1"], ["EXEC"]], {"two": 2}),
    "flushed with the data": ([load("one"), call("one")], [["FLUSHALL"], call("one", 2)],
                              {"one": 1}),
}


@pytest.fixture
def dump(redis):
    """Returns the dump of a redis-server's libraries `one` and `two`."""
    run_requests(redis.port, [load(name, step=10) for name in RESTORED])
    return text(Wire(redis.port).ask("FUNCTION", "DUMP"))


def with_dump(requests, dump):
    return [[dump if word is DUMP else word for word in request] for request in requests]


def libraries_of(port):
    """Returns what FUNCTION LIST shows of each library, by name."""
    found = {}
    for each in map(paired, parsed(Wire(port).ask("FUNCTION", "LIST", "WITHCODE"))):
        functions = [paired(function) for function in each[b"functions"]]
        found[each[b"library_name"]] = {
            **each, b"functions": {function[b"name"]: (function[b"description"],
                                                       sorted(function[b"flags"]))
                                   for function in functions}}
    return found


def dump_of(port):
    """Returns the parts of FUNCTION DUMP: the bytes of each library, which are in any order, and of
    the version."""
    whole = text(Wire(port).ask("FUNCTION", "DUMP"))
    body, version, at, parts = whole[:-10], whole[-10:-8], 0, []
    while at < len(body):
        assert body[at] == 0xf5  # the mark of a library
        begin, is_compressed = at, body[at + 1] == 0xc3
        size, at = read_length(body, at + 1 + is_compressed)
        if is_compressed:
            _, at = read_length(body, at)
        at += size
        parts.append(body[begin:at])
    assert at == len(body)
    return {"libraries": sorted(parts), "version": version}


def state_of(port):
    return {"list": libraries_of(port), "dump": dump_of(port), "keys": contents(port)}


def steps_of(state):
    """Returns the step in the code of each library."""
    return {name.decode(): int(each[b"library_code"].split(b"'INCRBY', keys[1], ")[1].split()[0])
            for name, each in state["list"].items()}


@pytest.mark.parametrize("rewritten", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_libraries_survive_sigkill_and_the_other_server(pair, dump, case, rewritten):  # noqa: F811
    first, second, steps = CASES[case]
    for port in pair.ports:
        run_requests(port, with_dump(first, dump))
    if rewritten:
        pair.rewrite()
    for port in pair.ports:
        run_requests(port, with_dump(second, dump))
    before = state_of(pair.cache)
    assert steps_of(before) == steps
    assert_same(state_of(pair.redis), before)
    pair.crash()
    for port in (*pair.ports, *pair.exchange_logs()):
        assert_same(before, state_of(port))
        wire = Wire(port)
        wire.ask("SET", "number", 100)
        for name, step in steps.items():
            assert wire.ask("FCALL_RO", f"{name}_read", 1, "number") == b"$3\r\n100\r\n"
            wire.ask("SET", "number", 0)
            value = str(step * 2).encode()
            assert wire.ask(*call(name, 2)) == b"$%d\r\n%s\r\n" % (len(value), value)
            wire.ask("SET", "number", 100)


def test_refused_changes_of_libraries_leave_the_log_as_it_is(pair, dump):  # noqa: F811
    refused = [load("one"), ["FUNCTION", "RESTORE", DUMP],
               ["FUNCTION", "RESTORE", "damaged", "FLUSH"],
               ["FUNCTION", "LOAD", "REPLACE", "#!lua name=one\nno code"],
               ["FUNCTION", "LOAD", "REPLACE", "#!lua name=two\n"
                "redis.register_function('one_write', function() end)"],
               ["FUNCTION", "DELETE", "nosuch"], ["FUNCTION", "FLUSH", "NOSUCH"]]
    for port in pair.ports:
        wire = Wire(port)
        run_requests(port, [load("one"), call("one")])
        for request in with_dump(refused, dump):
            assert wire.ask(*request).startswith(b"-ERR"), request
    before = state_of(pair.cache)
    assert steps_of(before) == {"one": 1}
    pair.crash()
    for port in (*pair.ports, *pair.exchange_logs()):
        assert_same(before, state_of(port))


def test_what_functions_write_survives_sigkill(pair):  # noqa: F811
    """Random values and the time are those of the first call; a call that fails keeps what it has
    written before its error."""
    before = []
    for port in pair.ports:
        wire = Wire(port)
        run_requests(port, [load("one"), ["SET", "text", "x"], ["FCALL", "one_now", 1, "moment"]])
        assert wire.ask("FCALL", "one_fail", 2, "set", "text").startswith(b"-ERR value is not an")
        before.append(contents(port))
        assert {key for _, key in before[-1]} == {b"text", b"moment", b"set"}
    pair.crash()
    for earlier, port in zip(before * 2, (*pair.ports, *pair.exchange_logs())):
        assert_same(earlier, contents(port))
