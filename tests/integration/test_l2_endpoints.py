"""l2:// as a place to listen and to connect. veth.py draws the namespaces."""

import json

import pytest

import strata_daemon
from strata_daemon import BINARY, eventually


def listen(veth, space, *arguments):
    before = veth.packet_sockets(space)
    process = veth.start(space, BINARY, "l2", "recv", *arguments, "--format", "json")
    eventually(lambda: veth.packet_sockets(space) > before, "its socket hears")
    return process


VLAN = "vlan=10&prio=7"


def test_a_server_talks_to_the_l2_verbs(veth, daemons):
    plc = daemons[0]
    plc.cli("create", "server", "plc", "--listen", f"l2://vethA/0x88b5?{VLAN}", "-s")
    recv = listen(veth, veth.b, "vethB", "-c", "1", "--vlan", "10")
    hello = ["l2", "send", "vethB", "hello", "--dst", veth.mac(veth.a, "vethA")]
    veth.strata(veth.b, *hello, "--vlan", "10")
    veth.strata(veth.b, *hello, "--vlan", "11")  # another VLAN: not heard
    veth.strata(veth.b, *hello)
    plc.wait_connections("plc", 1)
    eventually(lambda: plc.stats("plc")["messages"]["in"] == 1, "the message is counted")
    assert plc.send("plc", b"orders") == {"delivered": 1, "queued": 0}
    [frame] = json.loads(recv.communicate(timeout=30)[0])
    assert frame["message"] == "orders" and frame["source"] == veth.mac(veth.a, "vethA")
    assert frame["destination"] == veth.mac(veth.b, "vethB")
    assert frame["tags"] == [{"tpid": "0x8100", "priority": 7, "dei": False, "vlan_id": 10}]
    assert plc.stats("plc")["messages"] == {"in": 1, "out": 1}
    assert plc.show("plc")["endpoints"] == [f"l2://vethA/0x88b5?{VLAN}"]


def test_clients_of_one_server_hear_each_other_over_frames(veth, daemons):
    """Two clients on one interface have one address, so each runs in a namespace of its own."""
    server, other = daemons
    server.cli("create", "server", "hub", "--listen", "l2://vethA/0x88b5", "--listen",
               "tcp://127.0.0.1:0", "-s")
    other.cli("create", "client", "guest", "--connect",
              f"l2://vethB/0x88b5?dst={veth.mac(veth.a, 'vethA')}", "-s")
    other.send("guest", b"I am here")
    eventually(lambda: server.stats("hub")["messages"]["in"] == 1, "it is heard")
    for number in range(200):
        server.send("hub", b"number %d" % number)
    eventually(lambda: other.stats("guest")["messages"]["in"] == 200, "all arrive")
    text = "x" * 1500
    other.send("guest", text.encode())
    eventually(lambda: server.stats("hub")["bytes"]["in"] == len("I am here") + 1500, "a whole MTU")
    with pytest.raises(strata_daemon.Refused) as refused:
        other.send("guest", b"x" * 1501)
    assert "1501" in refused.value.message
    assert set(other.stats("guest")["dropped"].values()) == {0}


def test_a_silent_peer_is_forgotten(veth, daemons):
    daemons[0].cli("create", "server", "s", "--listen", "l2://vethA", "--peer-timeout", "300ms",
                   "-s")
    veth.strata(veth.b, "l2", "send", "vethB", "hello")
    daemons[0].wait_connections("s", 1)
    daemons[0].wait_connections("s", 0)


def test_a_link_that_goes_down_and_comes_back_works_again(veth, daemons):
    daemons[0].cli("create", "server", "s", "--listen", "l2://vethA", "-s")
    veth.strata(veth.b, "l2", "send", "vethB", "one")
    eventually(lambda: daemons[0].stats("s")["messages"]["in"] == 1, "one")
    veth.inside(veth.a, "ip", "link", "set", "vethA", "down")
    eventually(lambda: daemons[0].logged("s", "Network is down"), "the log says so")
    veth.inside(veth.a, "ip", "link", "set", "vethA", "up")

    def heard():
        veth.strata(veth.b, "l2", "send", "vethB", "two")
        return daemons[0].stats("s")["messages"]["in"] > 1

    eventually(heard, "two")


def test_an_interface_that_is_removed_and_made_again_works_again(veth, daemons):
    daemons[0].cli("create", "server", "s", "--listen", "l2://vethA", "-s")
    daemons[0].cli("create", "client", "c", "--connect", "l2://vethA/0x1234", "--reconnect",
                   "--reconnect-min", "100ms", "--reconnect-max", "200ms", "-s")
    veth.inside(veth.a, "ip", "link", "del", "vethA")
    eventually(lambda: daemons[0].logged("s", "the interface was removed"), "the log says so")
    eventually(lambda: daemons[0].logged("c", "the interface was removed"), "of the client too")
    veth.run("ip", "link", "add", "vethA", "netns", veth.a, "type", "veth", "peer", "name", "vethB",
             "netns", veth.b)
    veth.inside(veth.a, "ip", "link", "set", "vethA", "up")
    veth.inside(veth.b, "ip", "link", "set", "vethB", "up")

    def heard():
        veth.strata(veth.b, "l2", "send", "vethB", "again")
        return daemons[0].stats("s")["messages"]["in"] > 0

    eventually(heard, "again")
    assert daemons[0].logged("s", "there again")


@pytest.mark.parametrize("url, message", [
    ("l2://nosuch/0x88b5", "nosuch"),
    ("l2://vethA/0x5ff", "0x5ff"),
    ("l2://vethA?vlan=4095", "4095"),
])
def test_what_cannot_be_opened_is_a_clear_error(daemons, url, message):
    done = daemons[0].run("create", "server", "s", "--listen", url, "-s")
    assert done.returncode != 0 and message in done.stderr
