"""strata backends: a proxy's backends, listed and changed while it runs."""

import contextlib
import json
import socket
import threading

import pytest

from http_backend import Backend, gateway, get
from strata_daemon import Refused, eventually
from talker import free_port


def backends_of(daemon, name="gw"):
    return {each["backend"].split("//")[1]: each
            for each in daemon.ask("GET", f"/v1/runtimes/{name}/backends")}


def test_each_backend_is_shown_with_how_it_has_fared(daemon, make_backend):
    one, other = make_backend(), make_backend()
    nobody = f"127.0.0.1:{free_port()}"
    port = gateway(daemon, backend=[one.where + " weight=3", other.where, nobody + " backup"],
                   route=[f"path=/r -> {other.where}"])
    for _ in range(8):
        get(port)
    get(port, "/r")
    seen = daemon.ask("GET", "/v1/runtimes/gw/backends")
    assert [(each["backend"], each["total"], each["failed"], each["now"], each["weight"],
             each["backup"], each["route"]) for each in seen] == [
        (f"tcp://{one.where}", 6, 0, 0, 3, False, ""),
        (f"tcp://{other.where}", 2, 0, 0, 1, False, ""),
        (f"tcp://{nobody}", 0, 0, 0, 1, True, ""),
        (f"tcp://{other.where}", 1, 0, 0, 1, False, f"path=/r -> {other.where}")]
    one.close()
    other.close()
    assert get(port)[0] == 503
    seen = daemon.ask("GET", "/v1/runtimes/gw/backends")
    assert [each["state"] for each in seen] == ["resting", "resting", "resting", "ready"]
    table = daemon.cli("backends", "gw").splitlines()
    assert table[0].split() == ["BACKEND", "STATE", "WEIGHT", "BACKUP", "MAX", "NOW", "TOTAL",
                                "FAILED", "P99", "CIRCUIT", "ROUTE"]
    assert f"tcp://{nobody}" in table[3] and "resting" in table[3]
    assert json.loads(daemon.cli("backends", "gw", "--format", "json"))[2]["failed"] == 1
    assert daemon.cli("backends", "gw", "-q").splitlines()[0] == one.where + " weight=3"


def test_a_backend_that_is_drained_keeps_what_it_has_and_gets_nothing_new(daemon):
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(2)]
        one, other = [f"127.0.0.1:{each.getsockname()[1]}" for each in servers]
        [url] = daemon.create("proxy", "gw", listen=["tcp://127.0.0.1:0"], backend=[one, other],
                              balance="first")["endpoints"]
        place = ("127.0.0.1", int(url.rsplit(":", 1)[1]))
        first = stack.enter_context(socket.create_connection(place))
        at_one = stack.enter_context(servers[0].accept()[0])
        first.sendall(b"x")
        assert at_one.recv(1) == b"x"
        assert f"backends of gw: {one} drain, {other}" in daemon.cli("backends", "gw", "drain", one)
        second = stack.enter_context(socket.create_connection(place))
        at_other = stack.enter_context(servers[1].accept()[0])
        for client, server in [(first, at_one), (second, at_other)]:
            client.sendall(b"on")
            assert server.recv(2) == b"on"
        seen = backends_of(daemon)
        assert (seen[one]["state"], seen[one]["now"], seen[one]["total"]) == ("drained", 1, 1)
        daemon.cli("backends", "gw", "ready", one)
        stack.enter_context(socket.create_connection(place))
        stack.enter_context(servers[0].accept()[0])
        assert backends_of(daemon)[one]["total"] == 2


def test_backends_come_and_go_under_load(daemon, make_backend):
    """Backends are added and removed a hundred times under load, and no request is lost."""
    stays, comes = make_backend(), make_backend()
    port = gateway(daemon, stays)
    over, answers = threading.Event(), []

    def visit():
        while not over.is_set():
            answers.append(get(port))
    visitors = [threading.Thread(target=visit) for _ in range(3)]
    for each in visitors:
        each.start()
    try:
        for _ in range(100):
            daemon.edit("gw", backend=[stays.where, comes.where])
            before = len(comes.requests)
            eventually(lambda: len(comes.requests) > before, "the new backend is used")
            daemon.edit("gw", backend=[stays.where, comes.where + " drain"])
            eventually(lambda: backends_of(daemon)[comes.where]["now"] == 0, "it is drained")
            daemon.edit("gw", backend=[stays.where])
    finally:
        over.set()
        for each in visitors:
            each.join()
    assert set(answers) == {(200, b"ok")} and len(answers) > 200


