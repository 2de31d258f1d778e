"""Client-side caching: the same conversations with a cache and with a real redis-server, comparing
every byte that any connection receives. Pauses and shard channels are tested in the same way."""

import hashlib
import re
import time

import pytest

from resp_wire import Wire
from test_cache import new_cache


class Talk:
    """What several connections to one server send and receive."""

    def __init__(self, port):
        self.port = port
        self.wires = {}
        self.ids = {}
        self.marks = 0
        self.queueing = None
        self.heard = []

    def open(self, name, protocol):
        self.wires[name] = Wire(self.port, protocol)
        self.ids[name] = self.wires[name].ask("CLIENT", "ID")[1:-2]

    def close(self, name):
        self.wires.pop(name).close()
        # Another client checks that the connection is gone.
        watcher = Wire(self.port)
        while b"id=%s " % self.ids[name] in watcher.ask("CLIENT", "LIST"):
            time.sleep(0.01)
        watcher.close()

    def hear(self, name):
        """Returns all data that a connection has received so far."""
        self.marks += 1
        mark = b"mark-%d" % self.marks
        wire = self.wires[name]
        wire.send("PING", mark)
        data = b""
        while not data.endswith(mark + b"\r\n"):
            part = wire.socket.recv(1 << 16)
            assert part, f"{name} was hung up on; so far {data!r}"
            data += part
        return data

    def without_ids(self, words, data):
        """Returns the data without client ids, which differ between the servers."""
        start = b"|^" if words[-1] == "GETREDIR" else b""

        def name(match):
            names = [other for other, number in self.ids.items() if number == match[2]]
            return match[1] + b":" + "".join(names or ["0"]).encode() + b"\r\n"

        return re.sub(rb"(redirect\r\n|redir-broken\r\n%s):(\d+)\r\n" % start, name, data)

    def is_queueing(self, name, words):
        """Reports whether the connection is in a transaction, which would also queue a mark."""
        if words[0] in ("MULTI", "EXEC"):
            self.queueing = name if words[0] == "MULTI" else None
        return self.queueing == name

    def say(self, name, *words):
        known = {f"<{other}>": number for other, number in self.ids.items()}
        self.wires[name].send(*[known.get(word, word) for word in words])
        # Messages about the command arrive after its first reply and before the mark.
        first = self.wires[name].receive()
        data = first + self.wires[name].rest
        self.wires[name].rest = b""
        if not self.is_queueing(name, words):
            data += self.hear(name)
        self.heard.append((name, words, self.without_ids(words, data)))
        for other in self.wires:
            if other != name:
                data = self.without_ids(words, self.hear(other))
                self.heard.append((f"{other} hears", words, data))


def play(port, script):
    talk = Talk(port)
    for line in script:
        name, *words = line
        if words[0] == "open":
            talk.open(name, words[1])
        elif words[0] == "close":
            talk.close(name)
        else:
            talk.say(name, *words)
    return talk.heard


def words_of(text):
    return [tuple(line.split()) for line in text.strip().splitlines() if line.strip()]


def tracks(options=""):
    """Starts a script: `one` tracks with these options, and `other` is there to make changes."""
    return [("one", "open", 3), ("other", "open", 2),
            ("one", *f"CLIENT TRACKING ON {options}".split()), ("one", "CLIENT", "TRACKINGINFO")]


