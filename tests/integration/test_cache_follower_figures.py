"""What a follower's INFO says of the connection to its leader, beside a follower that is a real
redis-server: while it is connected, while it receives a snapshot, and while it has no leader.
Sentinel chooses the next leader by these fields."""

import re
import socket

import pytest

from resp_wire import PATIENCE, RedisServer, Wire
from strata_daemon import eventually
from test_cache import new_cache

pytestmark = pytest.mark.once

SIZE, SENT = 1000, 400  # bytes of a snapshot, and of its part that arrives


@pytest.fixture
def leader(tmp_path):
    server = RedisServer(tmp_path / "leader", "--repl-diskless-sync-delay", "0")
    yield server
    server.close()


@pytest.fixture
def followers(daemon, redis):
    """Two caches' wires: strata's, and that of a redis-server."""
    return [Wire(new_cache(daemon)), Wire(redis.port)]


def fields(wire):
    text = wire.ask("INFO", "replication").decode()
    return dict(line.split(":", 1) for line in text.splitlines() if ":" in line)


def are_up(followers):
    return all(fields(each)["master_link_status"] == "up" for each in followers)


def link_names(wire):
    """The fields that follow the leader's address, in their order, up to the list of followers."""
    names = list(fields(wire))
    return names[names.index("master_host"):names.index("connected_slaves")]


def test_while_it_is_connected_it_has_the_same_fields(followers, leader):
    for each in followers:
        assert each.ask("REPLICAOF", "127.0.0.1", leader.port) == b"+OK\r\n"
    eventually(lambda: are_up(followers), "both follow")
    ours, theirs = followers
    assert link_names(ours) == link_names(theirs)
    assert "master_link_down_since_seconds" not in fields(ours)


def test_it_says_since_when_it_has_no_leader(followers, leader):
    for each in followers:
        each.ask("REPLICAOF", "127.0.0.1", 1)
    eventually(lambda: all(fields(each).get("master_link_down_since_seconds") == "-1"
                           for each in followers), "neither had a leader ever")
    for each in followers:
        each.ask("REPLICAOF", "127.0.0.1", leader.port)
    eventually(lambda: are_up(followers), "both follow")
    leader.close()
    for wanted in (0, 2):
        eventually(lambda: all(int(fields(each).get("master_link_down_since_seconds", -1)) >= wanted
                               for each in followers), f"{wanted} s without a leader")
    ours, theirs = followers
    assert link_names(ours) == link_names(theirs)


def accept_follower(server, head):
    """Answers a follower that connects, up to its PSYNC, and sends the head of a snapshot with the
    first bytes of it. Returns the connection."""
    connection, _ = server.accept()
    connection.settimeout(PATIENCE)
    data = b""
    while b"PSYNC" not in data or not data.endswith(b"\r\n"):
        part = connection.recv(1 << 16)
        assert part, "the follower hung up"
        data += part
        if b"PSYNC" not in data:
            connection.sendall(b"+PONG\r\n" if data.endswith(b"PING\r\n") else b"+OK\r\n")
    connection.sendall(b"+FULLRESYNC %s 1\r\n%s\r\n%s" % (b"a" * 40, head, b"R" * SENT))
    return connection


@pytest.mark.parametrize("head", [b"$%d" % SIZE, b"$EOF:" + b"m" * 40], ids=["sized", "endless"])
def test_it_says_how_much_of_a_snapshot_has_arrived(followers, head):
    figures, connections = [], []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(PATIENCE)
        for each in followers:
            each.ask("SET", "k", "v")
            each.ask("REPLICAOF", "127.0.0.1", server.getsockname()[1])
            connections.append(accept_follower(server, head))
            eventually(lambda wire=each: int(fields(wire).get("master_sync_read_bytes", 0)) >= SENT,
                       "the first bytes have arrived")
            figures.append({name: value for name, value in fields(each).items()
                            if name.startswith("master_") and name != "master_port"})
    assert link_names(followers[0]) == link_names(followers[1])
    for each in figures:
        assert re.fullmatch("[0-9]+", each.pop("master_sync_last_io_seconds_ago"))
        for name in [name for name in each if "repl" in name]:
            del each[name]
    assert figures[0] == figures[1]
    assert figures[0]["master_sync_read_bytes"] == str(SENT)
    for each in connections:
        each.close()


def test_a_follower_may_keep_itself_from_sentinels(followers):
    for each in followers:
        each.ask("REPLICAOF", "127.0.0.1", 1)
        assert fields(each)["replica_announced"] == "1"
        assert each.ask("CONFIG", "SET", "replica-announced", "no") == b"+OK\r\n"
        assert fields(each)["replica_announced"] == "0"
        assert each.ask("CONFIG", "SET", "replica-announced", "perhaps").startswith(b"-ERR")
