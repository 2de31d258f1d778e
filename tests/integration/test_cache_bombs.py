"""Libraries and payloads that are made to hurt a cache: it refuses them, or takes them, and serves
others as before."""

import random

import pytest

from resp_wire import Wire
from test_cache import new_cache
from twin_servers import new_seed

pytestmark = pytest.mark.once


def load(wire, body, name="lib"):
    return wire.ask("FUNCTION", "LOAD", "REPLACE", f"#!lua name={name}\n{body}")


# --- FUNCTION LOAD

def test_a_library_of_ten_megabytes(ports):
    register = "redis.register_function('f', function() return 'there' end)\n"
    padding = "-- " + "x" * 96 + "\n"
    for text in (register + padding * 105_000,
                 register + f"local t = '{'y' * 10_500_000}'\n",
                 register + "local t\n" + "t = 1\n" * 1_700_000):
        replies = [load(Wire(port), text) for port in ports]
        assert replies[0] == replies[1] == b"$3\r\nlib\r\n"
        assert Wire(ports[0]).ask("FCALL", "f", 0) == b"$5\r\nthere\r\n"
    # One without its function, and one that is no Lua to its end.
    for text in (padding * 105_000, register + "local t = {" + "1," * 5_000_000):
        replies = [load(Wire(port), text) for port in ports]
        assert replies[0][:30] == replies[1][:30] and replies[0].startswith(b"-ERR"), replies
    assert Wire(ports[0]).ask("FCALL", "f", 0) == b"$5\r\nthere\r\n"


@pytest.mark.parametrize("loop", ["while true do end", "repeat until false", "::a:: goto a",
                                  "local function f() return f() end f()",
                                  "pcall(function() while true do end end) while true do end",
                                  "local t = setmetatable({}, {__index = function(t, k) "
                                  "while true do end end}) local x = t.x"])
def test_a_library_whose_loading_never_ends_is_stopped(daemon, loop):
    port = new_cache(daemon)
    wire = Wire(port)
    wire.ask("SET", "k", "v")
    assert load(wire, loop).startswith(b"-ERR")
    assert wire.ask("FUNCTION", "LIST") == b"*0\r\n"
    assert Wire(port).ask("GET", "k") == b"$1\r\nv\r\n"
    assert load(wire, "redis.register_function('f', function() return 1 end)") == b"$3\r\nlib\r\n"
    assert wire.ask("FCALL", "f", 0) == b":1\r\n"


@pytest.mark.parametrize("name,text", [
    ("parentheses", "local t = " + "(" * 100_000 + "1" + ")" * 100_000),
    ("tables", "local t = " + "{" * 100_000 + "}" * 100_000),
    ("functions", "function() " * 50_000 + "end " * 50_000),
    ("blocks", "do " * 100_000 + "end " * 100_000),
    ("conditions", "if true then " * 50_000 + "end " * 50_000),
    ("operators", "local t = " + "not " * 200_000 + "true"),
    ("powers", "local t = " + "2^" * 100_000 + "1"),
    ("joins", "local t = " + "'a'.." * 100_000 + "'b'"),
    ("indices", "local t = a" + "[1]" * 100_000),
    ("locals", "".join(f"local v{number} = {number}\n" for number in range(1000))),
    ("upvalues", "local function f() return " + "+".join(f"u{n}" for n in range(300)) + " end"),
    ("constants", "local t = {" + ",".join(f"'c{n}'" for n in range(200_000)) + "}"),
    ("recursion", "local function f() return 1 + f() end f()"),
    ("patterns", "string.find(string.rep('a', 100000), string.rep('a?', 300) .. 'b')"),
    ("strings", "local t = 'x' for i = 1, 60 do t = t .. t end"),
    ("memory", "local t = {} for i = 1, 1e9 do t[i] = {i} end"),
    ("coroutines", "local function f() coroutine.wrap(f)() end f()")])
def test_a_library_that_goes_deep_or_grows(daemon, name, text):
    """Whatever becomes of it, the cache serves others, and loads the next library."""
    port = new_cache(daemon)
    wire = Wire(port)
    reply = load(wire, text)
    assert reply.startswith((b"-ERR", b"$3\r\nlib")), reply[:200]
    assert Wire(port).ask("PING") == b"+PONG\r\n"
    assert load(wire, "redis.register_function('f', function() return 1 end)") == b"$3\r\nlib\r\n"
    assert wire.ask("FCALL", "f", 0) == b":1\r\n"
    assert name and daemon.show("db")["state"] == "running"


def test_thousands_of_registrations(ports):
    for count in (1000, 20_000):
        text = (f"for i = 1, {count} do\n"
                "  redis.register_function('f' .. i, function() return i end)\nend")
        for port in ports:
            wire = Wire(port)
            assert load(wire, text) == b"$3\r\nlib\r\n"
            assert wire.ask("FCALL", f"f{count}", 0) == b":%d\r\n" % count
            assert wire.ask("FCALL", f"f{count + 1}", 0) == b"-ERR Function not found\r\n"
            listed = wire.ask("FUNCTION", "LIST")
            assert listed.count(b"description") == count
    for port in ports:
        wire = Wire(port)
        for number in range(300):
            assert load(wire, f"redis.register_function('g{number}', function() end)",
                        f"lib{number}") == b"$%d\r\nlib%d\r\n" % (3 + len(str(number)), number)
        assert b"libraries_count\r\n:301" in wire.ask("FUNCTION", "STATS")
        # The same name once more spoils the whole library.
        assert load(wire, "for i = 1, 5000 do redis.register_function('h' .. i, print) end\n"
                    "redis.register_function('h1', print)", "other").startswith(b"-ERR")
        assert wire.ask("FCALL", "h2", 0) == b"-ERR Function not found\r\n"
        assert wire.ask("FUNCTION", "FLUSH") == b"+OK\r\n"
        assert wire.ask("FUNCTION", "LIST") == b"*0\r\n"


