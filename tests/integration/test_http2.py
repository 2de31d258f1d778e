"""HTTP/2 on a server's port: curl, nghttp and h2load, and hostile clients."""

import socket
import struct
import subprocess

import pytest

from certificates import Authority
from strata_daemon import PATIENCE, eventually
from talker import Talker, address_of, port_of

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, CONTINUATION = 0, 1, 3, 4, 6, 7, 9
END_STREAM, END_HEADERS = 1, 4
ENHANCE_YOUR_CALM = 11
GET = b"\x82\x87\x84\x41\x01x"  # HPACK: GET https://x/
POST = b"\x83\x87\x84\x41\x01x"


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


OPENING = PREFACE + frame(SETTINGS, 0, 0)


def http_url(url):
    return url.replace("tcp://", "http://").replace("*", "127.0.0.1") + "/"


def curl(*words, prior=True):
    how = ["--http2-prior-knowledge"] if prior else []
    done = subprocess.run(["curl", "-sS", "-m", str(PATIENCE), *how, *words], capture_output=True,
                          text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def status_of(*words, **more):
    return curl("-o", "/dev/null", "-w", "%{http_code} %{http_version}", *words, **more)


class Raw:
    """A client that sends handmade frames."""

    def __init__(self, url):
        family, kind, address = address_of(url)
        self.socket = socket.socket(family, kind)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(address)
        self.held = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, *pieces):
        """Sends frames. Returns False if the server no longer accepts them."""
        try:
            self.socket.sendall(b"".join(pieces))
            return True
        except OSError:
            return False

    def frames(self):
        """Yields each received frame until the server closes the connection."""
        while True:
            while len(self.held) >= 9 and len(self.held) >= 9 + self.length():
                end = 9 + self.length()
                kind, flags, stream = struct.unpack(">BBI", self.held[3:9])
                yield kind, flags, stream, self.held[9:end]
                self.held = self.held[end:]
            try:
                more = self.socket.recv(65536)
            except ConnectionResetError:
                return
            if not more:
                return
            self.held += more

    def length(self):
        return int.from_bytes(self.held[:3], "big")

    def farewell(self):
        """Returns the code of the server's GOAWAY."""
        codes = [int.from_bytes(payload[4:8], "big")
                 for kind, _, _, payload in self.frames() if kind == GOAWAY]
        assert len(codes) == 1, codes
        return codes[0]


def test_curl_posts_and_is_heard(daemon):
    [url] = daemon.server("chat", http_messages=True)
    with Talker(url) as raw:
        daemon.wait_connections("chat", 1)
        assert status_of("-d", "by http/2", http_url(url)) == "204 2"
        assert raw.hear() == b"by http/2"
        assert status_of("-d", "by http/1", http_url(url), prior=False) == "204 1.1"
        assert raw.hear() == b"by http/1"
    assert status_of(http_url(url) + "nothing") == "404 2"
    assert "nothing at /no where" in curl(http_url(url) + "no%20where")
    assert status_of("-I", http_url(url)) == "404 2"


