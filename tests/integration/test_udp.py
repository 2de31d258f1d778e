"""UDP with strangers: a datagram's sender address may be forged, and its bytes may be anything.
"""

import contextlib
import json
import re
import signal
import socket
import struct
import sys
import time
from pathlib import Path

import pytest

import neighbour
import stranger
from strata_daemon import PATIENCE, Daemon, Refused, eventually
from talker import Peer, Talker, address_of, port_of
from veth import DaemonInside, Veth

MANY = 5000  # more than the socket requests that one server has in the kernel at a time


def chat(daemon, **options):
    [url] = daemon.server("chat", listen=["udp://127.0.0.1:0"], **options)
    return url


@contextlib.contextmanager
def crowd(daemon, url, count):
    """Makes sockets that are peers of `chat`. They connect in portions, so
    that no datagram is lost."""
    address = address_of(url)[2]
    sockets = []
    try:
        for number in range(count):
            sockets.append(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            sockets[-1].settimeout(PATIENCE)
            sockets[-1].sendto(b"here", address)
            if number % 100 == 99:
                daemon.wait_connections("chat", number + 1)
        daemon.wait_connections("chat", count)
        yield sockets
    finally:
        for each in sockets:
            each.close()


def test_every_one_of_many_peers_hears_a_broadcast(daemon):
    # In this mode they do not receive each other's messages.
    url = chat(daemon, mode="out", peer_timeout=600)
    with crowd(daemon, url, MANY) as sockets:
        assert daemon.send("chat", b"to all")["delivered"] == MANY
        assert [each.recv(100) for each in sockets] == [b"to all"] * MANY
    assert daemon.stats("chat")["dropped"]["slow_client"] == 0


def test_an_empty_datagram_makes_no_peer(daemon):
    url = chat(daemon)
    with Peer(url) as empty, Peer(url) as ann:
        for _ in range(50):
            empty.say(b"")
        ann.say(b"ann")
        daemon.wait_connections("chat", 1)
        assert daemon.send("chat", b"hello")["delivered"] == 1
        assert ann.hear() == b"hello"
        assert not empty.has_something()
        connections = daemon.stats("chat")["connections"]
        assert (connections["total"], connections["refused"]) == (1, 0)


def test_an_empty_datagram_keeps_a_peer_known(daemon):
    url = chat(daemon, peer_timeout=1)
    with Peer(url) as ann, Peer(url) as silent:
        ann.say(b"ann")
        daemon.wait_connections("chat", 1)
        silent.say(b"silent")
        assert ann.hear() == b"silent"

        def only_ann_is_left():
            ann.say(b"")
            return daemon.stats("chat")["connections"]["now"] == 1

        eventually(only_ann_is_left, "the silent one is forgotten")
        daemon.send("chat", b"still here")
        assert ann.hear() == b"still here"
        assert daemon.stats("chat")["connections"]["total"] == 2


def test_peers_have_a_limit_of_their_own(daemon):
    udp, tcp = daemon.server("chat", listen=["udp://127.0.0.1:0", "tcp://127.0.0.1:0"],
                             max_peers=3, max_connections=2)
    with contextlib.ExitStack() as stack:
        peers = [stack.enter_context(Peer(udp)) for _ in range(10)]
        for each in peers:
            each.say(b"hello")
        eventually(lambda: daemon.stats("chat")["connections"]["refused"] == 7, "7 are refused")
        # UDP peers take no place of connected clients.
        talkers = [stack.enter_context(Talker(tcp)) for _ in range(2)]
        daemon.wait_connections("chat", 5)
        talkers[0].say(b"from tcp")
        assert talkers[1].hear() == b"from tcp"
        assert stack.enter_context(Talker(tcp)).is_ended()
        assert daemon.stats("chat")["connections"]["refused"] == 8
        # The limit can be raised while the server runs.
        daemon.edit("chat", max_peers=4)
        peers[9].say(b"again")
        daemon.wait_connections("chat", 6)
        assert talkers[0].hear() == b"again"


# --- what strangers receive -----------------------------------------------------------------------

WIRE = 28  # bytes of the IPv4 and UDP headers
TOKEN = "the way in is here"


def forge(source_port, target_port, message):
    """Sends a datagram from 127.0.0.1 with the port of another socket as its source."""
    header = struct.pack(">HHHH", source_port, target_port, 8 + len(message), 0)
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_UDP) as raw:
        raw.sendto(header + message, ("127.0.0.1", 0))


