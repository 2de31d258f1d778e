"""RFC 6455 and RFC 7692 between strata and other programs: the rules for frames on the wire."""

import asyncio

import pytest
import websockets
from websockets.extensions import permessage_deflate

from strata_daemon import eventually
from talker import Talker, free_port
from test_web import run, upgrade, ws_url

OPENING = (b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
           b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n%s\r\n")


class Page(Talker):
    """A client that sends handmade frames, masked by zeros."""

    def __init__(self, url, fields=b""):
        super().__init__(url)
        self.send(OPENING % fields)
        self.answer = []
        while (line := self.hear()) != b"\r":
            self.answer.append(line)

    def frame(self, first, payload=b""):
        assert len(payload) < 126
        self.send(bytes([first, 0x80 | len(payload)]) + bytes(4) + payload)

    def hear_frame(self):
        """Returns a frame's first byte and its payload. A server MUST NOT mask it (section 5.1)."""
        first, length = self.read(2)
        assert length < 126, "masked, or longer than anything here"
        return first, self.read(length)


def test_a_server_pongs_what_was_pinged_between_fragments_too(daemon):
    [url] = daemon.server("echo", mode="echo")
    with Page(url) as page:
        page.frame(0x01, b"be")
        page.frame(0x89, b"a\0b")
        page.frame(0x80, b"gun")
        page.frame(0x8A, b"unasked")
        page.frame(0x89, b"p" * 125)
        page.frame(0x89)
        assert page.hear_frame() == (0x8A, b"a\0b")
        assert page.hear_frame() == (0x81, b"begun")
        assert page.hear_frame() == (0x8A, b"p" * 125)
        assert page.hear_frame() == (0x8A, b"")


@pytest.mark.parametrize("payload", [b"", b"\x03\xe8", b"\x10\xe1"])
def test_a_server_closes_with_the_code_that_it_was_told_and_says_no_more(daemon, payload):
    [url] = daemon.server("chat")
    with Page(url) as page, Talker(url) as other:
        other.say(b"before")
        assert page.hear_frame() == (0x81, b"before")
        page.frame(0x88, payload + (b"a reason" if payload else b""))
        page.frame(0x81, b"late")
        page.frame(0x89, b"late")
        assert page.hear_frame() == (0x88, payload)
        other.say(b"behind")
        assert page.socket.recv(100) == b"", "section 5.5.1: nothing behind a close, but the end"
        page.close()
        daemon.wait_connections("chat", 1)
        assert not other.has_something(), "what came behind the close is not heard"


@pytest.mark.parametrize("deflate", ["on", "off"])
def test_a_request_with_malformed_extensions_opens_nothing(daemon, deflate):
    [url] = daemon.server("chat", ws_deflate=deflate)
    for wrong in [b"a b", b"permessage-deflate;", b"x; y=\"z z\"", b","]:
        answer = upgrade(url, b"Sec-WebSocket-Extensions: %s\r\n" % wrong)
        assert answer.startswith(b"HTTP/1.1 400 "), wrong


def test_an_absolute_target_says_whose_pages_may_open_a_websocket(daemon):
    [url] = daemon.server("chat")
    for target, host, origin, status in [
            (b"http://there/", b"here", b"http://here", b"403"),
            (b"http://there/", b"here", b"http://there", b"101")]:
        with Talker(url) as page:
            request = OPENING.replace(b"GET /", b"GET " + target)
            request = request.replace(b"Host: x", b"Host: " + host)
            page.send(request % (b"Origin: %s\r\n" % origin))
            assert page.hear().startswith(b"HTTP/1.1 " + status)


def test_without_an_offer_nothing_is_compressed_and_nothing_said_of_it(daemon):
    [url] = daemon.server("echo", mode="echo")
    with Page(url) as page:
        assert not any(line.lower().startswith(b"sec-websocket-extensions") for line in page.answer)
        page.frame(0x81, b"a" * 100)
        assert page.hear_frame() == (0x81, b"a" * 100)


@pytest.mark.parametrize("bits", [9, 10, 14, 15])
def test_a_server_keeps_to_the_window_that_a_client_can_read(daemon, bits):
    [url] = daemon.server("echo", mode="echo")
    half = b"".join(b"%d" % (i * i) for i in range(12_000))

    async def converse():
        offer = permessage_deflate.ClientPerMessageDeflateFactory(server_max_window_bits=bits)
        async with websockets.connect(ws_url(url), extensions=[offer], compression=None) as page:
            [agreed] = page.extensions
            assert agreed.remote_max_window_bits <= bits
            for _ in range(2):  # section 7.1.1.1: the second message needs nothing of the first
                await page.send(half + half)
                assert await page.recv() == half + half

    run(converse())


def test_a_client_answers_a_close_before_it_goes(daemon):
    port = free_port()
    codes = []

    async def serve(page, *_):
        await page.send("hello")
        await page.close(4321, "enough")
        codes.append((page.close_code, page.close_reason))

    async def converse():
        async with websockets.serve(serve, "127.0.0.1", port):
            await asyncio.to_thread(daemon.create, "client", "c", connect=f"ws://127.0.0.1:{port}/")
            while not codes:
                await asyncio.sleep(0.01)

    run(converse())
    assert codes == [(4321, "")], "1006: it went without a word"
    eventually(lambda: daemon.show("c")["state"] == "failed", "the client's end")
    assert "closed the connection" in daemon.show("c")["reason"]


@pytest.mark.parametrize("wrong", [{"header": ["Host: x"]}, {"header": ["sec-websocket-KEY: x"]},
                                   {"header": ["Transfer-Encoding: chunked"]},
                                   {"ws_protocol": ["a b"]}, {"ws_protocol": ["a", "a"]}])
def test_a_client_whose_request_would_be_wrong_is_refused(daemon, wrong):
    words = [word for key, values in wrong.items() for each in values
             for word in ("--" + key.replace("_", "-"), each)]
    done = daemon.run("create", "client", "c", "-c", f"ws://127.0.0.1:{free_port()}/", *words)
    assert done.returncode != 0 and "leave it out" in done.stderr or "tokens" in done.stderr
