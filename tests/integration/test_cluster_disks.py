"""A cluster's folder that takes no writes: on a disk that is full, or has become read-only. What
was known last serves on, with its age; the daemons say so, and come back by themselves."""

import json
import subprocess
import time

import pytest

from cluster import TTL, Cluster, Folder, all_know, answer, echo, names, state
from strata_daemon import BINARY, eventually

pytestmark = pytest.mark.once


class Full:
    """A small disk that is filled."""

    reason = "No space left on device"

    def __init__(self, request):
        self.mount = request.getfixturevalue("small_disk")
        self.filling = self.mount / "filling"

    def break_down(self):
        with open(self.filling, "wb", buffering=0) as filling:
            try:
                while True:
                    filling.write(bytes(4096))
            except OSError:
                pass

    def recover(self):
        self.filling.unlink()


class Failing:
    """A disk on which all changes fail."""

    reason = "Read-only file system"

    def __init__(self, request):
        self.disk = request.getfixturevalue("failing_disk")
        self.mount = self.disk.mount

    def break_down(self):
        self.disk.become("readonly")

    def recover(self):
        self.disk.become("good")


class Remounted:
    """A disk that lies read-only over itself."""

    reason = "Read-only file system"

    def __init__(self, request):
        self.mount = request.getfixturevalue("small_disk")

    def break_down(self):
        subprocess.run(["mount", "--bind", self.mount, self.mount], check=True)
        subprocess.run(["mount", "-o", "remount,bind,ro", self.mount], check=True)

    def recover(self):
        subprocess.run(["umount", "-l", self.mount], check=True)


@pytest.fixture(params=[Full, Failing, Remounted])
def disk(request):
    made = request.param(request)
    yield made


def report(daemon):
    return daemon.ask("GET", "/v1/cluster")


def follow_events(daemon):
    return subprocess.Popen([BINARY, "cluster", "watch", "--format", "json"],
                            env=daemon.environment, text=True, stdout=subprocess.PIPE)


def own_events(lines, daemon):
    """The next event of trouble or recovery of that daemon."""
    for line in lines:
        event = json.loads(line)
        if event["runtime"] == daemon and event["event"] in ("trouble", "recover"):
            return event
    return None


@pytest.fixture
def cluster(make_daemon, disk):
    return Cluster(make_daemon, Folder(disk.mount / "cluster").url)


def test_what_was_known_last_serves_until_the_disk_takes_writes_again(cluster, disk):
    first, second = cluster.start("a"), cluster.start("b")
    echo(first, "api", "one", group="api")
    [front] = second.create("proxy", "front", listen=["tcp://127.0.0.1:0"],
                            backend=["@api"])["endpoints"]
    all_know(first, second)
    eventually(lambda: answer(front) == b"one", "it answers")
    watching = follow_events(second)
    lines = iter(watching.stdout.readline, "")

    disk.break_down()
    event = own_events(lines, "b")
    assert event["event"] == "trouble" and disk.reason in event["detail"]
    for each in (first, second):
        eventually(lambda daemon=each: disk.reason in report(daemon)["trouble"], "it says so")
    end = time.monotonic() + 3 * TTL
    while time.monotonic() < end:  # no card changes, and none counts as gone
        assert names(first) == names(second) == ["a", "b"]
        assert answer(front) == b"one"
        time.sleep(0.1)
    eventually(lambda: state(second) == "unconfirmed", "it may have lost its name")
    assert report(second)["age_s"] > TTL
    assert disk.reason in second.log()
    assert disk.reason in second.run("cluster", "ls").stderr
    assert disk.reason in second.run("cluster", "stats").stdout
    echo(first, "late", "two", group="late")

    disk.recover()
    for _ in range(20):
        assert names(first) == names(second) == ["a", "b"]
        time.sleep(0.1)
    eventually(lambda: {state(first), state(second)} == {"held"}, "they hold their names")
    event = own_events(lines, "b")
    assert event["event"] == "recover"
    watching.kill()
    watching.communicate()
    assert report(second)["trouble"] == ""
    assert "this daemon's card again" in second.log()
    eventually(lambda: "late" in second.cli("cluster", "ps", "-q"), "changes arrive")
    eventually(lambda: report(second)["age_s"] < TTL, "what is known is confirmed")
    first.kill9()
    eventually(lambda: names(second) == ["b"], "one that is silent is gone again")


def test_a_daemon_that_ends_meanwhile_is_gone_after_the_recovery(cluster, disk):
    first, second = cluster.start("a"), cluster.start("b")
    all_know(first, second)
    disk.break_down()
    eventually(lambda: report(second)["trouble"], "it says so")
    first.kill9()
    time.sleep(1.5 * TTL)
    assert names(second) == ["a", "b"]  # nobody knows
    disk.recover()
    eventually(lambda: names(second) == ["b"], "it is gone")
    assert state(second) == "held"


def test_a_daemon_that_starts_meanwhile_takes_part_later(cluster, disk):
    first = cluster.start("a")
    all_know(first)
    disk.break_down()
    eventually(lambda: report(first)["trouble"], "it says so")
    second = cluster.start("b")
    eventually(lambda: report(second)["trouble"], "it says so, too")
    assert names(second) == ["a"] and state(second) == "joining"
    time.sleep(1.5 * TTL)
    assert names(second) == ["a"]
    disk.recover()
    all_know(first, second)
    eventually(lambda: {state(first), state(second)} == {"held"}, "they hold their names")
