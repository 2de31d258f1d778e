"""The proxy joins each connection of a client with one to a backend."""

import contextlib
import hashlib
import random
import socket
import struct
import subprocess
import threading
import time

import pytest

from certificates import client_context, connect
from resp_wire import Wire
from strata_daemon import PATIENCE, Refused, eventually
from talker import Talker, free_port, port_of

ANY = ["tcp://127.0.0.1:0"]


def proxy(daemon, name="gw", **options):
    """Makes a running proxy and returns its endpoint."""
    [url] = daemon.create("proxy", name, **{"listen": ANY} | options)["endpoints"]
    return url


def address(url):
    return ("127.0.0.1", port_of(url))


@contextlib.contextmanager
def listening():
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(PATIENCE)
        yield server, f"127.0.0.1:{server.getsockname()[1]}"


class Named:
    """A backend that sends its name to each client."""

    def __init__(self, name, port=0):
        self.name = name
        self.server = socket.create_server(("127.0.0.1", port))
        self.where = f"127.0.0.1:{self.server.getsockname()[1]}"
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                with self.server.accept()[0] as one:
                    one.sendall(self.name.encode() + b"\n")

    def close(self):
        self.server.shutdown(socket.SHUT_RDWR)
        self.server.close()
        self.thread.join()


@pytest.fixture
def named():
    """Three named backends."""
    all_of_them = [Named(name) for name in "abc"]
    yield all_of_them
    for each in all_of_them:
        each.close()


def who_answers(url, count):
    answers = []
    for _ in range(count):
        with Talker(url) as one:
            answers.append(one.hear().decode())
    return answers


def test_a_port_of_a_runtime_of_an_address_and_of_a_path(daemon, tmp_path):
    [tcp] = daemon.server("by-address")
    daemon.server("by-name")
    daemon.server("by-path", listen=[f"unix://{tmp_path}/door"])
    for name, where in [("by-address", tcp.removeprefix("tcp://")), ("by-name", "by-name"),
                        ("by-path", f"unix://{tmp_path}/door")]:
        url = proxy(daemon, f"to-{name}", backend=[where])
        with Talker(url) as ann, Talker(url) as bob:
            daemon.wait_connections(name, 2)
            ann.say(b"hello")
            assert bob.hear() == b"hello"
            bob.say(b"hello back")
            assert ann.hear() == b"hello back"
        for of in (name, f"to-{name}"):
            eventually(lambda of=of: daemon.stats(of)["connections"]["now"] == 0, "both have left")
        seen = daemon.stats(f"to-{name}")
        assert seen["bytes"] == {"in": 17, "out": 17}
        assert seen["connections"]["total"] == 2


def test_a_proxy_before_a_cache(daemon):
    daemon.create("cache", "db", listen=ANY)
    wire = Wire(port_of(proxy(daemon, backend=["db"])))
    assert wire.ask("SET", "k", "v") == b"+OK\r\n"
    assert wire.ask("GET", "k") == b"$1\r\nv\r\n"


def test_backends_take_turns_by_their_weight(daemon, named):
    url = proxy(daemon, backend=[f"{named[0].where} weight=3", named[1].where])
    answers = who_answers(url, 16)
    assert answers.count("a") == 12 and answers.count("b") == 4
    assert "aaaa" not in "".join(answers)


def test_the_first_is_first_and_a_backup_is_last(daemon, named):
    a, b, c = named
    url = proxy(daemon, backend=[f"{a.where} backup", b.where, c.where], balance="first")
    assert who_answers(url, 3) == ["b"] * 3
    b.close()
    assert who_answers(url, 3) == ["c"] * 3
    c.close()
    assert who_answers(url, 3) == ["a"] * 3
    assert len([line for line in daemon.log().splitlines() if "is not used for" in line]) == 2
    named[1:] = [Named(each.name, int(each.where.split(":")[1])) for each in (b, c)]
    daemon.edit("gw", rest=0.05)
    eventually(lambda: who_answers(url, 1) == ["b"], "it is there again", within=20)


def test_one_address_has_one_backend(daemon, named):
    url = proxy(daemon, backend=[each.where for each in named], balance="source")
    first = set(who_answers(url, 5))
    assert len(first) == 1
    others = set()
    for number in range(2, 40):
        with socket.create_connection(address(url), source_address=(f"127.0.0.{number}", 0)) as one:
            others.add(one.recv(1))
    assert others == {b"a", b"b", b"c"}


def break_off(one):
    one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    one.close()


