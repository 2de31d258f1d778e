"""Daemons that share the names of their runtimes, by etcd and by a folder."""

import json
import os
import time

import pytest

from cluster import TTL, Cluster, all_know, answer, answers, echo, names, registry_of, state
from etcd import Etcd
from resp_wire import Wire
from strata_daemon import PATIENCE, Daemon, eventually
from talker import TextTalker, port_of


@pytest.fixture(params=["etcd", "dir"])
def registry(request, tmp_path):
    with registry_of(request.param, tmp_path) as made:
        yield made


@pytest.fixture
def cluster(make_daemon, registry):
    return Cluster(make_daemon, registry.url)


def test_daemons_know_of_each_other(cluster):
    first, second = cluster.start("a"), cluster.start("b")
    echo(first, "api", "one", label=["tier=web"], group="web")
    all_know(first, second)
    eventually(lambda: "api" in second.cli("cluster", "ps"), "its runtimes are known")
    [row] = json.loads(second.cli("cluster", "ps", "--format", "json"))
    assert row["daemon"] == "a" and row["group"] == "web" and row["labels"] == {"tier": "web"}
    [endpoint] = row["endpoints"]
    assert answer(endpoint) == b"one"
    eventually(lambda: [(each["daemon"], each["count"]) for each in json.loads(
        first.cli("cluster", "ls", "--format", "json"))] == [("a", 1), ("b", 0)],
        "a knows its own card, too")
    second.stop()
    eventually(lambda: names(first) == ["a"], "who leaves is gone at once", within=TTL)


def test_daemons_have_zones_and_labels(cluster):
    first = cluster.start("a", "--zone", "hall-2", "--label", "region=eu", "--label", "tier=1")
    second = cluster.start("b")
    all_know(first, second)
    listed = json.loads(second.cli("cluster", "ls", "--format", "json"))
    assert [(each["zone"], each["labels"]) for each in listed] == [
        ("hall-2", {"region": "eu", "tier": "1"}), ("", {})]
    assert second.cli("cluster", "ls", "--columns", "daemon,zone,labels").split("\n")[1:] == [
        "a       hall-2  region eu, tier 1", "b       -       -", ""]
    assert first.cli("ls", "-q", "--on", "tier=1,region=eu") == ""
    assert "no daemon of the cluster has the label 'tier=2'" in first.run(
        "ls", "--on", "tier=2").stderr


def test_a_proxy_uses_runtimes_of_other_daemons(cluster):
    first, second, third = cluster.start("a"), cluster.start("b"), cluster.start("c")
    echo(first, "api", "one", group="api")
    echo(second, "api", "two", group="api")
    [by_group] = third.create("proxy", "groups", listen=["tcp://127.0.0.1:0"],
                              backend=["@api"])["endpoints"]
    [by_name] = third.create("proxy", "named", listen=["tcp://127.0.0.1:0"],
                             backend=["api@b"])["endpoints"]
    eventually(lambda: answers(by_group) == {b"one", b"two"}, "both answer")
    eventually(lambda: answer(by_name) == b"two", "the one of b answers")
    assert answers(by_name, 4) == {b"two"}
    assert third.show("named")["warning"] == ""
    third.create("proxy", "lost", listen=["tcp://127.0.0.1:0"], backend=["other@b"])
    assert "connects to 'other@b', but no runtime" in third.show("lost")["warning"]
    listed = json.loads(third.cli("backends", "groups", "--format", "json"))
    assert {each["backend"] for each in listed} == {"runtime://api@a", "runtime://api@b"}


def test_what_would_circulate_is_left_out(cluster):
    """Two daemons with a proxy each that is in the group of its own backends."""
    first, second = cluster.start("a"), cluster.start("b")
    echo(first, "api", "one", group="api")
    fronts = [each.create("proxy", "front", listen=["tcp://0.0.0.0:0"], group="api",
                          backend=["@api"])["endpoints"][0] for each in (first, second)]
    for each in (first, second):
        eventually(lambda daemon=each: daemon.logged("front", "front@"), "the log names the other")
    for each in fronts:
        assert answers(each.replace("0.0.0.0", "127.0.0.1"), 4) == {b"one"}


