"""WebSocket over HTTP/2 (RFC 8441): python-h2 with wsproto, Chromium, and hostile clients."""

import asyncio
import os

import h2.events
import pytest
import websockets
from wsproto.events import CloseConnection, Ping, Pong, TextMessage

from browser import Browser
from certificates import Authority
from http2_peer import Http2
from strata_daemon import PATIENCE, eventually
from talker import Talker, port_of

CANCEL = 8


def test_nc_and_websockets_of_both_kinds_are_in_one_broadcast(daemon):
    [url] = daemon.server("chat")

    async def by_http1(talk):
        async with websockets.connect(f"ws://127.0.0.1:{port_of(url)}/") as member:
            return await talk(member)

    async def talk(old):
        with Talker(url) as raw, Http2(url) as connection:
            one, two = connection.open(), connection.open()
            daemon.wait_connections("chat", 3)
            one.say("from one")
            assert two.hear() == "from one"
            assert raw.hear() == b"from one"
            assert await asyncio.wait_for(old.recv(), PATIENCE) == "from one"
            raw.say(b"from raw")
            assert (one.hear(), two.hear()) == ("from raw", "from raw")
            assert await asyncio.wait_for(old.recv(), PATIENCE) == "from raw"
            await old.send(b"\x00\xff")
            assert (one.hear(), two.hear()) == (b"\x00\xff", b"\x00\xff")

    asyncio.run(by_http1(talk))
    daemon.wait_connections("chat", 0)


def test_messages_are_compressed_where_that_is_agreed_on(daemon):
    [url] = daemon.server("chat")
    with Http2(url) as connection:
        small, plain = connection.open(deflated=True), connection.open()
        text = "the same " * 5000
        with Talker(url) as raw:
            daemon.wait_connections("chat", 2)
            raw.say(text.encode())
            assert small.hear() == plain.hear() == text
        assert small.size < 1000 < len(text) < plain.size
        small.say(text)
        assert plain.hear() == text


def test_what_is_agreed_on_and_what_is_refused(daemon):
    [url] = daemon.server("chat", ws_protocol=["b"], ws_origin=["https://good.example"],
                          ws_deflate="off")
    with Http2(url) as connection:
        stream = connection.ask([("sec-websocket-protocol", "a, b"),
                                 ("sec-websocket-extensions", "permessage-deflate")])
        head = connection.heads[stream]
        assert head[b":status"] == b"200"
        assert head[b"sec-websocket-protocol"] == b"b"
        assert b"sec-websocket-extensions" not in head
        assert b"sec-websocket-accept" not in head
        assert connection.status([("origin", "https://good.example")]) == 200
        assert connection.status([("origin", "http://localhost")]) == 200
        assert connection.status([("origin", "https://bad.example")]) == 403
        assert connection.status([("sec-websocket-protocol", "a, a")]) == 400
        assert connection.status(protocol="connect-udp") == 501
        assert connection.open().stream


def test_ends_of_all_kinds(daemon):
    [url] = daemon.server("chat")
    with Http2(url) as connection:
        polite, half, gone, stays = (connection.open() for _ in range(4))
        polite.send(Ping(payload=b"are you there"))
        assert polite.hear() == Pong(payload=b"are you there")
        polite.send(CloseConnection(code=1000))
        assert polite.hear().code == 1000
        polite.send_bytes(b"", end=True)
        assert polite.ended() == "end"
        half.send_bytes(half.state.send(TextMessage(data="a word"))[:5], end=True)
        assert half.ended() == "end"
        gone.send_bytes(gone.state.send(TextMessage(data="a word"))[:5])
        connection.state.reset_stream(gone.stream, CANCEL)
        connection.flush()
        empty = connection.ask(end=True)
        connection.until(lambda: connection.ended.get(empty) == "end")
        with Talker(url) as raw:
            daemon.wait_connections("chat", 2)
            raw.say(b"still here")
        assert stays.hear() == "still here"
        assert not half.events
        assert not gone.events


