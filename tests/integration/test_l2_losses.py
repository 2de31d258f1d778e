"""Losses at l2:// and xdp:// endpoints are reported by `send`, in stats and in metrics; and padding
zeros do not alter messages.

    [ daemon, vethA ]----[ vethB ]
"""

import os
import re
import signal
import time

import pytest

import strata_daemon
from strata_daemon import eventually

COUNT = 3000


def url_of(scheme):
    return {"l2": "l2://vethA/0x88b6", "xdp": "xdp://vethA/0?ethertype=0x88b6"}[scheme]


def a_server_with_one_peer(veth, daemon, scheme="l2", **options):
    daemon.create("server", "s", listen=[url_of(scheme)], **options)
    veth.strata(veth.b, "l2", "send", "vethB", "hello", "-e", "0x88b6")
    daemon.wait_connections("s", 1)


def dropped(daemon, name="s"):
    return {key: count for key, count in daemon.stats(name)["dropped"].items() if count}


def shape(veth):
    """Limits vethA to 66 short frames a second: any daemon sends more, and the
    queue empties in a second."""
    veth.inside(veth.a, "tc", "qdisc", "add", "dev", "vethA", "root", "tbf", "rate", "32kbit",
                "burst", "2000", "limit", "3000")


def shaped(veth):
    told = veth.inside(veth.a, "tc", "-s", "qdisc", "show", "dev", "vethA")
    return int(re.search(r"Sent \d+ bytes (\d+) pkt", told)[1])


def test_what_a_shaper_refuses_is_not_delivered(veth, daemons):
    daemon = daemons[0]
    a_server_with_one_peer(veth, daemon)
    shape(veth)
    delivered = sum(daemon.send("s", b"x" * 40)["delivered"] for _ in range(COUNT))
    assert 0 < delivered < COUNT
    stats = daemon.stats("s")
    assert stats["dropped"]["refused"] == COUNT - delivered == stats["errors"]
    # Some frames still wait in the shaper.
    eventually(lambda: shaped(veth) >= delivered, "what was delivered has left")
    assert shaped(veth) < delivered + 20
    metrics = daemon.exchange("GET", "/metrics")[1].decode()
    assert f'reason="refused"}} {COUNT - delivered}\n' in metrics


def test_a_client_hears_that_its_message_was_refused(veth, daemons):
    daemon = daemons[0]
    daemon.create("client", "c", connect=f"l2://vethA/0x88b6?dst={veth.mac(veth.b, 'vethB')}")
    shape(veth)
    with pytest.raises(strata_daemon.Refused) as refused:
        for _ in range(COUNT):
            daemon.send("c", b"x" * 40)
    assert refused.value.code == "limit_exceeded" and "tc -s qdisc" in refused.value.remedy
    assert dropped(daemon, "c") == {"refused": 1}


def test_what_others_say_and_the_kernel_refuses_is_told_without_a_frame_coming(veth, daemons):
    """The client's script sends from a timer, and no frame arrives."""
    daemon = daemons[0]
    daemon.create("client", "c", connect="l2://vethA/0x88b6?dst=02:00:00:00:00:09",
                  lua=str(daemon.folder / "talk.lua"), start=False)
    (daemon.folder / "talk.lua").write_text(f"""
        function on_connect() strata.set_timeout(200, function()
          for n = 1, {COUNT} do self.send(('x'):rep(40)) end end) end""")
    shape(veth)
    daemon.act("c", "start")
    eventually(lambda: dropped(daemon, "c").get("refused", 0) > COUNT / 2, "it is told")


@pytest.mark.parametrize("scheme", ["l2", "xdp"])
@pytest.mark.parametrize("end", ["down", "without carrier"])
def test_nothing_is_delivered_to_a_dead_link(veth, daemons, scheme, end):
    daemon = daemons[0]
    a_server_with_one_peer(veth, daemon, scheme)
    daemon.create("client", "c", connect="l2://vethA/0x88b7?dst=02:00:00:00:00:09")
    assert daemon.send("s", b"alive")["delivered"] == 1
    space, link = (veth.a, "vethA") if end == "down" else (veth.b, "vethB")
    veth.inside(space, "ip", "link", "set", link, "down")

    def is_known():
        return daemon.send("s", b"dead")["delivered"] == 0 and "link" in dropped(daemon)

    eventually(is_known, "it is known")
    before = daemon.stats("s")
    assert daemon.send("s", b"dead")["delivered"] == 0
    after = daemon.stats("s")
    assert after["dropped"]["link"] == before["dropped"]["link"] + 1
    assert after["messages"]["out"] == before["messages"]["out"]
    with pytest.raises(strata_daemon.Refused) as refused:
        daemon.send("c", b"dead")
    assert refused.value.code == "conflict" and "no carrier" in refused.value.message
    veth.inside(space, "ip", "link", "set", link, "up")
    eventually(lambda: daemon.send("s", b"alive")["delivered"] == 1, "it goes on")


