"""Where a server can listen: TCP over IPv4 and IPv6, UDP, Unix paths, several at once."""

import os
import socket
import stat
import sys

import pytest

import without_ipv6
from strata_daemon import Daemon, Refused, eventually
from talker import Peer, Talker, free_port, port_of


def test_port_zero_takes_a_free_port_and_says_which(daemon):
    [url] = daemon.server("chat", listen=[], port=0)
    assert url.startswith("tcp://*:") and port_of(url) != 0
    with Talker(url) as ann:
        daemon.wait_connections("chat", 1)
        daemon.send("chat", b"hello")
        assert ann.hear() == b"hello"


def hosts_of(url):
    """Returns a URL per address family, for the URL of all addresses."""
    return [url.replace("*", host) for host in ("127.0.0.1", "[::1]")]


def test_every_address_is_of_both_families(daemon):
    [url] = daemon.server("chat", listen=["tcp://*:0"])
    four, six = hosts_of(url)
    with Talker(four) as ann, Talker(six) as bob:
        daemon.wait_connections("chat", 2)
        ann.say(b"from four")
        assert bob.hear() == b"from four"
        bob.say(b"from six")
        assert ann.hear() == b"from six"


def test_datagrams_of_both_families_are_heard_and_answered(daemon):
    [url] = daemon.server("chat", listen=["udp://*:0"])
    four, six = hosts_of(url)
    with Peer(four) as ann, Peer(six) as bob:
        for each in ann, bob:
            each.say(b"here")
        daemon.wait_connections("chat", 2)
        ann.say(b"from four")
        eventually(lambda: bob.hear() == b"from four", "bob hears it")
        bob.say(b"from six")
        eventually(lambda: ann.hear() == b"from six", "ann hears it")


class DaemonWithoutIpv6(Daemon):
    def command(self, *more):
        return [sys.executable, without_ipv6.__file__, *super().command(*more)]


def test_without_ipv6_every_address_is_of_ipv4(tmp_path):
    daemon = DaemonWithoutIpv6(tmp_path).start()
    try:
        [url] = daemon.server("chat", listen=["tcp://*:0"], threads=2)
        assert url.startswith("tcp://*:")
        with Talker(url) as ann, Talker(url) as bob:
            daemon.wait_connections("chat", 2)
            ann.say(b"hello")
            assert bob.hear() == b"hello"
        with pytest.raises(Refused, match="Address family not supported"):
            daemon.server("six", listen=["tcp://[::1]:0"])
    finally:
        daemon.stop()


def test_nobody_connects_to_every_address(daemon):
    with pytest.raises(Refused, match="'\\*' means all addresses of this machine"):
        daemon.create("client", "lost", connect="tcp://*:9000")
    with pytest.raises(Refused, match="'\\*' means all addresses of this machine"):
        daemon.create("cache", "lost", port=0, follow="tcp://*:9000")


def test_an_ipv6_address_is_listened_on(daemon):
    [url] = daemon.server("chat", listen=["tcp://[::1]:0"])
    assert url.startswith("tcp://[::1]:")
    with Talker(url) as ann, Talker(url) as bob:
        daemon.wait_connections("chat", 2)
        ann.say(b"over six")
        assert bob.hear() == b"over six"


def test_only_the_address_that_was_asked_for_is_bound(daemon):
    [url] = daemon.server("chat", listen=["tcp://127.0.0.2:0"])
    with pytest.raises(ConnectionRefusedError):
        Talker(f"tcp://127.0.0.1:{port_of(url)}")
    Talker(url).close()


def test_a_host_name_binds_all_its_addresses(daemon):
    port = free_port()
    urls = daemon.server("chat", listen=[f"tcp://localhost:{port}"])
    assert f"tcp://127.0.0.1:{port}" in urls
    for url in urls:
        Talker(url).close()


def test_udp_peers_are_known_from_their_first_datagram(daemon):
    [url] = daemon.server("chat", listen=["udp://127.0.0.1:0"])
    with Peer(url) as ann, Peer(url) as bob:
        ann.say(b"ann is here")
        daemon.wait_connections("chat", 1)
        bob.say(b"from bob")
        assert ann.hear() == b"from bob"
        ann.say(b"two\nlines")
        assert bob.hear() == b"two\nlines"
        assert daemon.send("chat", b"to both") == {"delivered": 2, "queued": 0}
        assert ann.hear() == bob.hear() == b"to both"


def test_a_silent_udp_peer_is_forgotten(daemon):
    [url] = daemon.server("chat", listen=["udp://127.0.0.1:0"], peer_timeout=0.2)
    with Peer(url) as ann, Peer(url) as bob:
        ann.say(b"ann")
        daemon.wait_connections("chat", 1)
        daemon.wait_connections("chat", 0)
        bob.say(b"bob")
        daemon.wait_connections("chat", 1)
        ann.say(b"ann again")
        assert bob.hear() == b"ann again"
        assert not ann.has_something()


