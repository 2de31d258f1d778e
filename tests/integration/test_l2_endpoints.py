"""l2:// as an endpoint to listen on and to connect to. veth.py has the drawing of the
namespaces."""

import json
import os
import signal

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
    veth.strata(veth.b, *hello, "--vlan", "11")  # another VLAN: not received
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


@pytest.mark.parametrize("url", ["l2://vethA/0x88b5", "xdp://vethA/0"])
def test_without_a_vlan_only_untagged_and_priority_tagged_frames_are_heard(veth, daemons, url):
    daemons[0].create("server", "s", listen=[url])
    mac = veth.mac(veth.a, "vethA")
    for tag in (["--vlan", "10"], ["--vlan", "0", "--prio", "5"], []):
        veth.strata(veth.b, "l2", "send", "vethB", "hello", "--dst", mac, *tag)
    eventually(lambda: daemons[0].stats("s")["messages"]["in"] == 2, "two of three are heard")


def test_two_servers_do_not_share_the_frames_of_one_url(daemons):
    server = daemons[0]
    server.cli("create", "server", "first", "--listen", "l2://vethA/0x88b5?vlan=10", "-s")
    server.create("server", "untagged", listen=["l2://vethA"])
    for first, url in (("first", "l2://vethA/0x88b5?vlan=10&prio=3"),
                       ("untagged", "l2://vethA?vlan=0")):
        with pytest.raises(strata_daemon.Refused) as refused:
            server.create("server", "second", listen=[url])
        assert refused.value.code == "conflict"
        assert f"'{first}' listens on l2://vethA/0x88b5" in refused.value.message
        assert "VLAN" in refused.value.remedy
    server.create("server", "other-vlan", listen=["l2://vethA/0x88b5?vlan=11"])
    server.create("server", "other-type", listen=["l2://vethA/0x88b6"])
    # A client does not conflict: it speaks to its given peer.
    server.create("client", "guest", connect="l2://vethA/0x88b5?vlan=10")
    server.act("first", "stop")
    server.create("server", "second", listen=["l2://vethA/0x88b5?vlan=10"])


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


def heard_again(veth, daemon, name):
    """Waits until the server of that name receives a message. A message that is sent a moment too
    early is lost, so it is repeated."""
    before = daemon.stats(name)["messages"]["in"]

    def heard():
        veth.strata(veth.b, "l2", "send", "vethB", "again")
        return daemon.stats(name)["messages"]["in"] > before

    eventually(heard, "a message is heard")


@pytest.mark.parametrize("scheme", ["l2", "xdp"])
def test_a_link_that_goes_down_and_comes_back_works_again(veth, daemons, scheme):
    server = daemons[0]
    server.cli("create", "server", "s", "--listen", f"{scheme}://vethA", "-s")
    heard_again(veth, server, "s")
    veth.inside(veth.a, "ip", "link", "set", "vethA", "down")
    eventually(lambda: server.logged("s", "vethA is down; set it up", "warning"), "the log says so")
    veth.inside(veth.a, "ip", "link", "set", "vethA", "up")
    eventually(lambda: server.logged("s", "vethA is up", "info"), "that it is up too")
    heard_again(veth, server, "s")
    veth.inside(veth.b, "ip", "link", "set", "vethB", "down")
    eventually(lambda: server.logged("s", "vethA has no carrier", "warning"), "the other end's")
    veth.inside(veth.b, "ip", "link", "set", "vethB", "up")
    heard_again(veth, server, "s")


def test_an_interface_that_is_down_at_the_start_is_said(veth, daemons):
    veth.inside(veth.a, "ip", "link", "set", "vethA", "down")
    daemons[0].cli("create", "server", "s", "--listen", "l2://vethA", "-s")
    assert daemons[0].logged("s", "vethA is down")
    veth.inside(veth.a, "ip", "link", "set", "vethA", "up")
    heard_again(veth, daemons[0], "s")


def test_an_interface_is_followed_to_another_name_address_and_mtu(veth, daemons):
    """The server then receives messages as large as the new MTU, and sends from the new address."""
    server = daemons[0]
    server.cli("create", "server", "s", "--listen", "l2://vethA", "-s")
    veth.inside(veth.a, "ip", "link", "set", "vethA", "name", "field0")
    eventually(lambda: server.logged("s", "vethA is called field0 now"), "its name")
    veth.inside(veth.b, "ip", "link", "set", "vethB", "mtu", "4000")
    veth.inside(veth.a, "ip", "link", "set", "field0", "mtu", "4000")
    eventually(lambda: server.logged("s", "field0 has an MTU of 4000 bytes now, had 1500"), "MTU")
    veth.inside(veth.a, "ip", "link", "set", "field0", "address", "02:00:00:00:00:99")
    eventually(lambda: server.logged("s", "field0 has the address 02:00:00:00:00:99 now"), "MAC")
    recv = listen(veth, veth.b, "vethB", "-c", "1")
    veth.strata(veth.b, "l2", "send", "vethB", "x" * 3900, "--dst", "02:00:00:00:00:99")
    eventually(lambda: server.stats("s")["bytes"]["in"] == 3900, "a large message")
    server.send("s", b"y" * 3999)
    [frame] = json.loads(recv.communicate(timeout=30)[0])
    assert frame["source"] == "02:00:00:00:00:99" and frame["message"] == "y" * 3999
    veth.inside(veth.a, "ip", "link", "set", "field0", "mtu", "1000")
    eventually(lambda: server.logged("s", "field0 has an MTU of 1000 bytes now, had 4000"), "less")
    server.send("s", b"z" * 1001)
    eventually(lambda: server.stats("s")["dropped"]["too_large"] == 1, "it says what is too large")


