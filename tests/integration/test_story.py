"""The story on which everything else is built: a server, two `nc`, and a message."""

import json
import subprocess

from strata_daemon import BINARY, PATIENCE, eventually
from talker import free_port


class Netcat:
    """A person on a terminal with `nc`."""

    def __init__(self, port):
        self.process = subprocess.Popen(["nc", "127.0.0.1", str(port)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def type(self, text):
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def line(self):
        return self.process.stdout.readline()


def test_what_is_sent_reaches_both_nc_and_what_one_types_only_the_other(daemon):
    port = free_port()
    shown = daemon.cli("create", "server", "chat", "-p", port, "-s")
    assert shown == f"chat: running at tcp://*:{port}, open to other machines\n"
    with Netcat(port) as ann, Netcat(port) as bob:
        daemon.wait_connections("chat", 2)
        assert "2 connections" in daemon.cli("send", "chat", "hello all")
        assert ann.line() == bob.line() == b"hello all\n"
        ann.type(b"I am Ann\n")
        assert bob.line() == b"I am Ann\n"
        bob.type(b"I am Bob\n")
        assert ann.line() == b"I am Bob\n"  # and not her own line, which would come first


def test_ls_is_read_by_jq(daemon):
    daemon.server("chat")
    command = f"'{BINARY}' ls --format json | jq -e '.[0].state'"
    done = subprocess.run(["sh", "-c", command], env=daemon.environment, capture_output=True,
                          timeout=PATIENCE)
    assert (done.returncode, done.stdout, done.stderr) == (0, b'"running"\n', b"")


def test_curl_is_as_good_a_client_as_the_cli(daemon):
    daemon.server("chat")
    done = subprocess.run(["curl", "-sS", "--unix-socket", daemon.socket,
                           "http://strata/v1/runtimes"], capture_output=True, timeout=PATIENCE)
    [runtime] = json.loads(done.stdout)
    assert (runtime["name"], runtime["type"], runtime["state"]) == ("chat", "server", "running")


def test_counts_are_right(daemon):
    port = free_port()
    daemon.cli("create", "server", "chat", "-p", port, "-s")
    with Netcat(port) as ann, Netcat(port) as bob:
        daemon.wait_connections("chat", 2)
        ann.type(b"four\nfive5\n")
        assert [bob.line(), bob.line()] == [b"four\n", b"five5\n"]
        daemon.send("chat", b"to both")
        assert ann.line() == bob.line() == b"to both\n"
        stats = daemon.stats("chat")
        expected = {"now": 2, "peak": 2, "total": 2, "refused": 0}
        assert stats["connections"].items() >= expected.items()
        assert stats["messages"] == {"in": 2, "out": 4}
        assert stats["bytes"] == {"in": 11, "out": 11 + 2 * 8}
        assert set(stats["dropped"].values()) == {0} and stats["errors"] == 0
    daemon.wait_connections("chat", 0)
    expected["now"] = 0
    assert daemon.stats("chat")["connections"].items() >= expected.items()
    eventually(lambda: daemon.stats("chat")["rates"]["in_1m"] > 0, "the rate of the last minute")
