"""FAILOVER hands the leadership from one cache to another, and in mixed pairs with a real
redis-server: no acknowledged write is lost, and the leader before continues as a follower."""

import socket
import threading
import time

import pytest

from cache_contents import assert_same, contents
from resp_wire import RedisServer, Wire
from strata_daemon import PATIENCE, eventually
from test_cache_rdb import Follower
from test_cache_replication import await_same, info, new_cache, text_of

PAIRS = ["cache cache", "cache redis", "redis cache"]


@pytest.fixture
def make_servers(daemon, tmp_path):
    """Yields a function that makes caches and redis-servers, and returns their ports."""
    servers = []

    def make(kinds):
        ports = []
        for kind in kinds:
            number = len(servers)
            if kind == "redis":
                server = RedisServer(tmp_path / f"redis{number}", "--repl-diskless-sync-delay", "0")
                servers.append(server)
                ports.append(server.port)
            else:
                servers.append(None)
                ports.append(new_cache(daemon, f"db{number}"))
        return ports

    yield make
    for each in filter(None, servers):
        each.close()


def follow(leader_port, *followers):
    for each in followers:
        assert each.ask("REPLICAOF", "127.0.0.1", leader_port) == b"+OK\r\n"
    leader = Wire(leader_port)
    for each in followers:
        await_same(leader, each)
    eventually(lambda: leader.ask("INFO", "replication").count(b"state=online") == len(followers),
               "all followers are online")
    leader.close()


def await_roles(leader, *followers):
    eventually(lambda: info(leader, "role") == "master", "it leads")
    for each in followers:
        eventually(lambda: info(each, "master_link_status") == "up",  # noqa: B023
                   "it follows")
        assert info(each, "role") == "slave"
    for each in (leader, *followers):
        eventually(lambda: info(each, "master_failover_state") == "no-failover",  # noqa: B023
                   "the failover is over")


def write_all_the_time(port, acknowledged, is_over):
    """Increments a counter, until a write is refused, or it is over."""
    wire = Wire(port)
    while not is_over.is_set():
        reply = wire.ask("INCR", "count")
        if not reply.startswith(b":"):
            assert reply.startswith(b"-READONLY"), reply
            break
        acknowledged[0] = int(reply[1:])
    wire.close()


@pytest.mark.parametrize("kinds", PAIRS)
def test_no_write_is_lost_and_the_leader_follows(make_servers, kinds):
    first_port, second_port = make_servers(kinds.split())
    first, second = Wire(first_port), Wire(second_port)
    first.ask_all([["SELECT", "3"], ["SET", "before", "1"], ["SELECT", "0"]])
    follow(first_port, second)
    acknowledged, is_over = [0], threading.Event()
    writer = threading.Thread(target=write_all_the_time,
                              args=(first_port, acknowledged, is_over))
    writer.start()
    try:
        eventually(lambda: acknowledged[0] > 100, "writes are acknowledged")
        full = info(second, "sync_full")
        assert first.ask("FAILOVER", "TO", "127.0.0.1", second_port) == b"+OK\r\n"
        await_roles(second, first)
    finally:
        is_over.set()
        writer.join()
    # The leader before continues the stream: it needs no snapshot.
    assert info(second, "sync_full") == full
    assert int(info(second, "sync_partial_ok")) > 0
    assert first.ask("SET", "k", "v").startswith(b"-READONLY")
    assert int(text_of(second.ask("GET", "count"))) == acknowledged[0]
    second.ask_all([["SELECT", "3"], ["SET", "after", "2"], ["SELECT", "0"]])
    await_same(second, first)
    assert_same(contents(second_port), contents(first_port))
    # And back.
    eventually(lambda: b"state=online" in second.ask("INFO", "replication"), "it is online")
    assert second.ask("FAILOVER") == b"+OK\r\n"
    await_roles(first, second)
    assert first.ask("SET", "last", "3") == b"+OK\r\n"
    await_same(first, second)
    assert_same(contents(first_port), contents(second_port))


@pytest.mark.parametrize("kinds", ["cache cache cache", "cache redis cache", "cache redis redis",
                                   "redis cache redis"])
