"""The CLI when things fail: no daemon, a hostile daemon, no reader, no room."""

import json
import os
import socket
import subprocess

import pytest

from checks import DONE, FAILED, MISUSED, NOT_FOUND, UNREACHABLE, check, refusal


def test_no_daemon(strata, path, tmp_path):
    message = refusal(strata("ls"), UNREACHABLE)
    assert str(path) in message and "there is no such socket" in message
    assert "strata daemon --detach" in message
    socket.socket(socket.AF_UNIX).bind(str(path))
    assert "stale" in refusal(strata("ls"), UNREACHABLE)
    strata.environment["STRATA_SOCKET"] = str(tmp_path)
    assert "that is not a socket" in refusal(strata("ls"), UNREACHABLE)
    strata.environment["STRATA_SOCKET"] = "/" + "x" * 200
    assert "107 bytes" in refusal(strata("ls"), MISUSED)


def test_no_permission(strata, daemon, path):
    path.chmod(0)
    # Without its capabilities, root is subject to the socket's mode like every other user.
    drop = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []
    result = subprocess.run([*drop, strata.binary, "ls"], env=strata.environment, text=True,
                            capture_output=True, timeout=10)
    assert "permission denied" in refusal(result, UNREACHABLE)


def test_a_daemon_that_accepts_nothing(strata, path):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen(0)
    waiting = [socket.socket(socket.AF_UNIX) for _ in range(4)]
    for one in waiting:
        one.setblocking(False)
        one.connect_ex(str(path))
    assert "stopped or stuck" in refusal(strata("ls"), UNREACHABLE)


OK = b"HTTP/1.1 200 OK\r\nContent-Length: "


def body(data):
    return OK + str(len(data)).encode() + b"\r\n\r\n" + data