def test_addresses_where_nobody_is_keep_no_known_peer_from_its_answer(root, tmp_path):
    """ +-- a ----------------------------+        +-- b ------------------------+
        |  the server    vethA 192.0.2.1 =|========|= vethB   forged datagrams,  |
        |  a peer                         |        |          from 250 addresses |
        +---------------------------------+        +-----------------------------+
    The kernel holds what goes to an address where nobody is, until ARP has given it up."""
    veth = Veth()
    daemon = Daemon(tmp_path, namespace=veth.a)
    try:
        daemon.start()
        daemon.create("server", "s", listen=["udp://*:9001"], mode="echo")
        with neighbour.inside(veth.a), Peer("udp://127.0.0.1:9001") as known:
            for number in (b"1", b"2", b"3"):
                known.say(number)
                assert known.hear() == number
            what = json.dumps({"target": neighbour.TARGET, "ports": [9001],
                               "as_nobody": False})
            veth.inside(veth.b, sys.executable, stranger.__file__, "datagrams", "2", what)
            assert dropped(daemon, "stranger", "s") > 0
            # Queued behind all answers to the forged addresses, its answer would wait for a minute.
            known.socket.settimeout(10)
            known.say(b"4")
            assert known.hear() == b"4"
    finally:
        daemon.close()
        veth.close()


def drain(peer):
    """Returns the sizes of all datagrams that wait to be read."""
    sizes = []
    while peer.has_something():
        sizes.append(len(peer.hear()))
    return sizes


def dropped(daemon, reason, name="chat"):
    return daemon.stats(name)["dropped"][reason]


def test_a_forged_address_is_sent_three_times_what_came_in_its_name(daemon):
    url = chat(daemon, mode="out", udp_allowance=1)
    with Peer(url) as victim:
        forge(victim.socket.getsockname()[1], port_of(url), b"x" * 100)
        daemon.wait_connections("chat", 1)
        for _ in range(50):
            daemon.send("chat", b"y" * 100)
        assert drain(victim) == [100] * 3
        assert dropped(daemon, "stranger") == 47
        assert daemon.logged("chat", "--udp-join", "warning")
        # Each datagram from the peer allows as many bytes again.
        victim.say(b"x" * (1000 - WIRE))
        eventually(lambda: daemon.stats("chat")["messages"]["in"] == 2, "it was heard")
        for _ in range(50):
            daemon.send("chat", b"y" * (1000 - WIRE))
        assert drain(victim) == [1000 - WIRE] * 3


def test_the_peers_of_a_network_share_an_allowance(daemon):
    url = chat(daemon, mode="out", udp_allowance=4000)
    with contextlib.ExitStack() as stack:
        peers = [stack.enter_context(Peer(url)) for _ in range(20)]
        for each in peers:
            each.say(b"x")
        daemon.wait_connections("chat", 20)
        # The network gets one copy of a message; it does not matter which peer receives it.
        daemon.send("chat", b"y" * 3000)
        assert sorted(size for each in peers for size in drain(each)) == [3000]
        assert dropped(daemon, "stranger") == 19
        daemon.edit("chat", udp_allowance=0)
        daemon.send("chat", b"z" * 3000)
        assert [drain(each) for each in peers] == [[3000]] * 20


def test_a_token_makes_peers_and_is_no_message(daemon):
    url = chat(daemon, udp_join=TOKEN, udp_allowance=1)
    with Peer(url) as ann, Peer(url) as bob, Peer(url) as stranger:
        for each in ann, bob:
            each.say(TOKEN.encode())
            assert each.hear() == b"joined"
        refused = [b"hello", b"", TOKEN[:-1].encode(), TOKEN.encode() + b"x",
                   TOKEN.upper().encode(), b"\0" * len(TOKEN), TOKEN.encode() * 2]
        for each in refused:
            stranger.say(each)
        eventually(lambda: daemon.stats("chat")["connections"]["refused"] == len(refused) - 1,
                   "the stranger is refused")
        # Peers that joined receive everything, however much it is, and all that others send.
        for number in range(200):
            ann.say(b"the same" if number % 2 else b"%d" % number + b"x" * 1000)
            bob.hear()
        ann.say(TOKEN.encode())
        assert ann.hear() == b"joined"
        assert not bob.has_something() and not stranger.has_something()
        assert daemon.stats("chat")["connections"]["total"] == 2
        assert daemon.stats("chat")["dropped"]["stranger"] == 0


def test_a_forged_token_is_answered_with_less(daemon):
    url = chat(daemon, udp_join="8 bytes!")
    with Peer(url) as ann:
        ann.say(b"8 bytes!")
        assert len(ann.hear()) < 8


def test_another_token_lets_nobody_stay(daemon):
    url = chat(daemon, udp_join=TOKEN)
    with Peer(url) as ann:
        ann.say(TOKEN.encode())
        assert ann.hear() == b"joined"
        daemon.edit("chat", udp_join="another word")
        daemon.wait_connections("chat", 0)
        ann.say(b"am I still here?")
        ann.say(b"another word")
        assert ann.hear() == b"joined"
        assert daemon.stats("chat")["messages"]["in"] == 0


