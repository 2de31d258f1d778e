"""The client runtime: it connects, receives, sends, and reconnects."""

import contextlib
import json
import socket
import threading
import time

import pytest

from strata_daemon import PATIENCE, Refused, eventually
from talker import Talker, free_port

QUICK = {"reconnect": 0, "reconnect_min": 0.02, "reconnect_max": 0.05}


class Listener:
    """A plain server for a client."""

    def __init__(self, port=0):
        self.socket = socket.create_server(("127.0.0.1", port))
        self.socket.settimeout(PATIENCE)
        self.port = self.socket.getsockname()[1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def accept(self):
        return Talker.accepted(self.socket)


@contextlib.contextmanager
def messages_of(daemon, name):
    """Reads the runtime's messages stream: each call returns the next message."""
    connection = daemon.connect()
    connection.request("GET", f"/v1/runtimes/{name}/messages")
    reply = connection.getresponse()
    assert reply.status == 200
    yield lambda: json.loads(reply.readline())
    connection.close()


def is_connected(daemon, name):
    return daemon.stats(name)["connections"]["now"] == 1


def test_a_client_takes_a_limited_rate_of_messages(daemon, tmp_path):
    written = tmp_path / "messages"
    with Listener() as listener:
        daemon.create("client", "guest", target=f"127.0.0.1:{listener.port}", write=str(written),
                      global_rate_limit=20)
        with listener.accept() as host:
            began = time.monotonic()
            host.say(*[b"%d" % number for number in range(200)])
            eventually(lambda: daemon.stats("guest")["messages"]["in"] == 200, "all are read")
            passed = 200 - daemon.stats("guest")["dropped"]["global_rate_limit"]
            assert 20 <= passed <= 20 + 20 * (time.monotonic() - began) + 1
            eventually(lambda: len(written.read_text().split()) == passed, "the rest is written")
            assert written.read_text().split()[:20] == [str(each) for each in range(20)]
            daemon.edit("guest", global_rate_limit=0)
            host.say(*[b"free"] * 100)
            eventually(lambda: written.read_text().count("free") == 100, "there is no limit now")


def test_a_client_hears_and_is_heard(daemon):
    with Listener() as listener:
        daemon.create("client", "guest", target=f"127.0.0.1:{listener.port}")
        with listener.accept() as host, messages_of(daemon, "guest") as hear:
            host.say(b"welcome")
            assert hear()["text"] == "welcome"
            assert daemon.send("guest", b"thanks") == {"delivered": 1, "queued": 0}
            assert host.hear() == b"thanks"
            host.send(b"\xff\xfe\n")
            assert hear()["base64"] == "//4="
            stats = daemon.stats("guest")
            assert stats["messages"] == {"in": 2, "out": 1}
            assert stats["bytes"] == {"in": 11, "out": 7}
            assert stats["connections"]["now"] == 1


@pytest.mark.parametrize("scheme", ["tcp", "tcp6", "udp", "unix", "name"])
def test_a_client_speaks_to_a_server_over(daemon, tmp_path, scheme):
    url = {"tcp": "tcp://127.0.0.1:0", "tcp6": "tcp://[::1]:0", "udp": "udp://127.0.0.1:0",
           "unix": f"unix://{tmp_path}/path", "name": "tcp://127.0.0.1:0"}[scheme]
    [bound] = daemon.server("chat", listen=[url])
    if scheme == "name":
        bound = bound.replace("127.0.0.1", "localhost")
    daemon.create("client", "one", connect=bound)
    daemon.create("client", "two", connect=bound)
    daemon.send("one", b"known")  # a UDP server knows only peers that have sent something
    daemon.send("two", b"known")
    daemon.wait_connections("chat", 2)
    with messages_of(daemon, "two") as hear:
        eventually(lambda: daemon.stats("chat")["messages"]["in"] == 2, "both were heard")
        daemon.send("one", b"hello")
        while (text := hear()["text"]) != "hello":
            assert text == "known"


def test_received_messages_are_written_to_the_file(daemon, tmp_path):
    [url] = daemon.server("chat")
    daemon.create("client", "guest", connect=url, write=f"{tmp_path}/heard")
    daemon.wait_connections("chat", 1)
    daemon.send("chat", b"one")
    daemon.send("chat", b"two")
    eventually(lambda: (tmp_path / "heard").read_bytes() == b"one\ntwo\n", "both are written")


def test_a_last_line_without_its_lf_is_heard_at_the_end(daemon):
    with Listener() as listener:
        daemon.create("client", "guest", target=f"127.0.0.1:{listener.port}")
        with listener.accept() as host, messages_of(daemon, "guest") as hear:
            host.send(b"whole\nand the rest")
            assert hear()["text"] == "whole"
            host.close()
            assert hear()["text"] == "and the rest"


def test_mode_in_only_hears_and_mode_out_only_says(daemon):
    [url] = daemon.server("chat")
    with Talker(url) as ann:
        daemon.create("client", "guest", connect=url, mode="in")
        daemon.wait_connections("chat", 2)
        with pytest.raises(Refused, match="only receives"):
            daemon.send("guest", b"no")
        with messages_of(daemon, "guest") as hear:
            ann.say(b"1")
            assert hear()["text"] == "1"
            daemon.edit("guest", mode="out")
            ann.say(b"2")
            eventually(lambda: daemon.stats("guest")["dropped"]["mode"] == 1, "2 is dropped")
            daemon.edit("guest", mode="inout")
            ann.say(b"3")
            assert hear()["text"] == "3"
        daemon.send("guest", b"4")
        assert ann.hear() == b"4"


@pytest.mark.parametrize("framing, on_wire", [("length", b"\0\0\0\3a\nb"), ("raw", b"a\nb")])
def test_a_client_has_the_framings_of_a_server(daemon, framing, on_wire):
    with Listener() as listener:
        daemon.create("client", "guest", target=f"127.0.0.1:{listener.port}", framing=framing)
        with listener.accept() as host, messages_of(daemon, "guest") as hear:
            daemon.send("guest", b"a\nb")
            assert host.read(len(on_wire)) == on_wire
            host.send(on_wire)
            assert hear()["text"] == "a\nb"


def test_it_reconnects_after_the_server_restarts(daemon):
    port = free_port()
    daemon.server("chat", listen=[f"tcp://127.0.0.1:{port}"])
    daemon.create("client", "guest", target=f"127.0.0.1:{port}", **QUICK)
    daemon.wait_connections("chat", 1)
    for _ in range(3):
        daemon.act("chat", "restart")
        daemon.wait_connections("chat", 1)
    eventually(lambda: is_connected(daemon, "guest"), "the client knows it")
    daemon.send("guest", b"back")
    eventually(lambda: daemon.stats("chat")["messages"]["in"] == 1, "and is heard")
    assert daemon.logged("guest", "next attempt", "warning")


def test_sends_are_refused_while_disconnected(daemon):
    port = free_port()
    daemon.create("client", "guest", target=f"127.0.0.1:{port}", **QUICK)
    with pytest.raises(Refused, match="not connected") as refused:
        daemon.send("guest", b"lost?")
    assert refused.value.code == "conflict"
    assert "--queue" in refused.value.remedy


def test_a_queue_keeps_messages_until_connected_and_delivers_them_in_order(daemon):
    port = free_port()
    daemon.create("client", "guest", target=f"127.0.0.1:{port}", queue=100, **QUICK)
    for number in range(100):
        assert daemon.send("guest", b"%d" % number) == {"delivered": 0, "queued": 1}
    with pytest.raises(Refused, match="queue is full"):
        daemon.send("guest", b"too many")
    with Listener(port) as listener, listener.accept() as host:
        assert host.hear_lines(100) == [b"%d" % number for number in range(100)]
        daemon.send("guest", b"and on")
        assert host.hear() == b"and on"


def test_it_gives_up_after_so_many_attempts_in_a_row(daemon):
    port = free_port()
    daemon.create("client", "guest", target=f"127.0.0.1:{port}", reconnect=3,
                  reconnect_min=0.01, reconnect_max=0.01)
    eventually(lambda: daemon.show("guest")["state"] == "failed", "it gives up")
    assert "gave up after 3 attempts" in daemon.show("guest")["reason"]


def test_without_reconnect_a_dead_port_is_an_error_for_who_starts_it(daemon):
    port = free_port()
    done = daemon.run("create", "client", "guest", "-t", f"127.0.0.1:{port}", "-s")
    assert done.returncode == 1 and done.stdout == ""
    assert f"127.0.0.1:{port}" in done.stderr and "refused" in done.stderr
    assert daemon.names() == []


def test_without_reconnect_it_fails_when_the_server_goes(daemon):
    [url] = daemon.server("chat")
    daemon.create("client", "guest", connect=url)
    daemon.act("chat", "stop")
    eventually(lambda: daemon.show("guest")["state"] == "failed", "its state says so")
    assert "closed the connection" in daemon.show("guest")["reason"]
    daemon.edit("chat", listen=[url])
    daemon.act("chat", "start")
    assert daemon.act("guest", "start")["state"] == "running"


def test_a_restart_at_the_moment_of_the_end_is_not_undone(daemon):
    """The runtime must not take the old connection's end for the new one's."""
    with Listener() as listener:
        over = threading.Event()

        def accept_and_close():
            with contextlib.suppress(OSError):
                while not over.is_set():
                    listener.accept().close()

        closing = threading.Thread(target=accept_and_close)
        closing.start()
        daemon.create("client", "guest", start=False, target=f"127.0.0.1:{listener.port}")
        connection = daemon.connect()
        for _ in range(500):
            with contextlib.suppress(Refused):
                daemon.ask("POST", "/v1/runtimes/guest/restart", connection=connection)
        connection.close()
        eventually(lambda: daemon.show("guest")["state"] == "failed", "the last one ends too")
        over.set()
        Talker(f"tcp://127.0.0.1:{listener.port}").close()
        closing.join()
    failures = [each for each in daemon.lines("/v1/events") if each["event"] == "failed"]
    assert failures and all(each["detail"] for each in failures)


def test_an_unknown_name_is_a_clear_error(daemon):
    with pytest.raises(Refused, match="no-such-host.invalid") as refused:
        daemon.create("client", "guest", target="no-such-host.invalid:80")
    assert refused.value.code in ("not_found", "timed_out")


def test_an_address_that_never_answers_times_out(daemon):
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        port = full.getsockname()[1]
        with contextlib.ExitStack() as stack:
            for _ in range(4):  # its queue is full: no more connections are accepted
                more = stack.enter_context(socket.socket())
                more.setblocking(False)
                more.connect_ex(("127.0.0.1", port))
            with pytest.raises(Refused) as refused:
                daemon.create("client", "guest", target=f"127.0.0.1:{port}", connect_timeout=0.3)
            assert refused.value.code == "timed_out"


def test_a_server_that_never_reads_costs_no_memory(daemon):
    with Listener() as listener:
        daemon.create("client", "guest", target=f"127.0.0.1:{listener.port}", max_buffer=65536)
        with listener.accept():
            before = daemon.resident_mib()
            with pytest.raises(Refused, match="already wait") as refused:
                for _ in range(1000):
                    daemon.send("guest", b"x" * 30_000)
            assert refused.value.code == "limit_exceeded"
            assert daemon.resident_mib() < before + 32


def test_a_stop_ends_an_attempt_that_hangs(daemon):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(0)
        port = silent.getsockname()[1]
        daemon.create("client", "guest", target=f"127.0.0.1:{port}", **QUICK)
        daemon.act("guest", "stop")
    assert daemon.show("guest")["state"] == "stopped"


def test_a_udp_client_of_a_dead_port_goes_on(daemon):
    port = free_port(socket.SOCK_DGRAM)
    daemon.create("client", "guest", connect=f"udp://127.0.0.1:{port}")
    daemon.send("guest", b"lost")
    eventually(lambda: daemon.stats("guest")["errors"] > 0, "the refusal is counted")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as late:
        late.bind(("127.0.0.1", port))
        late.settimeout(PATIENCE)

        def arrives():
            with contextlib.suppress(Refused):
                daemon.send("guest", b"found")
            late.settimeout(0.1)
            with contextlib.suppress(TimeoutError):
                return late.recv(100) == b"found"

        eventually(arrives, "a datagram arrives")


def test_two_clients_and_two_servers_make_a_chain_that_loses_nothing(daemon):
    [first] = daemon.server("first")
    daemon.create("client", "guest", connect=first)
    daemon.wait_connections("first", 1)
    lines = [b"%d" % number for number in range(5000)]
    heard = []
    with Talker(first) as ann:
        daemon.wait_connections("first", 2)
        with messages_of(daemon, "guest") as hear:
            listening = threading.Thread(
                target=lambda: heard.extend(hear()["text"].encode() for _ in lines))
            listening.start()
            ann.say(*lines)
            listening.join()
    assert heard == lines
