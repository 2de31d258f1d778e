"""Chains of caches and real redis-servers, each of which follows the one before it over a link
that is cut again and again."""

import random
import time

import pytest

from cache_commands import Commands, is_replicated
from cache_contents import assert_same, contents, field_times, libraries, parsed, streams
from resp_wire import RedisServer, Wire
from script_commands import ScriptCommands
from strata_daemon import PATIENCE, eventually
from stream_commands import StreamCommands
from test_cache_geo import Commands as GeoCommands
from test_cache_hash_expiry_copies import random_calls as field_calls
from test_cache_hyperloglog import Commands as EstimateCommands
from test_cache_replication import CUTS, info, new_cache
from test_cache_sorted_sets import Commands as SortedSetCommands
from twin_servers import new_seed

# leader <- proxy <- follower <- proxy <- follower ...; each is a cache or a redis-server
CHAINS = ["cache cache cache", "redis cache cache", "cache cache redis", "cache redis cache",
          "cache cache cache cache", "redis cache cache redis"]
OF_THREE = CHAINS[:4]
BACKLOG = 128 << 10


@pytest.fixture
def make_chain(daemon, proxies, tmp_path):
    """Yields a function that makes a chain and returns its ports, and the proxies between them."""
    servers = []

    def make(kinds):
        ports, links = [], []
        version = ["--redis-version", "7.0"] if "redis" in kinds else []
        for place, kind in enumerate(kinds):
            if kind == "cache":
                ports.append(new_cache(daemon, f"db{place}", *version))
            else:
                servers.append(RedisServer(tmp_path / f"redis{place}",
                                           "--repl-diskless-sync-delay", "0",
                                           "--repl-ping-replica-period", "1"))
                ports.append(servers[-1].port)
            if place:
                links.append(proxies(ports[place - 1]))
                wire = Wire(ports[place])
                assert wire.ask("REPLICAOF", "127.0.0.1", links[-1].port) == b"+OK\r\n"
                wire.close()
        return ports, links

    yield make
    for each in servers:
        each.close()


def configure(ports, name, value):
    for port in ports:
        wire = Wire(port)
        assert wire.ask("CONFIG", "SET", name, value) == b"+OK\r\n"
        wire.close()


def await_chain(leader, ports):
    """Waits until every follower has the leader's last write."""
    mark = random.randbytes(8).hex()
    leader.ask("SET", "last", mark)
    for port in ports:
        wire = Wire(port)
        eventually(lambda: mark.encode() in wire.ask("GET", "last"),  # noqa: B023
                   "the last write has reached the whole chain")
        wire.close()


@pytest.mark.parametrize("kinds", CHAINS)
def test_a_chain_has_the_leaders_data_after_every_cut(make_chain, kinds):
    rng = random.Random(new_seed())
    ports, links = make_chain(kinds.split())
    leader = Wire(ports[0])
    leader.ask("CONFIG", "SET", "repl-backlog-size", 16384)
    await_chain(leader, ports)
    for turn in range(CUTS):
        link = rng.choice(links)
        if turn % 2:
            # More than the backlog holds, so the follower below the cut needs a snapshot.
            link.pause()
            leader.ask_all([["SET", f"wide:{turn}:{i}", "x" * 1000] for i in range(100)]
                           + [["DEL", f"wide:{turn - 2}:{i}"] for i in range(50)])
            link.resume()
        else:
            leader.ask_all([["INCR", f"count:{i}"] for i in range(100)])
            link.cut()
            leader.ask_all([["APPEND", f"count:{i}", "0"] for i in range(100)])
    await_chain(leader, ports)
    before = contents(ports[0])
    for port in ports[1:]:
        assert_same(before, contents(port))


def test_a_chain_follows_another_leader(make_chain):
    (old, first, last), _ = make_chain(["cache"] * 3)
    (other,), _ = make_chain(["redis"])
    leader, second = Wire(old), Wire(other)
    leader.ask("SET", "old", "1")
    await_chain(leader, [first, last])
    second.ask("SET", "new", "1")
    Wire(first).ask("REPLICAOF", "127.0.0.1", other)
    await_chain(second, [first, last])
    assert_same(contents(other), contents(last))


def library_dump(port):
    return {"dump": Wire(port).ask("FUNCTION", "DUMP")}


