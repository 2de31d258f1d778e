"""strata pipe with an end that carries messages: WebSockets, datagrams and frames."""

import asyncio
import os
import socket
import subprocess
import time

import pytest
import websockets

from certificates import Authority
from fixtures import root, veth  # noqa: F401
from pipe import digest, in_background, noise
from strata_daemon import eventually
from talker import Talker

RCVBUFFORCE = 33  # <asm-generic/socket.h>


# --- WebSocket ------------------------------------------------------------------------------------


def test_lines_go_to_a_websocket_and_messages_come_as_lines(pipe):
    async def serve():
        heard = []

        async def echo(connection, *_):
            async for message in connection:
                heard.append(message)
                await connection.send(b"\xff" if message == "binary" else message.upper())

        async with websockets.serve(echo, "127.0.0.1", 0) as server:
            url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}/chat"
            joined = pipe("-", url)
            out = await asyncio.to_thread(joined.done, b"one\ntwo\nbinary\nlast")
            assert heard == ["one", "two", "binary", "last"]
            assert out == b"ONE\nTWO\n\xff\nLAST\n"

    asyncio.run(serve())


def test_a_websocket_that_is_listened_for(pipe):
    async def talk(url):
        with pytest.raises(websockets.InvalidStatusCode) as refused:
            await websockets.connect(url.replace("/chat", "/other"))
        assert refused.value.status_code == 404
        with pytest.raises(websockets.InvalidStatusCode) as refused:
            await websockets.connect(url, origin="https://evil.example")
        assert refused.value.status_code == 403
        async with websockets.connect(url, max_size=None) as peer:
            await peer.send("hello")
            assert await asyncio.to_thread(joined.hear) == b"hello"
            data = noise(900_000).hex()[:1 << 20]
            await asyncio.to_thread(joined.write, data.encode() + b"\nmore\n")
            assert [await peer.recv(), await peer.recv()] == [data, "more"]
        joined.end_input()

    joined = pipe("listen:ws://127.0.0.1:0/chat", "-")
    asyncio.run(talk(joined.url() + "/chat"))
    out, code, _ = joined.finish()
    assert (out, code) == (b"", 0)


def test_two_pipes_are_joined_by_websocket_and_tls(pipe, tmp_path):
    authority = Authority(tmp_path / "tls")
    certificate, key = authority.issue("localhost")
    left = pipe("listen:wss://127.0.0.1:0", "-", "--framing", "length", "--cert", certificate,
                "--key", key)
    right = pipe("-", left.url().replace("127.0.0.1", "localhost"), "--ca", authority.ca,
                 "--framing", "length")
    parts = [noise(size) for size in (0, 1, 125, 126, 65535, 65536, 1 << 20)]
    data = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
    answering = in_background(right.done, data)
    left.end_input()
    assert digest(left.process.stdout.read()) == digest(data)
    answering.join()


def test_a_line_that_has_no_end_breaks_the_pipe(pipe):
    joined = pipe("listen:tcp://127.0.0.1:0", "udp://127.0.0.1:9", "--max-message", "1000")
    with Talker(joined.url()) as peer:
        peer.send(b"x" * 1001)
        with pytest.raises(ConnectionResetError):
            peer.hear()
    assert "raise --max-message" in joined.failed()


def test_a_server_that_speaks_no_websocket_is_told(pipe, listener):
    server, url = listener
    joined = pipe("-", url.replace("tcp", "ws"))
    with Talker.accepted(server) as peer:
        eventually(peer.has_something, "it asks")
        peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        assert "cannot open a WebSocket" in joined.failed()


# --- UDP ------------------------------------------------------------------------------------------


def test_lines_and_datagrams(pipe):
    joined = pipe("listen:udp://127.0.0.1:0", "-")
    url = joined.url()
    joined.write(b"early\n")  # waits for the peer
    with Talker(url) as peer, Talker(url) as stranger:
        peer.send(b"hello")
        assert joined.hear() == b"hello"
        assert peer.socket.recv(100) == b"early"
        stranger.send(b"not heard")
        peer.send(b"again")
        assert joined.hear() == b"again"
        joined.write(b"bye\n")
        assert peer.socket.recv(100) == b"bye"
        assert not stranger.has_something()
        joined.end_input()
        assert joined.done() == b""


def test_large_datagrams_pass_both_ways(pipe):
    joined = pipe("listen:udp://127.0.0.1:0", "-")
    with Talker(joined.url()) as peer:
        for size in (16385, 65507):
            peer.send(b"x" * size)
            assert joined.hear() == b"x" * size
            joined.write(b"y" * size + b"\n")
            assert peer.socket.recv(70000) == b"y" * size
        joined.end_input()
        assert joined.done() == b""


def test_linger_waits_for_answers(pipe):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        server.settimeout(30)

        def answer():
            _, peer = server.recvfrom(100)
            for number in range(4):
                time.sleep(0.5)
                server.sendto(b"%d" % number, peer)

        answering = in_background(answer)
        joined = pipe("-", f"udp://127.0.0.1:{server.getsockname()[1]}", "--linger", "1")
        assert joined.done(b"question\n") == b"0\n1\n2\n3\n"
        answering.join()


