"""Jedis's Sentinel clients, as their users install them: they go on when a leader is killed, and
no write that a follower had acknowledged is lost.

STRATA_FAILOVERS=N sets the number of failovers.
"""

import os
import subprocess
import threading
from pathlib import Path

import packages
from sentinel_group import FAILOVERS, NAME, SLOW, CacheNode, Group
from strata_daemon import eventually

PACKAGES = Path(os.environ.get("STRATA_CLIENT_PACKAGES", "."))
CLIENTS = ("pool", "client")


class Program:
    """The program with Jedis's clients; `acknowledged` has the writes that it reports."""

    def __init__(self, folder, addresses):
        self.acknowledged = {}
        self.counts = dict.fromkeys(CLIENTS, 0)
        self.errors = folder / "jedis.log"
        command = packages.java(PACKAGES.resolve() / "java", "jedis_sentinel.java")
        sentinels = [f"{host}:{port}" for host, port in addresses]
        with open(self.errors, "wb") as log:
            self.process = subprocess.Popen(
                [*map(str, command), NAME, *sentinels], env=packages.environment(), text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            key, value = line.split()
            self.acknowledged[key] = value
            self.counts[key.split(":")[0]] += 1

    def await_more(self, count):
        """Waits until each client has written `count` more keys."""
        before = dict(self.counts)

        def is_enough():
            assert self.process.poll() is None, self.errors.read_text()
            return all(self.counts[name] >= before[name] + count for name in CLIENTS)

        eventually(is_enough, f"each client writes {count} more keys after {before}", SLOW)

    def finish(self):
        self.process.stdin.close()
        assert self.process.wait(SLOW) == 0, self.errors.read_text()
        self.reader.join(SLOW)
        assert not self.reader.is_alive()

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def test_jedis_goes_on_when_a_leader_is_killed(make_daemon, sentinels, tmp_path):
    group = Group([CacheNode(make_daemon) for _ in range(3)], sentinels)
    program = Program(tmp_path, group.addresses)
    try:
        for _ in range(FAILOVERS):
            program.await_more(20)
            former = group.leader()
            group.nodes[former].kill()
            group.await_other_leader(former)
            program.await_more(20)
            group.nodes[former].start()
            eventually(group.is_whole, "the former leader follows", SLOW)
        program.await_more(20)
        program.finish()
    finally:
        program.close()
    print(program.counts, program.errors.read_text())
    group.acknowledged = program.acknowledged
    group.assert_nothing_is_lost()
