"""Backends with a limit of requests at a time, and the queue of clients that wait."""

import contextlib
import json
import socket
import subprocess
import threading
import time

import pytest

from held_answers import Gate, Visitors, queue_of, wait_waiting
from http_backend import OK, client, gateway, get
from strata_daemon import PATIENCE, Refused, eventually
from talker import RESET_ON_CLOSE, port_of

ASK = b"GET / HTTP/1.1\r\nHost: h\r\n\r\n"


def test_a_backend_gets_no_more_requests_than_its_limit(daemon, make_backend):
    gates = [Gate(), Gate()]
    backends = [make_backend(each) for each in gates]
    port = gateway(daemon, backend=[f"{backends[0].where} max=2", f"{backends[1].where} max=1"])
    visitors = Visitors(port)
    for number in range(9):
        visitors.ask(f"/{number}")
    wait_waiting(daemon, 6)
    eventually(lambda: [each.now for each in gates] == [2, 1], "both are full")
    seen = daemon.ask("GET", "/v1/runtimes/gw/backends")
    assert [(each["max"], each["now"]) for each in seen] == [(2, 2), (1, 1)]
    assert "MAX" in daemon.cli("backends", "gw").splitlines()[0].split()
    assert 'strata_proxy_queue{name="gw",type="proxy"} 6' in \
        daemon.exchange("GET", "/metrics")[1].decode()
    for each in gates:
        each.let(9)
    assert set(visitors.join().values()) == {(200, b"ok")}
    assert [each.most for each in gates] == [2, 1]
    assert queue_of(daemon) == {"waiting": 0, "turned_away": 0}


def test_first_come_first_served(daemon, make_backend):
    gate = Gate()
    port = gateway(daemon, backend=[make_backend(gate).where + " max=1"])
    visitors = Visitors(port)
    visitors.ask("/0")
    eventually(lambda: gate.now == 1, "it is full")
    for number in range(1, 8):
        visitors.ask(f"/{number}")
        wait_waiting(daemon, number)
    # Clients that arrive while a place becomes free do not overtake the queue.
    for number in range(8, 12):
        gate.let()
        eventually(lambda n=number: len(gate.order) == n - 6, "the next one is asked for")
        visitors.ask(f"/{number}")
        wait_waiting(daemon, 7)
    gate.let(20)
    visitors.join()
    assert gate.order == [f"/{number}" for number in range(12)]


def test_a_full_queue_turns_away(daemon, make_backend):
    gate = Gate()
    port = gateway(daemon, backend=[make_backend(gate).where + " max=1"], queue=1)
    visitors = Visitors(port)
    visitors.ask("/0")
    eventually(lambda: gate.now == 1, "it is full")
    visitors.ask("/1")
    wait_waiting(daemon, 1)
    with client(port) as wire:
        wire.over.sendall(ASK)
        head, body = wire.answer()
        assert head.startswith(b"HTTP/1.1 503 ") and b"retry-after: 1" in head.lower()
        assert body == b"all backends are busy\n"
        assert queue_of(daemon) == {"waiting": 1, "turned_away": 1}
        daemon.edit("gw", queue=0)
        wire.over.sendall(ASK)
        assert wire.answer()[0].startswith(b"HTTP/1.1 503 ")
    assert daemon.logged("gw", "so is the queue for them (--queue)")
    gate.let(2)
    assert set(visitors.join().values()) == {(200, b"ok")}
    assert queue_of(daemon) == {"waiting": 0, "turned_away": 2}


def test_one_that_waits_too_long_is_turned_away(daemon, make_backend):
    gate = Gate()
    port = gateway(daemon, backend=[make_backend(gate).where + " max=1"], queue_timeout=0.1)
    visitors = Visitors(port)
    visitors.ask("/0")
    eventually(lambda: gate.now == 1, "it is full")
    assert get(port) == (503, b"all backends are busy\n")
    assert queue_of(daemon) == {"waiting": 0, "turned_away": 1}
    assert daemon.logged("gw", "none has become free for 0.1 s (--queue-timeout)")
    gate.let()
    visitors.join()
    gate.let()
    assert get(port) == (200, b"ok")


def test_an_edit_of_a_backend_wakes_those_who_wait(daemon, make_backend):
    gate, free = Gate(), make_backend()
    where = make_backend(gate).where
    port = gateway(daemon, backend=[where + " max=1"], queue_timeout=1000)
    visitors = Visitors(port)
    visitors.ask("/0")
    eventually(lambda: gate.now == 1, "it is full")
    visitors.ask("/1")
    wait_waiting(daemon, 1)
    daemon.edit("gw", backend=[where + " max=2"])
    eventually(lambda: gate.now == 2, "it has gone on")
    visitors.ask("/2")
    wait_waiting(daemon, 1)
    daemon.cli("backends", "gw", "add", free.where)
    eventually(lambda: free.requests, "it has gone to the new one")
    visitors.ask("/3")
    eventually(lambda: len(free.requests) == 2, "the new one has no limit")
    daemon.edit("gw", backend=[where + " max=2"])
    visitors.ask("/4")
    wait_waiting(daemon, 1)
    # No backend remains to wait for.
    daemon.cli("backends", "gw", "drain", where)
    eventually(lambda: visitors.answers.get("/4", [0])[0] == 503, "it is told so")
    gate.let(9)
    visitors.join()