def test_the_other_followers_find_the_new_leader(make_servers, kinds):
    ports = make_servers(kinds.split())
    first, second, third = map(Wire, ports)
    first.ask("SET", "k", "1")
    follow(ports[0], second, third)
    assert first.ask("FAILOVER", "TO", "127.0.0.1", ports[1]) == b"+OK\r\n"
    await_roles(second, first)
    assert third.ask("REPLICAOF", "127.0.0.1", ports[1]) == b"+OK\r\n"
    second.ask("SET", "k", "2")
    await_same(second, third)
    assert third.ask("GET", "k") == b"$1\r\n2\r\n"
    await_same(second, first)
    assert_same(contents(ports[1]), contents(ports[2]))


def replace_leader(first, second, second_port, *others):
    """Makes the second server the leader, as Sentinel does; returns how many snapshots it has sent
    and will have sent."""
    assert second.ask("REPLICAOF", "NO", "ONE") == b"+OK\r\n"
    before = int(info(second, "sync_full"))
    for each in (*others, first):
        assert each.ask("REPLICAOF", "127.0.0.1", second_port) == b"+OK\r\n"
    second.ask_all([["SELECT", "3"], ["SET", "after", "2"], ["SELECT", "0"], ["INCR", "count"]])
    for each in (*others, first):
        await_same(second, each)
    return before, int(info(second, "sync_full"))


def prepared(ports):
    """Returns connections to a leader that sends nothing by itself, with data in two databases, and
    to its followers."""
    first, *others = map(Wire, ports)
    # A PING would part the followers of a stream.
    assert first.ask("CONFIG", "SET", "repl-ping-replica-period", "3600") == b"+OK\r\n"
    follow(ports[0], *others)
    first.ask_all([["SELECT", "3"], ["SET", "before", "1"], ["INCR", "count"]])
    for each in others:
        await_same(first, each)
    return first, *others


@pytest.mark.parametrize("kinds", ["cache cache cache", "redis cache cache", "redis cache redis",
                                   "cache redis cache"])
def test_a_promoted_follower_continues_the_stream_of_its_leader(make_servers, kinds):
    ports = make_servers(kinds.split())
    first, second, third = prepared(ports)
    before, now = replace_leader(first, second, ports[1], third)
    assert now == before and int(info(second, "sync_partial_ok")) >= 2
    for port in (ports[0], ports[2]):
        assert_same(contents(ports[1]), contents(port))


@pytest.mark.parametrize("kinds", ["cache cache", "redis cache"])
def test_changes_that_the_new_leader_lacks_are_discarded(make_servers, kinds):
    ports = make_servers(kinds.split())
    first, second = prepared(ports)
    assert second.ask("REPLICAOF", "NO", "ONE") == b"+OK\r\n"
    first.ask_all([["SET", "lost", "1"], ["DEL", "before"]])
    before, now = replace_leader(first, second, ports[1])
    assert now == before + 1
    assert_same(contents(ports[1]), contents(ports[0]))


def test_a_follower_that_lacks_changes_of_the_former_leader_gets_a_snapshot(make_servers):
    ports = make_servers(["cache", "cache", "cache"])
    first, second, third = prepared(ports)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        assert third.ask("REPLICAOF", "127.0.0.1", silent.getsockname()[1]) == b"+OK\r\n"
        first.ask("SET", "late", "1")
        await_same(first, second)
        before, now = replace_leader(first, second, ports[1], third)
    assert now == before + 1
    assert_same(contents(ports[1]), contents(ports[2]))


def test_a_leader_sends_no_ping_before_the_period_is_over(make_servers):
    ports = make_servers(["cache", "cache"])
    leader, follower = map(Wire, ports)
    assert leader.ask("CONFIG", "SET", "repl-ping-replica-period", "3600") == b"+OK\r\n"
    sent = info(leader, "master_repl_offset")
    follow(ports[0], follower)
    time.sleep(2.5)  # it looks whether one is due once a second
    assert info(leader, "master_repl_offset") == sent
    assert leader.ask("CONFIG", "SET", "repl-ping-replica-period", "1") == b"+OK\r\n"
    eventually(lambda: info(leader, "master_repl_offset") != sent, "a PING is sent")


