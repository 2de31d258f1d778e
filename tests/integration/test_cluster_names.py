"""A daemon's name has one holder at a time, whatever befalls daemons, their links and the registry.

STRATA_ROUNDS=N lets N faults happen instead of 12.
"""

import os
import random
import signal
import time

import pytest

from cluster import TTL, Cluster, registry_of, state
from cut_proxy import CutProxy
from etcd import Etcd
from folder_history import FolderHistory
from name_history import NameHistory
from strata_daemon import eventually

pytestmark = pytest.mark.once

ROUNDS = int(os.environ.get("STRATA_ROUNDS", "12"))
SEED = int(os.environ.get("STRATA_SEED", random.randrange(1 << 32)))


def are_settled(daemons):
    return sorted(map(state, daemons)) == ["conflict", "held", "held"]


class Rivals:
    """Two daemons that want one name of etcd and a third one that wants another, and the faults
    that befall them. Each reaches etcd by links of its own."""

    def __init__(self, make_daemon, etcd, history):
        self.etcd, self.history = etcd, history
        self.chance = random.Random(SEED)
        self.links = [[CutProxy(member.port) for member in etcd.members] for _ in range(3)]
        cluster = Cluster(make_daemon, etcd.url)
        self.daemons = [
            cluster.start(name, url="etcd://" + ",".join(f"127.0.0.1:{each.port}" for each in links))
            for name, links in zip(("a", "a", "b"), self.links)]

    def wait(self):
        time.sleep(self.chance.uniform(0, 1.5 * TTL))

    def cut(self):
        """Connections break, and no others come to be."""
        self.interrupt(CutProxy.pause)

    def silence(self):
        """Connections stay open, and nothing arrives."""
        self.interrupt(CutProxy.hold)

    def interrupt(self, how):
        links = self.chance.choice(self.links)
        for each in links:
            how(each)
        self.wait()
        for each in links:
            each.resume()

    def kill_daemon(self):
        daemon = self.chance.choice(self.daemons)
        daemon.kill9()
        daemon.start()

    def pause_daemon(self):
        daemon = self.chance.choice(self.daemons)
        os.kill(daemon.pid, signal.SIGSTOP)
        self.wait()
        os.kill(daemon.pid, signal.SIGCONT)

    def kill_leader(self):
        leader = self.etcd.leader()
        leader.kill()
        self.wait()
        leader.start()
        eventually(leader.is_healthy, "it is a member again")

    def fill(self):
        """Etcd takes no writes, but keeps leases."""
        member = self.etcd.members[0]
        identity = member.call("/v3/maintenance/status")["header"]["member_id"]
        for action in ("ACTIVATE", "DEACTIVATE"):
            member.call("/v3/maintenance/alarm", action=action, alarm="NOSPACE", memberID=identity)
            self.wait()

    def compact(self):
        """What happened before is forgotten, also by those who have not heard of it."""
        links = self.chance.choice(self.links)
        for each in links:
            each.hold()
        self.history.catch_up()
        self.etcd.put(b"/other", b"")  # a revision is compacted once
        status = self.etcd.members[0].call("/v3/maintenance/status")
        self.etcd.members[0].call("/v3/kv/compaction", revision=status["header"]["revision"],
                                  physical=True)
        for each in links:
            each.resume()

    def forget(self):
        """Etcd loses its data, so that revisions go back. Whoever has held a name takes itself for
        its holder until it asks again, within the TTL."""
        [member] = self.etcd.members
        member.kill()
        member.forget()
        self.history.begin_again()
        member.start()
        eventually(member.is_healthy, "it serves")
        time.sleep(TTL)
        self.settle()

    def settle(self):
        eventually(lambda: are_settled(self.daemons), "both names are held")

    def close(self):
        for links in self.links:
            for each in links:
                each.close()


FAULTS = [Rivals.cut, Rivals.silence, Rivals.kill_daemon, Rivals.pause_daemon, Rivals.fill,
          Rivals.compact]


@pytest.mark.parametrize("members, faults", [(1, [*FAULTS, Rivals.forget]),
                                             (3, [*FAULTS, Rivals.kill_leader])])
def test_a_name_in_etcd_never_has_two_holders(make_daemon, tmp_path, members, faults):
    print("seed", SEED)
    with Etcd(tmp_path / "etcd", members) as etcd, NameHistory(etcd) as history:
        rivals = Rivals(make_daemon, etcd, history)
        try:
            rivals.settle()
            for number in range(ROUNDS):
                fault = faults[number] if number < len(faults) else rivals.chance.choice(faults)
                print(fault.__name__)
                fault(rivals)
                # Nobody takes itself for the holder of a name that another one holds.
                assert sorted(map(state, rivals.daemons[:2])) != ["held", "held"]
            rivals.settle()
            history.catch_up()
        finally:
            rivals.close()
    assert history.gaps == [] and history.leases.keys() == {"a", "b"}
    assert history.clashes == []


def test_the_history_finds_a_clash(tmp_path):
    with Etcd(tmp_path / "etcd") as etcd, NameHistory(etcd) as history:
        for _ in range(2):
            lease = etcd.members[0].call("/v3/lease/grant", TTL=60)["ID"]
            etcd.put(b"/strata/daemons/a", b"", lease)
        history.catch_up()
    assert len(history.clashes) == 1 and history.gaps == []


def test_a_name_in_a_folder_never_has_two_holders(make_daemon, tmp_path):
    registry = registry_of("dir", tmp_path)
    cluster = Cluster(make_daemon, registry.url)
    daemons = [cluster.start("a") for _ in range(2)]
    for _ in range(3):
        eventually(lambda: sorted(map(state, daemons)) == ["conflict", "held"], "one holds it")
        holder = next(each for each in daemons if state(each) == "held")
        other = next(each for each in daemons if each is not holder)
        before = registry.holder("a")
        holder.kill9()
        eventually(lambda: registry.holder("a") != before, "the other one takes it")
        eventually(lambda: state(other) == "held", "it knows that it holds it")
        holder.start()


def test_no_two_processes_write_one_card(make_daemon, tmp_path, root):
    """Two daemons want one name of a folder, and a third one another, while they are stopped and
    killed at random. Whoever writes the card of another process must find it dead."""
    print("seed", SEED)
    chance = random.Random(SEED)
    registry = registry_of("dir", tmp_path)
    registry.path.mkdir(mode=0o700)
    ends = {}
    with FolderHistory(registry.path) as history:
        cluster = Cluster(make_daemon, registry.url)
        daemons = [cluster.start(name) for name in ("a", "a", "b")]
        for _ in range(ROUNDS):
            victim = chance.choice(daemons)
            if chance.random() < 0.5:
                os.kill(victim.pid, signal.SIGSTOP)
                time.sleep(chance.uniform(0, 1.5 * TTL))
                os.kill(victim.pid, signal.SIGCONT)
            else:
                ends[victim.pid] = time.monotonic()
                victim.kill9()
                victim.start()
        eventually(lambda: are_settled(daemons), "both names are held")
    assert {each.name for each in history.writes} == {"a", "b"} and ends, SEED
    present = {}
    for each in history.writes:
        before = present.get(each.name, each)
        assert before.pid == each.pid or ends.get(before.pid, each.at) < each.at, \
            (before, each, SEED)
        present[each.name] = each
