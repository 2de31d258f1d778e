"""Connections that scripts open with strata.connect."""

import asyncio
import socket
import threading

import pytest
import websockets

from deaf import deaf_address
from lua_console import LuaConsole
from strata_daemon import PATIENCE, eventually
from talker import Talker, free_port, port_of


@pytest.fixture
def console(daemon, tmp_path):
    return LuaConsole(daemon, tmp_path)


class Peer:
    """A server whose one connection the test controls."""

    def __init__(self, kept=()):
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.listening.settimeout(PATIENCE)
        self.url = f"tcp://127.0.0.1:{self.listening.getsockname()[1]}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listening.close()

    def accept(self):
        return Talker.accepted(self.listening)


def test_bytes_and_lines_of_a_stream(console):
    with Peer() as peer:
        console.run(f"c = assert(strata.connect('{peer.url}')) return c:is_open()")
        with peer.accept() as bob:
            assert console.run("return c:send('hello\\n')") == (True, None)
            assert bob.hear() == b"hello"
            bob.send(b"one\r\ntwo\nthr")
            assert console.run("return c:receive_line(), c:receive_line()") == ("one", "two")
            bob.send(b"ee\nrest")
            assert console.run("return c:receive_line()") == ("three", None)
            assert console.run("return c:receive()") == ("rest", None)
            assert console.run("return c:receive(0.05)") == (None, "timeout")
            assert console.run("return c:receive_line(0)") == (None, "timeout")
            bob.send(b"last")
            bob.close()
            assert console.run("return c:receive_line()") == ("last", None)
        assert console.run("return c:receive_line()") == (None, "closed")
        assert console.run("return c:send('x')") == (None, "closed")
        assert console.run("return c:is_open()") == (False, None)
        console.run("c:close() c:close()")


def test_what_was_sent_before_it_closes_still_goes(console):
    with Peer() as peer:
        console.begin(f"local c = strata.connect('{peer.url}') c:send('bye\\n') c:close() "
                      "return c:receive()")
        with peer.accept() as bob:
            assert bob.hear() == b"bye" and bob.hear() is None
        assert console.end() == (None, "closed")
        # An unreferenced connection is closed by the collector.
        console.begin(f"do local c = strata.connect('{peer.url}') c:send('gone\\n') end "
                      "collectgarbage() collectgarbage()")
        with peer.accept() as bob:
            assert bob.hear() == b"gone" and bob.hear() is None
        console.end()


def test_messages_of_every_kind(console, daemon):
    hub = daemon.create("server", "hub", listen=["tcp://127.0.0.1:0", "udp://127.0.0.1:0"],
                        protocol="raw")
    tcp, udp = sorted(hub["endpoints"])
    console.run(f"a = assert(strata.connect('{tcp}', {{framing = 'line'}}))")
    console.run("b = assert(strata.connect('runtime://hub', {framing = 'line'}))")
    daemon.wait_connections("hub", 2)
    console.run("b:send('over the hub')")
    assert console.run("return a:receive(5)") == ("over the hub", None)
    assert "has messages, not lines" in console.fails("a:receive_line()")
    console.run(f"d = assert(strata.connect('{udp}')) d:send('a datagram')")
    assert console.run("return a:receive(5)") == ("a datagram", None)
    console.run("a:send('to all')")
    assert console.run("return d:receive(5)") == ("to all", None)
    # No socket listens there.
    console.run(f"d = strata.connect('udp://127.0.0.1:{free_port(socket.SOCK_DGRAM)}') d:send('x')")
    assert "refused" in console.run("return d:receive(5)")[1]
    with Peer() as peer:
        console.run(f"e = strata.connect('{peer.url}', {{framing = 'length'}}) e:send('abc')")
        with peer.accept() as bob:
            assert bob.read(7) == b"\0\0\0\3abc"
            bob.send(b"\0\0\0\2\0\xff")
            assert console.run("local m = e:receive() return m:byte(1), m:byte(2)") == (0, 255)


