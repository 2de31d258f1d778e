"""All connections of a runtime together use at most --max-memory-connections: above it, the
connections with the oldest last message are closed, and clients in exchange with the server
stay."""

import contextlib
import select
import socket
import ssl

import pytest

from resp_wire import Wire, encode
from strata_daemon import eventually
from talker import Talker, address_of, port_of

MIB = 1 << 20
LIMIT = 4 * MIB
CROWD = 200
PIECE = 64 << 10  # 12.5 MiB of the crowd

LINE = b"x" * PIECE
POST = b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 500000\r\n\r\n" + LINE
SET = b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$500000\r\n" + LINE
MULTI = encode(["MULTI"]) + encode(["SET", "k", LINE])
FRAME = b"\x82\xff" + (500_000).to_bytes(8, "big") + b"\0\0\0\0" + LINE
HANDSHAKE = (b"GET / HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
             b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")


def held(daemon, name="s"):
    return daemon.stats(name)["connections"]["memory"]


def connect(url):
    family, kind, address = address_of(url)
    made = socket.socket(family, kind)
    made.settimeout(30)
    made.connect(address)
    return made


def is_gone(connection):
    """Reports whether the server has closed the connection; drops the data before that."""
    while select.select([connection], [], [], 0)[0]:
        try:
            if not connection.recv(1 << 16):
                return True
        except ConnectionError:
            return True
    return False


def say_unfinished(daemon, stack, url, what, greet=b"", each_time=lambda: None):
    """Returns a crowd of clients that send `what` and no more. The second half connects later."""
    already = daemon.stats("s")["connections"]["now"]
    crowd = []
    for count in (CROWD // 2, CROWD):
        while len(crowd) < count:
            crowd.append(stack.enter_context(connect(url)))
            if greet:
                crowd[-1].sendall(greet)
                crowd[-1].recv(4096)
        daemon.wait_connections("s", already + count)
    for each in crowd:
        with contextlib.suppress(ConnectionError):
            each.sendall(what)
        each_time()
    return crowd


def expect_oldest_gone(daemon, crowd, most=LIMIT):
    eventually(lambda: daemon.stats("s")["dropped"]["memory"] > 0
               and 0 < held(daemon) <= most, "some were let go")
    gone = [is_gone(each) for each in crowd]
    assert all(gone[:CROWD // 2]) and not all(gone)
    assert "max-memory-connections" in " ".join(line["text"] for line in daemon.logs("s"))
    return [each for each, has_gone in zip(crowd, gone) if not has_gone]


SERVERS = [
    pytest.param({}, LINE, b"", id="line"),
    pytest.param({"framing": "length"}, (500_000).to_bytes(4, "big") + LINE, b"", id="length"),
    pytest.param({"protocol": "http", "http_messages": True}, POST, b"", id="post"),
    pytest.param({"protocol": "http"}, FRAME, HANDSHAKE, id="websocket"),
]


@pytest.mark.parametrize("options, what, greet", SERVERS)
def test_unfinished_input_is_bounded_for_all_together(daemon, options, what, greet):
    [url] = daemon.server("s", max_memory_connections=LIMIT, **options)
    with contextlib.ExitStack() as stack:
        crowd = say_unfinished(daemon, stack, url, what, greet)
        expect_oldest_gone(daemon, crowd)
    eventually(lambda: held(daemon) == 0, "nothing is held any more")


def test_who_is_served_stays_and_hears_what_is_said(daemon):
    [url] = daemon.server("s", mode="echo", max_memory_connections=LIMIT)
    with contextlib.ExitStack() as stack:
        ann = stack.enter_context(Talker(url))

        def talk():
            ann.say(b"still here", b"x" * 1000)
            assert ann.hear_lines(2) == [b"still here", b"x" * 1000]
        talk()
        crowd = say_unfinished(daemon, stack, url, LINE, each_time=talk)
        expect_oldest_gone(daemon, crowd)
        talk()
    eventually(lambda: held(daemon) == 0, "nothing is held any more")


def test_the_master_stays(daemon):
    [url] = daemon.server("s", mode="master", master_pw="secret", max_memory_connections=LIMIT)
    with contextlib.ExitStack() as stack:
        master = stack.enter_context(Talker(url))
        master.say(b"master secret")
        assert master.hear() == b"master: ok"
        master.send(LINE)
        crowd = say_unfinished(daemon, stack, url, LINE)
        left = expect_oldest_gone(daemon, crowd)
        master.say(b"")
        assert not is_gone(master.socket)
        assert left[-1].recv(1 << 20).startswith(b"x")


def test_threads_share_the_limit(daemon):
    [url] = daemon.server("s", threads=2, max_memory_connections=LIMIT)
    with contextlib.ExitStack() as stack:
        crowd = say_unfinished(daemon, stack, url, LINE)
        eventually(lambda: daemon.stats("s")["dropped"]["memory"] > 0
                   and 0 < held(daemon) <= LIMIT, "some were let go")
        assert 0 < sum(map(is_gone, crowd)) < CROWD
    eventually(lambda: held(daemon) == 0, "nothing is held any more")


def test_output_that_waits_counts_too(daemon):
    [url] = daemon.server("s", max_memory_connections=LIMIT, max_buffer=64 * MIB)
    with contextlib.ExitStack() as stack:
        silent = [stack.enter_context(Talker(url, room=4096)) for _ in range(8)]
        ann = stack.enter_context(Talker(url))
        daemon.wait_connections("s", 9)

        def drops():
            ann.say(b"x" * (MIB // 2))
            return daemon.stats("s")["dropped"]["memory"]
        eventually(drops, "some were let go")
        eventually(lambda: held(daemon) <= LIMIT, "the rest is within the limit")
        ann.say(b"end")
        assert not is_gone(ann.socket)
        assert daemon.stats("s")["dropped"]["slow_client"] == 0
    eventually(lambda: held(daemon) == 0, "nothing is held any more")
    del silent


@pytest.mark.parametrize("what", [SET, MULTI], ids=["unfinished", "transaction"])
def test_a_caches_clients_are_bounded_and_one_that_works_is_served(daemon, what):
    [url] = daemon.create("cache", "s", listen=["tcp://127.0.0.1:0"],
                          max_memory_connections=LIMIT)["endpoints"]
    with contextlib.ExitStack() as stack:
        wire = Wire(port_of(url))
        stack.callback(wire.close)

        def work():
            assert wire.ask("INCR", "n").startswith(b":")
        work()
        crowd = say_unfinished(daemon, stack, url, what, each_time=work)
        expect_oldest_gone(daemon, crowd)
        work()
    eventually(lambda: held(daemon) == 0, "nothing is held any more")


def test_a_lower_limit_is_in_force_at_once_and_zero_is_none(daemon):
    [url] = daemon.server("s", max_memory_connections=0)
    with contextlib.ExitStack() as stack:
        crowd = say_unfinished(daemon, stack, url, LINE)
        eventually(lambda: held(daemon) >= CROWD * PIECE, "all is held")
        assert not any(map(is_gone, crowd))
        daemon.edit("s", max_memory_connections=LIMIT)
        expect_oldest_gone(daemon, crowd)


@pytest.mark.parametrize("secure", [False, True])
def test_files_on_their_way_are_no_memory(daemon, authority, tmp_path, secure):
    """A client that reads slowly holds only the data that waits in memory,
    however long its file is."""
    with open(tmp_path / "large", "wb") as file:
        file.truncate(100 << 30)
    more = {}
    if secure:
        certificate, key = authority.issue("localhost")
        more = {"cert": [certificate], "key": [key], "listen": ["https://127.0.0.1:0"]}
    [url] = daemon.server("s", http=str(tmp_path), max_memory_connections=2 * LIMIT, **more)
    with contextlib.ExitStack() as stack:
        slow = []
        for _ in range(4):
            one = stack.enter_context(connect(url))
            if secure:
                context = ssl.create_default_context(cafile=authority.ca)
                one = stack.enter_context(context.wrap_socket(one, server_hostname="localhost"))
            one.sendall(b"GET /large HTTP/1.1\r\nHost: h\r\n\r\n")
            assert b"200 OK" in one.recv(100)
            slow.append(one)
        assert held(daemon) < 2 * LIMIT
        for one in slow:
            for _ in range(64):
                assert one.recv(65536)
    assert daemon.stats("s")["dropped"]["memory"] == 0
