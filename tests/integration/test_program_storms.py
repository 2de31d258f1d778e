"""Programs of many instances that die as soon as they start: their deaths are counted, the pauses
between them grow, and a stop in the middle of it leaves nothing behind."""

import datetime
import os
import re
import signal

import pytest

from programs import gone, instances_of, keeper_files
from strata_daemon import PATIENCE, ControlConnection, eventually

pytestmark = pytest.mark.once

INSTANCES = 250
# Of the stops in the middle: with 250 they take minutes under a sanitizer.
STOPPED = int(os.environ.get("STRATA_INSTANCES", "40"))
STARTED = re.compile(r"^(\S+) \w+ p: #(\d+): process (\d+) started$", re.M)
ENDED = re.compile(r"^(\S+) \w+ p: #(\d+): the process has ended with exit code 1$", re.M)
PATIENCE_OF_MANY = 6 * PATIENCE
FIRST_PAUSE = 0.5  # seconds
LEAST_SHARE = 0.5  # of a pause that is drawn at random


def moments(pattern, log):
    """The times of the lines, by the number of the instance."""
    found = {}
    for line in pattern.finditer(log):
        time = datetime.datetime.fromisoformat(line[1].rstrip("Z"))
        found.setdefault(int(line[2]), []).append(time)
    return found


def restarts(daemon):
    return [each["restarts"] for each in instances_of(daemon, "p")]


def relatives(daemon):
    """The processes that have the daemon's environment, without the daemon."""
    mark, found = f"STRATA_SOCKET={daemon.socket}\0".encode(), []
    for each in os.listdir("/proc"):
        try:
            with open(f"/proc/{each}/environ", "rb") as variables:
                if each.isdigit() and mark in variables.read():
                    found.append(int(each))
        except OSError:  # no process, or it has ended
            continue
    return [each for each in found if daemon.process is None or each != daemon.pid]


def storm(daemon, command="/bin/false", **options):
    """Creates the program; its first starts, all at once, may take long on a busy machine."""
    options = {"command": command, "instances": INSTANCES, "restart": "always"} | options
    body = {"type": "program", "name": "p", "start": True, "options": options}
    daemon.ask("POST", "/v1/runtimes", body, ControlConnection(daemon.socket, PATIENCE_OF_MANY))


def test_a_thousand_deaths_are_counted_and_the_pauses_grow(daemon):
    storm(daemon)
    eventually(lambda: sum(restarts(daemon)) >= 1000, "a thousand restarts",
               within=PATIENCE_OF_MANY)
    counts = restarts(daemon)
    log = daemon.log()
    started, ended = moments(STARTED, log), moments(ENDED, log)
    assert sum(map(len, ended.values())) >= 1000
    for number, count in enumerate(counts, 1):
        assert len(started[number]) >= count  # one more, unless its start is under way
    for number, starts in started.items():
        for place, start in enumerate(starts[1:]):
            pause = (start - ended[number][place]).total_seconds()
            assert pause >= LEAST_SHARE * FIRST_PAUSE * 2 ** place - 0.01, (number, place)
    assert daemon.show("p")["state"] == "running"
    daemon.act("p", "stop")
    eventually(lambda: relatives(daemon) == [], "no process is left")
    assert keeper_files(daemon) == []


def test_the_limit_of_restarts_holds(daemon):
    storm(daemon, instances=20, restart_limit=2)
    eventually(lambda: daemon.show("p")["state"] == "failed", "it has failed")
    assert daemon.show("p")["next_start_in_s"] is None
    started = moments(STARTED, daemon.log())
    assert {number: len(each) for number, each in started.items()} \
        == {number: 3 for number in range(1, 21)}
    eventually(lambda: relatives(daemon) == [], "no process is left")
    assert keeper_files(daemon) == []


@pytest.mark.parametrize("deaths", [0, STOPPED // 4, STOPPED, 2 * STOPPED])
@pytest.mark.parametrize("command", ["/bin/false", "/usr/bin/python3 -c 'import asyncio, sys; "
                                                   "sys.exit(1)'"], ids=["quick", "heavy"])
def test_a_stop_in_the_middle_leaves_nothing_behind(make_daemon, command, deaths):
    # Under a sanitizer on a busy machine, a stop takes longer than the usual 5 s.
    daemon = make_daemon("--drain-timeout", "25s")
    create = daemon.begin("create", "program", "p", "-c", command, "--instances", STOPPED,
                          "--restart", "always", "-s")
    if deaths == 0:
        eventually(lambda: "started" in daemon.log(), "the first one has started")
    eventually(lambda: len(ENDED.findall(daemon.log())) >= deaths, f"{deaths} have ended",
               within=PATIENCE_OF_MANY)
    daemon.stop()  # its exit code is 0
    create.communicate()
    eventually(lambda: relatives(daemon) == [], "no process is left")
    assert keeper_files(daemon) == []
    assert all(gone(int(each[2])) for each in STARTED.findall(daemon.log()))


@pytest.mark.parametrize("ready", ["line:never", "notify", "port"])
def test_a_stop_while_it_becomes_ready(daemon, ready):
    create = daemon.begin("create", "program", "p", "-c", "sleep 1000", "--ready", ready, "-p",
                          "0", "--ready-timeout", "1000s", "--instances", "2", "-s")
    eventually(lambda: len(STARTED.findall(daemon.log())) == 2, "both wait")
    daemon.signal(signal.SIGTERM)
    daemon.wait()
    assert create.wait() != 0
    create.stderr.close()
    assert relatives(daemon) == [] and keeper_files(daemon) == []