def test_websockets(console):
    async def talk():
        async def echo(connection):
            async for message in connection:
                await connection.send("echo " + message)

        async with websockets.serve(echo, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            lua = (f"w = assert(strata.connect('ws://127.0.0.1:{port}/chat')) w:send('hi') "
                   "local heard = w:receive() w:close() return heard")
            return await asyncio.to_thread(console.run, lua)

    assert asyncio.run(asyncio.wait_for(talk(), PATIENCE)) == ("echo hi", None)


def test_a_peer_that_is_silent_holds_up_its_function_alone(console):
    with Peer() as peer, deaf_address() as deaf:
        other = console.another()
        console.begin(f"return strata.connect('tcp://{deaf.text}', {{timeout_ms = 300}})")
        other.begin(f"local c = strata.connect('{peer.url}') return c:receive(0.3)")
        with peer.accept():
            assert other.end() == (None, "timeout")
        assert "127.0.0.1" in console.end()[1]
    assert "refused" in console.run(f"return strata.connect('tcp://127.0.0.1:{free_port()}')")[1]


def test_what_is_wrong_is_said(console):
    for lua, said in (("strata.connect('nowhere')", "nowhere"),
                      ("strata.connect('http://127.0.0.1/')", "strata.http"),
                      ("strata.connect('tcp://a:1', {framing = 'odd'})", "line, length or raw"),
                      ("strata.connect('udp://a:1', {framing = 'line'})", "leave framing out"),
                      ("strata.connect('tcp://a:1', {colour = 1})", "no option 'colour'"),
                      ("strata.connect('tcp://a:1', {timeout_ms = 'x'})", "is not a number"),
                      ("strata.connect('tcp://a:1', {1, 2})", "not a table with names")):
        assert said in console.fails(lua)
    assert "nobody" in console.run("return strata.connect('runtime://nobody')")[1]
    with Peer() as peer:
        console.run(f"c = strata.connect('{peer.url}')")
        assert "write a colon" in console.fails("c.send('x')")
        assert "write a colon" in console.fails("c.send(strata.redis('x'), 'x')")
        assert "must be a string" in console.fails("c:send({})")
        assert "userdata" in console.fails("strata.json.encode(c)")
        assert console.run("return getmetatable(c)") == (False, None)


def test_lines_without_end_and_bytes_that_nobody_takes_are_bounded(console, daemon):
    with Peer() as peer:
        console.run(f"c = strata.connect('{peer.url}', {{max_message = 10000}})")
        with peer.accept() as bob:
            bob.send(b"x" * 20000)
            assert "longer than 10000 bytes" in console.run("return c:receive_line()")[1]
            assert bob.is_ended()
        # A peer that sends forever is slowed down while nothing is received.
        console.run(f"c = strata.connect('{peer.url}')")
        with peer.accept() as bob:
            bob.socket.settimeout(0.5)
            sent = 0
            with pytest.raises(TimeoutError):
                while sent < 1 << 30:
                    sent += bob.socket.send(b"y" * 65536)
            assert sent < 64 << 20
            bob.socket.settimeout(PATIENCE)
            got = console.run("local n = 0 while n < 1048576 do n = n + #assert(c:receive(5)) end "
                              "return n")[0]
            assert got >= 1 << 20
        # A peer that reads nothing.
        console.run(f"c = strata.connect('{peer.url}')")
        with peer.accept():
            lua = ("local ok, why for n = 1, 1000 do ok, why = c:send(('z'):rep(1048576)) "
                   "if not ok then return n, why end end")
            count, why = console.run(lua)
            assert count < 100 and "already wait" in why
            assert console.run("return c:flush(0.1)") == (None, "timeout")
            assert console.run("c:close() return 1") == (1, None)


def test_a_script_that_opens_for_ever_gets_no_more(console):
    with Peer() as peer:
        halt = threading.Event()
        kept = []

        def accept():
            peer.listening.settimeout(0.1)
            while not halt.is_set():
                try:
                    kept.append(peer.listening.accept()[0])
                except TimeoutError:
                    pass

        accepting = threading.Thread(target=accept)
        accepting.start()
        try:
            # Dropped connections make room.
            console.run(f"for n = 1, 1500 do assert(strata.connect('{peer.url}')) end")
            lua = (f"all = {{}} for n = 1, 5000 do all[n] = strata.connect('{peer.url}') end")
            assert "1000 objects already" in console.fails(lua)
            assert console.run("local n = #all all = nil collectgarbage() return n") == (1000, None)
            console.run(f"assert(strata.connect('{peer.url}')):close()")
        finally:
            halt.set()
            accepting.join()
            for each in kept:
                each.close()


def test_a_reload_and_a_stop_close_them_and_their_functions_end(console, daemon):
    with Peer() as peer:
        console.begin(f"kept = strata.connect('{peer.url}') return kept:receive()")
        with peer.accept() as bob:
            daemon.cli("reload-lua", "console")
            assert console.end() == (None, "closed")
            assert bob.is_ended()
        console.begin(f"kept = strata.connect('{peer.url}') return kept:receive()")
        with peer.accept() as bob:
            daemon.act("console", "stop")
            assert bob.is_ended()


def test_a_function_is_stopped_between_two_waits(daemon, tmp_path):
    console = LuaConsole(daemon, tmp_path, lua_time=0.05)
    with Peer() as peer:
        console.run(f"c = strata.connect('{peer.url}')")
        with peer.accept() as bob:
            # Waiting does not count against --lua-time, running does.
            assert console.run("return c:receive(0.3)") == (None, "timeout")
            bob.send(b"go")
            console.begin("c:receive() while true do end")
            eventually(lambda: daemon.logged("console", "the handler was stopped"), "it is stopped")
            bob.send(b"still there")
            assert console.another().run("return c:receive()") == ("still there", None)


def test_functions_that_need_not_wait_do_not_pile_up(console):
    with Peer() as peer:
        console.run(f"c = strata.connect('{peer.url}') c:close()")
        assert console.run("local n = 0 for i = 1, 20000 do n = n + #select(2, c:receive()) end "
                           "return n") == (120000, None)


def test_garbage_at_any_moment(console, daemon):
    """Peers end in every way while the script reads and collects."""
    with Peer() as peer:
        for ending in (b"", b"\xff\x00\n" * 1000, b"no end", b"\n" * 5000):
            console.begin(f"local c = strata.connect('{peer.url}') local n = 0 "
                          "while c:receive_line() do n = n + 1 collectgarbage() end return n")
            with peer.accept() as bob:
                bob.send(ending)
            lines = ending.count(b"\n") + (not ending.endswith(b"\n") and ending != b"")
            assert console.end() == (lines, None)
    assert daemon.show("console")["state"] == "running"
    eventually(lambda: daemon.stats("console")["script"]["waiting"] == 0, "nothing waits")
    assert port_of(console.url)
