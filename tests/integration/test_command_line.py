"""The CLI with a real daemon: exit codes, output streams, the interactive session."""

import contextlib
import json
import os
import re
import signal
import subprocess

import pytest

from strata_daemon import BINARY, PATIENCE, eventually
from talker import Talker, free_port, port_of
from terminal import Terminal

pytestmark = pytest.mark.once

DONE, FAILED, MISUSED, NOT_FOUND, UNREACHABLE = range(5)


def test_help_names_the_urls_that_each_end_takes(daemon):
    def urls(kind, flag):
        text = " ".join(daemon.cli("create", kind, "--help").split())
        shown = text.split(flag + " ", 1)[1].split(" --", 1)[0]
        return set(re.findall(r"\w+://[^ ,;]+", shown))

    heard, reached = urls("server", "--listen"), urls("client", "--connect")
    assert {"ws://HOST:PORT", "https://HOST:PORT", "unix:///PATH"} < heard
    assert "wss://HOST:PORT/PATH" in reached and "runtime://NAME" in reached
    assert not any(each.startswith("http") for each in reached)


def test_nothing_is_loaded_that_most_verbs_do_not_use():
    """ld.so's work adds to the start of every verb: loading an ssh client
    alone takes a fifth of it."""
    told = subprocess.run([BINARY], env={"LD_TRACE_LOADED_OBJECTS": "1"}, capture_output=True,
                          text=True, timeout=PATIENCE, check=True).stdout
    assert "libcrypto" in told
    for name in ("libssh", "libkrb5", "libbpf", "libelf", "libedit", "libtinfo", "libyaml"):
        assert name not in told, told


@pytest.mark.parametrize("arguments, code, message", [
    (["create", "server", "idle", "-p", "0"], FAILED, "exists"),
    (["create", "server", "b", "-p", "99999"], MISUSED, "99999"),
    (["create", "teapot", "b"], MISUSED, "teapot"),
    (["create", "server", "a/b", "-p", "0"], MISUSED, "a/b"),
    (["create", "server", "b"], MISUSED, "--listen"),
    (["create", "server", "b", "-l", "127.0.0.1:9"], MISUSED, "tcp://127.0.0.1:9"),
    (["create", "proxy", "b", "-p", "0"], MISUSED, "--backend"),
    (["create", "proxy", "b", "-p", "0", "--backend", "127.0.0.1:1", "--route", "nonsense"],
     MISUSED, "nonsense"),
    (["edit", "idle", "--listen", "nowhere"], MISUSED, "nowhere"),
    (["start", "idel"], NOT_FOUND, "(did you mean 'idle'?)"),
    (["ls", "idel", "-q"], NOT_FOUND, "(did you mean 'idle'?)"),
    (["create", "server", "b", "-p", "0", "-o", "idel"], NOT_FOUND, "(did you mean 'idle'?)"),
    (["create", "server", "b", "-p", "0", "-o", "nobody"], NOT_FOUND, "nobody"),
    (["create", "server", "b", "-p", "0", "-w", "/nonexistent/x", "-s"], FAILED, "/nonexistent/x"),
    (["create", "server", "b", "-l", "tcp://no.such.host.invalid:1", "-s"], FAILED, "no.such.host"),
    (["start", "unwritable"], FAILED, "/nonexistent/x"),
    (["restart", "unwritable"], FAILED, "/nonexistent/x"),
    (["edit", "idle", "-o", "nobody"], NOT_FOUND, "nobody"),
    (["restart", "nobody"], NOT_FOUND, "nobody"),
    (["remove", "@nothing"], NOT_FOUND, "nothing"),
    (["ls", "nobody", "-q"], NOT_FOUND, "nobody"),
    (["edit", "idle"], MISUSED, "--help"),
    (["edit", "idle", "--threads", "0"], MISUSED, "--threads"),
    (["edit", "idle", "--mode", "master"], MISUSED, "--master-pw"),
    (["edit", "nobody", "--drain"], NOT_FOUND, "nobody"),
    (["send", "idle", "x"], FAILED, "start it"),
    (["send", "nobody", "x"], NOT_FOUND, "nobody"),
    (["show", "nobody"], NOT_FOUND, "nobody"),
    (["logs", "nobody"], NOT_FOUND, "nobody"),
    (["stats", "nobody"], NOT_FOUND, "nobody"),
    (["owner", "nobody"], NOT_FOUND, "nobody"),
    (["remove", "no*"], NOT_FOUND, "no*"),
    (["start", "-i", "nobody"], NOT_FOUND, "nobody"),
    (["frobnicate"], MISUSED, "frobnicate"),
    (["ls", "--json"], MISUSED,
     "'strata ls' has no flag '--json': here it is --format json; see 'strata ls --help'"),
    (["create", "proxy", "b", "--retry", "1"], MISUSED, "here it is --retries"),
    (["create", "proxy", "b", "--retrys", "1"], MISUSED, "(did you mean '--retries'?)"),
    (["create", "server", "b", "--max-conn", "1"], MISUSED, "here it is --max-connections"),
    (["create", "cache", "b", "--http", "x"], MISUSED,
     "'strata create cache' has no flag '--http'; see 'strata create cache --help'"),
    (["create", "server", "b", "--test"], MISUSED, "no flag '--test': here it is --dry-run; see"),
    (["create", "server", "b", "--log", "x"], MISUSED, "here it is `strata logs NAME`"),
    (["--socket", "/nowhere/s.sock", "ls"], UNREACHABLE, "strata daemon")])
