"""Streams on the disk, in dumps and on their way to followers: a cache and a redis-server read what
the other has written.

    requests --> cache --> log, snapshot, DUMP, followers --> redis-server, and the other way around
"""

import random

import pytest

from resp_wire import RedisServer, Wire, split_replies
from stream_commands import StreamCommands
from strata_daemon import eventually
from test_cache import new_cache
from test_cache_streams import compare
from twin_servers import SAME_VERSION, new_seed

pytestmark = pytest.mark.once


@pytest.fixture
def redis(tmp_path):
    server = RedisServer(tmp_path / "redis", "--repl-diskless-sync-delay", "0")
    yield server
    server.close()


def fill(wire, seed, count=3000):
    commands = StreamCommands(seed)
    for _ in range(0, count, 100):
        wire.ask_all([commands.next() for _ in range(100)])


def states(port):
    """Returns all that can be seen of each stream."""
    wire = Wire(port)
    found = {}
    for number in range(4):
        key = f"stream:{number}"
        found[key] = wire.ask("XINFO", "STREAM", key, "FULL", "COUNT", 0)
    wire.close()
    return found


def dumps(wire):
    return [wire.ask("DUMP", f"stream:{number}") for number in range(4)]


def payload(reply):
    return None if reply in (b"$-1\r\n", b"_\r\n") else reply[reply.index(b"\r\n") + 2:-2]


def restore(wire, dumped):
    for number, reply in enumerate(dumped):
        if payload(reply) is not None:
            assert wire.ask("RESTORE", f"stream:{number}", 0, payload(reply),
                            "REPLACE") == b"+OK\r\n"


@pytest.mark.parametrize("direction", ["to redis", "from redis"])
def test_dumps_go_both_ways(daemon, redis, direction):
    ports = [new_cache(daemon, *SAME_VERSION), redis.port]
    source, target = ports if direction == "to redis" else reversed(ports)
    for turn in range(4):
        seed = new_seed()
        fill(Wire(source), seed + turn)
        written = dumps(Wire(source))
        Wire(target).ask("FLUSHALL")
        restore(Wire(target), written)
        assert states(source) == states(target), f"STRATA_SEED={seed}"
        assert dumps(Wire(target)) == written, f"STRATA_SEED={seed}"


def test_dumps_are_those_of_redis(daemon, redis):
    seed = new_seed()
    commands = StreamCommands(seed, with_groups=False)
    ours, theirs = Wire(new_cache(daemon, *SAME_VERSION)), Wire(redis.port)
    for _ in range(30):
        requests = [commands.next() for _ in range(100)]
        compare(requests, ours.ask_all(requests), theirs.ask_all(requests), seed)
        assert dumps(ours) == dumps(theirs), f"STRATA_SEED={seed}"


@pytest.mark.parametrize("leader", ["cache", "redis"])
def test_followers_have_the_same_streams(daemon, redis, leader):
    ports = [new_cache(daemon, *SAME_VERSION), redis.port]
    source, target = ports if leader == "cache" else reversed(ports)
    seed = new_seed()
    fill(Wire(source), seed)
    follower = Wire(target)
    assert follower.ask("REPLICAOF", "127.0.0.1", source) == b"+OK\r\n"
    wire = Wire(source)
    for turn in range(4):
        fill(wire, seed + 1 + turn)
        wire.ask("SET", "mark", f"turn {turn}")
        eventually(lambda: b"turn %d" % turn in follower.ask("GET", "mark"),  # noqa: B023
                   "the last write has arrived")
        check_follower(source, target, seed)


def check_follower(source, target, seed):
    """Compares what is propagated: not what only reading changes."""
    for number in range(4):
        key = f"stream:{number}"
        ours, theirs = (Wire(port) for port in (source, target))
        for call in (["XRANGE", key, "-", "+"], ["XLEN", key]):
            assert ours.ask(*call) == theirs.ask(*call), f"STRATA_SEED={seed}: {call}"
        for group in ("g1", "g2", "group three", "g\0x", "7"):
            mine, its = (wire.ask("XPENDING", key, group) for wire in (ours, theirs))
            assert mine == its, f"STRATA_SEED={seed}: {key} {group!r}"
        ours.close()
        theirs.close()


