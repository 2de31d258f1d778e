"""Daemons that are killed and cut off: a name has one holder, and no request fails."""

import base64
import json
import os
import random
import signal
import time
import urllib.error
import urllib.request

import pytest

from cluster import (
    TTL, Caller, Cluster, Folder, all_know, answers, echo, names, registry_of, site, state)
from cut_proxy import CutProxy
from etcd import Etcd
from folder_history import FolderHistory
from strata_daemon import PATIENCE, eventually

pytestmark = pytest.mark.once


def killed_without_a_failure(cluster):
    first, second, third = (cluster.start(each) for each in "abc")
    for each in (first, second):
        site(each, "api", group="api")
    [front] = third.create("proxy", "front", listen=["http://127.0.0.1:0"],
                           backend=["@api"])["endpoints"]
    eventually(lambda: len(json.loads(third.cli("backends", "front", "--format", "json"))) == 2,
               "both are backends")
    with Caller(front) as caller:
        eventually(lambda: caller.answered > 20, "requests are answered")
        first.kill9()
        began = time.monotonic()
        eventually(lambda: len(json.loads(third.cli("backends", "front", "--format", "json"))) == 1,
                   "its backend has left")
        assert time.monotonic() - began < TTL + 2
        before = caller.answered
        eventually(lambda: caller.answered > before + 20, "requests are answered still")
    assert caller.failures == []


def test_a_daemon_is_killed_under_load_with_etcd(make_daemon, tmp_path):
    with registry_of("etcd", tmp_path) as registry:
        killed_without_a_failure(Cluster(make_daemon, registry.url))


def test_a_daemon_is_killed_under_load_with_a_folder(make_daemon, tmp_path):
    killed_without_a_failure(Cluster(make_daemon, registry_of("dir", tmp_path).url))


def test_a_daemon_that_is_cut_off_comes_back(make_daemon, tmp_path):
    with Etcd(tmp_path / "etcd") as etcd:
        cut = CutProxy(etcd.members[0].port)
        cluster = Cluster(make_daemon, etcd.url)
        first = cluster.start("a", url=f"etcd://127.0.0.1:{cut.port}")
        second = cluster.start("b")
        echo(first, "api", "one", group="api")
        all_know(first, second)
        cut.pause()
        eventually(lambda: names(second) == ["b"], "it has left")
        assert state(first) in ("unconfirmed", "joining")
        assert names(first) == ["a", "b"]
        cut.resume()
        eventually(lambda: state(first) == "held", "it holds its name again")
        all_know(first, second)
        cut.close()


@pytest.mark.parametrize("mark", [b"\r\n\r\n", b'"header"'])
def test_an_etcd_that_stalls_is_left(make_daemon, tmp_path, mark):
    """Each connection falls silent in the middle of an answer, and does not end."""
    with Etcd(tmp_path / "etcd") as etcd:
        cut = CutProxy(etcd.members[0].port)
        cluster = Cluster(make_daemon, etcd.url)
        first = cluster.start("a", url=f"etcd://127.0.0.1:{cut.port}")
        second = cluster.start("b")
        for each, text in ((first, "one"), (second, "two")):
            echo(each, "api", text, group="api")
        [front] = first.create("proxy", "front", listen=["tcp://127.0.0.1:0"],
                               backend=["@api"])["endpoints"]
        all_know(first, second)
        eventually(lambda: answers(front) == {b"one", b"two"}, "both answer")
        cut.stall_behind(mark)
        eventually(lambda: names(second) == ["b"], "it has left")
        assert state(first) in ("unconfirmed", "joining")
        eventually(lambda: "does not answer, or not to the end" in first.log(), "the log says so")
        assert "b" in names(first) and answers(front) == {b"one", b"two"}
        cut.resume()
        eventually(lambda: state(first) == "held", "it holds its name again")
        all_know(first, second)
        cut.close()


def test_a_member_that_stalls_is_left_for_another(make_daemon, tmp_path):
    with Etcd(tmp_path / "etcd") as etcd:
        cut = CutProxy(etcd.members[0].port)
        first = Cluster(make_daemon, f"etcd://127.0.0.1:{cut.port},127.0.0.1:"
                                     f"{etcd.members[0].port}").start("a")
        all_know(first)
        cut.stall_behind(b"\r\n\r\n")
        eventually(lambda: "not to the end" in first.log(), "it has stalled")
        eventually(lambda: state(first) == "held", "the other member keeps its name")
        echo(first, "late", "one")
        eventually(lambda: "late" in first.cli("cluster", "ps", "-q"), "it is read and written")
        cut.close()


def test_an_etcd_that_is_full_keeps_the_names(make_daemon, tmp_path):
    with Etcd(tmp_path / "etcd") as etcd:
        cluster = Cluster(make_daemon, etcd.url)
        first, second = cluster.start("a"), cluster.start("b")
        all_know(first, second)
        member = etcd.members[0]
        member.call("/v3/maintenance/alarm", action="ACTIVATE", alarm="NOSPACE",
                    memberID=member.call("/v3/maintenance/status")["header"]["member_id"])
        echo(first, "late", "one", group="late")
        eventually(lambda: "exceeded" in first.log(), "the log says so")
        time.sleep(2 * TTL)
        assert names(second) == ["a", "b"] and {state(first), state(second)} == {"held"}
        member.call("/v3/maintenance/alarm", action="DEACTIVATE", alarm="NOSPACE",
                    memberID=member.call("/v3/maintenance/status")["header"]["member_id"])
        eventually(lambda: "late" in second.cli("cluster", "ps"), "the change arrives")


