"""Signals: those that end the daemon end it successfully, all others change nothing."""

import contextlib
import http.client
import random
import signal
import subprocess
import threading
import time

import pytest

from strata_daemon import PATIENCE, Refused, eventually
from talker import Talker, free_port


@pytest.fixture
def talk(daemon):
    """Yields a function that checks that two talkers of a running server receive each other."""
    [url] = daemon.server("chat")
    with Talker(url) as ann, Talker(url) as bob:
        daemon.wait_connections("chat", 2)

        def prove():
            ann.say(b"are you there?")
            assert bob.hear() == b"are you there?"
            assert daemon.show("chat")["connections"] == 2

        yield prove


def state_of(pid):
    with open(f"/proc/{pid}/stat") as figures:
        return figures.read().rsplit(")", 1)[1].split()[0]


def test_a_stopped_and_continued_daemon_goes_on(daemon, talk):
    for _ in range(3):
        daemon.signal(signal.SIGSTOP)
        eventually(lambda: state_of(daemon.pid) == "T", "it is stopped")
        daemon.signal(signal.SIGCONT)
        talk()


def test_an_attached_tracer_changes_nothing(daemon, talk, root):
    command = ["strace", "-f", "-o", "/dev/null", "-p", str(daemon.pid)]
    tracer = subprocess.Popen(command, stderr=subprocess.PIPE)
    assert b"attached" in tracer.stderr.readline()
    end = time.monotonic() + 1
    while time.monotonic() < end:
        talk()
    tracer.send_signal(signal.SIGINT)
    tracer.communicate(timeout=PATIENCE)
    talk()


def test_sighup_disturbs_nobody_and_says_so(daemon, talk):
    for _ in range(3):
        daemon.signal(signal.SIGHUP)
        talk()
    eventually(lambda: "SIGHUP" in daemon.log(), "the log says so")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_an_idle_daemon_ends_and_removes_its_socket(daemon, talk, number):
    daemon.signal(number)
    daemon.wait()
    assert " stopped\n" in daemon.log()


def test_sigterm_under_traffic_ends_well(daemon):
    urls = [daemon.server("one")[0], daemon.server("two", threads=2, drain=True)[0]]
    daemon.create("client", "guest", connect=urls[0])
    over = threading.Event()

    def chatter(url):
        with contextlib.suppress(OSError):
            with Talker(url) as talker:
                while not over.is_set():
                    talker.say(*[b"chatter" * 20] * 20)
                    while talker.has_something() and talker.socket.recv(65536):
                        pass

    threads = [threading.Thread(target=chatter, args=(url,)) for url in urls for _ in range(5)]
    for each in threads:
        each.start()
    eventually(lambda: daemon.stats("two")["messages"]["in"] > 1000, "there is traffic")
    try:
        daemon.stop()
    finally:
        over.set()
        for each in threads:
            each.join()


@pytest.mark.parametrize("round", range(3))
def test_sigterm_while_runtimes_are_restarted_ends_well(daemon, round):
    for name in ["a", "b", "c"]:
        daemon.server(name, threads=2)
    daemon.server("d", owner="a", on_parent_stop="remove")

    def meddle(chance):
        with contextlib.suppress(OSError, http.client.HTTPException, AttributeError):
            while True:
                with contextlib.suppress(Refused):
                    daemon.act(chance.choice("abc"),
                               chance.choice(["restart", "stop", "start", "reload"]))

    threads = [threading.Thread(target=meddle, args=(random.Random(number),))
               for number in range(8)]
    for each in threads:
        each.start()
    time.sleep(0.3)
    daemon.signal(signal.SIGTERM)
    for each in threads:
        each.join()
    daemon.wait()
    daemon.start()


def test_sigterm_with_the_metrics_port_and_open_connections_ends(make_daemon):
    port = free_port()
    daemon = make_daemon("--metrics", f"tcp://127.0.0.1:{port}")
    daemon.server("chat")
    held = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    held.request("GET", "/metrics")
    assert b"strata_up" in held.getresponse().read()
    followers = []
    for path in ["/v1/events?follow=true", "/v1/runtimes/chat/logs?follow=true",
                 "/v1/runtimes/chat/messages", "/v1/version"]:
        followers.append(daemon.connect())
        followers[-1].request("GET", path)
    daemon.stop()
    for each in [held, *followers]:
        each.close()


def test_a_second_signal_ends_a_drain_at_once_and_what_is_saved_is_safe(daemon):
    [url] = daemon.server("slow", drain=True, drain_timeout=300, max_buffer=64 << 20)
    with Talker(url) as ann, Talker(url, room=4096):
        daemon.wait_connections("slow", 2)
        ann.say(*[b"x" * 1000] * 12_000)
        eventually(lambda: daemon.stats("slow")["messages"]["in"] == 12_000, "all are read")
        daemon.signal(signal.SIGTERM)
        eventually(lambda: " stopping\n" in daemon.log(), "it drains")
        daemon.signal(signal.SIGTERM)
        assert daemon.process.wait(PATIENCE) == -signal.SIGTERM
    daemon.start()
    assert daemon.show("slow")["state"] == "running"


def test_drain_timeout_bounds_how_long_the_daemon_takes_to_end(make_daemon):
    daemon = make_daemon("--drain-timeout", "0.5")
    [url] = daemon.server("slow", drain=True, drain_timeout=300, max_buffer=64 << 20)
    with Talker(url) as ann, Talker(url, room=4096):
        daemon.wait_connections("slow", 2)
        ann.say(*[b"x" * 1000] * 12_000)
        eventually(lambda: daemon.stats("slow")["messages"]["in"] == 12_000, "all are read")
        daemon.stop()


def test_a_request_under_way_is_answered_before_the_end(daemon):
    [url] = daemon.server("slow", drain=True, drain_timeout=1, max_buffer=64 << 20)
    with Talker(url) as ann, Talker(url, room=4096):
        daemon.wait_connections("slow", 2)
        ann.say(*[b"x" * 1000] * 12_000)
        eventually(lambda: daemon.stats("slow")["messages"]["in"] == 12_000, "all are read")
        connection = daemon.connect()
        connection.request("POST", "/v1/runtimes/slow/stop")
        eventually(lambda: not_listening(url), "the stop is under way")
        daemon.signal(signal.SIGTERM)
        assert connection.getresponse().status == 200
        connection.close()
        daemon.wait()


def not_listening(url):
    try:
        Talker(url).close()
    except ConnectionError:
        return True
