"""Files that a runtime writes: one writer per file, and only regular files."""

import os
import signal
import socket
import stat
import subprocess

import pytest

from resp_wire import Wire
from strata_daemon import PATIENCE, Refused, eventually
from talker import Talker

LOCAL = ["tcp://127.0.0.1:0"]


def cache(daemon, name, **options):
    """Makes a running cache and returns its port."""
    shown = daemon.create("cache", name, listen=LOCAL, **options)
    return int(shown["endpoints"][0].rsplit(":", 1)[1])


def conflict(daemon, kind, name, **options):
    """Returns the reason for which the runtime is refused; it leaves nothing behind."""
    with pytest.raises(Refused) as refused:
        daemon.create(kind, name, listen=LOCAL, **options)
    assert (refused.value.status, refused.value.code) == (409, "conflict"), refused.value
    assert name not in daemon.names()
    return refused.value.message


def test_two_caches_do_not_share_a_log(daemon, tmp_path):
    log = str(tmp_path / "same.aof")
    wire = Wire(cache(daemon, "k1", persistent=log, appendfsync="always"))
    said = conflict(daemon, "cache", "k2", persistent=log)
    assert log in said and "'k1'" in said
    wire.ask("SET", "a", "1")
    for _ in range(3):  # a new file with the same name also belongs to the first runtime
        inode = os.stat(log).st_ino
        eventually(lambda: wire.ask("BGREWRITEAOF").startswith(b"+"), "no other is written")
        eventually(lambda old=inode: os.stat(log).st_ino != old, "it is rewritten")
        assert log in conflict(daemon, "cache", "k2", persistent=log)
    wire.close()
    daemon.act("k1", "stop")
    wire = Wire(cache(daemon, "k2", persistent=log))
    assert wire.ask("GET", "a") == b"$1\r\n1\r\n"
    wire.close()
    with pytest.raises(Refused, match="'k2'"):
        daemon.act("k1", "start")


def test_two_caches_do_not_share_a_snapshot(daemon, tmp_path):
    file = str(tmp_path / "dump.rdb")
    wire = Wire(cache(daemon, "k1", snapshot=file))
    assert "'k1'" in conflict(daemon, "cache", "k2", snapshot=file)
    wire.ask("SET", "a", "1")
    for _ in range(2):
        assert wire.ask("SAVE") == b"+OK\r\n"
        assert "'k1'" in conflict(daemon, "cache", "k2", snapshot=file)
    wire.close()
    daemon.act("k1", "stop")
    wire = Wire(cache(daemon, "k2", snapshot=file))
    assert wire.ask("GET", "a") == b"$1\r\n1\r\n"
    wire.close()


def test_a_snapshot_that_was_never_written_leaves_no_file(daemon, tmp_path):
    file = tmp_path / "dump.rdb"
    cache(daemon, "k", snapshot=str(file))
    daemon.act("k", "stop")
    assert not file.exists()


@pytest.mark.parametrize("link", ["", "symlink", "link"])
def test_the_kinds_of_files_hold_each_other_off_by_whatever_name(daemon, tmp_path, link):
    file = tmp_path / "file"
    other = file
    cache(daemon, "k", persistent=str(file))
    if link:
        other = tmp_path / "other"
        getattr(os, link)(file, other)
    assert "'k'" in conflict(daemon, "cache", "c", snapshot=str(other))
    assert "'k'" in conflict(daemon, "server", "s", write=str(other))
    with pytest.raises(Refused, match="'k'"):
        daemon.create("client", "l", target="127.0.0.1:1", reconnect=0, write=str(other))
    daemon.restart()
    assert daemon.show("k")["state"] == "running"


def test_two_servers_do_not_write_one_file_and_one_with_threads_does(daemon, tmp_path):
    file = str(tmp_path / "said")
    daemon.server("a", write=file, threads=3)
    assert "'a'" in conflict(daemon, "server", "b", write=file, threads=2)
    daemon.act("a", "restart")
    daemon.remove("a")
    daemon.server("b", write=file)


def test_two_daemons_do_not_share_a_file(make_daemon, tmp_path):
    file = str(tmp_path / "same.aof")
    first, second = make_daemon(), make_daemon()
    cache(first, "k", persistent=file)
    assert "another daemon" in conflict(second, "cache", "k", persistent=file)
    first.kill9()
    cache(second, "k", persistent=file)


