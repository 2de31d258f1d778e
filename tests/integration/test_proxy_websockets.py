"""WebSockets through a proxy, by HTTP/1.1 and HTTP/2 on either side."""

import asyncio
import ssl

import pytest
import websockets

from http2_peer import Http2
from http_back import gateway
from strata_daemon import PATIENCE, eventually

TEXTS = ["hello", "x" * 200_000, "ä", "end"]


async def talk_by_http1(url, **how):
    async with websockets.connect(url, compression="deflate", max_size=None, **how) as one:
        for text in TEXTS:
            await one.send(text)
            assert await asyncio.wait_for(one.recv(), PATIENCE) == text
        return one.subprotocol


def talk(kind, port):
    if kind == "HTTP/1.1":
        asyncio.run(talk_by_http1(f"ws://127.0.0.1:{port}/"))
        return
    with Http2(f"http://127.0.0.1:{port}") as over:
        one, other = over.open(deflated=True), over.open()
        for text in ("hello", "ä", "end"):
            one.say(text)
            other.say(text[::-1])
            assert (one.hear(), other.hear()) == (text, text[::-1])


@pytest.mark.parametrize("back", ["", " http2"])
@pytest.mark.parametrize("kind", ["HTTP/1.1", "HTTP/2"])
def test_websockets_pass_between_the_versions(daemon, kind, back):
    [url] = daemon.server("chat", listen=["http://127.0.0.1:0"], mode="echo")
    port = gateway(daemon, backend=[url + back])
    talk(kind, port)
    talk(kind, port)
    eventually(lambda: daemon.stats("gw")["connections"]["now"] == 0, "the clients have gone")
    assert daemon.stats("gw")["http"]["answers"]["5xx"] == 0


def test_websockets_and_requests_share_a_connection_to_the_back(daemon):
    [url] = daemon.server("chat", listen=["http://127.0.0.1:0"], mode="inout")
    port = gateway(daemon, backend=[url + " http2"])

    async def all_talk():
        async with (websockets.connect(f"ws://127.0.0.1:{port}/") as one,
                    websockets.connect(f"ws://127.0.0.1:{port}/") as other):
            await one.send("to the other")
            assert await asyncio.wait_for(other.recv(), PATIENCE) == "to the other"
            await other.send("and back")
            assert await asyncio.wait_for(one.recv(), PATIENCE) == "and back"
            return daemon.stats("chat")["connections"]["now"]
    assert asyncio.run(all_talk()) <= 2


def test_a_websocket_that_breaks_breaks_on_both_sides(daemon):
    [url] = daemon.server("chat", listen=["http://127.0.0.1:0"], mode="echo")
    port = gateway(daemon, backend=[url + " http2"])

    async def broken():
        async with websockets.connect(f"ws://127.0.0.1:{port}/") as one:
            await one.send("hello")
            assert await asyncio.wait_for(one.recv(), PATIENCE) == "hello"
            daemon.cli("stop", "chat")
            with pytest.raises(websockets.ConnectionClosed):
                await asyncio.wait_for(one.recv(), PATIENCE)
    asyncio.run(broken())


def test_a_back_without_websockets_by_http2_is_asked_in_http1_where_tls_lets_it(
        daemon, authority):
    """nginx and others know HTTP/2 without RFC 8441: TLS agrees on HTTP/1.1 for a WebSocket."""
    certificate, key = authority.issue("localhost")
    secure = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    secure.load_cert_chain(certificate, key)

    async def echo(one):
        async for message in one:
            await one.send(message)

    async def run():
        # It would agree on HTTP/2, which it cannot speak; it is to be asked for HTTP/1.1 alone.
        async with websockets.serve(echo, "127.0.0.1", 0, ssl=secure, max_size=None) as server:
            there = server.sockets[0].getsockname()[1]
            port = gateway(daemon, backend=[f"https://localhost:{there} http2"], ca=authority.ca)
            await talk_by_http1(f"ws://127.0.0.1:{port}/")
    asyncio.run(run())
