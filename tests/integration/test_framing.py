"""What counts as a message: a line, a length and its bytes, or a read."""

import random
import struct

import pytest

from strata_daemon import eventually
from talker import Talker


@pytest.fixture
def pair(daemon):
    """Yields two talkers of a server with the given framing."""
    opened = []

    def make(framing, **options):
        [url] = daemon.server("chat", framing=framing, **options)
        opened.extend([Talker(url), Talker(url)])
        daemon.wait_connections("chat", 2)
        return opened

    yield make
    for each in opened:
        each.close()


def with_length(*messages):
    return b"".join(struct.pack(">I", len(each)) + each for each in messages)


def hear_with_length(talker):
    return talker.read(struct.unpack(">I", talker.read(4))[0])


def test_a_first_line_shorter_than_four_bytes_is_delivered_at_once(pair):
    ann, bob = pair("line")
    ann.send(b"a\n")
    assert bob.hear() == b"a"


def test_a_last_line_without_its_lf_is_delivered_at_the_end(pair):
    ann, bob = pair("line")
    ann.send(b"whole\nand the rest")
    assert bob.hear() == b"whole"
    assert not bob.has_something()
    ann.finish()
    assert bob.hear() == b"and the rest"


def test_crlf_is_kept(pair):
    ann, bob = pair("line")
    ann.send(b"dos\r\nunix\n")
    assert bob.hear_lines(2) == [b"dos\r", b"unix"]


def test_an_empty_line_is_a_message(daemon, pair):
    ann, bob = pair("line")
    ann.send(b"\n\nx\n")
    assert bob.hear_lines(3) == [b"", b"", b"x"]
    assert daemon.stats("chat")["messages"]["in"] == 3


def test_all_bytes_but_lf_pass_through_a_line(pair):
    ann, bob = pair("line")
    everything = bytes(each for each in range(256) if each != 10)
    ann.say(everything)
    assert bob.hear() == everything


def test_a_line_may_come_byte_by_byte(pair):
    ann, bob = pair("line")
    for byte in b"slow line\n":
        ann.send(bytes([byte]))
    assert bob.hear() == b"slow line"


def test_lines_of_all_sizes_arrive_whole_and_in_order(pair):
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    ann, bob = pair("line")
    lines = [b"%d:" % number + b"x" * size for number, size in enumerate(
        [0, 1, 16381, 16384, 16385, 65530, 65536, 300_000, 1_000_000]
        + [chance.randrange(2000) for _ in range(200)])]
    stream = b"".join(line + b"\n" for line in lines)
    heard = []
    while stream:
        size = chance.choice([1, 100, 16384, 200_000])
        ann.send(stream[:size])
        stream = stream[size:]
        while bob.has_something() and len(heard) < len(lines):
            heard.append(bob.hear())
    heard += bob.hear_lines(len(lines) - len(heard))
    assert heard == lines


def test_length_framing_carries_any_bytes(pair):
    ann, bob = pair("length")
    messages = [b"", b"a", bytes(range(256)), b"\n\n", b"x" * 200_000]
    ann.send(with_length(*messages))
    assert [hear_with_length(bob) for _ in messages] == messages


def test_a_length_may_come_byte_by_byte(pair):
    ann, bob = pair("length")
    for byte in with_length(b"slow"):
        ann.send(bytes([byte]))
    assert hear_with_length(bob) == b"slow"


def test_a_last_length_without_all_its_bytes_is_no_message(daemon, pair):
    ann, bob = pair("length")
    ann.send(with_length(b"whole") + struct.pack(">I", 10) + b"half")
    assert hear_with_length(bob) == b"whole"
    ann.finish()
    daemon.wait_connections("chat", 1)
    assert not bob.has_something()


def test_a_length_beyond_max_message_ends_the_connection(daemon, pair):
    ann, bob = pair("length", max_message=100)
    ann.send(struct.pack(">I", 101))
    assert ann.is_ended()
    eventually(lambda: daemon.stats("chat")["dropped"]["too_large"] == 1, "it is counted")
    daemon.send("chat", b"still here")
    assert hear_with_length(bob) == b"still here"


def test_raw_framing_passes_every_byte_as_it_comes(pair):
    ann, bob = pair("raw")
    ann.send(b"ab")
    assert bob.read(2) == b"ab"
    data = random.Random(1).randbytes(500_000)
    ann.send(data)
    assert bob.read(len(data)) == data


def test_raw_framing_cuts_at_max_message(daemon, pair):
    ann, bob = pair("raw", max_message=10)
    ann.send(b"x" * 95)
    assert bob.read(95) == b"x" * 95
    assert daemon.stats("chat")["messages"]["in"] >= 10


def test_what_is_sent_gets_the_servers_framing(daemon, pair):
    _, bob = pair("length")
    daemon.send("chat", bytes(range(256)))
    assert hear_with_length(bob) == bytes(range(256))
