"""Scripts and functions whose flags speak of the cache's state: full memory, and a follower without
its leader. Each request to a cache and to a real redis-server, byte for byte."""

import hashlib

import pytest

from resp_wire import Wire
from strata_daemon import eventually

pytestmark = pytest.mark.once

FLAGS = ["", "no-writes", "allow-oom", "allow-stale", "no-cluster", "allow-cross-slot-keys",
         "no-writes,allow-oom", "no-writes,allow-stale", "allow-oom,allow-stale",
         "allow-oom,allow-cross-slot-keys", "no-writes,allow-stale,allow-oom"]
BODIES = ["return 1", "return redis.call('GET','k')", "return redis.call('SET','k',1)",
          "return redis.call('DEL','k')", "return redis.pcall('SET','k',1)",
          "return redis.call('PING')", "return redis.call('DBSIZE')",
          "return redis.pcall('GET','k')", "return redis.call('PUBLISH','c','m')",
          "return redis.call('TIME')[1] ~= nil", "return redis.call('CONFIG','GET','maxmemory')[1]",
          "return redis.call('LPUSH','l',1)",
          # After its first change, a script may take memory: it does not end half done.
          "redis.call('DEL','k') return redis.pcall('LPUSH','l',1)",
          "redis.call('DEL','none') return redis.call('LPUSH','l',1)",
          "redis.pcall('SET','k',1) redis.call('DEL','k') return redis.pcall('SET','k',2)"]
LIBRARY = "#!lua name=lib\n" + "".join(
    f"redis.register_function{{function_name='f{i}_{j}', callback=function() {body} end,"
    f"flags={{{','.join(repr(flag) for flag in flags.split(',') if flag)}}}}}\n"
    for i, flags in enumerate(FLAGS) for j, body in enumerate(BODIES))


def texts():
    for flags in [None, *FLAGS]:
        head = "" if flags is None else f"#!lua flags={flags}\n" if flags else "#!lua\n"
        for body in BODIES:
            yield head + body


def digest(text):
    return hashlib.sha1(text.encode()).hexdigest()


def requests():
    for text in texts():
        yield from (["EVAL", text, 0], ["EVAL_RO", text, 2, "a", "b"],
                    ["EVALSHA", digest(text), 1, "a"], ["EVALSHA_RO", digest(text), 0])
    for i in range(len(FLAGS)):
        for j in range(len(BODIES)):
            yield from (["FCALL", f"f{i}_{j}", 0], ["FCALL_RO", f"f{i}_{j}", 1, "a"])


def compare(wires):
    wrong = []
    for request in requests():
        ours, theirs = (wire.ask(*request) for wire in wires)
        if ours != theirs:
            wrong.append(f"{request}: {ours!r}, and redis gives {theirs!r}")
    assert not wrong, f"{len(wrong)}\n" + "\n".join(wrong[:20])


@pytest.fixture
def wires(ports):
    wires = [Wire(port) for port in ports]
    for wire in wires:
        assert wire.ask("FUNCTION", "LOAD", LIBRARY) == b"$3\r\nlib\r\n"
        for text in texts():
            wire.ask("SCRIPT", "LOAD", text)
        wire.ask("SET", "k", "v")
    return wires


def test_flags_while_all_is_well(wires):
    compare(wires)


def test_flags_while_the_memory_is_full(wires):
    for wire in wires:
        wire.ask("CONFIG", "SET", "maxmemory", "1")
        assert wire.ask("SET", "k", "v").startswith(b"-OOM")
    compare(wires)


def follow_nobody(wires, stale):
    """Has both follow a server that does not exist."""
    for wire in wires:
        assert wire.ask("CONFIG", "SET", "replica-serve-stale-data", stale) == b"+OK\r\n"
        assert wire.ask("REPLICAOF", "127.0.0.1", "1") == b"+OK\r\n"
        eventually(lambda wire=wire: b"role:slave" in wire.ask("INFO", "replication"), "it follows")


CALLS = """
GET k|SET k v|PING|ECHO x|TIME|DBSIZE|SELECT 1|SELECT 0|EXISTS k|KEYS *|OBJECT ENCODING k|TTL k
CONFIG GET maxmemory|CONFIG GET replica-serve-stale-data|COMMAND COUNT|CLIENT ID x|CLIENT GETNAME
SCRIPT EXISTS x|SCRIPT LOAD return|SCRIPT FLUSH|FUNCTION STATS|FUNCTION LIST x|FUNCTION FLUSH
EVAL|FCALL|PUBLISH a b|PUBSUB NUMPAT|WAIT 0 1|LATENCY RESET|SLOWLOG LEN|MEMORY USAGE k|ACL WHOAMI
DEBUG SLEEP 0|SCAN 0|TYPE k|XREAD STREAMS s 0|BLPOP l 1|WATCH k|UNWATCH|MULTI|GET k|EXEC|MULTI|PING
EXEC|MULTI|ECHO x|EXEC|MULTI|TIME|EXEC|DISCARD|RANDOMKEY|SWAPDB 0 1|SHUTDOWN X|HELLO 9|AUTH x
"""


def test_flags_of_a_follower_without_its_leader(wires):
    follow_nobody(wires, "no")
    compare(wires)
    wrong = []
    for call in CALLS.strip().replace("\n", "|").split("|"):
        for wire in wires:
            wire.send(*call.split())
        ours, theirs = (wire.receive() for wire in wires)
        # The time, and the number of commands, differ.
        is_refused = ours.startswith(b"-") or theirs.startswith(b"-")
        if ours[:1] != theirs[:1] or (is_refused and ours != theirs):
            wrong.append(f"{call}: {ours[:200]!r}, and redis gives {theirs[:200]!r}")
    assert not wrong, "\n".join(wrong)
    # Subscribers stay, and what it knows is served again when it may be old.
    for wire in wires:
        assert wire.ask("INFO", "replication").count(b"master_link_status:down") == 1
        assert wire.ask("CONFIG", "SET", "slave-serve-stale-data", "yes") == b"+OK\r\n"
        assert wire.ask("GET", "k") == b"$1\r\nv\r\n"


def test_flags_of_a_follower_that_serves_old_data(wires):
    follow_nobody(wires, "yes")
    compare(wires)


def test_a_follower_with_its_leader_serves(ports, daemon):
    ours, theirs = (Wire(port) for port in ports)
    theirs.ask("SET", "k", "v")
    ours.ask("CONFIG", "SET", "replica-serve-stale-data", "no")
    ours.ask("REPLICAOF", "127.0.0.1", ports[1])
    eventually(lambda: ours.ask("GET", "k") == b"$1\r\nv\r\n", "it has the leader's data")
    ours.ask("REPLICAOF", "127.0.0.1", "1")
    eventually(lambda: ours.ask("GET", "k").startswith(b"-MASTERDOWN"), "the data is old")
    ours.ask("REPLICAOF", "NO", "ONE")
    assert ours.ask("GET", "k") == b"$1\r\nv\r\n"


def test_scripts_that_are_not_known(ports):
    wires = [Wire(port) for port in ports]
    for name in ("EVALSHA", "EVALSHA_RO"):
        for words in (["0" * 40, 0], ["x", 0], ["0" * 40, -1], ["0" * 40, "x"], ["0" * 40, 3, "a"],
                      [], ["0" * 40], [b"0" * 39 + b"\0", 0], ["G" * 40, 0], ["", 0],
                      ["0" * 41, 1, "a"]):
            ours, theirs = (wire.ask(name, *words) for wire in wires)
            assert ours == theirs, (name, words)
