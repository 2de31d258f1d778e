"""A consumer group with a million pending entries, beside redis-server's: equal replies, and the
memory comes back."""

import pytest

from resp_wire import Wire
from strata_daemon import PATIENCE, eventually
from stream_commands import without_times
from test_cache import new_cache
from test_cache_waiting import used_memory
from twin_servers import SAME_VERSION

pytestmark = pytest.mark.once

COUNT = 1_000_000
FILL = """for n = ARGV[1], ARGV[1] + 99999 do redis.call('XADD', 's', n .. '-1', 'f', 'v') end
          return redis.call('XLEN', 's')"""
REQUESTS = [
    ["XPENDING", "s", "g"],
    ["XPENDING", "s", "g", "999990", "+", "20"],
    ["XPENDING", "s", "g", "-", "+", "10", "two"],
    ["XINFO", "GROUPS", "s"],
    ["XDEL", "s", *(f"{number}-1" for number in range(1, 2000))],
    ["XTRIM", "s", "MAXLEN", "500000"],
    # Claims over half a million entries that the stream no longer has.
    ["XAUTOCLAIM", "s", "g", "two", "0", "0", "COUNT", "100000", "JUSTID"],
    ["XAUTOCLAIM", "s", "g", "two", "0", "499990", "COUNT", "20"],
    ["XCLAIM", "s", "g", "two", "0", "700000-1", "3-1"],
    ["XREADGROUP", "GROUP", "g", "two", "COUNT", "5", "STREAMS", "s", "0"],
    ["XPENDING", "s", "g"],
    ["XACK", "s", "g", *(f"{number}-1" for number in range(500_000, 510_000))],
    ["XGROUP", "DELCONSUMER", "s", "g", "one"],
    ["XINFO", "CONSUMERS", "s", "g"],
]


@pytest.fixture
def wires(daemon, redis):
    made = [Wire(new_cache(daemon, *SAME_VERSION)), Wire(redis.port)]
    for wire in made:
        wire.socket.settimeout(4 * PATIENCE)
    return made


def test_a_million_pending_entries(wires):
    ours, theirs = wires
    before = used_memory(ours)
    for wire in wires:
        for first in range(1, COUNT + 1, 100_000):
            wire.ask("EVAL", FILL, 0, first)
        wire.ask("XGROUP", "CREATE", "s", "g", "0")
        for first in range(0, COUNT, 100_000):
            wire.ask("XREADGROUP", "GROUP", "g", "one", "COUNT", 100_000, "STREAMS", "s", ">")
    for request in REQUESTS:
        our, their = (without_times(request, wire.ask(*request)) for wire in wires)
        assert our == their, request[:6]
    assert ours.ask("DEL", "s") == b":1\r\n"
    eventually(lambda: used_memory(ours) < before + (1 << 20), "the memory is given back")