SCRIPTS = {
    "what was read is told once": tracks() + words_of("""
        one GET k
        one MGET k l
        other SET k 1
        other SET k 2
        other SET l 1
        one GET k
        other DEL k
        one EXISTS k
        other EXPIRE k 100
        other SET k 1
        one STRLEN k
        other RENAME k m
        one TTL m
        other COPY l m REPLACE
        one HGETALL h
        other HSET h f v
        one SORT_RO s
        other RPUSH s 1 2
        one OBJECT ENCODING s
        other RPOPLPUSH s s2
        one CLIENT TRACKING OFF
        one GET k
        other SET k 3"""),
    "of one's own changes one hears behind the reply": tracks() + words_of("""
        one GET k
        one SET k 1
        one GET k
        one MULTI
        one SET k 2
        one GET k
        one DEL k
        one EXEC
        one GET k
        one FLUSHALL
        one GET k
        one MULTI
        one SET k 1
        one FLUSHDB
        one EXEC"""),
    "unless they do not want to": tracks("NOLOOP") + words_of("""
        one GET k
        one SET k 1
        one GET k
        other SET k 2
        one GET k
        one FLUSHALL"""),
    "flushing says so to all": tracks() + words_of("""
        other FLUSHALL
        other FLUSHDB ASYNC
        one GET k
        other SWAPDB 0 1
        other SET k 1"""),
    "opting in": tracks("OPTIN") + words_of("""
        one GET k
        other SET k 1
        one CLIENT CACHING NO
        one CLIENT CACHING YES
        one CLIENT TRACKINGINFO
        one GET k
        other SET k 2
        one CLIENT TRACKING ON OPTOUT
        one CLIENT CACHING BAD"""),
    "opting out": tracks("OPTOUT") + words_of("""
        one GET k
        other SET k 1
        one CLIENT CACHING YES
        one CLIENT CACHING NO
        one CLIENT TRACKINGINFO
        one GET k
        other SET k 2
        one CLIENT TRACKING ON OPTIN
        one CLIENT TRACKING ON
        one CLIENT TRACKING ON OPTIN"""),
    "prefixes": tracks("BCAST PREFIX user: PREFIX item:") + words_of("""
        other SET user:1 a
        other SET other:1 a
        other MSET item:2 a item:1 b user:7 c
        other DEL user:1 item:1
        one SET user:2 b
        one CLIENT TRACKING ON BCAST PREFIX use
        one CLIENT TRACKING ON BCAST PREFIX new: NOLOOP
        one CLIENT TRACKINGINFO
        one SET new:1 b
        other SET new:1 b
        one CLIENT TRACKING ON
        one CLIENT TRACKING OFF
        one CLIENT TRACKINGINFO
        other SET user:1 a"""),
    "all keys": tracks("BCAST") + words_of("""
        one CLIENT TRACKINGINFO
        other SET k 1
        other MULTI
        other SET b 1
        other SET a 1
        other SET b 2
        other EXEC
        one GET k
        other EXPIRE k -1
        other FLUSHALL
        one RESET"""),
    "another connection hears": words_of("""
        ear open-2
        one open-2
        other open-2
        ear SUBSCRIBE __redis__:invalidate
        one CLIENT TRACKING ON REDIRECT <ear>
        one CLIENT GETREDIR
        one CLIENT TRACKINGINFO
        one GET k
        other SET k 1
        one GET k
        one SET k 2
        other FLUSHALL
        one CLIENT TRACKING ON REDIRECT <ear> REDIRECT <other>
        one GET k
        ear UNSUBSCRIBE
        other SET k 1"""),
    "until it is gone": words_of("""
        ear open-3
        one open-3
        other open-2
        one CLIENT TRACKING ON REDIRECT <ear>
        one GET k
        other SET k 1
        one GET k
        ear close
        other SET k 2
        one CLIENT TRACKINGINFO
        one CLIENT TRACKING ON
        one CLIENT TRACKINGINFO
        one CLIENT GETREDIR"""),
    "one hears for oneself": words_of("""
        one open-2
        other open-2
        one CLIENT TRACKING ON REDIRECT <one>
        one GET k
        one SUBSCRIBE __redis__:invalidate
        other SET k 1"""),
    "keyspace events": words_of("""
        ear open-3
        one open-2
        one CONFIG SET notify-keyspace-events KEAmn
        ear PSUBSCRIBE __key*__:*
        one TYPE k
        one TTL k
        one PEXPIRETIME k
        one EXISTS k k
        one TOUCH k
        one OBJECT ENCODING k
        one MEMORY USAGE k
        one SORT k STORE l
        one LCS k l
        one RPUSH k 2 1
        one SORT k STORE l
        one SORT_RO k BY w* GET v*
        one SORT nokey STORE l
        one HSCAN k2 0
        one UNLINK k k2"""),
    "a script that reads reads all that it declares": tracks() + [
        ("one", "EVAL", "return redis.call('SET', 'w', 1)", 2, "k", "l"),
        ("other", "MSET", "l", 1, "k", 1),
        ("one", "EVAL", "return redis.call('GET', 'k')", 2, "k", "l"),
        ("other", "MSET", "l", 2, "k", 2),
        ("one", "EVAL_RO", "return redis.call('PING')", 2, "k", "l"),
        ("other", "MSET", "l", 3, "k", 3),
        ("one", "EVAL_RO", "return redis.call('GET', 'k')", 2, "k", "l"),
        ("other", "MSET", "l", 4, "k", 4)],
    "shard channels": words_of("""
        one open-3
        two open-2
        other open-2
        one SSUBSCRIBE a b
        two SSUBSCRIBE a
        two SUBSCRIBE a
        two GET k
        two PUBLISH a x
        other SPUBLISH a hello
        other PUBLISH a hello
        other SPUBLISH c hello
        other PUBSUB CHANNELS
        other PUBSUB SHARDCHANNELS a*
        other PUBSUB SHARDNUMSUB a b c
        other PUBSUB NUMSUB a
        two SUNSUBSCRIBE a
        two UNSUBSCRIBE
        two GET k
        one SUNSUBSCRIBE b
        one SUNSUBSCRIBE
        other SPUBLISH a nobody"""),
}


