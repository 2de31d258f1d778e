"""Consumer groups in the log: a cache and a redis-server that are killed have the same groups when
they start again, and each of them has the other's groups when it loads the other's log.

    requests --> cache ---------> log --> SIGKILL --> cache, redis-server
            `--> redis-server --> log --> SIGKILL --> redis-server, cache
"""

import shutil

import pytest

from cache_commands import is_replicated
from cache_contents import assert_same, paired, parsed
from resp_wire import Wire
from strata_daemon import PATIENCE, eventually
from stream_commands import StreamCommands
from test_cache_storage import crash, new_cache, port_of, real_redis
from twin_servers import SAME_VERSION, new_seed

pytestmark = pytest.mark.once

LOGGED = ("--appendonly", "yes", "--appendfsync", "always")

GROUPS = """
XADD s 1-1 f a|XADD s 2-1 f b|XADD s 3-1 f c|XADD s 4-1 f d|XADD s 5-1 f e|XADD s 6-1 f f
XGROUP CREATE s g 0|XGROUP CREATE s behind 2-1 ENTRIESREAD 2|XGROUP CREATE s end $
XGROUP CREATE s gone 0|XREADGROUP GROUP gone c STREAMS s >|XGROUP DESTROY s gone
XGROUP CREATE made m $ MKSTREAM|XGROUP CREATE made n 0 ENTRIESREAD 7|XGROUP CREATECONSUMER made m c
XGROUP CREATECONSUMER s g silent|XREADGROUP GROUP g alice COUNT 3 STREAMS s >
XREADGROUP GROUP g bob COUNT 2 STREAMS s >|XREADGROUP GROUP g carol NOACK STREAMS s >
XREADGROUP GROUP end late STREAMS s >|XREADGROUP GROUP end quiet NOACK STREAMS s >
XREADGROUP GROUP behind dan NOACK COUNT 2 STREAMS s >|XACK s g 2-1|XACK s g 2-1 9-9
XCLAIM s g bob 0 3-1 TIME 1600000000000 RETRYCOUNT 9|XCLAIM s g eve 0 6-1 FORCE JUSTID
XCLAIM s g frank 0 1-1 JUSTID|XCLAIM s behind gina 0 1-1 FORCE LASTID 5-1
XGROUP DELCONSUMER s g eve|XGROUP DELCONSUMER s g nobody|XGROUP CREATECONSUMER s g eve
"""
REMOVED_ENTRIES = """
XADD d 1-1 f a|XADD d 2-1 f b|XADD d 3-1 f c|XADD d 4-1 f d|XADD d 5-1 f e|XADD d 6-1 f f
XGROUP CREATE d g 0|XGROUP CREATE d h 0|XREADGROUP GROUP g alice STREAMS d >
XREADGROUP GROUP h bob COUNT 4 STREAMS d >|XDEL d 1-1 3-1|XCLAIM d g carol 0 1-1 2-1
XAUTOCLAIM d h dora 0 0 COUNT 2|XTRIM d MINID 5-1|XAUTOCLAIM d g dora 0 0 JUSTID|XDEL d 6-1
XGROUP SETID d h 5-1|XADD e 1-1 f a|XGROUP CREATE e g 0|XREADGROUP GROUP g c STREAMS e >
XDEL e 1-1|XSETID e 9-9 ENTRIESADDED 20 MAXDELETEDID 4-4|XGROUP CREATE e h 0
"""
SET_BACK = """
XADD b 1-1 f a|XADD b 2-1 f b|XADD b 3-1 f c|XGROUP CREATE b g $|XGROUP SETID b g 0
XREADGROUP GROUP g c COUNT 1 STREAMS b >|XGROUP SETID b g 2-1 ENTRIESREAD 2|XGROUP CREATE b h 0
XREADGROUP GROUP h c NOACK COUNT 2 STREAMS b >|XGROUP SETID b h 1-1|XGROUP CREATE b i 0
XGROUP SETID b i $ ENTRIESREAD 3
"""
COPIES = """
XADD o 1-1 f a|XADD o 2-1 f b|XGROUP CREATE o g 0|XREADGROUP GROUP g c COUNT 1 STREAMS o >|COPY o p
RENAME o r|XREADGROUP GROUP g c STREAMS r >|SELECT 5|XADD o 1-1 f a|XGROUP CREATE o g 0|MULTI
XREADGROUP GROUP g c STREAMS o >|XGROUP CREATECONSUMER o g d|XACK o g 1-1|XADD o 2-1 f b
XREADGROUP GROUP g d NOACK STREAMS o >|EXEC|SELECT 0|COPY s t DB 5|MOVE p 5
"""
SCRIPT = """
redis.call('XADD', KEYS[1], '1-1', 'f', 'v') redis.call('XADD', KEYS[1], '2-1', 'f', 'v')
redis.call('XGROUP', 'CREATE', KEYS[1], 'g', '0')
redis.call('XREADGROUP', 'GROUP', 'g', 'c', 'STREAMS', KEYS[1], '>')
redis.call('XDEL', KEYS[1], '1-1') redis.call('XAUTOCLAIM', KEYS[1], 'g', 'd', 0, '0')
"""
REQUESTS = [call.split() for calls in (GROUPS, REMOVED_ENTRIES, SET_BACK, COPIES)
            for call in calls.strip().replace("\n", "|").split("|")]
