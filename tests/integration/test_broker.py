"""The daemon as a broker: AF_XDP and AF_PACKET sockets for a user without privileges. veth.py has
the drawing of the namespaces."""

import json
import os
import shutil
import signal
import socket
import struct
import subprocess
from pathlib import Path
from random import Random

import pytest

from broker import NOBODY, Broker, refusal_of
from strata_daemon import BINARY, eventually
from test_xdp import all_are_counted, attached, result_of
from veth import KERNEL

pytestmark = pytest.mark.once


def is_too_old(broker):
    """Reports whether the kernel is older than 6.4, where no process can map the rings of a bound
    socket; if so, checks that the error says that."""
    if KERNEL >= (6, 4):
        return False
    broker.allow("user=nobody iface=vethB\n").start()
    assert "use Linux 6.4 or newer" in refusal_of(broker.as_nobody("xdp", "drop", "vethB"))
    return True


def test_a_user_without_privileges_receives_through_the_daemon(veth, broker):
    if is_too_old(broker):
        return
    broker.allow("# the plant\nuser=nobody iface=vethB queue=0 ethertype=0x0800\n").start()
    receiver = broker.as_nobody("xdp", "drop", "vethB", "-e", "0x0800", "-c", "5000", "--timeout",
                                "1s")
    assert "in native mode" in receiver.stderr.readline()
    sent = json.loads(veth.strata(veth.a, "xdp", "gen", "vethA", "-c", "5000", "--format", "json"))
    heard = result_of(receiver)
    assert heard["packets"] > 0 and sent["packets"] == 5000
    all_are_counted(veth, heard, 5000)
    eventually(lambda: attached(veth, veth.b, "vethB")["program"] is None, "it is taken away")
    # The user may also send frames, and killing the user's process releases everything.
    sender = broker.as_nobody("xdp", "gen", "vethB", "-c", "100")
    assert result_of(sender)["packets"] == 100
    receiver = broker.as_nobody("xdp", "drop", "vethB", "-e", "0x0800")
    assert "takes frames" in receiver.stderr.readline()
    os.kill(receiver.pid, signal.SIGKILL)
    receiver.communicate(timeout=30)
    eventually(lambda: attached(veth, veth.b, "vethB")["program"] is None, "it is taken away")


def test_without_a_rule_there_is_a_clear_refusal(veth, broker):
    if is_too_old(broker):
        return
    broker.allow("user=nobody iface=vethB queue=0 ethertype=0x88b5\nuser=daemon iface=vethB\n"
                 "group=nogroup iface=lo\n").start()
    for arguments in [["drop", "vethB"], ["drop", "vethB", "-e", "0x88b6"],
                      ["drop", "vethB", "-e", "0x88b5", "-Q", "1"], ["gen", "vethB", "-Q", "1"]]:
        says = refusal_of(broker.as_nobody("xdp", *arguments))
        assert "no rule of the daemon's policy allows it" in says and NOBODY in says
    # A request that is allowed but impossible is refused with the daemon's reason.
    says = refusal_of(broker.as_nobody("xdp", "drop", "lo", "-Q", "9"))
    assert "check that the queue exists" in says
    assert attached(veth, veth.b, "vethB")["program"] is None
    # The daemon reads the policy again for each request.
    broker.allow("user=nobody iface=vethB\n")
    receiver = broker.as_nobody("xdp", "drop", "vethB", "-c", "10")
    assert "takes frames" in receiver.stderr.readline()
    second = refusal_of(broker.as_nobody("xdp", "drop", "vethB"))
    assert "another socket uses this queue" in second
    veth.strata(veth.a, "xdp", "gen", "vethA", "-c", "10")
    assert result_of(receiver)["packets"] == 10
    broker.allow("user=nobody iface=vethB queue=x\n")
    assert "line 1" in refusal_of(broker.as_nobody("xdp", "drop", "vethB"))
    broker.allow("user=nobody iface=vethB\n").policy.chmod(0o666)
    assert "other users may write it" in refusal_of(broker.as_nobody("xdp", "drop", "vethB"))