def test_what_fails_says_why_on_stderr_and_in_its_exit_code(daemon, arguments, code, message):
    daemon.create("server", "idle", start=False, port=0)
    daemon.create("server", "unwritable", start=False, port=0, write="/nonexistent/x")
    done = daemon.run(*arguments)
    assert (done.returncode, done.stdout) == (code, ""), done
    assert message in done.stderr and done.stderr.startswith("strata: ")


def test_what_works_says_nothing_on_stderr(daemon):
    [url] = daemon.server("s")
    for arguments in [["ls"], ["ps"], ["show", "s"], ["stats", "s"], ["logs", "s"], ["events"],
                      ["owner", "s"], ["version"], ["doctor"], ["edit", "s", "--drain"],
                      ["send", "s", "x"], ["reload", "s"], ["restart", "s"], ["stop", "s"],
                      ["start", "s"], ["remove", "s"], ["help"], ["create", "--help"]]:
        done = daemon.run(*arguments)
        assert done.stderr == "" and done.stdout != "", done
        assert done.returncode == DONE or arguments == ["doctor"]


def test_all_verbs_speak_json(daemon):
    daemon.server("s")
    for arguments in [["ls"], ["ps"], ["show", "s"], ["stats", "s"], ["owner", "s"], ["version"],
                      ["edit", "s", "--drain"], ["send", "s", "x"], ["restart", "s"],
                      ["stop", "s"], ["start", "s"], ["remove", "s"]]:
        json.loads(daemon.cli(*arguments, "--format", "json"))


def test_without_a_daemon_it_says_how_to_start_one(daemon):
    daemon.stop()
    for verb in [["ls"], ["create", "server", "s", "-p", "0"], ["send", "s", "x"]]:
        done = daemon.run(*verb)
        assert done.returncode == UNREACHABLE and "strata daemon" in done.stderr


def test_send_takes_an_argument_or_each_line_of_its_input(daemon):
    [url] = daemon.server("s")
    with Talker(url) as ann:
        daemon.wait_connections("s", 1)
        daemon.cli("send", "s", "an argument")
        daemon.cli("send", "s", given="line one\nline two\nno end")
        daemon.cli("send", "s", "-", given="dash\n")
        daemon.cli("send", "s", "--", "--flag-like")
        assert ann.hear_lines(6) == [b"an argument", b"line one", b"line two", b"no end", b"dash",
                                     b"--flag-like"]


