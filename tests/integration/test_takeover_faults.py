"""Daemons that are killed in the middle of a takeover, and several takeovers at once: one daemon
serves afterwards, and has all that was acknowledged."""

import contextlib
import os
import random
import time

import pytest
import redis

from cluster import Cluster, all_know, registry_of
from steady_clients import Counter, Steady, ask_stream
from strata_daemon import LOOP, PATIENCE, eventually
from talker import free_port, port_of

ROUNDS = int(os.environ.get("STRATA_TAKEOVERS", "5"))
ECHO = "function on_message(message, id) self.send(id, 'echo: ' .. message) end"
KEYS = 200_000  # so that the data takes a while to go over
BEGUN, GIVEN_UP = "another daemon takes over", "this one goes on"


def at_own_port():
    return f"tcp://127.0.0.1:{free_port()}"


class House:
    """An echo server, a cache with a log and a large one in memory, and clients that count."""

    def __init__(self, daemon, folder):
        self.daemon = daemon
        script = folder / "echo.lua"
        script.write_text(ECHO)
        self.echo = daemon.server("echo", listen=[at_own_port()], lua=str(script))[0]
        self.logged = daemon.create("cache", "logged", listen=[at_own_port()], appendfsync="always",
                                    persistent=str(folder / "cache.aof"))["endpoints"][0]
        self.memory = daemon.create("cache", "memory", listen=[at_own_port()])["endpoints"][0]
        self.fill()
        self.counter = Counter(self.logged)
        self.clients = Steady()
        self.clients.add("count", self.counter, self.logged)

    def fill(self):
        with redis.Redis(port=port_of(self.memory)) as client, client.pipeline(False) as pipeline:
            for number in range(KEYS):
                pipeline.set(f"key{number}", "x" * 50)
            pipeline.execute()

    def keys_in_memory(self):
        with redis.Redis(port=port_of(self.memory), socket_timeout=PATIENCE) as client:
            return client.dbsize()

    def runs(self):
        try:
            return all(each["state"] == "running" for each in
                       self.daemon.ask("GET", "/v1/runtimes"))
        except OSError:
            return False

    def check(self):
        """One daemon serves, with all that was acknowledged."""
        daemon = self.daemon
        eventually(self.runs, "all run")
        assert daemon.ask("GET", "/v1/version")["pid"] == daemon.pid
        assert holders(daemon) == {daemon.pid}
        ask_stream(self.echo)
        acknowledged = self.counter.acknowledged
        with redis.Redis(port=port_of(self.logged), socket_timeout=PATIENCE) as client:
            assert int(client.get("count") or 0) >= acknowledged


def open_files(process):
    """The files that a process has open: those that it closes meanwhile are passed over."""
    folder = f"/proc/{process}/fd"
    try:
        names = os.listdir(folder)
    except OSError:  # it ended
        return
    for each in names:
        with contextlib.suppress(OSError):
            yield os.readlink(f"{folder}/{each}")


def holders(daemon):
    """The processes that have the lock of the state folder open."""
    lock = str(daemon.state_dir / "lock")
    return {int(each) for each in os.listdir("/proc")
            if each.isdigit() and lock in open_files(each)}


@pytest.fixture
def house(daemon, tmp_path):
    return House(daemon, tmp_path)


@pytest.fixture
def chance():
    seed = random.randrange(1 << 32)
    print(f"seed {seed} on {LOOP}")
    return random.Random(seed)


def begin(daemon):
    """Starts a takeover, and returns the later daemon once the earlier one hands over."""
    start = len(daemon.log())
    later = daemon.launch("--takeover")
    eventually(lambda: BEGUN in daemon.log()[start:], "it hands over")
    return later


def test_the_later_daemon_is_killed_in_the_middle(daemon, house, chance):
    in_the_middle = 0
    with house.clients:
        while in_the_middle < ROUNDS:
            start = len(daemon.log())
            later = begin(daemon)
            time.sleep(chance.random())
            later.kill()
            later.wait(PATIENCE)
            eventually(lambda start=start: GIVEN_UP in daemon.log()[start:]
                       or daemon.process.poll() is not None, "the earlier one goes on, or ends")
            if daemon.process.poll() is None:
                in_the_middle += 1
                house.check()
                assert house.keys_in_memory() == KEYS
            else:  # the later one served already
                assert daemon.process.wait() == 0
                daemon.start()
                house.check()
                house.fill()
        daemon.take_over()
        house.check()
    assert house.keys_in_memory() == KEYS
    assert house.counter.acknowledged > 0


def test_the_earlier_daemon_is_killed_in_the_middle(daemon, house, chance):
    with house.clients:
        for _ in range(ROUNDS):
            later = begin(daemon)
            time.sleep(chance.random() * 0.8)
            daemon.kill9()
            daemon.process = later
            house.check()
            house.fill()
    assert house.counter.acknowledged > 0


@pytest.mark.parametrize("moment", ["at once", "while the first one takes over"])
def test_several_takeovers_at_a_time(daemon, house, moment):
    with house.clients:
        for _ in range(ROUNDS):
            start, earlier = len(daemon.log()), daemon.process
            later = [daemon.launch("--takeover")]
            if moment != "at once":
                eventually(lambda start=start: " state in " in daemon.log()[start:],
                           "the first one has the sockets")
            later += [daemon.launch("--takeover") for _ in range(2)]
            assert earlier.wait(PATIENCE) == 0

            def survivors(later=later):
                return [each for each in later if each.poll() is None]

            eventually(lambda survivors=survivors: len(survivors()) == 1, "one is left")
            [daemon.process] = survivors()
            assert [each.wait() for each in later if each is not daemon.process] == [0, 0]
            house.check()
            assert house.keys_in_memory() == KEYS
    assert house.counter.acknowledged > 0


def test_a_drained_daemon_stays_so(make_daemon, tmp_path):
    with registry_of("folder", tmp_path) as registry:
        cluster = Cluster(make_daemon, registry.url)
        first, second = cluster.start("a"), cluster.start("b")
        all_know(first, second)

        def drained(daemon):
            return {each["daemon"]: each["is_drained"]
                    for each in daemon.ask("GET", "/v1/cluster")["daemons"]}

        for order, expected in ((["--end"], False), ([], True), (["--end"], False)):
            first.cli("cluster", "drain", *order)
            for _ in range(2):
                first.take_over()
                all_know(first, second)
                for each in (first, second):
                    eventually(lambda each=each, expected=expected: drained(each)
                               == {"a": expected, "b": False}, "it is as it was")