def test_udp_over_ipv6(daemon):
    [url] = daemon.server("chat", listen=["udp://[::1]:0"])
    with Peer(url) as ann, Peer(url) as bob:
        ann.say(b"ann")
        daemon.wait_connections("chat", 1)
        bob.say(b"six")
        assert ann.hear() == b"six"


def test_a_datagram_that_is_too_large_is_dropped_and_the_next_is_not(daemon):
    [url] = daemon.server("chat", listen=["udp://127.0.0.1:0"])
    with Peer(url) as ann, Peer(url) as bob:
        ann.say(b"ann")
        daemon.wait_connections("chat", 1)
        bob.say(b"x" * 60_000)
        bob.say(b"y" * 10_000)
        assert ann.hear() == b"y" * 10_000
        assert daemon.stats("chat")["dropped"]["too_large"] == 1


def test_a_udp_peer_whose_port_is_dead_harms_nobody(daemon):
    [url] = daemon.server("chat", listen=["udp://127.0.0.1:0"])
    with Peer(url) as gone, Peer(url) as ann:
        ann.say(b"ann")
        daemon.wait_connections("chat", 1)
        gone.say(b"gone")
        assert ann.hear() == b"gone"
        gone.socket.close()
        for number in range(20):
            daemon.send("chat", b"%d" % number)
            assert ann.hear() == b"%d" % number


def test_a_unix_path_is_listened_on_and_removed_at_the_end(daemon, tmp_path):
    path = tmp_path / "chat.sock"
    [url] = daemon.server("chat", listen=[f"unix://{path}"])
    assert url == f"unix://{path}" and stat.S_ISSOCK(os.stat(path).st_mode)
    with Talker(url) as ann, Talker(url) as bob:
        daemon.wait_connections("chat", 2)
        ann.say(b"by path")
        assert bob.hear() == b"by path"
        daemon.act("chat", "stop")
        assert ann.is_ended() and not path.exists()


def test_a_stale_unix_path_is_taken_over_and_a_file_is_not(daemon, tmp_path):
    stale, file = tmp_path / "stale.sock", tmp_path / "file"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(stale))
    file.write_text("precious")
    daemon.server("chat", listen=[f"unix://{stale}"])
    Talker(f"unix://{stale}").close()
    with pytest.raises(Refused, match="not a socket"):
        daemon.server("other", listen=[f"unix://{file}"])
    assert file.read_text() == "precious"


def test_one_server_listens_on_all_kinds_at_once(daemon, tmp_path):
    listen = ["tcp://127.0.0.1:0", "tcp://[::1]:0", "udp://127.0.0.1:0",
              f"unix://{tmp_path}/a", f"unix://{tmp_path}/b"]
    urls = daemon.server("chat", listen=listen, port=0)
    assert len(urls) == 6 and all(port_of(url) != 0 for url in urls)
    streams = [Talker(url) for url in urls if not url.startswith("udp")]
    with Peer(next(url for url in urls if url.startswith("udp"))) as peer:
        daemon.wait_connections("chat", 5)
        peer.say(b"from udp")
        assert [each.hear() for each in streams] == [b"from udp"] * 5
        streams[-1].say(b"from unix")
        assert peer.hear() == b"from unix"
        assert [each.hear() for each in streams[:-1]] == [b"from unix"] * 4
    for each in streams:
        each.close()


@pytest.mark.parametrize("url, reason", [
    ("9000", "no scheme"), ("tcp://127.0.0.1", "no port"), ("tcp://127.0.0.1:70000", "70000"),
    ("quic://127.0.0.1:1", "quic"), ("tcp://::1:80", "brackets"), ("unix://relative", "path"),
    ("unix:///" + "x" * 200, "1 to 107 bytes"), ("tcp://:80", "host"), ("tcp://a b:80", "host"),
    ("unix:///a\0b", "NUL"), ("tcp://192.0.2.77:0", "address of this machine")],
    ids=["bare", "portless", "port", "scheme", "ipv6", "relative", "long", "hostless", "space",
         "nul", "foreign"])
def test_an_endpoint_that_cannot_be_is_refused_with_its_reason(daemon, url, reason):
    with pytest.raises(Refused, match=reason):
        daemon.server("chat", listen=[url])


def test_a_server_needs_somewhere_to_listen(daemon):
    with pytest.raises(Refused, match="no address to listen on"):
        daemon.server("chat", listen=[])


def test_a_connection_that_is_reset_is_forgotten(daemon):
    [url] = daemon.server("chat")
    with Talker(url) as ann:
        bob = Talker(url)
        bob.send(b"half")
        daemon.wait_connections("chat", 2)
        bob.reset()
        daemon.wait_connections("chat", 1)
        eventually(lambda: daemon.send("chat", b"on")["delivered"] == 1, "one is left")
        assert ann.hear() == b"on"
