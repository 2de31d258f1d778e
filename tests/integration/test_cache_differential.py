"""The same random commands to a real redis-server and to a cache get the same bytes in reply."""

import os
import random
import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from cache_commands import PAIRS, UNORDERED, Commands
from resp_wire import Wire, encode, sorted_reply, split_replies
from stream_commands import StreamCommands, without_times
from test_cache_geo import Commands as GeoCommands
from test_cache_hyperloglog import Commands as EstimateCommands
from test_cache_sorted_sets import Commands as SortedSetCommands
from test_cache_sorted_sets import normalised as normalised_sorted_set
from twin_servers import as_it_is, assert_same_replies, new_seed

pytestmark = pytest.mark.once

COUNT = int(os.environ.get("STRATA_CACHE_COMMANDS", "40000"))
CHUNK = 200


def cache_port(daemon, *flags):
    daemon.cli("create", "cache", "db", "-p", "0", "--resp", "--redis-version", "7.0", "-s", *flags)
    return int(daemon.show("db")["endpoints"][0].rsplit(":", 1)[1])


# The servers may pick any member, and times relative to now differ by the time in between.
RANDOM = {"SPOP", "SRANDMEMBER", "HRANDFIELD", "RANDOMKEY"}
TIME = re.compile(rb":\d{10,13}\r\n")


def is_dumped_table(reply):
    """Reports whether the reply is DUMP's of a set or hash stored as a hash
    table, which has no order."""
    payload = reply.partition(b"\r\n")[2][:-2]
    return reply[:1] == b"$" and payload[:1] in (b"\x02", b"\x04") and payload[-10:-8] == b"\n\0"


def normalised(request, reply):
    name = str(request[0]).upper()
    if name in RANDOM and len(request) == 2 and reply[:1] == b"$":
        return b""
    if is_dumped_table(reply):
        return b"%d bytes of a hash table" % len(reply)
    if name in UNORDERED:
        return sorted_reply(reply, name in PAIRS)
    return TIME.sub(b":time\r\n", reply)


def compare(requests, ours, theirs, seed):
    """Raises an error for the first request whose replies differ, if there is one."""
    if ours == theirs:
        return
    for number, (request, our, their) in enumerate(
            zip(requests, split_replies(ours), split_replies(theirs), strict=True)):
        if our == their or normalised(request, our) == normalised(request, their):
            continue
        if is_unordered_transaction(request, our, their):
            continue
        if is_refused_for_another(request, our, their):
            continue
        before = "\n".join(f"  {each!r}" for each in requests[max(0, number - 12):number])
        raise AssertionError(f"seed {seed}: behind\n{before}\nthe request {request!r}\n"
                             f"gave {our[:300]!r}\nand redis {their[:300]!r}")


def is_refused_for_another(request, our, their):
    """Reports whether redis-server refused a number as out of range because a number that it read
    before was; this happens now and then."""
    return (str(request[0]).upper() in ("SORT", "SORT_RO") and our[:1] == b"*"
            and their.startswith(b"-ERR One or more scores"))


def is_unordered_transaction(request, our, their):
    """Reports whether the replies are of EXEC or of a script and differ only in the order of
    unordered parts."""
    if str(request[0]).upper() not in ("EXEC", "EVAL", "EVAL_RO") or our[:1] not in b"*%":
        return False
    return deep_sorted(our) == deep_sorted(their)


def deep_sorted(reply):
    if is_dumped_table(reply):
        return b"%d bytes of a hash table" % len(reply)
    if reply[:1] not in b"*~%":
        return TIME.sub(b":time\r\n", reply)
    head_end = reply.index(b"\r\n") + 2
    return reply[:head_end] + b"".join(sorted(map(deep_sorted, split_replies(reply[head_end:]))))


@pytest.mark.parametrize("protocol", [2, 3])
def test_random_commands_get_the_same_replies(daemon, redis, protocol):
    seed = int(os.environ.get("STRATA_SEED", random.randrange(1 << 32)))
    print(f"STRATA_SEED={seed}")
    commands = Commands(seed)
    ours = Wire(cache_port(daemon), protocol)
    theirs = Wire(redis.port, protocol)
    for _ in range(0, COUNT, CHUNK):
        # A transaction left open would queue the mark at the pipeline's end.
        requests = [commands.next() for _ in range(CHUNK)] + [["DISCARD"], ["SELECT", "0"]]
        compare(requests, ours.ask_all(requests), theirs.ask_all(requests), seed)
    ours.close()
    theirs.close()


def some(commands):
    """Returns about CHUNK requests; those that belong together are made together."""
    made = (commands.next() for _ in range(CHUNK))
    return [request for each in made for request in (each if isinstance(each[0], list) else [each])]


