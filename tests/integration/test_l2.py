"""Raw Ethernet through the l2 verbs, beside tshark and scapy. veth.py has the
drawing of the namespaces."""

import json
import subprocess
import sys
import time

import pytest

from strata_daemon import BINARY, eventually
from veth import Veth, end

pytestmark = pytest.mark.once

TYPE = "0x88b5"
SCAPY = "/usr/bin/python3"  # Debian's, which has python3-scapy


def listen(veth, space, *arguments):
    """Starts a listening strata and waits until the kernel lists its socket."""
    before = veth.packet_sockets(space)
    process = veth.start(space, BINARY, "l2", *arguments)
    eventually(lambda: veth.packet_sockets(space) > before, "its socket hears")
    return process


def hear(process, count):
    """Returns the frames that a listener with `--format json -c COUNT` prints."""
    out, errors = process.communicate(timeout=30)
    assert errors == ""
    frames = json.loads(out)
    assert len(frames) == count
    return frames


def tshark(veth, space, link, count, *fields, options=()):
    """Starts tshark, which prints fields of the next frames, and waits until it captures."""
    arguments = [part for field in fields for part in ("-e", field)]
    process = veth.start(space, "tshark", "-l", "-n", "-i", link, "-c", str(count), "-a",
                         "duration:20", "-T", "fields", "-E", "occurrence=a", *options, *arguments)
    for line in process.stderr:
        if "Capturing on" in line:
            break
    # It reports this a little before it captures.
    time.sleep(1)
    return process


def fields_of(process):
    out, _ = process.communicate(timeout=30)
    return [line.split("\t") for line in out.splitlines()]


def test_tshark_decodes_our_tags_as_meant(veth):
    shark = tshark(veth, veth.b, "vethB", 4, "eth.type", "vlan.etype", "vlan.priority", "vlan.dei",
                   "vlan.id", "ieee8021ad.id", "data")
    send = ["l2", "send", "vethA", "hello", "--dst", veth.mac(veth.b, "vethB")]
    veth.strata(veth.a, *send)
    veth.strata(veth.a, *send, "--vlan", "10", "--prio", "7")
    veth.strata(veth.a, *send, "--prio", "5", "--dei")
    veth.strata(veth.a, *send, "--outer", "200", "--vlan", "30", "--prio", "1")
    plain, tagged, priority, double = fields_of(shark)
    hello = "hello".encode().hex()
    assert plain[0] == TYPE and plain[6].startswith(hello)
    assert tagged[1:5] == [TYPE, "7", "0", "10"] and tagged[6].startswith(hello)
    assert priority[1:5] == [TYPE, "5", "1", "0"]
    assert double[0] == "0x88a8" and double[6].startswith(hello)
    assert double[4].split(",")[-1] == "30" and "200" in double[4].split(",") + [double[5]]
    assert double[2].split(",")[-1] == "1"


SENDER = f"""
from scapy.all import Dot1AD, Dot1Q, Ether, LLC, Raw, conf, sendp
conf.verb = 0
ether = dict(dst="{{mac}}", src="02:00:00:00:00:99")
frames = [
    Ether(**ether) / Dot1Q(vlan=10, prio=7, type={TYPE}) / Raw(b"tagged"),
    Ether(**ether) / Dot1Q(vlan=4094, prio=3, id=1, type={TYPE}) / Raw(b"with dei"),
    Ether(**ether) / Dot1Q(vlan=0, prio=5, type={TYPE}) / Raw(b"priority"),
    Ether(**ether) / Dot1AD(vlan=200, prio=1, id=1) / Dot1Q(vlan=30, prio=6, type={TYPE})
        / Raw(b"service"),
    Ether(**ether) / Dot1Q(vlan=1) / Dot1Q(vlan=2) / Dot1Q(vlan=3) / Dot1Q(vlan=4, type={TYPE})
        / Raw(b"deep"),
    Ether(type={TYPE}, **ether) / Raw(b"plain"),
]
sendp(frames, iface="vethA")
"""


def tags_of(frame):
    return [(tag["tpid"], tag["priority"], tag["dei"], tag["vlan_id"]) for tag in frame["tags"]]


