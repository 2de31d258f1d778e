"""HTTP/2 to the backends of a proxy, and trailers: what gRPC needs."""

import contextlib
import pathlib
import subprocess
import sys

from concurrent.futures import ThreadPoolExecutor

import h2.errors
import pytest

from http2_backend import Http2Back, ok
from http_backend import ask, client, gateway, get
from peers import Peers
from strata_daemon import PATIENCE, Refused
from talker import free_port

NGINX = """daemon off; user root; worker_processes 1; pid {folder}/pid; error_log {folder}/error;
events {{}} http {{ {places} access_log off;
server {{ listen 127.0.0.1:{port} http2; listen 127.0.0.1:{secure} ssl http2;
ssl_certificate {certificate}; ssl_certificate_key {key};
location / {{ return 200 "$server_protocol $host $request_uri $http_x_forwarded_for $scheme"; }}
location /files/ {{ alias {files}/; }} }} }}
"""

PEERS = pathlib.Path(__file__).parents[1] / "harness" / "grpc_peers.py"


@pytest.fixture
def make_http2_backend():
    with contextlib.ExitStack() as stack:
        yield lambda *how, **more: stack.enter_context(
            contextlib.closing(Http2Back(*how, **more)))


@pytest.fixture
def service():
    """Yields the port of a gRPC server."""
    with subprocess.Popen([sys.executable, PEERS, "serve"], stdout=subprocess.PIPE,
                          text=True) as server:
        yield int(server.stdout.readline())
        server.terminate()


def tried_by_grpc(address, *trusted):
    done = subprocess.run([sys.executable, PEERS, "try", address, *trusted], text=True,
                          capture_output=True, timeout=4 * PATIENCE)
    assert (done.returncode, done.stdout) == (0, "all kinds of calls\n"), done


def test_grpc_passes(daemon, service):
    port = gateway(daemon, backend=[f"127.0.0.1:{service} http2"])
    tried_by_grpc(f"127.0.0.1:{port}")


def test_grpc_passes_by_tls(daemon, service, authority):
    certificate, key = authority.issue("localhost")
    port = gateway(daemon, backend=[f"127.0.0.1:{service} http2"], cert=[certificate], key=[key],
                   listen=["https://127.0.0.1:0"])
    tried_by_grpc(f"localhost:{port}", authority.ca)


@pytest.fixture
def nginx(authority, tmp_path):
    """Runs nginx with HTTP/2 and returns its ports without and with TLS, and a
    folder that it serves."""
    certificate, key = authority.issue("localhost")
    folder, files = tmp_path / "peers", tmp_path / "files"
    folder.mkdir()
    files.mkdir()
    peers = Peers(folder)
    ports = {"port": free_port(), "secure": free_port()}
    peers.nginx("nginx", NGINX, certificate=certificate, key=key, files=files, **ports)
    yield ports["port"], ports["secure"], files
    peers.close()


def test_http1_clients_reach_backends_by_http2(daemon, nginx, authority):
    plain, secure, _ = nginx
    port = gateway(daemon, backend=[f"127.0.0.1:{plain} http2"], check="http", check_interval=0.2)
    assert get(port, "/a%20b?c") == (200, b"HTTP/2.0 h /a%20b?c 127.0.0.1 http")
    daemon.edit("gw", backend=[f"tls://localhost:{secure} http2"])
    daemon.remove("gw")
    port = gateway(daemon, backend=[f"https://localhost:{secure} http2"], ca=authority.ca)
    assert get(port, "/") == (200, b"HTTP/2.0 h / 127.0.0.1 https")
    # Without the word http2, the proxy uses HTTP/1.1, though the backend supports HTTP/2.
    daemon.edit("gw", backend=[f"https://localhost:{secure}"])
    assert get(port, "/") == (200, b"HTTP/1.1 h / 127.0.0.1 https")


def test_large_answers_pass_side_by_side(daemon, nginx):
    plain, _, files = nginx
    content = bytes(range(256)) * 40_000
    (files / "large").write_bytes(content)
    port = gateway(daemon, backend=[f"127.0.0.1:{plain} http2"])
    with client(port) as lazy:
        # A client that does not read its answer does not block other clients.
        lazy.over.sendall(b"GET /files/large HTTP/1.1\r\nHost: h\r\n\r\n")
        with ThreadPoolExecutor(8) as pool:
            for status, body in pool.map(lambda _: get(port, "/files/large"), range(16)):
                assert status == 200 and body == content
        assert lazy.answer()[1] == content