# --- RESTORE

def payload(reply):
    return reply[reply.index(b"\r\n") + 2:-2]


CRC_TABLE = []


def crc64(data):
    """The checksum of DUMP: CRC-64 of Jones, reflected."""
    if not CRC_TABLE:
        for byte in range(256):
            value = byte
            for _ in range(8):
                value = value >> 1 ^ (0x95AC9329AC4BC9B5 if value & 1 else 0)
            CRC_TABLE.append(value)
    crc = 0
    for byte in data:
        crc = CRC_TABLE[(crc ^ byte) & 255] ^ crc >> 8
    return crc


def sealed(body):
    """A payload of RESTORE with that type and value."""
    body += b"\x0a\x00"
    return body + crc64(body).to_bytes(8, "little")


def string_payload(value):
    return sealed(b"\x00\x80" + len(value).to_bytes(4, "big") + value)


def test_damaged_estimates_do_no_harm(ports):
    """RESTORE takes any string; the commands on estimates refuse what is none, as in Redis."""
    seed = new_seed()
    rng = random.Random(seed)
    ours, theirs = (Wire(port) for port in ports)
    theirs.ask("PFADD", "sparse", *range(100))
    theirs.ask("PFADD", "dense", *range(5000))
    for key in ("sparse", "dense"):
        dumped = payload(theirs.ask("DUMP", key))
        assert ours.ask("RESTORE", key, 0, dumped, "REPLACE") == b"+OK\r\n"
        assert ours.ask("PFCOUNT", key) == theirs.ask("PFCOUNT", key)
    originals = [payload(theirs.ask("GET", key)) for key in ("sparse", "dense")]
    wrong = []
    for turn in range(600):
        value = bytearray(rng.choice(originals))
        how = rng.randrange(4)
        if how == 0:
            value = value[:rng.randrange(len(value))]
        elif how == 1:
            value += rng.randbytes(rng.randrange(1, 20))
        else:
            for _ in range(rng.choice([1, 1, 3, 50])):
                # The header more often than the registers.
                at = rng.randrange(20) if how == 2 else rng.randrange(len(value))
                value[min(at, len(value) - 1)] = rng.randrange(256)
        body = string_payload(bytes(value))
        for wire in (ours, theirs):
            assert wire.ask("RESTORE", "k", 0, body, "REPLACE") == b"+OK\r\n", seed
        for call in ("PFCOUNT k", "PFCOUNT k sparse", "PFADD k x", "PFMERGE other k dense",
                     "PFCOUNT other", "STRLEN k", "PFDEBUG ENCODING k"):
            replies = [wire.ask(*call.split()) for wire in (ours, theirs)]
            if replies[0] != replies[1]:
                wrong.append((turn, how, call, *replies))
        for wire in (ours, theirs):
            wire.ask("DEL", "other")
    assert not wrong, (seed, len(wrong), wrong[:5])


MILLION = 1_000_000


def fill(wire, kind):
    """A value of a million elements, made by one script."""
    step = {"hash": "redis.call('HSET', 'k', 'field:' .. i, i)",
            "list": "redis.call('RPUSH', 'k', 'element:' .. i)",
            "set": "redis.call('SADD', 'k', 'member:' .. i)",
            "zset": "redis.call('ZADD', 'k', i / 3, 'member:' .. i)",
            "stream": "redis.call('XADD', 'k', i .. '-1', 'f', i)"}[kind]
    for first in range(1, MILLION, 100_000):
        text = f"for i = {first}, {first + 99_999} do {step} end return 1"
        assert wire.ask("EVAL", text, 0) == b":1\r\n"


@pytest.mark.parametrize("kind", ["hash", "list", "set", "zset", "stream"])
def test_a_value_of_a_million_elements_is_dumped_and_restored(daemon, kind):
    port = new_cache(daemon)
    wire = Wire(port)
    fill(wire, kind)
    size = {"hash": "HLEN", "list": "LLEN", "set": "SCARD", "zset": "ZCARD", "stream": "XLEN"}[kind]
    assert wire.ask(size, "k") == b":%d\r\n" % MILLION
    dumped = payload(wire.ask("DUMP", "k"))
    digest = wire.ask("DEBUG", "DIGEST-VALUE", "k")
    assert wire.ask("RESTORE", "copy", 0, dumped) == b"+OK\r\n"
    assert wire.ask("DEBUG", "DIGEST-VALUE", "copy") == digest
    assert wire.ask(size, "copy") == b":%d\r\n" % MILLION
    assert wire.ask("RESTORE", "copy", 0, dumped) == b"-BUSYKEY Target key name already exists.\r\n"
    # Cut off or with a wrong byte, it is refused, and nothing of it stays.
    for damaged in (dumped[:-1], dumped[:len(dumped) // 2], dumped[:100] + b"?" + dumped[101:],
                    sealed(dumped[:len(dumped) // 2])):
        assert wire.ask("RESTORE", "bad", 0, damaged).startswith(b"-ERR"), len(damaged)
    assert wire.ask("EXISTS", "bad") == b":0\r\n"
    assert Wire(port).ask("PING") == b"+PONG\r\n"