class Traffic:
    """Random commands of all types to a leader; each kind has a database of its own."""

    def __init__(self, seed, port, has_field_times):
        self.random = random.Random(seed)
        self.wire = Wire(port)
        self.waiting = Wire(port)
        self.generators = {0: Commands(seed), 3: SortedSetCommands(seed), 4: StreamCommands(seed),
                           5: GeoCommands(seed), 6: EstimateCommands(seed, forges=False),
                           8: ScriptCommands(seed)}
        self.databases = [*self.generators] + [7] * has_field_times

    def requests(self, database, count):
        if database == 7:
            return field_calls(self.random, count)
        made = [self.generators[database].next() for _ in range(count)]
        # Some generators return several requests at once.
        return [request for each in made
                for request in (each if isinstance(each[0], list) else [each])
                if is_replicated(request)]

    def send(self, turns, count):
        """Sends `count` commands at a time, of one kind each."""
        for _ in range(turns):
            self.begin_waiting()
            for database in self.random.sample(self.databases, len(self.databases)):
                self.wire.ask_all([["SELECT", database], *self.requests(database, count),
                                   ["DISCARD"], ["SELECT", 0]])
            self.waiting.receive()

    def begin_waiting(self):
        """Sends a request that mostly has to wait for an element or an entry."""
        database, words = self.random.choice([
            (0, ["BLPOP", "l1", "l2", "l3", 0.05]),
            (0, ["BLMOVE", "l4", "l5", "LEFT", "LEFT", 0.05]),
            (3, ["BZPOPMIN", "z1", "z2", 0.05]),
            (4, ["XREADGROUP", "GROUP", "g1", "waiter", "BLOCK", 50, "STREAMS", "stream:1", ">"]),
            (8, ["XREADGROUP", "GROUP", "g0", "waiter", "BLOCK", 50, "STREAMS", "stream:1", ">"])])
        self.waiting.ask("SELECT", database)
        self.waiting.send(*words)

    def overflow_backlog(self):
        """Writes more than a backlog holds, so a follower that is cut off needs a snapshot."""
        self.wire.ask_all([["SET", "wide", "x" * BACKLOG], ["SET", "wide", "y" * BACKLOG * 2],
                           ["DEL", "wide"]])


def assert_equal_chain(ports, only_caches):
    """Compares all servers with the leader. A key or a field may expire while they are read, so a
    difference counts only if it lasts."""
    # Redis 7.0 has no times of fields, and dumps libraries in any order.
    reads = [contents, streams, libraries] + [field_times, library_dump] * only_caches
    deadline = time.monotonic() + PATIENCE
    for port in ports[1:]:
        for read in reads:
            while True:
                leaders, followers = read(ports[0]), read(port)
                if leaders == followers or time.monotonic() > deadline:
                    break
                time.sleep(0.1)
            assert_same(leaders, followers)
    return [len(read(ports[0])) for read in reads]


def cut_and_write(traffic, links, await_level):
    """Cuts a link every turn: after a short write, with which the follower below the cut has time
    to catch up; while more is written than the backlog holds; after any byte of changes or of a
    snapshot; and at any time."""
    chance = traffic.random
    for turn in range(CUTS):
        link = chance.choice(links)
        if turn % 4 == 0:
            await_level()
            traffic.send(1, 10)
            link.cut()
            await_level()
        elif turn % 4 == 1:
            link.pause()
            traffic.send(1, 40)
            traffic.overflow_backlog()
            link.resume()
        elif turn % 4 == 2:
            link.pause_after(chance.randrange(1 << chance.randrange(1, 18)) + 1)
            traffic.send(1, 20)
            link.pause()
            link.resume()
        else:
            time.sleep(chance.choice([0, 0.05, 0.2]))
            link.cut()
        traffic.send(1, 10)


def total(ports, figure):
    return sum(int(info(Wire(port), figure)) for port in ports)


@pytest.mark.parametrize("kinds", OF_THREE)
def test_a_chain_has_all_types_after_every_cut(make_chain, kinds):
    seed = new_seed()
    only_caches = "redis" not in kinds
    ports, links = make_chain(kinds.split())
    configure(ports, "repl-backlog-size", BACKLOG)
    leader = Wire(ports[0])
    await_chain(leader, ports)
    traffic = Traffic(seed, ports[0], only_caches)
    traffic.send(2, 100)
    cut_and_write(traffic, links, lambda: await_chain(leader, ports))
    await_chain(leader, ports)
    print("keys, streams, libraries:", assert_equal_chain(ports, only_caches))
    full, partial = total(ports, "sync_full"), total(ports, "sync_partial_ok")
    print(f"{CUTS} cuts, {full} snapshots, {partial} resumptions")
    assert partial > 0 and full > len(links)