@pytest.mark.parametrize("scheme", ["l2", "xdp"])
def test_what_the_kernel_has_no_room_for_is_counted(veth, daemons, scheme):
    """The daemon is stopped while frames arrive."""
    daemon, sent = daemons[0], 20000
    daemon.create("server", "s", listen=[url_of(scheme)])
    pid = daemon.pid
    os.kill(pid, signal.SIGSTOP)
    try:
        veth.strata(veth.b, "l2", "send", "vethB", "x" * 60, "-e", "0x88b6", "-c", str(sent))
        time.sleep(0.1)  # veth delivers in a softirq
    finally:
        os.kill(pid, signal.SIGCONT)

    def all_told():
        stats = daemon.stats("s")
        return stats["messages"]["in"] + stats["dropped"]["kernel"] == sent

    eventually(all_told, "sent is what came and what was dropped")
    assert dropped(daemon)["kernel"] > 0 and daemon.stats("s")["messages"]["in"] > 0


@pytest.mark.parametrize("scheme", ["l2", "xdp"])
def test_no_message_is_altered_where_its_length_is_sent(veth, daemons, scheme):
    here, there = daemons
    path = there.folder / "echo.lua"
    path.write_text("function on_message(m, id) self.send(id, m) end")
    there.create("server", "echo", listen=["l2://vethB?pad=length"], lua=str(path))
    url = {"l2": "l2://vethA/0x88b5?", "xdp": "xdp://vethA/0?"}[scheme]
    mac = veth.mac(veth.b, "vethB")
    here.create("client", "c", connect=f"{url}dst={mac}&pad=length",
                write=str(here.folder / "heard"))
    assert here.show("c")["endpoints"][0].endswith("&pad=length")
    heard = here.folder / "heard"
    wanted = b""
    for message in (b"AB\0\0", b"\0" * 46, b"\0", b"x" * 45, b"x" * 1498, b"end\0"):
        assert here.send("c", message)["delivered"] == 1
        wanted += message + b"\n"
        eventually(lambda: heard.read_bytes() == wanted, f"{len(message)} bytes come back")
    with pytest.raises(strata_daemon.Refused) as refused:
        here.send("c", b"x" * 1499)
    assert "1498" in refused.value.message
    # A message whose length field exceeds the frame.
    before = there.stats("echo")["dropped"]["too_large"]
    veth.strata(veth.a, "l2", "send", "vethA", "xxx", "--dst", mac)
    eventually(lambda: there.stats("echo")["dropped"]["too_large"] == before + 1, "it is dropped")


def test_zeros_are_kept_where_that_is_asked_for(veth, daemons):
    here, there = daemons
    mac = veth.mac(veth.b, "vethB")
    for ethertype, rule, name in (("0x88b6", "keep", "kept"), ("0x88b7", "strip", "stripped")):
        there.create("server", name, listen=[f"l2://vethB/{ethertype}?pad={rule}"],
                     write=str(there.folder / name))
        here.create("client", f"to-{name}", connect=f"l2://vethA/{ethertype}?dst={mac}")
        here.send(f"to-{name}", b"AB\0\0")
    eventually(lambda: (there.folder / "kept").read_bytes() == b"AB" + b"\0" * 44 + b"\n", "all")
    eventually(lambda: (there.folder / "stripped").read_bytes() == b"AB\n", "the text alone")


def test_another_rule_is_refused(daemons):
    done = daemons[0].run("create", "server", "s", "--listen", "l2://vethA?pad=none", "-s")
    assert done.returncode != 0 and "'none' is not one of strip, keep and length" in done.stderr
