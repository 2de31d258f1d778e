"""Snapshots that clients fetch, as a real redis-server sends them: redis-cli --rdb and --replica,
SYNC and PSYNC without options."""

import socket
import subprocess

import pytest

from cache_contents import assert_same, contents
from resp_wire import RedisServer, Wire
from strata_daemon import PATIENCE, eventually
from test_cache import new_cache


@pytest.fixture(params=["cache", "redis"])
def port(request, daemon, tmp_path):
    """Yields the port of a cache, then of a redis-server; both must give the same results."""
    if request.param == "redis":
        server = RedisServer(tmp_path / "redis", "--repl-diskless-sync-delay", "0")
        port = server.port
    else:
        server, port = None, new_cache(daemon)
    wire = Wire(port)
    wire.ask_all([["SET", f"key:{i}", "x" * 100] for i in range(20_000)]
                 + [["RPUSH", "list", "a", "b"], ["SELECT", "3"], ["HSET", "hash", "f", "v"]])
    yield port
    if server:
        server.close()


def run_cli(port, *flags):
    done = subprocess.run(["redis-cli", "-p", str(port), *map(str, flags)], capture_output=True,
                          text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    return done.stderr


def serve(folder, file):
    folder.mkdir()
    (folder / "dump.rdb").write_bytes(file.read_bytes())
    return RedisServer(folder)


def followers(port):
    info = Wire(port).ask("INFO", "replication")
    return int(info.split(b"connected_slaves:")[1].split(b"\r")[0])


def test_redis_cli_fetches_a_snapshot(port, tmp_path):
    run_cli(port, "--rdb", tmp_path / "fetched.rdb")
    with_data = serve(tmp_path / "loaded", tmp_path / "fetched.rdb")
    assert_same(contents(port), contents(with_data.port))
    with_data.close()
    library = "#!lua name=lib\nredis.register_function('f', function() return 7 end)"
    Wire(port).ask("FUNCTION", "LOAD", library)
    run_cli(port, "--functions-rdb", tmp_path / "functions.rdb")
    without = serve(tmp_path / "empty", tmp_path / "functions.rdb")
    assert Wire(without.port).ask("DBSIZE") == b":0\r\n"
    assert Wire(without.port).ask("FCALL", "f", 0) == b":7\r\n"
    without.close()
    eventually(lambda: followers(port) == 0, "nobody follows any more")


def test_redis_cli_is_a_replica(port):
    with subprocess.Popen(["stdbuf", "-oL", "redis-cli", "-p", str(port), "--replica"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as replica:
        try:
            eventually(lambda: followers(port) == 1, "it follows")
            wire = Wire(port)
            wire.ask_all([["SET", "seen", "1"], ["SELECT", "3"], ["DEL", "hash"]])
            seen = []
            while not seen or '"DEL","hash"' not in seen[-1]:
                line = replica.stdout.readline()
                assert line, seen
                seen.append(line)
            assert any('"SET","seen","1"' in line for line in seen), seen
            assert any('"SELECT","3"' in line for line in seen), seen
        finally:
            replica.terminate()


class Follower:
    """A client that implements the protocol between caches itself."""

    def __init__(self, port, *words):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        self.data = b""
        self.send(*words)

    def send(self, *words):
        self.socket.sendall(" ".join(words).encode() + b"\r\n")

    def read_until(self, is_there):
        while not is_there(self.data):
            part = self.socket.recv(1 << 16)
            assert part, "hung up on"
            self.data += part

    def line(self):
        """Returns the next nonempty line: empty lines mean that the snapshot is being made."""
        self.data = self.data.lstrip(b"\n")
        self.read_until(lambda data: b"\n" in data.lstrip(b"\n"))
        line, self.data = self.data.lstrip(b"\n").split(b"\n", 1)
        return line.strip()

    def take(self, size):
        self.read_until(lambda data: len(data) >= size)
        taken, self.data = self.data[:size], self.data[size:]
        return taken


@pytest.mark.parametrize("words", [("SYNC",), ("PSYNC", "?", "-1")])
def test_who_knows_no_marks_is_told_the_size(port, words, tmp_path):
    follower = Follower(port, *words)
    if words[0] == "PSYNC":
        assert follower.line().startswith(b"+FULLRESYNC ")
    head = follower.line()
    assert head[:1] == b"$" and not head.startswith(b"$EOF")
    (tmp_path / "fetched.rdb").write_bytes(follower.take(int(head[1:])))
    loaded = serve(tmp_path / "loaded", tmp_path / "fetched.rdb")
    assert_same(contents(port), contents(loaded.port))
    loaded.close()
    # The follower need not confirm the snapshot to receive the changes after it.
    Wire(port).ask("SET", "later", "1")
    follower.read_until(lambda data: b"$5\r\nlater\r\n$1\r\n1\r\n" in data)
    if words[0] == "SYNC":
        wire = Wire(port)
        wire.ask("CONFIG", "SET", "repl-timeout", "1")
        wire.ask("CONFIG", "SET", "repl-ping-replica-period", "1")
        follower.data = b""
        follower.read_until(lambda data: data.upper().count(b"PING") >= 3)


def test_who_wants_the_snapshot_alone_is_let_go(port):
    follower = Follower(port, "REPLCONF", "capa", "eof", "rdb-only", "1")
    assert follower.line() == b"+OK"
    follower.send("SYNC")
    mark = follower.line().removeprefix(b"$EOF:")
    follower.read_until(lambda data: data.endswith(mark))
    while True:
        part = follower.socket.recv(1 << 16)
        if not part:
            break
        assert part.strip() == b""
    eventually(lambda: followers(port) == 0, "nobody follows any more")


def test_filters_that_are_unknown_are_refused(port):
    wire = Wire(port)
    assert wire.ask("REPLCONF", "rdb-filter-only", "keys") == (
        b"-ERR Unsupported rdb-filter-only option: keys\r\n")
    assert wire.ask("REPLCONF", "nosuch", "1") == b"-ERR Unrecognized REPLCONF option: nosuch\r\n"
