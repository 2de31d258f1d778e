"""Streams to follow: events, logs, messages; and the metrics."""

import contextlib
import http.client
import json
import re
import socket

import pytest

from strata_daemon import PATIENCE, Refused, eventually
from talker import Talker, free_port

RFC3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


@contextlib.contextmanager
def follow(daemon, path):
    """Yields a function that returns the next object of the stream; None at its end."""
    connection = daemon.connect()
    connection.request("GET", path)
    reply = connection.getresponse()
    assert reply.status == 200
    assert reply.getheader("Content-Type") == "application/x-ndjson"

    def take():
        line = reply.readline()
        return json.loads(line) if line else None

    yield take
    connection.close()


def test_events_tell_what_happened_in_order(daemon):
    [url] = daemon.server("s")
    daemon.edit("s", group="blue")
    daemon.act("s", "stop")
    with pytest.raises(Refused):
        daemon.create("client", "c", connect=url)
    daemon.remove("s")
    events = daemon.lines("/v1/events")
    assert [(each["event"], each["runtime"], each["type"]) for each in events] == [
        ("created", "s", "server"), ("started", "s", "server"), ("edited", "s", "server"),
        ("stopped", "s", "server"), ("created", "c", "client"), ("failed", "c", "client"),
        ("removed", "c", "client"), ("removed", "s", "server")]
    assert all(RFC3339.fullmatch(each["time"]) for each in events)
    assert events[1]["detail"] == url and events[2]["detail"] == "group"
    assert "refused" in events[5]["detail"]


def test_events_can_be_followed(daemon):
    daemon.server("before")
    with follow(daemon, "/v1/events?follow=true&tail=1") as take:
        assert take()["event"] == "started"
        daemon.server("after")
        assert (take()["event"], take()["event"]) == ("created", "started")


def test_a_tail_is_as_long_as_asked_for(daemon):
    daemon.server("s")
    for number in range(20):
        daemon.edit("s", group=f"g{number}")
    assert len(daemon.lines("/v1/events?tail=5")) == 5
    assert daemon.lines("/v1/events?tail=0") == []
    assert len(daemon.lines("/v1/events?tail=999999")) == 22
    for bad in ["x", "-1", "", "1e3", "99999999999999999999999"]:
        status, _ = daemon.exchange("GET", f"/v1/events?tail={bad}")
        assert status == 400


def test_only_the_last_thousand_lines_are_kept(daemon):
    daemon.server("s")
    for number in range(1010):
        daemon.edit("s", group=f"g{number}")
    lines = daemon.logs("s")
    assert len(lines) == 1000
    assert all(line["text"] == "edited: group" for line in lines)


def test_logs_can_be_followed(daemon):
    [url] = daemon.server("s", max_message=10)
    with follow(daemon, "/v1/runtimes/s/logs?follow=1") as take:
        assert [take()["text"] for _ in range(2)] == ["created", f"started: {url}"]
        with Talker(url) as ann:
            ann.say(b"x" * 11)
            line = take()
    assert line["level"] == "warning" and "longer than 10 bytes" in line["text"]
    assert RFC3339.fullmatch(line["time"])


def test_messages_are_streamed_as_they_come(daemon):
    [url] = daemon.server("s")
    with Talker(url) as ann, Talker(url) as bob:
        daemon.wait_connections("s", 2)
        ann.say(b"before")
        assert bob.hear() == b"before"
        with follow(daemon, "/v1/runtimes/s/messages") as take:
            ann.say("grüß dich \"\\\t".encode(), b"\xff\x00", b"")
            first, second, third = take(), take(), take()
            bob.say(b"bob")
            fourth = take()
    assert first["text"] == "grüß dich \"\\\t" and "base64" not in first
    assert second["base64"] == "/wA=" and "text" not in second
    assert (third["text"], fourth["text"]) == ("", "bob")
    assert first["from"] == second["from"] == third["from"] != fourth["from"]
    assert all(RFC3339.fullmatch(each["time"]) for each in [first, second, third, fourth])


def test_each_follower_gets_every_message(daemon):
    [url] = daemon.server("s", threads=2)
    with contextlib.ExitStack() as stack:
        followers = [stack.enter_context(follow(daemon, "/v1/runtimes/s/messages"))
                     for _ in range(5)]
        talkers = [stack.enter_context(Talker(url)) for _ in range(4)]
        for number, each in enumerate(talkers):
            each.say(*[b"%d %d" % (number, count) for count in range(200)])
        for take in followers:
            heard = [take()["text"].split() for _ in range(800)]
            for number in range(4):
                assert [int(count) for speaker, count in heard if int(speaker) == number] == list(
                    range(200))


def test_a_follower_that_does_not_read_is_told_or_ended_and_harms_nobody(daemon):
    [url] = daemon.server("s")
    with socket.socket(socket.AF_UNIX) as slow, Talker(url) as ann, Talker(url) as bob:
        slow.connect(str(daemon.socket))
        slow.sendall(b"GET /v1/runtimes/s/messages HTTP/1.1\r\nHost: x\r\n\r\n")
        daemon.wait_connections("s", 2)
        assert b"200 OK" in slow.recv(100)
        before = daemon.resident_mib()
        line = b"x" * 50_000
        for _ in range(1000):
            ann.say(line)
            assert bob.hear() == line
        assert daemon.resident_mib() < before + 64
        assert daemon.show("s")["state"] == "running"