def opened(script):
    return [(line[0], "open", int(line[1][-1])) if str(line[1]).startswith("open-") else line
            for line in script]


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS.keys())
def test_all_connections_hear_what_redis_tells_them(daemon, redis, script):
    ours, theirs = (play(port, opened(script)) for port in (new_cache(daemon), redis.port))
    for our, their in zip(ours, theirs, strict=True):
        assert our == their


def test_an_expired_key_is_told_of(daemon):
    port = new_cache(daemon)
    one, other = Wire(port, 3), Wire(port)
    one.ask("CLIENT", "TRACKING", "ON")
    other.ask("SET", "k", "v", "PX", "50")
    assert one.ask("GET", "k") == b"$1\r\nv\r\n"
    assert one.receive() == b">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n"


def test_no_more_keys_are_remembered_than_configured(daemon):
    port = new_cache(daemon)
    one = Wire(port, 3)
    one.ask("CONFIG", "SET", "tracking-table-max-keys", "1")
    one.ask("CLIENT", "TRACKING", "ON")
    assert one.ask("GET", "a") == b"_\r\n"
    one.send("GET", "b")
    heard = [one.receive(), one.receive()]
    assert b"_\r\n" in heard
    assert sum(b"invalidate" in each for each in heard) == 1


@pytest.mark.parametrize("options", [(), ("NOLOOP",), ("OPTOUT",)])
def test_who_has_read_a_key_that_is_forgotten_is_told(daemon, options):
    port = new_cache(daemon)
    one, two, other = Wire(port, 3), Wire(port, 3), Wire(port)
    for wire in (one, two):
        wire.ask("CLIENT", "TRACKING", "ON", *options)
        wire.ask("GET", "shared")
    for key in "abc":
        one.ask("GET", key)
    assert b"tracking_total_keys:4\r\ntracking_total_items:5\r\n" in other.ask("INFO", "stats")
    other.ask("CONFIG", "SET", "tracking-table-max-keys", "1")
    heard = [one.receive() for _ in range(3)]
    assert all(each.startswith(b">2\r\n$10\r\ninvalidate") for each in heard)
    # The next key that is read displaces the remaining one, or is displaced at once.
    one.send("GET", "d")
    heard = [one.receive(), one.receive()]
    assert b"_\r\n" in heard and any(b"invalidate" in each for each in heard)
    assert b"tracking_total_keys:1\r\n" in other.ask("INFO", "stats")


