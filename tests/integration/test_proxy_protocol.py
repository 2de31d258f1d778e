"""The PROXY protocol: what a proxy reports about its clients, to strata and from strata."""

import socket
import ssl
import struct
import threading

import pytest

from certificates import client_context
from http_backend import Backend, Wire, ask, client, gateway
from peers import Peers
from strata_daemon import PATIENCE, Refused, eventually
from talker import free_port, port_of

V1 = b"PROXY TCP4 192.0.2.9 198.51.100.7 5000 443\r\n"
V2 = (b"\r\n\r\n\0\r\nQUIT\n\x21\x11" + struct.pack(">H", 12)
      + bytes([192, 0, 2, 9, 198, 51, 100, 7]) + struct.pack(">HH", 5000, 443))
V6 = (b"\r\n\r\n\0\r\nQUIT\n\x21\x21" + struct.pack(">H", 36)
      + socket.inet_pton(socket.AF_INET6, "2001:db8::9")
      + socket.inet_pton(socket.AF_INET6, "2001:db8::7") + struct.pack(">HH", 5000, 443))
LOCAL = b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0"
GET = b"GET / HTTP/1.1\r\nHost: h\r\n\r\n"

NGINX = """daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/error;
events {{}} http {{ {places} access_log off; set_real_ip_from 127.0.0.0/8;
real_ip_header proxy_protocol; server {{ listen 127.0.0.1:{port} proxy_protocol;
location / {{ return 200 "$remote_addr $proxy_protocol_server_port $http_x_forwarded_for"; }} }} }}
"""
HAPROXY = """defaults
  mode tcp
  timeout connect 5s
  timeout client 5s
  timeout server 5s
listen f
  bind 127.0.0.1:{port}
  server s 127.0.0.1:{backend} {sends}
"""


@pytest.fixture
def peers(tmp_path):
    folder = tmp_path / "peers"
    folder.mkdir()
    made = Peers(folder)
    yield made
    made.close()


def exactly(over, count):
    got = b""
    while len(got) < count:
        piece = over.recv(count - len(got))
        assert piece, "it has ended"
        got += piece
    return got


def front(daemon, backend, **options):
    """Makes a raw proxy that expects headers from this machine, and returns its port."""
    [url] = daemon.create("proxy", "raw", **{
        "listen": ["tcp://127.0.0.1:0"], "backend": [backend],
        "proxy_protocol": ["127.0.0.0/8"]} | options)["endpoints"]
    return port_of(url)


