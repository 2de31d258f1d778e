"""The proxy's routes: which requests go to which backend."""

import pytest

from http_backend import ask, client, gateway, get
from strata_daemon import Refused


def named(make_backend, name):
    """Returns a backend that answers with its name and the requested target."""
    def answer(wire, asked):
        body = f"{name} {asked.start.split()[1]}".encode()
        wire.over.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
    return make_backend(answer)


def get_of(port, host, path):
    with client(port) as wire:
        head, body = ask(wire, f"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        return int(head.split()[1]), body.decode()


def test_the_first_route_that_matches_decides(daemon, make_backend):
    api, old, rest = (named(make_backend, name) for name in ("api", "old", "rest"))
    port = gateway(daemon, rest, route=[
        f"host=api.example.com path=/v1/* -> {api.where} strip=/v1",
        f"path=/old/* -> {old.where}", f"path=/old/never -> {api.where}"])
    assert get_of(port, "api.example.com", "/v1/users?a=b") == (200, "api /users?a=b")
    assert get_of(port, "API.example.com:8080", "/v1") == (200, "api /")
    assert get_of(port, "api.example.com", "/v2/users") == (200, "rest /v2/users")
    assert get_of(port, "other", "/v1/users") == (200, "rest /v1/users")
    assert get_of(port, "other", "/old/never") == (200, "old /old/never")


def test_a_route_answers_by_itself(daemon, make_backend):
    rest = named(make_backend, "rest")
    port = gateway(daemon, rest, route=["path=/admin/* -> answer=403",
                                        "path=/docs/* -> redirect=https://h/manual/* answer=301"])
    assert get(port, "/admin/x")[0] == 403
    with client(port) as wire:
        head, _ = ask(wire, b"GET /docs/a?b=c HTTP/1.1\r\nHost: h\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 301 ")
        assert b"Location: https://h/manual/a?b=c\r\n" in head
        assert ask(wire, b"GET /x HTTP/1.1\r\nHost: h\r\n\r\n")[1] == b"rest /x"


@pytest.mark.parametrize("path", ["/admin", "//admin/x", "/./admin/x", "/x/../admin/x",
                                  "/%61dmin/x", "/x/%2e%2e/admin/x", "/%2e%2e/admin"])
def test_no_spelling_of_a_path_comes_past_its_route(daemon, make_backend, path):
    backend = named(make_backend, "rest")
    port = gateway(daemon, backend, route=["path=/admin/* -> answer=403"])
    assert get(port, path)[0] == 403
    assert backend.requests == []


def test_what_no_route_wants_is_not_found(daemon, make_backend):
    port = gateway(daemon, route=[f"path=/a -> {named(make_backend, 'a').where}"])
    assert get(port, "/a") == (200, b"a /a")
    assert get(port, "/b") == (404, b"no route matches this request\n")


def test_routes_change_while_it_runs(daemon, make_backend):
    one, other = (named(make_backend, name) for name in ("one", "other"))
    port = gateway(daemon, route=[f"path=/* -> {one.where}"])
    assert get(port, "/x") == (200, b"one /x")
    daemon.edit("gw", route=[f"path=/* -> {other.where}, {one.where} backup"])
    assert get(port, "/x") == (200, b"other /x")
    other.close()
    assert get(port, "/x") == (200, b"one /x")


@pytest.mark.parametrize("route, why", [
    ("nonsense", "no '->'"), ("path=x -> a", "no slash before it"), ("-> a:1 answer=403", "is "
     "answered here"), ("-> ", "it has no target"), ("path=/* -> 127.0.0.1:0", "0 is not a port"),
    ("path=/* -> gw", "the proxy itself"), ("path=/* -> udp://127.0.0.1:1", "not a stream")])
def test_what_is_no_route_is_refused_with_the_reason(daemon, route, why):
    with pytest.raises(Refused, match=why):
        gateway(daemon, route=[route])