def test_tags_from_scapy_arrive_with_every_bit(veth):
    recv = listen(veth, veth.b, "recv", "vethB", "-c", "6", "--format", "json")
    script = SENDER.replace("{mac}", veth.mac(veth.b, "vethB"))
    veth.inside(veth.a, SCAPY, "-c", script)
    frames = hear(recv, 6)
    assert [frame["message"] for frame in frames] == ["tagged", "with dei", "priority", "service",
                                                      "deep", "plain"]
    assert [tags_of(frame) for frame in frames] == [
        [("0x8100", 7, False, 10)],
        [("0x8100", 3, True, 4094)],
        [("0x8100", 5, False, 0)],
        [("0x88a8", 1, True, 200), ("0x8100", 6, False, 30)],
        [("0x8100", 0, False, number) for number in (1, 2, 3, 4)],
        [],
    ]
    assert {frame["source"] for frame in frames} == {"02:00:00:00:00:99"}
    assert {frame["ethertype"] for frame in frames} == {TYPE}


READER = """
import json, sys
from scapy.all import Dot1AD, Dot1Q, Ether, PcapNgReader
def layers(frame):
    found = []
    for kind in (Dot1AD, Dot1Q):
        at = 1
        while (layer := frame.getlayer(kind, at)) is not None:
            found.append((kind.__name__, layer.prio, layer.id, layer.vlan))
            at += 1
    return found
with PcapNgReader(sys.argv[1]) as reader:
    print(json.dumps([[layers(frame), bytes(frame.lastlayer())[:5].decode("latin-1")]
                      for frame in reader]))
"""


def test_scapy_and_tshark_read_the_file_that_dump_writes(veth, tmp_path):
    path = str(tmp_path / "frames.pcapng")
    dump = listen(veth, veth.b, "dump", "vethB", "-w", path, "-e", TYPE, "-c", "3")
    veth.strata(veth.a, "l2", "send", "vethA", "plain")
    veth.strata(veth.a, "l2", "send", "vethA", "vlan!", "--vlan", "10", "--prio", "7", "--dei")
    veth.strata(veth.a, "l2", "send", "vethA", "outer", "--vlan", "30", "--outer", "200")
    assert dump.communicate(timeout=30) == ("", "")
    read = json.loads(Veth.run(SCAPY, "-c", READER, path))
    assert read[0][0] == [] and read[0][1] == "plain"
    assert read[1] == [[["Dot1Q", 7, 1, 10]], "vlan!"]
    assert read[2] == [[["Dot1AD", 0, 0, 200], ["Dot1Q", 0, 0, 30]], "outer"]
    lines = Veth.run("tshark", "-n", "-r", path, "-T", "fields", "-e", "frame.interface_name", "-e",
                     "frame.len", "-e", "vlan.id").splitlines()
    assert lines[0].split("\t")[:2] == ["vethB", "60"]
    assert lines[1].split("\t")[2] == "10"


def test_each_line_of_input_is_a_frame(veth):
    recv = listen(veth, veth.b, "recv", "vethB", "-c", "3", "--vlan", "10")
    out = veth.strata(veth.a, "l2", "send", "vethA", "-", "--vlan", "10", "--format", "json",
                      input="one\ntwo\nthree")
    assert json.loads(out) == {"frames": 3, "bytes": 180}
    assert recv.communicate(timeout=30) == ("one\ntwo\nthree\n", "")


def test_behind_a_shaper_all_frames_are_sent_and_one_that_never_fits_is_an_error(veth):
    veth.inside(veth.a, *"tc qdisc add dev vethA root tbf rate 1mbit burst 2000 limit 3000".split())
    listener = listen(veth, veth.b, "recv", "vethB", "-c", "200", "--format", "json")
    veth.strata(veth.a, "l2", "send", "vethA", "hello", "-c", "200")
    hear(listener, 200)
    veth.inside(veth.a, "ip", "link", "set", "vethA", "mtu", "9000")
    refused = veth.start(veth.a, BINARY, "l2", "send", "vethA", "x" * 3000, "--timeout", "100ms")
    _, errors = refused.communicate(timeout=30)
    assert refused.returncode == 1
    assert "no buffer space became free in 100 ms" in errors
    assert "tc -s qdisc show dev vethA" in errors


