"""Geo commands: the same random requests to a real redis-server and to a cache get the same bytes,
and cause the same keyspace events."""

import random

import pytest

from resp_wire import Wire, split_replies
from strata_daemon import eventually
from twin_servers import CHUNK, COUNT, Twins, new_seed

pytestmark = pytest.mark.once

BAD_NUMBERS = ["x", "", "nan", " 1", "1 ", "1e400", "181", "-180.0001", "90", "-85.06", "inf",
               "-inf", "1e-400", "0x10"]
EDGES_OF_LONGITUDE = [-180, 180, 0, 179.999999, -179.999999, "-0", 90, -90]
EDGES_OF_LATITUDE = [-85.05112878, 85.05112878, 0, 85, -85, "-0", 66, -66, 80.5, -80.5]
# Scores that no GEOADD gives, since ZADD may have been used.
SCORES = [0, 1, -1, 1.5, 2**52 - 1, 2**52, 2**53, 2**63, 2**64, -2**63, "inf", "-inf", 1e300,
          -1e300, 3479099956230698, 4.5e18, 1.2e19]


class Commands:
    """Random geo commands. Keys: g are points of a town, a country, and the world each, w are
    results, s is a string. In each set, some points are at the same place."""

    SPREAD = {"g0": 0.02, "g1": 5, "g2": 40, "g3": 180, "g4": 180, "g5": 0.0001}

    def __init__(self, seed):
        self.random = random.Random(seed)

    def key(self):
        r = self.random
        if r.random() < 0.04:
            return r.choice(["s0", "none", "l0"])
        return f"g{r.randrange(6)}"

    def target(self):
        return self.random.choice(["w0", "w1", "w2", "w2", "g5", "s0"])

    def coordinates(self, key):
        """Returns a longitude and a latitude."""
        r = self.random
        if r.random() < 0.02:
            return r.choice([(r.choice(BAD_NUMBERS), 1), (1, r.choice(BAD_NUMBERS)),
                             (r.choice(BAD_NUMBERS), r.choice(BAD_NUMBERS))])
        spread = self.SPREAD.get(key, 180)
        if spread == 180 and r.random() < 0.2:
            return r.choice(EDGES_OF_LONGITUDE), r.choice(EDGES_OF_LATITUDE)
        if r.random() < 0.2:
            return 13 + r.randrange(3) * spread / 10, 38 + r.randrange(3) * spread / 10
        longitude = max(-180, min(180, 13 + r.uniform(-spread, spread)))
        latitude = max(-85, min(85, 38 * (spread < 180) + r.uniform(-spread, spread)))
        return r.choice([lambda: (longitude, latitude), lambda: (longitude, 38),
                         lambda: (13, latitude),
                         lambda: (f"{longitude:.3f}", f"{latitude:.3f}")])()

    def member(self):
        r = self.random
        if r.random() < 0.02:
            return r.choice(["", "long" * 20, b"\x00\xff\r\n", "nosuch", "007", "-0"])
        return r.choice([lambda: r.randrange(90), lambda: f"m{r.randrange(90)}"])()

    def several(self, one, most=4):
        return [one() for _ in range(self.random.randrange(1, most + 1))]

    def unit(self):
        r = self.random
        if r.random() < 0.02:
            return r.choice(["", "x", "metres", "k m"])
        return r.choice(["m", "km", "ft", "mi", "M", "KM", "Ft", "mI"])

    def length(self, key):
        r = self.random
        if r.random() < 0.03:
            return r.choice(["x", "", "-1", "nan", "1e400", " 1", "-0"])
        spread = self.SPREAD.get(key, 180)
        return r.choice([0, 1, 100, 1e-9, 1e300, "inf", "1e7", f"{spread * r.random() * 1000:.2f}",
                         spread * r.random() * 100, spread * r.random() * 100000,
                         spread * 100, r.uniform(1, 2e7), r.uniform(1, 2e4)])

    def order(self):
        r = self.random
        words = []
        for option in r.sample(["COUNT", "ANY", "ORDER", "DIST", "HASH", "COORD"],
                               r.randrange(5)):
            if option == "COUNT":
                count = r.choice([1, 2, 5, 10, 30, 1000])
                if r.random() < 0.05:
                    count = r.choice([0, -1, "x", 2**63, 2**63 - 1, ""])
                words += [r.choice(["COUNT", "count"]), count]
            elif option == "ORDER":
                words.append(r.choice(["ASC", "DESC", "asc", "Desc"]))
            elif option == "ANY":
                words += ["ANY"] if "COUNT" in words or r.random() < 0.2 else ["COUNT", 3, "ANY"]
            else:
                words.append(f"WITH{option}" if r.random() < 0.9 else f"with{option.lower()}")
        return words if r.random() < 0.98 else words + [r.choice(["COUNT", "BAD", "STORE"])]

    def store(self):
        return [self.random.choice(["STORE", "STOREDIST", "store"]), self.target()]

    def stored_order(self):
        """Returns options that mostly can be stored."""
        words = self.order()
        return [each for each in words
                if self.random.random() < 0.1 or not str(each).upper().startswith("WITH")]

    def shuffled(self, *groups):
        """Joins the groups of words in any order."""
        groups = list(groups)
        self.random.shuffle(groups)
        return [word for group in groups for word in group]

    def area(self, key):
        r = self.random
        centre = r.choice([["FROMMEMBER", self.member()], ["FROMLONLAT", *self.coordinates(key)]])
        around = r.choice([["BYRADIUS", self.length(key), self.unit()],
                           ["BYBOX", self.length(key), self.length(key), self.unit()]])
        groups = [centre, around]
        if r.random() < 0.03:
            groups.pop(r.randrange(2))
        if r.random() < 0.03:
            groups.append(r.choice([["FROMMEMBER", self.member()], ["FROMLONLAT", 1, 2],
                                    ["BYRADIUS", 10, "km"], ["BYBOX", 10, 20, "km"]]))
        return groups

    def points(self, key, most):
        return [word for _ in range(self.random.randrange(1, most + 1))
                for word in (*self.coordinates(key), self.member())]

    def change(self):
        r, k = self.random, self.key()
        return r.choice([
            lambda: ["GEOADD", k, *self.points(k, 5)], lambda: ["GEOADD", k, *self.points(k, 40)],
            lambda: ["GEOADD", k, *self.points(k, 40)],
            lambda: ["GEOADD", k, *r.sample(["NX", "XX", "CH", "nx", "ch", "INCR", "GT"],
                                            r.randrange(1, 3)), *self.points(k, 3)],
            lambda: ["ZREM", k, *self.several(self.member)],
            lambda: ["ZADD", k, r.choice(SCORES), self.member()] if r.random() < 0.3
            else ["ZREM", k, self.member()],
            lambda: ["DEL", r.choice([k, self.target()])] if r.random() < 0.2
            else ["ZCARD", k],
            lambda: ["SET", "s0", "text"], lambda: ["RPUSH", "l0", "x"],
        ])()

    def look(self):
        k = self.key()
        return self.random.choice([
            lambda: ["GEODIST", k, self.member(), self.member()],
            lambda: ["GEODIST", k, self.member(), self.member(), self.unit()],
            lambda: ["GEOHASH", k, *self.several(self.member)], lambda: ["GEOHASH", k],
            lambda: ["GEOPOS", k, *self.several(self.member)], lambda: ["GEOPOS", k],
        ])()

    def radius(self):
        r, k = self.random, self.key()
        around = [self.length(k), self.unit()]
        readonly = r.choice(["", "", "_RO"])
        return r.choice([
            lambda: [f"GEORADIUS{readonly}", k, *self.coordinates(k), *around, *self.order()],
            lambda: [f"GEORADIUSBYMEMBER{readonly}", k, self.member(), *around, *self.order()],
            lambda: [f"GEORADIUS{readonly}", k, *self.coordinates(k), *around,
                     *self.shuffled(self.stored_order(), self.store())],
            lambda: [f"GEORADIUSBYMEMBER{readonly}", k, self.member(), *around,
                     *self.shuffled(self.stored_order(), self.store(), self.store())],
        ])()

    def search(self):
        r, k = self.random, self.key()
        return r.choice([
            lambda: [r.choice(["GEOSEARCH", "GeoSearch"]), k,
                     *self.shuffled(*self.area(k), self.order())],
            lambda: ["GEOSEARCH", k, *self.shuffled(*self.area(k), self.order())],
            lambda: ["GEOSEARCHSTORE", self.target(), k,
                     *self.shuffled(*self.area(k), self.stored_order(),
                                    r.choice([[], ["STOREDIST"], ["storedist"]]))],
        ])()

    def next(self):
        words = self.random.choice(self.FAMILIES)(self)
        if self.random.random() < 0.01:
            words = words + ["surplus"] if self.random.random() < 0.5 else words[:-1]
        return words

    FAMILIES = [change, change, look, radius, radius, search, search, search]


