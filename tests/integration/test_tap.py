"""strata tap: the traffic of a runtime, live; as text, JSON and a capture file."""

import contextlib
import json
import signal
import subprocess

import pytest
import redis
from http_backend import Backend, gateway
from strata_daemon import BINARY, PATIENCE, Refused, eventually
from talker import Peer, Talker, port_of
from web_talker import WebTalker


def clients_of(daemon, name="s"):
    return daemon.ask("GET", f"/v1/runtimes/{name}/clients")


@contextlib.contextmanager
def tapped(daemon, name="s", query=""):
    """Yields a function that returns the next line; None at the end of the stream."""
    connection = daemon.connect()
    connection.request("GET", f"/v1/runtimes/{name}/tap{query}")
    reply = connection.getresponse()
    assert reply.status == 200, reply.read()

    def take():
        line = reply.readline()
        return json.loads(line) if line else None

    yield take
    connection.close()


def ends(line):
    return line["direction"], line["form"], line["from"], line["to"]


def test_a_message_is_seen_as_it_comes_and_as_it_goes_to_each(daemon):
    [url] = daemon.server("s", protocol="raw")
    with Talker(url) as ann, Talker(url) as bob, Talker(url):
        eventually(lambda: len(clients_of(daemon)) == 3, "they are there")
        shown = {each["address"]: f"#{each['id']}" for each in clients_of(daemon)}
        sender = shown["{}:{}".format(*ann.socket.getsockname())]
        others = set(shown.values()) - {sender}
        with tapped(daemon) as take:
            ann.say(b"hello")
            assert bob.hear() == b"hello"
            came, *went = [take() for _ in range(3)]
        assert ends(came) == ("in", "message", sender, "s")
        assert came["address"] == "{}:{}".format(*ann.socket.getsockname())
        assert (came["protocol"], came["text"], came["size"]) == ("tcp", "hello", 5)
        assert {ends(each) for each in went} == {("out", "message", sender, to) for to in others}
        assert all(each["text"] == "hello" for each in went)


def test_what_the_daemon_sends_comes_from_the_runtime(daemon):
    [url] = daemon.server("s", protocol="raw")
    with Talker(url) as ann, tapped(daemon) as take:
        eventually(lambda: len(clients_of(daemon)) == 1, "it is there")
        daemon.cli("send", "s", "news")
        assert ann.hear() == b"news"
        [shown] = clients_of(daemon)
        assert ends(take()) == ("out", "message", "s", f"#{shown['id']}")


def test_threads_datagrams_websockets_and_bytes_that_are_no_text(daemon):
    stream, datagrams = daemon.server("s", listen=["tcp://127.0.0.1:0", "udp://127.0.0.1:0"],
                                      mode="echo", threads=2)
    with tapped(daemon) as take, Peer(datagrams) as bob, WebTalker(stream) as dan:
        opening = [take(), take()]
        assert [each["form"] for each in opening] == ["request", "answer"]
        assert opening[1]["text"].startswith("HTTP/1.1 101 Switching Protocols\r\n")
        for peer, protocol, said, shown in ((bob, "udp", b"\xff\xfe", ("base64", "//4=")),
                                            (dan, "ws", "hello", ("text", "hello"))):
            peer.say(said)
            assert peer.hear() == said
            lines = [take(), take()]
            assert [each["direction"] for each in lines] == ["in", "out"]
            assert [each["protocol"] for each in lines] == [protocol, protocol]
            assert [each[shown[0]] for each in lines] == [shown[1], shown[1]]


@pytest.mark.parametrize("version", ["--http1.1", "--http2-prior-knowledge"])
def test_heads_of_http_without_credentials(daemon, tmp_path, version):
    (tmp_path / "index.html").write_text("hello")
    [url] = daemon.server("s", http=str(tmp_path), listen=["http://127.0.0.1:0"])
    with tapped(daemon) as take:
        done = subprocess.run(
            ["curl", "-sS", version, "-u", "ann:hunter2", "-H", "X-Other: yes",
             f"http://127.0.0.1:{port_of(url)}/index.html"],
            capture_output=True, text=True, timeout=PATIENCE, check=True)
        assert done.stdout == "hello"
        request, answer = take(), take()
    assert (request["form"], answer["form"]) == ("request", "answer")
    assert (request["from"], request["to"]) == (answer["to"], "s") and answer["from"] == "s"
    assert request["text"].startswith("GET /index.html HTTP/1.1\r\n")
    assert "x-other: yes\r\n" in request["text"] and request["text"].endswith("\r\n\r\n")
    assert "authorization: Basic (redacted)\r\n" in request["text"]
    assert answer["text"].startswith("HTTP/1.1 200 OK\r\n")
    assert "text/html" in answer["text"]