REQUESTS.append(["EVAL", SCRIPT, 1, "scripted"])
STREAMS = [(0, b"b"), (0, b"d"), (0, b"e"), (0, b"made"), (0, b"r"), (0, b"s"), (0, b"scripted"),
           (0, b"w"), (5, b"o"), (5, b"p"), (5, b"t")]


class LoggedPair:
    """A cache and a redis-server that log each change before they reply to it."""

    def __init__(self, daemon, folder):
        self.daemon = daemon
        self.folder = folder
        self.log = folder / "db.aof"
        self.cache = new_cache(daemon, "--persistent", self.log, "--appendfsync", "always",
                               *SAME_VERSION)
        self.servers = [real_redis(folder / "redis", *LOGGED)]

    @property
    def redis(self):
        return self.servers[0].port

    @property
    def ports(self):
        return self.cache, self.redis

    def rewrite(self):
        for port in self.ports:
            wire = Wire(port)
            assert wire.ask("BGREWRITEAOF").startswith(b"+Background append only file rewriting")
            eventually(lambda: b"aof_rewrite_in_progress:0\r" in
                       wire.ask("INFO", "persistence"), "the log is rewritten")  # noqa: B023
            assert b"aof_last_bgrewrite_status:ok\r" in wire.ask("INFO", "persistence")

    def crash(self):
        """Kills both servers and starts them again."""
        self.cache = crash(self.daemon)
        self.servers[0].process.kill()
        self.servers[0].process.wait(PATIENCE)
        self.servers[0] = real_redis(self.folder / "redis", *LOGGED)

    def exchange_logs(self):
        """Returns the port of a redis-server that has loaded the cache's log, and of a cache that
        has loaded the redis-server's."""
        folder = self.folder / "exchanged"
        folder.mkdir()
        shutil.copy(self.log, folder / "appendonly.aof")
        self.servers.append(real_redis(folder, *LOGGED))
        (folder / "db.aof").write_bytes(log_of(self.folder / "redis" / "appendonlydir"))
        cache = new_cache(self.daemon, "--persistent", folder / "db.aof", "--appendfsync", "always",
                          *SAME_VERSION, name="exchanged")
        return self.servers[1].port, cache

    def crash_exchanged(self):
        """Kills the two servers that have exchanged logs, and returns their ports when they have
        started again."""
        crash(self.daemon)
        server = self.servers[1]
        server.process.kill()
        server.process.wait(PATIENCE)
        self.servers[1] = real_redis(self.folder / "exchanged", *LOGGED)
        eventually(lambda: self.daemon.show("exchanged")["state"] == "running", "it is restored")
        return self.servers[1].port, port_of(self.daemon, "exchanged")

    def close(self):
        for server in self.servers:
            server.close()


@pytest.fixture
def pair(daemon, tmp_path):
    servers = LoggedPair(daemon, tmp_path)
    yield servers
    servers.close()


def log_of(folder):
    """Returns the files of a redis-server's log as one: its snapshot, then the changes."""
    rows = [paired(line.split()) for line in
            (folder / "appendonly.aof.manifest").read_text().splitlines()]
    assert rows[0]["type"] == "b" and {row["type"] for row in rows[1:]} == {"i"}
    return b"".join((folder / row["file"]).read_bytes() for row in rows)