def test_followers_of_a_promoted_follower_continue_its_own_stream(make_servers):
    ports = make_servers(["cache", "cache", "cache"])
    first, second, third = map(Wire, ports)
    follow(ports[0], second)
    follow(ports[1], third)
    first.ask_all([["SELECT", "3"], ["SET", "before", "1"]])
    await_same(first, second)
    await_same(second, third)
    full = info(second, "sync_full")
    assert second.ask("REPLICAOF", "NO", "ONE") == b"+OK\r\n"
    second.ask_all([["SELECT", "3"], ["SET", "after", "2"]])
    await_same(second, third)
    assert info(second, "sync_full") == full
    assert_same(contents(ports[1]), contents(ports[2]))


def test_the_record_has_the_new_leader(daemon, make_servers):
    ports = make_servers(["cache", "cache"])
    first, second = map(Wire, ports)
    follow(ports[0], second)
    eventually(lambda: daemon.show("db1")["options"]["follow"], "the record has the leader")
    assert first.ask("FAILOVER") == b"+OK\r\n"
    await_roles(second, first)
    eventually(lambda: daemon.show("db0")["options"]["follow"] == f"tcp://127.0.0.1:{ports[1]}",
               "the leader before follows after a restart, too")
    eventually(lambda: daemon.show("db1")["options"]["follow"] == "", "the new leader leads")


def test_writes_wait_until_a_follower_has_everything(make_servers, redis):
    port, = make_servers(["cache"])
    leader, writer, follower = Wire(port), Wire(port), Wire(redis.port)
    follow(port, follower)
    redis.process.send_signal(19)  # SIGSTOP
    try:
        leader.ask("SET", "k", "1")
        leader.ask("SET", "brief", "1", "PX", "1")
        assert leader.ask("FAILOVER") == b"+OK\r\n"
        assert info(leader, "master_failover_state") == "waiting-for-sync"
        assert leader.ask("FAILOVER") == b"-ERR FAILOVER already in progress.\r\n"
        assert leader.ask("REPLICAOF", "NO", "ONE") == (
            b"-ERR REPLICAOF not allowed while failing over.\r\n")
        assert leader.ask("PSYNC", "?", "-1") == b"-NOMASTERLINK Can't SYNC while failing over\r\n"
        waiting = [Wire(port) for _ in range(4)]
        for wire, words in zip(waiting, ["SET k 2", "EVAL redis.call('SET','k','3') 0",
                                         "PUBLISH c m", "DEL k"]):
            wire.send(*words.split(" "))
            eventually(lambda: leader.ask("CLIENT", "LIST").count(b"flags=b")  # noqa: B023
                       == waiting.index(wire) + 1, "the command waits")  # noqa: B023
        # Nothing expires either, and what has expired is not shown.
        assert leader.ask("GET", "brief") == b"$-1\r\n"
        offset = info(leader, "master_repl_offset")
        assert leader.ask("CLIENT", "UNPAUSE") == b"+OK\r\n"
        assert leader.ask("GET", "k") == b"$1\r\n1\r\n"
        assert info(leader, "master_repl_offset") == offset
        assert leader.ask("FAILOVER", "ABORT") == b"+OK\r\n"
        assert info(leader, "master_failover_state") == "no-failover"
        replies = [wire.receive() for wire in waiting]
        assert replies == [b"+OK\r\n", b"$-1\r\n", b":0\r\n", b":1\r\n"]
        assert writer.ask("SET", "k", "4") == b"+OK\r\n"
        # A time that is over aborts it, too.
        assert leader.ask("FAILOVER", "TIMEOUT", "50") == b"+OK\r\n"
        assert writer.ask("SET", "k", "5") == b"+OK\r\n"
        assert info(leader, "master_failover_state") == "no-failover"
        assert info(leader, "role") == "master"
    finally:
        redis.process.send_signal(18)  # SIGCONT
    await_same(leader, follower)
    assert follower.ask("GET", "k") == b"$1\r\n5\r\n"


