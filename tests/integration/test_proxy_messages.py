"""A proxy whose ends carry messages: datagrams, frames, WebSockets, and framed streams."""

import asyncio
import contextlib
import select
import socket
import struct
import threading

import pytest
import websockets

from strata_daemon import PATIENCE, Refused, eventually
from talker import Talker, free_port, port_of


def front_of(daemon, listen, *backends, **options):
    """Makes a running proxy and returns where it listens."""
    made = daemon.create("proxy", "gw", listen=[listen], backend=list(backends), **options)
    return made["endpoints"][0]


class Echo:
    """A UDP server that returns each message with its name before it, and records the senders."""

    def __init__(self, name=b""):
        self.name, self.senders = name, set()
        self.socket = socket.socket(type=socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.where = f"udp://127.0.0.1:{self.socket.getsockname()[1]}"
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                said, sender = self.socket.recvfrom(65536)
                self.senders.add(sender)
                if said == b"close":
                    return
                self.socket.sendto(self.name + said, sender)

    def close(self):
        with socket.socket(type=socket.SOCK_DGRAM) as last:
            last.sendto(b"close", self.socket.getsockname())
        self.thread.join()
        self.socket.close()


@pytest.fixture
def make_echo():
    with contextlib.ExitStack() as stack:
        yield lambda *name: stack.enter_context(contextlib.closing(Echo(*name)))


class Caller:
    """A client that sends datagrams to the proxy."""

    def __init__(self, url):
        self.socket = socket.socket(type=socket.SOCK_DGRAM)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(("127.0.0.1", port_of(url)))

    def ask(self, message):
        self.socket.send(message)
        return self.socket.recv(65536)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()


# --- datagrams -----------------------------------------------------------------------------------


def test_each_sender_has_a_session_of_its_own(daemon, make_echo):
    echo = make_echo()
    url = front_of(daemon, "udp://127.0.0.1:0", echo.where)
    with Caller(url) as ann, Caller(url) as bob:
        for number in range(50):
            assert ann.ask(b"ann %d" % number) == b"ann %d" % number
            assert bob.ask(b"bob %d" % number) == b"bob %d" % number
        assert ann.ask(b"\x00" * 16000) == b"\x00" * 16000
        assert len(echo.senders) == 2
        assert daemon.stats("gw")["connections"]["now"] == 2
        eventually(lambda: daemon.stats("gw")["messages"] == {"in": 101, "out": 101},
                   "all are counted")


def test_sessions_are_shared_out_among_the_backends(daemon, make_echo):
    one, other = make_echo(b"1"), make_echo(b"2")
    url = front_of(daemon, "udp://127.0.0.1:0", one.where, other.where)
    with contextlib.ExitStack() as stack:
        callers = [stack.enter_context(Caller(url)) for _ in range(4)]
        answers = [each.ask(b"x") for each in callers]
        assert sorted(answers) == [b"1x", b"1x", b"2x", b"2x"]
        assert [each.ask(b"y")[:1] for each in callers] == [each[:1] for each in answers]


def test_a_session_ends_when_it_is_silent(daemon, make_echo):
    echo = make_echo()
    url = front_of(daemon, "udp://127.0.0.1:0", echo.where, idle_timeout=0.3)
    with Caller(url) as ann:
        assert ann.ask(b"x") == b"x"
        daemon.wait_connections("gw", 0)
        assert ann.ask(b"y") == b"y"
        assert len(echo.senders) == 2


def test_a_backend_where_nobody_listens_has_failed(daemon, make_echo):
    echo = make_echo()
    nobody = f"udp://127.0.0.1:{free_port(socket.SOCK_DGRAM)}"
    url = front_of(daemon, "udp://127.0.0.1:0", nobody, echo.where, balance="first",
                   circuit_failures=1, rest=1000)
    with Caller(url) as ann:
        ann.socket.send(b"lost")
        eventually(lambda: daemon.ask("GET", "/v1/runtimes/gw/backends")[0]["circuit"] == "open",
                   "the kernel has said that nobody listens")
        daemon.wait_connections("gw", 0)
        assert ann.ask(b"x") == b"x"


def test_sessions_have_a_limit(daemon, make_echo):
    echo = make_echo()
    url = front_of(daemon, "udp://127.0.0.1:0", echo.where, max_connections=1)
    with Caller(url) as ann, Caller(url) as bob:
        assert ann.ask(b"x") == b"x"
        bob.socket.send(b"y")
        eventually(lambda: daemon.stats("gw")["connections"]["refused"] == 1, "it is refused")
        assert daemon.logged("gw", "was refused: the limit of --max-connections is reached")
        figures = daemon.exchange("GET", "/metrics")[1].decode()
        assert 'strata_refused_total{name="gw",type="proxy",reason="limit"} 1' in figures
        assert ann.ask(b"z") == b"z"
        assert select.select([bob.socket], [], [], 0)[0] == []


def test_senders_that_are_denied_have_none(daemon, make_echo):
    echo = make_echo()
    url = front_of(daemon, "udp://127.0.0.1:0", echo.where, deny=["127.0.0.0/8"])
    with Caller(url) as ann:
        ann.socket.send(b"x")
        eventually(lambda: daemon.stats("gw")["clients"]["denied"] == 1, "it is denied")
        daemon.edit("gw", deny=[])
        assert ann.ask(b"y") == b"y"
    assert len(echo.senders) == 1


def test_loops_share_the_senders(daemon, make_echo):
    echo = make_echo()
    url = front_of(daemon, "udp://127.0.0.1:0", echo.where, threads=2)
    with contextlib.ExitStack() as stack:
        callers = [stack.enter_context(Caller(url)) for _ in range(16)]
        for each in callers:
            assert each.ask(b"x") == b"x"
        assert daemon.stats("gw")["connections"]["now"] == 16


@pytest.mark.parametrize("threads", [1, 2])
def test_datagrams_of_any_size_pass(daemon, make_echo, threads):
    echo = make_echo()
    url = front_of(daemon, "udp://127.0.0.1:0", echo.where, threads=threads)
    with Caller(url) as ann:
        for size in (0, 1, 1472, 16383, 16384, 16385, 40000, 65507, 0, 65507):
            message = bytes(number * 7 % 251 for number in range(size))
            assert ann.ask(message) == message
    eventually(lambda: daemon.stats("gw")["messages"] == {"in": 10, "out": 10},
               "all are counted: the client may hear the last one before it is")


# --- bridges -------------------------------------------------------------------------------------


def test_lines_become_datagrams_and_come_back_as_lines(daemon, make_echo):
    url = front_of(daemon, "tcp://127.0.0.1:0", make_echo().where)
    with Talker(url) as ann:
        for number in range(20):
            ann.say(b"line %d" % number)
            assert ann.hear() == b"line %d" % number
        ann.say(b"x" * 70000)  # no datagram is that large
        ann.say(b"and on")
        assert ann.hear() == b"and on"
    assert daemon.stats("gw")["dropped"]["too_large"] == 1


def test_datagrams_become_messages_of_a_stream(daemon):
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = front_of(daemon, "udp://127.0.0.1:0", f"127.0.0.1:{server.getsockname()[1]}",
                       framing="length")
        with Caller(url) as ann:
            ann.socket.send(b"one")
            ann.socket.send(b"two")
            with server.accept()[0] as backend:
                backend.settimeout(PATIENCE)
                assert backend.makefile("rb").read(14) == b"\0\0\0\3one\0\0\0\3two"
                backend.sendall(struct.pack("!I", 5) + b"three")
                assert ann.socket.recv(100) == b"three"
            daemon.wait_connections("gw", 0)  # the backend has closed it


def test_websockets_and_lines(daemon):
    """Covers both directions: a WebSocket before a server of lines, and lines before a
    WebSocket."""
    [url] = daemon.server("hub", mode="echo")
    front = front_of(daemon, "ws://127.0.0.1:0", url.removeprefix("tcp://"))
    daemon.create("proxy", "backend", listen=["tcp://127.0.0.1:0"],
                  backend=[front.rstrip("/") + "/any"])

    async def talk():
        async with websockets.connect(front) as ann:
            for message in ("hello", "ü" * 1000):
                await ann.send(message)
                assert await asyncio.wait_for(ann.recv(), PATIENCE) == message
    asyncio.run(talk())
    with Talker(daemon.show("backend")["endpoints"][0]) as bob:
        bob.say(b"all the way")
        assert bob.hear() == b"all the way"
        bob.socket.shutdown(socket.SHUT_WR)
        assert bob.hear() is None
    for name in ("gw", "backend"):
        daemon.wait_connections(name, 0)


def test_datagrams_and_websockets(daemon):
    [url] = daemon.server("hub", listen=["http://127.0.0.1:0"], mode="echo")
    front = front_of(daemon, "udp://127.0.0.1:0", url.replace("http:", "ws:"))
    with Caller(front) as ann:
        assert ann.ask(b"hello") == b"hello"
        for message in (b"\xff\x00", b"", bytes(range(256)) * 255):
            assert ann.ask(message) == message


def test_what_opens_no_websocket_is_told_so(daemon):
    url = front_of(daemon, "ws://127.0.0.1:0", f"127.0.0.1:{free_port()}")
    with socket.create_connection(("127.0.0.1", port_of(url))) as over:
        over.sendall(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        assert b" 426 " in over.recv(4096)
    daemon.wait_connections("gw", 0)
    assert daemon.logged("gw", "has opened no WebSocket")


def test_lines_and_frames(veth, daemons):
    """A machine that speaks frames behind a proxy that speaks TCP, and the reverse."""
    near, far = daemons
    far.create("server", "plc", listen=["l2://vethB/0x88b5?vlan=10"], mode="echo")
    there = f"l2://vethA/0x88b5?vlan=10&dst={veth.mac(veth.b, 'vethB')}"
    near.create("proxy", "gw", listen=["tcp://0.0.0.0:7000"], backend=[there])
    heard = veth.inside(veth.a, "bash", "-c", "echo status | nc -N 127.0.0.1 7000")
    assert heard.rstrip("\0\n") == "status"
    near.create("server", "web", listen=["tcp://127.0.0.1:7001"], mode="echo")
    near.create("proxy", "frames", listen=["l2://vethA/0x88b6"], backend=["127.0.0.1:7001"])
    far.create("client", "c", framing="line",
               connect=f"l2://vethB/0x88b6?dst={veth.mac(veth.a, 'vethA')}")
    far.send("c", b"ping")
    eventually(lambda: far.stats("c")["messages"]["in"] == 1, "the answer comes back as a frame")
    assert near.stats("frames")["connections"]["now"] == 1


# --- what does not fit ---------------------------------------------------------------------------


@pytest.mark.once
@pytest.mark.parametrize("listen, backend, more, why", [
    ("udp://127.0.0.1:0", "http://127.0.0.1:1", {}, "the backend takes HTTP"),
    ("udp://127.0.0.1:0", "127.0.0.1:1 http2", {}, "the backend takes HTTP"),
    ("http://127.0.0.1:0", "udp://127.0.0.1:1", {}, "is not a stream"),
    ("tcp://127.0.0.1:0", "udp://127.0.0.1:1", {"check": "tcp"}, "asks streams"),
    ("tcp://127.0.0.1:0", "udp://127.0.0.1:1 proxy=v2", {}, "needs a stream"),
    ("tcp://127.0.0.1:0", "tcp://127.0.0.1:1", {"framing": "length"}, "no endpoint carries"),
    ("tcp://127.0.0.1:0", "udp://127.0.0.1:1", {"retries": 1}, "no endpoint carries HTTP"),
    ("tcp://127.0.0.1:0", "udp://127.0.0.1:1", {"balance": "path"}, "no endpoint carries HTTP"),
])
def test_what_does_not_fit_is_refused(daemon, listen, backend, more, why):
    with pytest.raises(Refused, match=why):
        daemon.create("proxy", "gw", listen=[listen], backend=[backend], **more)


@pytest.mark.once
def test_what_is_passed_on_does_not_change_while_it_runs(daemon, make_echo):
    echo = make_echo()
    url = front_of(daemon, "tcp://127.0.0.1:0", f"127.0.0.1:{free_port()}")
    with pytest.raises(Refused, match="the change would make it forward messages"):
        daemon.edit("gw", backend=[echo.where])
    daemon.act("gw", "stop")
    daemon.edit("gw", backend=[echo.where])
    url = daemon.act("gw", "start")["endpoints"][0]
    with Talker(url) as ann:
        ann.say(b"x")
        assert ann.hear() == b"x"


@pytest.mark.once
def test_fronts_of_two_kinds_do_not_fit(daemon):
    with pytest.raises(Refused, match="carries HTTP requests, but this one messages"):
        daemon.create("proxy", "gw", listen=["http://127.0.0.1:0", "udp://127.0.0.1:0"],
                      backend=["127.0.0.1:1"])