@pytest.mark.parametrize("words", [("WRITE",), ("ALL",), ()])
def test_a_pause_puts_off_what_it_is_to(daemon, words):
    port = new_cache(daemon)
    one, other = Wire(port), Wire(port)
    assert one.ask("CLIENT", "PAUSE", "60000", "WRITE") == b"+OK\r\n"
    # Reads continue; a write waits, and so do the client's requests after it.
    assert other.ask("GET", "k") == b"$-1\r\n"
    other.send("SET", "k", "v")
    other.send("GET", "k")
    assert other.is_silent()
    assert one.ask("EXISTS", "k") == b":0\r\n"
    assert one.ask("CLIENT", "UNPAUSE") == b"+OK\r\n"
    assert other.receive() == b"+OK\r\n"
    assert other.receive() == b"$1\r\nv\r\n"
    # A pause of either kind ends by itself.
    assert one.ask("CLIENT", "PAUSE", "300", *words) == b"+OK\r\n"
    other.send("SET", "k", "w")
    assert other.receive() == b"+OK\r\n"
    assert one.ask("GET", "k") == b"$1\r\nw\r\n"


READING_SCRIPT = "#!lua flags=no-writes\nreturn 1"
LIBRARY = """#!lua name=few
redis.register_function{
  function_name='reads', callback=function() return 1 end, flags={'no-writes'}}
redis.register_function('may_write', function() return 1 end)"""


def digest(text):
    return hashlib.sha1(text.encode()).hexdigest()


SCRIPTS = [["EVAL", "return 1", "0"], ["EVAL", READING_SCRIPT, "0"],
           ["EVALSHA", digest(READING_SCRIPT).upper(), "0"], ["EVALSHA", digest("return 1"), "0"],
           ["EVALSHA_RO", digest("return 1"), "0"], ["FCALL", "reads", "0"],
           ["FCALL", "READS", "0"], ["FCALL", "may_write", "0"], ["FCALL", "missing", "0"],
           ["FCALL_RO", "reads", "0"],
           ["EVAL", "#!lua\nreturn 1", "0"], ["EVAL_RO", "return 1", "0"], ["PFCOUNT", "k"],
           ["PUBLISH", "c", "m"], ["SPUBLISH", "c", "m"], ["GET", "k"], ["MIGRATE", *"h1k00"],
           ["RESTORE-ASKING", "k", "0", "x"], ["EVALSHA", "0" * 40, "0"], ["SUBSCRIBE", "c"]]


@pytest.mark.parametrize("words", SCRIPTS, ids=" ".join)
def test_a_pause_of_writes_puts_off_what_redis_puts_off(daemon, redis, words):
    outcomes = []
    for port in (new_cache(daemon), redis.port):
        one, other = Wire(port), Wire(port)
        for text in ("return 1", READING_SCRIPT):
            one.ask("SCRIPT", "LOAD", text)
        assert one.ask("FUNCTION", "LOAD", LIBRARY) == b"$3\r\nfew\r\n"
        assert one.ask("CLIENT", "PAUSE", "60000", "WRITE") == b"+OK\r\n"
        other.send(*words)
        is_put_off = other.is_silent()
        assert one.ask("CLIENT", "UNPAUSE") == b"+OK\r\n"
        outcomes.append((is_put_off, other.receive()))
    assert outcomes[0] == outcomes[1]


def test_all_is_put_off_by_a_pause_of_all(daemon):
    port = new_cache(daemon)
    one, other = Wire(port), Wire(port)
    one.send("CLIENT", "PAUSE", "1000", "ALL")
    assert one.receive() == b"+OK\r\n"
    other.send("CLIENT", "UNPAUSE")
    other.send("PING")
    assert other.is_silent()
    assert [other.receive(), other.receive()] == [b"+OK\r\n", b"+PONG\r\n"]


def test_a_transaction_that_writes_waits_for_the_end_of_a_pause(daemon):
    port = new_cache(daemon)
    one, other = Wire(port), Wire(port)
    one.ask("CLIENT", "PAUSE", "60000", "WRITE")
    other.send("MULTI")
    other.send("GET", "k")
    other.send("EXEC")
    assert [other.receive() for _ in range(3)] == [b"+OK\r\n", b"+QUEUED\r\n", b"*1\r\n$-1\r\n"]
    other.send("MULTI")
    assert other.receive() == b"+OK\r\n"
    other.send("PUBLISH", "a", "b")
    assert other.is_silent()
    other.close()
    assert one.ask("CLIENT", "UNPAUSE") == b"+OK\r\n"
    assert one.ask("SET", "k", "v") == b"+OK\r\n"
