"""The limits that a cache's options set for clients: commands, a rate, a number of connections; and
the bounds of the data that waits for a client."""

import socket
import time

import pytest
import redis as redis_py

from resp_wire import Wire, encode
from strata_daemon import PATIENCE, eventually


@pytest.fixture
def port(daemon):
    return new_cache(daemon)


def new_cache(daemon, **options):
    made = daemon.create("cache", "db", listen=["tcp://127.0.0.1:0"], resp=True, **options)
    return int(made["endpoints"][0].rsplit(":", 1)[1])


def refusal(why):
    return f"-NOPERM this cache allows {why}\r\n".encode()


def test_readonly_lets_nothing_change(daemon, port):
    wire = Wire(port)
    wire.ask("SET", "k", "v")
    daemon.edit("db", access="readonly")
    eventually(lambda: wire.ask("SET", "k", "v").startswith(b"-NOPERM"), "it is in force")
    assert wire.ask("SET", "k", "w") == refusal("readonly access; 'set' changes data")
    assert wire.ask("get", "k") == b"$1\r\nv\r\n"
    assert wire.ask("BLPOP", "l", "1") == refusal("readonly access; 'blpop' changes data")
    assert wire.ask("CONFIG", "SET", "maxmemory", "1") == refusal(
        "readonly access; 'config|set' requires admin access")
    assert wire.ask("INFO", "server").startswith(b"$")
    replies = wire.ask_all([["MULTI"], ["GET", "k"], ["DEL", "k"], ["EXEC"]])
    assert replies == (b"+OK\r\n+QUEUED\r\n" + refusal("readonly access; 'del' changes data")
                       + b"-EXECABORT Transaction discarded because of previous errors.\r\n")
    daemon.edit("db", access=None)
    eventually(lambda: wire.ask("SET", "k", "w") == b"+OK\r\n", "everything is allowed again")
    assert wire.ask("FLUSHALL") == b"+OK\r\n"


def test_readwrite_leaves_the_cache_itself_alone(daemon):
    wire = Wire(new_cache(daemon, access="readwrite"))
    assert wire.ask("SET", "k", "v") == b"+OK\r\n"
    assert wire.ask("CLIENT", "SETNAME", "me") == b"+OK\r\n"
    for words in (["FLUSHALL"], ["KEYS", "*"], ["MONITOR"]):
        assert wire.ask(*words) == refusal(
            f"readwrite access; '{words[0].lower()}' requires admin access")
    assert wire.ask("CLIENT", "KILL", "ID", "1") == refusal(
        "readwrite access; 'client|kill' requires admin access")
    assert wire.ask("GET", "k") == b"$1\r\nv\r\n"


def test_access_is_one_of_three(daemon):
    done = daemon.run("create", "cache", "db", "-p", "0", "--access", "none")
    assert done.returncode == 2 and "readonly|readwrite|admin" in done.stderr


def test_who_exceeds_the_rate_waits_and_loses_nothing(daemon):
    port = new_cache(daemon, rate_limit=20)
    hasty, other = Wire(port), Wire(port)
    began = time.monotonic()
    hasty.socket.sendall(b"".join(encode(["ECHO", str(i)]) for i in range(60)))
    assert other.ask("PING") == b"+PONG\r\n"  # ask() sends two commands: the limit is per client
    answers = [hasty.receive() for _ in range(60)]
    assert answers == [b"$%d\r\n%d\r\n" % (len(str(i)), i) for i in range(60)]
    # One second's worth of commands runs at once.
    assert time.monotonic() - began > (60 - 20) / 20 - 0.1


def test_all_clients_together_share_a_rate(daemon):
    port = new_cache(daemon, global_rate_limit=20)
    wires = [Wire(port) for _ in range(3)]
    began = time.monotonic()
    for wire in wires:
        wire.socket.sendall(encode(["PING"]) * 20)
    for wire in wires:
        assert {wire.receive() for _ in range(20)} == {b"+PONG\r\n"}
    assert time.monotonic() - began > (60 - 20) / 20 - 0.1
    wires[0].socket.sendall(encode(["PING"]) * 10_000)
    daemon.edit("db", global_rate_limit=0)
    assert {wires[0].receive() for _ in range(10_000)} == {b"+PONG\r\n"}


def test_a_rate_that_is_lifted_frees_who_waits(daemon):
    port = new_cache(daemon, rate_limit=1)
    wire = Wire(port)
    wire.socket.sendall(encode(["PING"]) * 10_000)
    assert wire.receive() == b"+PONG\r\n"
    daemon.edit("db", rate_limit=0)
    assert {wire.receive() for _ in range(9_999)} == {b"+PONG\r\n"}


def test_one_client_too_many_is_told_so(daemon):
    port = new_cache(daemon, max_connections=2)
    first, second = Wire(port), Wire(port)
    assert first.ask("PING") == second.ask("PING") == b"+PONG\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as third:
        third.sendall(encode(["HELLO", "3"]) * 100)
        heard = b""
        while part := third.recv(4096):
            heard += part
    assert heard == b"-ERR max number of clients reached\r\n"
    assert b"rejected_connections:1" in first.ask("INFO", "stats")
    assert daemon.stats("db")["connections"]["refused"] == 1
    with pytest.raises(redis_py.ConnectionError):
        redis_py.Redis(port=port).ping()
    assert first.ask("CONFIG", "GET", "maxclients").endswith(b"$1\r\n2\r\n")
    second.close()
    daemon.wait_connections("db", 1)
    assert Wire(port).ask("PING") == b"+PONG\r\n"


def test_a_flood_of_clients_too_many_does_no_harm(daemon):
    port = new_cache(daemon, max_connections=1)
    first = Wire(port)
    assert first.ask("PING") == b"+PONG\r\n"
    more = [socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) for _ in range(300)]
    eventually(lambda: daemon.stats("db")["connections"]["refused"] == 300, "all are refused")
    for each in more:
        try:
            while each.recv(4096):
                pass
        except ConnectionResetError:
            pass
        each.close()
    assert first.ask("PING") == b"+PONG\r\n"


def test_what_was_asked_behind_a_blocking_command_is_all_answered(port):
    waiting, other = Wire(port), Wire(port)
    other.ask("SET", "big", "x" * 100_000)
    # More than the limit of data that waits for a client.
    waiting.socket.sendall(encode(["BLPOP", "queue", "0"]) + encode(["GET", "big"]) * 100)
    time.sleep(0.1)
    other.ask("RPUSH", "queue", "job")
    assert waiting.receive() == b"*2\r\n$5\r\nqueue\r\n$3\r\njob\r\n"
    for _ in range(100):
        assert len(waiting.receive()) == 100_011


def test_who_waits_for_a_key_is_not_read_from_without_end(daemon, port):
    other = Wire(port)
    before = daemon.resident_mib()
    waiting = Wire(port)
    waiting.socket.settimeout(2)
    waiting.send("BLPOP", "queue", "0")
    sent = 0
    part = encode(["PING"]) * 10_000
    with pytest.raises(TimeoutError):
        while sent < 256 << 20:
            sent += waiting.socket.send(part)
    assert daemon.resident_mib() - before < 64
    assert other.ask("RPUSH", "queue", "job") == b":1\r\n"
    waiting.socket.settimeout(PATIENCE)
    assert waiting.receive() == b"*2\r\n$5\r\nqueue\r\n$3\r\njob\r\n"
    assert waiting.receive() == b"+PONG\r\n"