def test_all_lines_of_a_file_become_datagrams(pipe):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.setsockopt(socket.SOL_SOCKET, RCVBUFFORCE, 64 << 20)
        server.bind(("127.0.0.1", 0))
        server.settimeout(2)
        joined = pipe("-", f"udp://127.0.0.1:{server.getsockname()[1]}")
        lines = [b"line %d" % number for number in range(20_000)]
        joined.done(b"\n".join(lines) + b"\n")
        assert [server.recv(100) for _ in lines] == lines


def test_what_a_datagram_cannot_hold_is_told_and_the_rest_goes_on(pipe):
    left = pipe("listen:udp://127.0.0.1:0", "-")
    right = pipe("-", left.url(), "--linger", "2")
    right.write(b"x" * 65508 + b"\nnext\n")
    right.end_input()
    assert left.hear() == b"next"
    assert "cannot send a message of 65508 bytes" in right.failed()


def test_a_port_where_nobody_listens_is_told(pipe):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as nobody:
        nobody.bind(("127.0.0.1", 0))
        url = f"udp://127.0.0.1:{nobody.getsockname()[1]}"
    joined = pipe("-", url)
    joined.write(b"hello\n")
    joined.end_input()
    assert f"cannot receive from {url}: Connection refused" in joined.failed()


def test_a_message_that_the_end_cuts_off_is_told(pipe):
    async def serve():
        async def hear(connection, *_):
            async for _message in connection:
                pass

        async with websockets.serve(hear, "127.0.0.1", 0) as server:
            url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
            joined = pipe("-", url, "--framing", "length")
            _, code, said = await asyncio.to_thread(
                joined.finish, b"\0\0\0\x03abc" + b"\0\0\0\x0ade")
            assert code == 1
            assert "the stream has ended inside it, 6 bytes from its beginning" in said

    asyncio.run(serve())


# --- frames: veth.py draws the namespaces ---------------------------------------------------------
#
#   printf ... | strata pipe - l2://vethA  ==== veth ====  strata pipe listen:l2://vethB -
#           (in namespace a)                                    (in namespace b)


@pytest.mark.parametrize("left, right", [
    ("listen:l2://vethA/0x88b5", "l2://vethB/0x88b5"),
    ("listen:xdp://vethA/0?ethertype=0x88b5&mode=generic", "l2://vethB/0x88b5"),
])
def test_lines_go_between_machines_as_frames(pipe, veth, left, right):
    hears = pipe(left, "-", before=("ip", "netns", "exec", veth.a))
    hears.url()
    asks = pipe("-", f"{right}?dst={veth.mac(veth.a, 'vethA')}", "--linger", "2",
                before=("ip", "netns", "exec", veth.b))
    asks.write(b"start the pump\n")
    assert hears.hear() == b"start the pump"
    hears.write(b"it runs\n")
    assert asks.hear() == b"it runs"
    asks.write(b"x" * 1501 + b"\nstop\n")  # above the MTU: reported, and the next message passes
    assert hears.hear() == b"stop"
    hears.end_input()
    hears.done()
    assert "cannot send a message of 1501 bytes" in asks.failed()


def test_a_frame_that_the_kernel_refuses_is_told(pipe, veth):
    subprocess.run(["ip", "-n", veth.b, "link", "set", "vethB", "mtu", "200"], check=True)
    asks = pipe("-", f"l2://vethA/0x88b5?dst={veth.mac(veth.b, 'vethB')}", "--linger", "1",
                before=("ip", "netns", "exec", veth.a))
    _, code, said = asks.finish(b"x" * 1000 + b"\n")
    assert code == 1
    assert "cannot send to l2://vethA" in said


def test_a_tcp_client_reaches_a_machine_that_knows_frames_alone(pipe, veth):
    """
        nc --- tcp --- [ strata pipe ] === veth === [ strata pipe ] --- standard input and output
                        (namespace a)                (namespace b)
    """
    plc = pipe("listen:l2://vethB/0x88b5?vlan=10&prio=7", "-",
               before=("ip", "netns", "exec", veth.b))
    plc.url()
    where = "listen:unix:///tmp/strata-pipe-%d" % os.getpid()  # reached from any namespace
    bridge = pipe(where, f"l2://vethA/0x88b5?vlan=10&prio=7&dst={veth.mac(veth.b, 'vethB')}",
                  before=("ip", "netns", "exec", veth.a))
    with Talker(bridge.url()) as client:
        client.say(b"one", b"two")
        assert [plc.hear(), plc.hear()] == [b"one", b"two"]
        plc.write(b"three\n")
        assert client.hear() == b"three"
        client.finish()
        assert client.hear() is None
    bridge.done()


def test_an_interface_that_is_removed_ends_the_pipe(pipe, veth):
    veth.needs_virtual("it removes the link")
    hears = pipe("listen:l2://vethA/0x88b5", "-", before=("ip", "netns", "exec", veth.a))
    hears.url()
    veth.inside(veth.a, "ip", "link", "del", "vethA")
    assert "the interface was removed" in hears.failed()