def test_the_runtimes_of_the_own_daemon_come_first_if_asked(cluster):
    first, second = cluster.start("a"), cluster.start("b")
    echo(first, "api", "one", group="api")
    echo(second, "api", "two", group="api")
    [front] = second.create("proxy", "front", listen=["tcp://127.0.0.1:0"],
                            backend=["@api prefer=local"])["endpoints"]
    eventually(lambda: len(json.loads(second.cli("backends", "front", "--format", "json"))) == 2,
               "both are backends")
    assert answers(front) == {b"two"}
    second.act("api", "stop")
    eventually(lambda: answer(front) == b"one", "the other one serves")
    refused = second.run("create", "proxy", "p", "-l", "tcp://127.0.0.1:0", "-b",
                         "127.0.0.1:1 prefer=local")
    assert refused.returncode == 2 and "needs the name of a runtime" in refused.stderr


def test_the_runtimes_of_the_own_zone_come_first_if_asked(cluster):
    far, near, own = (cluster.start(name, "--zone", zone)
                      for name, zone in (("far", "hall-1"), ("near", "hall-2"), ("own", "hall-2")))
    nowhere = cluster.start("nowhere")
    for each, text in ((far, "far"), (near, "near"), (own, "own"), (nowhere, "nowhere")):
        echo(each, "api", text, group="api")
    fronts = {}
    for each in (own, nowhere):
        [fronts[each]] = each.create("proxy", "front", listen=["tcp://127.0.0.1:0"],
                                     backend=["@api prefer=zone"])["endpoints"]
        eventually(lambda daemon=each: len(json.loads(
            daemon.cli("backends", "front", "--format", "json"))) == 4, "all are backends")
    assert answers(fronts[own]) == {b"own", b"near"}
    assert answers(fronts[nowhere]) == {b"nowhere"}  # without a zone, as prefer=local
    own.act("api", "stop")
    eventually(lambda: answers(fronts[own]) == {b"near"}, "the zone serves")
    near.act("api", "stop")
    eventually(lambda: answers(fronts[own]) == {b"far", b"nowhere"}, "the others serve")
    refused = own.run("create", "proxy", "p", "-l", "tcp://127.0.0.1:0", "-b", "@api prefer=rack")
    assert refused.returncode == 2 and "prefer=local nor prefer=zone" in refused.stderr


def test_clients_followers_and_scripts_use_other_daemons(cluster, tmp_path):
    first, second = cluster.start("a"), cluster.start("b")
    first.server("api", group="web", mode="echo")
    first.create("cache", "db", listen=["tcp://127.0.0.1:0"], resp=True)
    for name, to in (("named", "api@a"), ("member", "@web")):
        second.create("client", name, connect=f"runtime://{to}", reconnect=0, reconnect_min=0.05,
                      reconnect_max=0.1)
        second.wait_connections(name, 1)
    second.create("cache", "copy", listen=["tcp://127.0.0.1:0"], resp=True,
                  follow="runtime://db@a")
    Wire(port_of(first.show("db")["endpoints"][0])).ask("SET", "k", "v")
    copy = Wire(port_of(second.show("copy")["endpoints"][0]))
    eventually(lambda: copy.ask("GET", "k") == b"$1\r\nv\r\n", "the follower has the data")
    script = tmp_path / "asks.lua"
    script.write_text("function on_message(message, id)\n"
                      "  local db = strata.redis('db@a')\n"
                      "  self.send(id, tostring(db:call('GET', message)))\nend\n")
    [asks] = second.server("asks", mode="in", lua=str(script))
    with TextTalker(asks) as ann:
        ann.say("k")
        assert ann.hear() == "v"
    # Another member takes the place of the one that is gone.
    second.server("own", group="web", mode="echo")
    first.remove("api")
    second.wait_connections("own", 1)


def test_a_member_that_moves_is_followed(cluster):
    first, second = cluster.start("a"), cluster.start("b")
    echo(first, "api", "one", group="api")
    [front] = second.create("proxy", "front", listen=["tcp://127.0.0.1:0"],
                            backend=["@api"])["endpoints"]
    eventually(lambda: answer(front) == b"one", "it answers")
    first.remove("api")
    eventually(lambda: "api@a" not in second.cli("backends", "front"), "it is gone")
    echo(first, "other", "moved", group="api")
    eventually(lambda: answer(front) == b"moved", "another one answers")


