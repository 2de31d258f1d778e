"""A cache with several loops (--threads): what one loop promises holds on all of them."""

import collections
import os
import random
import socket
import threading
import time

import pytest

from cache_config import info, new_cache
from resp_wire import Wire, encode, split_replies
from strata_daemon import PATIENCE, eventually

THREADS = 4
# The kernel spreads connections over the loops at random.
ON_ALL_LOOPS = 32


@pytest.fixture
def port(daemon):
    return new_cache(daemon, threads=THREADS)


@pytest.fixture
def wires(port):
    made = [Wire(port) for _ in range(ON_ALL_LOOPS)]
    yield made
    for each in made:
        each.close()


def processor_times(daemon):
    """Returns the time of each of the daemon's threads."""
    folder = f"/proc/{daemon.process.pid}/task"
    times = {}
    for each in os.listdir(folder):
        with open(f"{folder}/{each}/schedstat", encoding="ascii") as file:
            times[each] = int(file.read().split()[0])
    return times


def test_several_loops_serve_and_one_set_of_data_is_theirs(daemon, wires):
    before = processor_times(daemon)
    for round_ in range(20):
        for i, wire in enumerate(wires):
            assert wire.ask("SET", f"key:{i}", f"{round_}") == b"+OK\r\n"
    values = b"".join(b"$2\r\n19\r\n" for _ in wires)
    for wire in wires:
        assert wire.ask_all([["GET", f"key:{i}"] for i in range(len(wires))]) == values
    after = processor_times(daemon)
    worked = [each for each in after if after[each] - before.get(each, 0) > 1_000_000]
    assert len(worked) >= THREADS
    assert info(wires[0], "connected_clients") == len(wires)
    assert info(wires[0], "io_threads_active") == 1
    for kind in ("reads", "writes"):
        threaded = info(wires[0], f"io_threaded_{kind}_processed")
        # Some connections are the engine's own.
        assert 20 < threaded < info(wires[0], f"total_{kind}_processed")
    assert wires[0].ask("CONFIG", "GET", "io-threads") == b"*2\r\n$10\r\nio-threads\r\n$1\r\n4\r\n"
    assert len(daemon.ask("GET", "/v1/runtimes/db/clients")) == len(wires)


def test_replies_come_in_order_and_all_clients_see_one_order_of_changes(wires):
    def add(number):
        wire = wires[number]
        requests = []
        for i in range(3000):
            requests += [["RPUSH", "list", f"{number}:{i}"], ["ECHO", str(i)], ["INCR", "sum"]]
        replies = split_replies(wire.ask_all(requests))
        echoes = [each.split(b"\r\n")[1] for each in replies[1::3]]
        assert echoes == [b"%d" % i for i in range(3000)]
        lengths = [int(each[1:]) for each in replies[0::3]]
        assert lengths == sorted(lengths)

    run_beside([lambda number=number: add(number) for number in range(8)])
    assert wires[0].ask("GET", "sum") == b"$5\r\n24000\r\n"
    elements = [each.split(b"\r\n")[1] for each in
                split_replies(wires[9].ask("LRANGE", "list", "0", "-1").split(b"\r\n", 1)[1])]
    of_each = collections.defaultdict(list)
    for element in elements:
        number, i = element.split(b":")
        of_each[number].append(int(i))
    assert list(of_each.values()) == [list(range(3000))] * 8


def run_beside(works):
    """Runs them in threads, and raises what one of them raises."""
    failed = []

    def run(work):
        try:
            work()
        except BaseException as why:  # noqa: BLE001
            failed.append(why)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    if failed:
        raise failed[0]


def test_transactions_and_watches_hold_between_loops(wires):
    def transfer(wire, chance):
        for _ in range(100):
            while True:
                wire.ask("WATCH", "a", "b")
                a, b = (int(each.split(b"\r\n")[1]) for each in
                        split_replies(wire.ask_all([["GET", "a"], ["GET", "b"]])))
                amount = chance.randrange(10)
                reply = wire.ask_all([["MULTI"], ["SET", "a", str(a - amount)],
                                      ["SET", "b", str(b + amount)], ["EXEC"]])
                if not reply.endswith(b"*-1\r\n"):
                    break
                conflicts.append(1)

    conflicts = []
    wires[0].ask_all([["SET", "a", "1000"], ["SET", "b", "1000"]])
    run_beside([lambda wire=wire, i=i: transfer(wire, random.Random(i))
                for i, wire in enumerate(wires[:6])])
    a, b = (int(each.split(b"\r\n")[1])
            for each in split_replies(wires[9].ask_all([["GET", "a"], ["GET", "b"]])))
    assert a + b == 2000
    assert conflicts