def test_a_history_that_is_compacted_is_read_again(make_daemon, tmp_path):
    with Etcd(tmp_path / "etcd") as etcd:
        cut = CutProxy(etcd.members[0].port)
        cluster = Cluster(make_daemon, etcd.url)
        first, second = cluster.start("a"), cluster.start("b", url=f"etcd://127.0.0.1:{cut.port}")
        all_know(first, second)
        cut.pause()
        for number in range(5):
            echo(first, f"api{number}", "one")
            time.sleep(0.4)
        status = etcd.members[0].call("/v3/maintenance/status")
        etcd.members[0].call("/v3/kv/compaction", revision=status["header"]["revision"],
                             physical=True)
        cut.resume()
        eventually(lambda: second.run("cluster", "ps", "-q").stdout.split().count("api4") == 1,
                   "the present state is known")
        cut.close()


def hostile_cards():
    """Names and texts of 50 keys of 1.4 MB each."""
    long = 1_400_000
    texts = [b"x" * long, b"\xff" * long, b"[" * long, b'{"daemon": "c", "runtimes": [' * 48_000,
             b'{"daemon": "c", "version": "' + b"1" * long + b'"}',
             b'{"daemon": "b", "runtimes": []}'.ljust(long)]
    # A key may be as long as a value.
    names = [b"", b"/", b"a/b", b"line\nfeed", b"\x1b[2J", b"\xff\xfe", b"\0", b"a b", b".q", b"..",
             b"n" * long]
    names += [f"c{number:02}".encode() for number in range(50 - len(names))]
    for number, name in enumerate(names):
        yield name, b"{}" if len(name) == long else texts[number % len(texts)]


def test_cards_of_strangers_do_not_fill_an_answer(make_daemon, tmp_path):
    """More than one answer of etcd may hold, beside three daemons, before and after they start."""
    with Etcd(tmp_path / "etcd") as etcd:
        cluster = Cluster(make_daemon, etcd.url, ttl=10)  # on a busy machine it takes seconds
        first = cluster.start("a")
        for name, text in hostile_cards():
            etcd.put(b"/strata/daemons/" + name, text)
        second, third = cluster.start("b"), cluster.start("z")
        for each in (first, second, third):
            eventually(lambda daemon=each: names(daemon) == ["a", "b", "z"], "all are known")
            listed = json.loads(each.run("cluster", "ls", "--format", "json").stdout)
            assert [row["daemon"] for row in listed] == ["a", "b", "z"]
        echo(first, "late", "one")
        eventually(lambda: "late" in third.run("cluster", "ps", "-q").stdout, "changes arrive")
        third.stop()
        eventually(lambda: names(second) == ["a", "b"], "who leaves is gone")
        eventually(lambda: {state(first), state(second)} == {"held"}, "both hold their names")
        # Each line of the log begins with its time, and has nothing that a terminal obeys.
        for line in second.log().splitlines():
            assert line.isprintable() and len(line) < 1000, line[:1000]
        assert "the card of 'line\\nfeed' is not used" in second.log()


def test_an_etcd_that_starts_afresh_is_joined_again(make_daemon, tmp_path):
    """As after a restore from an old backup: revisions go back, and leases are gone."""
    with Etcd(tmp_path / "etcd") as etcd:
        cluster = Cluster(make_daemon, etcd.url)
        first, second = cluster.start("a"), cluster.start("b")
        all_know(first, second)
        etcd.members[0].kill()
        etcd.members[0].forget()
        etcd.members[0].start()
        echo(first, "new", "one")
        eventually(lambda: "new" in second.run("cluster", "ps").stdout, "they know each other")
        eventually(lambda: {state(first), state(second)} == {"held"}, "both hold their names")


def test_a_folder_that_becomes_read_only(make_daemon, failing_disk):
    registry = Folder(failing_disk.mount / "cluster")
    cluster = Cluster(make_daemon, registry.url)
    first, second = cluster.start("a"), cluster.start("b")
    all_know(first, second)
    failing_disk.become("readonly")
    eventually(lambda: state(first) == "unconfirmed", "it may have lost its name")
    assert "Read-only file system" in first.log()
    echo(first, "late", "one")
    failing_disk.become("good")
    eventually(lambda: {state(first), state(second)} == {"held"}, "they hold their names again")
    all_know(first, second)
    eventually(lambda: "late" in second.run("cluster", "ps", "-q").stdout, "its card is whole")


def test_a_folder_on_a_full_disk(make_daemon, small_disk):
    registry = Folder(small_disk / "cluster")
    cluster = Cluster(make_daemon, registry.url)
    first = cluster.start("a")
    all_know(first)
    with open(small_disk / "filling", "wb", buffering=0) as filling:
        try:
            while True:
                filling.write(bytes(4096))
        except OSError:
            pass
    eventually(lambda: state(first) == "unconfirmed", "it may have lost its name")
    assert "No space left on device" in first.log()
    first.create("server", "s", listen=["tcp://127.0.0.1:0"])
    (small_disk / "filling").unlink()
    eventually(lambda: state(first) == "held", "it holds its name again")
    eventually(lambda: "s" in first.cli("cluster", "ps"), "its card is whole")
