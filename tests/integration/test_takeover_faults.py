"""Daemons that are killed in the middle of a takeover, and several takeovers at once: one daemon
serves afterwards, and has all that was acknowledged."""

import os
import random
import time

import pytest

from cluster import Cluster, all_know, registry_of
from strata_daemon import LOOP, PATIENCE, eventually
from takeover_house import GIVEN_UP, KEYS, House, begin

ROUNDS = int(os.environ.get("STRATA_TAKEOVERS", "5"))


@pytest.fixture
def house(daemon, tmp_path):
    return House(daemon, tmp_path)


@pytest.fixture
def chance():
    seed = random.randrange(1 << 32)
    print(f"seed {seed} on {LOOP}")
    return random.Random(seed)


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