def test_the_one_with_the_fewest_is_next(daemon):
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(listening()) for _ in range(2)]
        url = proxy(daemon, backend=[where for _, where in servers], balance="least")

        def begin(count, at):
            """Returns `count` clients, all of which reach the backend `at`."""
            clients = [stack.enter_context(socket.create_connection(address(url)))
                       for _ in range(count)]
            backends = [stack.enter_context(servers[at][0].accept()[0]) for _ in range(count)]
            return clients, backends

        begun = [stack.enter_context(socket.create_connection(address(url))) for _ in range(6)]
        taken = [[stack.enter_context(server.accept()[0]) for _ in range(3)]
                 for server, _ in servers]
        for each in begun:
            each.sendall(b"x")
        for each in taken[0] + taken[1]:
            assert each.recv(1) == b"x"  # they are joined: a reset is not a failed connection
        for each in taken[0][:2]:
            break_off(each)  # their clients are reset with them
        eventually(lambda: daemon.stats("gw")["connections"]["now"] == 4, "two are gone")
        begin(2, 0)
        assert len(begun) == 6 and daemon.stats("gw")["connections"]["now"] == 6


def test_without_any_backend_the_client_is_told_and_the_log_says_why(daemon):
    gone = f"127.0.0.1:{free_port()}"
    url = proxy(daemon, backend=[gone])
    with socket.create_connection(address(url)) as one:
        with pytest.raises(ConnectionResetError):
            one.recv(1)
    eventually(lambda: "found no backend" in daemon.log(), "the log has it")
    assert gone in daemon.log() and "Connection refused" in daemon.log()


def test_one_direction_ends_without_the_other(daemon):
    with listening() as (server, where):
        with socket.create_connection(address(proxy(daemon, backend=[where]))) as client:
            backend = server.accept()[0]
            client.sendall(b"question")
            client.shutdown(socket.SHUT_WR)
            assert backend.makefile("rb").read() == b"question"
            backend.sendall(b"a long answer")
            assert client.recv(100) == b"a long answer"
            backend.close()
            assert client.recv(1) == b""
        with socket.create_connection(address(daemon.show("gw")["endpoints"][0])) as client:
            backend = server.accept()[0]
            backend.sendall(b"greeting")
            backend.shutdown(socket.SHUT_WR)
            assert client.makefile("rb").read() == b"greeting"
            client.sendall(b"and goodbye")
            assert backend.recv(100) == b"and goodbye"
            client.close()
            assert backend.recv(1) == b""
            backend.close()
    eventually(lambda: daemon.stats("gw")["connections"]["now"] == 0, "nothing is left")


@pytest.mark.parametrize("first", ["client", "backend"])
def test_a_reset_is_passed_on(daemon, first):
    with listening() as (server, where):
        client = socket.create_connection(address(proxy(daemon, backend=[where])))
        backend = server.accept()[0]
        client.sendall(b"x")
        assert backend.recv(1) == b"x"
        breaks, hears = (client, backend) if first == "client" else (backend, client)
        break_off(breaks)
        hears.settimeout(PATIENCE)
        with pytest.raises(ConnectionResetError):
            hears.recv(1)
        hears.close()
    eventually(lambda: daemon.stats("gw")["connections"]["now"] == 0, "nothing is left")


def test_a_side_that_reads_slowly_holds_the_other_backend(daemon):
    with listening() as (server, where):
        url = proxy(daemon, backend=[where], max_buffer=64 << 10)
        with socket.create_connection(address(url)) as client:
            backend = server.accept()[0]
            client.setblocking(False)
            sent, block = 0, bytes(1 << 20)
            deadline = time.monotonic() + 5
            quiet = 0
            while quiet < 20 and time.monotonic() < deadline:
                try:
                    sent += client.send(block)
                    quiet = 0
                except BlockingIOError:
                    quiet += 1
                    time.sleep(0.02)
            assert sent < 40 << 20, "it has taken what nobody reads"
            client.setblocking(True)
            reader = threading.Thread(target=client.shutdown, args=(socket.SHUT_WR,))
            reader.start()
            received = sum(iter(lambda: len(backend.recv(1 << 20)), 0))
            reader.join()
            assert received == sent
            backend.close()


def talk_randomly(one, rng, done):
    """Sends random pieces with pauses, then ends its direction, and reads to the end.
    Both results are digests."""
    said, heard = hashlib.sha256(), hashlib.sha256()

    def say():
        for _ in range(rng.randrange(12)):
            piece = rng.randbytes(rng.choice([1, 100, 5000, 200_000]))
            said.update(piece)
            one.sendall(piece)
            if rng.random() < 0.2:
                time.sleep(rng.random() / 50)
        one.shutdown(socket.SHUT_WR)

    speaker = threading.Thread(target=say)
    speaker.start()
    while piece := one.recv(rng.choice([100, 65536])):
        heard.update(piece)
    speaker.join()
    one.close()
    done.append((said.hexdigest(), heard.hexdigest()))


