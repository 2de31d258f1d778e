"""HTTP and WebSocket on a server's port: browsers, curl and raw TCP in one conversation."""

import asyncio
import json
import select
import socket
import subprocess
import time

import pytest
import websockets

from strata_daemon import PATIENCE, eventually
from talker import Talker, address_of, port_of

NODE_ECHO = """
const WebSocket = require('/usr/share/nodejs/ws');
const socket = new WebSocket(process.argv[1], {perMessageDeflate: true});
socket.on('open', () => socket.send('x'.repeat(5000)));
socket.on('message', (data, isBinary) => {
  console.log(isBinary, data.length, socket.extensions);
  socket.close(1000, 'enough');
});
socket.on('close', (code) => console.log(code));
"""


def ws_url(url):
    return url.replace("tcp://", "ws://").replace("http://", "ws://").replace("*", "127.0.0.1")


def http_url(url):
    return ws_url(url).replace("ws://", "http://")


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, PATIENCE))


def exchange(url, request, wait=True):
    """Returns all data in response to a raw request, until the server closes the connection."""
    family, kind, address = address_of(url)
    with socket.socket(family, kind) as raw:
        raw.settimeout(PATIENCE)
        raw.connect(address)
        raw.sendall(request)
        if not wait:
            return b""
        answer = b""
        while more := raw.recv(65536):
            answer += more
        return answer


def upgrade(url, extra=b"", host=b"x", version=b"13"):
    return exchange(
        url,
        b"GET / HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: %s\r\n"
        b"Connection: close\r\n%s\r\n" % (host, version, extra),
    )


def test_websockets_curl_and_raw_tcp_are_in_one_conversation(daemon):
    [url] = daemon.server("chat", http_messages=True)
    events = subprocess.Popen(
        ["curl", "-sN", "-H", "Accept: text/event-stream", http_url(url) + "/"],
        stdout=subprocess.PIPE,
    )

    async def converse():
        async with websockets.connect(ws_url(url)) as page:
            await asyncio.to_thread(daemon.wait_connections, "chat", 3)
            raw.send(b"from nc\n")
            assert await page.recv() == "from nc"
            await page.send("from a page")
            assert await asyncio.to_thread(raw.hear) == b"from a page"
            curl = ["curl", "-s", "-w", "%{http_code}", "-d", "from curl", http_url(url) + "/"]
            assert subprocess.check_output(curl) == b"204"
            assert await page.recv() == "from curl"
            assert daemon.run("send", "chat", "from the cli").returncode == 0
            assert await page.recv() == "from the cli"

    try:
        with Talker(url) as raw:
            run(converse())
            assert raw.hear_lines(2) == [b"from curl", b"from the cli"]
        wanted = ["from nc", "from a page", "from curl", "from the cli"]
        heard = []
        while len(heard) < len(wanted):
            line = events.stdout.readline().decode().rstrip("\n")
            if line.startswith("data: "):
                heard.append(line.removeprefix("data: "))
        assert heard == wanted
    finally:
        events.kill()
        events.wait()


def test_text_and_binary_stay_what_they_were(daemon):
    [url] = daemon.server("chat")

    async def converse():
        async with websockets.connect(ws_url(url)) as one, websockets.connect(
            ws_url(url), compression=None
        ) as other:
            await asyncio.to_thread(daemon.wait_connections, "chat", 2)
            for message in ["text", b"binary", "grüße", b"\xff\x00", "", b"", "a" * 100_000]:
                await one.send(message)
                assert await other.recv() == message
                await other.send(message)
                assert await one.recv() == message

    run(converse())


def test_echo_gives_each_its_own_message_backend(daemon):
    [url] = daemon.server("echo", mode="echo")

    async def converse():
        async with websockets.connect(ws_url(url)) as one, websockets.connect(ws_url(url)) as other:
            await one.send("mine")
            await other.send(b"theirs")
            assert await one.recv() == "mine"
            assert await other.recv() == b"theirs"

    run(converse())
    with Talker(url) as raw:
        raw.send(b"a\nb\n")
        assert raw.hear_lines(2) == [b"a", b"b"]


def test_node_speaks_with_it_compressed(daemon):
    [url] = daemon.server("echo", mode="echo")
    said = subprocess.check_output(["node", "-e", NODE_ECHO, ws_url(url)], timeout=PATIENCE)
    lines = said.decode().split("\n")
    assert lines[0].startswith("false 5000") and "permessage-deflate" in lines[0], lines
    assert lines[1] == "1000"


def test_a_silent_client_is_a_raw_member_and_has_missed_nothing(daemon):
    [url] = daemon.server("chat", detect_timeout=1.5)
    with Talker(url) as silent, Talker(url) as speaker:
        daemon.wait_connections("chat", 2)
        speaker.send(b"early\n")
        assert silent.hear() == b"early"
        speaker.send(b"late\n")
        assert silent.hear() == b"late"