def test_a_forced_failover_does_not_wait_for_the_last_changes(make_servers, redis):
    port, = make_servers(["cache"])
    leader, follower = Wire(port), Wire(redis.port)
    follow(port, follower)
    redis.process.send_signal(19)  # SIGSTOP
    try:
        leader.ask("SET", "k", "1")
        assert leader.ask("FAILOVER", "TO", "127.0.0.1", redis.port, "FORCE", "TIMEOUT",
                          "50") == b"+OK\r\n"
        eventually(lambda: info(leader, "master_failover_state") == "failover-in-progress",
                   "it does not wait any longer")
        assert info(leader, "role") == "slave"
        assert leader.ask("SET", "k", "2").startswith(b"-READONLY")
        assert leader.ask("FAILOVER", "ABORT") == b"+OK\r\n"
        assert info(leader, "role") == "master"
        assert leader.ask("SET", "k", "3") == b"+OK\r\n"
        assert leader.ask("FAILOVER", "TO", "127.0.0.1", redis.port) == (
            b"-ERR FAILOVER requires connected replicas.\r\n")
    finally:
        redis.process.send_signal(18)  # SIGCONT


def test_a_follower_that_refuses_to_log_the_leader_in_can_be_given_up(make_servers):
    first_port, second_port = make_servers(["cache", "cache"])
    first, second = Wire(first_port), Wire(second_port)
    follow(first_port, second)
    for words, refusal in [
            (["PSYNC", "?", "-1", "FAILOVER"], b"-ERR PSYNC FAILOVER replid must match my replid."),
            (["PSYNC", "0" * 40, "1", "failover"],
             b"-ERR PSYNC FAILOVER replid must match my replid.")]:
        assert Wire(second_port).ask(*words) == refusal + b"\r\n"
    assert Wire(first_port).ask("PSYNC", info(first, "master_replid"), "1", "FAILOVER") == (
        b"-ERR PSYNC FAILOVER can't be sent to a master.\r\n")
    assert second.ask("CONFIG", "SET", "requirepass", "secret") == b"+OK\r\n"
    assert first.ask("FAILOVER") == b"+OK\r\n"
    # It does not even let the leader log in: clients can still abort.
    eventually(lambda: info(first, "master_failover_state") == "failover-in-progress", "it asks")
    assert first.ask("FAILOVER", "ABORT") == b"+OK\r\n"
    assert first.ask("SET", "k", "v") == b"+OK\r\n"
    assert info(first, "role") == "master"


WRONG = """
FAILOVER|FAILOVER ABORT|FAILOVER ABORT x|FAILOVER TO|FAILOVER TO 127.0.0.1|FAILOVER TO 127.0.0.1 x
FAILOVER TO 127.0.0.1 99999|FAILOVER FORCE|FAILOVER FORCE TIMEOUT 10|FAILOVER TIMEOUT 0
FAILOVER TIMEOUT x|FAILOVER TIMEOUT -1|FAILOVER TIMEOUT 100|FAILOVER TO h 7 FORCE TIMEOUT 1
FAILOVER TO 127.0.0.1 7000 TO 127.0.0.1 7000|FAILOVER TIMEOUT 1 TIMEOUT 2|FAILOVER FORCE FORCE
FAILOVER BAD|FAILOVER ABORT TO a 1|FAILOVER TO a 1 ABORT|failover to h 1 force
"""


def test_wrong_requests_are_refused_as_redis_refuses_them(make_servers):
    ours, theirs, our_follower, their_follower = make_servers(["cache", "redis"] * 2)
    calls = [call.split() for call in WRONG.strip().replace("\n", "|").split("|")]

    def compare(our_port, their_port, calls):
        one, other = Wire(our_port), Wire(their_port)
        for call in calls:
            assert one.ask(*call) == other.ask(*call), call
        one.close()
        other.close()

    compare(ours, theirs, calls)
    follow(ours, Wire(our_follower))
    follow(theirs, Wire(their_follower))
    # Those that would begin one are left out.
    compare(ours, theirs, [call for call in calls if call[1:] not in ([], ["TIMEOUT", "100"])])
    compare(our_follower, their_follower, calls)