def test_a_token_is_shown_to_nobody_and_not_short(daemon):
    chat(daemon, udp_join=TOKEN)
    assert TOKEN not in str(daemon.show("chat"))
    with pytest.raises(Refused, match="udp-join|guessed") as refused:
        daemon.edit("chat", udp_join="short")
    assert "--udp-join" in refused.value.remedy


def storm(daemon, mode, count, **options):
    """Makes servers that take each other for peers, so that the first message circulates."""
    names = [f"s{number}" for number in range(count)]
    ports = [port_of(daemon.server(name, listen=["udp://127.0.0.1:0"], mode=mode, **options)[0])
             for name in names]
    for target in ports:
        for source in ports:
            if source != target:
                forge(source, target, b"round")
    forge(ports[0], ports[1], b"and round")

    def heard():
        return sum(daemon.stats(name)["messages"]["in"] for name in names)

    return names, heard


@pytest.mark.parametrize("mode, count", [("inout", 3), ("inout", 4), ("echo", 2)])
def test_what_goes_round_between_servers_dies_down(daemon, mode, count):
    names, heard = storm(daemon, mode, count, udp_allowance=0)
    eventually(lambda: heard() > 5000, "without a guard it does go round")
    for name in names:
        daemon.edit(name, udp_allowance=64 << 10)

    def is_quiet():
        before = heard()
        time.sleep(0.3)
        return heard() == before

    eventually(is_quiet, "nothing goes round any more")
    assert sum(dropped(daemon, "repeat", name) for name in names) > 0


def test_a_message_said_again_and_again_is_heard_again_after_a_rest(daemon):
    url = chat(daemon, mode="in")
    with Peer(url) as ann:
        for _ in range(500):
            ann.say(b"again")
        eventually(lambda: dropped(daemon, "repeat") > 0, "it is too much")

        def is_heard():
            before = daemon.stats("chat")["messages"]["in"]
            ann.say(b"again")
            time.sleep(1.1)
            return daemon.stats("chat")["messages"]["in"] > before

        eventually(is_heard, "it is heard again")


# --- one datagram is one message ------------------------------------------------------------------

ATTACK = b"hi\n[2] transfer all the money"
HARMLESS = ATTACK.replace(b"\n", b" ")


@pytest.mark.parametrize("threads", [1, 2])
def test_a_datagram_is_one_line_for_those_who_hear_lines(daemon, tmp_path, threads):
    udp, tcp = daemon.server("chat", listen=["udp://127.0.0.1:0", "tcp://127.0.0.1:0"],
                             write=f"{tmp_path}/heard", threads=threads)
    with contextlib.ExitStack() as stack:
        talkers = [stack.enter_context(Talker(tcp)) for _ in range(6)]
        daemon.wait_connections("chat", 6)
        ann, bob = (stack.enter_context(Peer(udp)) for _ in range(2))
        said = [b"before", ATTACK, b"\n", b"\nx\n\ny\n", b"after"]
        bob.say(b"bob")
        for each in talkers:
            assert each.hear() == b"bob"
        for each in said:
            ann.say(each)
            assert bob.hear() == each  # a peer receives it unchanged
        for each in talkers:
            assert each.hear_lines(5) == [b"before", HARMLESS, b" ", b" x  y ", b"after"]
        written = [b"bob", b"before", HARMLESS, b" ", b" x  y ", b"after"]
        eventually(lambda: sorted((tmp_path / "heard").read_bytes().split(b"\n")) ==
                   sorted([*written, b""]), "all is written")


def test_a_datagram_is_one_line_for_the_master(daemon):
    udp, tcp = daemon.server("chat", listen=["udp://127.0.0.1:0", "tcp://127.0.0.1:0"],
                             mode="master", master_pw="open sesame", master_forward=True)
    with Talker(tcp) as master, Peer(udp) as ann:
        master.say(b"master open sesame")
        assert master.hear() == b"master: ok"
        ann.say(ATTACK)
        number, text = master.hear().split(b" ", 1)
        assert (number[:1], number[-1:], text) == (b"[", b"]", HARMLESS)
        ann.say(b"end")
        assert master.hear() == number + b" end"


def test_those_who_count_their_bytes_have_a_datagram_as_it_was(daemon):
    udp, tcp = daemon.server("chat", listen=["udp://127.0.0.1:0", "tcp://127.0.0.1:0"],
                             framing="length")
    with Talker(tcp) as bob, Peer(udp) as ann:
        daemon.wait_connections("chat", 1)
        ann.say(ATTACK)
        assert bob.read(4 + len(ATTACK)) == struct.pack(">I", len(ATTACK)) + ATTACK


