"""A server with two loops: `--threads 2`."""

import contextlib
import os
import threading

import pytest

from strata_daemon import eventually
from talker import Talker


@pytest.fixture
def crowd(daemon):
    """Sixteen talkers on two loops; the kernel distributes them."""
    with contextlib.ExitStack() as stack:
        [url] = daemon.server("chat", threads=2)
        talkers = [stack.enter_context(Talker(url)) for _ in range(16)]
        daemon.wait_connections("chat", 16)
        yield talkers


def test_a_broadcast_reaches_each_exactly_once(daemon, crowd):
    for number in range(50):
        assert daemon.send("chat", b"%d" % number)["delivered"] == 16
    for each in crowd:
        assert each.hear_lines(50) == [b"%d" % number for number in range(50)]
        assert not each.has_something()


def test_what_one_says_reaches_all_others_exactly_once(daemon, crowd):
    for number, speaker in enumerate(crowd):
        speaker.say(b"%d" % number)
        for hearer in crowd:
            if hearer is not speaker:
                assert hearer.hear() == b"%d" % number
    daemon.send("chat", b"end")
    assert [each.hear() for each in crowd] == [b"end"] * 16


def test_the_order_of_each_sender_is_kept_when_all_talk_at_once(crowd):
    count = 300

    def talk(number):
        for first in range(0, count, 10):
            crowd[number].say(*[b"%d %d" % (number, first + i) for i in range(10)])

    heard = [None] * len(crowd)

    def listen(number):
        heard[number] = crowd[number].hear_lines(count * (len(crowd) - 1))

    threads = [threading.Thread(target=work, args=(number,))
               for number in range(len(crowd)) for work in (talk, listen)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    for hearer, lines in enumerate(heard):
        for speaker in range(len(crowd)):
            numbers = [int(line.split()[1]) for line in lines
                       if line.startswith(b"%d " % speaker)]
            assert numbers == ([] if speaker == hearer else list(range(count)))


def test_more_threads_than_cores_and_all_kinds_of_endpoints(daemon, tmp_path):
    urls = daemon.server("chat", threads=5, listen=[
        "tcp://127.0.0.1:0", "tcp://[::1]:0", f"unix://{tmp_path}/path"])
    with contextlib.ExitStack() as stack:
        talkers = [stack.enter_context(Talker(url)) for url in urls * 8]
        daemon.wait_connections("chat", 24)
        talkers[0].say(b"to all")
        assert [each.hear() for each in talkers[1:]] == [b"to all"] * 23


def test_a_server_with_threads_can_be_restarted_on_its_port(daemon):
    [url] = daemon.server("chat", threads=2)
    daemon.edit("chat", listen=[url])
    for _ in range(10):
        assert daemon.act("chat", "restart")["endpoints"] == [url]
    with Talker(url) as ann, Talker(url) as bob:
        daemon.wait_connections("chat", 2)
        ann.say(b"as before")
        assert bob.hear() == b"as before"


def held_by(daemon):
    """Returns the number of the daemon's threads, and of the descriptors that belong to loops."""
    place = f"/proc/{daemon.pid}"
    kept = 0
    for each in os.listdir(f"{place}/fd"):
        with contextlib.suppress(FileNotFoundError):
            kept += os.readlink(f"{place}/fd/{each}").startswith("anon_inode:")
    return len(os.listdir(f"{place}/task")), kept


def test_the_threads_of_a_server_end_with_it(daemon):
    """Their descriptors are closed too; work on other loops is not affected."""
    [url] = daemon.server("stays")
    with Talker(url) as ann, Talker(url) as bob:
        daemon.wait_connections("stays", 2)
        before = held_by(daemon)
        for _ in range(3):
            daemon.server("wide", threads=64)
            threads, descriptors = held_by(daemon)
            assert threads >= before[0] + 63 and descriptors > before[1] + 63
            daemon.act("wide", "restart")
            daemon.act("wide", "stop")
            eventually(lambda: held_by(daemon) == before, "what the loops held is given back")
            daemon.remove("wide")
        ann.say(b"still here")
        assert bob.hear() == b"still here"


def test_a_daemon_ends_while_its_loops_do(daemon):
    daemon.server("wide", threads=64)
    daemon.remove("wide")
    daemon.restart()
    daemon.server("wide", threads=64)
    daemon.restart()
    assert daemon.show("wide")["state"] == "running"