def test_dump_shows_what_it_knows(veth):
    dump = listen(veth, veth.b, "dump", "vethB")
    veth.inside(veth.a, sys.executable, "-c", "import socket; socket.socket("
                "socket.AF_INET, socket.SOCK_DGRAM).sendto(b'hello', ('192.0.2.2', 9))")
    veth.strata(veth.a, "l2", "send", "vethA", "\x1b[2Jhi", "--vlan", "5", "--prio", "2", "--dei")
    time.sleep(0.3)
    out, errors = end(dump)
    assert dump.returncode == 0 and errors == ""
    assert "ARP who has 192.0.2.2? tell 192.0.2.1" in out
    assert "IPv4 192.0.2.1 > 192.0.2.2, UDP" in out
    assert "vlan 5 prio 2 dei" in out and f"type {TYPE}: \\x1b[2Jhi" in out


def test_dump_shows_the_frames_of_all_interfaces(veth):
    dump = listen(veth, veth.b, "dump", "any", "-e", TYPE, "--format", "json", "-c", "2")
    veth.strata(veth.a, "l2", "send", "vethA", "by the wire")
    veth.strata(veth.b, "l2", "send", "lo", "at home")
    heard = json.loads(dump.communicate(timeout=30)[0])
    assert [(each["interface"], each["message"]) for each in heard] == [
        ("vethB", "by the wire"), ("lo", "at home")]
    dump = listen(veth, veth.b, "dump", "any", "-e", TYPE, "-c", "1")
    veth.strata(veth.a, "l2", "send", "vethA", "by the wire")
    assert dump.communicate(timeout=30)[0].startswith("vethB ")


def test_a_silence_ends_it_and_is_a_failure_only_if_nothing_came(veth):
    recv = listen(veth, veth.b, "recv", "vethB", "--timeout", "300ms")
    assert recv.communicate(timeout=30) == ("", "")
    assert recv.returncode == 1
    recv = listen(veth, veth.b, "recv", "vethB", "--timeout", "1s")
    veth.strata(veth.a, "l2", "send", "vethA", "x")
    assert recv.communicate(timeout=30) == ("x\n", "")
    assert recv.returncode == 0


