"""Chains of caches and real redis-servers, each of which follows the one before it over a link
that is cut again and again."""

import random

import pytest

from cache_contents import assert_same, contents
from resp_wire import RedisServer, Wire
from strata_daemon import eventually
from test_cache_replication import CUTS, new_cache
from twin_servers import new_seed

# leader <- proxy <- follower <- proxy <- follower ...; each is a cache or a redis-server
CHAINS = ["cache cache cache", "redis cache cache", "cache cache redis", "cache redis cache",
          "cache cache cache cache", "redis cache cache redis"]


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
