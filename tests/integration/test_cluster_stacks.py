"""Stacks whose runtimes belong to several daemons of a cluster: the key `on`."""

import json

import pytest

from cluster import Cluster, all_know, answer, registry_of
from controlled import Controlled
from strata_daemon import eventually
from talker import free_port

pytestmark = pytest.mark.once

SHOP = """name: shop
runtimes:
  front:
    type: proxy
    listen: tcp://127.0.0.1:0
    backend: api
  api:
    type: server
    listen: tcp://0.0.0.0:0
    lua: api.lua
    on: b
"""


@pytest.fixture
def controlled(make_daemon, tmp_path):
    return Controlled(Cluster(make_daemon, registry_of("dir", tmp_path).url), tmp_path)


@pytest.fixture
def daemons(controlled):
    """Two daemons; the first one is spoken to."""
    both = [controlled.start("a", "--label", "tier=edge"),
            controlled.start("b", "--label", "tier=core", "--label", "disk=ssd")]
    all_know(*both)
    return both


@pytest.fixture
def stack(controlled, daemons, tmp_path):
    """Returns a function that runs a verb of stacks at the first daemon; it returns the exit code,
    output and errors."""
    path = tmp_path / "strata.yaml"
    (tmp_path / "api.lua").write_text("function on_message(m, id) self.send(id, 'api ' .. m) end")

    def run(verb, text=None, *flags):
        if text is not None:
            path.write_text(text)
        done = controlled.run(daemons[0], verb, *flags, "-f", path)
        return done.returncode, done.stdout, done.stderr

    run.path = path
    return run


def test_a_stack_comes_up_on_two_daemons(daemons, stack):
    first, second = daemons
    assert stack("up", SHOP, "--dry-run") == (
        0, "front@a: would be created\napi@b: would be created\n", "")
    assert [each.names() for each in daemons] == [[], []]
    # What others need comes first, wherever it is.
    assert stack("up", None, "--wait") == (
        0, "plan: create front@a, api@b\napi@b: created\nfront@a: created\n", "")
    assert [each.names() for each in daemons] == [["front"], ["api"]]
    [front] = first.show("front")["endpoints"]
    eventually(lambda: answer(front) == b"api who?", "the proxy passes to the other daemon")
    assert stack("up") == (
        0, "plan: nothing to change\napi@b: unchanged\nfront@a: unchanged\n", "")
    assert stack("diff") == (0, "", "")
    second.edit("api", max_connections=5)
    code, output, _ = stack("diff", SHOP + "    max_connections: 7\n", "--format", "json")
    assert (code, json.loads(output)) == (1, [
        {"daemon": "b", "name": "api", "change": "edit", "option": "max_connections",
         "present": 5, "desired": 7}])
    assert stack("diff")[1].startswith("DAEMON  NAME  CHANGE")
    code, output, _ = stack("up", None, "--format", "json")
    assert code == 0 and json.loads(output)[0] == {
        "name": "api", "daemon": "b", "what": "changed", "options": ["max_connections"],
        "needs_restart": []}
    assert stack("down") == (0, "front@a: removed\napi@b: removed\n", "")
    assert [each.names() for each in daemons] == [[], []]


def test_globs_lists_and_labels_stand_for_daemons(daemons, stack):
    first, second = daemons
    text = "name: many\nruntimes:\n"
    for name, words in (("glob", "'?'"), ("list", "[b, a]"), ("label", "tier=core"),
                        ("labels", "'tier=core,disk=ssd'"), ("either", "[tier=edge, disk=ssd]")):
        text += f"  {name}: {{type: server, listen: tcp://127.0.0.1:0, on: {words}}}\n"
    assert stack("up", text)[0] == 0
    assert sorted(first.names()) == ["either", "glob", "list"]
    assert sorted(second.names()) == ["either", "glob", "label", "labels", "list"]
    code, _, complaint = stack("up", text.replace("disk=ssd]", "disk=tape]"))
    assert code == 3 and "no daemon of the cluster has the label 'disk=tape'" in complaint


def test_a_runtime_that_moves_is_pruned_where_it_was(daemons, stack):
    stack("up", SHOP)
    moved = SHOP.replace("on: b", "on: a")
    assert stack("up", moved)[1] == (
        "plan: create api@a; keep 1\napi@a: created\nfront@a: unchanged\n")
    eventually(lambda: "b       api   prune" in stack("diff")[1], "the card of b shows it")
    assert stack("up", None, "--prune")[1].endswith("api@b: removed\n")
    assert [sorted(each.names()) for each in daemons] == [["api", "front"], []]
    assert stack("diff")[0] == 0


