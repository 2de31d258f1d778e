"""`strata tell NAME WORD...` and `strata NAME WORD...` for a cache, a server and a client."""

import json
import os
import signal
import subprocess

import pytest

from resp_wire import Wire
from strata_daemon import BINARY, PATIENCE, eventually
from talker import Talker
from terminal import Terminal, screen_of

pytestmark = pytest.mark.once

DONE, FAILED, MISUSED, NOT_FOUND, UNREACHABLE = range(5)


@pytest.fixture
def port(daemon):
    made = daemon.create("cache", "db", listen=["tcp://127.0.0.1:0"], resp=True)
    return int(made["endpoints"][0].rsplit(":", 1)[1])


def told(daemon, *arguments, given=b"", **variables):
    """Returns the CLI's result, in bytes."""
    return subprocess.run([BINARY, *arguments], env=daemon.environment | variables, input=given,
                          capture_output=True, timeout=PATIENCE, check=False)


@pytest.mark.parametrize("verb", [["tell"], []])
def test_a_cache_replies(daemon, port, verb):
    assert daemon.cli(*verb, "db", "SET", "k", "a b") == "OK\n"
    assert daemon.cli(*verb, "db", "GET", "k") == "a b\n"
    assert daemon.cli(*verb, "db", "RPUSH", "l", "1", "2") == "2\n"
    assert daemon.cli(*verb, "db", "LRANGE", "l", "0", "-1") == "1\n2\n"
    assert daemon.cli(*verb, "db", "--", "ECHO", "-q") == "-q\n"
    assert daemon.cli(*verb, "db", "ECHO", "") == "\n"
    assert daemon.cli(*verb, "db", "ECHO", "-") == "-\n"
    assert Wire(port).ask("GET", "k") == b"$3\r\na b\r\n"


def test_words_and_replies_are_any_bytes(daemon, port):
    every = bytes(range(1, 256))
    assert told(daemon, "tell", "db", "SET", b"k\xff", every).stdout == b"OK\n"
    assert told(daemon, "tell", "db", "GET", b"k\xff").stdout == every + b"\n"
    Wire(port).ask("SET", "zero", b"a\0b\n")
    assert told(daemon, "tell", "db", "GET", "zero").stdout == b"a\0b\n\n"


def test_json_keeps_the_kinds(daemon, port):
    def value(*words):
        return json.loads(daemon.cli("tell", "db", *words, "--format", "json"))

    assert value("SET", "k", "17") == "OK"
    assert (value("GET", "k"), value("INCR", "k"), value("GET", "none")) == ("17", 18, None)
    assert value("HSET", "h", "f", "v", "g", "w") == 2
    assert value("HGETALL", "h") == {"f": "v", "g": "w"}
    assert value("ZADD", "z", "1.5", "a") == 1 and value("ZSCORE", "z", "a") == 1.5
    assert value("MGET", "k", "none") == ["18", None]
    Wire(port).ask("SET", "bytes", b"\xff\xfe")
    assert value("GET", "bytes") == {"base64": "//4="}


def test_an_error_of_a_cache_fails_and_is_no_data(daemon, port):
    for more in ([], ["--format", "json"]):
        done = daemon.run("tell", "db", "GET", *more)
        assert (done.returncode, done.stdout) == (FAILED, "")
        assert "the cache answers: ERR wrong number of arguments for 'get'" in done.stderr
    assert daemon.run("tell", "db", "NOSUCH").returncode == FAILED


def test_a_terminal_gets_a_reply_that_it_does_not_obey(daemon, port):
    Wire(port).ask("SET", "k", b"a\x1b[2J")
    assert screen_of(daemon, "tell", "db", "GET", "k") == ('"a\\x1b[2J"\n', DONE)
    assert screen_of(daemon, "db", "INCR", "n") == ("(integer) 1\n", DONE)


