"""Random, seeded commands on streams: few keys, groups and ids, that often collide, and mistakes of
all kinds."""

import random
import re

HIGHEST = 2**64 - 1
BAD_IDS = ["-", "+", "$", ">", "", "abc", "1-", "-1", "1-2-3", "1-x", "x-1", f"{2**64}-0",
           f"1-{2**64}", " 1-1", "+2-1", "1- 2", "1--2", "1--02", "01-02", "1-+3", "1-*", "(",
           "(1-1", "((1", "1" * 200, "\0001", "1-1\0x", "-\0", "(-", "(+", "0x5-1", "1.5-0"]


class StreamCommands:
    def __init__(self, seed, with_groups=True):
        self.random = random.Random(seed)
        self.with_groups = with_groups
        self.position = 0

    def next(self):
        r = self.random
        makers = [(self.xadd, 40), (self.range, 10), (self.xdel, 8), (self.xtrim, 3),
                  (self.xsetid, 2), (self.other, 4)]
        if self.with_groups:
            makers += [(self.xreadgroup, 20), (self.xread, 6), (self.xgroup, 10), (self.xack, 8),
                       (self.xpending, 8), (self.xclaim, 8), (self.xautoclaim, 6), (self.xinfo, 8)]
        makers, weights = zip(*makers)
        request = r.choices(makers, weights)[0]()
        if r.random() < 0.02 and len(request) > 2:
            del request[r.randrange(1, len(request))]
        if r.random() < 0.01 and len(request) > 1:
            request.insert(r.randrange(2, len(request) + 1), r.choice(BAD_IDS))
        if r.random() < 0.05:
            request[0] = request[0].lower()
        return request

    def key(self):
        r = self.random
        return "text" if r.random() < 0.01 else f"stream:{r.randrange(4)}"

    def group(self):
        return self.random.choice(["g1", "g2", "group three", "g\0x", "7"])

    def consumer(self):
        return self.random.choice(["alice", "bob", "carol", "", "12", "a\0b", "al"])

    def id(self):
        r = self.random
        if r.random() < 0.03:
            return r.choice(BAD_IDS)
        return r.choice([
            lambda: str(r.randrange(300)), lambda: f"{r.randrange(300)}-{r.randrange(3)}",
            lambda: f"{r.randrange(300)}-{r.randrange(3)}", lambda: "0", lambda: "0-0",
            lambda: f"{HIGHEST}-{HIGHEST}" if r.random() < 0.1 else "5-1",
            lambda: f"{HIGHEST}-{r.randrange(5)}" if r.random() < 0.1 else "7-0",
            lambda: f"9-{HIGHEST}" if r.random() < 0.2 else "8-0",
        ])()

    def end(self):
        r = self.random
        return r.choice([lambda: "-", lambda: "+", self.id, lambda: "(" + self.id()])()

    def count(self):
        r = self.random
        return r.choice([r.randrange(-2, 20), r.randrange(1, 200), r.randrange(5),
                         r.choice([-2**63, 2**63 - 1, 2**63, "x", ""])
                         if r.random() < 0.1 else 3])

    def fields(self):
        r = self.random
        if r.random() < 0.6:
            names = ["name", "value"]
        else:
            names = [r.choice(["name", "value", 5, "-7", "long" * 30, ""])
                     for _ in range(r.randrange(1, 4))]
        found = []
        for name in names:
            found += [name, r.choice([
                lambda: r.randrange(100), lambda: r.randrange(-2**63, 2**63),
                lambda: "v" * r.randrange(90), lambda: r.randbytes(r.randrange(30)),
                lambda: "x" * r.randrange(5000) if r.random() < 0.1 else "short",
            ])()]
        return found

    def trimming(self):
        r = self.random
        sign = r.choice([[], ["="], ["~"], ["~"]])
        if r.random() < 0.6:
            words = [r.choice(["MAXLEN", "maxlen"]), *sign,
                     r.choice([r.randrange(300), r.randrange(300), 0, -1, "x"])]
        else:
            words = ["MINID", *sign, self.id()]
        if r.random() < 0.2 and (sign == ["~"] or r.random() < 0.3):
            words += ["LIMIT", r.choice([0, 1, 50, 100, 150, 250, -1, "x"])]
        if r.random() < 0.02:
            words += ["MAXLEN", 5]
        return words

    def xadd(self):
        r = self.random
        words = ["XADD", self.key()]
        if r.random() < 0.1:
            words.append("NOMKSTREAM")
        if r.random() < 0.1:
            words += self.trimming()
        words.append(r.choice([
            lambda: f"{r.randrange(300)}-*", lambda: f"{r.randrange(300)}-*", self.id,
            lambda: f"{HIGHEST}-*" if r.random() < 0.005 else "300-*", lambda: "300-*",
            lambda: "0-*",
        ])())
        return words + self.fields()

    def range(self):
        r = self.random
        words = r.choice([["XRANGE", self.key(), self.end(), self.end()],
                          ["XREVRANGE", self.key(), self.end(), self.end()],
                          ["XRANGE", self.key(), "-", "+"], ["XREVRANGE", self.key(), "+", "-"]])
        if r.random() < 0.6:
            words += ["COUNT", self.count()]
        return words

    def xdel(self):
        return ["XDEL", self.key(), *(self.id() for _ in range(self.random.randrange(1, 4)))]

    def xtrim(self):
        return ["XTRIM", self.key(), *self.trimming()]

    def xsetid(self):
        r = self.random
        # Behind all ids that were given out: Redis loses entries of a stream that is set back.
        self.position += 1000
        words = ["XSETID", self.key(), f"300-{self.position}"]
        if r.random() < 0.3:
            words += ["ENTRIESADDED", r.choice([0, 10, 1000, 1000, -1, "x"])]
        if r.random() < 0.3:
            words += ["MAXDELETEDID", self.id()]
        return words

    def other(self):
        key, r = self.key(), self.random
        return r.choice([
            ["XLEN", key], ["TYPE", key], ["OBJECT", "ENCODING", key], ["DUMP", key],
            ["DEL", key] if r.random() < 0.2 else ["EXISTS", key],
            ["COPY", key, self.key(), "REPLACE"] if r.random() < 0.3 else ["XLEN", key],
            ["RENAME", key, self.key()] if r.random() < 0.3 else ["XLEN", key],
            ["SET", "text", "x"], ["GET", key],
        ])

    # --- groups

    def streams(self):
        r = self.random
        keys = [self.key() for _ in range(r.choice([1, 1, 1, 2, 3]))]
        return keys

    def xread(self):
        r = self.random
        words = ["XREAD"]
        if r.random() < 0.5:
            words += ["COUNT", self.count()]
        if r.random() < 0.05:
            words += r.choice([["NOACK"], ["GROUP", "g", "c"], ["BLOCK", "x"], ["BLOCK", -1]])
        keys = self.streams()
        ids = [r.choice([self.id(), self.id(), "$"]) for _ in keys]
        return [*words, "STREAMS", *keys, *ids]

    def xreadgroup(self):
        r = self.random
        words = ["XREADGROUP", "GROUP", self.group(), self.consumer()]
        if r.random() < 0.6:
            words += ["COUNT", self.count()]
        if r.random() < 0.15:
            words.append("NOACK")
        keys = self.streams()
        ids = [r.choice([">", ">", ">", self.id(), "0"]) for _ in keys]
        if r.random() < 0.01:
            ids[0] = "$"
        return [*words, "STREAMS", *keys, *ids]

    def xgroup(self):
        r = self.random
        key, group = self.key(), self.group()
        read = ["ENTRIESREAD", r.choice([0, 3, 50, -1, -2, "x"])] if r.random() < 0.3 else []
        return r.choice([
            lambda: ["XGROUP", "CREATE", key, group, r.choice(["$", "0", self.id()]), *read,
                     *(["MKSTREAM"] if r.random() < 0.5 else [])],
            lambda: ["XGROUP", "CREATE", key, group, r.choice(["$", "0"]), "MKSTREAM"],
            lambda: ["XGROUP", "SETID", key, group, r.choice(["$", "0", "-", self.id()]), *read],
            lambda: ["XGROUP", "DESTROY", key, group] if r.random() < 0.3 else
                    ["XGROUP", "CREATE", key, group, "0"],
            lambda: ["XGROUP", "CREATECONSUMER", key, group, self.consumer()],
            lambda: ["XGROUP", "DELCONSUMER", key, group, self.consumer()],
            lambda: r.choice([["XGROUP"], ["XGROUP", "HELP"], ["XGROUP", "HELP", "x"],
                              ["XGROUP", "NOSUCH", key], ["XGROUP", "CREATE", key]]),
        ])()

    def xack(self):
        return ["XACK", self.key(), self.group(),
                *(self.id() for _ in range(self.random.randrange(1, 5)))]

    def xpending(self):
        r = self.random
        words = ["XPENDING", self.key(), self.group()]
        if r.random() < 0.3:
            return words
        if r.random() < 0.3:
            words += ["IDLE", r.choice([0, 50000, 10**9, -5, "x"])]
        words += [r.choice(["-", self.end()]), r.choice(["+", self.end()]), self.count()]
        if r.random() < 0.5:
            words.append(self.consumer())
        return words

    def xclaim(self):
        r = self.random
        words = ["XCLAIM", self.key(), self.group(), self.consumer(),
                 r.choice([0, 0, 50000, 10**9, -1, "x" if r.random() < 0.1 else 0]),
                 *(self.id() for _ in range(r.randrange(1, 5)))]
        for option in (["FORCE"], ["JUSTID"], ["IDLE", r.choice([100000, 10**8, -5, 0])],
                       ["TIME", r.choice([100000, -1, 10**14])], ["LASTID", self.id()],
                       ["RETRYCOUNT", r.choice([0, 5, -1, 2**40])],
                       ["NOSUCH"], ["RETRYCOUNT", "x"], ["IDLE", "x"], ["TIME", ""]):
            if r.random() < (0.15 if "x" not in option and "NOSUCH" not in option else 0.01):
                words += option
        return words

    def xautoclaim(self):
        r = self.random
        words = ["XAUTOCLAIM", self.key(), self.group(), self.consumer(),
                 r.choice([0, 0, 50000, 10**9, -1, "x" if r.random() < 0.1 else 0]),
                 r.choice(["0", "-", self.end()])]
        if r.random() < 0.5:
            words += ["COUNT", self.count()]
        if r.random() < 0.3:
            words.append("JUSTID")
        return words

    def xinfo(self):
        r = self.random
        key = self.key()
        return r.choice([
            lambda: ["XINFO", "STREAM", key], lambda: ["XINFO", "GROUPS", key],
            lambda: ["XINFO", "STREAM", key, "FULL"],
            lambda: ["XINFO", "STREAM", key, "FULL", "COUNT", self.count()],
            lambda: ["XINFO", "CONSUMERS", key, self.group()],
            lambda: r.choice([["XINFO"], ["XINFO", "HELP"], ["XINFO", "NOSUCH", key],
                              ["XINFO", "STREAM", key, "x"], ["XINFO", "GROUPS", key, "x"],
                              ["XINFO", "STREAM", key, "FULL", "x", 1]]),
        ])()


PENDING = re.compile(rb"(\*4\r\n\$\d+\r\n\d+-\d+\r\n\$\d+\r\n[^\r]*\r\n):(\d+)\r\n")
IDLE = re.compile(rb"\$4\r\nidle\r\n:\d+\r\n")
TIME = re.compile(rb":[12]\d{12}\r\n")


def without_times(request, reply):
    """Returns the reply without what depends on the clock."""
    name = str(request[0]).upper()
    if name == "XPENDING":
        # Entries that are long idle were made so by XCLAIM.
        return PENDING.sub(lambda found: found[1] + b":idle %d\r\n" % (int(found[2]) // 20000),
                           reply)
    if name == "XINFO":
        return TIME.sub(b":time\r\n", IDLE.sub(b":idle\r\n", reply))
    if name == "DUMP" and has_groups(reply):
        return b"%d bytes" % len(reply)
    return reply


def has_groups(reply):
    """Reports whether the reply is the dump of a stream with groups, in which there are times."""
    return reply[:1] == b"$" and re.search(rb"\x02g1|\x02g2|\x0bgroup|\x03g\0x|\xc0\x07", reply)