def test_random_commands_of_all_types_get_the_same_replies(daemon, redis):
    """Each kind of commands has a database of its own, since some need keys of which the others
    know nothing."""
    seed = new_seed()
    chance = random.Random(seed)
    kinds = [(0, Commands(seed), normalised), (3, SortedSetCommands(seed), normalised_sorted_set),
             (4, StreamCommands(seed), without_times), (5, GeoCommands(seed), as_it_is),
             (6, EstimateCommands(seed), as_it_is)]
    protocol = chance.choice([2, 3])
    ours, theirs = Wire(cache_port(daemon), protocol), Wire(redis.port, protocol)
    for _ in range(0, COUNT // 4, CHUNK):
        database, commands, normalise = chance.choice(kinds)
        requests = [["SELECT", str(database)], *some(commands), ["DISCARD"]]
        replies = [wire.ask_all(requests) for wire in (ours, theirs)]
        if database == 0:
            compare(requests, *replies, seed)
        else:
            assert_same_replies(requests, *replies, seed, normalise)
    ours.close()
    theirs.close()


class CommutingCommands(Commands):
    """Commands that concern no other database and no setting of the server."""

    def next(self):
        while not self.is_own(words := super().next()):
            pass
        return words

    @staticmethod
    def is_own(words):
        name, *others = (str(each).upper() for each in words)
        if name in ("SELECT", "MOVE", "CONFIG", "LATENCY", "PUBSUB") or others[:1] == ["PAUSE"]:
            return False
        if name in ("EVAL", "EVAL_RO"):
            return not any("SELECT" in each for each in others)
        return name != "COPY" or "DB" not in others


CLIENTS = 8


def test_clients_of_several_threads_get_the_same_replies(daemon, redis):
    """The requests of different clients commute: each has a database of its own. The cache gets
    them all at the same time, redis-server one client after another."""
    seed = new_seed()
    port = cache_port(daemon, "--threads", "4")
    clients = range(CLIENTS)
    ours, theirs = ([Wire(each, 2 + client % 2) for client in clients]
                    for each in (port, redis.port))
    commands = [CommutingCommands(seed + client) for client in clients]
    for wires in (ours, theirs):
        for client, wire in enumerate(wires):
            wire.ask("SELECT", str(client + 2))
    with ThreadPoolExecutor(CLIENTS) as pool:
        for _ in range(0, COUNT, CHUNK * CLIENTS):
            requests = [[each.next() for _ in range(CHUNK)] + [["DISCARD"]] for each in commands]
            replies = list(pool.map(lambda wire, sent: wire.ask_all(sent), ours, requests))
            for sent, reply, wire in zip(requests, replies, theirs, strict=True):
                compare(sent, reply, wire.ask_all(sent), seed)
    for wire in ours + theirs:
        wire.close()


SELDOM = """
HINCRBYFLOAT h f +inf|HINCRBYFLOAT h f -inf|HINCRBYFLOAT h f nan|HINCRBYFLOAT s f inf
HINCRBYFLOAT h f 1e4900|HINCRBYFLOAT h f 1e5000|INCRBYFLOAT k +inf|INCRBYFLOAT k -inf
SADD a 1 2 3 x|SADD b x|SDIFFSTORE d a b|OBJECT ENCODING d|SDIFFSTORE d a b b b|OBJECT ENCODING d
"""


def test_requests_that_are_seldom_made(daemon, redis):
    ours, theirs = Wire(cache_port(daemon)), Wire(redis.port)
    for wire in (ours, theirs):
        wire.ask("SET", "s", "text")
    for request in SELDOM.strip().replace("\n", "|").split("|"):
        assert ours.ask(*request.split()) == theirs.ask(*request.split()), request


class NodeCommands:
    """Changes of one list with elements of a few bytes and of some KiB."""

    def __init__(self, seed):
        self.chance = random.Random(seed)

    def element(self):
        number = self.chance.randrange(40)
        return f"{number}" + "x" * (0, 1, 7, 100, 900, 4000, 9000)[number % 7]

    def next(self):
        index = self.chance.randrange(-60, 60)
        ways = [["LINSERT", "l", self.chance.choice(["BEFORE", "AFTER"]), self.element(),
                 self.element()]] * 6
        ways += [[name, "l", self.element()] for name in ("LPUSH", "RPUSH")]
        ways += [["LSET", "l", index, self.element()], ["LREM", "l", 1, self.element()],
                 ["LPOP", "l"], ["RPOP", "l"], ["LMOVE", "l", "l", "LEFT", "RIGHT"]]
        if self.chance.randrange(30) == 0:
            ways = [["LTRIM", "l", self.chance.randrange(20), self.chance.randrange(-20, -1)]]
        return self.chance.choice(ways)


@pytest.mark.parametrize("size", ["-2", "-1", "7"])
def test_elements_of_lists_are_in_the_same_nodes(daemon, redis, size):
    seed = new_seed()
    commands = NodeCommands(seed)
    ours, theirs = Wire(cache_port(daemon)), Wire(redis.port)
    for wire in (ours, theirs):
        assert wire.ask("CONFIG", "SET", "list-max-listpack-size", size) == b"+OK\r\n"
    for _ in range(0, COUNT // 20, CHUNK):
        requests = [each for _ in range(CHUNK) for each in (commands.next(), ["DUMP", "l"])]
        assert_same_replies(requests, ours.ask_all(requests), theirs.ask_all(requests), seed,
                            as_it_is)


@pytest.mark.parametrize("size", ["-1", "-2", "100"])
def test_merged_nodes_of_lists_are_as_large(daemon, redis, size):
    """An insertion into a full node splits it, and merges the parts if they fit after all."""
    ours, theirs = Wire(cache_port(daemon)), Wire(redis.port)
    limit = 4096 if size == "-1" else 8192
    for wire in (ours, theirs):
        assert wire.ask("CONFIG", "SET", "list-max-listpack-size", size) == b"+OK\r\n"
    for rest in range(limit - 420, limit - 390):
        requests = [["DEL", "l"], ["RPUSH", "l", *["x" * 100] * 3, "pivot", "y" * rest],
                    ["LINSERT", "l", "BEFORE", "pivot", "z" * 70], ["DUMP", "l"]]
        assert_same_replies(requests, ours.ask_all(requests), theirs.ask_all(requests), None,
                            as_it_is)
