"""Processes of others that the daemon watches."""

import signal
import socket
import subprocess
import sys

import pytest

from programs import gone, instances_of, lines_of
from strata_daemon import PATIENCE, Daemon, Refused, eventually
from talker import Talker, free_port, port_of


def listener_on(port):
    """A process of somebody else, which accepts connections."""
    return subprocess.Popen([sys.executable, "-c",
                             "import socket, sys\n"
                             "listener = socket.create_server(('127.0.0.1', int(sys.argv[1])))\n"
                             "print('up', flush=True)\n"
                             "while True: listener.accept()[0].sendall(b'hello')", str(port)],
                            stdout=subprocess.PIPE)


@pytest.fixture
def outside():
    """A process of somebody else, and its port."""
    port = free_port()
    process = listener_on(port)
    process.stdout.readline()
    yield process, port
    process.kill()
    process.wait()


def test_an_attached_process_is_a_backend_until_it_ends(daemon, outside):
    process, port = outside
    attached = daemon.run("attach", "theirs", str(port), "--pid", str(process.pid), "-g", "all")
    assert attached.returncode == 0, attached.stderr
    shown = daemon.show("theirs")
    assert shown["state"] == "running" and port_of(shown["endpoints"][0]) == port
    assert instances_of(daemon, "theirs")[0]["pid"] == process.pid
    [front] = daemon.create("proxy", "front", listen=["tcp://127.0.0.1:0"],
                            backend=["@all"])["endpoints"]
    with Talker(front) as talker:
        assert talker.read(5) == b"hello"
    refused = daemon.run("signal", "theirs", "TERM")
    assert refused.returncode != 0 and "not managed" in refused.stderr
    assert "strata has not started" in daemon.run("roll", "theirs").stderr
    daemon.act("theirs", "stop")
    assert process.poll() is None, "an unmanaged process is left alone"
    daemon.act("theirs", "start")
    process.kill()
    process.wait()
    eventually(lambda: daemon.show("theirs")["state"] == "failed", "its end is noticed")
    assert f"process {process.pid} has ended" in daemon.show("theirs")["reason"]


def crash(daemon):
    daemon.kill9()
    daemon.start()


@pytest.mark.parametrize("follow", [Daemon.take_over, crash])
def test_the_next_daemon_watches_an_attached_process(daemon, outside, follow):
    process, port = outside
    assert daemon.run("attach", "theirs", str(port), "--pid", str(process.pid)).returncode == 0
    for _ in range(2):
        follow(daemon)
        assert daemon.show("theirs")["state"] == "running"
        assert instances_of(daemon, "theirs")[0]["pid"] == process.pid
    process.kill()
    process.wait()
    eventually(lambda: daemon.show("theirs")["state"] == "failed", "its end is noticed")
    assert f"process {process.pid} has ended" in daemon.show("theirs")["reason"]


def test_an_attached_process_that_ends_while_no_daemon_runs_has_failed(daemon, outside):
    process, port = outside
    assert daemon.run("attach", "theirs", str(port), "--pid", str(process.pid)).returncode == 0
    daemon.kill9()
    process.kill()
    process.wait()
    daemon.start()
    eventually(lambda: daemon.show("theirs")["state"] == "failed", "its end is noticed")
    assert str(process.pid) in daemon.show("theirs")["reason"]


def test_a_managed_process_ends_with_a_stop(daemon, outside):
    process, port = outside
    assert daemon.run("attach", "theirs", "--pid", str(process.pid), "--managed").returncode == 0
    daemon.act("theirs", "stop")
    assert process.wait(timeout=PATIENCE) == -signal.SIGTERM


def test_a_port_alone_is_watched_by_checks(daemon, outside):
    process, port = outside
    daemon.create("program", "theirs", attached=True, port=port, alive="port", alive_interval=0.5,
                  alive_limit=2)
    assert instances_of(daemon, "theirs")[0]["pid"] == 0
    process.kill()
    process.wait()
    eventually(lambda: daemon.show("theirs")["state"] != "running", "it is gone")
    eventually(lambda: any("failed 2 checks (port) in a row" in line
                           for line in lines_of(daemon, "theirs")), "the log says why")
    again = listener_on(port)
    try:
        eventually(lambda: daemon.show("theirs")["state"] == "running", "it has come back")
    finally:
        again.kill()
        again.wait()


def test_an_attached_process_that_is_not_there_is_refused(daemon, outside):
    process, port = outside
    free = free_port()
    ended = subprocess.Popen(["true"])
    ended.wait()
    with pytest.raises(Refused, match="did not answer"):
        daemon.create("program", "p", attached=True, port=free, ready_timeout=0.3)
    with pytest.raises(Refused, match="did not answer"):
        daemon.create("program", "p", attached=True, pid=str(process.pid), port=free,
                      ready="port", ready_timeout=0.3)
    with pytest.raises(Refused, match="attach to process"):
        daemon.create("program", "p", attached=True, pid=str(ended.pid))
    with pytest.raises(Refused, match="another one has its id now"):
        daemon.create("program", "p", attached=True, pid=f"{process.pid}@1")
    for options, why in [({}, "nothing says which process"), ({"pid": "x"}, "not a process id"),
                         ({"pid": "-1"}, "not a process id"), ({"pid": "1@"}, "not a process id"),
                         ({"pid": "1", "command": "true"}, "has no command"),
                         ({"pid": "1", "instances": 2}, "neither instances"),
                         ({"pid": "1", "ready": "notify"}, "cannot be known"),
                         ({"pid": "1", "alive": "port"}, "needs a port")]:
        with pytest.raises(Refused, match=why):
            daemon.create("program", "p", attached=True, **options)
    assert daemon.names() == []
    assert "is not a port" in daemon.run("attach", "p", "http").stderr