def test_one_byte_says_that_it_is_no_http(daemon):
    [url] = daemon.server("chat", detect_timeout=3600)
    with Talker(url) as one, Talker(url) as other:
        other.send(b"\n")
        daemon.wait_connections("chat", 2)
        one.send(b"x\n")
        assert other.hear() == b"x"


def has_heard(talker):
    return bool(select.select([talker.socket], [], [], 0)[0])


def test_a_beginning_that_may_be_http_is_waited_for_as_long_as_detect_timeout(daemon):
    [url] = daemon.server("chat", detect_timeout=3600)
    with Talker(url) as undecided, Talker(url) as other, Talker(url) as witness:
        witness.send(b"\n")
        undecided.send(b"GE")
        daemon.wait_connections("chat", 3)
        other.send(b".\n" * 100)
        assert [witness.hear() for _ in range(100)] == [b"."] * 100
        assert not has_heard(undecided), "it was sent messages before it said what it speaks"
        undecided.send(b"NIUS\n")
        while other.hear() != b"GENIUS":
            pass


def test_a_beginning_that_may_be_http_is_waited_for_no_longer_than_detect_timeout(daemon):
    [url] = daemon.server("chat", detect_timeout=0.2)
    with Talker(url) as undecided, Talker(url) as other:
        undecided.send(b"GE")
        deadline = time.monotonic() + PATIENCE
        while not has_heard(undecided):
            assert time.monotonic() < deadline, "it is still waited for"
            other.send(b".\n")
            time.sleep(0.01)
        assert undecided.hear() == b"."


@pytest.mark.parametrize("protocol, answers", [("raw", False), ("http", True)])
def test_a_port_may_speak_one_protocol_alone(daemon, protocol, answers):
    [url] = daemon.server("only", protocol=protocol, mode="echo")
    with Talker(url) as client:
        client.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        first = client.hear()
        assert first.startswith(b"HTTP/1.1 404") == answers
        assert (first == b"GET / HTTP/1.1\r") != answers


def test_an_http_url_is_listened_on(daemon):
    [url] = daemon.server("web", listen=["http://127.0.0.1:0"])
    assert url.startswith("http://127.0.0.1:")
    assert exchange(url, b"hello\r\n\r\n").startswith(b"HTTP/1.1 400 ")
    refused = daemon.run("create", "server", "other", "-l", "http://127.0.0.1:0/path")
    assert refused.returncode != 0 and "leave out '/path'" in refused.stderr


def test_tcp_and_http_do_not_share_a_port(daemon):
    [url] = daemon.server("web", listen=["http://127.0.0.1:0"])
    refused = daemon.run("create", "server", "raw", "-l", f"tcp://127.0.0.1:{port_of(url)}", "-s")
    assert refused.returncode != 0 and "web" in refused.stderr


def test_pages_of_other_hosts_open_no_websocket(daemon):
    [url] = daemon.server("chat", ws_origin=["https://Friend.example"])
    assert upgrade(url, b"Origin: http://evil.example\r\n").startswith(b"HTTP/1.1 403 ")
    assert upgrade(url, b"Origin: null\r\n").startswith(b"HTTP/1.1 403 ")
    for origin, host in [
        (b"http://x", b"x"),
        (b"http://X:8080", b"x:8080"),
        (b"https://friend.example", b"x"),
    ]:
        with Talker(url) as page:
            page.send(
                b"GET / HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
                b"Origin: %s\r\n\r\n" % (host, origin)
            )
            assert page.hear().startswith(b"HTTP/1.1 101 "), origin


def test_the_accept_key_is_that_of_the_rfc(daemon):
    [url] = daemon.server("chat")
    with Talker(url) as page:
        page.send(
            b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n"
            b"Connection: keep-alive, Upgrade\r\n"
            b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        )
        head = [page.hear() for _ in range(4)]
        assert b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r" in head


def test_another_version_is_told_which_is_spoken(daemon):
    [url] = daemon.server("chat")
    answer = upgrade(url, version=b"8")
    assert answer.startswith(b"HTTP/1.1 426 ") and b"Sec-WebSocket-Version: 13" in answer


def test_subprotocols_are_chosen_by_the_client(daemon):
    [url] = daemon.server("chat", ws_protocol=["chat.v1", "chat.v2"])

    async def chosen(*offered):
        async with websockets.connect(ws_url(url), subprotocols=list(offered) or None) as page:
            return page.subprotocol

    assert run(chosen("other", "chat.v2", "chat.v1")) == "chat.v2"
    assert run(chosen("other")) is None
    assert run(chosen()) is None