@pytest.mark.parametrize("verb", [["tell"], []])
def test_a_cache_is_told_lines(daemon, port, verb):
    assert daemon.cli(*verb, "db", given='SET k "a b"\n\nGET k\nGET none') == "OK\na b\n\n"
    done = daemon.run(*verb, "db", given="GET\nECHO on\nECHO \"x\nECHO last\n")
    assert (done.returncode, done.stdout) == (FAILED, "on\nlast\n")
    assert "wrong number" in done.stderr and "line 3: unbalanced quotes" in done.stderr
    lines = daemon.cli(*verb, "db", "--format", "json", given="GET k\nINCR n\n").splitlines()
    assert [json.loads(line) for line in lines] == ["a b", 1]


def test_words_go_before_what_a_pipe_holds(daemon, port):
    assert daemon.cli("tell", "db", "ECHO", "word", given="ECHO line\n") == "word\n"


def test_a_subscription_is_shown_until_it_is_ended(daemon, port):
    with subprocess.Popen([BINARY, "tell", "db", "SUBSCRIBE", "news"], env=daemon.environment,
                          stdout=subprocess.PIPE) as process:
        begin = b"subscribe\nnews\n1\n"
        assert process.stdout.read(len(begin)) == begin
        assert Wire(port).ask("PUBLISH", "news", "today") == b":1\r\n"
        message = b"message\nnews\ntoday\n"
        assert process.stdout.read(len(message)) == message
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) != DONE


# --- a password ----------------------------------------------------------------------------------


def test_a_password_comes_from_a_file_or_the_environment(daemon, tmp_path):
    daemon.create("cache", "db", listen=["tcp://127.0.0.1:0"], password="secret")
    (tmp_path / "right").write_text("secret\n")
    (tmp_path / "wrong").write_text("no secret\n")
    assert daemon.cli("tell", "db", "SET", "k", "v", "--password", f"@{tmp_path}/right") == "OK\n"
    assert daemon.cli("db", "--password", "secret", "GET", "k") == "v\n"
    done = told(daemon, "tell", "db", "GET", "k", STRATA_CACHE_PASSWORD="secret")
    assert (done.stdout, done.stderr) == (b"v\n", b"")
    assert daemon.cli("tell", "db", "--password", "-", given="secret\nGET k\n") == "v\n"
    done = told(daemon, "start", "-i", "db", given=b"GET k\n", STRATA_CACHE_PASSWORD="secret")
    assert done.stdout == b"v\n"
    done = daemon.run("tell", "db", "GET", "k")
    assert done.returncode == FAILED and done.stdout == ""
    assert "NOAUTH" in done.stderr and "STRATA_CACHE_PASSWORD" in done.stderr
    done = daemon.run("tell", "db", "GET", "k", "--password", f"@{tmp_path}/wrong")
    assert done.returncode == FAILED and "WRONGPASS" in done.stderr
    assert "no secret" not in done.stderr


def test_a_password_that_is_not_wanted_does_no_harm(daemon, port):
    assert told(daemon, "db", "ECHO", "x", STRATA_CACHE_PASSWORD="secret").stdout == b"x\n"
    daemon.server("web")
    done = daemon.run("tell", "web", "x", "--password", "secret")
    assert done.returncode == MISUSED and "--password is for caches" in done.stderr


# --- servers and clients -------------------------------------------------------------------------


@pytest.mark.parametrize("verb", [["tell"], []])
def test_a_server_sends_the_words_as_one_message(daemon, verb):
    [url] = daemon.server("web")
    with Talker(url) as ann:
        daemon.wait_connections("web", 1)
        assert daemon.cli(*verb, "web", "Hello,", "world") == "delivered to 1 connection\n"
        assert ann.hear() == b"Hello, world"
        said = daemon.cli(*verb, "web", given="one\ntwo\n")
        assert said == "2 messages: delivered to 2 connections\n"
        assert (ann.hear(), ann.hear()) == (b"one", b"two")
        assert told(daemon, *verb, "web", b"\xff\x01", b"\xfe").returncode == DONE
        assert ann.hear() == b"\xff\x01 \xfe"
        said = json.loads(daemon.cli(*verb, "web", "x", "--format", "json"))
        assert said["delivered"] == 1