def test_a_proxy_shows_requests_and_which_backend_answers(daemon):
    with contextlib.closing(Backend()) as backend:
        port = gateway(daemon, backend)
        place = backend.where
        with tapped(daemon, "gw") as take:
            subprocess.run(["curl", "-sS", f"http://127.0.0.1:{port}/x"], capture_output=True,
                           timeout=PATIENCE, check=True)
            request, answer = take(), take()
    assert ends(request)[:2] == ("in", "request") and request["to"] == "gw"
    assert ends(answer) == ("out", "answer", place, request["from"])
    assert request["from"].startswith("#")


def test_a_proxy_shows_streams_and_messages(daemon):
    [stream, datagrams] = daemon.server("s", mode="echo",
                                        listen=["tcp://127.0.0.1:0", "udp://127.0.0.1:0"])
    for scheme, backend, kind, form in (("tcp", stream, Talker, "bytes"),
                                        ("udp", datagrams, Peer, "message")):
        name = f"by-{scheme}"
        daemon.create("proxy", name, listen=[f"{scheme}://127.0.0.1:0"], backend=[backend])
        [front] = daemon.show(name)["endpoints"]
        with tapped(daemon, name) as take, kind(front) as ann:
            ann.say(b"hello")
            assert ann.hear() == b"hello"
            came, went = take(), take()
            [shown] = clients_of(daemon, name)
            client = f"#{shown['id']}"
        # The backend of a sender of datagrams is chosen after its first message.
        assert ends(came) == ("in", form, client, backend if scheme == "tcp" else name)
        assert ends(went) == ("out", form, backend, client)
        assert came["text"].strip() == went["text"].strip() == "hello"
        assert came["protocol"] == scheme


def test_a_client_runtime_shows_what_it_exchanges(daemon):
    [url] = daemon.server("s", mode="echo")
    daemon.create("client", "c", connect=url)
    with tapped(daemon, "c") as take:
        daemon.cli("send", "c", "hello")
        went, came = take(), take()
    assert ends(went) == ("out", "message", "c", url)
    assert ends(came) == ("in", "message", url, "c")


def test_commands_of_a_cache_without_passwords(daemon):
    daemon.create("cache", "db", listen=["tcp://127.0.0.1:0"])
    port = port_of(daemon.show("db")["endpoints"][0])
    with tapped(daemon, "db") as take, redis.Redis(port=port) as ann:
        ann.set("color", b"red")
        with contextlib.suppress(redis.RedisError):
            ann.execute_command("AUTH", "hunter2")
        while (line := take())["text"].find("SET") < 0 or "CLIENT" in line["text"]:
            pass
        assert line["text"] == "*3\r\n$3\r\nSET\r\n$5\r\ncolor\r\n$3\r\nred\r\n"
        assert (line["form"], line["to"], line["protocol"]) == ("command", "db", "tcp")
        assert line["from"] == f"#{ann.client_id()}"
        assert "(redacted)" in take()["text"]


def test_filters(daemon):
    [url] = daemon.server("s", mode="in", protocol="raw")
    with Talker(url) as ann, Talker(url) as bob:
        eventually(lambda: len(clients_of(daemon)) == 2, "they are there")
        number = next(each["id"] for each in clients_of(daemon)
                      if each["address"] == "{}:{}".format(*bob.socket.getsockname()))
        with tapped(daemon, query=f"?client={number}") as of_bob, \
                tapped(daemon, query="?match=two%20words&max_bytes=4") as matching:
            ann.say(b"one", b"these are two words")
            bob.say(b"from bob")
            assert of_bob()["text"] == "from bob"
            line = matching()
            assert (line["text"], line["size"]) == ("thes", 19)
    for query, why in (("client=ann", "ann"), ("color=red", "color"), ("max_bytes=1M", "65536"),
                       ("max_bytes=-1", "-1")):
        with pytest.raises(Refused, match=why):
            daemon.ask("GET", f"/v1/runtimes/s/tap?{query}")


def test_it_ends_with_the_runtime(daemon):
    daemon.server("s")
    with tapped(daemon) as take:
        daemon.remove("s")
        assert take() is None
    with pytest.raises(Refused, match="no such runtime|no runtime|not found"):
        daemon.ask("GET", "/v1/runtimes/s/tap")


def test_whoever_does_not_read_loses_lines_and_the_server_goes_on(daemon):
    [url] = daemon.server("s", mode="in", protocol="raw", max_message=100_000)
    count = 1500
    with tapped(daemon) as take, Talker(url) as ann:
        for number in range(count):
            ann.say(b"%06d" % number + b"x" * 60_000)
        eventually(lambda: daemon.stats("s")["messages"]["in"] == count, "all have come")
        seen = lost = 0
        while seen + lost < count:
            line = take()
            lost += line.get("lost", 0)
            seen += "text" in line
        assert lost > 0 and seen + lost == count, (seen, lost)
        ann.say(b"last")
        assert take()["text"] == "last"