def run_requests(port, requests):
    reply = Wire(port).ask_all(requests)
    assert b"\r\n-" not in reply and reply[:1] != b"-", reply


def serve_waiting_readers(port):
    """Adds entries to a stream for whose groups two clients wait; one has NOACK."""
    wire = Wire(port)
    wire.ask_all([["XGROUP", "CREATE", "w", group, "$", "MKSTREAM"] for group in ("g", "h")])
    readers = []
    for group, options in (("g", []), ("h", ["NOACK"])):
        readers.append(Wire(port))
        readers[-1].send("XREADGROUP", "GROUP", group, "waiter", "BLOCK", 0, *options, "STREAMS",
                         "w", ">")
    eventually(lambda: b"blocked_clients:2\r" in wire.ask("INFO", "clients"), "both wait")
    wire.ask_all([["XADD", "w", "1-1", "f", "a"], ["XADD", "w", "2-1", "f", "b"]])
    for reader in readers:
        assert b"\r\n1-1\r\n" in reader.receive()
        reader.close()


def streams_of(port):
    """Returns all that clients can see of each stream's groups, without idle times."""
    wire = Wire(port)
    found = {}
    for database in (0, 5):
        wire.ask("SELECT", database)
        for key in parsed(wire.ask("KEYS", "*")):
            if wire.ask("TYPE", key) == b"+stream\r\n":
                found[database, key] = stream_of(wire, key)
    wire.close()
    return found


def stream_of(wire, key):
    stream = paired(parsed(wire.ask("XINFO", "STREAM", key, "FULL", "COUNT", 0)))
    stream[b"groups"] = groups_of(stream)
    listed = [paired(group) for group in parsed(wire.ask("XINFO", "GROUPS", key))]
    stream["listed"] = {group[b"name"]: group for group in listed}
    for name in stream[b"groups"]:
        pending = parsed(wire.ask("XPENDING", key, name, "-", "+", 1000))
        consumers = [paired(each) for each in parsed(wire.ask("XINFO", "CONSUMERS", key, name))]
        stream[name] = {
            "summary": parsed(wire.ask("XPENDING", key, name)),
            "pending": [(entry, consumer, count) for entry, consumer, _, count in pending],
            "consumers": [(each[b"name"], each[b"pending"]) for each in consumers]}
    return stream


def groups_of(stream):
    groups = {}
    for group in map(paired, stream[b"groups"]):
        consumers = [paired(each) for each in group[b"consumers"]]
        for consumer in consumers:
            del consumer[b"seen-time"]
        groups[group[b"name"]] = {**group, b"consumers": consumers}
    return groups


def without_times(streams):
    """Returns the streams without the times of deliveries, which are of each server's own."""
    copies = {}
    for key, stream in streams.items():
        groups = {}
        for name, group in stream[b"groups"].items():
            consumers = [{**each, b"pending": [(row[0], row[2]) for row in each[b"pending"]]}
                         for each in group[b"consumers"]]
            pending = [(row[0], row[1], row[3]) for row in group[b"pending"]]
            groups[name] = {**group, b"pending": pending, b"consumers": consumers}
        copies[key] = {**stream, b"groups": groups}
    return copies


def without_counts(streams):
    """Returns the streams without how many entries each group has read. Redis 7.0 does not log that
    for a delivery that is to be acknowledged."""
    counts = (b"entries-read", b"lag")
    copies = {}
    for key, stream in streams.items():
        parts = {part: {name: {field: value for field, value in group.items()
                               if field not in counts}
                        for name, group in stream[part].items()}
                 for part in (b"groups", "listed")}
        copies[key] = {**stream, **parts}
    return copies


def counts_of(streams):
    """Returns how many entries each group has read, by stream and group."""
    return {(*key, name): group[b"entries-read"] for key, stream in streams.items()
            for name, group in stream[b"groups"].items()}


