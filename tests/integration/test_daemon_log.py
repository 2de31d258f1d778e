"""The daemon in the background, and its log: where it is written, how it is cut, what blocks it."""

import fcntl
import os
import re
import signal
import socket
import subprocess

import pytest

from strata_daemon import BINARY, LOOP, PATIENCE, Daemon, eventually
from talker import Talker

STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (debug|info|warning|error|critical) ")


@pytest.fixture
def background(tmp_path):
    """Starts `strata daemon --detach` with more flags, and ends those daemons at the end."""
    folder = tmp_path / "background"
    folder.mkdir()
    started = []

    def start(*flags):
        done = subprocess.run(
            [BINARY, "daemon", "--state-dir", folder / "state", "--socket", folder / "s.sock",
             "--loop", LOOP, "--detach", *map(str, flags)],
            capture_output=True, text=True, timeout=PATIENCE,
            env={**os.environ, "STRATA_SOCKET": str(folder / "s.sock")})
        if done.returncode == 0:
            daemon = Daemon(folder)
            daemon.socket = folder / "s.sock"
            started.append(daemon.ask("GET", "/v1/version")["pid"])
            return daemon
        return done

    yield start
    for pid in started:
        try:
            os.kill(pid, signal.SIGTERM)
        except ProcessLookupError:
            continue
        eventually(lambda pid=pid: not os.path.exists(f"/proc/{pid}"), "it has ended")


def test_a_daemon_that_detaches_is_ready_when_the_command_returns(background, tmp_path):
    daemon = background()
    daemon.server("web")
    pid = daemon.ask("GET", "/v1/version")["pid"]
    assert os.getsid(pid) == pid  # it has no terminal
    for fd in range(3):
        assert os.readlink(f"/proc/{pid}/fd/{fd}") == "/dev/null"
    log = (tmp_path / "background/state/daemon.log").read_text()
    assert "ready" in log and all(STAMP.match(line) for line in log.splitlines()), log


def test_one_that_cannot_run_says_so_before_the_command_returns(background):
    background()
    second = background()
    assert second.returncode == 1
    assert "the daemon with process id" in second.stderr


def test_a_service_manager_is_told(make_daemon, tmp_path):
    where = tmp_path / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(where))
        manager.settimeout(PATIENCE)
        daemon = make_daemon(variables={"NOTIFY_SOCKET": str(where)})
        assert manager.recv(4096).decode().splitlines() == ["READY=1", f"MAINPID={daemon.pid}"]
        daemon.stop()
        assert manager.recv(4096) == b"STOPPING=1"


def test_a_loop_that_hangs_ends_the_signs_of_life(make_daemon, tmp_path):
    script = tmp_path / "spin.lua"
    script.write_text("function on_message() while true do end end")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(PATIENCE)
        daemon = make_daemon(variables={"NOTIFY_SOCKET": str(tmp_path / "notify"),
                                        "WATCHDOG_USEC": "300000"})
        [place] = daemon.create("server", "s", listen=["tcp://127.0.0.1:0"], protocol="raw",
                                lua=str(script), lua_time=4)["endpoints"]

        def await_life():
            while manager.recv(4096) != b"WATCHDOG=1":
                pass

        await_life()
        await_life()
        with Talker(place) as talker:
            talker.say(b"spin")
            manager.settimeout(1)
            with pytest.raises(TimeoutError):  # while the script runs
                while True:
                    await_life()
        manager.settimeout(PATIENCE)
        await_life()


def test_the_log_is_cut_and_some_of_it_kept(make_daemon, tmp_path):
    file = tmp_path / "strata.log"
    daemon = make_daemon("--log-file", file, "--log-size", "1KiB", "--log-keep", "2")
    for at in range(60):
        daemon.create("server", f"s{at}", start=False, port=0)
    names = sorted(each.name for each in tmp_path.glob("strata.log*"))
    assert names == ["strata.log", "strata.log.1", "strata.log.2"]
    assert all(each.stat().st_size <= 1024 for each in tmp_path.glob("strata.log*"))
    assert "s59: created" in file.read_text()


def test_sighup_opens_the_log_again(make_daemon, tmp_path):
    file = tmp_path / "strata.log"
    daemon = make_daemon("--log-file", file)
    file.rename(tmp_path / "old")
    daemon.create("server", "before", start=False, port=0)
    daemon.signal(signal.SIGHUP)
    eventually(file.exists, "it is opened again")
    daemon.create("server", "after", start=False, port=0)
    assert "before: created" in (tmp_path / "old").read_text()
    assert "after: created" in file.read_text()


def test_two_daemons_do_not_share_a_log(make_daemon, tmp_path):
    file = tmp_path / "strata.log"
    make_daemon("--log-file", file)
    second = Daemon(tmp_path / "second", "--log-file", file)
    process = second.launch()
    assert process.wait(timeout=PATIENCE) == 1
    assert "writes it" in second.log()


def test_a_log_that_nobody_reads_stops_nothing(make_daemon):
    """When the log's pipe is full, the daemon continues to serve, and later
    reports how much it left out."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 16384)
    daemon = make_daemon(stderr=writer)
    os.close(writer)
    os.set_blocking(reader, False)
    [url] = daemon.server("web", max_message=100)
    for at in range(400):  # each event is a line in the log
        daemon.act("web", "stop" if at % 2 == 0 else "start")
    with Talker(daemon.show("web")["endpoints"][0]) as ann:
        daemon.wait_connections("web", 1)
        daemon.send("web", b"hello")
        assert ann.hear() == b"hello"
    text = os.read(reader, 1 << 20)
    while len(text) < 1 << 20:
        try:
            text += os.read(reader, 1 << 20)
        except BlockingIOError:
            break
    assert 8000 < len(text) <= 16384
    daemon.create("server", "later", start=False, port=0)
    assert b"lines are missing" in os.read(reader, 1 << 20)
    daemon.stop()
    os.close(reader)


def test_strangers_do_not_fill_the_log(daemon):
    [url] = daemon.server("web", max_message=10)
    for _ in range(60):
        with Talker(url) as ann:
            ann.send(b"x" * 100 + b"\n")
            assert ann.is_ended()
    lines = [each for each in daemon.logs("web") if "disconnected" in each["text"]]
    assert 1 <= len(lines) <= 20
    assert "127.0.0.1" in lines[0]["text"]
