"""The HTTP proxy: each request of a client goes to a backend, and the answer comes back."""

import asyncio
import contextlib
import hashlib
import random
import socket
import ssl
import subprocess
import threading
import time

import pytest
import websockets

from http_backend import OK, Wire, ask, client, gateway, get
from strata_daemon import PATIENCE, Refused, eventually
from talker import RESET_ON_CLOSE, free_port


def test_a_request_is_passed_on_without_what_is_for_one_connection(daemon, make_backend):
    backend = make_backend()
    with client(gateway(daemon, backend)) as wire:
        head, body = ask(wire, b"GET /a%20b?c=d HTTP/1.1\r\nHost: name:1\r\nX-One: 1\r\n"
                               b"Connection: keep-alive, x-two\r\nX-Two: 2\r\nTE: gzip\r\n"
                               b"Keep-Alive: 5\r\nX-Forwarded-For: 1.2.3.4\r\n"
                               b"Forwarded: for=1.2.3.4\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK") and body == b"ok"
    [seen] = backend.requests
    assert seen.start == "GET /a%20b?c=d HTTP/1.1"
    assert seen.field("host") == ["name:1"] and seen.field("x-one") == ["1"]
    for gone in ["x-two", "te", "keep-alive", "connection", "forwarded"]:
        assert seen.field(gone) == [], gone
    # The field of an untrusted client has no effect.
    assert seen.field("x-forwarded-for") == ["127.0.0.1"]
    assert seen.field("x-forwarded-proto") == ["http"]
    assert seen.field("x-forwarded-host") == ["name:1"]
    assert seen.field("via")[0].startswith("1.1 strata-")


def test_what_a_trusted_client_says_is_believed(daemon, make_backend):
    backend = make_backend()
    with client(gateway(daemon, backend, trust=["127.0.0.0/8"])) as wire:
        ask(wire, b"GET / HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: 1.2.3.4\r\n"
                  b"X-Forwarded-For: 5.6.7.8\r\nX-Forwarded-Proto: https\r\n\r\n")
    [seen] = backend.requests
    assert seen.field("x-forwarded-for") == ["1.2.3.4", "5.6.7.8, 127.0.0.1"]
    assert seen.field("x-forwarded-proto") == ["https"]
    with pytest.raises(Refused, match="'nowhere' is not an IP address"):
        daemon.edit("gw", trust=["nowhere/8"])


