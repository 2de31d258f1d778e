"""WebSocket over HTTP/2 (RFC 8441): python-h2 with wsproto, Chromium, and hostile clients."""

import asyncio
import os
import socket
import ssl

import h2.config
import h2.connection
import h2.events
import h2.settings
import pytest
import websockets
from wsproto.connection import Connection, ConnectionType
from wsproto.events import BytesMessage, CloseConnection, Ping, Pong, TextMessage
from wsproto.extensions import PerMessageDeflate

from browser import Browser
from certificates import Authority
from strata_daemon import PATIENCE, eventually
from talker import Talker, address_of, port_of

CANCEL = 8


class Http2:
    """A connection of HTTP/2 on which WebSockets are opened."""

    def __init__(self, url, trust=None, room=None):
        family, kind, address = address_of(url)
        self.socket = socket.socket(family, kind)
        if room:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(address)
        if trust:
            context = ssl.create_default_context(cafile=trust)
            context.set_alpn_protocols(["h2"])
            self.socket = context.wrap_socket(self.socket, server_hostname="localhost")
        self.state = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True))
        self.state.initiate_connection()
        self.heads, self.sockets, self.ended = {}, {}, {}
        self.bodies = {}
        self.flush()
        setting = h2.settings.SettingCodes.ENABLE_CONNECT_PROTOCOL
        self.until(lambda: self.state.remote_settings.get(setting) == 1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def flush(self):
        self.socket.sendall(self.state.data_to_send())

    def until(self, done):
        while not done():
            data = self.socket.recv(65536)
            assert data, "the server has ended the connection"
            for event in self.state.receive_data(data):
                self.take(event)
            self.flush()

    def take(self, event):
        if isinstance(event, h2.events.ResponseReceived):
            self.heads[event.stream_id] = dict(event.headers)
        elif isinstance(event, h2.events.DataReceived):
            self.state.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            if event.stream_id in self.sockets:
                self.sockets[event.stream_id].feed(event.data)
            else:
                self.bodies[event.stream_id] = self.bodies.get(event.stream_id, b"") + event.data
        elif isinstance(event, h2.events.StreamEnded):
            self.ended.setdefault(event.stream_id, "end")
        elif isinstance(event, h2.events.StreamReset):
            self.ended.setdefault(event.stream_id, event.error_code)

    def ask(self, more=(), end=False, protocol="websocket"):
        stream = self.state.get_next_available_stream_id()
        self.state.send_headers(stream, [
            (":method", "CONNECT"), (":protocol", protocol), (":scheme", "http"), (":path", "/"),
            (":authority", "localhost"), ("sec-websocket-version", "13"), *more], end_stream=end)
        self.flush()
        self.until(lambda: stream in self.heads)
        return stream

    def status(self, *arguments, **more):
        return int(self.heads[self.ask(*arguments, **more)][b":status"])

    def open(self, more=(), deflated=False):
        offer = PerMessageDeflate()
        if deflated:
            more = [*more, ("sec-websocket-extensions", f"permessage-deflate; {offer.offer()}")]
        stream = self.ask(more)
        head = self.heads[stream]
        assert head[b":status"] == b"200", head
        if deflated:
            offer.finalize(head[b"sec-websocket-extensions"].decode())
        self.sockets[stream] = WebSocket(self, stream, [offer] if deflated else [])
        return self.sockets[stream]


class WebSocket:
    """One stream of it."""

    def __init__(self, on, stream, extensions):
        self.on = on
        self.stream = stream
        self.state = Connection(ConnectionType.CLIENT, extensions)
        self.events = []
        self.parts = ""
        self.size = 0  # bytes on the wire

    def feed(self, data):
        if not data:
            return
        self.size += len(data)
        self.state.receive_data(data)
        for event in self.state.events():
            if isinstance(event, TextMessage):
                self.parts += event.data
                if not event.message_finished:
                    continue
                self.events.append(self.parts)
                self.parts = ""
            elif isinstance(event, BytesMessage):
                self.events.append(bytes(event.data))
            else:
                self.events.append(event)

    def send(self, event, end=False):
        self.send_bytes(self.state.send(event), end)

    def send_bytes(self, data, end=False):
        self.on.state.send_data(self.stream, data, end_stream=end)
        self.on.flush()

    def say(self, text):
        self.send(TextMessage(data=text))

    def hear(self):
        self.on.until(lambda: self.events)
        return self.events.pop(0)

    def ended(self):
        """How the server has ended it: "end", or the code of a reset."""
        self.on.until(lambda: self.stream in self.on.ended)
        return self.on.ended[self.stream]


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
            await page.until("document.body.innerText.includes('a page')", "the page is there")
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
