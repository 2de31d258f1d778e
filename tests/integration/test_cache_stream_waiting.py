"""Clients that wait for entries of streams, compared with a real redis-server."""

import pytest

from resp_wire import Wire
from strata_daemon import eventually
from test_cache import new_cache
from test_cache_waiting import play

pytestmark = pytest.mark.once


GROUP = ["XGROUP CREATE s g $ MKSTREAM", "XADD s 1-1 a 1"]

# What is there; what some clients wait for; what another client does.
TALKS = {
    "an entry wakes all readers": (
        [], ["XREAD BLOCK 0 STREAMS s $", "XREAD BLOCK 0 STREAMS s 0", "XREAD BLOCK 0 STREAMS t $"],
        ["XADD s 1-1 a 1", "XADD s 2-1 a 2"]),
    "the id stays that of the beginning": (
        ["XADD s 5-1 a 1"], ["XREAD BLOCK 0 STREAMS s t $ $"],
        ["DEL s", "XADD s 4-1 a 1", "XADD s 5-1 a 2", "XADD s 5-2 a 3", "XADD s 5-3 a 4"]),
    "COUNT, and several entries at once": (
        ["XADD s 5-1 a 1"], ["XREAD COUNT 2 BLOCK 0 STREAMS s $", "XREAD BLOCK 0 STREAMS s s 6 $"],
        ["MULTI", "XADD s 5-2 a 1", "XADD s 6-1 a 1", "XADD s 6-2 a 1", "XADD s 6-3 a 1", "EXEC"]),
    "the key that is ready first": (
        [], ["XREAD BLOCK 0 STREAMS a b $ $"], ["MULTI", "XADD b 1 f v", "XADD a 1 f v", "EXEC"]),
    "an entry that is deleted at once": (
        [], ["XREAD BLOCK 0 STREAMS s $"], ["MULTI", "XADD s 1-1 a 1", "XDEL s 1-1", "EXEC"]),
    "an entry that is trimmed at once": (
        [], ["XREAD BLOCK 0 STREAMS s $"], ["XADD s MAXLEN 0 1-1 a 1"]),
    "a position is nothing to wake up for": (
        ["XADD s 1-1 a 1"], ["XREAD BLOCK 0 STREAMS s 5-0"],
        ["XSETID s 9-9", "XTRIM s MAXLEN 0", "XADD s 10-1 a 1"]),
    "another kind of value is nothing to wake up for": (
        [], ["XREAD BLOCK 0 STREAMS s $"], ["SET s x", "DEL s", "LPUSH s 1", "DEL s",
                                            "XADD s 1 a 1"]),
    "a deleted key is nothing to readers without a group": (
        ["XADD s 5-1 a 1"], ["XREAD BLOCK 0 STREAMS s $"], ["DEL s", "FLUSHALL", "XADD s 6 a 1"]),
    "renaming makes a stream ready": (
        ["XADD x 5-1 a 1"], ["XREAD BLOCK 0 STREAMS s $", "XREAD BLOCK 0 STREAMS t 0"],
        ["RENAME x s", "COPY s t"]),
    "one consumer gets an entry": (
        GROUP[:1], ["XREADGROUP GROUP g c BLOCK 0 STREAMS s >",
                    "XREADGROUP GROUP g d BLOCK 0 STREAMS s >"],
        ["XADD s 1-1 a 1", "XPENDING s g", "XINFO GROUPS s", "XADD s 1-2 a 1", "XPENDING s g"]),
    "without acknowledgement": (
        GROUP[:1], ["XREADGROUP GROUP g c NOACK BLOCK 0 STREAMS s >"],
        ["XADD s 1-1 a 1", "XPENDING s g", "XINFO GROUPS s"]),
    "several entries go to the first": (
        GROUP[:1], ["XREADGROUP GROUP g c BLOCK 0 STREAMS s >",
                    "XREADGROUP GROUP g d COUNT 1 BLOCK 0 STREAMS s >"],
        ["MULTI", "XADD s 1-1 a 1", "XADD s 1-2 a 1", "EXEC", "XADD s 2-1 a 1", "XADD s 2-2 a 1",
         "XPENDING s g"]),
    "some entries each": (
        GROUP[:1], ["XREADGROUP GROUP g c COUNT 1 BLOCK 0 STREAMS s >",
                    "XREADGROUP GROUP g d COUNT 1 BLOCK 0 STREAMS s >"],
        ["MULTI", "XADD s 1-1 a 1", "XADD s 1-2 a 1", "EXEC", "XPENDING s g"]),
    "a destroyed group": (
        GROUP[:1], ["XREADGROUP GROUP g c BLOCK 0 STREAMS s >", "XREAD BLOCK 0 STREAMS s $"],
        ["XGROUP DESTROY s g", "XADD s 1-1 a 1"]),
    "a deleted key": (
        GROUP[:1], ["XREADGROUP GROUP g c BLOCK 0 STREAMS s >"], ["DEL s"]),
    "a replaced key": (
        GROUP[:1], ["XREADGROUP GROUP g c BLOCK 0 STREAMS s >"], ["SET s x"]),
    "a replaced key, in a transaction": (
        GROUP[:1], ["XREADGROUP GROUP g c BLOCK 0 STREAMS s >"],
        ["MULTI", "DEL s", "SADD s x", "EXEC"]),
    "a key that is made again": (
        GROUP[:1], ["XREADGROUP GROUP g c BLOCK 0 STREAMS s >"],
        ["MULTI", "DEL s", "XGROUP CREATE s g $ MKSTREAM", "EXEC", "XADD s 5-1 a 1"]),
    "an emptied database": (
        GROUP[:1], ["XREADGROUP GROUP g c BLOCK 0 STREAMS s >"], ["FLUSHDB"]),
    "a renamed key": (
        GROUP[:1], ["XREADGROUP GROUP g c BLOCK 0 STREAMS s >"], ["RENAME s t"]),
    "an expiring key": (
        GROUP[:1], ["XREADGROUP GROUP g c BLOCK 0 STREAMS s >"], ["PEXPIRE s 0"]),
    "a swapped database": (
        GROUP[:1], ["XREADGROUP GROUP g c BLOCK 0 STREAMS s >"], ["SWAPDB 0 1"]),
    "a changed group": (
        [*GROUP, "XREADGROUP GROUP g d STREAMS s >"], ["XREADGROUP GROUP g c BLOCK 0 STREAMS s >"],
        ["XGROUP SETID s g 0", "XDEL s 9", "XADD s 2-1 a 1"]),
    "a removed consumer": (
        GROUP[:1], ["XREADGROUP GROUP g c BLOCK 0 STREAMS s >"],
        ["XGROUP DELCONSUMER s g c", "XADD s 2-1 a 1", "XINFO STREAM s"]),
    "two streams": (
        ["XGROUP CREATE s g $ MKSTREAM", "XGROUP CREATE t g $ MKSTREAM"],
        ["XREADGROUP GROUP g c BLOCK 0 STREAMS s t > >"], ["XADD t 1 f v", "XADD s 1 f v"]),
    "two streams, one of which goes": (
        ["XGROUP CREATE s g $ MKSTREAM", "XGROUP CREATE t g $ MKSTREAM"],
        ["XREADGROUP GROUP g c BLOCK 0 STREAMS s t > >"], ["DEL t", "XADD s 1 f v"]),
    "history is served at once": (
        GROUP, ["XREAD BLOCK 0 STREAMS s $"],
        ["XREADGROUP GROUP g c BLOCK 0 STREAMS s 0", "XREADGROUP GROUP g c BLOCK 0 STREAMS s >",
         "XREADGROUP GROUP g c BLOCK 0 STREAMS s 0", "XADD s 2-1 a 1"]),
}