PROPAGATED = """
XADD s 1-1 f v|XADD s 2-* f v|XADD s MAXLEN ~ 1 3-1 f v|XADD s MINID ~ 1 LIMIT 5 4-* f v
XADD s MAXLEN = 10 5-1 f v|XADD s NOMKSTREAM MAXLEN 10 6-1 f v|XTRIM s MAXLEN ~ 1
XTRIM s MAXLEN ~ 0 LIMIT 1000|XTRIM s MINID ~ 7|XADD s 8-1 f v|XADD s MINID ~ 9 8-3 f v
XGROUP CREATE s g 0|XREADGROUP GROUP g c STREAMS s >|XADD s 8-4 f v
XREADGROUP GROUP g c NOACK STREAMS s >|XADD s 8-5 f v|XADD s 8-6 f v
XREADGROUP GROUP g d NOACK STREAMS s >|XADD s 8-7 f v|XADD s 8-8 f v
XREADGROUP GROUP g c STREAMS s >|XREADGROUP GROUP g e STREAMS s >
XREADGROUP GROUP g f NOACK STREAMS s >|XREADGROUP GROUP g e STREAMS s 0
XGROUP CREATECONSUMER s g h|XGROUP CREATECONSUMER s g h|XGROUP DELCONSUMER s g zz|XACK s g 8-7
XACK s g 8-7|XCLAIM s g e 0 8-8 LASTID 8-8|XCLAIM s g j 0 8-9 LASTID 9-8|XCLAIM s g e 0 8-08
XAUTOCLAIM s g c 0 0|XDEL s 8-8|XAUTOCLAIM s g c 0 0|XAUTOCLAIM s g newbie 0 9
XGROUP SETID s g $|XGROUP SETID s g 0 ENTRIESREAD 5|XGROUP CREATE t g $ MKSTREAM ENTRIESREAD 3
XSETID s 9 ENTRIESADDED 50|XDEL s 1|XDEL s 8-5|XCLAIM s g e 0 8-5 8-4 FORCE JUSTID
XGROUP DESTROY s g|XGROUP DESTROY s g|XGROUP CREATE s g 0
XREADGROUP GROUP g c NOACK COUNT 1 STREAMS s >|XREADGROUP GROUP g d NOACK STREAMS s 0
XREADGROUP GROUP g e STREAMS s 0|XREADGROUP GROUP g e NOACK STREAMS s s > 0
XREADGROUP GROUP g e STREAMS s t > >|MULTI|XGROUP SETID s g 0|XREADGROUP GROUP g e STREAMS s >
XREADGROUP GROUP g e NOACK STREAMS s >|EXEC|XTRIM s MAXLEN ~ 0
"""


def stream_of(port):
    """Returns a connection that receives what is propagated."""
    wire = Wire(port)
    wire.send("SYNC")
    while b"$" not in wire.rest or b"\r\n" not in wire.rest[wire.rest.index(b"$"):]:
        wire.rest += wire.socket.recv(1 << 16)
    wire.rest = wire.rest[wire.rest.index(b"$"):]
    size = int(wire.rest[1:wire.rest.index(b"\r\n")])
    wire.rest = wire.rest[wire.rest.index(b"\r\n") + 2:]
    while len(wire.rest) < size:
        wire.rest += wire.socket.recv(1 << 16)
    wire.rest = wire.rest[size:]
    return wire


def words_of(request):
    words = [payload(each) for each in split_replies(request[request.index(b"\r\n") + 2:])]
    if b"TIME" in words:
        words[words.index(b"TIME") + 1] = b"time"
    return words


