"""What the control API streams as server-sent events; and the figures of all runtimes."""

import contextlib
import json

import pytest

from talker import Talker


@contextlib.contextmanager
def subscribe(daemon, path, last_id=None):
    """Yields a function that returns the next event as (id, data); None at the end of the
    stream."""
    connection = daemon.connect()
    headers = {"Accept": "text/event-stream"}
    if last_id is not None:
        headers["Last-Event-ID"] = last_id
    connection.request("GET", path, headers=headers)
    reply = connection.getresponse()
    assert reply.status == 200
    assert reply.getheader("Content-Type") == "text/event-stream"
    assert reply.getheader("Cache-Control") == "no-store"

    def take():
        fields = {}
        while line := reply.readline():
            name, _, value = line.decode().rstrip("\n").partition(":")
            if line == b"\n" and "data" in fields:
                return fields.get("id"), json.loads(fields["data"])
            if name:
                fields[name] = value.removeprefix(" ")
        return None

    yield take
    connection.close()


def test_events_log_and_messages_are_server_sent_events_too(daemon):
    [url] = daemon.server("s")
    with subscribe(daemon, "/v1/events") as take:
        assert [take()[1]["event"] for _ in range(2)] == ["created", "started"]
        daemon.edit("s", group="blue")
        assert take()[1]["event"] == "edited"
    with subscribe(daemon, "/v1/runtimes/s/logs?tail=1") as take:
        assert take()[1]["text"] == "edited: group"
    with subscribe(daemon, "/v1/runtimes/s/messages") as take, Talker(url) as ann:
        ann.say(b"text", b"\xff")
        assert take()[1]["text"] == "text"
        assert take()[1]["base64"] == "/w=="


def test_a_client_goes_on_where_it_was_interrupted(daemon):
    daemon.server("s")
    with subscribe(daemon, "/v1/events") as take:
        take()
        last_id, event = take()
        assert event["event"] == "started"
    daemon.edit("s", group="a")
    daemon.edit("s", group="b")
    with subscribe(daemon, "/v1/events", last_id) as take:
        first, second = take(), take()
        assert [first[1]["event"], second[1]["event"]] == ["edited", "edited"]
        assert len({last_id, first[0], second[0]}) == 3
        daemon.act("s", "stop")
        assert take()[1]["event"] == "stopped"


def test_an_id_that_is_still_to_come_leaves_nothing_out(daemon):
    daemon.server("s")
    with subscribe(daemon, "/v1/events") as take:
        origin = take()[0].partition("-")[0]
    with subscribe(daemon, "/v1/events", origin + "-1000") as take:
        assert [take()[1]["event"] for _ in range(2)] == ["created", "started"]


@pytest.mark.parametrize("last_id", ["", "x", "-", "0-1", "1", "-5", "9" * 50, "a-" + "9" * 50])
def test_an_id_of_another_stream_leaves_nothing_out(daemon, last_id):
    daemon.server("s")
    with subscribe(daemon, "/v1/events", last_id) as take:
        assert [take()[1]["event"] for _ in range(2)] == ["created", "started"]


def test_no_line_is_lost_between_those_kept_and_those_that_come(daemon):
    [url] = daemon.server("s", max_message=1, threads=2)
    for _ in range(20):
        with Talker(url) as ann:
            with subscribe(daemon, "/v1/runtimes/s/logs") as take:
                ann.say(b"too long")
                daemon.edit("s", group="g")
                kept = daemon.lines("/v1/runtimes/s/logs")
                assert [take()[1] for _ in kept] == kept


def test_figures_of_all_runtimes_come_as_one_answer(daemon):
    [url] = daemon.server("b")
    daemon.create("client", "a", connect=url)
    every = daemon.ask("GET", "/v1/stats")
    assert [(each["name"], each["type"]) for each in every] == [("a", "client"), ("b", "server")]
    for each in every:
        assert each.keys() == daemon.stats(each["name"]).keys()


def test_figures_are_sampled_until_the_runtime_is_removed(daemon):
    [url] = daemon.server("s")
    path = "/v1/runtimes/s/stats?interval=100ms"
    with subscribe(daemon, path) as take, Talker(url):
        while take()[1]["connections"]["now"] != 1:
            pass
        daemon.remove("s")
        while take() is not None:
            pass


def test_figures_of_all_runtimes_are_sampled(daemon):
    with subscribe(daemon, "/v1/stats?interval=0.1s") as take:
        assert take() == (None, [])
        daemon.server("s")
        while not (sample := take()[1]):
            pass
    assert [each["name"] for each in sample] == ["s"]


def test_samples_come_as_lines_of_json_too(daemon):
    daemon.server("s")
    connection = daemon.connect()
    connection.request("GET", "/v1/stats?follow=true&interval=100ms")
    reply = connection.getresponse()
    assert reply.getheader("Content-Type") == "application/x-ndjson"
    for _ in range(3):
        assert [each["name"] for each in json.loads(reply.readline())] == ["s"]
    connection.close()


@pytest.mark.parametrize("interval", ["", "0", "99ms", "-1s", "nan", "1 s", "soon", "1e3x"])
def test_an_interval_that_cannot_be_used_is_refused(daemon, interval):
    target = "/v1/stats?follow=true&interval=" + interval.replace(" ", "%20")
    status, content = daemon.exchange("GET", target)
    assert status == 400
    assert json.loads(content)["error"]["code"] == "invalid_argument"


def test_figures_of_a_runtime_that_is_not_there_are_not_found(daemon):
    status, _ = daemon.exchange("GET", "/v1/runtimes/nobody/stats?follow=true")
    assert status == 404
