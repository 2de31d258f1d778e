"""UDP with strangers: the address of a datagram's sender may be forged, and its bytes are anyone's.
"""

import contextlib
import socket

from strata_daemon import PATIENCE, eventually
from talker import Peer, Talker, address_of

MANY = 5000  # more than the sockets' requests that one server has with the kernel at a time


def chat(daemon, **options):
    [url] = daemon.server("chat", listen=["udp://127.0.0.1:0"], **options)
    return url


@contextlib.contextmanager
def crowd(daemon, url, count):
    """Sockets that are peers of `chat`. They come in portions, so that none is lost on its way."""
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
    # In this mode they do not hear each other.
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
        # They take no place of those with a connection.
        talkers = [stack.enter_context(Talker(tcp)) for _ in range(2)]
        daemon.wait_connections("chat", 5)
        talkers[0].say(b"from tcp")
        assert talkers[1].hear() == b"from tcp"
        assert stack.enter_context(Talker(tcp)).is_ended()
        assert daemon.stats("chat")["connections"]["refused"] == 8
        # The limit can be raised while it runs.
        daemon.edit("chat", max_peers=4)
        peers[9].say(b"again")
        daemon.wait_connections("chat", 6)
        assert talkers[0].hear() == b"again"
