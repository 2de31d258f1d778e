"""HyperLogLogs: the same random requests to a real redis-server and to a cache get the same bytes,
store the same bytes, and cause the same keyspace events."""

import random

import pytest

from cache_config import new_cache
from cache_contents import assert_same, contents
from resp_wire import Wire, split_replies
from strata_daemon import eventually
from twin_servers import CHUNK, COUNT, Twins, new_seed

pytestmark = pytest.mark.once

DENSE_SIZE = 12304
# Headers and runs as only other commands than those of HyperLogLogs write them.
HEADER = b"HYLL\x01\x00\x00\x00" + b"\x00" * 7 + b"\x80"
FORGED = [
    b"", b"HYLL", b"HYLL\x01" + b"\x00" * 10, b"HYLL\x02" + b"\x00" * 11, b"hyll" + HEADER[4:],
    HEADER, HEADER + b"\x7f\xff", HEADER + b"\x7f", HEADER + b"\x7f\xfe\x00", HEADER + b"\x40",
    HEADER + b"\x7f\xff\x80", HEADER + b"\x7f\xff\x00", HEADER + b"\x80" * 4096,
    HEADER + b"\x83" * 4096, HEADER + b"\xff" * 4096, HEADER + b"\x00" * 16384,
    HEADER + b"\x40\x00" * 1500, HEADER + b"\x40\x01" * 8192, HEADER + b"\x3f" * 256,
    HEADER + b"\x3f" * 255 + b"\x40\x3e\x40", HEADER + b"\x7f\xef" + b"\x83" * 4 + b"\x40",
    HEADER + b"\x7f\xff" * 100, b"HYLL\x01abc" + b"\x07" + b"\x00" * 7 + b"\x7f\xff",
    b"HYLL\x00" + b"\x00" * 11 + b"\x55" * 12288, b"HYLL\x00" + b"\xff" * (DENSE_SIZE - 5),
    b"HYLL\x00" + b"\x00" * 10 + b"\x80" + b"\xff" * 12288, b"HYLL\x00" + b"\x00" * 12298,
    b"HYLL\x00" + b"\x00" * 12300, HEADER + b"\x55" * 12288, "12345", "x" * 100,
]


# If a run lacks its second byte, redis-server reads and writes memory behind the string: what it
# then replies is not defined. A value cannot have such a run if it ends with another byte than
# these.
TORN_ENDS = range(0x40, 0x80)
WHOLE = [each for each in FORGED
         if not isinstance(each, bytes) or not each or each[-1] not in TORN_ENDS]