def test_requests_share_connections(daemon, make_http2_backend):
    backend = make_http2_backend(ok)
    port = gateway(daemon, backend=[backend.where])
    for _ in range(5):
        assert get(port) == (200, b"ok")
    assert (backend.connections, len(backend.requests)) == (1, 5)
    assert backend.requests[0]["head"] == backend.requests[0]["head"] | {
        ":method": "GET", ":path": "/", ":scheme": "http", ":authority": "h", "te": "trailers"}
    assert "host" not in backend.requests[0]["head"]


def test_fields_behind_a_body_pass_between_the_versions(daemon, make_backend, make_http2_backend):
    def answer(state, stream, request):
        state.send_headers(stream, [(":status", "200")])
        state.send_data(stream, request["body"])
        state.send_headers(stream, [("sum", "7"), ("set-cookie", "a=b")], end_stream=True)
    newer = make_http2_backend(answer)
    older = make_backend(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: sum\r\n\r\n"
                      b"2\r\nok\r\n0\r\nSum: 7\r\nSet-Cookie: a=b\r\n\r\n")
    for backend in (newer, older):
        port = gateway(daemon, backend=[backend.where])
        with client(port) as wire:
            wire.over.sendall(b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
                              b"2\r\nok\r\n0\r\nMine: 1\r\nHost: other\r\n\r\n")
            wire.until(b"\r\n\r\n")
            assert wire.until(b"0\r\n") == b"2\r\nok\r\n"
            assert wire.until(b"\r\n\r\n").lower() == b"sum: 7"
        daemon.remove("gw")
    assert newer.requests[0]["body"] == b"ok"
    assert newer.requests[0]["trailers"] == {"mine": "1"}


@pytest.mark.parametrize("how", ["reset", "end", "farewell", "none", "endless_head", "garbage"])
def test_backends_that_break_off_are_answered_for(daemon, make_http2_backend, how):
    def answer(state, stream, _request):
        if how == "reset":
            state.reset_stream(stream, h2.errors.ErrorCodes.INTERNAL_ERROR)
        elif how == "farewell":
            state.close_connection()
        elif how == "none":
            return None
        elif how == "endless_head":
            for count in range(40):
                state.send_headers(stream, [(":status", "200")] + [
                    (f"f{count}-{at}", "v" * 4000) for at in range(20)])
        elif how == "garbage":
            state.data_to_send()
            state._data_to_send += b"\xff" * 100
        return False if how == "end" else None
    backend = make_http2_backend(answer)
    port = gateway(daemon, backend=[backend.where], answer_timeout=1)
    status, body = get(port)
    # After a GOAWAY the answer may still arrive while the connection is open.
    expected = {"none": {504}, "farewell": {502, 504}}.get(how, {502})
    assert status in expected, body
    # The proxy continues to work.
    other = make_http2_backend(ok)
    daemon.edit("gw", backend=[other.where])
    assert get(port) == (200, b"ok")


def test_a_body_that_breaks_off_is_no_whole_one(daemon, make_http2_backend):
    def answer(state, stream, _request):
        state.send_headers(stream, [(":status", "200")])
        state.send_data(stream, b"a part")
        state.reset_stream(stream, h2.errors.ErrorCodes.INTERNAL_ERROR)
    port = gateway(daemon, backend=[make_http2_backend(answer).where])
    with client(port) as wire:
        wire.over.sendall(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        with pytest.raises(OSError):
            wire.answer()


def test_a_backend_that_takes_few_at_once_gets_more_connections(daemon, make_http2_backend):
    port_of_backend = make_http2_backend(ok, most=2)
    port = gateway(daemon, backend=[port_of_backend.where])
    with ThreadPoolExecutor(16) as pool:
        assert set(pool.map(lambda _: get(port), range(64))) == {(200, b"ok")}


def test_what_http2_backends_cannot_do_is_told(daemon, make_http2_backend):
    backend = make_http2_backend(ok)
    port = gateway(daemon, backend=[backend.where])
    with client(port) as wire:
        head, _ = ask(wire, b"GET / HTTP/1.1\r\nHost: h\r\nConnection: upgrade\r\n"
                            b"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                            b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 501 ")
    with pytest.raises(Refused, match="takes HTTP"):
        daemon.create("proxy", "raw", listen=["tcp://127.0.0.1:0"], backend=[backend.where])