class Impostor:
    """A follower that has everything, and answers as it is told when it is asked to lead."""

    def __init__(self, leader_port):
        self.server = socket.create_server(("127.0.0.1", 0))
        self.server.settimeout(PATIENCE)
        self.port = self.server.getsockname()[1]
        self.follower = Follower(leader_port, "REPLCONF", "listening-port", str(self.port))
        self.follower.line()
        self.follower.send("PSYNC", "?", "-1")
        offset = self.follower.line().split()[-1]
        self.follower.take(int(self.follower.line()[1:]))
        self.acknowledge(offset.decode())

    def acknowledge(self, offset):
        self.follower.send("REPLCONF", "ACK", offset)

    def close(self):
        self.server.close()
        self.follower.socket.close()

    def answer(self, reply):
        """Accepts the leader's connection, and answers PSYNC with `reply`; returns its words."""
        connection, _ = self.server.accept()
        connection.settimeout(PATIENCE)
        data = b""
        while b"PSYNC" not in data or not data.endswith(b"\r\n"):
            part = connection.recv(1 << 16)
            assert part, "the leader hung up"
            data += part
            # Everything before PSYNC is answered at once.
            if b"PSYNC" not in data:
                connection.sendall(b"+OK\r\n")
        connection.sendall(reply)
        connection.close()
        return data[data.index(b"PSYNC"):].split(b"\r\n")[::2]


def begin_failover(wire, impostor, *words):
    """The leader may have sent a PING before."""
    assert wire.ask("FAILOVER", *words) == b"+OK\r\n"
    offset = info(wire, "master_repl_offset")
    impostor.acknowledge(offset)
    return int(offset)


@pytest.fixture
def led(make_servers):
    """Yields the port of a cache, and an impostor that follows it and has everything."""
    port, = make_servers(["cache"])
    wire = Wire(port)
    wire.ask("SET", "k", "v")
    impostor = Impostor(port)
    eventually(lambda: b"state=online" in wire.ask("INFO", "replication"), "it is online")
    yield port, impostor
    impostor.close()


def test_the_leader_continues_when_the_follower_refuses(led):
    port, impostor = led
    wire, writer = Wire(port), Wire(port)
    name = info(wire, "master_replid")
    offset = begin_failover(wire, impostor, "TO", "127.0.0.1", impostor.port)
    writer.send("SET", "k", "w")
    words = impostor.answer(b"-ERR no\r\n")
    assert words[:2] == [b"PSYNC", name.encode()] and words[3] == b"FAILOVER"
    assert int(words[2]) == offset + 1
    eventually(lambda: info(wire, "master_failover_state") == "no-failover", "it is aborted")
    assert info(wire, "role") == "master"
    assert wire.ask("SET", "k", "x") == b"+OK\r\n"
    assert writer.receive() in (b"+OK\r\n",
                                b"-READONLY You can't write against a read only replica.\r\n")


def test_a_follower_that_leads_but_could_not_say_so_leads(led):
    """The connection breaks before the answer: the other one may lead by then, and must not have a
    rival."""
    port, impostor = led
    wire = Wire(port)
    begin_failover(wire, impostor)
    assert impostor.answer(b"")[3] == b"FAILOVER"
    assert impostor.answer(b"-ERR PSYNC FAILOVER can't be sent to a master.\r\n")[3] == b"FAILOVER"
    # It asks as any follower now.
    assert b"FAILOVER" not in impostor.answer(b"")
    eventually(lambda: info(wire, "master_failover_state") == "no-failover", "it is over")
    assert info(wire, "role") == "slave"
    assert wire.ask("SET", "k", "w").startswith(b"-READONLY")


@pytest.mark.parametrize("reply", [b"+CONTINUE\r\n", b"+CONTINUE " + b"x" * 70_000 + b"\r\n",
                                   b"+FULLRESYNC x y\r\n", b"+FULLRESYNC\r\n", b"$5\r\n", b":1\r\n",
                                   b"+OK\r\n", b"\xff" * 100 + b"\n"], ids=range(8))
def test_any_answer_of_a_follower_can_be_survived(led, reply):
    port, impostor = led
    wire = Wire(port)
    begin_failover(wire, impostor)
    impostor.answer(reply)
    eventually(lambda: info(wire, "master_failover_state") in ("no-failover",
                                                               "failover-in-progress"), "so far")
    assert wire.ask("GET", "k") == b"$1\r\nv\r\n"
    eventually(lambda: wire.ask("FAILOVER", "ABORT") == b"+OK\r\n"
               or info(wire, "master_failover_state") == "no-failover", "it is over")
    assert wire.ask("REPLICAOF", "NO", "ONE") == b"+OK\r\n"
    assert wire.ask("SET", "k", "w") == b"+OK\r\n"