def test_messages_reach_subscribers_on_all_loops_in_order(wires):
    speaker, *listeners = wires
    for each in listeners:
        each.send("SUBSCRIBE", "news")
        each.receive()
    speaker.ask_all([["PUBLISH", "news", str(i)] for i in range(500)])
    expected = [b"*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$%d\r\n%d\r\n" % (len(str(i)), i)
                for i in range(500)]
    for each in listeners:
        assert [each.receive() for _ in expected] == expected


def test_a_client_that_stops_sending_gets_all_replies(port, wires):
    for number in range(ON_ALL_LOOPS):
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as half:
            half.sendall(b"".join(encode(["INCR", f"n{number}"]) for _ in range(2000)))
            half.shutdown(socket.SHUT_WR)
            received = b""
            while part := half.recv(1 << 16):
                received += part
        assert received == b"".join(b":%d\r\n" % (i + 1) for i in range(2000))
    # One that leaves at once has been heard too.
    for number in range(ON_ALL_LOOPS):
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as short:
            short.sendall(encode(["RPUSH", "left", "x"]))
    eventually(lambda: wires[0].ask("LLEN", "left") == b":%d\r\n" % ON_ALL_LOOPS, "all were heard")
    eventually(lambda: info(wires[0], "connected_clients") == len(wires), "they are gone")


def test_blocked_clients_wait_are_served_and_may_leave(port, wires):
    for i, each in enumerate(wires[1:], 1):
        each.send("BLPOP", f"list{i}", "0")
        each.send("ECHO", "behind")
    eventually(lambda: info(wires[0], "blocked_clients") == len(wires) - 1, "they wait")
    assert wires[1].is_silent()
    for i in range(1, len(wires)):
        wires[0].ask("RPUSH", f"list{i}", "x")
    for i, each in enumerate(wires[1:], 1):
        assert each.receive() == b"*2\r\n$%d\r\nlist%d\r\n$1\r\nx\r\n" % (len(f"list{i}"), i)
        assert each.receive() == b"$6\r\nbehind\r\n"
    leaving = [Wire(port) for _ in range(ON_ALL_LOOPS)]
    for each in leaving:
        each.send("BLPOP", "never", "0")
        each.send("ECHO", "behind")
    eventually(lambda: info(wires[0], "blocked_clients") == len(leaving), "they wait")
    for each in leaving:
        each.close()
    eventually(lambda: info(wires[0], "blocked_clients") == 0, "they are gone")
    assert info(wires[0], "connected_clients") == len(wires)


def test_large_values_come_and_go_whole(wires):
    chance = random.Random(7)
    values = [chance.randbytes(size) for size in (1 << 20, 17 << 20, 40 << 20)]
    for i, value in enumerate(values):
        wires[i].send("SET", f"large{i}", value)
        assert wires[i].receive() == b"+OK\r\n"
    for reader in wires[4:8]:
        for i, value in enumerate(values):
            reader.send("GET", f"large{i}")
        for value in values:
            assert reader.receive() == b"$%d\r\n%s\r\n" % (len(value), value)