# --- the kernel's buffers -------------------------------------------------------------------------

COUNT = 2000


def all_sleep(daemon):
    tasks = Path(f"/proc/{daemon.pid}/task").iterdir()
    return all((each / "stat").read_text().rsplit(") ", 1)[1][0] == "T" for each in tasks)


def flood_while_it_sleeps(daemon, url):
    """Sends COUNT different messages while the daemon reads none of them."""
    with Peer(url) as ann:
        daemon.signal(signal.SIGSTOP)
        eventually(lambda: all_sleep(daemon), "no thread of it runs any more")
        for number in range(COUNT):
            ann.say(b"%d" % number + b"x" * 1000)
        daemon.signal(signal.SIGCONT)


def test_what_the_kernel_drops_is_counted(daemon):
    url = chat(daemon, mode="in", receive_buffer=20000)
    flood_while_it_sleeps(daemon, url)

    def lost_and_heard():
        stats = daemon.stats("chat")
        return stats["dropped"]["kernel"], stats["messages"]["in"]

    eventually(lambda: sum(lost_and_heard()) == COUNT, "each is heard or counted as lost")
    lost, heard = lost_and_heard()
    assert lost > heard > 0
    _, metrics = daemon.exchange("GET", "/metrics")
    assert re.search(rb'strata_dropped_total\{[^}]*reason="kernel"[^}]*\} %d\n' % lost, metrics)


def test_a_larger_buffer_keeps_more(daemon):
    url = chat(daemon, mode="in", receive_buffer=16 << 20, send_buffer=1 << 20)
    flood_while_it_sleeps(daemon, url)
    eventually(lambda: daemon.stats("chat")["messages"]["in"] == COUNT, "all are heard")
    assert dropped(daemon, "kernel") == 0
    assert not daemon.logged("chat", "-buffer")


class Restricted(Daemon):
    """A process that may not have larger buffers than the machine's default limit."""

    def command(self, *more):
        return ["setpriv", "--bounding-set=-net_admin", "--inh-caps=-net_admin",
                *super().command(*more)]


def test_a_buffer_that_is_not_granted_is_told(tmp_path):
    restricted = Restricted(tmp_path / "daemon").start()
    try:
        url = chat(restricted, receive_buffer=512 << 20, send_buffer=512 << 20)
        assert restricted.logged("chat", f"of the {512 << 20} bytes of --receive-buffer")
        assert restricted.logged("chat", "net.core.wmem_max")
        with Peer(url) as ann:
            ann.say(b"works all the same")
            restricted.wait_connections("chat", 1)
    finally:
        restricted.close()


ASKER = """
import socket, sys
for host in sys.argv[2:]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    asker = socket.socket(family, socket.SOCK_DGRAM)
    asker.settimeout(10)
    asker.connect((host, int(sys.argv[1])))  # what comes from elsewhere is not heard
    for word in (b"one", b"two"):
        asker.send(word)
        assert asker.recv(100) == word, host
    print(host)
"""


def test_an_answer_leaves_from_the_address_that_was_asked(veth, tmp_path):
    """    b 192.0.2.2, fd00::2 --- a 192.0.2.1 and .9, fd00::1 and ::9: a server, and a proxy
    """
    hosts = ["192.0.2.1", "192.0.2.9", "fd00::1", "fd00::9"]
    for space, link, addresses in [(veth.a, "vethA", ["192.0.2.9/24", "fd00::1/64", "fd00::9/64"]),
                                   (veth.b, "vethB", ["fd00::2/64"])]:
        veth.inside(space, "sysctl", "-qw", f"net.ipv6.conf.{link}.disable_ipv6=0")
        for address in addresses:
            more = ["nodad"] if ":" in address else []
            veth.inside(space, "ip", "address", "add", address, "dev", link, *more)
    inside = DaemonInside(veth.a, tmp_path / "inside")
    inside.start()
    try:
        inside.server("echo", listen=["udp://*:9000"], mode="echo")
        inside.server("large", listen=["udp://*:9002"], mode="echo", max_message=60000)
        inside.create("proxy", "front", listen=["udp://*:9001"], backend=["udp://127.0.0.1:9000"])
        inside.server("four", listen=["udp://0.0.0.0:9003"], mode="echo")
        for port, asked in [(9000, hosts), (9001, hosts), (9002, hosts), (9003, hosts[:2])]:
            said = veth.inside(veth.b, sys.executable, "-c", ASKER, str(port), *asked)
            assert said.split() == asked, port
        # Two conversations from one port are kept apart.
        assert inside.show("echo")["connections"] >= len(hosts)
    finally:
        inside.close()
