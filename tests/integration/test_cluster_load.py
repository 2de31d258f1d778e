"""Clusters that change while their proxies have work: no request fails, and what the proxy itself
has found out counts more than the directory."""

import json
import os
import signal
import time

import pytest

from background import Background
from cluster import TTL, Caller, Cluster, Folder, all_know, answers, echo, registry_of, site
from etcd import Etcd
from strata_daemon import eventually
from talker import Talker, free_port


@pytest.fixture
def cluster(make_daemon, tmp_path):
    return Cluster(make_daemon, registry_of("dir", tmp_path).url)


def backends(daemon, proxy="front"):
    return json.loads(daemon.cli("backends", proxy, "--format", "json"))


def front_of(daemon, scheme="http", **options):
    [url] = daemon.create("proxy", "front", listen=[f"{scheme}://127.0.0.1:0"], backend=["@api"],
                          **options)["endpoints"]
    return url


def more_are_answered(callers, count=30):
    before = [each.answered for each in callers]
    eventually(lambda: all(each.answered > start + count
                           for each, start in zip(callers, before)), "requests are answered")


@pytest.mark.parametrize("kind", ["dir", "etcd"])
def test_a_daemon_is_drained_and_ends_under_load(make_daemon, tmp_path, kind):
    with registry_of(kind, tmp_path) as registry:
        cluster = Cluster(make_daemon, registry.url)
        first, second, third = (cluster.start(each) for each in "abc")
        for each in (first, second):
            site(each, "api", group="api")
        front = front_of(third)
        eventually(lambda: len(backends(third)) == 2, "both are backends")
        with Caller(front) as one, Caller(front) as another:
            callers = [one, another]
            for daemon in (first, second):
                more_are_answered(callers)
                daemon.cli("cluster", "drain")
                eventually(lambda: len(backends(third)) == 1, "it is not chosen any more")
                more_are_answered(callers)
                daemon.stop()
                more_are_answered(callers)
                daemon.start()
                eventually(lambda: len(backends(third)) == 2, "it is chosen again")
            more_are_answered(callers)
        assert one.failures == another.failures == []


def test_a_connection_is_held_over_changes_of_the_directory(cluster):
    first, second, third = (cluster.start(each) for each in "abc")
    echo(first, "api", "one", group="api")
    front = front_of(third, "tcp")
    eventually(lambda: answers(front) == {b"one"}, "it answers")
    with Talker(front) as held:
        def serves():
            held.say(b"who?")
            return held.hear() == b"one"

        assert serves()
        echo(second, "api", "two", group="api")
        eventually(lambda: answers(front) == {b"one", b"two"}, "a member has come")
        assert serves()
        first.cli("cluster", "drain")
        eventually(lambda: answers(front) == {b"two"}, "the other one has left")
        assert serves()
        second.remove("api")
        eventually(lambda: answers(front) == {None}, "nobody is left")
        assert serves()
        first.cli("cluster", "drain", "--end")
        eventually(lambda: answers(front) == {b"one"}, "it is back")
        assert serves()
        assert third.stats("front")["connections"]["now"] >= 1


class Liar(Background):
    """Keeps a card in the folder that says that a runtime runs at a port where nobody listens."""

    def __init__(self, folder, port):
        super().__init__()
        self.folder, self.port, self.beat = Folder(folder), port, 0

    def run(self):
        while not self.is_over.is_set():
            self.beat += 1
            runtime = {"name": "api", "type": "server", "state": "running", "group": "api",
                       "endpoints": [f"http://127.0.0.1:{self.port}"],
                       "connections": self.beat}
            path = self.folder.path / "liar.writing"
            path.write_text(json.dumps({"daemon": "liar", "runtimes": [runtime],
                                        "beat": self.beat}))
            path.rename(self.folder.path / "liar.card")
            self.is_over.wait(TTL / 8)


def test_a_backend_that_a_check_proves_dead_stays_out(cluster, tmp_path):
    first, third = cluster.start("a"), cluster.start("c")
    site(first, "api", group="api")
    front = front_of(third, check="tcp", check_interval=0.2, retries=0)
    port = free_port()
    with Liar(tmp_path / "cluster", port) as liar:
        eventually(lambda: len(backends(third)) == 2, "the directory has both")

        def dead():
            [row] = [each for each in backends(third) if str(port) in json.dumps(each)
                     or "liar" in json.dumps(each)]
            return row

        eventually(lambda: dead()["state"] == "down", "the check proves it dead")
        chosen = dead()["total"]
        with Caller(front) as caller:
            more_are_answered([caller])
            beat = liar.beat
            eventually(lambda: liar.beat > beat + 10, "the directory says that it runs")
            for number in range(5):  # changes of the directory besides
                echo(first, f"more{number}", "more", group="api" if number == 4 else "more")
                first.remove(f"more{number}")
            more_are_answered([caller])
            assert dead()["state"] == "down"
        assert caller.failures == [] and dead()["total"] == chosen


def test_a_backend_that_is_stopped_is_left_out_before_the_directory_says_so(cluster):
    cluster.ttl = 60
    first, second, third = (cluster.start(each) for each in "abc")
    for each in (first, second):
        site(each, "api", group="api")
    front = front_of(third, check="http", check_interval=0.2)
    eventually(lambda: [each["state"] for each in backends(third)] == ["ready", "ready"],
               "both serve")
    os.kill(first.pid, signal.SIGSTOP)
    try:
        eventually(lambda: sorted(each["state"] for each in backends(third)) == ["down", "ready"],
                   "the check proves it dead")
        assert sorted(each["daemon"] for each in
                      third.ask("GET", "/v1/cluster")["daemons"]) == ["a", "b", "c"]
        with Caller(front) as caller:
            more_are_answered([caller])
        assert caller.failures == []
    finally:
        os.kill(first.pid, signal.SIGCONT)


def test_the_leader_of_etcd_is_killed_under_load(make_daemon, tmp_path):
    with Etcd(tmp_path / "etcd", count=3) as etcd:
        cluster = Cluster(make_daemon, etcd.url)
        first, second, third = (cluster.start(each) for each in "abc")
        for each in (first, second):
            site(each, "api", group="api")
        front = front_of(third)
        all_know(first, second, third)
        eventually(lambda: len(backends(third)) == 2, "both are backends")
        with Caller(front) as one, Caller(front) as another:
            callers = [one, another]
            more_are_answered(callers)
            leader = etcd.leader()
            leader.kill()
            end = time.monotonic() + 2 * TTL
            while time.monotonic() < end:
                assert len(backends(third)) == 2
                time.sleep(0.1)
            eventually(lambda: etcd.leader() not in (None, leader), "another one leads")
            more_are_answered(callers)
            second.cli("cluster", "drain")
            eventually(lambda: len(backends(third)) == 1, "changes arrive")
            more_are_answered(callers)
        assert one.failures == another.failures == []