@pytest.mark.parametrize("wrong, code", [
    (b"\x81\x05hello", 1002),  # not masked
    (b"\xff\x80\0\0\0\0", 1002), (b"\x81\x81\0\0\0\0\xff", 1007),
    (b"\x82\xff\x7f\xff\xff\xff\xff\xff\xff\xff\0\0\0\0", 1009)])
def test_what_is_no_websocket_ends_its_stream_alone(daemon, wrong, code):
    [url] = daemon.server("chat")
    with Http2(url) as connection:
        hostile, other = connection.open(), connection.open()
        hostile.send_bytes(wrong)
        assert hostile.hear().code == code
        assert hostile.ended() == "end"
        with Talker(url) as raw:
            daemon.wait_connections("chat", 2)
            raw.say(b"still here")
        assert other.hear() == "still here"


def test_one_that_does_not_read_costs_its_stream_alone(daemon):
    [url] = daemon.server("chat", max_buffer=100_000, framing="raw")
    with Http2(url) as connection:
        slow, other = connection.open(), connection.open()
        take = connection.take

        def without_credit_for_slow(event):
            if isinstance(event, h2.events.DataReceived) and event.stream_id == slow.stream:
                connection.state.increment_flow_control_window(event.flow_controlled_length)
                return
            take(event)

        connection.take = without_credit_for_slow
        for number in range(200):
            text = f"{number} " + "x" * 2000
            daemon.send("chat", text.encode())
            assert other.hear() == text
        assert slow.ended() == CANCEL
        eventually(lambda: daemon.stats("chat")["dropped"]["slow_client"] > 0, "it is counted")
        daemon.send("chat", b"still here")
        assert other.hear() == "still here"


def test_many_openings_and_resets_leave_nothing_behind(daemon):
    [url] = daemon.server("chat")
    with Http2(url) as connection:
        for _ in range(300):
            member = connection.open()
            member.say("x" * 100)
            connection.state.reset_stream(member.stream, CANCEL)
            connection.flush()
        last = connection.open()
        with Talker(url) as raw:
            daemon.wait_connections("chat", 2)
            raw.say(b"still here")
        assert last.hear() == "still here"


def test_by_tls(daemon, tmp_path):
    authority = Authority(tmp_path / "tls")
    certificate, key = authority.issue("localhost", "127.0.0.1")
    [url] = daemon.server("s", listen=["https://127.0.0.1:0"], cert=[certificate], key=[key],
                          mode="echo")
    with Http2(url, trust=str(authority.ca)) as connection:
        member = connection.open()
        member.say("over tls")
        assert member.hear() == "over tls"


@pytest.mark.serial
def test_chromium_opens_it_on_the_connection_of_the_page(daemon, tmp_path):
    authority = Authority(tmp_path / "tls")
    certificate, key = authority.issue("localhost", "127.0.0.1")
    pages = tmp_path / "pages"
    pages.mkdir()
    (pages / "index.html").write_text("<p>a page</p>")
    os.chmod(tmp_path, 0o755)
    [url] = daemon.server("s", listen=["https://127.0.0.1:0"], cert=[certificate], key=[key],
                          http=str(pages), http_log=str(tmp_path / "log"), mode="echo")

    async def visit():
        to = f"https://localhost:{port_of(url)}/"
        async with Browser(tmp_path, to, "--ignore-certificate-errors") as page:
            await page.until("document.body?.innerText.includes('a page')", "the page is there")
            assert await page.evaluate(
                "new Promise((done, fail) => {"
                f" const own = new WebSocket('wss://localhost:{port_of(url)}/talk');"
                " own.onopen = () => own.send('by the page');"
                " own.onerror = () => fail(new Error('it fails'));"
                " own.onmessage = (event) => { own.close(); done(event.data); }; })"
            ) == "by the page"

    asyncio.run(visit())
    eventually(lambda: '"CONNECT /talk HTTP/2.0" 200' in (tmp_path / "log").read_text(),
               "it was opened by HTTP/2")
