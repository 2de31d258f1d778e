"""The limits of HTTP that are options of a server, in both HTTP versions."""

import h2.settings
import pytest

from http2_peer import Http2
from talker import Talker

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


def answer_to(url, data):
    """Returns all that the server sends in response, until it closes."""
    with Talker(url) as client:
        client.send(data)
        heard = b""
        while more := client.socket.recv(65536):
            heard += more
        return heard


def status_by_http2(url, path, more):
    with Http2(url) as client:
        stream = client.request("GET", path, more)
        client.until(lambda: stream in client.heads)
        return int(client.heads[stream][b":status"])


def test_the_longest_head_is_an_option_that_new_connections_heed(daemon):
    [url] = daemon.server("s", http_max_head=1000)
    large = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX: " + b"x" * 1500 + b"\r\n\r\n"
    field = [("x", "x" * 1500)]
    assert answer_to(url, large).startswith(b"HTTP/1.1 431 ")
    assert status_by_http2(url, "/", field) == 431
    daemon.edit("s", http_max_head=4000)
    assert answer_to(url, large).startswith(b"HTTP/1.1 404 ")
    assert status_by_http2(url, "/", field) == 404


def test_the_streams_of_a_connection_are_announced(daemon):
    [url] = daemon.server("s", http2_max_streams=3)
    with Http2(url) as client:
        setting = h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS
        assert client.state.remote_settings[setting] == 3
        for _ in range(3):
            client.open()
        # A client that opens another stream anyway breaks the protocol.
        client.state.remote_settings[setting] = 100
        client.state.remote_settings.acknowledge()
        client.request("GET", "/")
        client.until(lambda: client.is_over)
        assert client.farewell == 1


@pytest.mark.parametrize("size, goes_on", [(50, True), (300_000, False)])
def test_a_body_that_nobody_reads_is_passed_over_to_a_length(daemon, size, goes_on):
    [url] = daemon.server("s", http_max_body=100)
    post = b"POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % size
    last = b"GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    heard = answer_to(url, post + b"x" * size + last)
    assert heard.count(b"HTTP/1.1 404 ") == (2 if goes_on else 1), heard


@pytest.mark.parametrize("option, said, status", [
    ("http_head_timeout", GET[:-2], b"408"), ("http_idle_timeout", GET, b"404"),
    ("http_body_timeout", b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc", b"408")])
def test_silence_is_as_long_as_the_option_says(daemon, option, said, status):
    [url] = daemon.server("s", http_messages=True, **{option: 0.2})
    assert answer_to(url, said).startswith(b"HTTP/1.1 " + status)


def test_http2_ends_a_connection_that_is_idle(daemon):
    [url] = daemon.server("s", http_idle_timeout=0.3)
    with Http2(url) as client:
        client.until(lambda: client.is_over)
        assert client.farewell == 0


def test_zero_is_no_limit_of_time(daemon):
    [url] = daemon.server("s", http_head_timeout=0, http_body_timeout=0, http_idle_timeout=0,
                          http_messages=True)
    with Talker(url) as client, Http2(url) as other:
        for part in (GET[:20], GET[20:]):
            client.send(part)
            stream = other.request("GET", "/")
            other.until(lambda: stream in other.ended)
        assert b"404" in client.hear()