def test_what_is_acknowledged_is_counted(daemon):
    [url] = daemon.server("s", detect_timeout=20)  # the client's protocol is not known yet
    with Talker(url):
        daemon.wait_connections("s", 1)
        assert daemon.cli("send", "s", "hello") == "delivered to 1 connection\n"
        counted = daemon.stats("s")
        assert (counted["messages"]["out"], counted["bytes"]["out"]) == (1, 6)


def test_a_send_that_is_refused_is_seen(daemon):
    daemon.create("client", "guest", target=f"127.0.0.1:{free_port()}", reconnect=0)
    done = daemon.run("send", "guest", "lost")
    assert (done.returncode, done.stdout) == (FAILED, "")
    assert "not connected" in done.stderr and "--queue" in done.stderr
    done = daemon.run("send", "guest", given="one\ntwo\n")
    assert done.returncode == FAILED and "line 1" in done.stderr


def test_an_edit_says_what_waits_for_a_restart(daemon):
    daemon.server("s")
    shown = daemon.cli("edit", "s", "--rate-limit", "5", "--framing", "raw")
    assert "in force now" in shown and "rate_limit" in shown
    assert "strata restart s" in shown and "framing" in shown
    assert daemon.show("s")["options"]["rate_limit"] == 5


def test_logs_are_followed_until_ctrl_c(daemon):
    daemon.server("s")
    with background(daemon, "logs", "-f", "s") as following:
        assert b"created" in following.stdout.readline()
        assert b"started" in following.stdout.readline()
        daemon.edit("s", group="blue")
        assert b"edited: group" in following.stdout.readline()
        following.send_signal(signal.SIGINT)
        following.wait(PATIENCE)
    assert daemon.show("s")["state"] == "running"


def test_a_reader_that_has_enough_ends_the_cli_quietly(daemon):
    daemon.server("s")
    for number in range(200):
        daemon.edit("s", group=f"g{number}")
    done = subprocess.run(["sh", "-c", f"'{BINARY}' events | head -1"], capture_output=True,
                          env=daemon.environment, timeout=PATIENCE)
    assert done.returncode == 0 and done.stderr == b"" and b"created" in done.stdout


