"""Later daemons that hang in the middle of a takeover: the earlier one goes on, but not before the
later one has ended."""

import random
import signal
import subprocess
import time

import pytest

from strata_daemon import LOOP, PATIENCE, eventually
from takeover_house import GIVEN_UP, KEYS, House, begin

GIVE_UP_S = 3
ASKED_TO_END = "the other daemon is given up"
KILLED = "the other daemon does not end, and is killed"
MOMENTS = ("it hands over", "the later one has the sockets", "at random")


@pytest.fixture
def chance():
    seed = random.randrange(1 << 32)
    print(f"seed {seed} on {LOOP}")
    return random.Random(seed)


@pytest.fixture
def patient(make_daemon, tmp_path):
    """A house whose daemon gives up a later one that is silent for `GIVE_UP_S`."""
    return House(make_daemon("--takeover-timeout", str(GIVE_UP_S)), tmp_path)


def hang(daemon, moment, chance):
    """Starts a takeover, and stops the later daemon in the middle of it. Returns None if it served
    already, and then takes its place."""
    start = len(daemon.log())
    later = begin(daemon)
    if moment == "the later one has the sockets":
        eventually(lambda: " state in " in daemon.log()[start:], "it has the sockets")
    elif moment == "at random":
        time.sleep(chance.random())
    later.send_signal(signal.SIGSTOP)
    try:
        daemon.process.wait(0.5)
    except subprocess.TimeoutExpired:
        return later
    later.send_signal(signal.SIGCONT)
    daemon.process = later
    return None


def goes_on(daemon, start):
    eventually(lambda: GIVEN_UP in daemon.log()[start:], "the earlier one goes on")
    assert daemon.process.poll() is None


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_later_daemon_that_hangs_is_given_up(patient, chance, moment):
    daemon = patient.daemon
    with patient.clients:
        for _ in range(2):
            start = len(daemon.log())
            later = hang(daemon, moment, chance)
            if later is None:
                patient.check()
                continue
            goes_on(daemon, start)
            # It had ended before: no two daemons serve one cache.
            log = daemon.log()[start:]
            assert KILLED in log and log.index(KILLED) < log.index(GIVEN_UP)
            assert "no sign of life for 3 s" in log
            assert later.wait(PATIENCE) == -signal.SIGKILL
            patient.check()
            assert patient.keys_in_memory() == KEYS
        daemon.take_over()
        patient.check()
    assert patient.counter.acknowledged > 0


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_later_daemon_that_wakes_up_too_late_ends(patient, chance, moment):
    daemon = patient.daemon
    with patient.clients:
        start = len(daemon.log())
        later = hang(daemon, moment, chance)
        if later is not None:
            eventually(lambda: ASKED_TO_END in daemon.log()[start:], "it is given up")
            later.send_signal(signal.SIGCONT)
            assert later.wait(PATIENCE) == 1
            goes_on(daemon, start)
            log = daemon.log()[start:]
            assert "cannot take over: the daemon before this one has given it up" in log
            assert KILLED not in log
        patient.check()
        if later is not None:
            assert patient.keys_in_memory() == KEYS


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_later_daemon_that_wakes_up_in_time_takes_over(daemon, tmp_path, chance, moment):
    house = House(daemon, tmp_path)
    with house.clients:
        earlier = daemon.process
        later = hang(daemon, moment, chance)
        if later is not None:
            time.sleep(1)
            assert earlier.poll() is None
            later.send_signal(signal.SIGCONT)
            assert earlier.wait(PATIENCE) == 0
            daemon.process = later
        house.check()
    assert GIVEN_UP not in daemon.log()
