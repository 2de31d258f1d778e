"""Sorted sets: the same random commands to a real redis-server and to a cache get the same bytes,
and cause the same keyspace events."""

import random
import re

import pytest

from cache_contents import text
from resp_wire import Wire, sorted_reply, split_replies
from twin_servers import CHUNK, COUNT, Listener, assert_same_replies, new_seed

pytestmark = pytest.mark.once

BIG = 2**63

BAD_SCORES = ["x", "", "nan", " 1", "1e400", "1 ", "0x10", "(1", "1e-400", "--1", "+5", ".5",
              "5."]
SCORES = [0, 1, 2, 3, -1, -7, 1.5, 0.1, -2.25, 1e17, 1e20, 1e-5, "inf", "-inf", "+inf", "infinity",
          "1e300", 9007199254740993, 4e18, 5e18, 123456789.123456789, "3.0", "1e2", 127, 4096,
          -4097, 2**31, 2**40, 1e16, 99999999999999999, 4.9e-324, 0.30000000000000004]


class Commands:
    """Random commands for sorted sets. Keys: z are small and large sets, x are sets whose members
    all have the same score (ranges of members are defined only there), t are plain sets, s is a
    string, l are lists. l1 is the wrong-type key for ranges of members, as the other keys are for
    the rest, and so never a sorted set of mixed scores."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def key(self):
        r = self.random
        if r.random() < 0.03:
            return r.choice(["s0", "none", "t0", "l0"])
        return f"z{r.randrange(6)}"

    def lex_key(self):
        return self.random.choice(["x0", "x1", "x2"] * 8 + ["l1", "x3"])

    def source(self):
        r = self.random
        return r.choice([self.key, self.key, self.lex_key, lambda: f"t{r.randrange(3)}"])()

    def score(self):
        r = self.random
        if r.random() < 0.02:
            return r.choice(BAD_SCORES)
        return r.choice([lambda: r.randrange(-9, 10), lambda: r.choice(SCORES),
                         lambda: r.uniform(-1000, 1000), lambda: f"{r.uniform(-9, 9):.2f}"])()

    def member(self):
        r = self.random
        if r.random() < 0.01:
            return r.choice(["long" * 20, "", "y" * 64, "y" * 65, b"\x00\xff\r\n", "007", "-0"])
        return r.choice([lambda: r.randrange(60), lambda: f"m{r.randrange(60)}",
                         lambda: f"m{r.randrange(5)}"])()

    def index(self):
        r = self.random
        if r.random() < 0.05:
            return r.choice(["x", "", BIG, BIG - 1, -BIG, -BIG - 1, "1.5"])
        return r.choice([0, -1, r.randrange(-15, 15), r.randrange(-200, 200)])

    def score_end(self):
        r = self.random
        if r.random() < 0.04:
            return r.choice(["(x", "(", "((1", "", "nan", "(nan", " 1", "1 ", "1e400", "(1e400",
                             "x", "0x5", "(-1e400", "[1"])
        end = r.choice(["-inf", "+inf", "inf", r.randrange(-9, 10), r.randrange(-9, 10),
                        r.choice(SCORES), f"{r.uniform(-1000, 1000):.3f}"])
        return f"({end}" if r.random() < 0.3 else end

    def lex_end(self):
        r = self.random
        if r.random() < 0.04:
            return r.choice(["", "a", "-a", "+a", "m1", "[", "("])
        return r.choice(["-", "+", f"[m{r.randrange(60)}", f"(m{r.randrange(60)}", "[3", "(m",
                         "(5"])

    def several(self, one, most=4):
        return [one() for _ in range(self.random.randrange(1, most + 1))]

    def limit(self):
        r = self.random
        return r.choice([[], [], ["LIMIT", r.randrange(5), r.randrange(-1, 9)],
                         ["LIMIT", self.index(), self.index()], ["LIMIT", 1]])

    def with_scores(self):
        return self.random.choice([[], ["WITHSCORES"], ["withscores"]])

    def next(self):
        """Returns one or more requests that belong together."""
        r = self.random
        if r.random() < 0.04:
            return self.transaction()
        words = r.choice(self.FAMILIES)(self)
        # One word too many or too few; a scan without its count would take many steps.
        if r.random() < 0.02:
            shorter = words if words[0] == "ZSCAN" else words[:-1]
            words = words + ["surplus"] if r.random() < 0.5 else shorter
        return [words]

    def transaction(self):
        """Returns a transaction, in which commands that would wait give up at once."""
        r = self.random
        pop = r.choice([
            ["BZPOPMIN", *self.several(self.key), r.choice([0, 0.5, "x", -1])],
            ["BZPOPMAX", *self.several(self.key), 0], ["BZPOPMIN", "none", 0],
            ["BZMPOP", r.choice([0, "x", -1]), 2, self.key(), self.key(), r.choice(["MIN", "MAX"]),
             *r.choice([[], ["COUNT", r.randrange(4)]])],
            ["BZMPOP", 0, 1, "none", "MIN"],
            ["BZMPOP", 0, r.choice([0, "x", 9]), self.key(), "MIN"],
            ["BZMPOP", "x", 1, self.key(), "MIDDLE"]])
        return [["MULTI"], pop, self.change(), ["EXEC"]]

    def pairs(self, score, member, most):
        return [word for _ in range(self.random.randrange(1, most + 1))
                for word in (score(), member())]

    def change(self):
        r = self.random
        options = r.sample(["NX", "XX", "GT", "LT", "CH", "INCR"], r.choice([0, 0, 0, 1, 1, 2, 3]))
        return r.choice([
            lambda: ["ZADD", self.key(), *self.pairs(self.score, self.member, 5)],
            lambda: ["ZADD", self.key(), *self.pairs(self.score, self.member, 40)],
            lambda: ["ZADD", self.key(), *options, *self.pairs(self.score, self.member, 3)],
            lambda: ["ZADD", self.key(), *options, self.score(), self.member()],
            lambda: ["ZADD", self.lex_key(), *self.pairs(lambda: 0, self.member, 4)],
            lambda: ["ZINCRBY", self.key(), self.score(), self.member()],
            lambda: ["ZREM", self.key(), *self.several(self.member)],
            lambda: ["SADD", f"t{r.randrange(3)}", *self.several(self.member)],
            lambda: ["SET", "s0", 1], lambda: ["RPUSH", r.choice(["l0", "l1"]), 1],
            lambda: ["DEL", self.source()], lambda: ["COPY", self.key(), self.key(), "REPLACE"],
        ])()

    def look(self):
        r = self.random
        return r.choice([
            lambda: ["ZCARD", self.key()], lambda: ["ZSCORE", self.key(), self.member()],
            lambda: ["ZMSCORE", self.key(), *self.several(self.member)],
            lambda: ["ZRANK", self.key(), self.member()],
            lambda: ["ZREVRANK", self.key(), self.member()],
            lambda: ["ZCOUNT", self.key(), self.score_end(), self.score_end()],
            lambda: ["ZLEXCOUNT", self.lex_key(), self.lex_end(), self.lex_end()],
            lambda: ["ZRANDMEMBER", self.key(), *r.choice([
                [], [r.randrange(-9, 10)], [BIG - 1], [-BIG], ["x"], [1, "bad"], [300],
                [r.randrange(-9, 10), "WITHSCORES"], [BIG - 1, "WITHSCORES"]])],
            lambda: ["ZSCAN", self.key(), r.choice([0, 0, 0, 0, "x", ""]), *r.choice([
                ["COUNT", 1000], ["COUNT", 1000, "MATCH", "m*"], ["MATCH", "*1*", "COUNT", 5000],
                ["COUNT", 0], ["COUNT", "x"], ["BAD"], ["COUNT"]])],
            lambda: ["OBJECT", "ENCODING", self.key()],
        ])()

    def ranges(self):
        r = self.random
        scores = lambda: [self.score_end(), self.score_end()]
        members = lambda: [self.lex_end(), self.lex_end()]
        ranks = lambda: [self.index(), self.index()]
        rev = lambda: r.choice([[], ["REV"]])
        mixed = lambda: r.choice([
            [self.key(), *scores(), "BYSCORE", *rev(), *self.limit()],
            [self.lex_key(), *members(), "BYLEX", *rev(), *self.limit()],
            [self.key(), *ranks(), *rev(), *r.choice([[], [], [], self.limit()])],
            [self.lex_key(), *r.choice([scores, members, ranks])(),
             *r.sample(["BYSCORE", "BYLEX", "REV", "WITHSCORES", "BAD"], r.randrange(3))]])
        return r.choice([
            lambda: ["ZRANGE", *mixed(), *self.with_scores()],
            lambda: ["ZRANGE", self.key(), 0, -1, *self.with_scores()],
            lambda: ["ZRANGESTORE", self.key(), *mixed(), *r.choice([[], [], [], ["WITHSCORES"]])],
            lambda: ["ZREVRANGE", self.key(), *ranks(), *self.with_scores(),
                     *r.choice([[], [], ["REV"]])],
            lambda: ["ZRANGEBYSCORE", self.key(), *scores(), *self.with_scores(), *self.limit()],
            lambda: ["ZREVRANGEBYSCORE", self.key(), *scores(), *self.limit(), *self.with_scores()],
            lambda: ["ZRANGEBYLEX", self.lex_key(), *members(), *self.limit()],
            lambda: ["ZREVRANGEBYLEX", self.lex_key(), *members(), *self.limit(),
                     *r.choice([[], [], ["WITHSCORES"]])],
            lambda: ["ZREMRANGEBYRANK", self.key(), *r.choice([ranks, lambda: [0, 2]])()],
            lambda: ["ZREMRANGEBYSCORE", self.key(), *scores()],
            lambda: ["ZREMRANGEBYLEX", self.lex_key(), *members()],
        ])()

    def pops(self):
        r = self.random
        end = lambda: r.choice(["MIN", "MAX", "min", "max"] * 5 + ["MID"])
        count = lambda: r.choice([[], ["COUNT", r.randrange(5)], ["COUNT", 1000], ["COUNT", "x"],
                                  ["COUNT"], ["COUNT", 1, "COUNT", 2]])
        return r.choice([
            lambda: ["ZPOPMIN", self.key(), *r.choice([[], [], [3], [0], [-1], ["x"], [BIG - 1]])],
            lambda: ["ZPOPMAX", self.key(), *r.choice([[], [], [2], [0], [1]])],
            lambda: ["ZMPOP", r.choice([2] * 8 + [1, 0, "x", 3, BIG]), self.key(), self.key(),
                     end(), *count()],
            lambda: ["ZMPOP", 1, self.key(), end(), *count()],
            lambda: ["BZPOPMIN", self.key(), r.choice(["x", -1, "nan"])],
        ])()

    def algebra(self):
        r = self.random
        number = r.choice([1, 2, 2, 2, 3])
        sources = [self.source() for _ in range(number)]
        claimed = number if r.random() < 0.95 else r.choice([0, -1, "x", 4, BIG, 1])
        weight = lambda: r.choice([1, 2, -1, 0, 0.5, "inf", "-inf", self.score()])
        options = []
        for option in r.sample(["WEIGHTS", "AGGREGATE", "WITHSCORES"], r.choice([0, 1, 1, 2, 3])):
            options.append(option)
            if option == "WEIGHTS":
                options += [weight() for _ in sources]
            elif option == "AGGREGATE":
                options.append(r.choice(["SUM", "MIN", "MAX"] * 5 + ["AVG"]))
        stored = [each for each in options if each != "WITHSCORES" or r.random() < 0.1]
        return r.choice([
            lambda: ["ZUNION", claimed, *sources, *options],
            lambda: ["ZINTER", claimed, *sources, *options],
            lambda: ["ZDIFF", claimed, *sources, *self.with_scores()],
            lambda: ["ZUNIONSTORE", self.key(), claimed, *sources, *stored],
            lambda: ["ZINTERSTORE", self.key(), claimed, *sources, *stored],
            lambda: ["ZDIFFSTORE", self.key(), claimed, *sources, *r.choice([[], [], ["WEIGHTS"]])],
            lambda: ["ZINTERCARD", claimed, *sources,
                     *r.choice([[], [], ["LIMIT", r.randrange(-1, 4)], ["LIMIT", "x"], ["LIMIT"],
                                ["WITHSCORES"]])],
        ])()

    FAMILIES = [change, change, change, look, look, ranges, ranges, pops, algebra]


def normalised(request, reply):
    """Returns the reply without what may differ: which random members are
    picked, and a scan's order."""
    name = str(request[0]).upper()
    if name == "ZRANDMEMBER":
        return re.sub(rb"\$\d+\r\n[^$*,_]*|,[^$*]*", b"?", reply)
    if name == "ZSCAN" and reply[:1] == b"*":
        cursor, pairs = split_replies(reply[reply.index(b"\r\n") + 2:])
        return cursor + sorted_reply(pairs, pairs=True)
    return reply