def test_a_daemon_that_is_killed_leaves_within_the_ttl(cluster):
    first, second, third = cluster.start("a"), cluster.start("b"), cluster.start("c")
    echo(first, "api", "one", group="api")
    echo(second, "api", "two", group="api")
    [front] = third.create("proxy", "front", listen=["tcp://127.0.0.1:0"],
                           backend=["@api"])["endpoints"]
    eventually(lambda: answers(front) == {b"one", b"two"}, "both answer")
    began = time.monotonic()
    first.kill9()
    eventually(lambda: names(third) == ["b", "c"], "it is gone")
    # etcd looks for ended leases twice a second.
    assert time.monotonic() - began < TTL + 2
    eventually(lambda: answers(front, 4) == {b"two"}, "the other one answers")


def test_a_killed_daemon_gets_its_name_back(cluster):
    first = cluster.start("a")
    all_know(first)
    first.kill9()
    first.start()
    eventually(lambda: state(first) == "held", "it holds its name again")


def test_a_name_has_one_daemon(cluster):
    first = cluster.start("a")
    all_know(first)
    second = cluster.start("a")
    eventually(lambda: state(second) == "conflict", "it is told")
    assert "another daemon has it" in second.log()
    assert "is conflict" in second.run("cluster", "ls").stderr
    second.create("server", "own", listen=["tcp://127.0.0.1:0"])
    first.stop()
    eventually(lambda: state(second) == "held", "it takes the name when it is free")


def test_without_the_registry_the_last_known_state_serves(cluster, registry):
    first, second = cluster.start("a"), cluster.start("b")
    echo(first, "api", "one", group="api")
    [front] = second.create("proxy", "front", listen=["tcp://127.0.0.1:0"],
                            backend=["@api"])["endpoints"]
    all_know(first, second)
    eventually(lambda: answer(front) == b"one", "it answers")
    registry.take_away()
    eventually(lambda: state(second) == "unconfirmed", "the daemon says so")
    assert answer(front) == b"one"
    assert names(second) == ["a", "b"]
    assert second.ask("GET", "/v1/cluster")["age_s"] > 0
    registry.bring_back()
    eventually(lambda: {state(first), state(second)} == {"held"}, "they come back by themselves")


def test_cards_of_strangers_change_nothing(cluster, registry):
    first = cluster.start("a")
    all_know(first)
    for name, text in [("x", b"{"), ("y", b"\xff\x00"), ("z", b'{"daemon": "a"}'),
                       ("w", b"[" * 100_000), ("t", b"x" * (2 << 20)), ("u", b""),
                       ("v", b'{"daemon": "v", "runtimes": [{"name": 1}]}'),
                       (".q", b'{"daemon": ".q"}')]:
        if len(text) < 1_500_000 or registry.url.startswith("dir"):  # the most that etcd takes
            registry.put(name, text)
    registry.put("good", b'{"daemon": "good", "news": 1}')
    eventually(lambda: names(first) == ["a", "good"], "the good one is known")
    assert "the card of 'x' is not used" in first.log()
    assert state(first) == "held"


def test_strange_files_in_the_folder_change_nothing(make_daemon, tmp_path):
    registry = registry_of("dir", tmp_path)
    first = Cluster(make_daemon, registry.url).start("a")
    all_know(first)
    (registry.path / "folder.card").mkdir()
    os.mkfifo(registry.path / "pipe.card")
    (registry.path / "link.card").symlink_to(registry.path / "a.card")
    (registry.path / "far.card").symlink_to("/etc/shadow")
    (registry.path / "notes.txt").write_text("hello")
    registry.put("good", b'{"daemon": "good"}')
    eventually(lambda: names(first) == ["a", "good"], "the good one is known")
    # Nobody renews that card.
    eventually(lambda: names(first) == ["a"], "it is out of date")


def test_a_card_that_is_removed_is_written_again(make_daemon, tmp_path):
    registry = registry_of("dir", tmp_path)
    first, second = (Cluster(make_daemon, registry.url).start(each) for each in "ab")
    all_know(first, second)
    for each in registry.path.iterdir():
        each.unlink()
    eventually(lambda: state(first) == "held" and (registry.path / "a.card").exists(),
               "it takes its name again")
    all_know(first, second)