def test_events_that_were_lost_are_made_good(veth, daemons):
    """Thousands of events arrive while the daemon is stopped, more than its socket holds."""
    server = daemons[0]
    server.cli("create", "server", "s", "--listen", "l2://vethA", "-s")
    os.kill(server.process.pid, signal.SIGSTOP)
    try:
        batch = "".join(f"link set vethA mtu {1000 + number}\n" for number in range(2000))
        veth.inside(veth.a, "ip", "-batch", "-", input=batch + "link set vethA name last0\n")
    finally:
        os.kill(server.process.pid, signal.SIGCONT)
    eventually(lambda: server.logged("s", "vethA is called last0 now"), "the last that happened")
    assert server.logged("s", "last0 has an MTU of 2999 bytes now, had 1500")


def test_an_interface_that_is_removed_and_made_again_works_again(veth, daemons):
    daemons[0].cli("create", "server", "s", "--listen", "l2://vethA", "-s")
    daemons[0].cli("create", "client", "c", "--connect", "l2://vethA/0x1234", "--reconnect",
                   "--reconnect-min", "100ms", "--reconnect-max", "200ms", "-s")
    veth.inside(veth.a, "ip", "link", "del", "vethA")
    eventually(lambda: daemons[0].logged("s", "the interface 'vethA' was removed"), "it is told")
    eventually(lambda: daemons[0].logged("c", "the interface was removed"), "of the client too")
    plug_in(veth)
    heard_again(veth, daemons[0], "s")
    assert daemons[0].logged("s", "the interface 'vethA' has appeared")


def plug_in(veth):
    veth.run("ip", "link", "add", "vethA", "netns", veth.a, "type", "veth", "peer", "name", "vethB",
             "netns", veth.b)
    veth.inside(veth.a, "ip", "link", "set", "vethA", "up")
    veth.inside(veth.b, "ip", "link", "set", "vethB", "up")


@pytest.mark.parametrize("scheme", ["l2", "xdp"])
def test_an_interface_that_is_not_there_yet_is_waited_for(veth, daemons, scheme):
    """At boot, the daemon may be there before its network card."""
    daemon = daemons[0]
    daemon.create("server", "s", listen=[f"{scheme}://vethA"])
    daemon.create("client", "c", connect="l2://vethA/0x88b6?dst=02:00:00:00:00:09")
    daemon.stop()
    veth.inside(veth.a, "ip", "link", "del", "vethA")
    daemon.start()
    for name in ("s", "c"):
        shown = daemon.show(name)
        assert shown["state"] == "running" and "waits for the interface 'vethA'" in shown["warning"]
        assert daemon.logged(name, "resumes when it appears")
    assert daemon.send("s", b"nobody")["delivered"] == 0
    with pytest.raises(strata_daemon.Refused):
        daemon.send("c", b"nobody")
    plug_in(veth)
    heard_again(veth, daemon, "s")
    daemon.wait_connections("c", 1)
    assert daemon.show("s")["warning"] == daemon.show("c")["warning"] == ""


def test_a_client_waits_for_its_interface_without_being_told_to(veth, daemons):
    daemon = daemons[0]
    daemon.create("client", "c", connect="l2://vethA/0x88b6?dst=02:00:00:00:00:09")
    veth.inside(veth.a, "ip", "link", "del", "vethA")
    daemon.wait_connections("c", 0)
    assert daemon.show("c")["state"] == "running"
    plug_in(veth)
    daemon.wait_connections("c", 1)
    daemon.create("server", "later", start=False, listen=["l2://vethC"])
    assert daemon.act("later", "start")["state"] == "running"
    assert "'vethC'" in daemon.show("later")["warning"]
    daemon.act("later", "stop")
    assert daemon.show("later")["warning"] == ""


@pytest.mark.parametrize("url, message", [
    ("l2://nosuch/0x88b5", "nosuch"),
    ("l2://vethA/0x5ff", "0x5ff"),
    ("l2://vethA?vlan=4095", "4095"),
])
def test_what_cannot_be_opened_is_a_clear_error(daemons, url, message):
    done = daemons[0].run("create", "server", "s", "--listen", url, "-s")
    assert done.returncode != 0 and message in done.stderr
