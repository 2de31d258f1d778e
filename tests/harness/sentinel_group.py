"""Three servers, a leader and two followers, which three of Redis's sentinels watch.

    sentinel × 3 ── leader ── follower × 2
    client ── asks the sentinels, writes to the leader
"""

import os
import shutil
import signal
import socket
import subprocess
import time

import redis as redis_py
from redis.sentinel import Sentinel

from resp_wire import RedisServer
from strata_daemon import PATIENCE, eventually
from talker import free_port

FAILOVERS = int(os.environ.get("STRATA_FAILOVERS", "1"))
SLOW = 60  # seconds: for a failover with sanitizers on a busy machine
NAME = "data"
SENTINEL_HOST = "127.0.0.2"  # where the sentinels connect from
KINDS = {"caches": "sss", "a cache leads": "ssr", "redis leads": "rss"}


class CacheNode:
    """A cache in a daemon of its own, which can be killed and started again."""

    def __init__(self, make_daemon):
        self.daemon = make_daemon()
        self.port = free_port()
        self.daemon.create("cache", "db", listen=[f"tcp://127.0.0.1:{self.port}"], resp=True)

    @property
    def pid(self):
        return self.daemon.pid

    def kill(self):
        self.daemon.kill9()

    def start(self):
        self.daemon.start()

    def close(self):
        """The fixture `make_daemon` ends the daemon."""


class RedisNode:
    def __init__(self, folder):
        # Else it refuses the sentinels, whose host is not 127.0.0.1.
        self.server = RedisServer(folder, "--protected-mode", "no")
        self.port = self.server.port

    @property
    def pid(self):
        return self.server.process.pid

    def kill(self):
        self.server.process.kill()
        self.server.process.wait()

    def start(self):
        self.server.process = subprocess.Popen(
            [self.server.binary, "--port", str(self.port), *self.server.command],
            stdout=subprocess.DEVNULL)

    def close(self):
        self.server.close()


class Sentinels:
    """Three sentinels, whose files are in `folder`."""

    def __init__(self, folder):
        self.folder = folder
        self.processes = []

    def start(self, leader):
        """Starts them for a leader's port; returns their addresses."""
        addresses = []
        for number in range(3):
            port = free_port()
            file = self.folder / f"sentinel{number}.conf"
            file.write_text(f"port {port}\nbind 127.0.0.1\ndir {self.folder}\n"
                            f"bind-source-addr {SENTINEL_HOST}\n"
                            f"sentinel announce-ip 127.0.0.1\n"
                            f"sentinel monitor {NAME} 127.0.0.1 {leader} 2\n"
                            f"sentinel down-after-milliseconds {NAME} 1500\n"
                            f"sentinel failover-timeout {NAME} 8000\n"
                            f"sentinel parallel-syncs {NAME} 2\n")
            with open(self.folder / f"sentinel{number}.log", "wb") as log:
                self.processes.append(subprocess.Popen(
                    [shutil.which("redis-server"), str(file), "--sentinel"], stdout=log))
            addresses.append(("127.0.0.1", port))
        for address in addresses:
            eventually(lambda: can_connect(address), "the sentinel listens")  # noqa: B023
        return addresses

    def close(self):
        for each in self.processes:
            each.terminate()
        for each in self.processes:
            each.wait(PATIENCE)


def client_of(port):
    return redis_py.Redis(port=port, socket_timeout=PATIENCE)


def has_leader_data(follower):
    return follower.info("replication")["master_link_status"] == "up"


def can_connect(address):
    try:
        socket.create_connection(address, 5).close()
        return True
    except OSError:
        return False


class Group:
    """Three nodes, the first of them the leader, and the sentinels."""

    def __init__(self, nodes, sentinels):
        self.nodes = {node.port: node for node in nodes}
        leader, *others = self.nodes
        for port in others:
            follower = client_of(port)
            follower.replicaof("127.0.0.1", leader)
            eventually(lambda: has_leader_data(follower),  # noqa: B023
                       "the follower has its leader's data")
        self.addresses = sentinels.start(leader)
        self.sentinel = Sentinel(self.addresses, socket_timeout=5)
        self.acknowledged = {}
        eventually(self.is_whole, "the sentinels know the leader, its followers, and each other",
                   SLOW)

    def is_whole(self):
        """Reports whether each sentinel sees two followers that are up, and two more sentinels."""
        for each in self.sentinel.sentinels:
            try:
                state = each.sentinel_master(NAME)
                followers = each.sentinel_slaves(NAME)
            except (redis_py.RedisError, OSError):
                return False
            up = [row for row in followers if not row["is_sdown"] and row["flags"] == "slave"
                  and row["master-link-status"] == "ok"]
            is_calm = state["num-other-sentinels"] == 2 and state["flags"] == "master"
            if not is_calm or len(followers) != 2 or len(up) != 2:
                return False
        return True

    def leader(self):
        return self.sentinel.discover_master(NAME)[1]

    def write(self, count):
        """Writes through the sentinels' client; keeps what a follower has acknowledged."""
        client = self.sentinel.master_for(NAME, socket_timeout=PATIENCE)
        for _ in range(count):
            key = f"key:{len(self.acknowledged)}"
            value = str(time.monotonic_ns())
            client.set(key, value)
            if client.wait(1, 2000) >= 1:
                self.acknowledged[key] = value
        client.close()

    def assert_nothing_is_lost(self):
        client = client_of(self.leader())
        present = dict(zip(self.acknowledged, client.mget(list(self.acknowledged))))
        assert present == {key: value.encode() for key, value in self.acknowledged.items()}

    def fail_over(self, way):
        former = self.leader()
        node = self.nodes[former]
        if way == "killed":
            node.kill()
        else:
            os.kill(node.pid, signal.SIGSTOP)
        try:
            self.await_other_leader(former)
            self.write(20)
        finally:
            if way == "killed":
                node.start()
            else:
                os.kill(node.pid, signal.SIGCONT)
        eventually(self.is_whole, "the former leader follows", SLOW)
        self.assert_nothing_is_lost()

    def await_other_leader(self, former):
        eventually(lambda: self.has_other_leader(former), "another leader is chosen", SLOW)

    def has_other_leader(self, former):
        try:
            port = self.leader()
            return port != former and client_of(port).role()[0] == b"master"
        except (redis_py.RedisError, OSError):
            return False
