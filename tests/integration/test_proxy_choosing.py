"""The backend of a request, chosen by a hash of the request or by the cookie that the proxy set."""

import contextlib
import socket
import subprocess
import threading
import time

import pytest

from held_answers import Gate, Visitors, wait_waiting
from http_backend import client, gateway, get
from strata_daemon import PATIENCE, Refused, eventually
from talker import port_of


def says_its_number(number):
    def answer(wire, _):
        wire.over.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n%d" % number)
    return answer


@pytest.fixture
def numbered(make_backend):
    return [make_backend(says_its_number(number)) for number in range(3)]


def ask_with(port, *fields, path="/"):
    """Returns the number of the backend that answers, and the cookie that the proxy sets."""
    with client(port) as wire:
        head = "".join(f"{each}\r\n" for each in fields)
        wire.over.sendall(f"GET {path} HTTP/1.1\r\nHost: h\r\n{head}\r\n".encode())
        head, body = wire.answer()
        cookies = [line.split(": ", 1)[1] for line in head.decode().split("\r\n")
                   if line.lower().startswith("set-cookie: ")]
        assert head.startswith(b"HTTP/1.1 200 ") and len(cookies) <= 1
        return body, cookies[0] if cookies else None


@pytest.mark.parametrize("how, field", [("header:X-Tenant", "x-tenant: {}"),
                                        ("cookie:user", "Cookie: a=b; user={}"),
                                        ("path", None)])
def test_what_is_the_same_goes_to_the_same_backend(daemon, numbered, how, field):
    port = gateway(daemon, *numbered, balance=how)

    def at(value):
        if field is None:
            return ask_with(port, path=f"/{value}?{time.monotonic()}")[0]
        return ask_with(port, field.format(value))[0]
    first = [at(value) for value in range(24)]
    assert len(set(first)) == 3
    assert [at(value) for value in range(24)] == first
    numbered[1].close()
    moved = [at(value) for value in range(24)]
    assert all(before == after for before, after in zip(first, moved) if before != b"1")
    assert b"1" not in moved


def test_a_request_without_the_field_is_its_clients(daemon, numbered):
    port = gateway(daemon, *numbered, balance="header:x-tenant")
    assert len({ask_with(port)[0] for _ in range(12)}) == 1


@pytest.mark.parametrize("how", ["header:x", "cookie:x", "path"])
def test_what_only_requests_have_is_nothing_to_go_by_for_connections(daemon, how):
    raw = {"listen": ["tcp://127.0.0.1:0"], "backend": ["127.0.0.1:1"]}
    with pytest.raises(Refused, match=f"--balance {how}: it has no effect: no endpoint carries"):
        daemon.create("proxy", "gw", **raw, balance=how)
    with pytest.raises(Refused, match="--sticky: it has no effect"):
        daemon.create("proxy", "gw", **raw, sticky="x")
    daemon.create("proxy", "gw", **raw)
    with pytest.raises(Refused, match="it has no effect: no endpoint carries HTTP"):
        daemon.edit("gw", balance=how)
    daemon.edit("gw", listen=["http://127.0.0.1:0"], balance=how)


@pytest.mark.parametrize("options, why", [
    ({"balance": "header:"}, "header:.*not a way to balance"),
    ({"balance": "cookie:a b"}, "not a way to balance"),
    ({"balance": "best"}, "not a way to balance"),
    ({"sticky": "a b"}, "not a valid name for a cookie"),
    ({"sticky": "a=b;c"}, "not a valid name for a cookie")])
def test_what_names_nothing_is_refused(daemon, options, why):
    with pytest.raises(Refused, match=why):
        gateway(daemon, backend=["127.0.0.1:1"], **options)