def test_what_a_killed_writer_left_is_no_card(make_daemon, tmp_path):
    registry = registry_of("dir", tmp_path)
    registry.path.mkdir(mode=0o700)
    for name, text in (("a.new", b'{"daemon": "a", "runt'), ("a.lock", b""), ("b.new", b""),
                       ("c.new", b'{"daemon": "c"}')):
        (registry.path / name).write_bytes(text)
    first, second = (Cluster(make_daemon, registry.url).start(each) for each in "ab")
    all_know(first, second)
    echo(first, "api", "one")
    eventually(lambda: "api" in second.run("cluster", "ps", "-q").stdout, "changes arrive")
    assert {state(first), state(second)} == {"held"}


@pytest.mark.parametrize("moment", [1, 4_000_000_000])
def test_no_clock_of_a_writer_is_believed(make_daemon, tmp_path, moment):
    """A card whose file says 1970 or 2096 is known while it changes, and gone a TTL later."""
    registry = registry_of("dir", tmp_path)
    first = Cluster(make_daemon, registry.url).start("a")
    all_know(first)

    def write(beat):
        beside = registry.path / "far.new"
        beside.write_text(json.dumps({"daemon": "far", "holder": "other", "beat": beat}))
        os.utime(beside, (moment, moment))
        beside.rename(registry.path / "far.card")

    write(0)
    eventually(lambda: names(first) == ["a", "far"], "it is known")
    end, beat = time.monotonic() + 2 * TTL, 0
    while time.monotonic() < end:
        write(beat := beat + 1)
        time.sleep(TTL / 4)
        eventually(lambda: names(first) == ["a", "far"], "it is known still")
    eventually(lambda: names(first) == ["a"], "it is out of date")


def test_the_leader_of_etcd_may_die(make_daemon, tmp_path):
    with Etcd(tmp_path / "etcd", count=3) as etcd:
        cluster = Cluster(make_daemon, etcd.url)
        first, second = cluster.start("a"), cluster.start("b")
        echo(first, "api", "one", group="api")
        [front] = second.create("proxy", "front", listen=["tcp://127.0.0.1:0"],
                                backend=["@api"])["endpoints"]
        all_know(first, second)
        eventually(lambda: answer(front) == b"one", "it answers")
        etcd.leader().kill()
        end = time.monotonic() + 3 * TTL
        while time.monotonic() < end:
            assert answer(front) == b"one" and names(second) == ["a", "b"]
            time.sleep(0.1)
        assert {state(first), state(second)} == {"held"}
        echo(first, "more", "one", group="more")
        eventually(lambda: "more" in second.cli("cluster", "ps"), "changes arrive")


@pytest.mark.parametrize("flags, why", [
    (["--cluster", "etcd://127.0.0.1:1"], "has no name"),
    (["--cluster", "etcd://", "--name", "a"], "no member"),
    (["--cluster", "redis://x", "--name", "a"], "not a registry"),
    (["--cluster", "dir://x", "--name", "a"], "no absolute path"),
    (["--cluster", "dir:///none/such", "--name", "a"], "create the folder above it"),
    (["--cluster", "dir://{open}", "--name", "a"], "every user may write there"),
    (["--cluster", "etcd://127.0.0.1:1", "--name", "a/b"], "not a name"),
    (["--cluster", "etcd://127.0.0.1:1", "--name", "a", "--zone", "hall 2"], "name of a zone"),
    (["--cluster", "etcd://127.0.0.1:1", "--name", "a", "--label", "eu"], "write KEY=VALUE"),
    (["--cluster", "etcd://127.0.0.1:1", "--name", "a", "--cluster-ttl", "0.5"], "below 1 s")])
def test_what_cannot_be_is_refused(tmp_path, flags, why):
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)
    daemon = Daemon(tmp_path / "d", *(each.replace("{open}", str(folder)) for each in flags))
    process = daemon.launch()
    assert process.wait(timeout=PATIENCE) == 1
    assert why in daemon.log()


def test_a_daemon_outside_of_a_cluster_says_so(daemon):
    for words in (["ls"], ["drain"], ["group", "x"]):
        done = daemon.run("cluster", *words)
        assert done.returncode != 0 and "in no cluster" in done.stderr
    assert "in no cluster" in daemon.run("ls", "--on", "b").stderr
