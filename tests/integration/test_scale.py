"""Thousands of connections: all are served, and each receives everything exactly once."""

import select
import socket
import time

import pytest

from strata_daemon import PATIENCE, eventually
from talker import RESET_ON_CLOSE, Talker, address_of

pytestmark = pytest.mark.serial


class Crowd:
    """Many connections, read together."""

    def __init__(self, url, count):
        self.url = url
        self.poll = select.epoll()
        self.members = {}
        self.heard = {}
        self.join(count)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.leave(len(self.members))
        self.poll.close()

    def join(self, count):
        family, kind, address = address_of(self.url)
        for _ in range(count):
            member = socket.socket(family, kind)
            member.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
            member.settimeout(PATIENCE)
            member.connect(address)
            self.members[member.fileno()] = member
            self.heard[member.fileno()] = b""
            self.poll.register(member, select.EPOLLIN)

    def leave(self, count):
        for number in list(self.members)[:count]:
            self.members.pop(number).close()
            del self.heard[number]

    def hear(self, text):
        """Waits until each has received `text` and nothing else, exactly once."""
        missing = set(self.members)
        deadline = time.monotonic() + PATIENCE
        while missing:
            assert time.monotonic() < deadline, f"{len(missing)} have not heard {text!r}"
            for number, _ in self.poll.poll(1):
                more = self.members[number].recv(65536)
                assert more, "a member was disconnected"
                self.heard[number] += more
                if len(self.heard[number]) >= len(text):
                    missing.discard(number)
        assert set(self.heard.values()) == {text}
        self.heard = dict.fromkeys(self.heard, b"")


@pytest.mark.parametrize("threads", [1, 2])
def test_a_broadcast_reaches_each_of_6000_exactly_once_also_after_half_reconnected(
        daemon, threads):
    [url] = daemon.server("s", threads=threads)
    with Talker(url) as speaker, Crowd(url, 6000) as crowd:
        daemon.wait_connections("s", 6001)
        speaker.say(b"first")
        crowd.hear(b"first\n")
        assert daemon.send("s", b"second")["delivered"] == 6001
        crowd.hear(b"second\n")
        crowd.leave(3000)
        daemon.wait_connections("s", 3001)
        crowd.join(3000)
        daemon.wait_connections("s", 6001)
        speaker.say(*[b"%d" % number for number in range(20)])
        crowd.hear(b"".join(b"%d\n" % number for number in range(20)))
        assert daemon.stats("s")["dropped"]["slow_client"] == 0


def test_10000_idle_connections_cost_little_and_others_talk_on(daemon):
    [url] = daemon.server("busy")
    [quiet] = daemon.server("quiet")
    with Talker(url) as ann, Talker(url) as bob:
        daemon.wait_connections("busy", 2)
        before = daemon.resident_mib()
        with Crowd(quiet, 10_000):
            daemon.wait_connections("quiet", 10_000)
            assert daemon.resident_mib() < before + 200
            for number in range(100):
                ann.say(b"%d" % number)
                assert bob.hear() == b"%d" % number
            assert daemon.show("quiet")["connections"] == 10_000
        daemon.wait_connections("quiet", 0)
        assert daemon.stats("quiet")["connections"]["peak"] == 10_000


def test_ten_thousand_connections_one_after_the_other(daemon):
    [url] = daemon.server("s")
    family, kind, address = address_of(url)
    for _ in range(10_000):
        with socket.socket(family, kind) as passer:
            passer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
            passer.connect(address)
    with Talker(url) as last:
        daemon.wait_connections("s", 1)
        eventually(lambda: daemon.send("s", b"hello")["delivered"] == 1, "one is left")
        assert last.hear() == b"hello"


def test_an_idle_daemon_with_ten_runtimes_costs_no_processor_time(daemon):
    for number in range(5):
        [url] = daemon.server(f"server{number}", threads=1 + number % 2,
                              idle_timeout=3600 * (number % 2))
        daemon.create("client", f"client{number}", connect=url, reconnect=0)
        daemon.wait_connections(f"server{number}", 1)
    time.sleep(1)  # work that the start left
    before = daemon.cpu_ns()
    time.sleep(5)
    used = daemon.cpu_ns() - before
    assert used <= 0.002 * 5e9, f"{used / 5e7:.3f} % of a core"