@pytest.mark.parametrize("header", [V1, V2])
def test_what_a_header_tells_of_the_client_is_passed_on(daemon, header):
    """The header arrives in one piece with the first bytes, or byte by byte."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(PATIENCE)
        where = f"127.0.0.1:{server.getsockname()[1]}"
        for version, expected in [("v1", V1), ("v2", V2)]:
            port = front(daemon, f"{where} proxy={version}")
            for pieces in [[header + b"hello"], [bytes([each]) for each in header + b"hello"]]:
                with socket.create_connection(("127.0.0.1", port)) as one:
                    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    for each in pieces:
                        one.sendall(each)
                    with server.accept()[0] as got:
                        got.settimeout(PATIENCE)
                        assert exactly(got, len(expected) + 5) == expected + b"hello"
                        got.sendall(b"back")
                    assert exactly(one, 4) == b"back"
            daemon.remove("raw")


def test_the_client_that_is_told_of_is_the_client_of_http(daemon, make_backend):
    backend = make_backend()
    port = gateway(daemon, backend, proxy_protocol=["127.0.0.1"])
    told = [(V1, "192.0.2.9"), (V2, "192.0.2.9"), (V6, "2001:db8::9"), (LOCAL, "127.0.0.1"),
            (b"PROXY UNKNOWN\r\n", "127.0.0.1")]
    for header, address in told:
        with client(port) as wire:
            assert ask(wire, header + GET)[1] == b"ok"
            assert ask(wire, GET)[1] == b"ok"
        assert [each.field("x-forwarded-for") for each in backend.requests[-2:]] == [[address]] * 2


@pytest.mark.parametrize("said", [
    GET, b"PROXY TCP4 1.2.3.4 5.6.7.8 1\r\n", b"PROXY TCP4 " + b"1" * 200,
    V2[:12] + b"\x21\x11\xff\xff", V2[:12] + b"\x31\x11\0\x0c" + V2[16:], b"\x16\x03\x01"])
def test_without_a_header_a_connection_is_closed(daemon, make_backend, said):
    backend = make_backend()
    port = gateway(daemon, backend, proxy_protocol=["127.0.0.1"])
    with client(port) as wire:
        wire.over.sendall(said)
        wire.over.settimeout(PATIENCE)
        try:
            assert wire.over.recv(100) == b""
        except ConnectionResetError:
            pass
    assert backend.connections == 0
    eventually(lambda: daemon.stats("gw")["tls"]["handshakes_failed"] == 1, "it is counted")
    assert "read a PROXY header" in daemon.log()


def test_who_is_not_awaited_to_send_one_is_not_believed(daemon, make_backend):
    backend = make_backend()
    port = gateway(daemon, backend, proxy_protocol=["192.0.2.0/24"])
    with client(port) as wire:
        assert ask(wire, V1 + GET)[0].startswith(b"HTTP/1.1 400 ")
    with client(port) as wire:
        assert ask(wire, GET)[1] == b"ok"
    assert [each.field("x-forwarded-for") for each in backend.requests] == [["127.0.0.1"]]
    with pytest.raises(Refused, match="'10.0.0.0/99'"):
        daemon.create("proxy", "no", listen=["http://127.0.0.1:0"], backend=[backend.where],
                      proxy_protocol=["10.0.0.0/99"])
    with pytest.raises(Refused, match="proxy=v1, proxy=v2, prefer=local nor prefer=zone"):
        daemon.edit("gw", backend=[f"{backend.where} proxy=v3"])


def test_the_header_comes_before_tls_on_both_sides(daemon, authority):
    certificate, key = authority.issue("localhost")
    server_side = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server_side.load_cert_chain(certificate, key)
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(PATIENCE)
        port = front(daemon, f"tls://localhost:{server.getsockname()[1]} proxy=v2",
                     listen=["tls://127.0.0.1:0"], cert=[certificate], key=[key], ca=authority.ca)
        told, rest = [], {}

        def serve():
            with server.accept()[0] as got:
                got.settimeout(PATIENCE)
                told.append(exactly(got, len(V6)))
                with server_side.wrap_socket(got, server_side=True) as inner:
                    rest["said"] = inner.recv(100)
                    inner.sendall(b"back")

        serving = threading.Thread(target=serve)
        serving.start()
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as plain:
            plain.sendall(V6)
            trusting = client_context(authority.ca)
            with trusting.wrap_socket(plain, server_hostname="localhost") as one:
                one.sendall(b"hello")
                assert one.recv(100) == b"back"
        serving.join(PATIENCE)
    assert told == [V6] and rest["said"] == b"hello"


def test_a_connection_to_a_backend_is_for_one_client(daemon):
    """Kept connections are reused, but only for the client that the backend was told about."""
    told = []

    class Knowing(Backend):
        def serve(self, one):
            wire = Wire(one)
            told.append(wire.until(b"\r\n").decode())
            while True:
                try:
                    self.requests.append((told[-1], wire.request().start))
                except (OSError, ValueError):
                    break
                one.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    backend = Knowing()
    port = gateway(daemon, backend, backend=[f"{backend.where} proxy=v1"])
    with client(port) as ann, client(port) as bob:
        for _ in range(3):
            assert ask(ann, GET)[1] == b"ok"
            assert ask(bob, GET)[1] == b"ok"
        ends = [each.over.getsockname() for each in (ann, bob)]
    backend.close()
    assert told == [f"PROXY TCP4 127.0.0.1 127.0.0.1 {end[1]} {port}" for end in ends]


def test_haproxy_tells_strata_and_strata_tells_nginx(daemon, peers):
    inner = peers.nginx("nginx", NGINX, port=free_port())
    for version in ("v1", "v2"):
        port = gateway(daemon, backend=[f"127.0.0.1:{inner} proxy={version}"], check="http",
                       check_interval=0.2, proxy_protocol=["127.0.0.1"])
        for sends in ("send-proxy", "send-proxy-v2"):
            outer = peers.haproxy(f"{version}-{sends}", HAPROXY, port=free_port(), backend=port,
                                  sends=sends)
            with socket.create_connection(("127.0.0.1", outer), timeout=PATIENCE,
                                          source_address=("127.0.0.5", 0)) as over:
                _, body = ask(Wire(over), GET)
            assert body.decode() == f"127.0.0.5 {outer} 127.0.0.5"
        # Checks also begin with a header, or nginx would refuse them.
        [known] = daemon.ask("GET", "/v1/runtimes/gw/backends")
        assert known["state"] == "ready"
        daemon.remove("gw")


def test_a_cache_protects_itself_from_those_that_a_proxy_tells_of(daemon):
    [url] = daemon.create("cache", "c", listen=["tcp://0.0.0.0:0"],
                          proxy_protocol=["127.0.0.1"])["endpoints"]
    for header, answer in [(V1, b"-DENIED"), (b"PROXY TCP4 127.0.0.9 127.0.0.1 1 2\r\n", b"+PONG")]:
        with socket.create_connection(("127.0.0.1", port_of(url)), timeout=PATIENCE) as one:
            one.sendall(header + b"*1\r\n$4\r\nPING\r\n")
            assert one.recv(1000).startswith(answer)


def test_by_a_unix_socket_too(daemon, make_backend, tmp_path):
    backend = make_backend()
    path = tmp_path / "front"
    daemon.create("proxy", "gw", listen=[f"unix://{path}"], backend=[backend.where], protocol="http",
                  proxy_protocol=["unix"])
    with socket.socket(socket.AF_UNIX) as one:
        one.settimeout(PATIENCE)
        one.connect(str(path))
        assert ask(Wire(one), V1 + GET)[1] == b"ok"
    assert backend.requests[0].field("x-forwarded-for") == ["192.0.2.9"]