def test_what_is_propagated_is_what_redis_propagates(daemon, redis):
    found = []
    for port in (new_cache(daemon, *SAME_VERSION), redis.port):
        follower, wire = stream_of(port), Wire(port)
        # As one pipeline, since a transaction would queue the mark behind each request.
        wire.ask_all([call.split() for call in PROPAGATED.strip().replace("\n", "|").split("|")])
        wire.ask("SET", "end", "end")
        commands = []
        while not commands or commands[-1] != [b"SET", b"end", b"end"]:
            words = words_of(follower.receive())
            if words not in ([b"PING"], [b"SELECT", b"0"]):
                commands.append(words)
        found.append(commands)
    for number, (our, their) in enumerate(zip(*found)):
        assert our == their, f"behind {found[1][max(0, number - 3):number]}"
    assert found[0] == found[1]


def test_a_log_and_its_rewriting_keep_streams(daemon, tmp_path):
    seed = new_seed()
    port = new_cache(daemon, "--persistent", str(tmp_path / "log"))
    wire = Wire(port)
    fill(wire, seed)
    before = contents_of_streams(port)
    daemon.cli("stop", "db")
    daemon.cli("start", "db")
    port = int(daemon.show("db")["endpoints"][0].rsplit(":", 1)[1])
    assert contents_of_streams(port) == before, f"STRATA_SEED={seed}"
    wire = Wire(port)
    assert wire.ask("BGREWRITEAOF").startswith(b"+")
    fill(wire, seed + 1)
    eventually(lambda: b"aof_rewrite_in_progress:0\r" in wire.ask("INFO", "persistence"),
               "the log is rewritten")
    fill(wire, seed + 2)
    before = contents_of_streams(port)
    daemon.cli("stop", "db")
    daemon.cli("start", "db")
    port = int(daemon.show("db")["endpoints"][0].rsplit(":", 1)[1])
    assert contents_of_streams(port) == before, f"STRATA_SEED={seed}"


def contents_of_streams(port):
    wire = Wire(port)
    found = {}
    for number in range(4):
        key = f"stream:{number}"
        found[key] = [wire.ask("XRANGE", key, "-", "+"),
                      *(wire.ask("XPENDING", key, group)
                        for group in ("g1", "g2", "group three", "g\0x", "7"))]
    return found


def test_redis_loads_the_snapshot_of_a_cache_and_the_other_way_around(daemon, tmp_path):
    seed = new_seed()
    file = tmp_path / "dump.rdb"
    port = new_cache(daemon, "--snapshot", str(file))
    fill(Wire(port), seed)
    assert Wire(port).ask("SAVE") == b"+OK\r\n"
    before = states(port)
    server = RedisServer(tmp_path, "--dbfilename", "dump.rdb")
    assert states(server.port) == before, f"STRATA_SEED={seed}"
    fill(Wire(server.port), seed + 1)
    before = states(server.port)
    Wire(server.port).ask("SAVE")
    server.close()
    again = new_cache(daemon, "--snapshot", str(file), name="again")
    assert states(again) == before, f"STRATA_SEED={seed}"


# --- damaged payloads

CRC = 0x95AC9329AC4BC9B5


def checksum(data):
    total = 0
    for byte in data:
        total ^= byte
        for _ in range(8):
            total = total >> 1 ^ CRC if total & 1 else total >> 1
    return total


def read_length(data, at):
    """Returns a length of the snapshot format, and where it ends."""
    if data[at] < 0x40:
        return data[at], at + 1
    assert data[at] < 0x80
    return (data[at] & 0x3f) << 8 | data[at + 1], at + 2


def unpack(data):
    """Returns the text of LZF."""
    text, at = bytearray(), 0
    while at < len(data):
        control = data[at]
        at += 1
        if control < 32:
            text += data[at:at + control + 1]
            at += control + 1
            continue
        size = control >> 5
        if size == 7:
            size += data[at]
            at += 1
        begin = len(text) - ((control & 31) << 8 | data[at]) - 1
        at += 1
        for place in range(begin, begin + size + 2):
            text.append(text[place])
    return bytes(text)


