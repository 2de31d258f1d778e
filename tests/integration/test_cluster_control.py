"""What users and scripts see of a cluster, and daemons that are controlled from another one."""

import json
import subprocess

import pytest

from cluster import Cluster, all_know, answer, answers, echo, names, registry_of
from controlled import Controlled
from strata_daemon import BINARY, eventually


@pytest.fixture
def cluster(make_daemon, tmp_path):
    return Cluster(make_daemon, registry_of("dir", tmp_path).url)


def test_groups_daemons_and_sums(cluster):
    first, second = cluster.start("a"), cluster.start("b")
    echo(first, "api", "one", group="web")
    echo(second, "api", "two", group="web")
    echo(second, "alone", "three")
    all_know(first, second)

    def sums(daemon):
        shown = json.loads(daemon.cli("cluster", "stats", "--format", "json"))
        return shown["daemons"], shown["runtimes"], shown["running"]
    for each in (first, second):
        eventually(lambda daemon=each: sums(daemon) == (2, 3, 3), "all run")
    assert first.cli("cluster", "ps", "-q").split() == ["api", "alone", "api"]
    assert json.loads(first.cli("cluster", "group", "--format", "json")) == [
        {"name": "web", "group": "web", "daemons": ["a", "b"], "runtimes": 2, "running": 2}]
    members = json.loads(first.cli("cluster", "group", "@web", "--format", "json"))
    assert [(each["daemon"], each["name"]) for each in members] == [("a", "api"), ("b", "api")]
    assert "no runtime of the cluster is in" in first.run("cluster", "group", "none").stderr
    shown = json.loads(first.cli("cluster", "show", "b", "--format", "json"))
    assert [each["name"] for each in shown["runtimes"]] == ["alone", "api"]
    assert "alone" in first.cli("cluster", "show", "b")
    assert "no daemon 'c'" in first.run("cluster", "show", "c").stderr
    assert "daemons" in second.cli("cluster", "stats")


def test_a_drained_daemon_is_not_chosen(cluster):
    first, second, third = (cluster.start(each) for each in "abc")
    echo(first, "api", "one", group="api")
    echo(second, "api", "two", group="api")
    [front] = third.create("proxy", "front", listen=["tcp://127.0.0.1:0"],
                           backend=["@api"])["endpoints"]
    eventually(lambda: answers(front) == {b"one", b"two"}, "both answer")
    assert first.run("cluster", "drain").returncode == 0
    eventually(lambda: answers(front) == {b"two"}, "the drained one is not chosen")
    [row] = [each for each in json.loads(third.cli("cluster", "ls", "--format", "json"))
             if each["daemon"] == "a"]
    assert row["is_drained"] is True and row["running"] == 1
    first.cli("cluster", "drain", "--end")
    eventually(lambda: answers(front) == {b"one", b"two"}, "both answer again")


def test_events_tell_of_daemons(cluster):
    first = cluster.start("a")
    all_know(first)
    watching = subprocess.Popen([BINARY, "cluster", "watch", "--format", "json"],
                                env=first.environment, text=True, stdout=subprocess.PIPE)
    first.create("server", "own", listen=["tcp://127.0.0.1:0"])  # an event of no daemon
    second = cluster.start("b")
    joined = json.loads(watching.stdout.readline())
    assert (joined["event"], joined["type"], joined["runtime"]) == ("join", "daemon", "b")
    echo(second, "api", "one")
    changed = json.loads(watching.stdout.readline())
    assert changed["event"] == "change" and "api" in changed["detail"]
    second.stop()
    while (left := json.loads(watching.stdout.readline()))["event"] == "change":
        pass
    assert (left["event"], left["runtime"]) == ("leave", "b")
    watching.kill()
    watching.communicate()