def test_a_broker_without_a_daemon_or_with_a_bad_policy_says_so(veth, broker):
    says = refusal_of(broker.as_nobody("xdp", "drop", "vethB"), 4)
    assert "broker.sock" in says and "check that it runs" in says
    broker.allow("iface=vethB\n")
    process = broker.launch()
    assert process.wait(30) == 1
    assert "line 1 of the policy" in broker.log() and "names no user and no group" in broker.log()


def test_a_broker_survives_whatever_is_sent_to_it(veth, broker):
    """The broker survives random bytes of all sizes, silence, and connections that end at once."""
    if is_too_old(broker):
        return
    broker.allow("user=nobody iface=vethB\n").start()
    path = str(broker.folder / "broker.sock")
    random = Random(7)
    silent = []
    for number in range(300):
        peer = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        peer.settimeout(30)
        peer.connect(path)
        if number % 30 == 0:
            silent.append(peer)
            continue
        if number % 3:
            peer.send(random.randbytes(random.choice([1, 4, 50, 88, 92, 96, 100, 5000])))
            assert number % 2 or b"request for a" in peer.recv(4096)
        peer.close()
    for peer in silent:
        peer.close()
    eventually(lambda: len(os.listdir(f"/proc/{broker.pid}/fd")) < 60, "no descriptor stays")
    receiver = broker.as_nobody("xdp", "drop", "vethB", "-c", "10")
    assert "takes frames" in receiver.stderr.readline()
    veth.strata(veth.a, "xdp", "gen", "vethA", "-c", "10")
    assert result_of(receiver)["packets"] == 10


# --- AF_PACKET

PACKET_RULE = "user=nobody iface=vethB ethertype=0x88b5 socket=packet sends=everywhere\n"


def test_a_user_without_privileges_has_a_raw_socket_through_the_daemon(veth, broker):
    """The socket receives its EtherType and sends, independently of the daemon."""
    broker.allow(PACKET_RULE).start()
    listener = broker.as_nobody("l2", "recv", "vethB", "-c", "2", "--timeout", "20s")
    eventually(lambda: veth.packet_sockets(veth.b) == 1, "it hears")
    for ethertype, message in [("0x88b6", "not for you"), ("0x88b5", "one"), ("0x88b5", "two")]:
        veth.strata(veth.a, "l2", "send", "vethA", message, "-e", ethertype)
    assert [frame["message"] for frame in result_of(listener)] == ["one", "two"]
    there = veth.start(veth.a, BINARY, "l2", "recv", "vethA", "-c", "1", "--timeout", "20s")
    eventually(lambda: veth.packet_sockets(veth.a) == 1, "it hears")
    assert result_of(broker.as_nobody("l2", "send", "vethB", "from nobody"))["frames"] == 1
    assert "from nobody" in there.communicate(timeout=60)[0]


def test_a_raw_socket_needs_a_rule_of_its_own(veth, broker):
    broker.allow("user=nobody iface=vethB\n" + PACKET_RULE).start()
    for arguments in [["l2", "recv", "vethB", "-e", "0x88b6"], ["l2", "dump", "vethB"],
                      ["l2", "send", "lo", "hello"]]:
        says = refusal_of(broker.as_nobody(*arguments))
        assert "grant user 65534 an AF_PACKET socket" in says
        assert "no rule of the daemon's policy allows it" in says
    broker.allow(PACKET_RULE.replace("sends=everywhere", ""))
    assert "add sends=everywhere" in refusal_of(broker.as_nobody("l2", "recv", "vethB"))


MAY_NOT = {
    "bind to its interface": "EINVAL",
    "bind to another": "EINVAL",
    "join a group": "EALREADY",
    "take the filter away": "EPERM",
    "replace the filter": "EPERM",
    "unlock the filter": "EPERM",
    "a buffer above the limit": "EPERM",
    "a priority above 6": "EPERM",
}


def promiscuity(veth, link):
    [found] = json.loads(veth.inside(veth.b, "ip", "-d", "-j", "link", "show", link))
    return found["promiscuity"]


