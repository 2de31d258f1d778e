"""Consumer groups of a cache, compared with redis-server's: the same requests get the same bytes
in reply; and as redis-py uses them.

    requests --> cache ---------> replies, as bytes
            `--> redis-server --> replies, as bytes
"""

import os
import threading

import pytest
import redis as redis_py

from resp_wire import Wire
from stream_commands import StreamCommands, without_times
from test_cache import new_cache
from test_cache_streams import CHUNK, compare
from twin_servers import SAME_VERSION, new_seed

pytestmark = pytest.mark.once

COUNT = int(os.environ.get("STRATA_STREAM_COMMANDS", "12000"))


@pytest.mark.parametrize("protocol", [2, 3])
@pytest.mark.parametrize("entries", [100, 5])
def test_random_requests_on_groups(daemon, redis, protocol, entries):
    seed = new_seed()
    commands = StreamCommands(seed)
    ours, theirs = Wire(new_cache(daemon, *SAME_VERSION), protocol), Wire(redis.port, protocol)
    for wire in (ours, theirs):
        assert wire.ask("CONFIG", "SET", "stream-node-max-entries", entries) == b"+OK\r\n"
    for _ in range(0, COUNT, CHUNK):
        requests = [commands.next() for _ in range(CHUNK)]
        compare(requests, ours.ask_all(requests), theirs.ask_all(requests), seed)


CALLS = """
XADD s 1-1 a 1|XADD s 2-1 a 2|XADD s 3-1 a 3|XGROUP CREATE s g 0|XGROUP CREATE s g 0
XGROUP CREATE n g 0|XGROUP CREATE n g $ MKSTREAM|XINFO STREAM n
XGROUP CREATE s h $ ENTRIESREAD 3|XINFO GROUPS s|XGROUP CREATE s|XGROUP CREATE s i x
XGROUP CREATE s i 0 ENTRIESREAD -2|XGROUP CREATE s i 0 x|XGROUP SETID s x 0
XGROUP SETID s g 0 MKSTREAM|XGROUP DESTROY x g|XGROUP CREATECONSUMER s x c
XGROUP DELCONSUMER x g c|XREADGROUP GROUP g c COUNT 1 STREAMS s >
XREADGROUP GROUP g c COUNT 1 STREAMS s s > >|XREADGROUP GROUP g c STREAMS s s > 0
XREADGROUP GROUP g c STREAMS s|XREADGROUP GROUP g c STREAMS s >|XREADGROUP STREAMS s > x x x
XREADGROUP COUNT 1 COUNT 1 STREAMS s >|XREADGROUP GROUP x c STREAMS s >
XREADGROUP GROUP g c STREAMS s $|XREADGROUP GROUP g c STREAMS x >|XREAD STREAMS s >
XREAD STREAMS s|XREAD GROUP g c STREAMS s 0|XREAD NOACK STREAMS s 0|XREAD COUNT x STREAMS s 0
XREAD COUNT -5 STREAMS s 0|XREAD STREAMS s n s 0 0 2|XREAD STREAMS n $
XREAD BLOCK -1 STREAMS s 0|XREAD BLOCK x STREAMS s $|XREAD COUNT 1 STREAMS
XREAD STREAMS s 18446744073709551615-18446744073709551615|XPENDING s g|XPENDING s|XPENDING s x
XPENDING x g|XPENDING s g -|XPENDING s g - +|XPENDING s g - + x|XPENDING s g - + 10 c extra
XPENDING s g - + 10 c extra extra|XPENDING s g - + 10 c extra extra extra
XPENDING s g IDLE 5 - +|XPENDING s g IDLE x - + 5|XPENDING s g (1-1 (3-1 10
XPENDING s g - + 10 nobody|XACK s g 1-1|XACK s x 1-1|XACK x g x|XACK s g 1-1 x
XCLAIM s g d 0 1-1|XCLAIM s g d 0 2-1 x|XCLAIM s g d x 2-1|XCLAIM s x d 0 2-1
XCLAIM s g d 0 2-1 2-1|XCLAIM s g d 0 1-1 FORCE|XPENDING s g - + 10
XCLAIM s g d 0 1-1 FORCE JUSTID RETRYCOUNT 9|XCLAIM s g d 0 2-1 IDLE|XCLAIM s g d 0 9-9 FORCE
XDEL s 2-1|XREADGROUP GROUP g d STREAMS s 0|XCLAIM s g d 0 2-1|XAUTOCLAIM s g e 0 -
XAUTOCLAIM s g e 0 x|XAUTOCLAIM s g e x 0|XAUTOCLAIM s g e 0 0 COUNT 0
XAUTOCLAIM s g e 0 0 COUNT x|XAUTOCLAIM s g e 0 0 x|XAUTOCLAIM s g e 0 0 COUNT 1
XAUTOCLAIM s g e 0 (1-1 COUNT 1 JUSTID
XAUTOCLAIM s g e 0 (18446744073709551615-18446744073709551615
XAUTOCLAIM s g e 0 0 COUNT 576460752303423487|XAUTOCLAIM s g e 0 0 COUNT 922337203685477581
XINFO STREAM s|XINFO STREAM s FULL|XINFO STREAM s FULL COUNT 0|XINFO STREAM s FULL COUNT -1
XINFO STREAM s FULL COUNT 1|XINFO GROUPS x|XINFO GROUPS s|XINFO CONSUMERS s|XINFO CONSUMERS s x
XINFO CONSUMERS s g|XINFO STREAM str|XGROUP CREATE str g 0|XREAD STREAMS str 0
XREADGROUP GROUP g c STREAMS str >|XACK str g 1|XPENDING str g|XCLAIM str g c 0 1
XAUTOCLAIM str g c 0 0|XINFO|XINFO HELP|XGROUP|XGROUP HELP|XGROUP NOSUCH|XINFO NOSUCH x
XGROUP HELP x|XINFO HELP x|XGROUP SETID s g $|XINFO GROUPS s|XGROUP DELCONSUMER s g e
XGROUP DELCONSUMER s g nobody|XGROUP DESTROY s g|XGROUP DESTROY s g|XINFO STREAM s FULL
XADD s 4-1 a 4|XREADGROUP GROUP h c NOACK STREAMS s >|XINFO STREAM s FULL|COPY s t
XINFO STREAM t FULL|DEL s|XINFO STREAM t FULL
"""


