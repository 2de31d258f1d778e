"""CLIENT KILL TYPE, CLIENT NO-EVICT, CLIENT MAINT_NOTIFICATIONS and ACL GENPASS: a cache beside a
real redis-server."""

import re

import pytest

from resp_wire import RedisServer, Wire
from strata_daemon import eventually
from test_cache import new_cache

pytestmark = pytest.mark.once


# --- ACL GENPASS

@pytest.mark.parametrize("protocol", [2, 3])
def test_passwords_have_the_bits_that_are_asked_for(ports, protocol):
    ours, theirs = (Wire(port, protocol) for port in ports)
    for bits in (None, 1, 3, 4, 5, 8, 127, 128, 255, 256, 257, 4095, 4096):
        words = ["ACL", "GENPASS"] + ([] if bits is None else [bits])
        replies = [wire.ask(*words) for wire in (ours, theirs)]
        expected = -(-(bits or 256) // 4)
        for reply in replies:
            size, text = reply.split(b"\r\n")[:2]
            assert size == b"$%d" % expected and re.fullmatch(b"[0-9a-f]{%d}" % expected, text)
    for bits in (0, -1, 4097, "x", "", "1.5", "+8", " 8", "08", "9223372036854775808", "1 2"):
        assert ours.ask("ACL", "GENPASS", bits) == theirs.ask("ACL", "GENPASS", bits), bits
    assert ours.ask("ACL", "GENPASS", 8, 8) == theirs.ask("ACL", "GENPASS", 8, 8)
    assert len({ours.ask("ACL", "GENPASS") for _ in range(100)}) == 100
    # Each digit occurs: none is left out, as by a remainder that is cut.
    assert set(ours.ask("ACL", "GENPASS", 4096).split(b"\r\n")[1]) == set(b"0123456789abcdef")


# --- CLIENT NO-EVICT and CLIENT MAINT_NOTIFICATIONS

def test_words_of_no_evict_and_maint_notifications(ports):
    ours, theirs = (Wire(port) for port in ports)
    for call in ("NO-EVICT|NO-EVICT x|NO-EVICT on off|NO-EVICT ON|NO-EVICT off|no-evict On|"
                 "MAINT_NOTIFICATIONS|MAINT_NOTIFICATIONS ON|"
                 "MAINT_NOTIFICATIONS ON moving-endpoint-type none|maint_notifications off|"
                 "MAINT-NOTIFICATIONS ON").split("|"):
        assert ours.ask("CLIENT", *call.split()) == theirs.ask("CLIENT", *call.split()), call
    for wire in (ours, theirs):
        assert b" flags=e " in wire.ask("CLIENT", "INFO")
        wire.ask("CLIENT", "NO-EVICT", "OFF")
        assert b" flags=N " in wire.ask("CLIENT", "INFO")


def half_sent(port, protected):
    """A client that has sent the beginning of a large command."""
    wire = Wire(port)
    wire.ask("CLIENT", "NO-EVICT", "ON" if protected else "OFF")
    wire.socket.sendall(b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$4000000\r\n" + b"x" * 3_000_000)
    return wire


def is_open(wire):
    wire.socket.setblocking(False)
    try:
        return wire.socket.recv(1) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


def test_a_client_that_must_not_be_evicted_stays(daemon):
    port = new_cache(daemon, "--max-memory-connections", "8M")
    protected = [half_sent(port, True) for _ in range(2)]
    others = [half_sent(port, False) for _ in range(3)]
    eventually(lambda: not all(map(is_open, others)), "another client is disconnected")
    assert all(map(is_open, protected))
    for wire in protected:
        wire.socket.setblocking(True)
        wire.socket.sendall(b"x" * 1_000_000 + b"\r\n")
        assert wire.receive() == b"+OK\r\n"


# --- CLIENT KILL TYPE

def kinds(port):
    """A client of each type, and a caller."""
    caller, normal, subscriber, pattern = (Wire(port) for _ in range(4))
    normal.ask("PING")
    for wire, words in ((subscriber, ("SUBSCRIBE", "c")), (pattern, ("PSUBSCRIBE", "p*"))):
        wire.send(*words)
        wire.receive()
    return caller, normal, subscriber, pattern


@pytest.mark.parametrize("threads", ["1", "4"])
def test_a_killed_client_is_gone_for_what_follows(daemon, redis, threads):
    """Within one pipeline, so that its connection has no time to end."""
    found = []
    for port in (new_cache(daemon, "--redis-version", "7.0", "--threads", threads), redis.port):
        caller, *others = (Wire(port) for _ in range(6))
        ids = [wire.ask("CLIENT", "ID").decode()[1:-2] for wire in others]
        waiting, subscriber, pattern, shard, watching = others
        for wire, words in ((subscriber, ("SUBSCRIBE", "news")), (pattern, ("PSUBSCRIBE", "n*")),
                            (shard, ("SSUBSCRIBE", "news"))):
            wire.send(*words)
            wire.receive()
        watching.ask("CLIENT", "TRACKING", "ON", "BCAST", "REDIRECT", ids[1])
        waiting.send("BLPOP", "queue", "0")
        eventually(lambda wire=caller: b"blocked_clients:1\r" in wire.ask("INFO", "clients"),
                   "it waits")
        kills = [["CLIENT", "KILL", "ID", each] for each in ids]
        replies = caller.ask_all(kills + kills + [
            ["PUBLISH", "news", "x"], ["SPUBLISH", "news", "x"], ["PUBSUB", "NUMPAT"],
            ["PUBSUB", "CHANNELS"], ["PUBSUB", "SHARDCHANNELS"], ["RPUSH", "queue", "a"],
            ["LRANGE", "queue", "0", "-1"], ["CLIENT", "LIST", "ID", *ids],
            ["CLIENT", "UNBLOCK", ids[0]]])
        figures = caller.ask("INFO", "clients")
        found.append((replies, re.search(b"\r\nconnected_clients:[0-9]+", figures)[0],
                      re.search(b"\r\nblocked_clients:[0-9]+", figures)[0],
                      re.search(b"\r\ntracking_clients:[0-9]+", figures)[0]))
        for wire in others:
            assert wire.socket.recv(1) == b""
    assert found[0] == found[1]


@pytest.mark.parametrize("which", ["cache", "redis"])
def test_clients_are_killed_by_their_type(ports, tmp_path, which):
    port = ports[which == "redis"]
    caller, normal, subscriber, pattern = kinds(port)
    follower = RedisServer(tmp_path / "follower")
    try:
        theirs = Wire(follower.port)
        theirs.ask("REPLICAOF", "127.0.0.1", port)

        def is_linked():
            # The leader forgets an ended link at once; the follower may still call it up.
            return (b"state=online" in caller.ask("INFO", "replication")
                    and b"master_link_status:up" in theirs.ask("INFO", "replication"))

        eventually(is_linked, "it follows")
        kill = ("CLIENT", "KILL", "TYPE")
        assert caller.ask(*kill, "master") == b":0\r\n"
        assert caller.ask(*kill, "pubsub") == b":2\r\n"
        assert subscriber.socket.recv(1) == b"" and pattern.socket.recv(1) == b""
        assert normal.ask("PING") == b"+PONG\r\n"
        assert caller.ask(*kill, "replica", "SKIPME", "no") == b":1\r\n"
        assert normal.ask("PING") == b"+PONG\r\n"
        eventually(is_linked, "it follows again")
        assert caller.ask(*kill, "slave") == b":1\r\n"
        eventually(is_linked, "it follows again")
        # A client that has ended its subscriptions is a normal one again.
        former = Wire(port)
        former.ask_all([["SUBSCRIBE", "c"], ["UNSUBSCRIBE", "c"]])
        assert caller.ask(*kill, "pubsub") == b":0\r\n"
        assert caller.ask(*kill, "normal") == b":2\r\n"
        assert normal.socket.recv(1) == b"" and former.socket.recv(1) == b""
        caller.send(*kill, "normal", "SKIPME", "no")
        assert caller.receive() == b":1\r\n"
        assert caller.socket.recv(1) == b""
        assert b"state=online" in Wire(port).ask("INFO", "replication")
    finally:
        follower.close()


def test_a_follower_ends_the_link_to_its_leader(ports, tmp_path):
    leader = RedisServer(tmp_path / "leader")
    try:
        at_leader = Wire(leader.port)
        for port in ports:
            wire = Wire(port)
            wire.ask("REPLICAOF", "127.0.0.1", leader.port)

            def is_linked(wire=wire):
                return b"master_link_status:up" in wire.ask("INFO", "replication")

            eventually(is_linked, "it follows")
            assert wire.ask("CLIENT", "KILL", "TYPE", "normal") == b":0\r\n"
            assert is_linked()
            assert wire.ask("CLIENT", "KILL", "TYPE", "master") == b":1\r\n"
            at_leader.ask("INCR", "n")
            count = at_leader.ask("GET", "n")
            eventually(lambda: wire.ask("GET", "n") == count, "it follows again")  # noqa: B023
    finally:
        leader.close()