@pytest.mark.parametrize("how", ["receive", "send"])
def test_what_the_owner_of_a_raw_socket_can_do_is_what_the_docs_say(veth, broker, how):
    """The owner can do exactly what docs/xdp.md lists."""
    broker.allow(PACKET_RULE).start()
    script = shutil.copy(Path(__file__).parent.parent / "harness" / "packet_owner.py",
                         broker.folder)
    owner = broker.start_as_nobody("/usr/bin/python3", script, how, stdin=subprocess.PIPE)
    said = owner.stdout.readline()
    assert said, owner.communicate(timeout=30)[1]
    outcome = json.loads(said)
    assert {what: outcome[what] for what in MAY_NOT} == MAY_NOT
    can = {what: became for what, became in outcome.items() if what not in MAY_NOT}
    assert len(can) == 8 and set(can.values()) == {"done"}
    assert promiscuity(veth, "lo") == 1
    # A change of the policy does not revoke the socket.
    broker.allow("")
    owner.stdin.write("\n")
    owner.stdin.flush()
    assert owner.stdout.readline() == "done\n"
    assert promiscuity(veth, "vethB") == 1
    owner.communicate(timeout=30)
    assert promiscuity(veth, "lo") == promiscuity(veth, "vethB") == 0


XDP_OWNER_MAY_NOT = {
    "open another": "EPERM",
    "bind to its queue": "EBUSY",
    "bind to another interface": "EBUSY",
    "register other memory": "EBUSY",
    "make a ring larger": "EBUSY",
    "make its memory smaller": "EPERM",
    "make its memory larger": "EPERM",
    "seal its memory": "EPERM",
    "hold the program": "EPERM",
}


def test_what_the_owner_of_an_xdp_socket_can_do_is_what_the_docs_say(veth, broker):
    """The owner can do exactly what docs/xdp.md lists."""
    if is_too_old(broker):
        return
    broker.allow("user=nobody iface=vethB queue=0 ethertype=0x88b5\n").start()
    harness = Path(__file__).parent.parent / "harness"
    shutil.copy(harness / "packet_owner.py", broker.folder)
    script = shutil.copy(harness / "xdp_owner.py", broker.folder)
    owner = broker.start_as_nobody("/usr/bin/python3", script, stdin=subprocess.PIPE)

    def says(go_on=True):
        if go_on:
            owner.stdin.write("\n")
            owner.stdin.flush()
        said = owner.stdout.readline()
        assert said, owner.communicate(timeout=30)[1]
        return json.loads(said)

    assert says(go_on=False) == XDP_OWNER_MAY_NOT | {"send another type": "done"}
    for ethertype in ("0x88b6", "0x88b5", "0x0800"):
        veth.strata(veth.a, "l2", "send", "vethA", "a message", "-e", ethertype)
    assert says() == {"heard": [0x88b5]}
    # Its rings are now full of garbage, which affects no other process.
    assert attached(veth, veth.b, "vethB")["program"] is not None
    assert says() == {"keep the socket": "done"}
    eventually(lambda: attached(veth, veth.b, "vethB")["program"] is None, "it is taken away")
    assert "another socket uses this queue" in refusal_of(
        broker.as_nobody("xdp", "drop", "vethB", "-e", "0x88b5"))
    owner.communicate(timeout=30)
    receiver = broker.as_nobody("xdp", "drop", "vethB", "-e", "0x88b5", "-c", "1")
    assert "takes frames" in receiver.stderr.readline()
    veth.strata(veth.a, "l2", "send", "vethA", "a message", "-e", "0x88b5")
    assert result_of(receiver)["packets"] == 1


XDP_MESSAGE = struct.pack("<I16sIiii12s3I4B6I", 0x58440002, b"vethB", 0, 0x88b5, -1, -1, bytes(12),
                          2, 4096, 0, 0, 0, 0, 0, 0, 0, 8, 8, 8, 8)
PACKET_MESSAGE = struct.pack("<I16sii21xBBBB3x", 0x504B0002, b"vethB", 0x88b5, -1, 0, 1, 1, 0)