def test_a_backup_takes_what_the_others_have_no_room_for(daemon, make_backend):
    gate, backup = Gate(), make_backend()
    port = gateway(daemon, backend=[make_backend(gate).where + " max=1", backup.where + " backup"])
    visitors = Visitors(port)
    visitors.ask("/0")
    eventually(lambda: gate.now == 1, "it is full")
    assert get(port) == (200, b"ok") and len(backup.requests) == 1
    gate.let()
    visitors.join()


def test_backends_of_a_route_have_limits_too(daemon, make_backend):
    gate, other = Gate(), make_backend()
    port = gateway(daemon, other, route=[f"path=/r -> {make_backend(gate).where} max=1"],
                   queue_timeout=0.05)
    visitors = Visitors(port)
    visitors.ask("/r")
    eventually(lambda: gate.now == 1, "it is full")
    assert get(port, "/r")[0] == 503
    assert get(port, "/") == (200, b"ok")
    gate.let()
    visitors.join()


def test_one_that_leaves_leaves_the_queue(daemon, make_backend):
    """Covers HTTP/1.1, with a clean end and without, and HTTP/2."""
    gate = Gate()
    port = gateway(daemon, backend=[make_backend(gate).where + " max=1"], queue_timeout=1000)
    visitors = Visitors(port)
    visitors.ask("/0")
    eventually(lambda: gate.now == 1, "it is full")
    for is_reset in [False, True]:
        with client(port) as wire:
            if is_reset:
                wire.over.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
            wire.over.sendall(ASK)
            wait_waiting(daemon, 1)
        wait_waiting(daemon, 0)
    curl = subprocess.Popen(["curl", "-s", "--http2-prior-knowledge", f"http://127.0.0.1:{port}/"],
                            stdout=subprocess.DEVNULL)
    wait_waiting(daemon, 1)
    curl.kill()
    curl.wait()
    wait_waiting(daemon, 0)
    gate.let()
    visitors.join()
    assert gate.order == ["/0"] and queue_of(daemon)["turned_away"] == 0
    assert daemon.stats("gw")["errors"] == 0


def test_what_a_client_says_while_it_waits_is_kept(daemon, make_backend):
    """The data is a body, and the request after it."""
    gate = Gate()
    backend = make_backend(gate)
    port = gateway(daemon, backend=[backend.where + " max=1"], queue_timeout=1000)
    visitors = Visitors(port)
    visitors.ask("/0")
    eventually(lambda: gate.now == 1, "it is full")
    body = b"x" * 100_000
    with client(port) as wire:
        wire.over.sendall(b"POST /1 HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n"
                          % len(body))
        wait_waiting(daemon, 1)
        wire.over.sendall(body + b"GET /2 HTTP/1.1\r\nHost: h\r\n\r\n")
        time.sleep(0.1)
        gate.let(3)
        assert [wire.answer()[1] for _ in range(2)] == [b"ok", b"ok"]
    visitors.join()
    assert gate.order == ["/0", "/1", "/2"] and backend.requests[1].body == body


@pytest.fixture
def raw_backend():
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        server.settimeout(PATIENCE)
        yield server, f"127.0.0.1:{server.getsockname()[1]}"


def dial(stack, url):
    made = stack.enter_context(socket.create_connection(("127.0.0.1", port_of(url)), PATIENCE))
    made.settimeout(PATIENCE)
    return made


def raw_proxy(daemon, where, **options):
    [url] = daemon.create("proxy", "gw", listen=["tcp://127.0.0.1:0"], backend=[where],
                          **options)["endpoints"]
    return url


def test_connections_have_a_limit_and_wait_with_what_they_have_said(daemon, raw_backend):
    server, where = raw_backend
    url = raw_proxy(daemon, where + " max=1", queue=1)
    with contextlib.ExitStack() as stack:
        first, second = dial(stack, url), None
        at_first = stack.enter_context(server.accept()[0])
        second = dial(stack, url)
        second.sendall(b"said early")
        wait_waiting(daemon, 1)
        with pytest.raises(ConnectionResetError):
            dial(stack, url).recv(1)
        assert queue_of(daemon) == {"waiting": 1, "turned_away": 1}
        first.close()
        assert at_first.recv(1) == b""
        at_first.close()
        at_second = stack.enter_context(server.accept()[0])
        at_second.settimeout(PATIENCE)
        assert at_second.recv(100) == b"said early"
        assert queue_of(daemon)["waiting"] == 0