def test_a_client_sends_to_its_server(daemon):
    [url] = daemon.server("web", mode="echo")
    daemon.create("client", "ear", target=url.removeprefix("tcp://"))
    daemon.cli("ear", "to", "the", "server")
    eventually(lambda: daemon.stats("web")["messages"]["in"] == 1, "it has heard")


def test_what_does_not_run_is_told_so(daemon):
    daemon.create("cache", "db", start=False, listen=["tcp://127.0.0.1:0"])
    daemon.create("server", "web", start=False, listen=["tcp://127.0.0.1:0"])
    done = daemon.run("db", "GET", "k")
    assert done.returncode == FAILED and "'strata start db'" in done.stderr
    assert daemon.run("web", "x").returncode == FAILED


# --- the short form ------------------------------------------------------------------------------


def test_verbs_win(daemon, port):
    for name in ("ls", "status", "l2", "stop"):
        daemon.create("cache", name, listen=["tcp://127.0.0.1:0"])
    assert "NAME" in daemon.cli("ls") and "NAME" in daemon.cli("status", "db")
    assert daemon.run("stop", "ECHO", "x").returncode == NOT_FOUND
    assert daemon.run("l2", "ECHO", "x").returncode == MISUSED
    for name in ("ls", "status", "l2", "stop"):
        assert daemon.cli("tell", name, "ECHO", name) == name + "\n"


def test_a_word_that_is_nothing_is_told_as_ever(daemon, port):
    done = daemon.run("lss")
    assert done.returncode == MISUSED
    assert "there is no verb 'lss' (did you mean 'ls'?)" in done.stderr
    assert "there is no verb 'd'" in daemon.run("d", "GET", "k", given="x\n").stderr
    assert daemon.run("").returncode == MISUSED
    assert daemon.run("../version").returncode == MISUSED
    done = daemon.run("tell", "nobody", "x")
    assert done.returncode == NOT_FOUND and "nobody" in done.stderr
    daemon.stop()
    assert "there is no verb 'db'" in daemon.run("db", "GET", "k").stderr
    assert daemon.run("tell", "db", "GET", "k").returncode == UNREACHABLE


def test_the_daemon_is_the_one_that_is_named(daemon, port):
    done = subprocess.run([BINARY, "-q", "db", "ECHO", "x", f"--socket={daemon.socket}"],
                          env={"PATH": os.environ["PATH"], "XDG_RUNTIME_DIR": "/nowhere"},
                          capture_output=True, timeout=PATIENCE, check=False)
    assert (done.stdout, done.stderr) == (b"x\n", b"")


def test_a_bare_name_at_a_terminal_is_introduced(daemon, port):
    daemon.server("web")
    said, code = screen_of(daemon, "db")
    assert code == DONE and said.startswith("db: running at tcp://127.0.0.1:")
    assert "strata db COMMAND..." in said and "strata start -i db" in said
    assert "strata web MESSAGE..." in screen_of(daemon, "web")[0]
    daemon.act("db", "stop")
    said, code = screen_of(daemon, "db")
    assert code == DONE and said.startswith("db: stopped") and "strata start db" in said
    shown, code = screen_of(daemon, "db", "--format", "json")
    assert json.loads(shown)["name"] == "db"


def test_tell_of_a_cache_at_a_terminal_is_a_prompt(daemon, port):
    with Terminal(daemon, "tell", "db", TERM="xterm", HOME=str(daemon.folder),
                  STRATA_STATE_DIR=str(daemon.folder / "cli")) as terminal:
        terminal.shows(b"db> ")
        terminal.type(b"echo here\n")
        terminal.shows(b'"here"')
        terminal.type(b"quit\n")
        assert terminal.exit_code() == DONE


def test_help_is_that_of_tell(daemon, port):
    assert "usage: strata tell NAME [WORD...]" in daemon.cli("db", "--help")
    assert "tell NAME [WORD...]" in daemon.cli("--help")