def test_scripts_know_of_other_daemons(cluster):
    first = cluster.start("a", "--zone", "hall", "--label", "tier=edge")
    script = first.folder / "watch.lua"
    script.write_text("""
        function on_cluster_join(daemon) strata.log('joined ' .. daemon) end
        function on_cluster_leave(daemon) strata.log('left ' .. daemon) end
        strata.watch_group('web', function(members)
          local names = {}
          for at, each in ipairs(members) do
            names[at] = (each.daemon or 'here') .. ':' .. each.name
          end
          strata.log('members ' .. table.concat(names, ' '))
        end)
        function on_message(message, id)
          local sums = strata.cluster.stats()
          local group = strata.cluster.group('web')
          self.send(id, sums.daemons .. ' ' .. sums.runtimes .. ' ' .. #group .. ' '
            .. #strata.cluster.runtimes() .. ' ' .. strata.cluster.get().name .. ' '
            .. strata.cluster.daemons()[1].zone .. ' ' .. strata.cluster.daemons()[1].labels.tier)
        end
    """)
    [url] = first.create("server", "watch", listen=["tcp://127.0.0.1:0"],
                         lua=str(script))["endpoints"]
    echo(first, "near", "one", group="web")
    eventually(lambda: first.logged("watch", "members here:near"), "the script is told")
    second = cluster.start("b")
    eventually(lambda: first.logged("watch", "joined b"), "the script is told")
    echo(second, "far", "two", group="web")
    eventually(lambda: first.logged("watch", "members here:near b:far"), "the script is told")
    eventually(lambda: answers(url, 1) == {b"2 3 2 3 a hall edge"},
               "the numbers are those of the cluster")
    second.stop()
    eventually(lambda: first.logged("watch", "left b"), "the script is told")


def test_a_script_outside_of_a_cluster_finds_none(scripted):
    url = scripted("""
        function on_message(_, id)
          local view, why = strata.cluster.get()
          self.send(id, #strata.cluster.daemons() .. ' ' .. tostring(view) .. ' ' .. why)
        end
    """, protocol="auto")
    assert answer(url).startswith(b"0 nil") and b"in no cluster" in answer(url)


def test_a_verb_acts_on_another_daemon(cluster, tmp_path):
    controlled = Controlled(cluster, tmp_path)
    first, second = controlled.start("a"), controlled.start("b")
    all_know(first, second)
    made = controlled.run(first, "create", "server", "far", "-l", "tcp://127.0.0.1:0", "-s", "--on",
                          "b")
    assert made.returncode == 0, made
    assert second.names() == ["far"] and first.names() == []
    assert controlled.run(first, "ls", "-q", "--on", "b").stdout.split() == ["far"]
    assert controlled.run(first, "ls", "-q", "--on", "a").stdout.split() == []
    missing = controlled.run(first, "ls", "--on", "c")
    assert missing.returncode == 3 and "the cluster has no daemon 'c', but a, b" in missing.stderr
    # A token is not sent to an address that a registry names.
    refused = controlled.run(first, "ls", "--on", "b", STRATA_CLIENT_CERT="", STRATA_CLIENT_KEY="",
                             STRATA_TOKEN="0123456789abcdef0123456789abcdef")
    assert refused.returncode != 0, refused


def test_a_verb_acts_on_all_daemons(cluster, tmp_path):
    controlled = Controlled(cluster, tmp_path)
    daemons = [controlled.start(each) for each in "ab"]
    all_know(*daemons)
    for each, name in zip(daemons, ("one", "two")):
        echo(each, name, name)
    shown = controlled.run(daemons[0], "ls", "-q", "--on", "*")
    assert sorted(shown.stdout.splitlines()) == ["a  one", "b  two"], shown
    assert shown.returncode == 0
    assert controlled.run(daemons[0], "ls", "-q", "--all").stdout == shown.stdout
    both = controlled.run(daemons[0], "ls", "--all", "--on", "b")
    assert both.returncode == 2 and "give only one" in both.stderr
    answers_of_all = json.loads(controlled.run(daemons[0], "ls", "-q", "--format", "json", "--on",
                                               "*").stdout)
    assert answers_of_all == [{"daemon": "a", "exit": 0, "answer": ["one"]},
                              {"daemon": "b", "exit": 0, "answer": ["two"]}]
    done = controlled.run(daemons[0], "stop", "two", "--on", "*")
    assert done.returncode == 3 and "a: " in done.stderr  # a has no such runtime
    eventually(lambda: daemons[1].show("two")["state"] == "stopped", "it has stopped")
    for each in daemons:
        echo(each, "both", "both")
    all_know(*daemons)
    eventually(lambda: daemons[0].cli("cluster", "ps", "-q").split().count("both") == 2,
               "both are known")
    assert controlled.run(daemons[0], "edit", "both", "--rate-limit", "7", "--on",
                          "*").returncode == 0
    assert [each.show("both")["options"]["rate_limit"] for each in daemons] == [7, 7]
    none = controlled.run(daemons[0], "edit", "none", "--rate-limit", "7", "--on", "*")
    assert none.returncode == 3 and "none of these daemons has a runtime 'none'" in none.stderr
    following = subprocess.Popen(
        [BINARY, "events", "-f", "--on", "*"], text=True, stdout=subprocess.PIPE,
        env=daemons[0].environment | {
            "STRATA_CA": controlled.authority.ca, "STRATA_CLIENT_CERT": controlled.own[0],
            "STRATA_CLIENT_KEY": controlled.own[1]})
    lines = iter(following.stdout.readline, "")  # a tells of changes of b, too
    assert any(line.startswith("b  ") and "server two" in line for line in lines)
    following.terminate()
    following.communicate()