STATE = [words for key in [f"z{i}" for i in range(6)] + ["x0", "x1", "x2"]
         for words in (["OBJECT", "ENCODING", key], ["ZRANGE", key, 0, -1, "WITHSCORES"],
                       ["ZSCAN", key, 0, "COUNT", 5000])]


@pytest.mark.parametrize("protocol", [2, 3])
@pytest.mark.parametrize("entries,value", [(128, 64), (20, 8), (0, 64)])
def test_random_commands_get_the_same_replies_and_events(ports, protocol, entries, value):
    seed = new_seed()
    commands = Commands(seed)
    wires = [Wire(port, protocol) for port in ports]
    listeners = [Listener(port) for port in ports]
    for wire in wires:
        assert wire.ask_all([["CONFIG", "SET", "zset-max-listpack-entries", entries],
                             ["CONFIG", "SET", "zset-max-listpack-value", value]]) == b"+OK\r\n" * 2
    for number in range(COUNT // 6 // CHUNK + 1):
        requests = [each for _ in range(CHUNK) for each in commands.next()] + STATE
        ours, theirs = (wire.ask_all(requests) for wire in wires)
        assert_same_replies(requests, ours, theirs, seed, normalised)
        mark = b"end of part %d" % number
        for wire in wires:
            wire.ask("PUBLISH", "__key_mark", mark)
        our_events, their_events = (each.events_until(mark) for each in listeners)
        assert our_events == their_events, f"seed {seed}"
    for each in wires + listeners:
        each.close()


@pytest.mark.parametrize("size", [30, 3000])
def test_a_scan_with_changes_in_between_sees_what_was_there_throughout(ports, size):
    wire = Wire(ports[0])
    wire.ask("ZADD", "z", *[word for i in range(size) for word in (i, f"stays{i}")])
    cursor, seen = b"0", set()
    while True:
        reply = wire.ask("ZSCAN", "z", cursor, "COUNT", 50)
        head, body = split_replies(reply[reply.index(b"\r\n") + 2:])
        elements = split_replies(body[body.index(b"\r\n") + 2:])
        seen.update(each.split(b"\r\n")[1] for each in elements)
        cursor = head.split(b"\r\n")[1]
        if cursor == b"0":
            break
        wire.ask("ZADD", "z", *[word for i in range(100) for word in (i, f"{cursor}{i}")])
    assert {b"stays%d" % i for i in range(size)} <= seen
    wire.close()


@pytest.mark.parametrize("size", [30, 3000])
def test_random_members_are_there_with_their_scores_and_all_can_be_picked(ports, size):
    wire = Wire(ports[0], 3)
    wire.ask("ZADD", "z", *[word for i in range(size) for word in (i, f"m{i}")])
    wanted = {b"*2\r\n$%d\r\nm%d\r\n,%d\r\n" % (len(f"m{i}"), i, i) for i in range(size)}
    elements = lambda reply: split_replies(reply[reply.index(b"\r\n") + 2:])
    assert set(elements(wire.ask("ZRANDMEMBER", "z", -40 * size, "WITHSCORES"))) == wanted
    different = elements(wire.ask("ZRANDMEMBER", "z", size - 1, "WITHSCORES"))
    assert len(different) == len(set(different)) == size - 1
    assert set(different) < wanted
    wire.close()


WAITING = [
    # A new member goes to the client that has waited longest.
    [("a", "BZPOPMIN", "z", 0), ("b", "BZPOPMAX", "z", 0),
     ("c", "ZADD", "z", 1, "x", 2, "y", 3, "w"), ("a",), ("b",),
     ("c", "ZRANGE", "z", 0, -1, "WITHSCORES")],
    [("a", "BZMPOP", 0, 2, "none", "z", "MAX", "COUNT", 2),
     ("c", "ZADD", "z", 1, "x", 2, "y", 3, "w"), ("a",), ("c", "ZCARD", "z")],
    # Any command that creates the key ends the wait.
    [("c", "ZADD", "other", 1.5, "x"), ("a", "BZPOPMIN", "z", 0), ("c", "RENAME", "other", "z"),
     ("a",), ("c", "EXISTS", "z")],
    [("c", "ZADD", "other", 1.5, "x"), ("a", "BZPOPMIN", "none", "z", 0),
     ("c", "ZUNIONSTORE", "z", 1, "other"), ("a",), ("c", "EXISTS", "z")],
    [("c", "ZADD", "other", 1.5, "x"), ("a", "BZPOPMAX", "z", 0),
     ("c", "ZRANGESTORE", "z", "other", 0, -1), ("a",)],
    # A value of another type does not end the wait.
    [("a", "BZPOPMIN", "z", 0), ("c", "RPUSH", "z", "x"), ("c", "DEL", "z"),
     ("c", "ZADD", "z", 7, "m"), ("a",)],
    # A transaction takes effect as a whole.
    [("a", "BZPOPMIN", "z", 0), ("c", "MULTI"), ("c", "ZADD", "z", 1, "x"), ("c", "DEL", "z"),
     ("c", "ZADD", "z", 2, "y"), ("c", "EXEC"), ("a",)],
    [("a", "BZPOPMIN", "z", 0), ("c", "MULTI"), ("c", "ZADD", "z", 1, "x"), ("c", "ZREM", "z", "x"),
     ("c", "EXEC"), ("c", "ZADD", "z", 2, "y"), ("a",)],
    # The timeout ends the wait.
    [("a", "BZPOPMIN", "z", 0.05), ("a",), ("a", "BZMPOP", 0.05, 1, "z", "MIN"), ("a",)],
    # The key already exists before the wait.
    [("c", "ZADD", "z", "inf", "x"), ("a", "BZPOPMIN", "none", "z", 0), ("a",)],
]


@pytest.mark.parametrize("protocol", [2, 3])
@pytest.mark.parametrize("script", WAITING)
def test_who_waits_is_served_as_by_redis(ports, script, protocol):
    assert play(ports[0], script, protocol) == play(ports[1], script, protocol)


def play(port, script, protocol):
    """Returns the replies that each client receives. A step without words receives a reply; `c`
    receives its reply at once."""
    wires = {name: Wire(port, protocol) for name in "abc"}
    heard = []
    for name, *words in script:
        wire = wires[name]
        if words:
            wire.send(*words)
        if name == "c" or not words:
            heard.append(wire.receive())
        else:
            waits_or_has_reply(wires["c"])
    for wire in wires.values():
        wire.close()
    return heard


def waits_or_has_reply(wire):
    """Waits until the server has read what another connection has sent: it
    answers in order of arrival."""
    for _ in range(20):
        wire.send("PING")
        assert wire.receive() == b"+PONG\r\n"


def test_a_restored_set_keeps_the_sign_of_zero(ports):
    """A small set loses it, since its scores are kept as integers; a large one keeps it."""
    for port in ports:
        wire = Wire(port)
        wire.ask("CONFIG", "SET", "zset-max-ziplist-entries", 2)
        wire.ask("ZADD", "z", 1, "a", 1, "b", 1, "c")
        wire.ask("ZADD", "z", "-0", "a", "-0", "b", "-0", "c")
        before = wire.ask("ZRANGE", "z", 0, -1, "WITHSCORES")
        assert before.count(b"-0") == 3
        assert wire.ask("RESTORE", "copy", 0, text(wire.ask("DUMP", "z"))) == b"+OK\r\n"
        assert wire.ask("ZRANGE", "copy", 0, -1, "WITHSCORES") == before