@pytest.mark.parametrize("protocol", [2, 3])
def test_calls_and_mistakes(daemon, redis, protocol):
    ours, theirs = Wire(new_cache(daemon, *SAME_VERSION), protocol), Wire(redis.port, protocol)
    for wire in (ours, theirs):
        wire.ask("SET", "str", "x")
    for call in CALLS.strip().replace("\n", "|").split("|"):
        words = call.split()
        our, their = ours.ask(*words), theirs.ask(*words)
        assert without_times(words, our) == without_times(words, their), call
    requests = [["MULTI"], ["XREAD", "BLOCK", 0, "STREAMS", "s", "$"],
                ["XREADGROUP", "GROUP", "g", "c", "BLOCK", 0, "STREAMS", "t", ">"], ["EXEC"]]
    assert ours.ask_all(requests) == theirs.ask_all(requests)


EVENTS = """
XADD s 1-1 a 1|XADD s NOMKSTREAM 1-2 a 1|XADD s MAXLEN 2 2-1 a 2|XADD s MAXLEN 5 2-2 a 2
XGROUP CREATE s g 0|XGROUP CREATE t g 0 MKSTREAM|XREADGROUP GROUP g c COUNT 1 STREAMS s >
XREADGROUP GROUP g d NOACK COUNT 1 STREAMS s >|XGROUP CREATECONSUMER s g e|XGROUP SETID s g 0
XACK s g 1-2|XCLAIM s g f 0 2-1 FORCE|XAUTOCLAIM s g h 0 0|XDEL s 2-1|XGROUP DELCONSUMER s g c
XGROUP DESTROY s g|XTRIM s MAXLEN 0|XTRIM s MAXLEN 0|XSETID s 9|DEL s|XLEN nosuch
XRANGE nosuch - +
"""


def test_events_are_those_of_redis(daemon, redis):
    heard = []
    for port in (new_cache(daemon, *SAME_VERSION), redis.port):
        wire, listener = Wire(port), Wire(port)
        wire.ask("CONFIG", "SET", "notify-keyspace-events", "KEAmn")
        listener.send("PSUBSCRIBE", "*")
        listener.receive()
        for call in EVENTS.strip().replace("\n", "|").split("|"):
            wire.ask(*call.split())
        wire.ask("PUBLISH", "end", "end")
        events = []
        while not events or not events[-1].endswith(b"$3\r\nend\r\n$3\r\nend\r\n"):
            events.append(listener.receive())
        heard.append(events)
    assert heard[0] == heard[1]


def test_only_some_changes_fail_transactions(daemon, redis):
    ports = (new_cache(daemon, *SAME_VERSION), redis.port)
    for number, call in enumerate(EVENTS.strip().replace("\n", "|").split("|")):
        replies = []
        for port in ports:
            wire, other = Wire(port), Wire(port)
            wire.ask("WATCH", "s", "t")
            other.ask(*call.split())
            replies.append(wire.ask_all([["MULTI"], ["EXEC"]]))
            wire.close()
            other.close()
        assert replies[0] == replies[1], (number, call)


def test_redis_py_processes_a_stream_in_a_group(daemon):
    port = new_cache(daemon, *SAME_VERSION)
    client = redis_py.Redis(port=port, decode_responses=True)
    client.xgroup_create("jobs", "workers", id="0", mkstream=True)
    done, lock = [], threading.Lock()

    def work(name):
        mine = redis_py.Redis(port=port, decode_responses=True)
        while True:
            for _, entries in mine.xreadgroup("workers", name, {"jobs": ">"}, count=5, block=300):
                for entry, fields in entries:
                    with lock:
                        done.append(int(fields["number"]))
                    assert mine.xack("jobs", "workers", entry) == 1
                break
            else:
                return

    threads = [threading.Thread(target=work, args=(f"worker {i}",)) for i in range(4)]
    for each in threads:
        each.start()
    for number in range(500):
        client.xadd("jobs", {"number": number})
    for each in threads:
        each.join()
    assert sorted(done) == list(range(500))
    assert client.xpending("jobs", "workers")["pending"] == 0
    groups = client.xinfo_groups("jobs")
    assert groups[0]["lag"] == 0 and groups[0]["entries-read"] == 500
    assert client.xlen("jobs") == client.xinfo_stream("jobs")["length"] == 500