# Writes ARGV[1], which is made longer by ARGV[2], to a key of each of several types, and to
# another database.
WRITE = """
local value, text = ARGV[1], ARGV[1] .. ARGV[2]
redis.call('SET', 'string', text)
redis.call('RPUSH', 'list', text)
redis.call('HSET', 'hash', 'field', text)
redis.call('ZADD', 'zset', value, 'member')
redis.call('XADD', 'stream', value .. '-1', 'field', text)
redis.call('SELECT', 3)
redis.call('SET', 'string', text)
redis.call('SELECT', 0)
redis.call('SET', 'end', text)
"""
READ = """
local values = {redis.call('GET', 'string'), redis.call('LINDEX', 'list', -1),
                redis.call('HGET', 'hash', 'field'), redis.call('ZSCORE', 'zset', 'member'),
                redis.call('XREVRANGE', 'stream', '+', '-', 'COUNT', 1)[1][1]}
redis.call('SELECT', 3)
table.insert(values, redis.call('GET', 'string'))
redis.call('SELECT', 0)
table.insert(values, redis.call('GET', 'end'))
for at, value in ipairs(values) do values[at] = tonumber(string.match(value, '^[0-9]+')) end
return values
"""


class ScriptedChain:
    """A chain whose leader runs WRITE with a higher number each time."""

    def __init__(self, ports):
        self.wires = [Wire(port) for port in ports]
        self.number = 0

    def write(self):
        self.number += 1
        reply = self.wires[0].ask("EVAL", WRITE, 0, f"{self.number:06}", "x" * 200)
        assert reply == b"$-1\r\n", reply

    def numbers(self, place):
        """Returns the numbers that the server's keys have."""
        return set(parsed(self.wires[place].ask("EVAL_RO", READ, 0)))

    def await_number(self, place, number):
        """Waits until all keys of the server have the number; all change at once."""
        def has_number():
            found = self.numbers(place)
            assert len(found) == 1, found
            return found == {number}
        eventually(has_number, f"server {place} has all of the script's effects")

    def await_all(self):
        for place in range(len(self.wires)):
            self.await_number(place, self.number)

    def script_size(self, place):
        """Returns how many bytes the server sends to its followers for a script. It may also send
        a PING, but not each time."""
        sizes = []
        for _ in range(3):
            before = int(info(self.wires[place], "master_repl_offset"))
            self.write()
            self.await_all()
            sizes.append(int(info(self.wires[place], "master_repl_offset")) - before)
        return min(sizes)


    def cut_in_effects(self, links, above, count):
        """Cuts the link below a server after `count` bytes of a script's effects."""
        links[above].pause_after(count)
        self.write()
        eventually(lambda: links[above].is_paused, "a part of the effects has passed")
        self.await_number(above, self.number)
        for place in range(above + 1, len(self.wires)):
            self.await_number(place, self.number - 1)
        links[above].cut()

    def overflow_backlog(self):
        self.wires[0].ask_all([["SET", "wide", "x" * BACKLOG * 3], ["DEL", "wide"]])


@pytest.mark.parametrize("kinds", OF_THREE)
def test_a_script_cut_off_in_its_middle_takes_effect_once_and_at_once(make_chain, kinds):
    rng = random.Random(new_seed())
    ports, links = make_chain(kinds.split())
    configure(ports, "repl-ping-replica-period", 3600)
    configure(ports, "repl-backlog-size", BACKLOG)
    chain = ScriptedChain(ports)
    chain.write()
    await_chain(chain.wires[0], ports)
    sizes = [chain.script_size(place) for place in range(len(links))]
    snapshots = total(ports, "sync_full")
    for above in [0, 1] * max(CUTS // 2, 2):
        chain.cut_in_effects(links, above, rng.randrange(1, sizes[above]))
        links[above].resume()
        chain.await_all()
    assert total(ports, "sync_full") == snapshots
    for above in [0, 1]:
        chain.cut_in_effects(links, above, rng.randrange(1, sizes[above]))
        chain.overflow_backlog()
        links[above].resume()
        chain.await_all()
    assert total(ports, "sync_full") > snapshots + 1
    length = b":%d\r\n" % chain.number
    assert [wire.ask("LLEN", "list") for wire in chain.wires] == [length] * len(ports)
