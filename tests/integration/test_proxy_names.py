"""TLS that passes through a proxy, routed by the requested server name."""

import socket
import ssl

import pytest

from certificates import client_context
from strata_daemon import PATIENCE, Refused
from talker import Talker, port_of


@pytest.fixture
def behind(daemon, authority):
    """Makes servers with certificates of their own, one without TLS, and a proxy before them."""
    def server(name):
        certificate, key = authority.issue(name)
        [url] = daemon.server(name.split(".")[0], listen=["tls://127.0.0.1:0"], mode="echo",
                              cert=[certificate], key=[key])
        return url.removeprefix("tls://")
    [plain] = daemon.server("plain", mode="echo")
    made = daemon.create(
        "proxy", "gw", listen=["tcp://127.0.0.1:0"], backend=[plain.removeprefix("tcp://")],
        handshake_timeout=1,
        route=[f"host=api.example.com -> {server('api.example.com')}",
               f"host=*.example.org -> {server('www.example.org')}"])
    return made["endpoints"][0]


def connect(url, name, authority):
    raw = socket.create_connection(("127.0.0.1", port_of(url)), timeout=PATIENCE)
    return client_context(authority.ca).wrap_socket(raw, server_hostname=name)


@pytest.mark.parametrize("name", ["api.example.com", "API.example.com", "www.example.org"])
def test_a_name_leads_to_its_backend(daemon, behind, authority, name):
    with connect(behind, name, authority) as over:
        over.sendall(b"hello\n")
        assert over.recv(100) == b"hello\n"
    server = name.lower().split(".")[0]
    assert daemon.stats(server)["connections"]["total"] == 1


def test_a_connection_outlives_its_route(daemon, behind, authority):
    with connect(behind, "api.example.com", authority) as over:
        over.sendall(b"hello\n")
        assert over.recv(100) == b"hello\n"
        [_, other] = daemon.show("gw")["options"]["route"]
        daemon.edit("gw", route=[other])
        over.sendall(b"still there\n")
        assert over.recv(100) == b"still there\n"
    daemon.wait_connections("gw", 0)


def test_what_no_route_wants_goes_to_the_backends(daemon, behind, authority):
    with Talker(behind) as ann:
        ann.say(b"no TLS")
        assert ann.hear() == b"no TLS"
    with Talker(behind) as bob:  # silent until the wait is over
        daemon.wait_connections("plain", 1)
        bob.say(b"late")
        assert bob.hear() == b"late"
    for name in ("other.example.com", None):
        with socket.create_connection(("127.0.0.1", port_of(behind)), timeout=PATIENCE) as raw:
            context = ssl.create_default_context()
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            into, out = ssl.MemoryBIO(), ssl.MemoryBIO()
            with pytest.raises(ssl.SSLWantReadError):
                context.wrap_bio(into, out, server_hostname=name).do_handshake()
            raw.sendall(out.read() + b"\n")
            assert raw.recv(1) == b"\x16"  # the line server echoes it
    assert daemon.stats("api")["connections"]["total"] == 0


def test_a_hello_may_come_byte_by_byte(daemon, behind, authority):
    into, out = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = client_context(authority.ca).wrap_bio(into, out, server_hostname="api.example.com")
    with socket.create_connection(("127.0.0.1", port_of(behind)), timeout=PATIENCE) as raw:
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with pytest.raises(ssl.SSLWantReadError):
            tls.do_handshake()
        for byte in out.read():
            raw.sendall(bytes([byte]))
        while True:
            into.write(raw.recv(65536))
            try:
                tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                raw.sendall(out.read())
    assert tls.getpeercert()["subjectAltName"] == (("DNS", "api.example.com"),)


def test_routes_of_names_change_while_it_runs(daemon, behind, authority):
    where = daemon.show("api")["endpoints"][0].removeprefix("tls://")
    daemon.edit("gw", route=[f"host=new.example.com -> {where}"])
    with socket.create_connection(("127.0.0.1", port_of(behind)), timeout=PATIENCE) as raw:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        with context.wrap_socket(raw, server_hostname="new.example.com") as over:
            over.sendall(b"x\n")
            assert over.recv(10) == b"x\n"


@pytest.mark.once
@pytest.mark.parametrize("options, why", [
    ({"route": ["path=/x -> 127.0.0.1:1"]}, "only the name in their TLS handshake"),
    ({"route": ["host=a strip=/x -> 127.0.0.1:1"]}, "is not a condition"),
    ({"route": ["host=a -> answer=403"]}, "only the name in their TLS handshake"),
    ({"route": ["host=a -> udp://127.0.0.1:1"]}, "not a stream"),
    ({"route": ["host=a -> 127.0.0.1:1"], "backend": ["udp://127.0.0.1:1"]}, "has no routes"),
])
def test_what_only_requests_have_is_nothing_to_go_by(daemon, options, why):
    with pytest.raises(Refused, match=why):
        daemon.create("proxy", "gw", **{"listen": ["tcp://127.0.0.1:0"],
                                        "backend": ["127.0.0.1:1"], **options})


@pytest.mark.once
def test_where_tls_ends_here_there_is_no_name_left(daemon, authority):
    certificate, key = authority.issue("localhost")
    with pytest.raises(Refused, match="this proxy ends TLS itself"):
        daemon.create("proxy", "gw", listen=["tls://127.0.0.1:0"], cert=[certificate], key=[key],
                      route=["host=a -> 127.0.0.1:1"])