def test_a_long_post_is_taken_to_the_limit_and_no_further(daemon):
    [url] = daemon.server("chat", http_messages=True, max_message=500_000, framing="raw")
    with Talker(url) as raw:
        daemon.wait_connections("chat", 1)
        body = "x" * 400_000
        done = subprocess.run(
            ["curl", "-sS", "--http2-prior-knowledge", "-o", "/dev/null", "-w", "%{http_code}",
             "--data-binary", "@-", http_url(url)],
            input=body, capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert done.stdout == "204", done.stderr
        heard = 0
        while heard < len(body):
            heard += len(raw.socket.recv(65536))
        done = subprocess.run(
            ["curl", "-sS", "--http2-prior-knowledge", "-o", "/dev/null", "-w", "%{http_code}",
             "--data-binary", "@-", http_url(url)],
            input=body * 2, capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert done.stdout == "413", done.stderr


def test_event_streams_beside_posts_on_one_port(daemon):
    [url] = daemon.server("chat", http_messages=True)
    with subprocess.Popen(
            ["curl", "-sN", "--http2-prior-knowledge", "-H", "Accept: text/event-stream",
             http_url(url)], stdout=subprocess.PIPE, text=True) as events:
        try:
            assert events.stdout.readline() == ": hello\n"
            for number in range(3):
                assert status_of("-d", f"message {number}", http_url(url)) == "204 2"
            heard = []
            while len(heard) < 3:
                line = events.stdout.readline().strip()
                if line.startswith("data: "):
                    heard.append(line)
            assert heard == [f"data: message {number}" for number in range(3)]
        finally:
            events.kill()
    daemon.wait_connections("chat", 0)


def test_nghttp_asks_for_many_things_at_once(daemon):
    [url] = daemon.server("chat", http_messages=True)
    many = [http_url(url) + str(number) for number in range(50)]
    done = subprocess.run(["nghttp", "-nv", *many], capture_output=True, text=True,
                          timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(":status: 404") == len(many), done.stdout


def test_h2load_fails_with_no_request(daemon):
    [url] = daemon.server("chat")
    done = subprocess.run(["h2load", "-n", "1000", "-c", "4", "-m", "32", http_url(url)],
                          capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert "1000 total, 1000 started, 1000 done" in done.stdout, done.stdout + done.stderr
    assert "0 errored, 0 timeout" in done.stdout, done.stdout
    assert "1000 4xx" in done.stdout, done.stdout


@pytest.mark.parametrize("scheme", ["tls", "https"])
def test_tls_chooses_the_protocol(daemon, tmp_path, scheme):
    authority = Authority(tmp_path / "tls")
    certificate, key = authority.issue("localhost", "127.0.0.1")
    [url] = daemon.server("s", listen=[f"{scheme}://127.0.0.1:0"], cert=[certificate], key=[key],
                          http_messages=True)
    to = f"https://127.0.0.1:{port_of(url)}/"
    trust = ["--cacert", str(authority.ca), "-d", "x", to]
    assert status_of("--http2", *trust, prior=False) == "204 2"
    assert status_of("--http1.1", *trust, prior=False) == "204 1.1"
    assert status_of("--no-alpn", *trust, prior=False) == "204 1.1"


def resets():
    for number in range(3000):
        stream = 2 * number + 1
        yield (frame(HEADERS, END_HEADERS | END_STREAM, stream, GET)
               + frame(RST_STREAM, 0, stream, b"\0\0\0\x08"))


def continuations():
    yield frame(HEADERS, END_STREAM, 1, GET)
    for _ in range(3000):
        yield frame(CONTINUATION, 0, 1, b"\x00\x01a\x01b" * 100)


def pings():
    for _ in range(5000):
        yield frame(PING, 0, 0, b"12345678")


def settings():
    for _ in range(5000):
        yield frame(SETTINGS, 0, 0, b"\0\x03\0\0\0\x64")


def empty_data():
    yield frame(HEADERS, END_HEADERS, 1, POST)
    for _ in range(5000):
        yield frame(DATA, 0, 1)


def wrong_bodies():
    for number in range(3000):
        stream = 2 * number + 1
        yield (frame(HEADERS, END_HEADERS, stream, POST + b"\x0f\x0d\x011")
               + frame(DATA, 0, stream, b"too long"))


def bomb():
    large = b"\x40\x01y\x7f\xb9\x16" + b"z" * 3000
    yield frame(HEADERS, END_HEADERS | END_STREAM, 1, GET + large + b"\xbe" * 10_000)


FLOODS = [resets, continuations, pings, settings, empty_data, wrong_bodies, bomb]


@pytest.mark.parametrize("flood", FLOODS, ids=lambda each: each.__name__)
def test_a_flood_ends_its_connection_alone(daemon, flood):
    [url] = daemon.server("chat", http_messages=True)
    with subprocess.Popen(
            ["curl", "-sN", "--http2-prior-knowledge", "-H", "Accept: text/event-stream",
             http_url(url)], stdout=subprocess.PIPE, text=True) as other:
        try:
            assert other.stdout.readline() == ": hello\n"
            with Raw(url) as hostile:
                hostile.send(OPENING)
                hostile.send(*flood())
                assert hostile.farewell() == ENHANCE_YOUR_CALM
            eventually(lambda: daemon.stats("chat")["http2"]["floods"] == 1, "it is counted")
            assert status_of("-d", "still here", http_url(url)) == "204 2"
            lines = iter(other.stdout.readline, "")
            assert "data: still here\n" in lines
        finally:
            other.kill()


def test_memory_stays_where_it_was_under_floods_that_do_not_read(daemon):
    [url] = daemon.server("chat", http_messages=True)
    body = frame(HEADERS, END_HEADERS, 1, POST) + frame(DATA, 0, 1, b"x" * 16000) * 4

    def flood_with_all():
        for flood in FLOODS:
            with Raw(url) as hostile:
                hostile.send(OPENING, body if flood is not resets else b"")
                hostile.send(*(each for each in flood()))
        daemon.wait_connections("chat", 0)

    # The allocator keeps what the first rounds take, and a sanitizer's also keeps freed memory.
    for _ in range(3):
        flood_with_all()
    before = daemon.resident_mib()
    for _ in range(5):
        flood_with_all()
    assert daemon.resident_mib() < before + 20
    assert status_of(http_url(url)) == "404 2"


def test_bodies_over_the_limit_are_not_kept(daemon):
    [url] = daemon.server("chat", http_messages=True, max_message=1000)
    assert status_of(http_url(url)) == "404 2"
    before = daemon.resident_mib()
    with Raw(url) as hostile:
        hostile.send(OPENING)
        for number in range(100):
            stream = 2 * number + 1
            hostile.send(frame(HEADERS, END_HEADERS, stream, POST),
                         *[frame(DATA, 0, stream, b"x" * 16000)] * 3)
        answered = set()
        for kind, _, stream, _ in hostile.frames():
            answered |= {stream} if kind == HEADERS else set()
            if len(answered) == 100:
                break
    assert daemon.resident_mib() < before + 20
    assert status_of(http_url(url)) == "404 2"


@pytest.mark.parametrize("start", [
    PREFACE[:-1] + b"x", PREFACE + b"nonsense that is no frame", PREFACE + frame(PING, 0, 0, b"x"),
    OPENING + frame(DATA, 0, 1, b"of no stream"), OPENING + frame(HEADERS, 4, 2, GET),
    OPENING + frame(HEADERS, 4, 1, b"\xff" * 20), OPENING + b"\xff" * 9,
    OPENING + frame(SETTINGS, 0, 0, b"\0\x04\xff\xff\xff\xff"),
])
def test_what_is_no_http2_ends_and_others_go_on(daemon, start):
    [url] = daemon.server("chat", protocol="http")
    with Raw(url) as hostile:
        hostile.send(start + b"\0" * 100)
        hostile.socket.shutdown(socket.SHUT_WR)
        assert len(list(hostile.frames())) < 20
    assert status_of(http_url(url)) == "404 2"