def test_what_cannot_be_is_refused(daemon, make_backend):
    backend = make_backend()
    gateway(daemon, backend)
    daemon.server("s")
    for words, why in [(("s",), "only a proxy has this operation"),
                       (("s", "add", "a"), "is a server"),
                       (("gw", "shrink", "a"), "there is no change 'shrink'"),
                       (("gw", "drain"), "'drain' needs a backend"),
                       (("gw", "drain", "a:1"), "there is no backend 'a:1'"),
                       (("gw", "add", backend.where), "is already a backend"),
                       (("gw", "remove", backend.where), "it has no backend"),
                       (("none",), "none")]:
        done = daemon.run("backends", *words)
        assert done.returncode != 0 and why in done.stderr, (words, done)
    daemon.act("gw", "stop")
    with pytest.raises(Refused, match="it is not running"):
        daemon.ask("GET", "/v1/runtimes/gw/backends")


# --- checks --------------------------------------------------------------------------------------


def state_of(daemon, backend):
    return backends_of(daemon)[backend.where]["state"]


@pytest.mark.parametrize("how", ["tcp", "http"])
def test_a_backend_that_cannot_serve_is_found_out_before_a_client_does(daemon, make_backend, how):
    good, bad = make_backend(), make_backend()
    port = gateway(daemon, bad, good, balance="first", check=how, check_interval=0.05,
                   check_fall=2, check_rise=2)
    eventually(lambda: not daemon.logged("gw", "is down"), "all are up")
    assert get(port) == (200, b"ok")
    bad.close()
    eventually(lambda: state_of(daemon, bad) == "down", "it is down")
    before = daemon.stats("gw")["errors"]
    assert get(port) == (200, b"ok")
    assert daemon.stats("gw")["errors"] == before
    assert daemon.logged("gw", f"backend '{bad.where}' is down: 2 checks in a row failed")
    again = Backend(port=int(bad.where.split(":")[1]))
    try:
        eventually(lambda: state_of(daemon, bad) == "ready", "it is up again")
        assert daemon.logged("gw", f"backend '{bad.where}' is up: 2 checks in a row succeeded")
    finally:
        again.close()


def test_a_backend_that_answers_badly_or_not_at_all_is_down(daemon, make_backend):
    hanging = threading.Event()

    def answer(wire, asked):
        if "/health" not in asked.start:
            return wire.over.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        if hanging.is_set():
            return None
        return wire.over.sendall(b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n")
    busy = make_backend(answer)
    port = gateway(daemon, busy, check="http", check_interval=0.05, check_path="/health")
    eventually(lambda: state_of(daemon, busy) == "down", "it says that it cannot")
    assert daemon.logged("gw", "the answer was 503, not 2xx,3xx")
    # There is no other backend, so the proxy still uses this one.
    assert get(port) == (200, b"ok")
    daemon.edit("gw", check_status="503")
    eventually(lambda: state_of(daemon, busy) == "ready", "that is what was expected")
    hanging.set()
    eventually(lambda: state_of(daemon, busy) == "down", "it does not answer")
    assert daemon.logged("gw", "has not answered in time")
    daemon.edit("gw", check="off", check_path=None, check_status=None, check_interval=None)
    assert state_of(daemon, busy) == "ready"


def test_a_backend_whose_tls_passes_through_is_asked_for_tls(daemon, make_backend, authority):
    """A backend that accepts connections and does not speak TLS is down."""
    certificate, key = authority.issue("localhost")
    [url] = daemon.server("s", listen=["tls://127.0.0.1:0"], mode="echo", cert=[certificate],
                          key=[key])
    good, plain = url.removeprefix("tls://"), make_backend().where
    daemon.create("proxy", "gw", listen=["tcp://127.0.0.1:0"], backend=[plain, good],
                  balance="first", check="tls", check_interval=0.5, check_fall=1, check_rise=1)
    eventually(lambda: [backends_of(daemon)[each]["state"] for each in (plain, good)]
               == ["down", "ready"], "the one speaks no TLS, and the other does")
    daemon.edit("gw", check="tcp")
    eventually(lambda: backends_of(daemon)[plain]["state"] == "ready", "it takes connections")


def test_checks_that_make_no_sense_are_refused(daemon, make_backend):
    backend = make_backend()
    for options, why in [({"check_rise": 3}, "check"),
                         ({"check": "http", "check_path": "x"}, "not a path"),
                         ({"check": "tcp", "check_interval": 0}, "need a pause"),
                         ({"check": "tcp", "check_path": "/x"}, "--check http"),
                         ({"check": "http", "check_path": "/a b"}, "not a path")]:
        with pytest.raises(Refused, match=why):
            gateway(daemon, backend, **options)