def assert_logs_are_equal(pair, are_twins):
    """Kills both servers, and compares what each log, loaded by either, contains; with `are_twins`,
    also the two logs. Returns what the cache's log contains."""
    before = [streams_of(port) for port in pair.ports]
    pair.crash()
    ours, theirs = (streams_of(port) for port in pair.ports)
    for earlier, later in zip(before, (ours, theirs)):
        assert_same(without_counts(earlier), without_counts(later))
    if are_twins:
        assert_same(without_times(theirs), without_times(ours))
    by_redis, by_cache = (streams_of(port) for port in pair.exchange_logs())
    assert_same(ours, by_redis)
    assert_same(theirs, by_cache)
    return ours


@pytest.mark.parametrize("rewritten", ["never", "midway"])
def test_groups_survive_sigkill_and_the_other_server(pair, rewritten):
    half = REQUESTS.index(["XDEL", "d", "1-1", "3-1"])
    for port in pair.ports:
        run_requests(port, REQUESTS[:half])
    if rewritten == "midway":
        pair.rewrite()
    for port in pair.ports:
        run_requests(port, REQUESTS[half:])
        serve_waiting_readers(port)
    ours = assert_logs_are_equal(pair, are_twins=True)
    assert sorted(ours) == STREAMS
    counts = counts_of(ours)
    assert [counts[0, b"s", b"behind"], counts[0, b"made", b"n"], counts[0, b"b", b"g"],
            counts[0, b"b", b"i"], counts[0, b"w", b"h"]] == [4, 7, 2, 3, 1]


def test_a_rewritten_log_also_has_what_each_group_has_read(pair):
    for port in pair.ports:
        run_requests(port, REQUESTS)
        serve_waiting_readers(port)
    pair.rewrite()
    before = [streams_of(port) for port in pair.ports]
    assert counts_of(before[0])[0, b"d", b"g"] == 6
    pair.crash()
    for earlier, port in zip(before, pair.ports):
        assert_same(earlier, streams_of(port))
    by_redis, by_cache = (streams_of(port) for port in pair.exchange_logs())
    assert_same(before[0], by_redis)
    assert_same(before[1], by_cache)


def test_entries_that_are_read_again_have_the_count_of_redis_s_log(pair):
    """A consumer that reads its pending entries again delivers them once more; the log does not
    have that, in either server."""
    for port in pair.ports:
        run_requests(port, [["XADD", "s", "1-1", "f", "a"], ["XGROUP", "CREATE", "s", "g", "0"],
                            ["XREADGROUP", "GROUP", "g", "c", "STREAMS", "s", ">"],
                            ["XREADGROUP", "GROUP", "g", "c", "STREAMS", "s", "0"]])
        assert streams_of(port)[0, b"s"][b"g"]["pending"] == [(b"1-1", b"c", 2)]
    pair.crash()
    ours, theirs = (streams_of(port) for port in pair.ports)
    assert_same(without_times(theirs), without_times(ours))


LATER = """
XADD s 7-1 f g|XADD s 8-1 f h|XREADGROUP GROUP g zoe COUNT 1 STREAMS s >
XREADGROUP GROUP g alice NOACK STREAMS s >|XACK s g 4-1|XCLAIM s g zoe 0 1-1|XDEL s 5-1
XAUTOCLAIM s g alice 0 5-1|XGROUP CREATE s new 7-1 ENTRIESREAD 7|XGROUP DESTROY s end
"""


def test_a_log_that_the_other_server_has_loaded_grows(pair):
    for port in pair.ports:
        run_requests(port, REQUESTS)
    ports = pair.exchange_logs()
    for port in ports:
        run_requests(port, [call.split() for call in LATER.strip().replace("\n", "|").split("|")])
    before = [streams_of(port) for port in ports]
    for earlier, port in zip(before, pair.crash_exchanged()):
        later = streams_of(port)
        assert_same(without_counts(earlier), without_counts(later))
        assert counts_of(later)[0, b"s", b"g"] == 8


def test_random_groups_survive_sigkill_and_the_other_server(pair):
    seed = new_seed()
    for turn in range(3):
        for port in pair.ports:
            commands = StreamCommands(seed + turn)
            requests = [commands.next() for _ in range(1500)]
            Wire(port).ask_all([each for each in requests if is_replicated(each)])
        if turn == 0:
            pair.rewrite()
    # Ids that contain the time are not those of the other server.
    ours = assert_logs_are_equal(pair, are_twins=False)
    assert sum(len(stream[b"groups"]) for stream in ours.values()) > 2, seed