def test_a_client_whose_request_comes_slowly_is_not_idle(port, wires):
    keeper = wires[0]
    keeper.ask("CONFIG", "SET", "timeout", "2")
    slow = [Wire(port) for _ in range(ON_ALL_LOOPS // 2)]
    whole = encode(["SET", "slow", "x" * 100])
    for i in range(10):
        keeper.ask("PING")
        for each in slow:
            each.socket.sendall(whole[i * 10:(i + 1) * 10])
        time.sleep(0.5)
    for each in slow:
        each.socket.sendall(whole[100:])
        assert each.receive() == b"+OK\r\n"
    for each in wires[1:]:
        assert each.socket.recv(1) == b""


def test_what_is_not_the_protocol_is_refused_on_every_loop(port):
    for _ in range(ON_ALL_LOOPS):
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as client:
            client.sendall(encode(["PING"]) + b"*1\r\n$-5\r\n" + encode(["PING"]))
            received = b""
            while part := client.recv(4096):
                received += part
        assert received == b"+PONG\r\n-ERR Protocol error: invalid bulk length\r\n"


def test_a_password_permits_what_is_behind_it_in_the_pipeline(daemon):
    port = new_cache(daemon, threads=THREADS, password="secret")
    many = ["MSET", *(str(i) for i in range(40))]
    for _ in range(ON_ALL_LOOPS):
        wire = Wire(port)
        wire.socket.sendall(encode(["AUTH", "secret"]) + encode(many) + encode(["PING"]))
        assert [wire.receive() for _ in range(3)] == [b"+OK\r\n", b"+OK\r\n", b"+PONG\r\n"]
        stranger = Wire(port)
        stranger.socket.sendall(encode(many))
        assert stranger.receive() == b"-ERR Protocol error: unauthenticated multibulk length\r\n"


def test_clients_are_disconnected_on_every_loop(daemon, wires):
    keeper, *others = wires
    ids = [int(each.ask("CLIENT", "ID")[1:]) for each in others]
    assert len(set(ids)) == len(ids)
    for each in ids[:16]:
        assert keeper.ask("CLIENT", "KILL", "ID", str(each)) == b":1\r\n"
    for each in ids[16:]:
        daemon.ask("POST", f"/v1/runtimes/db/disconnect?client={each}")
    for each in others:
        assert each.socket.recv(1) == b""
    eventually(lambda: info(keeper, "connected_clients") == 1, "they are gone")


def test_subscribers_that_read_nothing_are_ended_and_others_are_not(wires):
    speaker, reader, *silent = wires
    speaker.ask("CONFIG", "SET", "client-output-buffer-limit", "pubsub 4mb 0 0")
    for each in (reader, *silent):
        each.send("SUBSCRIBE", "news")
        each.receive()
    text = "x" * 100_000
    for _ in range(200):
        speaker.ask("PUBLISH", "news", text)
        assert reader.receive().endswith(text.encode() + b"\r\n")
    eventually(lambda: info(speaker, "connected_clients") == 2, "the silent ones are ended")
    assert speaker.ask("PUBLISH", "news", "x") == b":1\r\n"


def test_the_limit_of_connections_is_in_force_at_once(port):
    keeper = Wire(port)
    for limit in range(2, 12):
        keeper.ask("CONFIG", "SET", "maxclients", str(limit))
        more = [Wire(port) for _ in range(limit - 1)]
        for each in more:
            assert each.ask("PING") == b"+PONG\r\n"
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as refused:
            assert refused.recv(100) == b"-ERR max number of clients reached\r\n"
        for each in more:
            each.close()
        eventually(lambda: info(keeper, "connected_clients") == 1, "they are gone")


@pytest.mark.parametrize("how", ["stop", "restart", "SHUTDOWN"])
def test_the_end_comes_while_all_loops_are_busy(daemon, tmp_path, how):
    port = new_cache(daemon, threads=THREADS, persistent=str(tmp_path / "log"),
                     appendfsync="always")
    sure = [0] * 12

    def write(number):
        wire = Wire(port)
        try:
            for i in range(1, 100_000):
                assert wire.ask("SET", f"key{number}", str(i)) == b"+OK\r\n"
                sure[number] = i
        except (OSError, AssertionError):
            pass  # it is ended

    writers = [threading.Thread(target=write, args=(number,)) for number in range(len(sure))]
    for each in writers:
        each.start()
    eventually(lambda: min(sure) > 20, "all write")
    if how == "SHUTDOWN":
        Wire(port).send("SHUTDOWN")
        eventually(lambda: daemon.show("db")["state"] != "running", "it has ended")
    else:
        daemon.act("db", how)
    for each in writers:
        each.join()
    if how != "restart":
        daemon.act("db", "start")
    port = int(daemon.show("db")["endpoints"][0].rsplit(":", 1)[1])
    wire = Wire(port)
    for number, least in enumerate(sure):
        assert int(wire.ask("GET", f"key{number}").split(b"\r\n")[1]) >= least


def test_clients_come_and_go_while_others_work(port, wires):
    """Connections end in every state: before a request, in the middle of one, with replies that
    nobody reads."""
    until = time.monotonic() + 3

    def come_and_go(seed):
        chance = random.Random(seed)
        while time.monotonic() < until:
            with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as client:
                requests = b"".join(encode(["GET", "key"]) for _ in range(chance.randrange(300)))
                client.sendall(requests[:chance.randrange(len(requests) + 1)])
                if chance.random() < 0.5:
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")

    def work(wire):
        while time.monotonic() < until:
            assert wire.ask_all([["PING"], ["GET", "key"]]) == b"+PONG\r\n$-1\r\n"

    run_beside([lambda seed=seed: come_and_go(seed) for seed in range(4)]
               + [lambda wire=wire: work(wire) for wire in wires[:4]])
    eventually(lambda: info(wires[0], "connected_clients") == len(wires), "they are gone")