HOSTILE = {
    "nothing": b"",
    "not http": b"SSH-2.0-OpenSSH_9.2\r\n",
    "binary": bytes(range(256)) * 40,
    "lone line feeds": b"HTTP/1.1 200 OK\n\n[]",
    "head cut": b"HTTP/1.1 200 OK\r\nContent-",
    "body cut": OK + b"100\r\n\r\n[1,2",
    "chunk cut": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n[1",
    "both lengths": OK + b"2\r\nTransfer-Encoding: chunked\r\n\r\n[]",
    "endless head": b"HTTP/1.1 200 OK\r\n" + b"A: " + b"x" * 100000,
    "no json": body(b"<html>hello</html>"),
    "half json": body(b'[{"name": "a"'),
    "deep json": body(b"[" * 200000 + b"]" * 200000),
    "bad utf-8": body(b'[{"name": "\xff\xfe"}]'),
    "a number": body(b"5"),
    "an object": body(b'{"name": 5}'),
    "null": body(b"null"),
    "nothing in it": body(b""),
    "error without json": b"HTTP/1.1 500 Oops\r\nContent-Length: 4\r\n\r\nsorry",
    "error of odd form": b'HTTP/1.1 404 No\r\nContent-Length: 13\r\n\r\n{"error": []}',
    "status from nowhere": b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n",
    "escape sequences": b"HTTP/1.1 500 No\r\nContent-Length: 9\r\n\r\n\x1b[2J\x1b]0;x",
}
# Replies that pass for a runtime unless the CLI looks closely.
VALID_OBJECTS = {"a number", "an object", "null", "nothing in it"}
ODD = {
    "odd members": body(b'[5, null, "x", [], {"name": {"a": 1}, "endpoints": 7, "uptime_s": []}]'),
    "huge numbers": body(b'[{"name": "a", "uptime_s": 1e308, "connections": -5}]'),
    "an empty list": body(b"[]"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_replies(strata, hostile, case):
    hostile(HOSTILE[case])
    asked = [("ls",), ("ps", "--format", "json"), ("stop", "web*"), ("edit", "a", "--drain")]
    if case not in VALID_OBJECTS:
        asked += [("show", "a"), ("start", "a"), ("send", "a", "x"), ("version", "--format=json")]
    for arguments in asked:
        result = strata(*arguments)
        where = (arguments, result)
        assert result.returncode in (FAILED, NOT_FOUND) or arguments[0] == "version", where
        assert "\x1b" not in result.stderr + result.stdout, where
        if arguments[0] != "version":
            assert result.stdout == "" and result.stderr.startswith("strata: "), where


@pytest.mark.parametrize("case", ODD)
def test_odd_replies_are_shown_as_they_are(strata, hostile, case):
    hostile(ODD[case])
    check(strata("ls"))
    check(strata("ls", "-q"))
    check(strata("ls", "--format", "json", "--columns", "name,owner"))


STREAM = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize("reply", [b"", STREAM, STREAM + b"5\r\n{}\n{}\r\n", STREAM + b"z\r\n",
                                   STREAM + b"4\r\nno!\n\r\n0\r\n\r\n", body(b"nonsense\n"),
                                   b"HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\n{}"])
def test_hostile_streams(strata, hostile, reply):
    hostile(reply)
    for arguments in (("logs", "a", "-f"), ("events",), ("start", "-i", "a")):
        assert refusal(strata(*arguments), FAILED)


def one_by_one(data):
    return [bytes([each]) for each in data]


UNFINISHED = {
    "nothing": ([], 0),
    "half a head": ([b"HTTP/1.1 200 OK\r\nContent-"], 0),
    "a head byte by byte": (one_by_one(b"HTTP/1.1 200 OK\r\nA: " + b"x" * 2000), 0.05),
    "half a body": ([OK + b"100\r\n\r\n[1,2"], 0),
    "half a chunk": ([STREAM + b"5\r\n[1"], 0),
}


@pytest.mark.parametrize("case", UNFINISHED)
def test_an_answer_that_does_not_come_whole_is_not_waited_for(strata, slow, case):
    slow(*UNFINISHED[case])
    for verb, asked in ((["ls"], "GET /v1/runtimes"), (["show", "a"], "GET /v1/runtimes/a"),
                        (["start", "a"], "POST /v1/runtimes/a/start"),
                        (["send", "a", "x"], "POST /v1/runtimes/a/send"),
                        (["create", "server", "a"], "POST /v1/runtimes")):
        message = refusal(strata(*verb, "--timeout", "0.3"), UNREACHABLE)
        assert f"has not answered '{asked}' within 0.3 s; it is stuck" in message
        assert f"(pid {os.getpid()})" in message


@pytest.mark.parametrize("case", ["nothing", "half a head", "a head byte by byte"])
def test_a_stream_that_does_not_begin_is_not_waited_for(strata, slow, case):
    slow(*UNFINISHED[case])
    for verb in (["logs", "a", "-f"], ["events"]):
        message = refusal(strata(*verb, "--timeout", "0.3"), UNREACHABLE)
        assert "within 0.3 s" in message


def test_an_answer_that_comes_slowly_but_in_time_is_taken(strata, slow):
    slow(one_by_one(body(b"[]")), 0.01)
    check(strata("ls", "--timeout", "10"))


def test_a_stream_that_has_begun_may_pause(strata, daemon):
    daemon.add("server", "web")
    shown = check(strata("logs", "web", "-f", "--timeout", "0.1"))
    assert "later" in shown  # this arrives after half a second


def test_a_reader_that_goes_away(strata, daemon):
    daemon.add("server", "web")
    daemon.logs *= 20000
    process = strata.start("logs", "web")
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(20) == DONE
    assert process.stderr.read() == ""


def test_a_full_disk(strata, daemon):
    with open("/dev/full", "w", encoding="ascii") as full:
        result = subprocess.run([strata.binary, "ls"], env=strata.environment, stdout=full,
                                stderr=subprocess.PIPE, text=True, timeout=10)
    assert result.returncode == FAILED
    assert result.stderr == ("strata: cannot write to standard output: No space left on device\n")