def with_plain_block(whole):
    """Returns the dump of a stream of one block with that block uncompressed, so that damage is to
    its entries."""
    begin = 19  # behind the kind, the number of blocks and the block's id
    assert whole[begin] == 0xc3
    packed, at = read_length(whole, begin + 1)
    size, at = read_length(whole, at)
    block = unpack(whole[at:at + packed])
    assert len(block) == size
    return whole[:begin] + bytes([0x40 | size >> 8, size & 0xff]) + block + whole[at + packed:]


@pytest.mark.parametrize("form", ["compressed", "plain"])
def test_damaged_payloads_harm_nobody(daemon, form):
    seed = new_seed()
    rng = random.Random(seed)
    port = new_cache(daemon, *SAME_VERSION)
    wire = Wire(port)
    wire.ask_all([["XADD", "stream:0", f"{i}-1", "f", i, "g", "text" * (i % 7)]
                  for i in range(1, 30)]
                 + [["XADD", "stream:0", "50-1", "other", "x"], ["XDEL", "stream:0", "7-1"],
                    ["XGROUP", "CREATE", "stream:0", "g1", "0"],
                    ["XREADGROUP", "GROUP", "g1", "alice", "COUNT", 5, "STREAMS", "stream:0", ">"],
                    ["XREADGROUP", "GROUP", "g1", "bob", "COUNT", 5, "STREAMS", "stream:0", ">"]])
    whole = payload(wire.ask("DUMP", "stream:0"))[:-8]
    if form == "plain":
        whole = with_plain_block(whole)
    accepted = 0
    for turn in range(1500):
        damaged = bytearray(whole)
        for _ in range(rng.choice([1, 1, 1, 2, 5])):
            how = rng.randrange(4)
            at = rng.randrange(1, len(damaged) - 2)
            if how == 0:
                damaged[at] = rng.randrange(256)
            elif how == 1:
                damaged[at] ^= 1 << rng.randrange(8)
            elif how == 2:
                del damaged[at:at + rng.randrange(1, 20)]
            else:
                damaged[at:at] = rng.randbytes(rng.randrange(1, 5))
        damaged = bytes(damaged[:-2]) + b"\x0a\0"
        damaged += checksum(damaged).to_bytes(8, "little")
        reply = wire.ask("RESTORE", "stream:0", 0, damaged, "REPLACE")
        assert reply in (b"+OK\r\n", b"-ERR Bad data format\r\n"), (seed, turn, reply)
        if reply == b"+OK\r\n":
            accepted += 1
            use_all(wire, rng)
    assert wire.ask("PING") == b"+PONG\r\n"
    print(f"{accepted} of 1500 payloads were accepted")


def use_all(wire, rng):
    """Sends what touches every part of a stream whose parts may be strange."""
    key = "stream:0"
    wire.ask_all([
        ["XINFO", "STREAM", key, "FULL", "COUNT", 0], ["XRANGE", key, "-", "+"],
        ["XREVRANGE", key, "+", "-"], ["XADD", key, "*", "f", "v"], ["XDEL", key, "3-1", "9-1"],
        ["XREADGROUP", "GROUP", "g1", "alice", "STREAMS", key, "0"],
        ["XREADGROUP", "GROUP", "g1", "bob", "STREAMS", key, ">"],
        ["XAUTOCLAIM", key, "g1", "carol", 0, 0], ["XPENDING", key, "g1", "-", "+", 100],
        ["XPENDING", key, "g1", "IDLE", 5, "-", "+", 100], ["XINFO", "GROUPS", key],
        ["XGROUP", "DELCONSUMER", key, "g1", "alice"], ["DUMP", key],
        ["XTRIM", key, "MAXLEN", rng.randrange(20)], ["XTRIM", key, "MINID", "~", "20"],
        ["COPY", key, "copy", "REPLACE"], ["DEBUG", "DIGEST-VALUE", key]])
