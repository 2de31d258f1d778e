"""Redis Sentinel when a leader's link breaks: the leader is alive, and neither the sentinels nor
its followers nor their clients reach it. A follower takes its place, and redis-py's client goes on.
One client still reaches the former leader. When its link is back, it follows, with the new leader's
data. No write that a follower had acknowledged is lost.

    sentinel × 3 ─┬─ proxy ── node × 3        Each node announces its proxy's port. The leader's
    client ───────┘                           proxy loses its link.
    follower ─────── proxy ── leader ──── a client behind the proxy, on the leader's own port

A link is cut (connections end), or silent (they stay, and nothing arrives). While it is silent,
min-replicas-to-write makes the former leader refuse to write; without that parameter, it accepts
writes that no follower acknowledges, and loses them when it follows.

Only the sentinels may be shut out: their followers and clients still reach the leader. Then a
follower that the sentinels have not moved yet may acknowledge a write that the new leader never
gets: only what both followers acknowledged is safe, as with Redis. A follower without a link is no
reason for another leader.
STRATA_FAILOVERS=N sets the number of failovers of each test, STRATA_SEED their moments.
"""

import random
import threading
import time

import pytest
import redis as redis_py
from redis.backoff import NoBackoff
from redis.retry import Retry
from redis.sentinel import Sentinel

from cache_contents import assert_same, contents
from sentinel_group import (FAILOVERS, KINDS, NAME, SENTINEL_HOST, SLOW, CacheNode, Group,
                            RedisNode, client_of)
from strata_daemon import PATIENCE, eventually
from twin_servers import new_seed

pytestmark = [pytest.mark.once, pytest.mark.serial]

WAYS = ("cut", "silent")


class LinkedNode:
    """A node that all others reach through a proxy."""

    def __init__(self, node, make_proxy):
        self.node = node
        self.proxy = make_proxy(node.port)
        self.port = self.proxy.port
        # A sentinel ends all clients of a server whose leader it changes.
        self.direct = redis_py.Redis(port=node.port, socket_timeout=PATIENCE,
                                     retry=Retry(NoBackoff(), 3),
                                     retry_on_error=[redis_py.ConnectionError])
        self.configure("replica-announce-ip", "127.0.0.1")
        self.configure("replica-announce-port", self.port)

    def configure(self, name, value):
        assert self.direct.config_set(name, value)

    def role(self):
        return self.direct.role()[0]

    def lose_link(self, way):
        if way == "cut":
            self.proxy.pause()
        elif way == "silent":
            self.proxy.hold()
        else:
            self.proxy.shut_out(SENTINEL_HOST)

    def close(self):
        self.node.close()


class Writer(threading.Thread):
    """Writes all the time; a write may fail, and the next one follows. `acknowledged` has those
    that at least `followers` of the leader's followers have acknowledged."""

    def __init__(self, client, prefix, acknowledged, followers):
        super().__init__(daemon=True)
        self.client = client
        self.prefix = prefix
        self.acknowledged = acknowledged
        self.followers = followers
        self.confirmed = 0
        self.unconfirmed = 0
        self.refused = 0  # for lack of followers
        self.attempts = 0
        self.errors = {}
        self.is_over = threading.Event()

    def run(self):
        while not self.is_over.is_set():
            key = f"{self.prefix}:{self.attempts}"
            self.attempts += 1
            try:
                self.write(key, str(time.monotonic_ns()))
            except (redis_py.RedisError, OSError) as failure:
                kind = f"{type(failure).__name__}: {failure}"[:100]
                self.errors[kind] = self.errors.get(kind, 0) + 1
                self.refused += str(failure).startswith("NOREPLICAS")
                time.sleep(0.05)
            time.sleep(0.002)

    def write(self, key, value):
        """WAIT counts for the writes of its own connection, so both go through the same one."""
        pipeline = self.client.pipeline(transaction=False)
        pipeline.set(key, value)
        pipeline.wait(self.followers, 500)
        written, followers = pipeline.execute(raise_on_error=False)
        for reply in (written, followers):
            if isinstance(reply, Exception):
                raise reply
        if followers >= self.followers:
            self.acknowledged[key] = value
            self.confirmed += 1
        else:
            self.unconfirmed += 1

    def await_more(self, count):
        goal = self.confirmed + count
        eventually(lambda: self.confirmed >= goal, f"{count} more writes of {self.prefix}", SLOW)

    def close(self):
        self.is_over.set()
        self.join(PATIENCE)
        assert not self.is_alive()
        print(f"{self.prefix}: {self.attempts} writes, {self.confirmed} confirmed, {self.errors}")


