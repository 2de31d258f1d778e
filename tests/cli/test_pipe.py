"""strata pipe between streams of real sockets: each end receives the other end's data unchanged."""

import asyncio
import hashlib
import os
import ssl
import subprocess
import time

import pytest
import websockets

from certificates import Authority, connect
from pipe import digest, in_background, noise
from strata_daemon import BINARY, eventually
from talker import Talker
from terminal import Terminal

MISUSED = 2
NOT_FOUND = 3
PLENTY = 8 << 20


# --- streams --------------------------------------------------------------------------------------


def test_standard_input_goes_to_a_server_and_its_answer_to_standard_output(pipe, listener):
    server, url = listener
    joined = pipe("-", url)
    joined.write(b"question")
    joined.end_input()
    with Talker.accepted(server) as peer:
        assert peer.read(8) == b"question"
        assert peer.socket.recv(1) == b""  # the end of the input has arrived
        peer.send(b"answer")
    assert joined.done() == b"answer"


def test_a_peer_that_connects_is_joined_and_no_other(pipe):
    joined = pipe("listen:tcp://127.0.0.1:0", "-")
    url = joined.url()
    with Talker(url) as peer:
        peer.say(b"hello")
        assert joined.hear() == b"hello"
        with pytest.raises(ConnectionRefusedError):
            Talker(url)
        peer.finish()
        assert joined.process.stdout.read() == b""  # its end, while the input continues
        joined.write(b"still here\n")
        assert peer.hear() == b"still here"
        joined.end_input()
        assert peer.hear() is None
    assert joined.done() == b""


@pytest.mark.parametrize("scheme", ["tcp", "unix"])
def test_random_bytes_go_both_ways_as_they_are(pipe, scheme, tmp_path):
    where = f"unix://{tmp_path}/s" if scheme == "unix" else "tcp://127.0.0.1:0"
    left = pipe("listen:" + where, "-")
    right = pipe("-", left.url())
    there, backend = noise(PLENTY), noise(PLENTY + 1)
    heard = []
    answering = in_background(lambda: heard.append(left.done(backend)))
    assert digest(right.done(there)) == digest(backend)
    answering.join()
    assert digest(heard[0]) == digest(there)
    assert not (tmp_path / "s").exists()