@pytest.mark.parametrize(
    "frame, code",
    [
        (b"\x81\x01a", 1002),  # not masked
        (b"\xc1\x80\0\0\0\0", 1002),  # RSV1 without an extension
        (b"\x83\x80\0\0\0\0", 1002),  # reserved opcode
        (b"\x09\x80\0\0\0\0", 1002),  # a fragmented ping
        (b"\x80\x80\0\0\0\0", 1002),  # continues nothing
        (b"\x81\x81\0\0\0\0\xff", 1007),  # text that is not UTF-8
        (b"\x82\xff\0\0\0\1\0\0\0\0\0\0\0\0", 1009),  # longer than --max-message
        (b"\x88\x81\0\0\0\0\x03", 1002),  # half a close code
        (b"\x88\x82\0\0\0\0\x03\xed", 1002),  # 1005 is never on the wire
    ],
)
def test_what_breaks_the_protocol_is_told_and_ended(daemon, frame, code):
    [url] = daemon.server("chat")
    with Talker(url) as witness, Talker(url) as page:
        page.send(
            b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        )
        while page.hear() != b"\r":
            pass
        page.send(frame)
        head = page.read(4)
        assert head[0] == 0x88 and int.from_bytes(head[2:4], "big") == code
        page.read(head[1] - 2)
        assert page.is_ended()
        witness.send(b"still here\n")
        assert not witness.has_something()


def test_closing_is_answered_with_the_same_code(daemon):
    [url] = daemon.server("chat")

    async def closed(code):
        page = await websockets.connect(ws_url(url))
        await page.close(code, "bye")
        return page.close_code

    assert run(closed(1000)) == 1000
    assert run(closed(4321)) == 4321
    daemon.wait_connections("chat", 0)


def test_a_bomb_stops_at_the_longest_message(daemon):
    [url] = daemon.server("chat", max_message=100_000)

    async def bomb():
        async with websockets.connect(ws_url(url), max_size=None) as page:
            await page.send("a" * 50_000_000)
            try:
                await page.recv()
            except websockets.ConnectionClosed as ended:
                return ended.code
        return None

    before = daemon.resident_mib()
    assert run(bomb()) == 1009
    assert daemon.resident_mib() < before + 16


def test_a_silent_websocket_is_pinged_and_one_that_is_dead_is_ended(daemon):
    [url] = daemon.server("chat", ws_ping=2)

    async def lives():
        async with websockets.connect(ws_url(url), ping_interval=None) as page:
            await asyncio.sleep(7)
            await page.send("still here")
            return page.open

    dead = Talker(url)
    dead.send(
        b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
    )
    assert run(lives())
    assert dead.is_ended()
    dead.close()


def test_a_post_that_is_too_long_is_413(daemon):
    [url] = daemon.server("chat", http_messages=True, max_message=1000)
    request = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1001\r\n\r\n" + b"x" * 1001
    assert exchange(url, request).startswith(b"HTTP/1.1 413 ")
    head = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunked = head + b"7d1\r\n" + b"x" * 2001
    assert exchange(url, chunked).startswith(b"HTTP/1.1 413 ")


def test_without_the_option_nothing_is_posted_or_heard(daemon):
    [url] = daemon.server("chat")
    request = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx"
    assert exchange(url, request).startswith(b"HTTP/1.1 404 ")


def test_a_client_runtime_speaks_websocket(daemon):
    [url] = daemon.server("chat")
    where = ws_url(url) + "/some/path?q=1"
    daemon.create("client", "visitor", connect=where, header=["X-Visit: yes"])
    daemon.wait_connections("chat", 1)
    with Talker(url) as raw:
        daemon.wait_connections("chat", 2)
        assert daemon.run("send", "visitor", "from a client").returncode == 0
        assert raw.hear() == b"from a client"
        raw.send(b"to a client\n" + b"long" * 1000 + b"\n")
        eventually(lambda: daemon.stats("visitor")["messages"]["in"] == 2, "two messages")
    assert daemon.run("stop", "visitor").returncode == 0
    daemon.wait_connections("chat", 0)


def test_a_client_says_why_there_is_no_websocket(daemon):
    [url] = daemon.server("raw", protocol="http")
    [other] = daemon.server("plain", protocol="raw", mode="echo")
    daemon.run("create", "client", "lost", "-c", ws_url(other))
    started = daemon.run("start", "lost")
    assert started.returncode != 0
    refused = daemon.run("create", "client", "web", "-c", http_url(url))
    assert refused.returncode != 0 and "write ws://" in refused.stderr


def test_stats_count_the_web(daemon):
    [url] = daemon.server("echo", mode="echo")

    async def converse():
        async with websockets.connect(ws_url(url), compression=None) as page:
            await page.send("x" * 10)
            await page.recv()
            return json.dumps(daemon.stats("echo")["messages"])

    assert json.loads(run(converse())) == {"in": 1, "out": 1}
