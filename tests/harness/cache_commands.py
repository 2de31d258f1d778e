"""Random, seeded commands for a cache: keys, values and options that often collide, and
mistakes of all kinds."""

import random

# Replies whose elements have no defined order once a value is a hash table.
UNORDERED = {"SMEMBERS", "SINTER", "SUNION", "SDIFF", "HGETALL", "HKEYS", "HVALS", "KEYS"}
PAIRS = {"HGETALL"}


def is_replicated(request):
    """Reports whether Redis 7.0 replicates all effects of the request. It does not for a consumer
    that reads its pending entries again, which counts as a delivery, and not for BITFIELD that
    makes a string longer and then writes nothing, since the value overflows."""
    name = str(request[0]).upper()
    if name == "BITFIELD":
        return "FAIL" not in request
    if name != "XREADGROUP" or "STREAMS" not in request:
        return True
    keys_and_ids = request[request.index("STREAMS") + 1:]
    return set(keys_and_ids[len(keys_and_ids) // 2:]) == {">"}


class Commands:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def key(self, kind=None):
        r = self.random
        kind = kind or r.choice("slhtz")
        if r.random() < 0.03:
            kind = r.choice("slhtz")  # sometimes the wrong type
        return f"{kind}{r.randrange(12)}"

    def number(self):
        r = self.random
        return r.choice([
            lambda: r.randrange(-5, 20), lambda: r.randrange(-200, 200),
            lambda: r.randrange(-2**31, 2**31), lambda: r.randrange(-2**63, 2**63),
            lambda: 2**63 - 1, lambda: -2**63, lambda: 2**63, lambda: "abc", lambda: "1.5",
            lambda: "", lambda: " 1", lambda: "01", lambda: "-0",
        ])() if r.random() < 0.3 else r.randrange(-5, 20)

    def index(self):
        return self.number() if self.random.random() < 0.1 else self.random.randrange(-12, 12)

    def value(self):
        r = self.random
        return r.choice([
            lambda: r.randrange(100), lambda: r.randrange(-2**63, 2**63),
            lambda: "v" * r.randrange(0, 80), lambda: r.randbytes(r.randrange(40)),
            lambda: "x" * r.randrange(4000, 9000) if r.random() < 0.05 else "short",
            lambda: f"{r.uniform(-1000, 1000):.3f}", lambda: r.choice("abcdefgh"),
        ])()

    def member(self):
        r = self.random
        return r.choice([lambda: r.randrange(20), lambda: f"m{r.randrange(30)}",
                         lambda: r.choice("abcdefgh"),
                         lambda: "long" * 20 if r.random() < 0.1 else "m",
                         lambda: r.randrange(-2**40, 2**40) if r.random() < 0.2 else 7])()

    def several(self, one, most=4):
        return [one() for _ in range(self.random.randrange(1, most + 1))]

    def case(self, word):
        return self.random.choice([word, word.lower(), word.capitalize()])

    def expiry(self):
        r = self.random
        return r.choice([["EX", r.randrange(100, 200)], ["PX", r.randrange(100000, 200000)],
                         ["EXAT", 4000000000], ["PXAT", 4000000000000], ["EX", 0], ["EX", -1],
                         ["EX", 2**62], ["PX", "x"], ["EX"]])

    def next(self):
        family = self.random.choice(self.FAMILIES)
        words = family(self)
        # One word too many or too few.
        if self.random.random() < 0.02:
            if self.random.random() < 0.5:
                words = words + ["surplus"]
            elif len(words) > 1 and words[0] not in ("SPOP", "SRANDMEMBER", "HRANDFIELD"):
                words = words[:-1]
        return words

    def strings(self):
        r, k, v = self.random, self.key("s"), self.value()
        return r.choice([
            lambda: ["SET", k, v],
            lambda: ["SET", k, v, *r.choice([["NX"], ["XX"], ["GET"], ["KEEPTTL"], ["NX", "XX"],
                                             ["NX", "GET"], ["XX", "GET"], self.expiry(),
                                             [*self.expiry(), "XX"], ["BAD"]])],
            lambda: ["GET", k], lambda: ["GETSET", k, v], lambda: ["GETDEL", k],
            lambda: ["GETEX", k, *r.choice([[], ["PERSIST"], self.expiry()])],
            lambda: ["SETNX", k, v], lambda: ["SETEX", k, r.choice([100, 0, -1, "x"]), v],
            lambda: ["PSETEX", k, 100000, v], lambda: ["APPEND", k, v], lambda: ["STRLEN", k],
            lambda: ["INCR", k], lambda: ["DECR", k], lambda: ["INCRBY", k, self.number()],
            lambda: ["DECRBY", k, self.number()],
            lambda: ["INCRBYFLOAT", k, r.choice([1.5, -0.25, 3, "1e3", "x", "inf", "nan"])],
            lambda: ["GETRANGE", k, self.index(), self.index()],
            lambda: ["SUBSTR", k, self.index(), self.index()],
            lambda: ["SETRANGE", k, r.choice([0, 1, 5, 70, -1, 2**40]), v],
            lambda: ["MGET", *self.several(lambda: self.key("s"))],
            lambda: ["MSET", k, v, self.key("s"), self.value()],
            lambda: ["MSETNX", k, v, f"new{r.randrange(5)}", 1],
        ])()

    def bits(self):
        r, k = self.random, self.key("s")
        return r.choice([
            lambda: ["SETBIT", k, r.choice([0, 7, 8, 100, r.randrange(2000), -1, 2**33]),
                     r.choice([0, 1, 1, 2])],
            lambda: ["GETBIT", k, r.choice([0, 7, 8, 100, r.randrange(2000), "x"])],
            lambda: ["BITCOUNT", k, *r.choice([[], [self.index(), self.index()], [0],
                                               [self.index(), self.index(),
                                                r.choice(["BIT", "BYTE", "bad"])]])],
            lambda: ["BITPOS", k, r.choice([0, 1, 1, 2]),
                     *r.choice([[], [self.index()], [self.index(), self.index()],
                                [self.index(), self.index(), r.choice(["BIT", "BYTE"])]])],
            lambda: ["BITOP", r.choice(["AND", "OR", "XOR", "NOT", "BAD"]), k,
                     *self.several(lambda: self.key("s"), 3)],
            lambda: ["BITFIELD", k, *self.bitfield()],
            lambda: ["BITFIELD_RO", k, *self.bitfield()],
        ])()

    def bitfield(self):
        r = self.random
        words = []
        for _ in range(r.randrange(1, 4)):
            kind = r.choice(["u8", "i8", "u1", "i64", "u63", "i5", "u16", "u64", "i0", "x"]
                            if r.random() < 0.2 else ["u8", "i8", "i5", "u4", "i64", "u63"])
            at = r.choice([0, 3, 8, "#1", "#3", 100, -1] if r.random() < 0.2 else [0, 3, "#1"])
            words += r.choice([["GET", kind, at], ["SET", kind, at, self.number()],
                               ["INCRBY", kind, at, self.number()],
                               ["OVERFLOW", r.choice(["WRAP", "SAT", "FAIL", "BAD"])
                                if r.random() < 0.3 else "SAT"]])
        return words

    def lists(self):
        r, k, v = self.random, self.key("l"), self.member()
        end = lambda: r.choice(["LEFT", "RIGHT", "left", "MIDDLE"] if r.random() < 0.1
                               else ["LEFT", "RIGHT"])
        return r.choice([
            lambda: ["LPUSH", k, *self.several(self.member)],
            lambda: ["RPUSH", k, *self.several(self.value)],
            lambda: ["LPUSHX", k, v], lambda: ["RPUSHX", k, v],
            lambda: ["LPOP", k, *r.choice([[], [], [2], [0], [-1], ["x"]])],
            lambda: ["RPOP", k, *r.choice([[], [], [3]])],
            lambda: ["LLEN", k], lambda: ["LINDEX", k, self.index()],
            lambda: ["LRANGE", k, self.index(), self.index()], lambda: ["LRANGE", k, 0, -1],
            lambda: ["LSET", k, self.index(), self.value()],
            lambda: ["LREM", k, self.index(), v],
            lambda: ["LTRIM", k, r.choice([0, 1, self.index()]), r.choice([-1, 20, self.index()])],
            lambda: ["LINSERT", k, r.choice(["BEFORE", "AFTER", "bad"]), v, self.value()],
            lambda: ["LPOS", k, v, *r.choice([[], ["RANK", self.index()], ["COUNT", self.index()],
                                              ["MAXLEN", self.index()],
                                              ["RANK", -1, "COUNT", 0], ["BAD", 1]])],
            lambda: ["LMOVE", k, self.key("l"), end(), end()],
            lambda: ["RPOPLPUSH", k, self.key("l")],
            lambda: ["LMPOP", r.choice([1, 2, 0, "x"]), k, self.key("l"), end(),
                     *r.choice([[], ["COUNT", r.choice([1, 3, 0])]])],
            lambda: ["LMPOP", 2, k, self.key("l"), end()],
        ])()

    def sets(self):
        r, k = self.random, self.key("t")
        keys = lambda: self.several(lambda: self.key("t"), 3)
        return r.choice([
            lambda: ["SADD", k, *self.several(self.member)],
            lambda: ["SADD", k, *self.several(lambda: r.randrange(1000))],
            lambda: ["SREM", k, *self.several(self.member)],
            lambda: ["SCARD", k], lambda: ["SISMEMBER", k, self.member()],
            lambda: ["SMISMEMBER", k, *self.several(self.member)],
            lambda: ["SMEMBERS", k], lambda: ["SMOVE", k, self.key("t"), self.member()],
            lambda: ["SINTER", *keys()], lambda: ["SUNION", *keys()], lambda: ["SDIFF", *keys()],
            lambda: ["SINTERSTORE", k, *keys()], lambda: ["SUNIONSTORE", k, *keys()],
            lambda: ["SDIFFSTORE", k, *keys()],
            lambda: ["SINTERCARD", r.choice([1, 2, 0, "x", 9]), *keys(),
                     *r.choice([[], ["LIMIT", r.choice([0, 1, -1])]])],
            lambda: ["SPOP", k, -1], lambda: ["SRANDMEMBER", k, "x"],
        ])()

    def hashes(self):
        r, k = self.random, self.key("h")
        field = lambda: f"f{r.randrange(15)}" if r.random() < 0.9 else self.member()
        return r.choice([
            lambda: ["HSET", k, field(), self.value(), *r.choice([[], [field(), self.value()]])],
            lambda: ["HMSET", k, field(), self.value()],
            lambda: ["HSETNX", k, field(), self.value()],
            lambda: ["HGET", k, field()], lambda: ["HMGET", k, *self.several(field)],
            lambda: ["HDEL", k, *self.several(field)], lambda: ["HLEN", k],
            lambda: ["HEXISTS", k, field()], lambda: ["HSTRLEN", k, field()],
            lambda: ["HGETALL", k], lambda: ["HKEYS", k], lambda: ["HVALS", k],
            lambda: ["HINCRBY", k, r.choice(["n1", "n2", field()]), self.number()],
            lambda: ["HINCRBYFLOAT", k, r.choice(["n1", "n3", field()]),
                     r.choice([1.5, -2, "x", 1e10])],
            lambda: ["HRANDFIELD", k, "x"],
            lambda: ["HSET", k, *[w for i in range(40) for w in (f"g{r.randrange(300)}", i)]]
            if r.random() < 0.1 else ["HLEN", k],
        ])()

    def sorting(self):
        """Returns a SORT command whose result does not depend on a hash table's order. It uses keys
        of its own, so that no other command gives them another type."""
        r = self.random
        kind = r.choice("opu")
        k = f"{kind}{r.randrange(5)}"
        if r.random() < 0.4:
            many = self.several(lambda: r.choice([r.randrange(20), self.member()]))
            if kind == "p":
                many = [word for each in many for word in (r.randrange(9), each)]
            return [{"o": "RPUSH", "p": "ZADD", "u": "SADD"}[kind], k, *many]
        if r.random() < 0.1:
            return ["DEL", k]
        by = r.choice([None, None, "s*", "h*->f1", "h*->n1", "s*x", "*", "#", "s*->f1"])
        stores = r.random() < 0.2 or (kind == "u" and by == "#")
        if stores:
            by = r.choice([None, "#"])
        words = [] if by is None else ["BY", by]
        by_weight = by not in (None, "#")
        # The order of equal weights is not always defined.
        as_text = stores or r.random() < 0.5 and not (by_weight and kind != "o")
        if as_text:
            words.append(self.case("ALPHA"))
        if r.random() < 0.4 and not (by_weight and as_text):
            words += ["LIMIT", self.index(), self.index()]
        for _ in range(r.choice([0, 0, 1, 2])):
            words += ["GET", r.choice(["#", "s*", "h*->f1", "h*->f2", "h*->", "s1", "*"])]
        words += r.choice([[], [], ["DESC"], ["ASC"], ["BAD"] if r.random() < 0.2 else ["desc"]])
        if stores:
            words += ["STORE", self.key("l")]
        return ["SORT" if stores or r.random() < 0.7 else "SORT_RO", k, *words]

    def common_text(self):
        r = self.random
        text = lambda: "".join(r.choice("abcd") for _ in range(r.randrange(40)))
        key = lambda: f"q{r.randrange(4)}"
        if r.random() < 0.4:
            return ["SET", key(), text()]
        options = [["LEN"], ["IDX"], ["IDX", "WITHMATCHLEN"], ["IDX", "MINMATCHLEN", self.index()],
                   ["IDX", "LEN"], ["WITHMATCHLEN"], ["MINMATCHLEN"], ["BAD"],
                   ["idx", "MinMatchLen", 2, "withmatchlen"]]
        return ["LCS", key(), key() if r.random() < 0.95 else self.key(),
                *r.choice([[], *options])]

    def estimates(self):
        """Returns a command on HyperLogLogs. They are not changed as strings: that would make them
        corrupt, and what then changes is not propagated."""
        r = self.random
        key = lambda: f"y{r.randrange(4)}" if r.random() < 0.97 else self.key()
        return r.choice([
            lambda: ["PFADD", key(), *self.several(self.member, 6)], lambda: ["PFADD", key()],
            lambda: ["PFADD", key(), *self.several(lambda: r.randrange(5000), 400)],
            lambda: ["PFCOUNT", key()], lambda: ["PFCOUNT", *self.several(key, 3)],
            lambda: ["PFMERGE", *self.several(lambda: f"y{r.randrange(4)}", 3)],
            lambda: ["GET", f"y{r.randrange(4)}"], lambda: ["DEL", f"y{r.randrange(4)}"],
        ])()

    def points(self):
        r = self.random
        key = lambda: f"e{r.randrange(4)}" if r.random() < 0.97 else self.key()
        point = lambda: [r.choice([r.uniform(-180, 180), r.randrange(9), 181]),
                         r.choice([r.uniform(-80, 80), r.randrange(9), "x"])
                         if r.random() < 0.1 else r.randrange(9)]
        area = lambda: r.choice([["BYRADIUS", r.randrange(2000)],
                                 ["BYBOX", r.randrange(2000), r.randrange(2000)]])
        return r.choice([
            lambda: ["GEOADD", key(), *point(), self.member()],
            lambda: ["GEOADD", key(), *r.choice([["NX"], ["XX", "CH"], ["CH"]]), *point(),
                     self.member(), *point(), self.member()],
            lambda: ["GEOPOS", key(), *self.several(self.member)],
            lambda: ["GEODIST", key(), self.member(), self.member(), "km"],
            lambda: ["GEOSEARCH", key(), "FROMLONLAT", *point(), *area(), "km",
                     *r.choice([[], ["WITHDIST", "ASC"], ["COUNT", 2, "WITHCOORD"]])],
            lambda: ["GEOSEARCHSTORE", f"e{r.randrange(4)}", key(), "FROMMEMBER", self.member(),
                     *area(), "km"],
            lambda: ["GEORADIUS", key(), *point(), r.randrange(2000), "km", "STOREDIST",
                     f"e{r.randrange(4)}"],
        ])()

    # What a script does with the command in ARGV.
    SCRIPTS = [
        "return redis.call(unpack(ARGV))", "return redis.pcall(unpack(ARGV))",
        "local r = redis.pcall(unpack(ARGV)) return {type(r), r, r}",
        "redis.setresp(3) return redis.pcall(unpack(ARGV))",
        "local r = redis.pcall(unpack(ARGV)) return {redis.pcall('TYPE', KEYS[1]), r, #KEYS}",
        "for i = 1, 3 do redis.pcall(unpack(ARGV)) end return redis.status_reply('done')",
        "redis.call('SET', KEYS[1], ARGV[2] or '') return redis.call(unpack(ARGV))",
        "redis.call('SELECT', 1) return redis.pcall(unpack(ARGV))",
        "local r = redis.pcall(unpack(ARGV)) if type(r) == 'table' and r.err then return r end "
        "return cjson.encode({ARGV[1], #ARGV})",
        "#!lua flags=no-writes\nreturn redis.call(unpack(ARGV))",
        "#!lua flags=allow-oom\nreturn redis.pcall(unpack(ARGV))",
    ]
    # Their replies have no order, are random, or differ in their errors.
    NOT_IN_SCRIPTS = UNORDERED | {"DUMP", "SORT", "SORT_RO", "EVAL", "EVAL_RO", "SPOP",
                                  "SRANDMEMBER", "HRANDFIELD"}

    def scripts(self):
        r = self.random
        inner = r.choice(self.FAMILIES)(self)
        while str(inner[0]).upper() in self.NOT_IN_SCRIPTS:
            inner = r.choice(self.FAMILIES)(self)
        return ["EVAL" if r.random() < 0.8 else "EVAL_RO", r.choice(self.SCRIPTS), 1,
                self.key("s"), *inner]

    def keys(self):
        r, k = self.random, self.key()
        return r.choice([
            lambda: ["DEL", *self.several(self.key, 2)], lambda: ["UNLINK", k],
            lambda: ["EXISTS", *self.several(self.key)], lambda: ["TOUCH", k],
            lambda: ["TYPE", k], lambda: ["RENAME", k, self.key()],
            lambda: ["RENAMENX", k, self.key()],
            lambda: ["COPY", k, self.key(), *r.choice([[], ["REPLACE"], ["DB", 1], ["DB", 99],
                                                       ["BAD"]])],
            lambda: ["MOVE", k, r.choice([1, 0, 99, "x"])],
            lambda: ["EXPIRE", k, r.choice([1000, 2000, 2**62, "x", -1]),
                     *r.choice([[], [], ["NX"], ["XX"], ["GT"], ["LT"], ["NX", "GT"], ["BAD"]])],
            lambda: ["PEXPIREAT", k, 4000000000000], lambda: ["EXPIREAT", k, 4000000001],
            lambda: ["PERSIST", k], lambda: ["EXPIRETIME", k], lambda: ["PEXPIRETIME", k],
            lambda: ["OBJECT", "ENCODING", k], lambda: ["OBJECT", "BAD"],
            lambda: ["KEYS", r.choice(["*", "s*", "[st]1", "?1*", "l[^2-5]", "\\s1"])],
            lambda: ["DUMP", self.key("s")], lambda: ["DUMP", self.key("l")],
            lambda: ["RESTORE", k, r.choice([0, 0, 100000, -1, "x"]),
                     r.choice(self.DUMPED)[: r.choice([None, None, -1])],
                     *r.choice([[], ["REPLACE"], ["REPLACE", "ABSTTL"], ["BAD"]])],
            lambda: ["DBSIZE"], lambda: ["SELECT", r.choice([0, 0, 1, 16, "x"])],
            lambda: ["SELECT", 0],
        ])()

    def others(self):
        r = self.random
        return r.choice([
            lambda: ["PING"], lambda: ["PING", "x"], lambda: ["ECHO", self.value()],
            lambda: ["NOSUCHCOMMAND", "a", "b"], lambda: ["CONFIG", "BAD"],
            lambda: ["MULTI"], lambda: ["EXEC"], lambda: ["EXEC"], lambda: ["DISCARD"],
            lambda: ["WATCH", self.key()], lambda: ["UNWATCH"],
            lambda: ["FLUSHDB"] if r.random() < 0.02 else ["DBSIZE"],
            lambda: ["PUBLISH", "nobody", "x"], lambda: ["PUBSUB", "NUMPAT"],
            lambda: ["CLIENT", "SETNAME", r.choice(["name", "bad name"])],
            lambda: ["CLIENT", "GETNAME"], lambda: ["MEMORY", "USAGE", "nosuchkey"],
            lambda: ["OBJECT", "FREQ", self.key()], lambda: ["WAIT", 0, 0],
            lambda: r.choice(self.WITHOUT_EFFECT),
        ])()

    # DUMP replies of redis-server 7.0 for: SET 12345; SET abc; RPUSH 1 b; SADD 1 2; HSET a 1.
    DUMPED = [bytes.fromhex(each) for each in (
        "00c139300a009d94ea2793fc08b9",
        "00036162630a00d9ac303d4172a2e2",
        "1201020c0c00000002000101816202ff0a00f2fe24002bb1131c",
        "0b0c0200000002000000010002000a006f7938b134eb202e",
        "100c0c00000002008161020101ff0a0084a693e8aa17e4db",
    )]

    # Also sent without the last word.
    WITHOUT_EFFECT = [
        ["CLIENT", "TRACKING", "ON", "PREFIX", "a"], ["CLIENT", "TRACKING", "BAD"],
        ["CLIENT", "TRACKING", "ON", "BCAST", "OPTIN", "OPTIN"],
        ["CLIENT", "TRACKING", "ON", "OPTIN", "OPTOUT", "NOLOOP"],
        ["CLIENT", "TRACKING", "ON", "REDIRECT", 10**9], ["CLIENT", "TRACKING", "OFF", "BCAST"],
        ["CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", "a", "PREFIX", "ab"],
        ["CLIENT", "TRACKINGINFO"], ["CLIENT", "CACHING", "YES"], ["CLIENT", "GETREDIR"],
        ["CLIENT", "PAUSE", "x"], ["CLIENT", "PAUSE", -1], ["CLIENT", "PAUSE", 1, "BAD"],
        ["CLIENT", "PAUSE", 0], ["CLIENT", "UNPAUSE"], ["CLIENT", "PAUSE", 1, "ALL", "x"],
        ["LATENCY", "LATEST"], ["LATENCY", "HISTORY", "command"], ["LATENCY", "RESET"],
        ["LATENCY", "RESET", "command"], ["LATENCY", "GRAPH", "command"], ["LATENCY", "BAD"],
        ["SPUBLISH", "nobody", "x"], ["SUNSUBSCRIBE"],
        ["PUBSUB", "SHARDCHANNELS"], ["PUBSUB", "SHARDNUMSUB", "a", "b"],
        ["PUBSUB", "SHARDCHANNELS", "a", "b"],
        ["HSCAN", "nosuchkey", 0, "BAD"], ["SSCAN", "nosuchkey", 0, "BAD"],
        ["HSCAN", "nosuchkey", "x", "BAD"], ["SSCAN", "nosuchkey", "x"],
        ["ZSCAN", "nosuchkey", 5, "COUNT", 0],
        ["BLMPOP", "x", 0, "nosuchkey", "LEFT"], ["BLMPOP", "x", 1, "nosuchkey", "MIDDLE"],
        ["BLMPOP", "x", 1, "nosuchkey", "LEFT"], ["BLMPOP", -1, 1, "nosuchkey", "LEFT"],
        ["BZMPOP", "x", 0, "nosuchkey", "MIN"], ["BZMPOP", "x", 1, "nosuchkey", "MIN"],
        ["BLPOP", "nosuchkey", "x"], ["BLPOP", "nosuchkey", -1],
        ["CONFIG", "SET", "client-output-buffer-limit", "normal 1 2"],
        ["CONFIG", "SET", "client-output-buffer-limit", "nobody 1 2 3"],
        ["CONFIG", "SET", "client-output-buffer-limit", "slave 1 1 -1"],
        ["CONFIG", "SET", "client-output-buffer-limit", "pubsub 32mb 8mb 60 replica 0 0 1"],
        ["CONFIG", "GET", "client-output-buffer-limit"],
    ]

    FAMILIES = [strings, strings, bits, lists, lists, sets, sets, hashes, hashes, keys,
                others, sorting, sorting, common_text, estimates, points, scripts]