class Commands:
    """Random commands for HyperLogLogs. Keys: p are of all sizes, f are forged, s is another
    string, l is a list."""

    def __init__(self, seed, forges=True):
        self.random = random.Random(seed)
        self.families = [self.add, self.add, self.add, self.look, self.look]
        if forges:
            self.families.append(self.forge)

    def key(self):
        r = self.random
        if r.random() < 0.03:
            return r.choice(["l0", "none", "s0"])
        return f"p{r.randrange(8)}"

    def any_key(self):
        return self.random.choice([self.key(), self.key(), f"f{self.random.randrange(3)}"])

    def element(self):
        r = self.random
        return r.choice([lambda: r.randrange(300), lambda: r.randrange(10**6),
                         lambda: r.randbytes(r.randrange(24)),
                         lambda: "long" * r.randrange(100) if r.random() < 0.1 else "m"])()

    def several(self, one, most):
        return [one() for _ in range(self.random.randrange(1, most + 1))]

    def add(self):
        r = self.random
        return r.choice([
            lambda: ["PFADD", self.key(), *self.several(self.element, 3)],
            lambda: ["PFADD", self.key(), *self.several(self.element, 30)],
            lambda: ["PFADD", self.key(), *self.several(self.element, 600)],
            lambda: ["PFADD", self.key()],
            lambda: ["DEL", *self.several(self.key, 2)],
            lambda: ["PFMERGE", *self.several(self.key, 4)],
            lambda: ["SET", "s0", "text"], lambda: ["RPUSH", "l0", "x"],
            lambda: ["COPY", self.key(), self.key(), "REPLACE"],
        ])()

    def look(self):
        r = self.random
        k = self.any_key()
        return r.choice([
            lambda: ["PFCOUNT", k], lambda: ["PFCOUNT", k],
            lambda: ["PFCOUNT", *self.several(self.any_key, 4)],
            lambda: ["GET", k], lambda: ["STRLEN", k], lambda: ["OBJECT", "ENCODING", k],
            lambda: ["DUMP", k],
            lambda: ["PFDEBUG", r.choice(["DECODE", "decode", "ENCODING", "Encoding"]), k],
            lambda: ["PFDEBUG", r.choice(["GETREG", "TODENSE", "BAD", ""]), k]
            if r.random() < 0.2 else ["PFCOUNT", k],
            lambda: r.choice([["PFADD"], ["PFCOUNT"], ["PFMERGE"], ["PFDEBUG", "GETREG"],
                              ["PFDEBUG", "GETREG", k, "x"], ["PFSELFTEST", "x"]]),
            lambda: ["EXPIREAT", k, 4000000000], lambda: ["EXPIRETIME", k],
        ])()

    def forge(self):
        r = self.random
        k = f"f{r.randrange(3)}"
        return r.choice([
            lambda: ["SET", k, r.choice(WHOLE)], lambda: ["SET", k, r.choice(WHOLE)],
            lambda: ["SET", k, HEADER + r.randbytes(r.randrange(3000)) + b"\x00"],
            lambda: ["SETRANGE", k, r.randrange(8, 60), r.randbytes(r.randrange(1, 4))],
            lambda: ["SETRANGE", k, r.randrange(16), r.randbytes(1)],
            lambda: ["APPEND", k, r.randbytes(r.randrange(3)) + b"\x00"],
            lambda: ["PFADD", k, *self.several(self.element, 30)],
            lambda: ["PFADD", k, self.element()], lambda: ["PFADD", k],
            lambda: ["COPY", self.key(), k, "REPLACE"],
            lambda: ["PFMERGE", k, *self.several(self.any_key, 3)],
            lambda: ["PFMERGE", f"f{r.randrange(3)}", k],
            lambda: ["PFDEBUG", r.choice(["GETREG", "TODENSE", "DECODE"]), k],
            lambda: ["DEL", k],
        ])()

    def next(self):
        """Returns one or more requests that belong together."""
        words = self.random.choice(self.families)()
        return [words, ["APPEND", words[1], b"\x00"]] if words[0] == "SETRANGE" else [words]

    def several_requests(self, count):
        return [words for _ in range(count) for words in self.next()]


KEYS = [f"p{i}" for i in range(8)] + ["f0", "f1", "f2"]
STATE = [words for key in KEYS for words in (["GET", key], ["OBJECT", "ENCODING", key])]