# --- files that are not regular

STRANGE = {
    "fifo": os.mkfifo,
    "folder": os.mkdir,
    "device": lambda path: os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 3)),
}
USES = {
    "server": ("server", "write", {"listen": LOCAL}),
    "client": ("client", "write", {"target": "127.0.0.1:1", "reconnect": 0}),
    "log": ("cache", "persistent", {"listen": LOCAL}),
    "snapshot": ("cache", "snapshot", {"listen": LOCAL}),
}


@pytest.fixture(params=STRANGE)
def strange(request, root, tmp_path):
    path = tmp_path / request.param
    STRANGE[request.param](path)
    return str(path)


@pytest.mark.parametrize("use", USES)
def test_what_is_no_regular_file_is_refused_at_once(daemon, strange, use):
    kind, key, options = USES[use]
    with pytest.raises(Refused) as refused:
        daemon.create(kind, "bad", **options, **{key: strange})
    assert refused.value.status == 400 and "regular file" in refused.value.message
    assert strange in refused.value.message
    daemon.server("good")
    assert daemon.names() == ["good"]


@pytest.mark.parametrize("use", USES)
def test_at_boot_it_fails_its_own_runtime_alone(daemon, tmp_path, use):
    kind, key, options = USES[use]
    path = tmp_path / "file"
    daemon.server("before", write=str(tmp_path / "other"))
    daemon.create(kind, "a-first", **options, **{key: str(path)})
    cache(daemon, "db", persistent=str(tmp_path / "db.aof"))
    daemon.stop()
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    for _ in range(2):
        daemon.start()
        states = {each["name"]: each["state"] for each in daemon.ask("GET", "/v1/runtimes")}
        assert states == {"a-first": "failed", "before": "running", "db": "running"}
        assert "regular file" in daemon.show("a-first")["reason"]
        daemon.stop()
    daemon.start()


# --- the end

def test_sigterm_ends_the_daemon_whatever_a_runtime_waits_for(make_daemon):
    """A client connects to a server whose queue is full, and would wait for an hour."""
    daemon = make_daemon("--drain-timeout", "1")
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        filling = [socket.socket() for _ in range(4)]
        for each in filling:
            each.setblocking(False)
            each.connect_ex(deaf.getsockname())
        port = deaf.getsockname()[1]
        command = subprocess.Popen(
            daemon.command()[:1] + ["create", "client", "c", "-t", f"127.0.0.1:{port}",
                                    "--connect-timeout", "3600", "-s"],
            env=daemon.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        eventually(lambda: "c" in daemon.names(), "it is there")
        daemon.signal(signal.SIGTERM)
        daemon.process.wait(PATIENCE)
        daemon.process = None
        command.wait(PATIENCE)
        for each in filling:
            each.close()
    assert not daemon.socket.exists()


def test_a_file_at_the_limit_of_its_size_is_an_error_and_not_the_end(make_daemon, tmp_path):
    daemon = make_daemon()
    subprocess.run(["prlimit", "--pid", str(daemon.pid), "--fsize=65536"], check=True)
    file = tmp_path / "said"
    [url] = daemon.server("s", write=str(file))
    with Talker(url) as ann, Talker(url) as bob:
        daemon.wait_connections("s", 2)
        for _ in range(3):
            ann.say(b"x" * 60_000)
            assert bob.hear() == b"x" * 60_000
        eventually(lambda: daemon.logged("s", "File too large", "error"), "the log says so")
    assert file.stat().st_size <= 65536
    daemon.act("s", "stop")


def test_nobody_is_told_to_cut_a_file_that_is_no_log(daemon, tmp_path):
    foreign = tmp_path / "passwd"
    foreign.write_bytes(b"root:x:0:0:root:/root:/bin/bash\n" * 10)
    before = foreign.read_bytes()
    with pytest.raises(Refused) as refused:
        daemon.create("cache", "c", listen=LOCAL, persistent=str(foreign))
    assert "truncate" not in refused.value.remedy and "another file" in refused.value.remedy
    assert foreign.read_bytes() == before
    log = tmp_path / "cut.aof"
    log.write_bytes(b"*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\n1\r\nno command\r\n")
    with pytest.raises(Refused) as refused:
        daemon.create("cache", "c", listen=LOCAL, persistent=str(log))
    assert f"truncate -s 27 '{log}'" in refused.value.remedy