@pytest.mark.parametrize("threads", [1, 2])
def test_every_byte_arrives_in_order(daemon, threads):
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    rng = random.Random(seed)
    with listening() as (server, where):
        url = proxy(daemon, backend=[where], threads=threads)
        clients, backends, running = [], [], []

        def begin(one, into):
            running.append(threading.Thread(target=talk_randomly,
                                            args=(one, random.Random(rng.random()), into)))
            running[-1].start()

        for _ in range(60):
            begin(socket.create_connection(address(url), timeout=PATIENCE), clients)
            begin(server.accept()[0], backends)
        for each in running:
            each.join()
    assert len(clients) == 60
    assert sorted(clients) == sorted((heard, said) for said, heard in backends)


def test_tls_ends_and_begins_at_the_proxy(daemon, authority):
    certificate, key = authority.issue("localhost")
    own = {"cert": [certificate], "key": [key]}
    daemon.server("plain")
    front = proxy(daemon, "ends", listen=["tls://127.0.0.1:0"], backend=["plain"], **own)
    with (connect(front, client_context(authority.ca)) as ann,
          connect(front, client_context(authority.ca)) as bob):
        daemon.wait_connections("plain", 2)
        ann.say(b"sealed")
        assert bob.hear() == b"sealed"
    [inner] = daemon.server("inner", listen=["tls://127.0.0.1:0"], mode="echo", **own)
    begins = proxy(daemon, "begins", ca=authority.ca,
                   backend=[f"tls://localhost:{port_of(inner)}"])
    with Talker(begins) as ann:
        ann.say(b"over TLS")
        assert ann.hear() == b"over TLS"
    with pytest.raises(Refused, match="no endpoint carries TLS to backends"):
        proxy(daemon, "none", backend=["127.0.0.1:1"], ca=authority.ca)


def test_backends_change_while_it_runs(daemon, named):
    a, b, _ = named
    with listening() as (server, where):
        url = proxy(daemon, backend=[where])
        with socket.create_connection(address(url)) as stays:
            backend = server.accept()[0]
            daemon.edit("gw", backend=[a.where])
            assert who_answers(url, 3) == ["a"] * 3
            daemon.edit("gw", backend=[b.where, a.where])
            assert sorted(set(who_answers(url, 4))) == ["a", "b"]
            stays.sendall(b"I am still here")
            assert backend.recv(100) == b"I am still here"
            backend.close()


def test_an_idle_connection_ends(daemon):
    with listening() as (server, where):
        url = proxy(daemon, backend=[where], idle_timeout=0.3)
        with socket.create_connection(address(url)) as client:
            backend = server.accept()[0]
            for _ in range(6):
                time.sleep(0.1)
                client.sendall(b"x")
            assert backend.recv(100)
            client.settimeout(PATIENCE)
            with pytest.raises(ConnectionResetError):
                client.recv(1)
            backend.close()


def test_curl_and_websockets_pass(daemon, tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "page").write_text("the page")
    daemon.server("web", http=str(tmp_path / "site"))
    url = proxy(daemon, backend=["web"]).replace("tcp://", "http://")
    got = subprocess.run(["curl", "-s", f"{url}/page"], capture_output=True, timeout=PATIENCE)
    assert got.stdout == b"the page"
    daemon.create("client", "page", connect=url.replace("http://", "ws://"))
    daemon.wait_connections("web", 1)


@pytest.mark.parametrize("options, why", [
    ({"listen": []}, "no address to listen on"), ({}, "it has no backend"),
    ({"backend": ["gw"]}, "the proxy itself"), ({"backend": ["127.0.0.1:0"]}, "0 is not a port"),
    ({"backend": ["127.0.0.1:1 weight=0"]}, "neither weight=N"),
    ({"backend": ["127.0.0.1:1 nonsense"]}, "neither weight=N"), ({"backend": [" "]}, "no address"),
    ({"backend": ["http://a/"]}, "takes HTTP"),
    ({"backend": ["*:1"]}, "all addresses"),
])
def test_what_makes_no_sense_is_refused_with_the_reason(daemon, options, why):
    with pytest.raises(Refused, match=why):
        proxy(daemon, **options)
    assert daemon.names() == []


def test_nobody_talks_to_a_proxy_itself(daemon):
    daemon.create("proxy", "gw", start=False, listen=["tcp://127.0.0.1:0"], backend=["127.0.0.1:1"])
    done = daemon.run("start", "-i", "gw")
    assert done.returncode == 2 and "which only forwards" in done.stderr
    assert daemon.show("gw")["state"] == "created"


def test_send_says_that_a_proxy_has_nothing_to_say(daemon):
    daemon.server("s")
    proxy(daemon, backend=["s"])
    with pytest.raises(Refused, match="only a server or a client has this operation"):
        daemon.send("gw", b"hello")
