"""Who may connect: the mode of Unix sockets, local machine only, a cache without a password.

    netns: lo 127.0.0.1 --- the daemon and its clients --- 10.77.1.1 (on lo too)
"""

import secrets
import stat
import subprocess

import pytest

from strata_daemon import PATIENCE, Refused
from talker import Talker


@pytest.mark.parametrize("query, mode", [("", None), ("?mode=0600", 0o600), ("?mode=0666", 0o666),
                                         ("?mode=0660&group=nogroup", 0o660),
                                         ("?group=nogroup", 0o660)])
def test_a_unix_socket_has_the_mode_and_group_that_are_asked_for(daemon, tmp_path, query, mode):
    path = tmp_path / "door"
    [url] = daemon.server("s", listen=[f"unix://{path}{query}"])
    assert url == f"unix://{path}{query}"
    found = path.stat()
    assert stat.S_ISSOCK(found.st_mode)
    if mode is not None:
        assert stat.S_IMODE(found.st_mode) == mode
    if "group" in query:
        assert found.st_gid == 65534
    with Talker(f"unix://{path}"):
        daemon.wait_connections("s", 1)
    daemon.create("client", "guest", connect="runtime://s")
    daemon.restart()
    assert daemon.show("s")["state"] == "running"
    daemon.act("s", "stop")
    assert not path.exists()


@pytest.mark.parametrize("query", ["?mode=9", "?mode=", "?mode=01777", "?group=",
                                   "?mode=0660&x=1", "?x"])
def test_a_wrong_mode_is_refused(daemon, tmp_path, query):
    with pytest.raises(Refused, match="mode") as refused:
        daemon.server("s", listen=[f"unix://{tmp_path}/door{query}"])
    assert refused.value.code == "invalid_argument"


def test_a_group_that_there_is_not_leaves_no_socket(daemon, tmp_path):
    with pytest.raises(Refused, match="no such group"):
        daemon.server("s", listen=[f"unix://{tmp_path}/door?group=no-such-group"])
    assert not (tmp_path / "door").exists()


@pytest.mark.parametrize("kind", ["server", "cache"])
def test_local_is_this_machine_alone(daemon, kind):
    shown = daemon.create(kind, "here", port=0, local=True)
    assert shown["endpoints"][0].startswith("tcp://127.0.0.1:")
    everywhere = daemon.create(kind, "there", port=0)
    assert everywhere["endpoints"][0].startswith("tcp://*:")


def test_it_is_said_that_other_machines_can_use_it(daemon, tmp_path):
    def reach(kind, name, **options):
        return daemon.create(kind, name, **options)["reach"]

    assert reach("server", "open", port=0) == "network"
    assert reach("server", "here", port=0, local=True) == "machine"
    assert reach("server", "both", listen=["tcp://127.0.0.1:0", "udp://[::1]:0"]) == "machine"
    assert reach("server", "file", listen=[f"unix://{tmp_path}/door"]) == "machine"
    assert reach("server", "one", listen=["tcp://[::1]:0", "tcp://0.0.0.0:0"]) == "network"
    assert reach("cache", "kept", port=0) == "machine"  # protected mode
    assert reach("cache", "given", port=0, protected_mode="no") == "network"
    assert reach("cache", "locked", port=0, password="secret") == "network"
    assert reach("client", "c", connect="tcp://127.0.0.1:1", reconnect=0) is None
    said = daemon.cli("restart", "open", "here")
    assert "open: running at tcp://*:" in said and ", open to other machines\n" in said
    assert ", for this machine alone\n" in said


@pytest.fixture
def lan(root):
    """Makes a namespace with a non-loopback address."""
    name = f"strata-doors-{secrets.token_hex(4)}"
    def ip(*words):
        subprocess.run(["ip", *words], check=True)
    ip("netns", "add", name)
    try:
        ip("-n", name, "link", "set", "lo", "up")
        ip("-n", name, "addr", "add", "10.77.1.1/24", "dev", "lo")
        yield name
    finally:
        ip("netns", "del", name)


def ask(namespace, host, port, words):
    """Returns a cache's answer to a client that connects to `host` from the same address."""
    done = subprocess.run(
        ["ip", "netns", "exec", namespace, "redis-cli", "-h", host, "-p", str(port), *words],
        capture_output=True, text=True, timeout=PATIENCE)
    return done.stdout + done.stderr


def test_a_cache_without_a_password_serves_its_own_machine_alone(make_daemon, lan):
    daemon = make_daemon(namespace=lan)
    daemon.cli("create", "cache", "db", "-p", "6400", "--resp", "-s")
    assert ask(lan, "127.0.0.1", 6400, ["SET", "a", "1"]) == "OK\n"
    said = ask(lan, "10.77.1.1", 6400, ["GET", "a"])
    assert said.startswith("DENIED Redis is running in protected mode"), said
    assert "--protected-mode no" in said
    assert daemon.stats("db")["connections"]["refused"] >= 1
    daemon.cli("edit", "db", "--protected-mode", "no")
    assert ask(lan, "10.77.1.1", 6400, ["GET", "a"]) == "1\n"
    daemon.cli("edit", "db", "--protected-mode", "yes", "--password", "secret")
    assert "NOAUTH" in ask(lan, "10.77.1.1", 6400, ["GET", "a"])
    assert "1\n" in ask(lan, "10.77.1.1", 6400, ["-a", "secret", "GET", "a"])