@pytest.mark.parametrize("arguments, message", [
    (["send", "nosuch", "x"], "nosuch"),
    (["send", "vethA", "x", "--dst", "aa:bb"], "aa:bb"),
    (["send", "vethA", "x", "-e", "0x5ff"], "0x5ff"),
    (["send", "vethA", "x", "-e", "0x8100"], "0x8100"),
    (["send", "vethA", "x", "--vlan", "4095"], "4095"),
    (["send", "vethA", "x", "--prio", "8"], "8"),
    (["send", "vethA", "x" * 1501], "1501"),
    (["recv", "vethA", "--src", "zz"], "zz"),
    (["dump", "vethA", "-w", "/nonexistent/file"], "/nonexistent/file"),
    (["dump", "any", "-w", "file"], "name one"),
])
def test_what_cannot_be_is_refused_with_its_value(veth, arguments, message):
    done = subprocess.run(["ip", "netns", "exec", veth.a, BINARY, "l2", *arguments],
                          capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode in (1, 2, 3) and done.stdout == ""
    assert message in done.stderr and done.stderr.count("\n") == 1


def test_without_the_capability_it_says_how_to_grant_it(veth):
    done = subprocess.run(["ip", "netns", "exec", veth.a, "setpriv", "--reuid", "65534",
                           "--clear-groups", "--inh-caps", "-all", BINARY, "l2", "recv", "vethA"],
                          capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 1 and "setcap cap_net_raw+ep" in done.stderr


def test_a_link_that_goes_down_is_said_and_it_goes_on_when_it_is_up(veth):
    recv = listen(veth, veth.b, "recv", "vethB", "-c", "1")
    veth.inside(veth.b, "ip", "link", "set", "vethB", "down")
    time.sleep(0.3)
    veth.inside(veth.b, "ip", "link", "set", "vethB", "up")
    time.sleep(1.5)
    veth.strata(veth.a, "l2", "send", "vethA", "again", "-c", "3", "--interval", "200ms")
    out, errors = recv.communicate(timeout=30)
    assert out == "again\n" and "ip link set vethB up" in errors
    assert errors.count("\n") == 1


def test_an_interface_that_is_removed_ends_it_with_a_clear_error(veth):
    recv = listen(veth, veth.b, "recv", "vethB")
    veth.inside(veth.b, "ip", "link", "del", "vethB")
    out, errors = recv.communicate(timeout=30)
    assert recv.returncode == 1 and errors.count("removed") == 1, errors


def ipc(veth, *arguments):
    """Starts strata l2 ipc in the namespace of a: by default its processes meet on lo."""
    return veth.start(veth.a, BINARY, "l2", "ipc", *arguments)


def until_sockets(veth, count):
    eventually(lambda: veth.packet_sockets(veth.a) >= count, f"{count} sockets hear")


def test_processes_talk_by_channels_that_do_not_hear_each_other(veth):
    red = ipc(veth, "recv", "red", "-c", "2")
    blue = ipc(veth, "recv", "blue", "-c", "2")
    until_sockets(veth, 2)
    assert ipc(veth, "send", "red", "to red").communicate(timeout=30) == ("", "")
    long = "x" * 100_000
    veth.inside(veth.a, BINARY, "l2", "ipc", "send", "blue", "-", input=f"to blue\n{long}\n")
    assert ipc(veth, "send", "red", "again").communicate(timeout=30) == ("", "")
    assert red.communicate(timeout=30) == ("to red\nagain\n", "")
    assert blue.communicate(timeout=30) == (f"to blue\n{long}\n", "")


def test_an_acknowledged_channel_waits_for_its_other_end(veth):
    sender = ipc(veth, "send", "line", "kept", "-a")
    until_sockets(veth, 1)
    recv = ipc(veth, "recv", "line", "-a", "-c", "1", "--format", "json")
    assert sender.communicate(timeout=30) == ("", "")
    assert json.loads(recv.communicate(timeout=30)[0]) == [{"message": "kept", "size": 4}]
    alone = ipc(veth, "send", "line", "to nobody", "-a", "--timeout", "300ms")
    out, errors = alone.communicate(timeout=30)
    assert alone.returncode == 1 and errors.count("\n") == 1, errors


def test_an_unknown_interface_is_no_loopback(veth):
    sender = ipc(veth, "send", "x", "y", "--iface", "nosuch")
    assert "nosuch" in sender.communicate(timeout=30)[1] and sender.returncode == 3


def test_a_chat_ends_with_the_callers_input(veth):
    server = veth.start(veth.a, BINARY, "l2", "chat", "vethA", "server", "-q",
                        stdin=subprocess.DEVNULL)
    client = veth.start(veth.b, BINARY, "l2", "chat", "vethB", "client", "192.0.2.1", "-q",
                        stdin=subprocess.PIPE)
    out, errors = client.communicate("only this\n", timeout=30)
    assert client.returncode == 0 and errors == ""
    out, errors = server.communicate(timeout=30)
    assert server.returncode == 0 and out == "only this\n"
    assert errors == "strata: the other end has left\n"


def test_what_a_chat_needs_is_asked_for_before_anybody_calls(veth):
    server = veth.start(veth.a, "setpriv", "--reuid=65534", "--clear-groups", BINARY, "l2", "chat",
                        "vethA", "server", "--timeout", "10m")
    assert "CAP_NET_RAW" in server.communicate(timeout=30)[1]
    alone = veth.start(veth.b, BINARY, "l2", "chat", "vethB", "client", "192.0.2.1", "--timeout",
                       "100ms")
    complaints = alone.communicate(timeout=30)[1]
    assert complaints.count("cannot connect") == 1
    assert complaints.startswith("strata: connecting to 192.0.2.1, TCP port ")


def test_chat_goes_over_frames_of_vlan_10_after_agreeing_by_tcp(veth):
    talk = {"stdin": subprocess.PIPE}
    # The dump starts first: the client's socket in the same namespace would
    # be taken for its socket.
    dump = listen(veth, veth.b, "dump", "vethB", "-e", TYPE, "--vlan", "10", "-c", "1", "--format",
                  "json")
    server = veth.start(veth.a, BINARY, "l2", "chat", "vethA", "server", "-q", **talk)
    client = veth.start(veth.b, BINARY, "l2", "chat", "vethB", "client", "192.0.2.1", "-q", **talk)
    server.stdin.write("from the server\n")
    server.stdin.flush()
    assert client.stdout.readline() == "from the server\n"
    client.stdin.write("from the client\n")
    client.stdin.flush()
    assert server.stdout.readline() == "from the client\n"
    [frame] = hear(dump, 1)
    assert tags_of(frame) == [("0x8100", 7, False, 10)]
    end(client)
    assert server.communicate(timeout=30)[0] == "" and server.returncode == 0
