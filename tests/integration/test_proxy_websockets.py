"""WebSockets through a proxy: over HTTP/1.1 and HTTP/2 on either side, and as messages."""

import asyncio
import contextlib
import http
import socket
import ssl

import pytest
import websockets
import wsproto

from http2_backend import Http2Back, ok
from http2_peer import Http2
from http_backend import ask, client, gateway, get
from strata_daemon import PATIENCE, Refused, eventually
from talker import free_port, port_of
from tls_servers import logged

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


@pytest.mark.parametrize("backend", ["", " http2"])
@pytest.mark.parametrize("kind", ["HTTP/1.1", "HTTP/2"])
def test_websockets_pass_between_the_versions(daemon, kind, backend):
    [url] = daemon.server("chat", listen=["http://127.0.0.1:0"], mode="echo")
    port = gateway(daemon, backend=[url + backend])
    talk(kind, port)
    talk(kind, port)
    eventually(lambda: daemon.stats("gw")["connections"]["now"] == 0, "the clients have gone")
    assert daemon.stats("gw")["http"]["answers"]["5xx"] == 0


def test_websockets_and_requests_share_a_connection_to_the_backend(daemon):
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


def test_a_backend_without_websockets_by_http2_is_asked_in_http1_where_tls_lets_it(
        daemon, authority):
    """nginx and others support HTTP/2 without RFC 8441: for a WebSocket, TLS negotiates
    HTTP/1.1."""
    certificate, key = authority.issue("localhost")
    secure = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    secure.load_cert_chain(certificate, key)

    async def echo(one):
        async for message in one:
            await one.send(message)

    async def run():
        # The server would agree on HTTP/2, which it cannot speak; the proxy
        # must offer only HTTP/1.1.
        async with websockets.serve(echo, "127.0.0.1", 0, ssl=secure, max_size=None) as server:
            there = server.sockets[0].getsockname()[1]
            port = gateway(daemon, backend=[f"https://localhost:{there} http2"], ca=authority.ca)
            await talk_by_http1(f"ws://127.0.0.1:{port}/")
    asyncio.run(run())


def echo_by_http1(one):
    """Serves a WebSocket on a socket."""
    state = wsproto.WSConnection(wsproto.ConnectionType.SERVER)
    while data := one.recv(65536):
        state.receive_data(data)
        for event in state.events():
            if isinstance(event, wsproto.events.Request):
                one.sendall(state.send(wsproto.events.AcceptConnection(
                    extensions=[wsproto.extensions.PerMessageDeflate()])))
            elif isinstance(event, wsproto.events.Message):
                one.sendall(state.send(type(event)(
                    data=event.data, message_finished=event.message_finished)))
            elif isinstance(event, wsproto.events.CloseConnection):
                one.sendall(state.send(event.response()))
                return


@pytest.fixture
def agreeing(authority):
    """Yields a function that makes an HTTP/2 backend over TLS, without RFC 8441, that
    negotiates the given versions."""
    certificate, key = authority.issue("localhost")
    with contextlib.ExitStack() as stack:
        def make(*versions, **how):
            secure = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            secure.load_cert_chain(certificate, key)
            secure.set_alpn_protocols(versions)
            backend = Http2Back(ok, secure=secure, serve_http1=echo_by_http1, **how)
            backend.where = f"https://{backend.where.replace('127.0.0.1', 'localhost')}"
            return stack.enter_context(contextlib.closing(backend))
        yield make


@pytest.mark.parametrize("kind", ["HTTP/1.1", "HTTP/2"])
def test_a_websocket_takes_a_connection_by_http1_where_http2_knows_none(
        daemon, authority, agreeing, kind):
    backend = agreeing("h2", "http/1.1")
    port = gateway(daemon, backend=[backend.where], ca=authority.ca)
    assert get(port) == (200, b"ok")
    talk(kind, port)
    assert get(port) == (200, b"ok")
    # Other requests share the HTTP/2 connection.
    assert [each["head"][":method"] for each in backend.requests] == ["GET", "GET"]
    assert backend.connections == (2 if kind == "HTTP/1.1" else 3)