def test_a_flood_of_large_messages_costs_a_followed_server_no_memory(daemon):
    [url] = daemon.server("s", mode="in")
    with follow(daemon, "/v1/runtimes/s/messages"), Talker(url) as ann:
        before = daemon.resident_mib()
        line = b"x" * 1_000_000 + b"\n"
        for _ in range(500):
            ann.send(line)
        assert daemon.resident_mib() < before + 150
        eventually(lambda: daemon.stats("s")["messages"]["in"] == 500, "all are read")


def test_a_stream_ends_when_its_runtime_is_removed(daemon):
    daemon.server("s")
    with follow(daemon, "/v1/runtimes/s/messages") as messages:
        with follow(daemon, "/v1/runtimes/s/logs?follow=true") as logs:
            daemon.remove("s")
            lines = []
            while line := logs():
                lines.append(line["text"])
            assert lines[-1] == "removed"
            assert messages() is None


def test_a_stream_goes_on_over_a_restart(daemon):
    daemon.server("s")
    with follow(daemon, "/v1/runtimes/s/messages") as take:
        [url] = daemon.act("s", "restart")["endpoints"]
        with Talker(url) as ann:
            ann.say(b"after")
            assert take()["text"] == "after"


def test_followers_come_and_go_under_traffic(daemon):
    [url] = daemon.server("s", threads=2)
    with Talker(url) as ann, Talker(url) as bob:
        daemon.wait_connections("s", 2)
        for number in range(100):
            with follow(daemon, "/v1/runtimes/s/messages") as take:
                ann.say(*[b"%d" % number] * 10)
                # The last lines of the previous round may still be on their way.
                while (text := take()["text"]) != str(number):
                    assert text == str(number - 1)
        assert len(bob.hear_lines(1000)) == 1000


# --- metrics -------------------------------------------------------------------------------------

SAMPLE = re.compile(
    r'([a-z][a-z0-9_]*)(?:\{((?:[a-z]+="(?:[^"\\\n]|\\.)*",?)*)\})? (\S+)')


def metric_of(name, types):
    """Returns the metric that a sample belongs to: a histogram has several samples."""
    stem = re.sub("_(bucket|sum|count)$", "", name)
    return stem if types.get(stem) == "histogram" else name


def parse_metrics(text):
    """Parses Prometheus' text format 0.0.4 strictly: {(name, labels): value}, {name: type}."""
    assert text.endswith("\n")
    values, types, helped = {}, {}, set()
    for line in text.splitlines():
        if line.startswith("# HELP "):
            name = line.split()[2]
            assert name not in helped
            helped.add(name)
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split()
            assert name in helped and name not in types
            assert kind in ("counter", "gauge", "histogram")
            types[name] = kind
        else:
            name, labels, value = SAMPLE.fullmatch(line).groups("")
            kind = types[metric_of(name, types)]
            assert (kind == "counter") == name.endswith("_total")
            assert (name, labels) not in values
            values[name, labels] = float(value)
    return values, types


def test_metrics_are_prometheus_text_and_right(daemon):
    [url] = daemon.server("s")
    daemon.create("client", "idle", start=False, target="127.0.0.1:1")
    with Talker(url) as ann, Talker(url) as bob:
        daemon.wait_connections("s", 2)
        ann.say(b"one", b"two")
        bob.hear_lines(2)
        status, text = daemon.exchange("GET", "/metrics")
    values, _ = parse_metrics(text.decode())
    server, client = 'name="s",type="server"', 'name="idle",type="client"'
    assert status == 200
    assert values["strata_messages_in_total", server] == 2
    assert values["strata_messages_out_total", server] == 2
    assert values["strata_connections", server] == 2
    assert values["strata_up", server] == 1 and values["strata_up", client] == 0
    assert values["strata_dropped_total", server + ',reason="mode"'] == 0


def test_metrics_of_a_daemon_without_runtimes(daemon):
    values, types = parse_metrics(daemon.exchange("GET", "/metrics")[1].decode())
    assert all(name == "strata_build_info" or name.startswith("process_") for name, _ in values)
    assert types


def test_the_metrics_port_serves_metrics_and_nothing_else(make_daemon):
    port = free_port()
    daemon = make_daemon("--metrics", f"tcp://127.0.0.1:{port}")
    daemon.server("s")
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    for method, path, status in [("GET", "/metrics", 200), ("GET", "/v1/runtimes", 404),
                                 ("DELETE", "/v1/runtimes/s", 404), ("GET", "/v1/events", 404),
                                 ("GET", "/v1/runtimes/s/messages", 404),
                                 ("POST", "/v1/runtimes/s/stop", 404), ("GET", "/metrics", 200)]:
        connection.request(method, path)
        reply = connection.getresponse()
        body = reply.read()
        assert reply.status == status, (method, path, body)
        if status == 200:
            assert reply.getheader("Content-Type").startswith("text/plain; version=0.0.4")
            parse_metrics(body.decode())
    connection.close()
    eventually(lambda: daemon.names() == ["s"], "the runtime is unharmed")


def test_a_metrics_port_that_is_taken_is_a_clear_error(daemon, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as other:
        url = "tcp://127.0.0.1:%d" % other.getsockname()[1]
        done = daemon.run("daemon", "--state-dir", tmp_path / "other", "--socket",
                          tmp_path / "other.sock", "--metrics", url)
    assert done.returncode == 1 and url.removeprefix("tcp://") in done.stderr