@pytest.mark.parametrize("talk", TALKS.values(), ids=TALKS.keys())
def test_who_waits_is_served_as_redis_serves(daemon, redis, talk):
    before, waiting, doing = talk
    results = []
    for port in (new_cache(daemon), redis.port):
        wire = Wire(port)
        for words in before:
            wire.ask(*words.split())
        results.append(play(port, waiting, doing))
    assert results[0] == results[1]


@pytest.mark.parametrize("protocol", [2, 3])
def test_waits_end_in_time(daemon, redis, protocol):
    for port in (new_cache(daemon), redis.port):
        wire = Wire(port, protocol)
        null = b"*-1\r\n" if protocol == 2 else b"_\r\n"
        assert wire.ask("XREAD", "BLOCK", 30, "STREAMS", "s", "$") == null
        wire.ask("XGROUP", "CREATE", "s", "g", "$", "MKSTREAM")
        assert wire.ask("XREADGROUP", "GROUP", "g", "c", "BLOCK", 30, "STREAMS", "s", ">") == null


def test_a_reader_without_count_gets_a_thousand_entries(daemon, redis):
    results = []
    for port in (new_cache(daemon), redis.port):
        waiter, doer = Wire(port, 3), Wire(port)
        waiter.send("XREAD", "BLOCK", 0, "STREAMS", "s", "0")
        eventually(lambda: b"blocked_clients:1\r" in doer.ask("INFO", "clients"),  # noqa: B023
                   "it waits")
        doer.ask_all([["MULTI"], *[["XADD", "s", i + 1, "f", i] for i in range(1500)], ["EXEC"]])
        results.append(waiter.receive())
    assert results[0] == results[1] and results[0].count(b"$1\r\nf\r\n") == 1000