def test_hundreds_tap_at_once(daemon):
    [url] = daemon.server("s", mode="echo")
    with contextlib.ExitStack() as stack:
        takes = [stack.enter_context(tapped(daemon)) for _ in range(300)]
        with Talker(url) as ann:
            ann.say(b"hello")
            assert ann.hear() == b"hello"
            for take in takes:
                assert [take()["direction"], take()["direction"]] == ["in", "out"]


# --- the verb

def show_until(running, act, done):
    """Repeats `act` until enough has been shown: the tap may not be open yet."""
    def shows():
        act()
        return done()
    eventually(shows, "the tap shows it")
    running.send_signal(signal.SIGINT)
    running.wait(PATIENCE)


@pytest.mark.parametrize("flags, shown", [
    ((), "> s  tcp  hello\n"), (("-x",), "68 65 6c 6c 6f"), (("-q",), "hello\n"),
    (("--format", "json"), '"text":"hello"'), (("--match", "ell"), "hello\n")])
def test_the_verb(daemon, tmp_path, flags, shown):
    [url] = daemon.server("s", mode="in", protocol="raw")
    path = tmp_path / "out"
    with path.open("w") as file, Talker(url) as ann:
        running = subprocess.Popen([BINARY, "tap", "s", *flags], stdout=file,
                                   env=daemon.environment)
        show_until(running, lambda: ann.say(b"hello"),
                   lambda: shown in path.read_text())


@pytest.mark.parametrize("names", [("s", "gate"), ("*",), ("@pair",)])
def test_several_are_tapped_at_once(daemon, tmp_path, names):
    [url] = daemon.server("s", mode="echo", protocol="raw", group="pair")
    front = daemon.create("proxy", "gate", listen=["tcp://127.0.0.1:0"], backend=[url],
                          group="pair")["endpoints"][0]
    path = tmp_path / "out"
    with path.open("w") as file, Talker(front) as ann:
        running = subprocess.Popen([BINARY, "tap", *names], stdout=file, env=daemon.environment)

        def told():
            return {line.split()[0] for line in path.read_text().splitlines()
                    if line.endswith("  hello")} == {"s", "gate"}
        show_until(running, lambda: ann.say(b"hello"), told)
    done = daemon.run("tap", "s", "nobody", "-w", "/nonexistent/x.pcapng")
    assert done.returncode == 1


def test_wireshark_reads_the_capture(daemon, tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("hello")
    [url] = daemon.server("s", http=str(tmp_path / "site"), mode="echo")
    daemon.create("cache", "db", listen=["tcp://127.0.0.1:0"])
    port = port_of(daemon.show("db")["endpoints"][0])

    def decode(path, *fields):
        words = [word for field in fields for word in ("-e", field)]
        done = subprocess.run(["tshark", "-n", "-r", str(path), "-T", "fields", *words],
                              capture_output=True, text=True, timeout=PATIENCE, check=False)
        return done.stdout

    def capture(name, act, done):
        path = tmp_path / f"{name}.pcapng"
        running = subprocess.Popen([BINARY, "tap", name, "-w", str(path)],
                                   env=daemon.environment)
        show_until(running, act, lambda: done(path))
        return path

    def visit():
        subprocess.run(["curl", "-s", f"http://127.0.0.1:{port_of(url)}/index.html"],
                       capture_output=True, timeout=PATIENCE, check=True)
        with WebTalker(url) as dan:
            dan.say("a message")
            assert dan.hear() == "a message"

    def has_visit(path):
        rows = decode(path, "http.request.uri", "websocket.payload.text")
        return "/index.html" in rows and "a message" in rows

    path = capture("s", visit, has_visit)
    rows = decode(path, "http.request.uri", "http.response.code", "websocket.payload.text",
                  "ip.src", "tcp.srcport")
    decoded = [line.split("\t") for line in rows.splitlines()]
    assert any(row[0] == "/index.html" and row[3] == "127.0.0.1" for row in decoded), rows
    assert {"200", "101"} <= {row[1] for row in decoded}
    assert any("a message" in row[2] for row in decoded)

    def set_color():
        with redis.Redis(port=port) as ann:
            ann.set("color", "red")

    words = ",".join(word.hex() for word in (b"SET", b"color", b"red"))
    capture("db", set_color, lambda path: words in decode(path, "resp.bulk_string.value"))


def test_a_file_that_cannot_be_written_is_named(daemon):
    daemon.server("s")
    done = daemon.run("tap", "s", "-w", "/nonexistent/x.pcapng")
    assert done.returncode == 1 and "/nonexistent/x.pcapng" in done.stderr
    assert daemon.run("tap", "nobody").returncode == 3
