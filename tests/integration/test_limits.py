"""Limits: what happens at each of them, what is counted, and that other clients are not
affected."""

import contextlib
import threading
import time

import pytest

from strata_daemon import Refused, eventually
from talker import Talker

LINE = b"x" * 1000


def slow_reader(url):
    return Talker(url, room=4096)


def numbered(first, count):
    return [b"%d:" % number + LINE for number in range(first, first + count)]


def say_and_hear(speaker, hearers, total, step=50):
    """Sends `total` numbered lines, never far ahead of the hearers; each of them
    must receive every line."""
    for first in range(0, total, step):
        lines = numbered(first, step)
        speaker.say(*lines)
        for each in hearers:
            assert each.hear_lines(step) == lines


def test_connections_beyond_max_connections_are_refused_and_counted(daemon):
    [url] = daemon.server("chat", max_connections=2)
    with Talker(url) as ann, Talker(url) as bob:
        daemon.wait_connections("chat", 2)
        for _ in range(3):
            with Talker(url) as more:
                assert more.is_ended()
        expected = {"now": 2, "peak": 2, "total": 2, "refused": 3}
        assert daemon.stats("chat")["connections"].items() >= expected.items()
        ann.say(b"unharmed")
        assert bob.hear() == b"unharmed"
        ann.close()
        daemon.wait_connections("chat", 1)
        with Talker(url) as cid:
            daemon.wait_connections("chat", 2)
            cid.say(b"in at last")
            assert bob.hear() == b"in at last"


@pytest.mark.parametrize("option", ["rate_limit", "global_rate_limit"])
def test_messages_beyond_a_rate_are_dropped_and_counted(daemon, option):
    [url] = daemon.server("chat", **{option: 20})
    with Talker(url) as ann, Talker(url) as bob:
        daemon.wait_connections("chat", 2)
        began = time.monotonic()
        ann.say(*[b"%d" % number for number in range(200)])
        eventually(lambda: daemon.stats("chat")["messages"]["in"] == 200, "all are read")
        passed = 200 - daemon.stats("chat")["dropped"][option]
        assert 20 <= passed <= 20 + 20 * (time.monotonic() - began) + 1
        heard = [int(line) for line in bob.hear_lines(passed)]
        assert heard == sorted(set(heard)) and heard[:20] == list(range(20))
        time.sleep(0.2)
        ann.say(b"later")
        assert bob.hear() == b"later"


def test_the_global_rate_is_shared_and_the_clients_rate_is_not(daemon):
    [url] = daemon.server("chat", rate_limit=10, global_rate_limit=15, threads=2)
    with contextlib.ExitStack() as stack:
        talkers = [stack.enter_context(Talker(url)) for _ in range(4)]
        daemon.wait_connections("chat", 4)
        for each in talkers:
            each.say(*[b"x"] * 50)
        eventually(lambda: daemon.stats("chat")["messages"]["in"] == 200, "all are read")
        dropped = daemon.stats("chat")["dropped"]
        assert dropped["rate_limit"] > 100 and dropped["global_rate_limit"] > 5


def test_who_is_idle_is_disconnected_and_who_talks_is_not(daemon):
    [url] = daemon.server("chat", idle_timeout=0.5)
    with Talker(url) as ann, Talker(url) as bob:
        daemon.wait_connections("chat", 2)
        hearing = threading.Thread(target=bob.is_ended)
        hearing.start()
        while hearing.is_alive():
            ann.say(b"awake")
            time.sleep(0.05)
        daemon.wait_connections("chat", 1)
        daemon.send("chat", b"still here?")
        assert ann.hear() == b"still here?"


def test_a_line_without_end_ends_its_connection_and_costs_no_memory(daemon):
    [url] = daemon.server("chat")
    with Talker(url) as ann, Talker(url) as bob, Talker(url) as endless:
        daemon.wait_connections("chat", 3)
        before = daemon.resident_mib()
        piece = b"x" * (1 << 20)
        with pytest.raises(ConnectionError):
            for _ in range(2048):
                endless.send(piece)
        eventually(lambda: daemon.stats("chat")["dropped"]["too_large"] == 1, "it is counted")
        daemon.wait_connections("chat", 2)
        assert daemon.resident_mib() < before + 32
        assert daemon.logged("chat", "longer than 1048576 bytes", "warning")
        ann.say(b"unharmed")
        assert bob.hear() == b"unharmed"


@pytest.mark.serial
def test_many_endless_lines_of_clients_that_never_read_hold_up_nobody(daemon):
    [url] = daemon.server("chat", max_message=65536)
    with Talker(url) as ann, Talker(url) as bob, contextlib.ExitStack() as stack:
        hostile = [stack.enter_context(slow_reader(url)) for _ in range(24)]
        daemon.wait_connections("chat", 26)
        say_and_hear(ann, [bob], 4000)  # now data waits for each of the others
        for each in hostile:
            each.socket.setblocking(False)
            with contextlib.suppress(BlockingIOError, ConnectionError):
                while True:
                    each.socket.send(b"x" * 65536)
        began = time.monotonic()
        say_and_hear(ann, [bob], 500)
        assert time.monotonic() - began < 4
        eventually(lambda: daemon.stats("chat")["dropped"]["too_large"] == 24, "all are counted")