def test_a_client_comes_back_to_its_back(daemon, numbered):
    port = gateway(daemon, *numbered, sticky="at")
    seen = {}
    for _ in range(3):
        body, cookie = ask_with(port)
        value, *rest = cookie.split("; ")
        assert rest == ["Path=/", "HttpOnly", "SameSite=Lax"]
        assert len(value) == len("at=") + 16
        assert not any(each.where.split(":")[1] in value for each in numbered)
        seen[body] = value
    assert len(seen) == 3
    for _ in range(4):
        for body, value in seen.items():
            assert ask_with(port, f"Cookie: x=y; {value}") == (body, None)
    # The backend receives the cookie too.
    assert numbered[0].requests[-1].field("cookie") == [f"x=y; {seen[b'0']}"]
    # When its backend has gone, the client gets another backend and a new cookie.
    numbered[0].close()
    body, cookie = ask_with(port, f"Cookie: {seen[b'0']}")
    assert body != b"0" and cookie.split("; ")[0] == seen[body]
    daemon.cli("backends", "gw", "drain", numbered[1].where)
    assert ask_with(port, f"Cookie: {seen[b'1']}")[0] == b"2"


def test_a_cookie_of_whatever_kind_harms_nothing(daemon, numbered):
    port = gateway(daemon, *numbered, sticky="at")
    for value in ["", "x", "." * 5000, "f" * 16, ("f" * 16 + ".") * 300, "\xff" * 16, "-1",
                  "=;=;at"]:
        _, cookie = ask_with(port, f"Cookie: at={value}")
        assert cookie.startswith("at=") and len(cookie) < 250


def test_backends_of_routes_and_others_keep_their_clients(daemon, numbered):
    one, two, three = numbered
    port = gateway(daemon, one, two, sticky="at",
                   route=[f"path=/r -> {two.where}, {three.where}"])
    _, cookie = ask_with(port)
    jar = cookie.split("; ")[0]
    home = ask_with(port, f"Cookie: {jar}")[0]
    there, cookie = ask_with(port, f"Cookie: {jar}", path="/r")
    if cookie:
        jar = cookie.split("; ")[0]
    for _ in range(4):
        assert ask_with(port, f"Cookie: {jar}") == (home, None)
        assert ask_with(port, f"Cookie: {jar}", path="/r") == (there, None)


def test_one_whose_backend_is_full_waits_for_it(daemon, make_backend):
    gate, other = Gate(), make_backend()
    busy = make_backend(gate)
    port = gateway(daemon, backend=[busy.where + " max=1", other.where], sticky="at",
                   balance="first")
    gate.let()
    _, cookie = ask_with(port)
    visitors = Visitors(port)
    visitors.ask("/0")
    eventually(lambda: gate.now == 1, "it is full")
    answers = []
    waits = threading.Thread(target=lambda: answers.append(
        ask_with(port, f"Cookie: {cookie.split('; ')[0]}", path="/1")))
    waits.start()
    wait_waiting(daemon, 1)
    assert get(port, "/2") == (200, b"ok") and len(other.requests) == 1
    gate.let(2)
    visitors.join()
    waits.join()
    assert answers == [(b"ok", None)] and gate.order == ["/", "/0", "/1"]


def test_by_tls_the_cookie_is_for_tls_alone(daemon, make_backend, authority):
    cert, key = authority.issue("localhost")
    port = gateway(daemon, make_backend(), listen=["https://127.0.0.1:0"], cert=[cert], key=[key],
                   sticky="at")
    got = subprocess.run(["curl", "-s", "-i", "--cacert", authority.ca,
                          f"https://localhost:{port}/"], capture_output=True, text=True,
                         timeout=60).stdout
    assert "SameSite=Lax; Secure" in got


def dial(stack, url):
    made = stack.enter_context(socket.create_connection(("127.0.0.1", port_of(url)), PATIENCE))
    made.settimeout(PATIENCE)
    return made


def test_connections_of_one_client_do_not_pile_up(daemon):
    """A hundred connections from one address: none of three backends gets more
    than 1.25 times its share."""
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=200))
                   for _ in range(3)]
        [url] = daemon.create("proxy", "gw", listen=["tcp://127.0.0.1:0"], balance="source",
                              backend=[f"127.0.0.1:{each.getsockname()[1]}" for each in servers]
                              )["endpoints"]

        def now():
            return sorted(each["now"] for each in daemon.ask("GET", "/v1/runtimes/gw/backends"))
        for number in range(1, 101):
            dial(stack, url)
            eventually(lambda n=number: sum(now()) == n, "it is joined")
            if number == 16:
                assert now() == [0, 0, 16]
        assert max(now()) <= 43 and min(now()) >= 16
