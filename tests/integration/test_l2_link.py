"""strata l2 link: interfaces are created, changed, listed and removed, in two namespaces of the
test's own (harness/veth.py has the drawing)."""

import json
import subprocess

import pytest

from strata_daemon import BINARY
from veth import Veth

pytestmark = pytest.mark.once  # no daemon, and so no loop


@pytest.fixture
def veth():
    made = Veth()
    made.needs_virtual("it changes the interfaces")
    yield made
    made.close()


def link(veth, *arguments):
    return veth.strata(veth.a, "l2", "link", *arguments)


def refused(veth, *arguments, code=1):
    done = subprocess.run(["ip", "netns", "exec", veth.a, BINARY, "l2", "link", *arguments],
                          capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == code, done
    return done.stderr


def listed(veth, *names, space=None):
    rows = json.loads(veth.strata(space or veth.a, "l2", "link", "list", *names, "--format",
                                  "json"))
    return {row["name"]: row for row in rows}


def test_a_veth_with_its_other_end_in_another_namespace_carries(veth):
    link(veth, "add", "left", "--type", "veth", "--peer", "right", "--peer-netns", veth.b, "--mtu",
         "1400", "--mac", "02:00:00:00:00:01", "--up", "--address", "198.51.100.1/24")
    veth.strata(veth.b, "l2", "link", "set", "right", "--up", "--address", "198.51.100.2/24")
    row = listed(veth)["left"]
    assert (row["kind"], row["mtu"], row["mac"]) == ("veth", 1400, "02:00:00:00:00:01")
    assert "198.51.100.1/24" in row["addresses"]
    assert listed(veth, space=veth.b)["right"]["mtu"] == 1400
    veth.inside(veth.a, "ping", "-c", "1", "-W", "5", "198.51.100.2")
    link(veth, "del", "left")
    assert "left" not in listed(veth) and "right" not in listed(veth, space=veth.b)


def test_the_namespace_may_be_that_of_a_process(veth):
    sleeper = veth.start(veth.b, "sleep", "60")
    try:
        link(veth, "add", "left", "--type", "veth", "--peer", "right", "--peer-netns",
             str(sleeper.pid))
    finally:
        sleeper.kill()
        sleeper.communicate()
    # `ip netns exec` becomes the program and keeps its process id.
    assert "right" in listed(veth, space=veth.b)


def test_an_interface_is_changed(veth):
    link(veth, "add", "br0", "--type", "bridge", "--up")
    link(veth, "set", "vethA", "--mtu", "1300", "--mac", "02:00:00:00:00:07", "--down",
         "--no-address", "192.0.2.1/24", "--address", "192.0.2.9/28", "--master", "br0")
    row = listed(veth, "vethA")["vethA"]
    assert (row["mtu"], row["mac"], row["state"], row["master"]) == (
        1300, "02:00:00:00:00:07", "down", "br0")
    assert row["addresses"] == ["192.0.2.9/28"]
    link(veth, "set", "vethA", "--no-master", "--name", "plc0")
    link(veth, "set", "plc0", "--up")
    row = listed(veth, "plc0")["plc0"]
    assert row["state"] != "down" and "master" not in row
    assert link(veth, "list", "plc0", "-q") == "plc0\n"


def test_a_macvlan_stands_on_its_parent(veth):
    link(veth, "add", "mac0", "--type", "macvlan", "--parent", "vethA", "--mode", "private")
    row = listed(veth)["mac0"]
    assert (row["kind"], row["on"]) == ("macvlan", "vethA")
    assert "mode private" in veth.inside(veth.a, "ip", "-d", "link", "show", "mac0")


def test_a_vlan_device_or_why_there_is_none(veth):
    """Kernels without 8021q get a clear error; tests/guest/test_tsn.py uses a kernel with it."""
    arguments = ["add", "plc0", "--type", "vlan", "--parent", "vethA", "--vlan", "10",
                 "--egress-prio", "0:7"]
    probe = subprocess.run(["ip", "netns", "exec", veth.a, "ip", "link", "add", "probe", "link",
                            "vethA", "type", "vlan", "id", "11"], check=False,
                           capture_output=True, timeout=60)
    if probe.returncode == 0:
        link(veth, *arguments)
        row = listed(veth)["plc0"]
        assert (row["on"], row["vlan"], row["egress_prio"]) == ("vethA", 10, ["0:7"])
        return
    said = refused(veth, *arguments)
    assert "this kernel does not support interfaces of the kind 'vlan'" in said, said
    assert "modprobe 8021q" in said and said.count("\n") == 1, said


def test_what_cannot_be_leaves_nothing_behind(veth):
    said = refused(veth, "add", "br0", "--type", "bridge", "--master", "none0", code=3)
    assert "none0" in said
    assert "br0" not in listed(veth)
    said = refused(veth, "add", "br0", "--type", "bridge", "--address", "192.0.2.300", code=2)
    assert "192.0.2.300" in said
    said = refused(veth, "add", "x", "--type", "veth", "--peer", "y", "--peer-netns", "none",
                   code=3)
    assert "there is no network namespace 'none'" in said
    said = refused(veth, "set", "vethA", "--mtu", "20")
    assert "vethA" in said and "mtu less than device minimum" in said
    assert "vethA" in refused(veth, "add", "vethA", "--type", "bridge")
    assert "none0" in refused(veth, "del", "none0", code=3)
    assert "none0" in refused(veth, "list", "none0", code=3)


def test_flags_without_effect_are_refused(veth):
    for arguments, said in [
            (["add", "x"], "--type"),
            (["add", "x", "--type", "vlan", "--vlan", "1"], "--parent"),
            (["add", "x", "--type", "vlan", "--parent", "vethA"], "--vlan"),
            (["add", "x", "--type", "veth"], "--peer"),
            (["add", "x", "--type", "bridge", "--peer", "y"], "--peer is for --type veth"),
            (["add", "x", "--type", "vlan", "--parent", "vethA", "--vlan", "1", "--egress-prio",
              "0:8"], "0:8"),
            (["set", "vethA", "--up", "--down"], "exclude each other"),
            (["set", "vethA", "--mac", "x"], "--mac")]:
        assert said in refused(veth, *arguments, code=2), arguments


def test_three_words_name_a_verb(veth):
    assert "l2 link add NAME" in veth.strata(veth.a, "help", "l2", "link")
    assert "--egress-prio" in veth.strata(veth.a, "help", "l2", "link", "add")
    assert "'l2 link' needs one more word" in refused(veth, code=2)