def opening(port):
    with client(port) as wire:
        head, body = ask(wire, b"GET / HTTP/1.1\r\nHost: h\r\nConnection: upgrade\r\n"
                               b"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                               b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
        return int(head.split()[1]), body


@pytest.mark.parametrize("how", ["agrees on none", "breaks off"])
def test_a_backend_of_http2_alone_is_none_that_fails(daemon, authority, agreeing, how):
    """Clients that would open WebSockets do not keep other clients away from the backend."""
    backend = agreeing("h2")
    if how == "breaks off":
        backend.secure.sni_callback = lambda *_: (
            ssl.ALERT_DESCRIPTION_HANDSHAKE_FAILURE if backend.connections > 1 else None)
    port = gateway(daemon, backend=[backend.where], ca=authority.ca, circuit_failures=2, rest=60)
    for _ in range(3):
        assert opening(port) == (
            501, b"the connection to the backend is HTTP/2, which does not support this upgrade\n")
    with Http2(f"http://127.0.0.1:{port}") as over:
        assert over.status() == 501
    [told] = daemon.ask("GET", "/v1/runtimes/gw/backends")
    assert (told["state"], told["circuit"], told["failed"]) == ("ready", "closed", 0)
    assert get(port) == (200, b"ok")
    logged(daemon, "gw", "open a websocket at " if how != "breaks off" else "handshake")


def test_a_backend_that_says_no_settings_is_asked_in_http1(daemon, authority, agreeing):
    backend = agreeing("h2", "http/1.1")
    backend.serve_http2 = lambda one: one.recv(65536) and one.recv(1 << 20) and one.recv(1)
    port = gateway(daemon, backend=[backend.where], ca=authority.ca, answer_timeout=0.5)
    talk("HTTP/1.1", port)


def test_a_backend_that_opens_no_websocket_after_all_says_so_itself(daemon, authority, agreeing):
    backend = agreeing("h2", "http/1.1", opens=403)
    port = gateway(daemon, backend=[backend.where], ca=authority.ca)
    assert opening(port) == (403, b"")
    assert [each["head"][":protocol"] for each in backend.requests] == ["websocket"]


# --- as messages ---------------------------------------------------------------------------------


class Chat:
    """A WebSocket server that records how it was opened, and echoes."""

    def __init__(self, protocols=None):
        self.protocols, self.heads = protocols, []

    async def serve(self, one):
        self.heads.append(one.request.headers if hasattr(one, "request") else one.request_headers)
        async for message in one:
            await one.send(message)

    def run(self, work):
        async def run():
            async with websockets.serve(self.serve, "127.0.0.1", 0, subprotocols=self.protocols,
                                        max_size=None) as server:
                await work(server.sockets[0].getsockname()[1])
        asyncio.run(run())


def front_of(daemon, port, **options):
    made = daemon.create("proxy", "gw", backend=[f"ws://127.0.0.1:{port}"],
                         **{"listen": ["ws://127.0.0.1:0"], **options})
    return made["endpoints"][0]


def test_a_subprotocol_is_what_client_and_backend_agree_on(daemon):
    chat = Chat(["chat.v2", "chat.v1"])

    async def work(port):
        url = front_of(daemon, port)
        assert await talk_by_http1(url, subprotocols=["chat.v1", "chat.v2"]) in chat.protocols
        assert await talk_by_http1(url, subprotocols=["chat.v1"]) == "chat.v1"
        assert await talk_by_http1(url) is None
    chat.run(work)
    offered = [head.get("Sec-WebSocket-Protocol") for head in chat.heads]
    assert [each and each.replace(" ", "") for each in offered] == [
        "chat.v1,chat.v2", "chat.v1", None]


def test_fields_of_the_request_go_to_the_backend_as_the_rules_say(daemon):
    chat = Chat(["chat"])

    async def work(port):
        url = front_of(daemon, port, request_header=["set X-Tenant: a", "remove Cookie",
                                                     "set Sec-WebSocket-Protocol: chat"])
        await talk_by_http1(url, extra_headers={"Cookie": "secret=1", "X-Own": "yes"})
    chat.run(work)
    [head] = chat.heads
    assert (head["X-Tenant"], head["X-Own"], head.get("Cookie")) == ("a", "yes", None)
    assert head["X-Forwarded-For"] == "127.0.0.1"
    assert head["Sec-WebSocket-Protocol"] == "chat"
    assert len(head.get_all("Sec-WebSocket-Key")) == 1


def test_what_begins_as_no_websocket_has_the_rules_fields(daemon):
    chat = Chat(["chat"])

    async def work(port):
        url = front_of(daemon, port, listen=["tcp://127.0.0.1:0"],
                       request_header=["set X-Tenant: a", "set Sec-WebSocket-Protocol: chat"])
        reader, writer = await asyncio.open_connection("127.0.0.1", port_of(url))
        writer.write(b"hello\n")
        assert await asyncio.wait_for(reader.readline(), PATIENCE) == b"hello\n"
        writer.close()
    chat.run(work)
    assert chat.heads[0]["X-Tenant"] == "a"


def test_fields_need_a_backend_that_takes_them(daemon):
    with pytest.raises(Refused, match="no endpoint carries HTTP or WebSocket backends"):
        daemon.create("proxy", "gw", listen=["udp://127.0.0.1:0"], backend=["udp://127.0.0.1:9"],
                      request_header=["set X-Tenant: a"])


def test_without_a_backend_no_websocket_is_opened(daemon):
    url = front_of(daemon, free_port())
    with socket.create_connection(("127.0.0.1", port_of(url)), timeout=PATIENCE) as over:
        over.sendall(b"GET / HTTP/1.1\r\nHost: h\r\nConnection: upgrade\r\nUpgrade: websocket\r\n"
                     b"Sec-WebSocket-Version: 13\r\n"
                     b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
        assert over.recv(4096).split()[1] == b"%d" % http.HTTPStatus.SERVICE_UNAVAILABLE
    daemon.wait_connections("gw", 0)