def test_a_failure_goes_back_on_all_daemons(daemons, stack):
    port = free_port()
    wrong = SHOP + (f"  last: {{type: client, target: '127.0.0.1:{port}', "
                    "depends_on: [front, api], on: [b, a]}\n")
    code, output, complaint = stack("up", wrong, "--rollback")
    assert code == 1 and "api@b: created" in output and str(port) in complaint
    assert "as before: last@b, front@a, api@b" in complaint
    assert [each.names() for each in daemons] == [[], []]


def test_nothing_is_changed_if_a_daemon_is_missing(controlled, daemons, stack):
    for on, why in (("c", "the cluster has no daemon 'c', but a, b"),
                    ("'x*'", "the cluster has no daemon 'x*', but a, b")):
        for verb in ("up", "diff", "down"):
            code, output, complaint = stack(verb, SHOP.replace("on: b", f"on: {on}"))
            assert (code, output) == (3, "")
            assert f"{stack.path}:11:9: no daemon for 'api': {why}" in complaint
    uncontrolled = controlled.cluster.start("d")
    all_know(*daemons, uncontrolled)
    late = SHOP + "  zoo: {type: server, listen: tcp://127.0.0.1:0, on: d}\n"
    code, output, complaint = stack("up", late, "--prune")
    assert (code, output) == (1, "") and "strata.yaml:12:54: no daemon for 'zoo': " in complaint
    assert "start it with --listen https://HOST:PORT" in complaint
    # front comes last, but is known to be refused before api is made.
    daemons[0].server("front")
    code, output, complaint = stack("up", SHOP)
    assert (code, output) == (1, "") and "'front@a': 'front' already exists" in complaint
    assert daemons[1].names() == []
    daemons[0].remove("front")
    daemons[1].kill9()
    code, output, complaint = stack("up", SHOP)
    assert (code, output) == (4, "") and "strata.yaml:11:9: no daemon for 'api': " in complaint
    assert daemons[0].names() == []


def test_the_daemon_spoken_to_need_not_be_the_first(controlled, daemons, stack, tmp_path):
    stack.path.write_text(SHOP.replace("on: b", "on: a"))
    done = controlled.run(daemons[0], "up", "-f", stack.path, "--on", "b")
    assert done.stdout == (
            "plan: create api@a, front@b\napi@a: created\nfront@b: created\n"), done
    done = controlled.run(daemons[0], "up", "-f", stack.path, "--on", "*")
    assert done.stdout == (
            "plan: create front@a; keep 2\n"
            "api@a: unchanged\nfront@a: created\nfront@b: unchanged\n"), done
    assert controlled.run(daemons[0], "down", "--name", "shop", "--on", "*").returncode == 0
    assert [each.names() for each in daemons] == [[], []]


def test_what_several_daemons_have_is_exported_once(controlled, daemons, stack):
    stack("up", SHOP + "  both: {type: server, listen: tcp://127.0.0.1:0, on: [a, b]}\n")
    done = controlled.run(daemons[0], "export", "--on", "*")
    assert done.returncode == 0 and '"on": [a, b]' in done.stdout, done
    stack.path.write_text(done.stdout)
    assert stack("up")[1] == (
        "plan: nothing to change\n"
        "both@a: unchanged\nboth@b: unchanged\napi@b: unchanged\nfront@a: unchanged\n")
    daemons[1].edit("both", max_connections=3)
    done = controlled.run(daemons[0], "export", "both", "--on", "*")
    assert done.returncode == 1 and "'both' of 'b' is left out" in done.stderr


def test_an_owner_is_on_the_same_daemon(daemons, stack):
    owned = SHOP + "  kid: {type: server, listen: tcp://127.0.0.1:0, owner: api, on: [a, b]}\n"
    code, output, complaint = stack("up", owned)
    assert (code, output) == (1, "")
    assert "strata.yaml:12:66: " in complaint and "'api' is not on 'a'" in complaint
    assert stack("up", owned.replace("[a, b]", "b"))[0] == 0
    assert sorted(daemons[1].names()) == ["api", "kid"]


def test_a_daemon_outside_of_a_cluster_has_no_others(daemon, tmp_path):
    path = tmp_path / "strata.yaml"
    path.write_text(SHOP)
    done = daemon.run("up", "-f", path)
    assert done.returncode != 0 and "strata.yaml:11:9: " in done.stderr
    assert "in no cluster" in done.stderr and daemon.names() == []
    for wrong, place in (("on: []", "11:9"), ("on: {a: b}", "11:9"), ("on: a b", "11:9"),
                         ("on: [a, '=x']", "11:9")):
        path.write_text(SHOP.replace("on: b", wrong))
        done = daemon.run("lint", "-f", path)
        assert done.returncode == 1 and f"strata.yaml:{place}: " in done.stderr, wrong
