"""A client affects only itself: one that does not read, or has gone, makes no other client wait."""

import pytest

from resp_wire import Wire, encode
from strata_daemon import eventually
from talker import Talker

MIB = 1 << 20


def new_cache(daemon, **options):
    made = daemon.create("cache", "db", listen=["tcp://127.0.0.1:0"], resp=True, **options)
    return int(made["endpoints"][0].rsplit(":", 1)[1])


def send_all_it_takes(wire, data):
    """Sends until the kernel accepts no more; returns how much that was."""
    wire.socket.setblocking(False)
    sent = 0
    try:
        while sent < len(data):
            sent += wire.socket.send(data[sent:])
    except BlockingIOError:
        pass
    return sent


@pytest.mark.parametrize("count", [16, 64])
def test_clients_that_never_read_leave_the_loop_to_others(make_daemon, count):
    daemon = make_daemon("--loops", "1")
    port = new_cache(daemon)
    [chat] = daemon.server("chat")
    old = Wire(port)
    assert old.ask("SET", "big", "x" * MIB) == b"+OK\r\n"
    with Talker(chat) as ann, Talker(chat) as bob:
        daemon.wait_connections("chat", 2)
        deaf = [Wire(port) for _ in range(count)]
        for each in deaf:
            send_all_it_takes(each, encode(["GET", "big"]) * (300 * 1024 // 22))
        # Each client has been read from at least once, and has a reply that it does not read.
        eventually(lambda: all(int(line.split(b"omem=")[1].split()[0]) > 0
                               for line in old.ask("CLIENT", "LIST").splitlines()
                               if b"cmd=get" in line), "they are served, and do not read")
        assert old.ask("PING") == b"+PONG\r\n"
        assert Wire(port).ask("PING") == b"+PONG\r\n"
        ann.send(b"still there?\n")
        assert bob.read(len(b"still there?\n")) == b"still there?\n"
        for each in deaf:
            each.socket.close()


def test_commands_of_clients_that_have_gone_are_not_executed(daemon):
    port = new_cache(daemon)
    other = Wire(port)
    assert other.ask("SET", "big", "x" * MIB) == b"+OK\r\n"
    asked = 0
    for _ in range(8):
        gone = Wire(port)
        asked += send_all_it_takes(gone, encode(["GET", "big"]) * (4 * MIB // 22)) // 22
        gone.socket.close()
    daemon.wait_connections("db", 1)
    executed = next(int(line.split(b":")[1]) for line in other.ask("INFO", "stats").splitlines()
                    if line.startswith(b"total_commands_processed"))
    print(f"{asked} were asked for, {executed} were executed")
    assert asked > 50_000
    assert executed < 1000