def test_a_quick_reader_of_a_unix_socket_gets_all_of_a_file(pipe, tmp_path):
    """Neither loop can poll files; with io_uring, sends once gave up here with EAGAIN."""
    size = 100 << 20
    source, target = tmp_path / "source", tmp_path / "target"
    block = noise(1 << 20)
    source.write_bytes(block * (size // len(block)))
    with source.open("rb") as given, target.open("wb") as taken:
        left = pipe(f"listen:unix://{tmp_path}/s", "-", stdin=subprocess.DEVNULL, stdout=taken)
        right = pipe("-", left.url(), stdin=given)
        assert right.done() == b""
        left.done()
    assert digest(target.read_bytes()) == digest(source.read_bytes())


def test_two_peers_are_joined_and_each_ends_for_itself(pipe):
    joined = pipe("listen:tcp://127.0.0.1:0", "listen:tcp://127.0.0.1:0")
    with Talker(joined.url()) as first, Talker(joined.url()) as second:
        data = noise(100_000)
        first.send(data)
        assert second.read(len(data)) == data
        first.finish()
        assert second.hear() is None
        second.send(b"and back")
        assert first.read(8) == b"and back"
        second.finish()
        assert first.hear() is None
    joined.done()


def test_a_reset_is_passed_on(pipe, listener):
    server, url = listener
    joined = pipe("listen:tcp://127.0.0.1:0", url)
    client = Talker(joined.url())
    with Talker.accepted(server) as backend:
        client.say(b"hello")
        assert backend.hear() == b"hello"
        client.reset()
        with pytest.raises(ConnectionResetError):
            backend.hear()
    said = joined.failed()
    assert "cannot receive from tcp://127.0.0.1:0: Connection reset by peer" in said


def test_a_reader_that_has_gone_ends_the_pipe_quietly(pipe, listener):
    server, url = listener
    joined = pipe("-", url)
    with Talker.accepted(server) as peer:
        joined.process.stdout.close()
        joined.process.stdout = None
        peer.send(b"to nobody")
        assert peer.is_ended()
    assert joined.failed(code=0) == ""


def test_a_full_disk_is_told(pipe, listener):
    server, url = listener
    with open("/dev/full", "wb") as full:
        joined = pipe("-", url, stdout=full)
        with Talker.accepted(server) as peer:
            peer.send(b"x")
            with pytest.raises(ConnectionResetError):
                peer.hear()
        assert "cannot write to standard output: No space left" in joined.failed()


def test_a_folder_as_standard_input_is_told(pipe, listener, tmp_path):
    server, url = listener
    folder = os.open(tmp_path, os.O_RDONLY)
    joined = pipe("-", url, stdin=folder)
    os.close(folder)
    with Talker.accepted(server) as peer:
        with pytest.raises(ConnectionResetError):
            peer.hear()
    assert "cannot read standard input: Is a directory" in joined.failed()


@pytest.mark.parametrize("words", [(), ("--framing", "raw")])
def test_a_slow_reader_holds_the_other_end_back(pipe, listener, words):
    """The 256 MiB wait in the pipe's peer and not in the pipe. Covers messages too."""
    server, url = listener
    with_messages = bool(words)
    joined = pipe("listen:ws://127.0.0.1:0" if with_messages else "listen:tcp://127.0.0.1:0", url,
                  *words)
    data = noise(1 << 20) * 256
    heard = hashlib.sha256()

    async def say_all(to):
        async with websockets.connect(to, compression=None) as peer:
            for at in range(0, len(data), 1 << 16):
                await peer.send(data[at:at + (1 << 16)])

    def say(to):
        if with_messages:
            asyncio.run(say_all(to))
            return
        with Talker(to) as peer:
            peer.send(data)

    def has_settled():
        before = joined.resident()
        time.sleep(0.5)
        return joined.resident() < before + (1 << 20)

    to = joined.url()
    empty = joined.resident()
    saying = in_background(say, to)
    with Talker.accepted(server) as peer:
        eventually(has_settled, "no more is taken in")
        grown = joined.resident() - empty
        assert saying.is_alive() and grown < 128 << 20, grown
        count = 0
        while more := peer.socket.recv(1 << 20):
            heard.update(more)
            count += len(more)
        peer.finish()
    saying.join()
    assert count == len(data) and heard.hexdigest() == digest(data)
    joined.done()


def test_fork_gives_each_peer_a_connection_of_its_own(pipe, listener):
    server, url = listener
    joined = pipe("listen:tcp://127.0.0.1:0", url, "--fork", "--max-connections", "3")
    where = joined.url()
    talks = []
    for number in range(3):
        talks.append((Talker(where), Talker.accepted(server)))
        talks[-1][0].say(b"I am %d" % number)
        assert talks[-1][1].hear() == b"I am %d" % number
    with Talker(where) as fourth:  # waits for its turn
        server.settimeout(0.3)
        with pytest.raises(TimeoutError):
            server.accept()
        server.settimeout(30)
        talks[1][0].close()
        assert talks[1][1].hear() is None
        talks[1][1].close()
        with Talker.accepted(server) as backend:
            fourth.say(b"at last")
            assert backend.hear() == b"at last"
    talks[0][1].reset()
    with pytest.raises(ConnectionResetError):
        talks[0][0].hear()
    joined.process.terminate()
    assert "Connection reset by peer" in joined.failed(code=0)
    assert talks[2][0].hear() is None


def test_a_peer_of_fork_whose_other_end_is_missing_is_reset(pipe, listener):
    server, url = listener
    server.close()
    joined = pipe("listen:tcp://127.0.0.1:0", url, "-f")
    where = joined.url()
    for _ in range(2):
        with pytest.raises(ConnectionResetError), Talker(where) as peer:
            peer.hear()
    joined.process.terminate()
    assert joined.failed(code=0).count("Connection refused") == 2


def test_one_way_drops_what_the_second_end_says(pipe, listener):
    server, url = listener
    joined = pipe("-", url, "--one-way")
    with Talker.accepted(server) as peer:
        peer.send(b"x" * PLENTY)
        joined.write(b"hello\n")
        assert peer.hear() == b"hello"
        joined.end_input()
        assert peer.hear() is None
        assert joined.done() == b""


def test_an_interrupt_tells_the_peer_that_it_was_not_all(pipe, listener):
    server, url = listener
    joined = pipe("-", url)
    with Talker.accepted(server) as peer:
        joined.write(b"half")
        assert peer.read(4) == b"half"
        joined.process.terminate()
        with pytest.raises(ConnectionResetError):
            peer.hear()
    assert joined.failed(code=128 + 15) == ""


# --- terminals ------------------------------------------------------------------------------------


def at_terminal(*words):
    return Terminal.of([BINARY, "pipe", *words], {"PATH": os.environ["PATH"]}, ".", columns=80)


def test_a_person_types_and_the_terminal_obeys_nobody_else(listener):
    server, url = listener
    with at_terminal("-", url) as terminal, Talker.accepted(server) as peer:
        terminal.type(b"hello\n")
        assert peer.hear() == b"hello"
        peer.send(b"\x1b[2Jdone\r\n\xc3")
        terminal.shows(rb"\x1b[2Jdone" + b"\r\n")
        peer.send(b"\xa4\n")
        terminal.shows("ä".encode() + b"\r\n")
        peer.close()  # a person need not end an input that nobody reads
        assert terminal.exit_code() == 0


def test_a_person_may_leave(listener):
    server, url = listener
    with at_terminal("-", url) as terminal, Talker.accepted(server) as peer:
        terminal.type(b"hello\n")
        assert peer.hear() == b"hello"
        terminal.type(b"\x03")
        assert peer.hear() is None  # a clean end
        assert terminal.exit_code() == 128 + 2


# --- TLS ------------------------------------------------------------------------------------------


def test_tls_on_both_ends(pipe, tmp_path):
    authority = Authority(tmp_path / "tls")
    certificate, key = authority.issue("localhost")
    left = pipe("listen:tls://127.0.0.1:0", "-", "--cert", certificate, "--key", key)
    url = left.url()
    with pytest.raises(ssl.SSLError):
        connect(url, ssl.create_default_context())  # trusts other CAs
    right = pipe("-", url.replace("127.0.0.1", "localhost"), "--ca", authority.ca)
    there, backend = noise(PLENTY), noise(PLENTY)
    heard = []
    answering = in_background(lambda: heard.append(left.finish(backend)))
    assert digest(right.done(there)) == digest(backend)
    answering.join()
    out, code, said = heard[0]
    assert code == 0 and digest(out) == digest(there)
    assert "cannot complete the TLS handshake with 127.0.0.1:" in said


def test_a_server_that_is_not_trusted_is_not_spoken_to(pipe, tmp_path):
    authority = Authority(tmp_path / "tls")
    certificate, key = authority.issue("localhost")
    left = pipe("listen:tls://127.0.0.1:0", "-", "--cert", certificate, "--key", key)
    url = left.url()
    assert "certificate" in pipe("-", url).failed()
    bold = pipe("-", url, "--insecure")
    bold.write(b"hello\n")
    assert left.hear() == b"hello"
    left.end_input()
    assert bold.done() == b""


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize("words, why", [
    (("-", "-"), "only one end can be '-'"),
    (("-",), "an argument is missing"),
    (("-", "nonsense"), "it has no scheme"),
    (("-", "http://127.0.0.1:1"), "write ws://"),
    (("-", "runtime://web"), "strata ls"),
    (("-", "tcp://*:1"), "'*'"),
    (("-", "tcp://127.0.0.1:1", "-f"), "--fork: it has no effect"),
    (("-", "listen:tcp://127.0.0.1:1", "-f"), "give that end as a URL to connect to"),
    (("-", "tcp://127.0.0.1:1", "--framing", "raw"), "--framing: it has no effect"),
    (("-", "tcp://127.0.0.1:1", "--ca", "x"), "--ca: it has no effect"),
    (("-", "listen:tls://127.0.0.1:1"), "no certificate is given"),
    (("-", "tls://127.0.0.1:1", "--client-cert", "x"), "give both"),
    (("-", "ws://127.0.0.1:1", "--header", "Host: x"), "leave it out"),
])
def test_what_makes_no_sense_is_refused(pipe, words, why):
    assert why in pipe(*words).failed(MISUSED)


def test_what_is_not_there_is_told(pipe, listener):
    server, url = listener
    server.close()
    assert f"cannot connect to {url}: Connection refused" in pipe("-", url).failed()
    pipe("-", "l2://strata-none/0x88b5").failed(NOT_FOUND)