def test_a_message_of_exactly_max_message_passes_and_one_more_byte_does_not(daemon):
    [url] = daemon.server("chat", max_message=1000)
    with Talker(url) as ann, Talker(url) as bob:
        daemon.wait_connections("chat", 2)
        ann.say(b"x" * 1000)
        assert bob.hear() == b"x" * 1000
        ann.say(b"x" * 1001)
        assert ann.is_ended()
        with pytest.raises(Refused, match="more than 1000") as refused:
            daemon.send("chat", b"y" * 1001)
        assert refused.value.code == "limit_exceeded"


def test_a_client_that_never_reads_loses_messages_when_drop_is_asked_for(daemon):
    [url] = daemon.server("chat", max_buffer=65536, slow_client="drop")
    with Talker(url) as ann, Talker(url) as bob, slow_reader(url) as slow:
        daemon.wait_connections("chat", 3)
        before = daemon.resident_mib()
        say_and_hear(ann, [bob], 20_000)
        assert daemon.stats("chat")["dropped"]["slow_client"] > 1000
        assert daemon.resident_mib() < before + 48
        assert daemon.logged("chat", "messages to it are dropped", "warning")
        received = 20_000 - daemon.stats("chat")["dropped"]["slow_client"]
        heard = slow.hear_lines(received)
        numbers = [int(line.split(b":")[0]) for line in heard]
        assert all(line.endswith(b":" + LINE) for line in heard)
        assert numbers == sorted(set(numbers)) and numbers[0] == 0
        ann.say(b"reading again")
        assert slow.hear() == bob.hear() == b"reading again"


def test_what_is_dropped_was_not_delivered(daemon):
    [url] = daemon.server("chat", max_buffer=65536, slow_client="drop")
    with Talker(url, room=4096):
        daemon.wait_connections("chat", 1)
        delivered = 0
        for _ in range(200):
            delivered += daemon.send("chat", b"x" * 32768)["delivered"]
        assert delivered < 200
        assert delivered + daemon.stats("chat")["dropped"]["slow_client"] == 200


def test_a_client_that_never_reads_is_disconnected_by_default(daemon):
    [url] = daemon.server("chat", max_buffer=65536)
    with Talker(url) as ann, Talker(url) as bob, slow_reader(url) as slow:
        daemon.wait_connections("chat", 3)
        before = daemon.resident_mib()
        say_and_hear(ann, [bob], 20_000)
        daemon.wait_connections("chat", 2)
        assert daemon.stats("chat")["dropped"]["slow_client"] > 0
        assert daemon.resident_mib() < before + 48
        assert daemon.logged("chat", "disconnected", "warning")
        assert slow.is_ended()


def test_drain_delivers_all_that_waits_before_it_closes(daemon):
    [url] = daemon.server("chat", drain=True, drain_timeout=30, max_buffer=64 << 20)
    lines = numbered(0, 12_000)
    with Talker(url) as ann, slow_reader(url) as slow:
        daemon.wait_connections("chat", 2)
        ann.say(*lines)
        eventually(lambda: daemon.stats("chat")["messages"]["in"] == len(lines), "all are read")
        stopping = threading.Thread(target=daemon.act, args=("chat", "stop"))
        stopping.start()
        assert slow.hear_to_end() == lines
        stopping.join()
    assert daemon.show("chat")["state"] == "stopped"


def test_drain_also_delivers_to_one_who_talks_all_the_time(daemon):
    [url] = daemon.server("chat", drain=True, drain_timeout=30, max_buffer=64 << 20)
    lines = numbered(0, 1500)
    with Talker(url) as ann, slow_reader(url) as slow:
        daemon.wait_connections("chat", 2)
        ann.say(*lines)
        eventually(lambda: daemon.stats("chat")["messages"]["in"] == len(lines), "ann is read")

        def chatter():
            with contextlib.suppress(OSError):
                while True:
                    slow.say(b"never mind")

        chatting = threading.Thread(target=chatter)
        chatting.start()
        eventually(lambda: daemon.stats("chat")["messages"]["in"] > len(lines), "both are read")
        stopping = threading.Thread(target=daemon.act, args=("chat", "stop"))
        stopping.start()
        stopping.join(1)  # a drain that does not wait for the reader would be over now
        assert slow.hear_lines(len(lines)) == lines
        with contextlib.suppress(OSError):
            slow.finish()  # unless the server was faster
        chatting.join()
        stopping.join()


@pytest.mark.serial
def test_a_drain_that_takes_too_long_ends(daemon):
    [url] = daemon.server("chat", drain=True, drain_timeout=0.3, max_buffer=64 << 20)
    with Talker(url) as ann, slow_reader(url):
        daemon.wait_connections("chat", 2)
        ann.say(*numbered(0, 12_000))
        eventually(lambda: daemon.stats("chat")["messages"]["in"] == 12_000, "all are read")
        began = time.monotonic()
        daemon.act("chat", "stop")
        assert time.monotonic() - began < 10
