"""Random, seeded scripts, functions and transactions that change several keys of several types."""

import hashlib
import random

# The keys of a script, one of each type.
KINDS = ["string", "list", "set", "hash", "zset", "stream", "geo", "estimate", "other"]

# Each is a statement on `keys`, which has a key of each kind, and on the words `args`.
EFFECTS = """
redis.call('INCRBY', keys[1], args[1])
redis.call('SET', keys[1], args[1], 'EX', 1000 + args[1])
redis.call('APPEND', keys[1], redis.call('TIME')[2]) redis.call('SET', keys[1], 7)
redis.call('RPUSH', keys[2], unpack(args))
redis.call('LPUSH', keys[2], math.random(1000), redis.call('TIME')[1])
redis.call('LTRIM', keys[2], 0, 40)
redis.call('LMOVE', keys[2], keys[2], 'LEFT', 'RIGHT')
redis.call('SADD', keys[3], unpack(args))
redis.call('SPOP', keys[3], 2)
local m = redis.call('SRANDMEMBER', keys[3]) if m then redis.call('HSET', keys[4], m, 1) end
redis.call('HSET', keys[4], args[2], args[1], 'field', args[3])
redis.call('HINCRBYFLOAT', keys[4], 'number', 0.25)
redis.call('HDEL', keys[4], args[2])
redis.call('ZADD', keys[5], args[1], args[2], 1.5, args[3])
redis.call('ZINCRBY', keys[5], 0.1, args[2])
redis.call('ZPOPMIN', keys[5])
redis.call('XADD', keys[6], '*', args[2], args[3])
redis.call('XADD', keys[6], 'MAXLEN', '~', 150, '*', args[2], args[3])
redis.call('XTRIM', keys[6], 'MAXLEN', 60)
redis.pcall('XGROUP', 'CREATE', keys[6], 'g' .. args[1] % 2, '0', 'MKSTREAM')
redis.pcall('XREADGROUP', 'GROUP', 'g0', args[2], 'COUNT', 3, 'STREAMS', keys[6], '>')
redis.pcall('XREADGROUP', 'GROUP', 'g1', args[3], 'COUNT', 5, 'NOACK', 'STREAMS', keys[6], '>')
redis.pcall('XAUTOCLAIM', keys[6], 'g0', args[3], 0, '-', 'COUNT', 2)
for _, p in ipairs(redis.pcall('XPENDING', keys[6], 'g0', '-', '+', 2)) do \
redis.call('XACK', keys[6], 'g0', p[1]) end
for _, p in ipairs(redis.pcall('XPENDING', keys[6], 'g0', '-', '+', 3)) do \
redis.call('XCLAIM', keys[6], 'g0', args[2], 0, p[1], 'RETRYCOUNT', 5) end
for _, e in ipairs(redis.call('XRANGE', keys[6], '-', '+', 'COUNT', 1)) do \
redis.call('XDEL', keys[6], e[1]) end
redis.call('GEOADD', keys[7], args[1] % 80, args[1] % 60, args[2])
redis.pcall('GEOSEARCHSTORE', keys[5], keys[7], 'FROMMEMBER', args[2], 'BYRADIUS', 900, 'km')
redis.call('PFADD', keys[8], unpack(args))
redis.call('SETBIT', keys[9], args[1], 1)
redis.call('PEXPIREAT', keys[4], 4000000000000 + args[1])
redis.call('EXPIRE', keys[2], 1000 + args[1])
redis.call('PERSIST', keys[2])
redis.call('PEXPIRE', keys[9], 1)
redis.call('DEL', keys[3], keys[8])
redis.call('COPY', keys[5], keys[7], 'REPLACE')
redis.call('RENAME', keys[9], keys[1])
redis.call('SELECT', 9) redis.call('INCR', 'total') redis.call('SELECT', 8)
redis.call('LPUSH', keys[1], 'an error ends the script, and keeps what it has done')
redis.pcall('INCR', keys[2])
redis.call('PUBLISH', 'channel', args[1])
""".strip().split("\n")


class ScriptCommands:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def next(self):
        """Returns requests that belong together."""
        makers = [self.script, self.script, self.cached, self.library, self.call, self.call,
                  self.transaction]
        return self.random.choice(makers)()

    def keys(self):
        number = self.random.randrange(4)
        return [len(KINDS), *(f"{kind}:{number}" for kind in KINDS)]

    def words(self):
        r = self.random
        return [r.randrange(500), *(r.choice([f"word{r.randrange(30)}", r.randrange(40),
                                              "long" * r.randrange(30), r.randbytes(9)])
                                    for _ in range(2))]

    def effects(self):
        return "\n".join(self.random.sample(EFFECTS, self.random.randrange(2, 9)))

    def text(self):
        return f"local keys, args = KEYS, ARGV\n{self.effects()}\nreturn #keys"

    def script(self):
        return [["EVAL", self.text(), *self.keys(), *self.words()]]

    def cached(self):
        """Returns a script that the server already knows when it runs for the second time."""
        text = self.text()
        digest = hashlib.sha1(text.encode()).hexdigest()
        return [["SCRIPT", "LOAD", text], ["EVALSHA", digest, *self.keys(), *self.words()],
                ["EVALSHA", digest, *self.keys(), *self.words()]]

    def library(self):
        """Returns a change of the libraries; the names of functions are their libraries'."""
        r = self.random
        name = f"library{r.randrange(4)}"
        if r.random() < 0.04:
            return [["FUNCTION", "FLUSH", r.choice(["SYNC", "ASYNC"])]]
        if r.random() < 0.3:
            return [["FUNCTION", "DELETE", name]]
        functions = "\n".join(f"redis.register_function('{name}_{number}', function(keys, args)\n"
                              f"{self.effects()}\nend)" for number in range(2))
        return [["FUNCTION", "LOAD", "REPLACE", f"#!lua name={name}\n{functions}"]]

    def call(self):
        name = f"library{self.random.randrange(4)}_{self.random.randrange(2)}"
        return [["FCALL", name, *self.keys(), *self.words()]]

    def transaction(self):
        r = self.random
        between = [[], [["SELECT", 9], ["INCR", "total"], ["SELECT", 8]]]
        return [["MULTI"], *self.script(), *r.choice(between), *self.call(),
                ["XADD", f"stream:{r.randrange(4)}", "*", "in", "a transaction"],
                ["SPOP", f"set:{r.randrange(4)}"], [r.choice(["EXEC", "EXEC", "EXEC", "DISCARD"])]]
