"""Streams of a cache, compared with redis-server's: the same requests get the same bytes in reply.

    requests --> cache ---------> replies, as bytes
            `--> redis-server --> replies, as bytes
"""

import os
import random

import pytest

from resp_wire import Wire, split_replies
from strata_daemon import eventually
from stream_commands import StreamCommands, without_times
from test_cache import new_cache
from test_cache_waiting import used_memory
from twin_servers import SAME_VERSION, assert_same_replies, new_seed

pytestmark = pytest.mark.once

COUNT = int(os.environ.get("STRATA_STREAM_COMMANDS", "12000"))
CHUNK = 100


def compare(requests, ours, theirs, seed):
    assert_same_replies(requests, ours, theirs, seed, without_times, shown=30)


@pytest.mark.parametrize("limits", ["100 4096", "3 4096", "0 200", "300 0", "10 100"])
def test_random_requests_on_entries(daemon, redis, limits):
    seed = new_seed()
    commands = StreamCommands(seed, with_groups=False)
    ours, theirs = Wire(new_cache(daemon, *SAME_VERSION)), Wire(redis.port)
    entries, size = limits.split()
    for wire in (ours, theirs):
        assert wire.ask("CONFIG", "SET", "stream-node-max-entries", entries,
                        "stream-node-max-bytes", size) == b"+OK\r\n"
    for _ in range(0, COUNT // 2, CHUNK):
        requests = [commands.next() for _ in range(CHUNK)]
        compare(requests, ours.ask_all(requests), theirs.ask_all(requests), seed)


MISTAKES = """
XADD s|XADD s *|XADD s * f|XADD s * f v g|XADD s MAXLEN 5|XADD s MAXLEN 5 MINID 1 * f v
XADD s 0-0 f v|XADD s 0 f v|XADD s MAXLEN -1 * f v|XADD s MAXLEN ~ * f v|XADD s LIMIT 5 * f v
XADD s LIMIT 0 1-1 f v|XADD s MAXLEN 5 LIMIT 5 * f v|XADD s MAXLEN = 5 LIMIT 0 * f v
XADD s MAXLEN ~ 5 LIMIT -1 * f v|XADD s MAXLEN ~ 5 LIMIT x * f v|XADD s MINID x * f v
XADD s NOMKSTREAM|XADD n NOMKSTREAM * f v|XADD s 18446744073709551616-1 f v|XADD s - f v
XADD s + f v|XADD s 5-1 f v|XADD s 5-1 f v|XADD s 5 f v|XADD s 5-* f v
XADD s 5-18446744073709551615 f v|XADD s 5-* f v|XADD s 6-0 f v|XADD s 4-* f v|XADD str 1-1 f v
XLEN str|XRANGE str - +|XDEL str 1|XTRIM str MAXLEN 5|XSETID str 5|XREVRANGE str + -
XRANGE n - +|XRANGE n - + COUNT 0|XRANGE s - + COUNT|XRANGE s - + COUNT 1 COUNT 2
XRANGE s - + x 5|XRANGE s x +|XRANGE s - x|XRANGE s (18446744073709551615-18446744073709551615 +
XRANGE s - (0-0|XRANGE s - + COUNT 0|XRANGE s - + COUNT -1|XRANGE s (- +|XRANGE s - (+|XLEN n
XDEL n 1|XDEL s x|XDEL n x|XTRIM s|XTRIM s MAXLEN|XTRIM s x 5|XTRIM s LIMIT 5 x|XTRIM n MAXLEN 1
XTRIM s MAXLEN 5 LIMIT 1|XTRIM s MAXLEN ~|XTRIM s MAXLEN =|XTRIM s MAXLEN = x|XTRIM s MINID = x
XTRIM s NOMKSTREAM MAXLEN 5|XSETID n 1|XSETID s x|XSETID s 1|XSETID s 9 ENTRIESADDED
XSETID s 9 ENTRIESADDED 1|XSETID s 9 x 1|XSETID s 9 MAXDELETEDID 10
XSETID s 9 ENTRIESADDED 9 MAXDELETEDID 8-1|XSETID s 8|XSETID s 9 ENTRIESADDED -5
XTRIM s MAXLEN 0|XLEN s|EXISTS s|TYPE s|OBJECT ENCODING s|XSETID s 8|XSETID s 8-1|XADD s 8-1 f v
XSETID s 18446744073709551615-18446744073709551615|XADD s * f v|XADD s 1-1 f v
XADD s 18446744073709551615-* f v|XSETID s 18446744073709551614-18446744073709551615
XADD s * f v|XADD s * f v|XRANGE s - +|XREVRANGE s + -|XADD e 1-1 f v|XDEL e 1-1|XLEN e
XRANGE e - +|TYPE e|DEL e|XADD e 1-1 f v|LPUSH e 1|SORT e|SCAN 0 TYPE stream COUNT 100 MATCH e
"""


@pytest.mark.parametrize("protocol", [2, 3])
def test_mistakes_and_ends_of_ranges(daemon, redis, protocol):
    ours, theirs = Wire(new_cache(daemon, *SAME_VERSION), protocol), Wire(redis.port, protocol)
    for wire in (ours, theirs):
        wire.ask("SET", "str", "x")
    for request in MISTAKES.strip().replace("\n", "|").split("|"):
        assert ours.ask(*request.split()) == theirs.ask(*request.split()), request


def test_ids_follow_the_clock(daemon):
    wire = Wire(new_cache(daemon, *SAME_VERSION))
    seconds, _ = (int(each.split(b"\r\n")[1]) for each in split_replies(wire.ask("TIME")[4:]))
    ids = [wire.ask("XADD", "s", "*", "f", i).split(b"\r\n")[1] for i in range(500)]
    parsed = [tuple(map(int, each.split(b"-"))) for each in ids]
    assert parsed == sorted(set(parsed))
    assert abs(parsed[0][0] // 1000 - seconds) <= 2


def test_approximate_trimming_keeps_as_many_as_redis(daemon, redis):
    seed = new_seed()
    rng = random.Random(seed)
    wires = [Wire(new_cache(daemon, *SAME_VERSION)), Wire(redis.port)]
    for turn in range(30):
        size = rng.choice([1, 20, 100, 900])
        requests = [["XADD", "s", f"{turn}-*", "f", "x" * rng.randrange(size)] for _ in range(500)]
        requests += [["XTRIM", "s", "MAXLEN", "~", rng.randrange(800),
                      *(["LIMIT", rng.choice([0, 100, 250])] if rng.random() < 0.5 else [])],
                     ["XLEN", "s"], ["XADD", "s", "MAXLEN", "~", 700, f"{turn}-*", "f", "v"],
                     ["XTRIM", "s", "MINID", "~", f"{turn}-{rng.randrange(500)}"], ["XLEN", "s"],
                     ["XRANGE", "s", "-", "+", "COUNT", 2], ["DUMP", "s"]]
        compare(requests, *(wire.ask_all(requests) for wire in wires), seed)


# The last entries are deleted, then the last id becomes a lower one.
SET_BACK = """
XADD s 1-1 a 1|XADD s 5-1 a 5|XADD s 9-1 a 9|XADD s 9-2 b 9|XDEL s 5-1 9-1 9-2|XSETID s 2-0
XADD s 3-1 a 3|XADD s 6-1 a 6|XRANGE s - +|XREVRANGE s + -|XRANGE s 2 5|XREVRANGE s 6-1 3-1|XLEN s
DUMP s|XINFO STREAM s FULL|XREAD STREAMS s 1-1|XDEL s 3-1|XTRIM s MINID 6|XRANGE s - +|DUMP s
"""


def test_a_stream_that_is_set_back(daemon, redis):
    ours, theirs = Wire(new_cache(daemon, *SAME_VERSION)), Wire(redis.port)
    for request in SET_BACK.strip().replace("\n", "|").split("|"):
        assert ours.ask(*request.split()) == theirs.ask(*request.split()), request


def test_a_stream_that_is_set_back_behind_a_block_loses_nothing(daemon):
    # Redis finds the new entry no more.
    wire = Wire(new_cache(daemon, *SAME_VERSION))
    for request in ("XADD s 5-1 a 1|XADD s 6-1 a 1|XDEL s 6-1|XTRIM s MINID = 6-0|XSETID s 2-0"
                    "|XADD s 3-1 a 3|XADD s 4-1 a 4").split("|"):
        assert not wire.ask(*request.split()).startswith(b"-"), request
    assert wire.ask("XRANGE", "s", "-", "+").count(b"-1\r\n") == 2
    assert wire.ask("XREVRANGE", "s", "4-1", "3-1").count(b"-1\r\n") == 2
    dumped = wire.ask("DUMP", "s")
    assert wire.ask("RESTORE", "t", 0, dumped[dumped.index(b"\r\n") + 2:-2]) == b"+OK\r\n"
    assert wire.ask("XRANGE", "t", "-", "+") == wire.ask("XRANGE", "s", "-", "+")
    assert wire.ask("XDEL", "s", "3-1", "4-1") == b":2\r\n"


@pytest.mark.parametrize("how", ["DEL", "UNLINK"])
def test_memory_of_a_stream_is_given_back(daemon, how):
    wire = Wire(new_cache(daemon, *SAME_VERSION))
    wire.ask("PING")
    before = used_memory(wire)
    wire.ask("XGROUP", "CREATE", "s", "g", "0", "MKSTREAM")
    wire.ask_all([["XADD", "s", f"{i}-1", "name", f"value {i}"] for i in range(1, 20001)])
    for number in range(20):
        wire.ask("XREADGROUP", "GROUP", "g", f"consumer with a long name {number}", "COUNT", 900,
                 "STREAMS", "s", ">")
    assert used_memory(wire) > before + (1 << 20)
    wire.ask("COPY", "s", "t")
    wire.ask("XTRIM", "t", "MAXLEN", 7)
    wire.ask("XGROUP", "DESTROY", "t", "g")
    wire.ask(how, "s", "t")
    # An empty table of keys stays.
    eventually(lambda: used_memory(wire) <= before + 1024, "the memory is given back")