def lines_from_all(controlled, daemon, *words):
    """Starts a verb that follows all daemons; returns it and its lines."""
    following = subprocess.Popen(
        [BINARY, *words, "--on", "*"], text=True, stdout=subprocess.PIPE,
        env=daemon.environment | {
            "STRATA_CA": controlled.authority.ca, "STRATA_CLIENT_CERT": controlled.own[0],
            "STRATA_CLIENT_KEY": controlled.own[1]})
    return following, iter(following.stdout.readline, "")


def await_one_of_each(lines, wanted, act):
    """Reads lines until each daemon has written one that contains its text; acts in between."""
    act()
    missing = dict(wanted)
    for line in lines:
        daemon, _, text = line.partition("  ")
        if missing.get(daemon, "\n\n") in text:
            del missing[daemon]
        if not missing:
            return
    assert not missing


def test_events_logs_and_figures_of_three_daemons(cluster, tmp_path):
    controlled = Controlled(cluster, tmp_path)
    daemons = {each: controlled.start(each) for each in "abc"}
    all_know(*daemons.values())
    first = daemons["a"]
    for name, each in daemons.items():
        echo(each, "api", f"from {name}")

    following, lines = lines_from_all(controlled, first, "events", "-f")
    await_one_of_each(lines, {each: f"server own-{each}" for each in daemons}, lambda: [
        each.create("server", f"own-{name}", listen=["tcp://127.0.0.1:0"])
        for name, each in daemons.items()])
    following.terminate()
    following.communicate()

    shown = controlled.run(first, "logs", "api", "--on", "*")
    assert shown.returncode == 0, shown
    assert {line.split()[0] for line in shown.stdout.splitlines() if "started" in line} \
        == set(daemons)
    following, lines = lines_from_all(controlled, first, "logs", "api", "-f")
    await_one_of_each(lines, {each: "edited: rate_limit" for each in daemons}, lambda: [
        each.edit("api", rate_limit=1000) for each in daemons.values()])
    following.terminate()
    following.communicate()

    done = controlled.run(first, "top", "-n", "2", "--interval", "0.2s", "--format", "json",
                          "--on", "*")
    assert done.returncode == 0, done
    samples = {each["daemon"]: each["answer"] for each in json.loads(done.stdout)}
    assert samples.keys() == daemons.keys()
    for name, each in samples.items():
        assert len(each) == 2 and "api" in json.dumps(each) and f"own-{name}" in json.dumps(each)
    plain = controlled.run(first, "top", "-n", "1", "--on", "*")
    assert {line.split()[0] for line in plain.stdout.splitlines() if " api " in f"{line} "} \
        == set(daemons), plain


def test_a_daemon_that_is_not_controlled_from_elsewhere(cluster):
    first, second = cluster.start("a"), cluster.start("b")
    all_know(first, second)
    done = first.run("ls", "--on", "b")
    assert done.returncode != 0 and "--listen https://HOST:PORT" in done.stderr
    assert names(first) == ["a", "b"]