def test_an_answer_is_passed_backend_whole(daemon, make_backend):
    backend = make_backend(b"HTTP/1.1 203 Fine\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\nX-A: 1\r\n"
                     b"X-A: 2\r\nConnection: x-b\r\nX-B: 3\r\nTransfer-Encoding: chunked\r\n\r\n"
                     b"3;more=1\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
    with client(gateway(daemon, backend)) as wire:
        for _ in range(2):
            head, body = ask(wire, b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 203 ") and body == b"abcde"
            assert head.lower().count(b"date:") == 1 and b"1970" in head
            assert b"x-a: 1\r\nx-a: 2" in head and b"x-b" not in head
    assert backend.connections == 1


@pytest.mark.parametrize("answer, length", [
    (b"HTTP/1.1 204 No Content\r\n\r\n", None), (b"HTTP/1.1 304 Not Modified\r\n\r\n", None),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 0)])
def test_answers_without_a_body(daemon, make_backend, answer, length):
    backend = make_backend(answer)
    with client(gateway(daemon, backend)) as wire:
        for _ in range(2):
            wire.over.sendall(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            head = wire.until(b"\r\n\r\n").lower()
            assert (b"content-length: 0" in head) == (length == 0), head
    assert backend.connections == 1


def test_a_head_has_the_length_and_no_body(daemon, make_backend):
    backend = make_backend(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    with client(gateway(daemon, backend)) as wire:
        for _ in range(2):
            wire.over.sendall(b"HEAD / HTTP/1.1\r\nHost: h\r\n\r\n")
            assert b"content-length: 1000" in wire.until(b"\r\n\r\n").lower()


def test_an_answer_that_ends_with_its_connection(daemon, make_backend):
    def answer(wire, _):
        wire.over.sendall(b"HTTP/1.1 200 OK\r\n\r\nas long as it goes")
        return False
    with client(gateway(daemon, make_backend(answer))) as wire:
        assert ask(wire, b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")[1] == b"as long as it goes"
        assert ask(wire, b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")[1] == b"as long as it goes"


def test_clients_share_connections_to_a_backend(daemon, make_backend):
    backend = make_backend()
    port = gateway(daemon, backend)
    for _ in range(10):
        assert get(port) == (200, b"ok")
    assert (len(backend.requests), backend.connections) == (10, 1)


def test_many_at_a_time_keep_so_many_connections(daemon, make_backend):
    all_there = threading.Barrier(8)

    def answer(wire, _):
        with contextlib.suppress(threading.BrokenBarrierError):
            all_there.wait(PATIENCE)
        wire.over.sendall(OK)
    backend = make_backend(answer)
    port = gateway(daemon, backend, max_idle=3)
    for _ in range(2):
        threads = [threading.Thread(target=get, args=(port,)) for _ in range(8)]
        [each.start() for each in threads]
        [each.join() for each in threads]
    assert len(backend.requests) == 16
    assert backend.connections == 8 + 5  # three of the first connections were kept


def test_requests_in_a_row_are_answered_in_order(daemon, make_backend):
    def answer(wire, asked):
        if asked.start.startswith("GET /slow"):
            time.sleep(0.05)
        body = asked.start.split()[1].encode()
        wire.over.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
    backends = [make_backend(answer) for _ in range(2)]
    with client(gateway(daemon, *backends)) as wire:
        paths = [f"/slow{n}" if n % 3 == 0 else f"/{n}" for n in range(30)]
        wire.over.sendall("".join(f"GET {each} HTTP/1.1\r\nHost: h\r\n\r\n"
                                  for each in paths).encode())
        assert [wire.answer()[1].decode() for _ in paths] == paths


def echo(wire, asked):
    wire.over.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s"
                      % (len(asked.body), asked.body))


@pytest.mark.parametrize("how", [[], ["-H", "Transfer-Encoding: chunked"],
                                 ["--http2-prior-knowledge"], ["-H", "Expect: 100-continue"]])
def test_bodies_pass_both_ways(daemon, make_backend, tmp_path, how):
    backend = make_backend(echo)
    port = gateway(daemon, backend, max_buffer=65536)
    sent = tmp_path / "sent"
    sent.write_bytes(random.randbytes(5 << 20))
    got = subprocess.run(["curl", "-s", *how, "--data-binary", f"@{sent}",
                          f"http://127.0.0.1:{port}/up"], capture_output=True, timeout=60).stdout
    assert hashlib.sha256(got).digest() == hashlib.sha256(sent.read_bytes()).digest()
    [seen] = backend.requests
    assert seen.field("expect") in ([], ["100-continue"])
    assert daemon.stats("gw")["bytes"]["in"] >= 5 << 20


def test_an_answer_may_come_before_the_request_has_ended(daemon, make_backend):
    server = socket.create_server(("127.0.0.1", 0))
    where = f"127.0.0.1:{server.getsockname()[1]}"
    port = gateway(daemon, backend=[where])
    with server, client(port) as wire:
        wire.over.sendall(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000000\r\n\r\nhalf")
        with server.accept()[0] as backend:
            asked = Wire(backend)
            asked.until(b"\r\n\r\n")
            backend.sendall(b"HTTP/1.1 413 No\r\nContent-Length: 3\r\n\r\nno!")
            head, body = wire.answer()
            assert (head.split()[1], body) == (b"413", b"no!")
            assert b"connection: close" in head.lower()  # the rest of the body would follow


def test_a_backend_that_has_closed_is_noticed_before_it_is_used(daemon, make_backend):
    backend = make_backend()
    port = gateway(daemon, backend)
    for _ in range(20):
        with client(port) as wire:
            # A POST must not be sent twice, so a retry would not hide the failure.
            head, _ = ask(wire, b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx")
            assert head.split()[1] == b"200"
        backend.hang_up()
        eventually(lambda: not backend.open, "it has closed")
        time.sleep(0.02)
    assert backend.connections == 20


def test_a_request_that_may_be_repeated_goes_to_another_backend(daemon, make_backend):
    bad = make_backend(lambda wire, asked: False)  # reads the request, and closes
    good = make_backend()
    port = gateway(daemon, bad, good, balance="first")
    assert get(port) == (200, b"ok")
    assert (len(bad.requests), len(good.requests)) == (1, 1)
    with client(port) as wire:
        head, _ = ask(wire, b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx")
        assert head.split()[1] == b"502"
    assert (len(bad.requests), len(good.requests)) == (2, 1)
    daemon.edit("gw", retries=0)
    assert get(port)[0] == 502


def test_a_backend_that_is_not_there_is_passed_over_for_all_methods(daemon, make_backend):
    good = make_backend(echo)
    port = gateway(daemon, backend=[f"127.0.0.1:{free_port()}", good.where], balance="first")
    with client(port) as wire:
        assert ask(wire, b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbody")[1] \
            == b"body"


def test_why_there_is_no_answer_is_told_by_its_status(daemon, make_backend):
    port = gateway(daemon, backend=[f"127.0.0.1:{free_port()}"])
    status, body = get(port)
    assert (status, body) == (503, b"no backend can be reached\n")
    garbage = make_backend(b"this is not HTTP\r\n\r\n")
    daemon.edit("gw", backend=[garbage.where])
    assert get(port)[0] == 502
    silent = make_backend(lambda wire, asked: None)
    daemon.edit("gw", backend=[silent.where], answer_timeout=0.2)
    status, body = get(port)
    assert (status, body) == (504, b"the backend has not answered in time\n")
    # Strangers do not learn the backends' addresses; the log contains them.
    assert daemon.logged("gw", silent.where)


class Silent:
    """Never answers, and records when the proxy has closed."""

    def __init__(self):
        self.asked, self.left = threading.Semaphore(0), threading.Semaphore(0)

    def __call__(self, wire, _):
        self.asked.release()
        with contextlib.suppress(OSError):
            while wire.over.recv(4096):
                pass
        self.left.release()
        return False


@pytest.mark.parametrize("how", ["close", "reset", "half-close", "post", "h2"])
def test_a_client_that_leaves_is_waited_for_no_more(daemon, make_backend, how):
    backend = Silent()
    port = gateway(daemon, make_backend(backend), answer_timeout=1000, http_body_timeout=1000)
    if how == "h2":
        curl = subprocess.Popen(["curl", "-s", "--http2-prior-knowledge",
                                 f"http://127.0.0.1:{port}/"], stdout=subprocess.DEVNULL)
        assert backend.asked.acquire(timeout=PATIENCE)
        curl.kill()
        curl.wait()
        assert backend.left.acquire(timeout=PATIENCE)
        return
    with client(port) as wire:
        wire.over.sendall(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbody"
                          if how == "post" else b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        assert backend.asked.acquire(timeout=PATIENCE)
        if how == "half-close":
            wire.over.shutdown(socket.SHUT_WR)
            assert backend.left.acquire(timeout=PATIENCE)
            return
        if how == "reset":
            wire.over.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
    assert backend.left.acquire(timeout=PATIENCE)


def test_a_client_that_says_more_while_it_waits_is_answered(daemon, make_backend):
    """The next request arrives while the backend is still working on the first."""
    let = threading.Event()

    def slow(wire, _):
        let.wait(PATIENCE)
        wire.over.sendall(OK)
        return True
    backend = make_backend(slow)
    with client(gateway(daemon, backend)) as wire:
        wire.over.sendall(b"GET /1 HTTP/1.1\r\nHost: h\r\n\r\n")
        eventually(lambda: backend.requests, "the backend has it")
        time.sleep(1)  # by now the proxy watches the connection
        wire.over.sendall(b"GET /2 HTTP/1.1\r\nHost: h\r\n\r\n")
        let.set()
        assert wire.answer()[1] == b"ok" and wire.answer()[1] == b"ok"
    assert [each.start for each in backend.requests] == ["GET /1 HTTP/1.1", "GET /2 HTTP/1.1"]


def test_a_ring_of_proxies_is_noticed(daemon):
    ports = [free_port(), free_port()]
    for name, own, other in [("one", *ports), ("two", *ports[::-1])]:
        daemon.create("proxy", name, listen=[f"http://127.0.0.1:{own}"],
                      backend=[f"127.0.0.1:{other}"])
    assert get(ports[0])[0] == 508


def test_a_websocket_passes(daemon):
    daemon.server("chat", listen=["http://127.0.0.1:0"], mode="echo")
    port = gateway(daemon, backend=["chat"])

    async def talk():
        async with websockets.connect(f"ws://127.0.0.1:{port}/", compression="deflate",
                                      max_size=None) as one:
            for message in ["hello", "x" * 200_000, "ä", "end"]:
                await one.send(message)
                assert await asyncio.wait_for(one.recv(), PATIENCE) == message
    asyncio.run(talk())
    eventually(lambda: daemon.stats("chat")["connections"]["now"] == 0, "both ends have gone")


def test_tls_ends_at_the_front_and_begins_at_the_backend(daemon, make_backend, authority):
    cert, key = authority.issue("localhost")
    secure = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    secure.load_cert_chain(cert, key)
    backend = make_backend(secure=secure)
    port = gateway(daemon, listen=["https://127.0.0.1:0"], cert=[cert], key=[key],
                   ca=authority.ca,
                   backend=["https://" + backend.where.replace("127.0.0.1", "localhost")])
    got = subprocess.run(["curl", "-s", "--http2", "--cacert", authority.ca, "-w",
                          "%{http_version}", f"https://localhost:{port}/"],
                         capture_output=True, text=True, timeout=60)
    assert got.stdout == "ok2", got
    [seen] = backend.requests
    assert seen.field("x-forwarded-proto") == ["https"]


def test_a_stop_waits_for_answers_that_are_under_way(daemon, make_backend):
    goes_on = threading.Event()

    def answer(wire, _):
        wire.over.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nha")
        goes_on.wait(PATIENCE)
        wire.over.sendall(b"lf")
    port = gateway(daemon, make_backend(answer))
    with client(port) as wire:
        wire.over.sendall(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        wire.until(b"\r\n\r\n")
        stopping = threading.Thread(target=daemon.act, args=("gw", "stop"))
        stopping.start()
        time.sleep(0.1)
        goes_on.set()
        assert wire.take(4) == b"half"
        stopping.join()


def test_backends_change_while_requests_come(daemon, make_backend):
    """No request is lost."""
    backends = [make_backend() for _ in range(3)]
    port = gateway(daemon, backends[0])
    over, failed, done = threading.Event(), [], []

    def visit():
        while not over.is_set():
            try:
                done.append(get(port) == (200, b"ok"))
            except OSError as trouble:
                failed.append(trouble)
    visitors = [threading.Thread(target=visit) for _ in range(4)]
    [each.start() for each in visitors]
    for turn in range(60):
        daemon.edit("gw", backend=[backends[turn % 3].where, backends[(turn + 1) % 3].where])
    over.set()
    [each.join() for each in visitors]
    assert failed == [] and len(done) > 20 and all(done)
    assert all(each.requests for each in backends)


def test_raw_fronts_and_backends_of_http_do_not_fit(daemon):
    with pytest.raises(Refused, match="give --protocol http"):
        daemon.create("proxy", "gw", listen=["tcp://127.0.0.1:0"], backend=["http://127.0.0.1:1"])
    daemon.create("proxy", "gw", listen=["tcp://127.0.0.1:0"], protocol="http",
                  backend=["http://127.0.0.1:1"])
    with pytest.raises(Refused, match="the path comes from the request"):
        daemon.edit("gw", backend=["http://127.0.0.1:1/below"])


def test_limits_hold_for_connections_that_were_there_before_an_edit(daemon, make_backend):
    port = gateway(daemon, make_backend(), http_idle_timeout=600, http_max_head=8192)
    long = b"GET / HTTP/1.1\r\nHost: h\r\nX: " + b"x" * 5000 + b"\r\n\r\n"
    with client(port) as wire, client(port) as other:
        for each in (wire, other):
            assert ask(each, long)[1] == b"ok"
        daemon.edit("gw", http_idle_timeout=0.3, http_max_head=4096)
        assert ask(other, long)[0].startswith(b"HTTP/1.1 431 ")
        assert ask(wire, b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")[1] == b"ok"
        assert wire.over.recv(1) == b""
