"""Hostile requests and scarce resources: requests are refused, and the daemon continues."""

import json
import os
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from others import USER, UserDaemon, copied_binary, run_as
from strata_daemon import Refused, eventually
from talker import Talker

DEEP = 100_000


# --- deep JSON

def deep(size, kind="["):
    return "[" * size + "]" * size if kind == "[" else kind * size + "1" + "}" * size


@pytest.mark.parametrize("kind", ["[", '{"a":'])
@pytest.mark.parametrize("body", [
    '{"type":"server","name":"x","options":{"port":%s}}', '{"type":"server","name":"x","start":%s}',
    '{"type":"server","name":"x","options":%s}', "%s"])
def test_deep_json_is_refused(daemon, body, kind):
    text = (body % deep(DEEP, kind)).encode()
    for method, path in [("POST", "/v1/runtimes"), ("PATCH", "/v1/runtimes/x")]:
        status, content = daemon.exchange(method, path, text)
        answer = json.loads(content)["error"]
        assert (status, answer["code"]) == (400, "malformed")
        assert "nested deeper than 64 levels" in answer["message"]
    assert daemon.names() == []


def test_json_as_deep_as_allowed_is_read(daemon):
    body = '{"type":"server","name":"x","options":{"port":%s}}'
    status, content = daemon.exchange("POST", "/v1/runtimes", (body % deep(62)).encode())
    assert status == 400 and b"port" in content and b"nested" not in content
    _, content = daemon.exchange("POST", "/v1/runtimes", (body % deep(63)).encode())
    assert b"nested deeper than 64 levels" in content


@pytest.mark.parametrize("text, at", [(b"", 0), (b'{"type": server}', 9), (b'{"a": 1,}', 8),
                                      (b'{"a": "b', 8), (b'{"a": 1} x', 9)])
def test_a_syntax_error_is_shown_where_it_is(daemon, text, at):
    _, content = daemon.exchange("POST", "/v1/runtimes", text)
    assert f"it is not valid JSON (at byte {at})" in json.loads(content)["error"]["message"]


def test_a_deep_state_file_is_set_aside(daemon):
    daemon.server("good")
    daemon.server("bad")
    daemon.stop()
    file = daemon.state_dir / "runtimes" / "bad.json"
    text = file.read_text()
    file.write_text(text.replace('"options": {', '"options": {"x": ' + deep(DEEP) + ","))
    assert file.read_text() != text
    daemon.start()
    assert daemon.names() == ["good"]
    assert "nested deeper than 64 levels" in daemon.log()


# --- no thread, no descriptor

@pytest.fixture
def threadless(place):  # noqa: F811
    """Makes a user's daemon that uses almost all threads that the user may have. The limit counts
    all processes of the user, which also owns other tests' daemons: a test with it is `serial`."""
    daemon = UserDaemon(place, binary=copied_binary(place))
    daemon.start()
    yield daemon
    allow_threads(daemon, 8)  # LeakSanitizer needs one at the end
    daemon.close()


def allow_threads(daemon, more):
    now = len(os.listdir(f"/proc/{daemon.pid}/task"))
    run_as(USER, "prlimit", "--pid", daemon.pid, f"--nproc={now + more}:").check_returncode()


@pytest.mark.serial
def test_without_threads_more_loops_are_an_error(threadless):
    allow_threads(threadless, 0)
    with pytest.raises(Refused) as refused:
        threadless.server("first")
    assert (refused.value.status, refused.value.code) == (503, "limit_exceeded")
    assert "ulimit -u" in refused.value.message
    allow_threads(threadless, 2)
    with pytest.raises(Refused) as refused:
        threadless.server("many", threads=8)
    assert refused.value.status == 503
    [url] = threadless.server("few")
    Talker(url).close()


@pytest.mark.serial
def test_without_threads_a_name_is_not_found_but_looked_up_again(threadless):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        allow_threads(threadless, 1)
        port = listener.getsockname()[1]
        threadless.create("client", "c", target=f"localhost:{port}", reconnect=0)
        eventually(lambda: threadless.logged("c", "no thread is left"), "the log says so")
        allow_threads(threadless, 8)
        listener.settimeout(30)
        listener.accept()[0].close()


def test_without_descriptors_a_start_is_the_systems_fault(make_daemon):
    daemon = make_daemon(files=40)
    with pytest.raises(Refused) as refused:
        daemon.server("s", threads=64)
    assert (refused.value.status, refused.value.code) == (503, "limit_exceeded")
    assert "ulimit -n" in refused.value.message


def test_a_message_that_is_too_long_is_the_requests_fault(daemon):
    daemon.server("s", max_message=10)
    with pytest.raises(Refused) as refused:
        daemon.send("s", b"x" * 11)
    assert (refused.value.status, refused.value.code) == (413, "limit_exceeded")


# --- the process

@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGALRM,
                                    signal.SIGXFSZ])
def test_signals_that_mean_nothing_change_nothing(daemon, number):
    daemon.signal(number)
    assert daemon.names() == []


def test_without_standard_descriptors_nothing_else_takes_their_place(daemon):
    daemon.stop()
    command = ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *map(str, daemon.command())]
    daemon.process = subprocess.Popen(command, env=daemon.environment)
    eventually(lambda: daemon.socket.exists(), "it listens")
    daemon.server("s")
    for fd in range(3):
        assert os.readlink(f"/proc/{daemon.pid}/fd/{fd}") == "/dev/null"
    assert Path(daemon.state_dir / "lock").read_text() == f"{daemon.pid}\n"


@pytest.mark.parametrize("kind", ["server", "client"])
def test_help_names_every_scheme(daemon, kind):
    said = "".join(daemon.cli("create", kind, "--help").split())
    for scheme in ["tcp://", "udp://", "unix://", "l2://", "xdp://"]:
        assert scheme in said