@contextlib.contextmanager
def background(daemon, *arguments):
    running = subprocess.Popen([BINARY, *arguments], env=daemon.environment,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    try:
        yield running
    finally:
        running.kill()
        running.communicate()


def test_start_i_talks_and_listens_and_ctrl_c_leaves_the_runtime_running(daemon):
    port = free_port()
    daemon.create("server", "s", start=False, listen=[f"tcp://127.0.0.1:{port}"])
    with Terminal(daemon, "start", "-i", "s") as terminal:
        eventually(lambda: daemon.show("s")["state"] == "running", "it starts")
        with Talker(f"tcp://127.0.0.1:{port}") as ann:
            daemon.wait_connections("s", 1)
            terminal.type(b"hello from the terminal\n")
            assert ann.hear() == b"hello from the terminal"
            ann.say(b"hello back")
            terminal.shows(b"] hello back")
            ann.say(b"\x1b[2Jclear")
            terminal.shows(b"clear")
            assert b"\x1b[2J" not in terminal.screen
            terminal.type(b"\x03")
            assert terminal.exit_code() == DONE
            assert daemon.show("s")["state"] == "running"
            daemon.send("s", b"I go on")
            assert ann.hear() == b"I go on"


def test_start_i_of_a_running_client(daemon):
    [url] = daemon.server("s")
    daemon.create("client", "guest", connect=url)
    daemon.wait_connections("s", 1)
    with Talker(url) as ann, Terminal(daemon, "start", "-i", "guest") as terminal:
        daemon.wait_connections("s", 2)
        terminal.type(b"from the guest\n")
        assert ann.hear() == b"from the guest"
        ann.say(b"to the guest")
        terminal.shows(b"to the guest")
        terminal.type(b"\x04")  # end of input
        assert terminal.exit_code() == DONE


def test_start_i_reports_what_cannot_be_sent_and_goes_on(daemon):
    daemon.create("client", "guest", target=f"127.0.0.1:{free_port()}", reconnect=0)
    with Terminal(daemon, "start", "-i", "guest") as terminal:
        terminal.type(b"lost\n")
        terminal.shows(b"not connected")
        terminal.type(b"\x03")
        assert terminal.exit_code() == DONE


def test_start_i_ends_when_its_runtime_is_removed(daemon):
    [url] = daemon.server("s")
    with Talker(url) as ann, Terminal(daemon, "start", "-i", "s") as terminal:
        ann.say(b"before")
        eventually(lambda: terminal.follows(ann), "it listens")
        daemon.remove("s")
        assert terminal.exit_code() == FAILED
        assert b"removed" in terminal.screen


def test_start_i_says_what_one_talks_to(daemon):
    [url] = daemon.server("s")
    with Talker(url), Terminal(daemon, "start", "-i", "s", columns=100) as terminal:
        terminal.shows(f"s: a server at {url}, 1 connection. A line goes to all".encode())
    daemon.create("client", "c", connect=url)
    daemon.wait_connections("c", 1)
    with Terminal(daemon, "start", "-i", "c", columns=100) as terminal:
        terminal.shows(f"c: a client at {url}, connected. A line goes to the other end".encode())


def test_start_i_keeps_what_is_being_typed_while_something_comes(daemon):
    [url] = daemon.server("s")
    with Talker(url) as ann, Terminal(daemon, "start", "-i", "s", columns=100) as terminal:
        daemon.wait_connections("s", 1)
        terminal.shows(b"s> ")
        terminal.type(b"half a lime")
        terminal.shows(b"half a lime")
        ann.say(b"in between")
        terminal.shows(b"] in between\r\ns> half a lime")
        terminal.type(b"\x7f\x7fne\n")  # the line is edited
        assert ann.hear() == b"half a line"
        long = b"x" * 6000  # more than a terminal's own line holds
        terminal.paste(long + b"\n")
        assert ann.hear() == long


def test_start_i_tells_of_connections(daemon):
    [url] = daemon.server("s")
    with Terminal(daemon, "start", "-i", "s") as terminal:
        terminal.shows(b"s> ")
        terminal.type(b"hello?\n")
        terminal.shows(b"-- nobody is connected")
    daemon.create("client", "c", connect=url, reconnect=0, reconnect_min=0.1)
    daemon.wait_connections("c", 1)
    with Terminal(daemon, "start", "-i", "c") as terminal:
        terminal.shows(b"c> ")
        daemon.edit("s", port=port_of(url), listen=[])
        daemon.act("s", "stop")
        terminal.shows(b"next attempt in")
        daemon.act("s", "start")
        terminal.shows(b"-- connected to")


def test_start_i_takes_one_name(daemon):
    daemon.server("s")
    assert daemon.run("start", "-i", "s", "t").returncode == MISUSED
    assert daemon.run("start", "-i", "*").returncode == MISUSED


def test_values_that_are_not_utf8_are_refused_and_not_changed(daemon, tmp_path):
    daemon.server("s")
    strange = os.fsencode(tmp_path) + b"/na\xefve.txt"
    for arguments in [["create", "server", "t", "-p", "0", "-w", strange],
                      ["create", "server", "t", "-l", b"unix://" + strange],
                      ["edit", "s", "--write", strange],
                      ["create", "cache", "t", "-p", "0", "--password", b"\xff\xfe secret"]]:
        done = subprocess.run([BINARY, *arguments], env=daemon.environment, capture_output=True,
                              timeout=PATIENCE)
        assert (done.returncode, done.stdout) == (MISUSED, b"")
        assert b"it is not UTF-8" in done.stderr and b"secret" not in done.stderr
    assert daemon.names() == ["s"]
    assert list(tmp_path.glob("*.txt")) == []