CROWD = """
import os, socket, sys
all = []
for _ in range(16):
    all.append(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))
    all[-1].connect(os.environ["STRATA_BROKER_SOCKET"])
    all[-1].send(bytes.fromhex(sys.argv[1]))
print("asked", flush=True)
sys.stdin.readline()
answered = 0
for each in all:
    each.setblocking(False)
    try:
        answered += len(each.recv(4096)) > 0
    except BlockingIOError:
        pass
print(answered, flush=True)
"""


def ask(broker, message):
    """Returns a connection of root's on which `message` was sent."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    connection.settimeout(30)
    connection.connect(str(broker.folder / "broker.sock"))
    connection.send(message)
    return connection


def is_granted(connection):
    """Reports whether the broker granted the request. Closes the received descriptors: the daemon
    holds the socket as long as the connection."""
    reply, descriptors, _, _ = socket.recv_fds(connection, 4096, 2)
    for descriptor in descriptors:
        os.close(descriptor)
    return reply[:4] == b"\xff\xff\xff\xff"


def test_a_crowd_that_waits_for_a_queue_holds_up_nobody_else(veth, broker):
    """root holds queue 0; the user nobody requests it 16 times, and each request
    waits for half a second."""
    if is_too_old(broker):
        return
    broker.allow("user=root iface=vethB\nuser=nobody iface=vethB\n" +
                 PACKET_RULE.replace("nobody", "root"))
    broker.start()
    held = ask(broker, XDP_MESSAGE)
    assert is_granted(held)
    crowd = broker.start_as_nobody("/usr/bin/python3", "-c", CROWD, XDP_MESSAGE.hex(),
                                   stdin=subprocess.PIPE)
    assert crowd.stdout.readline() == "asked\n"
    mine = ask(broker, PACKET_MESSAGE)
    assert is_granted(mine)
    answered, errors = crowd.communicate("go\n", timeout=30)
    assert int(answered) < 16, errors
    # All requests are answered in the end, and the queue becomes free again.
    held.close()
    eventually(lambda: is_granted(ask(broker, XDP_MESSAGE)), "the queue is free again")


def test_refusals_do_not_fill_the_log(veth, broker):
    broker.allow("").start()
    for _ in range(300):
        connection = ask(broker, PACKET_MESSAGE)
        assert not is_granted(connection)
        connection.close()
    assert 1 <= broker.log().count("no rule of the daemon's policy allows it") <= 20


@pytest.mark.parametrize("how, why", [("folder", "who may replace the policy"),
                                      ("shared", "and so replace the policy"),
                                      ("link", "it is a link")])
def test_a_policy_that_others_may_replace_is_refused(veth, broker, how, why):
    folder = broker.folder / "policies"
    folder.mkdir()
    broker.policy = folder / "policy"
    broker.allow("user=nobody iface=lo\n")
    if how == "folder":
        os.chown(folder, int(NOBODY), int(NOBODY))
    elif how == "shared":
        folder.chmod(0o777)
    else:
        broker.policy.rename(folder / "true")
        broker.policy.symlink_to(folder / "true")
    process = broker.launch()
    assert process.wait(30) == 1
    assert why in broker.log()


def test_daemons_in_one_folder_have_a_broker_each(veth, broker, tmp_path):
    broker.allow(PACKET_RULE).start()
    other = Broker(veth, tmp_path / "other")
    other.socket = broker.folder / "other.sock"
    other.allow("").start()
    try:
        assert (broker.folder / "other-broker.sock").is_socket()
    finally:
        other.close()
    assert not (broker.folder / "other-broker.sock").exists()
    assert result_of(broker.as_nobody("l2", "send", "vethB", "hello"))["frames"] == 1
    # A socket on which another process listens is left alone.
    stranger = Broker(veth, tmp_path / "stranger")
    stranger.socket = broker.folder / "third.sock"
    stranger.allow("")
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(str(broker.folder / "third-broker.sock"))
        listener.listen()
        assert stranger.launch().wait(30) == 1
        assert "another process listens there" in stranger.log()
    # A leftover socket is replaced.
    stranger.start()
    stranger.close()