STATE = [words for key in [f"g{i}" for i in range(6)] + ["w0", "w1", "w2"]
         for words in (["OBJECT", "ENCODING", key], ["ZRANGE", key, 0, -1, "WITHSCORES"])]


@pytest.mark.parametrize("protocol", [2, 3])
@pytest.mark.parametrize("entries", [128, 4])
def test_random_commands_get_the_same_replies_and_events(ports, protocol, entries):  # noqa: F811
    twins = Twins(ports, protocol, new_seed())
    commands = Commands(twins.seed)
    twins.compare([["CONFIG", "SET", "zset-max-listpack-entries", entries]])
    for _ in range(COUNT // 4 // CHUNK + 1):
        twins.compare([commands.next() for _ in range(CHUNK)] + STATE)
    twins.close()


def test_searches_in_many_points(ports):  # noqa: F811
    """Equal distances, and more points than an insertion sort takes, show the order of a partial
    sort."""
    twins = Twins(ports, 2, new_seed())
    r = random.Random(twins.seed)
    twins.compare([["GEOADD", "many", *[word for i in range(3000) for word in (
        r.randrange(30) / 10, r.randrange(30) / 10, f"m{i}")]]])
    for _ in range(300):
        area = r.choice([["BYRADIUS", r.choice([1, 20, 100, 500])],
                         ["BYBOX", r.choice([10, 200]), r.choice([10, 300])]])
        twins.compare([["GEOSEARCH", "many", "FROMLONLAT", r.randrange(30) / 10,
                        r.randrange(30) / 10, *area, "km", "WITHDIST", r.choice(["ASC", "DESC"]),
                        *r.choice([[], ["COUNT", r.randrange(1, 2000)], ["COUNT", 10],
                                   ["COUNT", r.randrange(1, 2000), "ANY"]])]])
    twins.close()


KEYS = """
georadius a 1 2 3 m|georadius a 1 2 3 m store b|georadius a 1 2 3 m storedist b
georadius a 1 2 3 m store b storedist c|georadius a 1 2 3 m store b store c
georadius a 1 2 3 m store|georadiusbymember a m 3 m store b
georadiusbymember a store 3 m storedist b|georadiusbymember a m 3 m asc
geosearchstore a b frommember m byradius 1 m|geosearch a frommember m x y z
georadius_ro a 1 2 3 m|georadiusbymember_ro a 1 2 m
geoadd a 1 2 m|geodist a m n|geopos a|geohash a m
pfadd a b|pfcount a b c|pfmerge a b c|pfdebug getreg a|pfselftest
"""


def test_keys_are_found_as_by_redis(ports):  # noqa: F811
    twins = Twins(ports, 3)
    twins.compare([["COMMAND", subcommand, *call.split()]
                   for call in KEYS.strip().replace("\n", "|").split("|")
                   for subcommand in ("GETKEYS", "GETKEYSANDFLAGS")])
    twins.close()


def test_changes_are_propagated(daemon, ports):  # noqa: F811
    """A redis-server that follows the cache has the same data."""
    ours, theirs = (Wire(port) for port in ports)
    seed = new_seed()
    commands = Commands(seed)
    assert theirs.ask("REPLICAOF", "127.0.0.1", ports[0]) == b"+OK\r\n"
    eventually(lambda: b"master_link_status:up" in theirs.ask("INFO", "replication"),
               "the follower is connected")
    requests = [commands.next() for _ in range(3000)]
    ours.ask_all(requests + [["SET", "end", "1"]])
    eventually(lambda: theirs.ask("GET", "end") == b"$1\r\n1\r\n", "the follower has all changes")
    state = [["ZRANGE", key, 0, -1, "WITHSCORES"] for key in (*Commands.SPREAD, "w0", "w1", "w2")]
    for request, our, their in zip(state, split_replies(ours.ask_all(state)),
                                   split_replies(theirs.ask_all(state))):
        assert our == their, f"seed {seed}: {request}"
    ours.close()
    theirs.close()