class LinkedGroup(Group):
    def __init__(self, nodes, sentinels):
        super().__init__(nodes, sentinels)
        self.writers = 0

    def require_followers(self, count):
        for node in self.nodes.values():
            node.configure("min-replicas-to-write", count)
            node.configure("min-replicas-max-lag", 3)

    def new_writer(self, client, name, followers=1):
        self.writers += 1
        writer = Writer(client, f"{name}{self.writers}", self.acknowledged, followers)
        writer.start()
        return writer

    def sentinel_writer(self, followers=1):
        sentinel = Sentinel(self.addresses, socket_timeout=2)
        return self.new_writer(sentinel.master_for(NAME, socket_timeout=2), "sentinel", followers)

    def shut_out_sentinels(self, writer):
        """The leader's link to the sentinels breaks, and comes back when another one leads."""
        former = self.nodes[self.leader()]
        former.lose_link("shut out")
        try:
            self.await_other_leader(former.port)
            newcomer = self.sentinel_writer()
            try:
                newcomer.await_more(20)
                written = writer.unconfirmed
                eventually(lambda: writer.unconfirmed >= written + 5,
                           "the former leader accepts what no follower has", SLOW)
                assert former.role() == b"master"
            finally:
                newcomer.close()
        finally:
            former.proxy.resume()
        eventually(lambda: former.role() == b"slave", "the former leader follows", SLOW)
        eventually(self.is_whole, "the sentinels see it follow", SLOW)
        writer.await_more(5)

    def isolate_follower(self, way, follower, writer):
        """A follower's link breaks, and its connection to the leader ends; both come back."""
        leader = self.leader()
        self.nodes[leader].proxy.cut()
        follower.lose_link(way)
        try:
            eventually(lambda: self.is_down(follower.port), "the sentinels miss it", SLOW)
            writer.await_more(20)
        finally:
            follower.proxy.resume()
        eventually(self.is_whole, "the sentinels see it follow", SLOW)
        writer.await_more(5)
        assert self.leader() == leader

    def is_down(self, port):
        seen = [row["is_sdown"] for each in self.sentinel.sentinels
                for row in each.sentinel_slaves(NAME) if row["port"] == port]
        return len(seen) == len(self.addresses) and all(seen)

    def isolate(self, way, writer):
        """The leader's link breaks, and comes back when another one leads. If it is silent, the
        former leader must refuse to write; else it accepts writes, which it must give up later."""
        self.require_followers(1 if way == "silent" else 0)
        former = self.nodes[self.leader()]
        former.lose_link(way)
        own = self.new_writer(former.direct, "own")
        try:
            self.await_other_leader(former.port)
            writer.await_more(20)
            eventually(lambda: own.refused if way == "silent" else own.unconfirmed >= 5,
                       "the former leader refuses, or accepts what no follower has", SLOW)
            assert former.role() == b"master"
        finally:
            own.close()
            former.proxy.resume()
        eventually(lambda: former.role() == b"slave", "the former leader follows", SLOW)
        eventually(self.is_whole, "the sentinels see it follow", SLOW)
        writer.await_more(5)

    def assert_all_have_the_same(self):
        self.assert_nothing_is_lost()
        client = client_of(self.leader())
        pipeline = client.pipeline(transaction=False)
        pipeline.set("last", "1")
        pipeline.wait(2, PATIENCE * 900)  # ms; the socket waits for PATIENCE
        assert pipeline.execute()[1] == 2
        first, *others = [contents(node.node.port) for node in self.nodes.values()]
        for each in others:
            assert_same(each, first)


@pytest.fixture
def make_group(make_daemon, sentinels, proxies, tmp_path):
    """Returns a function that makes the group of these kinds."""
    bare = []

    def make(kinds):
        bare.extend(
            CacheNode(make_daemon) if kind == "s" else RedisNode(tmp_path / f"redis{number}")
            for number, kind in enumerate(KINDS[kinds]))
        return LinkedGroup([LinkedNode(node, proxies) for node in bare], sentinels)

    yield make
    for each in bare:
        each.close()


def break_links(group, writer, break_link):
    """Breaks a link as often as STRATA_FAILOVERS says, at some moment while `writer` writes."""
    chance = random.Random(new_seed())
    try:
        for number in range(FAILOVERS):
            writer.await_more(chance.randrange(20, 200))
            break_link(number, chance)
    finally:
        writer.close()
    group.assert_all_have_the_same()


@pytest.mark.parametrize("kinds, way", [("caches", "cut"), ("caches", "silent"),
                                        ("a cache leads", "cut"), ("redis leads", "silent")])
def test_a_leader_without_a_link_is_replaced(make_group, kinds, way):
    group = make_group(kinds)
    writer = group.sentinel_writer()
    break_links(group, writer, lambda number, _: group.isolate(
        WAYS[(WAYS.index(way) + number) % 2], writer))


@pytest.mark.parametrize("kinds", ["caches", "redis leads"])
def test_a_leader_that_the_sentinels_do_not_reach_is_replaced(make_group, kinds):
    group = make_group(kinds)
    # Which of the followers will lead is not known, and the other one may be moved later.
    writer = group.sentinel_writer(followers=2)
    break_links(group, writer, lambda *_: group.shut_out_sentinels(writer))


@pytest.mark.parametrize("kinds, way", [("caches", "silent"), ("redis leads", "cut")])
def test_a_follower_without_a_link_changes_no_leader(make_group, kinds, way):
    group = make_group(kinds)
    writer = group.sentinel_writer()

    def break_link(_, chance):
        followers = [node for port, node in group.nodes.items() if port != group.leader()]
        group.isolate_follower(way, chance.choice(followers), writer)

    break_links(group, writer, break_link)
