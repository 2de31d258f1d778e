"""The account of a cache's memory: `used_memory` has all of the values, and nothing of the deleted
ones."""

import pytest

from cache_config import info, new_cache
from resp_wire import Wire, split_replies
from strata_daemon import eventually

KEYS = 300


def words(prefix, count):
    return [f"{prefix}{number}" for number in range(count)]


def pairs(count):
    return [word for number in range(count) for word in (f"f{number}", f"value {number}")]


def scored(count):
    return [word for number in range(count) for word in (str(number), f"m{number}")]


ADDING = {
    "string": lambda _: [("SET", "{key}", "x" * 40)],
    "list": lambda count: [("RPUSH", "{key}", *words("element ", count))],
    "number set": lambda count: [("SADD", "{key}", *map(str, range(count)))],
    "set": lambda count: [("SADD", "{key}", *words("member ", count))],
    "hash": lambda count: [("HSET", "{key}", *pairs(count))],
    "hash with times": lambda count: [
        ("HSET", "{key}", *pairs(count)),
        ("HEXPIRE", "{key}", "1000", "FIELDS", str(count), *words("f", count))],
    "sorted set": lambda count: [("ZADD", "{key}", *scored(count))],
    "stream": lambda count: [
        *(("XADD", "{key}", f"1-{number + 1}", *pairs(2)) for number in range(count)),
        ("XGROUP", "CREATE", "{key}", "group", "0"),
        ("XREADGROUP", "GROUP", "group", "consumer", "STREAMS", "{key}", ">")],
}


def usage(wire, keys):
    replies = wire.ask_all([["MEMORY", "USAGE", key, "SAMPLES", "0"] for key in keys])
    return sum(int(each[1:]) for each in split_replies(replies))


@pytest.mark.parametrize("count", [5, 700])
@pytest.mark.parametrize("kind", ADDING)
def test_used_memory_has_all_of_the_values(daemon, kind, count):
    wire = Wire(new_cache(daemon))
    keys = words("key:", KEYS if count < 100 else 5)
    wire.ask_all([["SET", key, "1"] for key in keys])
    table = info(wire, "used_memory") - usage(wire, keys)
    for key in keys:
        adding = [[word.format(key=key) for word in command] for command in ADDING[kind](count)]
        wire.ask_all([["DEL", key], *adding])
    shown = usage(wire, keys)
    # The index of the hashes whose fields expire, beside the table of the keys, is no value's.
    assert info(wire, "used_memory") - table == pytest.approx(shown, rel=0.04)
    wire.ask("UNLINK", *keys)
    # A bucket remains of that index.
    eventually(lambda: info(wire, "used_memory") <= table + 64, "the memory of the values is free")


def test_memory_usage_grows_with_the_value(daemon):
    wire = Wire(new_cache(daemon))
    wire.ask("SET", "k", "x" * 1000)
    assert 1000 <= int(wire.ask("MEMORY", "USAGE", "k")[1:]) < 2000