@pytest.mark.parametrize("protocol", [2, 3])
@pytest.mark.parametrize("size", [3000, 300, 0])
def test_random_commands_get_the_same_replies_bytes_and_events(ports, protocol, size):  # noqa: F811
    twins = Twins(ports, protocol, new_seed())
    commands = Commands(twins.seed)
    twins.compare([["CONFIG", "SET", "hll-sparse-max-bytes", size],
                   ["CONFIG", "GET", "hll-sparse-max-bytes"]])
    for _ in range(COUNT // 10 // CHUNK + 1):
        twins.compare(commands.several_requests(CHUNK) + STATE)
    twins.close()


def test_a_value_grows_one_element_at_a_time(ports):  # noqa: F811
    """The bytes are the same at every size, until beyond the promotion to the dense encoding."""
    twins = Twins(ports, 2, new_seed())
    element = f"{twins.seed}:"
    for first in range(0, 4000, CHUNK):
        twins.compare([words for i in range(first, first + CHUNK)
                       for words in (["PFADD", "p0", f"{element}{i}"],
                                     ["GET" if i % 20 == 0 else "STRLEN", "p0"],
                                     ["PFCOUNT", "p0"])])
    assert twins.wires[0].ask("STRLEN", "p0") == b":%d\r\n" % DENSE_SIZE
    twins.close()


@pytest.mark.parametrize("value", FORGED, ids=range(len(FORGED)))
def test_forged_values(ports, value):  # noqa: F811
    twins = Twins(ports, 2)
    for words in (["PFCOUNT", "f"], ["PFADD", "f"], ["PFADD", "f", "a"],
                  ["PFADD", "f", *range(500)], ["PFMERGE", "f"], ["PFMERGE", "other", "f"],
                  ["PFCOUNT", "f", "none"], ["PFDEBUG", "GETREG", "f"],
                  ["PFDEBUG", "DECODE", "f"], ["PFDEBUG", "ENCODING", "f"],
                  ["PFDEBUG", "TODENSE", "f"]):
        twins.compare([["FLUSHALL"], ["SET", "f", value], words, ["GET", "f"],
                       ["OBJECT", "ENCODING", "f"], ["GET", "other"], ["PFCOUNT", "f"]])
    twins.close()


def test_dumps_are_restored_by_the_other_server(ports):  # noqa: F811
    twins = Twins(ports, 2, new_seed())
    ours, theirs = twins.wires
    for count in (0, 1, 10, 1000, 5000):
        twins.compare([["DEL", "p0"], ["PFADD", "p0", *range(count)], ["DUMP", "p0"]])
        for source, target in ((ours, theirs), (theirs, ours)):
            dumped = source.ask("DUMP", "p0").split(b"\r\n", 1)[1][:-2]
            target.ask("DEL", "restored")
            assert target.ask("RESTORE", "restored", "0", dumped) == b"+OK\r\n"
            assert target.ask("GET", "restored") == source.ask("GET", "p0")
            assert target.ask("PFCOUNT", "restored") == source.ask("PFCOUNT", "p0")
    twins.close()


def test_the_self_test_succeeds(daemon):
    assert Wire(new_cache(daemon)).ask("PFSELFTEST") == b"+OK\r\n"


def test_a_count_is_a_change_for_those_who_watch(ports):  # noqa: F811
    replies = []
    for port in ports:
        watcher, other = Wire(port), Wire(port)
        watcher.ask("PFADD", "p", "a")
        for _ in range(2):  # the first count keeps its result, the second finds it
            watcher.ask("WATCH", "p")
            other.ask("PFCOUNT", "p")
            replies.append(watcher.ask_all([["MULTI"], ["PFCOUNT", "p", "p"], ["EXEC"]]))
    assert replies[:2] == replies[2:]
    assert replies[0].endswith(b"*-1\r\n") and replies[1].endswith(b":1\r\n")


def test_a_count_waits_while_changes_are_paused(ports):  # noqa: F811
    for port in ports:
        one, other = Wire(port), Wire(port)
        assert one.ask("CLIENT", "PAUSE", 60_000, "WRITE") == b"+OK\r\n"
        other.send("PFCOUNT", "none")
        assert other.is_silent()
        assert one.ask("CLIENT", "UNPAUSE") == b"+OK\r\n"
        assert other.receive() == b":0\r\n"


@pytest.mark.parametrize("leader", ["cache", "redis"])
def test_changes_are_propagated(ports, leader):  # noqa: F811
    """A server that follows the other has the same bytes, kept estimates included."""
    ours, theirs = (Wire(port) for port in (ports if leader == "cache" else ports[::-1]))
    seed = new_seed()
    commands = Commands(seed, forges=False)
    assert theirs.ask("REPLICAOF", "127.0.0.1", ours.socket.getpeername()[1]) == b"+OK\r\n"
    eventually(lambda: b"master_link_status:up" in theirs.ask("INFO", "replication"),
               "the follower is connected")
    ours.ask_all(commands.several_requests(2000) + [["SET", "end", "1"]])
    eventually(lambda: theirs.ask("GET", "end") == b"$1\r\n1\r\n", "the follower has all changes")
    state = [["GET", key] for key in KEYS]
    for request, our, their in zip(state, split_replies(ours.ask_all(state)),
                                   split_replies(theirs.ask_all(state))):
        assert our == their, f"seed {seed}: {request}"


def port_of(daemon):
    return int(daemon.show("db")["endpoints"][0].rsplit(":", 1)[1])


def test_changes_survive_kill_9(daemon, tmp_path):
    daemon.cli("create", "cache", "db", "-l", "tcp://127.0.0.1:0", "--resp", "-s", "--persistent",
               tmp_path / "db.aof")
    port = port_of(daemon)
    commands = Commands(new_seed(), forges=False)
    Wire(port).ask_all(commands.several_requests(2000))
    before = contents(port)
    daemon.kill9()
    daemon.start()
    eventually(lambda: daemon.show("db")["state"] == "running", "the cache is restored")
    assert_same(before, contents(port_of(daemon)))
