"""`-w FILE`: what is appended to the file, and what a full disk does."""

import pytest

from strata_daemon import Refused, eventually
from talker import Talker


def test_every_received_message_is_appended(daemon, tmp_path):
    file = tmp_path / "said"
    file.write_bytes(b"before\n")
    [url] = daemon.server("chat", write=str(file))
    with Talker(url) as ann, Talker(url) as bob:
        daemon.wait_connections("chat", 2)
        ann.say(b"first")
        assert bob.hear() == b"first"
        bob.say(b"second")
        assert ann.hear() == b"second"
    daemon.act("chat", "stop")
    assert file.read_bytes() == b"before\nfirst\nsecond\n"


def test_all_that_was_accepted_is_in_the_file_after_a_stop(daemon, tmp_path):
    file = tmp_path / "said"
    [url] = daemon.server("chat", write=str(file), mode="in", threads=2)
    with Talker(url) as ann, Talker(url) as bob:
        ann.say(*[b"ann %d" % number for number in range(20_000)])
        bob.say(*[b"bob %d" % number for number in range(20_000)])
        eventually(lambda: daemon.stats("chat")["messages"]["in"] == 40_000, "all are read")
        daemon.act("chat", "stop")
    lines = file.read_bytes().splitlines()
    for name in [b"ann", b"bob"]:
        assert [line for line in lines if line.startswith(name)] == [
            name + b" %d" % number for number in range(20_000)]


def test_a_file_that_cannot_be_opened_is_a_clear_error(daemon, tmp_path):
    with pytest.raises(Refused, match="/no/such/file") as refused:
        daemon.server("chat", write=f"{tmp_path}/no/such/file")
    assert refused.value.code == "not_found"


def test_a_full_disk_is_told_and_nothing_is_lost_once_there_is_room(daemon, small_disk):
    filler, file = small_disk / "filler", small_disk / "said"
    filler.write_bytes(b"x" * 40_000)
    [url] = daemon.server("chat", write=str(file))
    lines = [b"%d" % number + b"x" * 90 for number in range(500)]
    with Talker(url) as ann, Talker(url) as bob:
        daemon.wait_connections("chat", 2)
        ann.say(*lines)
        assert bob.hear_lines(500) == lines
        eventually(lambda: daemon.logged("chat", "free some space", "error"), "the log says so")
        assert daemon.stats("chat")["errors"] == 1
        filler.unlink()
        eventually(lambda: file.read_bytes().splitlines() == lines, "the rest is written")


def test_a_full_disk_harms_neither_talk_nor_memory(daemon, small_disk):
    [url] = daemon.server("chat", write=str(small_disk / "said"))
    line = b"x" * 60_000
    with Talker(url) as ann, Talker(url) as bob:
        daemon.wait_connections("chat", 2)
        before = daemon.resident_mib()
        for _ in range(300):
            ann.say(line)
            assert bob.hear() == line
        assert daemon.stats("chat")["dropped"]["file"] > 100
        assert daemon.resident_mib() < before + 64
        daemon.act("chat", "stop")
    assert daemon.logged("chat", "bytes were not written", "error")
