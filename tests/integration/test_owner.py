"""Owners and their children: what a parent's end does to its children."""

import contextlib

import pytest

from strata_daemon import Refused
from talker import Talker

pytestmark = pytest.mark.once


def states(daemon):
    return {each["name"]: each["state"] for each in daemon.ask("GET", "/v1/runtimes")}


@pytest.fixture
def family(daemon):
    """Makes a parent with a child to stop and one to remove, and a grandchild of each kind."""
    daemon.server("parent")
    daemon.server("kept", owner="parent")
    daemon.server("lost", owner="parent", on_parent_stop="remove")
    daemon.server("kept-kept", owner="kept")
    daemon.server("lost-lost", owner="lost", on_parent_stop="remove")
    return daemon


def test_a_parent_shows_its_children(family):
    assert family.show("parent")["children"] == ["kept", "lost"]
    assert family.show("kept")["owner"] == "parent"
    assert "lost" in family.cli("owner", "parent")


def test_a_stop_cascades(family):
    family.act("parent", "stop")
    assert states(family) == {"parent": "stopped", "kept": "stopped", "kept-kept": "stopped"}


def test_a_remove_cascades_and_leaves_no_owner_behind(family):
    family.remove("parent")
    assert states(family) == {"kept": "stopped", "kept-kept": "stopped"}
    assert family.show("kept")["owner"] == ""
    family.restart()
    assert states(family) == {"kept": "created", "kept-kept": "created"}
    assert family.show("kept-kept")["owner"] == "kept"


def test_a_child_with_clients_goes_with_its_parent(family):
    with contextlib.ExitStack() as stack:
        talkers = [stack.enter_context(Talker(family.show(name)["endpoints"][0]))
                   for name in ["lost", "lost-lost", "kept"] for _ in range(3)]
        for name in ["lost", "lost-lost", "kept"]:
            family.wait_connections(name, 3)
        talkers[0].say(b"last words")
        family.act("parent", "stop")
        assert all(each.is_ended() for each in talkers)
    assert "lost" not in family.names() and "lost-lost" not in family.names()


def test_a_restart_and_a_reload_of_the_parent_leave_the_children_alone(family):
    before = states(family)
    family.act("parent", "restart")
    family.act("parent", "reload")
    assert states(family) == before


def test_a_stopped_child_is_not_stopped_again(family):
    family.act("kept-kept", "stop")
    family.act("parent", "stop")
    assert states(family)["kept-kept"] == "stopped"


def test_a_client_that_fails_takes_its_children_with_it(daemon):
    [url] = daemon.server("server")
    daemon.create("client", "parent", connect=url)
    daemon.server("child", owner="parent")
    daemon.act("server", "stop")
    while daemon.show("child")["state"] != "stopped":
        assert daemon.show("parent")["state"] in ("running", "stopping", "failed")


def test_cycles_are_refused(family):
    for child, owner in [("parent", "kept"), ("parent", "kept-kept"), ("parent", "parent")]:
        with pytest.raises(Refused, match="own itself") as refused:
            family.edit(child, owner=owner)
        assert refused.value.code == "conflict"
    with pytest.raises(Refused):
        family.server("selfish", owner="selfish")
    with pytest.raises(Refused) as refused:
        family.server("orphan", owner="nobody")
    assert refused.value.code == "not_found"
    assert family.show("parent")["owner"] == ""
    assert {"selfish", "orphan"}.isdisjoint(family.names())


def test_a_child_may_change_its_owner(family):
    family.edit("kept-kept", owner="lost")
    assert family.show("lost")["children"] == ["kept-kept", "lost-lost"]
    family.edit("kept-kept", owner=None)
    family.act("parent", "stop")
    assert states(family)["kept-kept"] == "running"