def test_a_connection_that_is_reset_leaves_the_queue(daemon, raw_backend):
    server, where = raw_backend
    url = raw_proxy(daemon, where + " max=1", queue_timeout=1000)
    with contextlib.ExitStack() as stack:
        dial(stack, url)
        stack.enter_context(server.accept()[0])
        waits = dial(stack, url)
        wait_waiting(daemon, 1)
        waits.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
        waits.close()
        wait_waiting(daemon, 0)
        # A client that has only ended its direction waits for the backend's data.
        ended = dial(stack, url)
        ended.shutdown(socket.SHUT_WR)
        wait_waiting(daemon, 1)
        time.sleep(0.3)
        assert queue_of(daemon) == {"waiting": 1, "turned_away": 0}


def test_many_come_and_go_while_a_backend_is_full(daemon, make_backend):
    """Hundreds of clients, some of which leave: no place is lost, and none is given twice."""
    busy, most, lock = [0], [0], threading.Lock()

    def answer(wire, _):
        with lock:
            busy[0] += 1
            most[0] = max(most[0], busy[0])
        time.sleep(0.001)
        with lock:
            busy[0] -= 1
        wire.over.sendall(OK)
    port = gateway(daemon, backend=[make_backend(answer).where + " max=3"], queue_timeout=1000)
    statuses = []

    def visit(number):
        for turn in range(20):
            if (number + turn) % 5 == 0:
                with client(port) as wire:
                    wire.over.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
                    wire.over.sendall(ASK)
            else:
                statuses.append(get(port)[0])
    threads = [threading.Thread(target=visit, args=(number,)) for number in range(20)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(statuses) == 320 and set(statuses) == {200}
    assert most[0] <= 3
    eventually(lambda: [each["now"] for each in daemon.ask("GET", "/v1/runtimes/gw/backends")]
               == [0], "all places are free")
    assert queue_of(daemon) == {"waiting": 0, "turned_away": 0}


def test_a_stop_does_not_wait_for_those_in_the_queue(daemon, raw_backend):
    server, where = raw_backend
    url = raw_proxy(daemon, where + " max=1", queue_timeout=1000)
    with contextlib.ExitStack() as stack:
        dial(stack, url)
        stack.enter_context(server.accept()[0])
        waits = dial(stack, url)
        wait_waiting(daemon, 1)
        daemon.act("gw", "stop")
        with contextlib.suppress(ConnectionResetError):
            assert waits.recv(1) == b""
    daemon.act("gw", "start")
    assert queue_of(daemon)["waiting"] == 0


@pytest.mark.parametrize("words", ["max=", "max=-1", "max=x", "max=1000001", "max=1.5"])
def test_what_is_no_limit_is_refused(daemon, words):
    with pytest.raises(Refused, match=f"'{words}' is neither weight=N"):
        gateway(daemon, backend=[f"127.0.0.1:1 {words}"])


def test_a_limit_of_0_is_none_and_is_shown(daemon, make_backend):
    backend = make_backend()
    port = gateway(daemon, backend=[backend.where + " max=0"])
    assert get(port) == (200, b"ok")
    [seen] = json.loads(daemon.cli("backends", "gw", "--format", "json"))
    assert seen["max"] == 0


# --- slow start ----------------------------------------------------------------------------------


def share_of(backend, port, count):
    before = len(backend.requests)
    for _ in range(count):
        assert get(port) == (200, b"ok")
    return len(backend.requests) - before


def test_a_backend_that_was_added_starts_slowly(daemon, make_backend):
    old, new = make_backend(), make_backend()
    port = gateway(daemon, old, slow_start=10_000)
    daemon.edit("gw", backend=[old.where, new.where])
    assert share_of(new, port, 33) == 3
    daemon.edit("gw", slow_start=0)
    assert share_of(new, port, 32) == 16


def test_a_backend_that_was_down_starts_slowly(daemon, make_backend):
    old, ill = make_backend(), make_backend()
    port = gateway(daemon, old, ill, slow_start=10_000, check="tcp", check_interval=0.05,
                   check_fall=1, check_rise=1)
    assert share_of(ill, port, 20) == 10
    ill.close()
    eventually(lambda: state_of(daemon, ill) == "down", "it is down")
    again = make_backend(port=int(ill.where.split(":")[1]))
    eventually(lambda: state_of(daemon, again) == "ready", "it is up")
    # The old backend may or may not have had its turn before it went down.
    assert 2 <= share_of(again, port, 33) <= 4


def state_of(daemon, backend):
    return next(each["state"] for each in daemon.ask("GET", "/v1/runtimes/gw/backends")
                if each["text"] == backend.where)
