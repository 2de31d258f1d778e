"""The CLI does not wait endlessly for a daemon that does not answer, but waits for one that
works."""

import contextlib
import signal
import subprocess
import time

import pytest

from deaf import deaf_address
from strata_daemon import BINARY, PATIENCE
from talker import Talker

UNREACHABLE, MISUSED, DONE = 4, 2, 0


@contextlib.contextmanager
def stopped(daemon):
    daemon.signal(signal.SIGSTOP)
    try:
        yield
    finally:
        daemon.signal(signal.SIGCONT)


def with_variable(daemon, *arguments, timeout):
    return subprocess.run([BINARY, *arguments], capture_output=True, text=True, timeout=PATIENCE,
                          env=daemon.environment | {"STRATA_TIMEOUT": timeout}, check=False)


@pytest.mark.parametrize("verb, request_name", [
    (["ls"], "GET /v1/runtimes"), (["show", "web"], "GET /v1/runtimes/web"),
    (["edit", "web", "--drain"], "GET /v1/runtimes/web"),
    (["logs", "web", "-f"], "GET /v1/runtimes/web/logs"), (["events"], "GET /v1/events"),
    (["start", "web"], "POST /v1/runtimes/web/start"),
    (["create", "server", "s", "-p", "0"], "POST /v1/runtimes"),
    (["remove", "web"], "DELETE /v1/runtimes/web"),
    (["send", "web", "x"], "POST /v1/runtimes/web/send"),
    (["tell", "web", "x"], "GET /v1/runtimes/web")])
def test_a_stopped_daemon_is_told(daemon, verb, request_name):
    daemon.server("web")
    with stopped(daemon):
        # For `remove`, --timeout is the runtime's: how long its end may take.
        given = [] if verb[0] == "remove" else ["--timeout", "300ms"]
        daemon.variables["STRATA_TIMEOUT"] = "300ms"
        done = daemon.run(*verb, *given)
    assert (done.returncode, done.stdout) == (UNREACHABLE, "")
    assert done.stderr == (
        f"strata: the daemon (pid {daemon.pid}) at {daemon.socket} has not answered "
        f"'{request_name}' within 0.3 s: it is stopped (SIGSTOP); continue it with "
        f"'kill -CONT {daemon.pid}'\n")
    daemon.names()  # the daemon continues


def test_a_message_that_fills_the_socket_is_not_sent_without_end(daemon, tmp_path):
    daemon.server("web", max_message=8 << 20)
    message = tmp_path / "message"
    message.write_bytes(b"x" * (4 << 20) + b"\n")
    with stopped(daemon), open(message, "rb") as given:
        done = subprocess.run([BINARY, "send", "web", "--timeout", "0.3"], stdin=given,
                              env=daemon.environment, capture_output=True, timeout=PATIENCE,
                              check=False)
    assert done.returncode == UNREACHABLE and b"kill -CONT" in done.stderr


def test_the_variable_says_it_too(daemon):
    with stopped(daemon):
        assert "within 0.2 s" in with_variable(daemon, "ls", timeout="200ms").stderr
        assert "within 0.1 s" in with_variable(daemon, "ls", "--timeout", "0.1",
                                               timeout="1h").stderr
        done = with_variable(daemon, "stop", "web", "--timeout", "5", timeout="0.2")
        assert done.returncode == UNREACHABLE and "within 0.2 s" in done.stderr
    done = with_variable(daemon, "ls", timeout="soon")
    assert done.returncode == MISUSED and "STRATA_TIMEOUT" in done.stderr
    assert with_variable(daemon, "ls", "--help", timeout="soon").returncode == DONE
    assert with_variable(daemon, "ls", timeout="0").returncode == DONE
    assert with_variable(daemon, "ls", timeout="").returncode == DONE


def test_without_a_limit_it_waits(daemon):
    with stopped(daemon):
        listing = daemon.begin("ls", "--timeout", "0")
        time.sleep(0.5)
        assert listing.poll() is None
    assert listing.wait(PATIENCE) == DONE
    listing.stderr.close()


def test_a_slip_of_the_pen_is_told_where_the_daemon_is_stopped(daemon):
    with stopped(daemon):
        assert "there is no verb 'lss'" in daemon.run("lss").stderr


def test_a_stop_that_delivers_first_is_waited_for(daemon):
    [url] = daemon.server("web", drain=True, drain_timeout=3600, max_buffer=64 << 20)
    with Talker(url):
        daemon.wait_connections("web", 1)
        for _ in range(20):
            daemon.send("web", b"x" * 1_000_000)
        daemon.variables["STRATA_TIMEOUT"] = "100ms"
        slow = daemon.begin("stop", "web")
        time.sleep(1)
        assert slow.poll() is None
        del daemon.variables["STRATA_TIMEOUT"]
        daemon.cli("stop", "web", "--now")
        assert slow.wait(PATIENCE) == DONE
        slow.stderr.close()


def test_a_start_that_connects_is_waited_for_and_the_daemon_must_live(daemon):
    with deaf_address() as deaf:
        daemon.create("client", "c", start=False, target=deaf.text, connect_timeout=3600)
        starting = daemon.begin("start", "c", "--timeout", "0.2")
        time.sleep(1)
        assert starting.poll() is None
        with stopped(daemon):
            assert starting.wait(PATIENCE) == UNREACHABLE
        assert "kill -CONT" in starting.stderr.read()
        starting.stderr.close()
        daemon.remove("c")


def test_what_follows_is_not_limited(daemon):
    [url] = daemon.server("web", mode="in")
    with subprocess.Popen([BINARY, "start", "-i", "web", "--timeout", "0.2"], text=True,
                          env=daemon.environment, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as listening, Talker(url) as ann:
        time.sleep(1)
        assert listening.poll() is None
        daemon.wait_connections("web", 1)
        ann.say(b"later")
        assert "later" in listening.stdout.readline()
        listening.stdin.close()
        assert listening.wait(PATIENCE) == DONE
