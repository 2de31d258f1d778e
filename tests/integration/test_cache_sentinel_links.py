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
from sentinel_group import FAILOVERS, KINDS, NAME, SLOW, CacheNode, Group, RedisNode, client_of
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
        else:
            self.proxy.hold()

    def close(self):
        self.node.close()


class Writer(threading.Thread):
    """Writes all the time; `acknowledged` has what a follower has acknowledged. A write may fail,
    and the next one follows."""

    def __init__(self, client, prefix, acknowledged):
        super().__init__(daemon=True)
        self.client = client
        self.prefix = prefix
        self.acknowledged = acknowledged
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
        pipeline.wait(1, 500)
        written, followers = pipeline.execute(raise_on_error=False)
        for reply in (written, followers):
            if isinstance(reply, Exception):
                raise reply
        if followers >= 1:
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

    def new_writer(self, client, name):
        self.writers += 1
        writer = Writer(client, f"{name}{self.writers}", self.acknowledged)
        writer.start()
        return writer

    def sentinel_writer(self):
        sentinel = Sentinel(self.addresses, socket_timeout=2)
        return self.new_writer(sentinel.master_for(NAME, socket_timeout=2), "sentinel")

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


@pytest.mark.parametrize("kinds, way", [("caches", "cut"), ("caches", "silent"),
                                        ("a cache leads", "cut"), ("redis leads", "silent")])
def test_a_leader_without_a_link_is_replaced(make_daemon, sentinels, proxies, tmp_path, kinds, way):
    chance = random.Random(new_seed())
    bare = [CacheNode(make_daemon) if kind == "s" else RedisNode(tmp_path / f"redis{number}")
            for number, kind in enumerate(KINDS[kinds])]
    try:
        group = LinkedGroup([LinkedNode(node, proxies) for node in bare], sentinels)
        writer = group.sentinel_writer()
        try:
            for number in range(FAILOVERS):
                writer.await_more(chance.randrange(20, 200))
                group.isolate(WAYS[(WAYS.index(way) + number) % 2], writer)
        finally:
            writer.close()
        group.assert_all_have_the_same()
    finally:
        for each in bare:
            each.close()
