"""Every parameter of CONFIG has its effect, or is refused."""

import socket
import time
from pathlib import Path

import pytest

from cache_config import bulks, config, info, new_cache, set_config
from resp_wire import Wire, encode
from strata_daemon import PATIENCE, eventually

HERE = Path(__file__).resolve().parent
THIS = Path(__file__).name
DOCS = HERE.parents[1] / "docs" / "cache.md"


@pytest.fixture
def wire(daemon):
    return Wire(new_cache(daemon))


def is_refused(port):
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as one:
        one.sendall(encode(["PING"]))
        return one.recv(100).startswith(b"-ERR max number of clients")


def test_maxclients_limits(daemon):
    port = new_cache(daemon)
    first, second = Wire(port), Wire(port)
    assert second.ask("PING") == b"+PONG\r\n"
    set_config(first, "maxclients", "2")
    assert is_refused(port)
    assert second.ask("PING") == b"+PONG\r\n"
    set_config(first, "maxclients", "3")
    assert Wire(port).ask("PING") == b"+PONG\r\n"


def follow(wire):
    assert wire.ask("REPLCONF", "capa", "eof") == b"+OK\r\n"
    wire.send("PSYNC", "?", "-1")


def test_timeout_ends_clients_that_are_idle_and_no_others(daemon):
    port = new_cache(daemon)
    idle, subscriber, blocked, monitor, busy = (Wire(port) for _ in range(5))
    follower = Wire(port)
    assert idle.ask("PING") == b"+PONG\r\n"
    subscriber.send("SUBSCRIBE", "channel")
    subscriber.receive()
    blocked.send("BLPOP", "queue", "0")
    monitor.send("MONITOR")
    monitor.receive()
    follow(follower)
    eventually(lambda: info(busy, "connected_slaves") == 1, "one follows")
    set_config(busy, "timeout", "1")
    idle.socket.setblocking(False)

    def ended():
        assert busy.ask("PING") == b"+PONG\r\n"
        try:
            return idle.socket.recv(1) == b""
        except BlockingIOError:
            return False

    eventually(ended, "the idle client is ended")
    began = time.monotonic()
    while time.monotonic() - began < 2.5:
        assert busy.ask("PING") == b"+PONG\r\n"
        time.sleep(0.1)
    assert busy.ask("PUBLISH", "channel", "message") == b":1\r\n"
    assert subscriber.receive().endswith(b"message\r\n")
    assert busy.ask("RPUSH", "queue", "job") == b":1\r\n"
    assert blocked.receive().endswith(b"job\r\n")
    assert info(busy, "connected_slaves") == 1
    assert b"flags=O" in busy.ask("CLIENT", "LIST")


def keep_alive_timers(port):
    """Returns the seconds until the kernel's next keep-alive probe for each
    accepted connection to `port`."""
    found = []
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        words = line.split()
        kind, ticks = words[5].split(":")
        if int(words[1].split(":")[1], 16) == port and words[3] == "01":
            found.append(int(ticks, 16) / 100 if kind == "02" else None)
    return found


def test_tcp_keepalive_is_for_new_connections(daemon):
    port = new_cache(daemon)
    wire = Wire(port)
    assert config(wire, "tcp-keepalive") == "300"
    eventually(lambda: all(each is not None and 60 < each <= 300
                           for each in keep_alive_timers(port)), "it is probed")
    set_config(wire, "tcp-keepalive", "40")
    other = Wire(port)
    other.ask("PING")
    eventually(lambda: sum(each is not None and each <= 40
                           for each in keep_alive_timers(port)) == 1, "the new one, sooner")
    set_config(wire, "tcp-keepalive", "0")
    third = Wire(port)
    third.ask("PING")
    eventually(lambda: None in keep_alive_timers(port), "the newest is not")


def groups_of_expired(port, wire):
    """Sets 20 keys that expire one after the other in 2 s. Returns the number of groups, by time,
    in which they are removed."""
    hearer = Wire(port)
    hearer.send("SUBSCRIBE", "__keyevent@0__:expired")
    hearer.receive()
    wire.ask_all([["SET", f"k{i}", "v", "PX", str(100 * i + 50)] for i in range(20)])
    groups, last = 0, 0
    for _ in range(20):
        hearer.receive()
        now = time.monotonic()
        groups += now - last > 0.03
        last = now
    return groups


def test_hz_is_how_often_keys_that_have_expired_are_looked_for(daemon):
    port = new_cache(daemon)
    wire = Wire(port)
    set_config(wire, "notify-keyspace-events", "Ex")
    set_config(wire, "hz", "1")
    assert groups_of_expired(port, wire) <= 5
    set_config(wire, "hz", "500")
    assert groups_of_expired(port, wire) > 5


def test_activerehashing_moves_a_table_that_grows_while_nothing_is_asked(wire):
    set_config(wire, "activerehashing", "no")
    for batch in range(200):
        wire.ask_all([["SET", f"{batch}-{i}", "v"] for i in range(300)])
        filled = info(wire, "used_memory")
        time.sleep(0.15)
        assert info(wire, "used_memory") == filled
        set_config(wire, "activerehashing", "yes")
        time.sleep(0.15)
        set_config(wire, "activerehashing", "no")
        if info(wire, "used_memory") < filled:
            return
    raise AssertionError("no table was ever moved")


def encoding(wire, name, value, *command):
    """Returns the encoding of a new key, with the parameter at its default and at `value`."""
    found = []
    for each in (None, value):
        if each:
            set_config(wire, name, each)
        wire.ask("DEL", "k")
        assert not wire.ask(*command).startswith(b"-")
        found.append(wire.ask("OBJECT", "ENCODING", "k").split(b"\r\n")[1].decode())
    return found


LONG = "x" * 30
ENCODINGS = [
    ("hash-max-listpack-entries", "1", ["HSET", "k", "a", "1", "b", "2"], "hashtable"),
    ("hash-max-ziplist-entries", "1", ["HSET", "k", "a", "1", "b", "2"], "hashtable"),
    ("hash-max-listpack-value", "20", ["HSET", "k", "a", LONG], "hashtable"),
    ("hash-max-ziplist-value", "20", ["HSET", "k", "a", LONG], "hashtable"),
    ("set-max-intset-entries", "1", ["SADD", "k", "1", "2"], "hashtable"),
    ("zset-max-listpack-entries", "1", ["ZADD", "k", "1", "a", "2", "b"], "skiplist"),
    ("zset-max-ziplist-entries", "1", ["ZADD", "k", "1", "a", "2", "b"], "skiplist"),
    ("zset-max-listpack-value", "20", ["ZADD", "k", "1", LONG], "skiplist"),
    ("zset-max-ziplist-value", "20", ["ZADD", "k", "1", LONG], "skiplist"),
]


@pytest.mark.parametrize("name, value, command, large", ENCODINGS, ids=[e[0] for e in ENCODINGS])
def test_what_is_kept_packed(wire, name, value, command, large):
    small, changed = encoding(wire, name, value, *command)
    assert changed == large != small


@pytest.mark.parametrize("name", ["list-max-listpack-size", "list-max-ziplist-size"])
def test_nodes_of_lists_are_as_large_as_they_may(wire, name):
    sizes = []
    for fill in ("-2", "1"):
        set_config(wire, name, fill)
        wire.ask("DEL", "k")
        wire.ask("RPUSH", "k", *["element"] * 200)
        sizes.append(int(wire.ask("MEMORY", "USAGE", "k", "SAMPLES", "0")[1:]))
    assert sizes[1] > 2 * sizes[0]


@pytest.mark.parametrize("name, value", [("stream-node-max-entries", "1"),
                                         ("stream-node-max-bytes", "64")])
def test_blocks_of_streams_are_as_large_as_they_may(wire, name, value):
    left = []
    for limit in (None, value):
        if limit:
            set_config(wire, name, limit)
        wire.ask("DEL", "k")
        wire.ask_all([["XADD", "k", f"{i}-1", "field", "value"] for i in range(1, 21)])
        left.append(wire.ask("XTRIM", "k", "MAXLEN", "~", "15"))
    assert left[0] == b":0\r\n" and left[1] != b":0\r\n"


def share_of_the_soonest(wire, samples):
    """Evicts about 100 of 200 keys. Returns the share of evicted keys that are among the
    100 that expire first."""
    wire.ask("FLUSHALL")
    set_config(wire, "maxmemory", "0")
    set_config(wire, "maxmemory-samples", samples)
    wire.ask_all([["SET", f"k{i:03}", "x" * 4000, "EX", str(1000 + i * 10)] for i in range(200)])
    used = info(wire, "used_memory")
    set_config(wire, "maxmemory", str(used - 400_000))
    wire.ask("SET", "another", "v")
    left = [each for each in bulks(wire.ask("KEYS", "k*"))]
    gone = {f"k{i:03}" for i in range(200)} - set(left)
    assert 50 < len(gone) < 150
    return sum(each < "k100" for each in gone) / len(gone)


def test_more_samples_find_better_keys_to_evict(wire):
    set_config(wire, "maxmemory-policy", "volatile-ttl")
    assert share_of_the_soonest(wire, "64") > 0.9
    assert share_of_the_soonest(wire, "1") < 0.8


def test_how_fast_uses_are_counted(wire):
    set_config(wire, "maxmemory-policy", "allkeys-lfu")
    counted = []
    for factor in ("0", "1000"):
        set_config(wire, "lfu-log-factor", factor)
        wire.ask("SET", "k", "v")
        wire.ask("DEL", "k")
        wire.ask_all([["SET", "k", "v"]] + [["GET", "k"]] * 100)
        counted.append(int(wire.ask("OBJECT", "FREQ", "k")[1:]))
    assert counted[0] > 100 > 30 > counted[1]


def test_the_slow_log_notes_what_it_is_to(wire):
    assert wire.ask("SLOWLOG", "LEN") == b":0\r\n"
    set_config(wire, "slowlog-log-slower-than", "0")
    wire.ask_all([["PING"]] * 10)
    assert int(wire.ask("SLOWLOG", "LEN")[1:]) >= 10
    set_config(wire, "slowlog-max-len", "3")
    wire.ask_all([["PING"]] * 10)
    assert wire.ask("SLOWLOG", "LEN") == b":3\r\n"


def test_what_is_too_large_is_not_read(daemon):
    port = new_cache(daemon)
    wire = Wire(port)
    big = "x" * (2 << 20)
    assert wire.ask("SET", "k", big) == b"+OK\r\n"
    set_config(wire, "proto-max-bulk-len", "1mb")
    wire.send("SET", "k", "x" * (1 << 20))
    assert wire.receive() == b"+OK\r\n"
    wire.socket.sendall(b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$2000000\r\n")
    assert b"invalid bulk length" in wire.receive()
    wire = Wire(port)
    set_config(wire, "proto-max-bulk-len", "512mb")
    set_config(wire, "client-query-buffer-limit", "1mb")
    wire.socket.sendall(b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$2000000\r\n")
    try:
        wire.socket.sendall(b"x" * 1_900_000)
        assert b"too big" in wire.receive()
    except ConnectionError:
        pass
    assert len(Wire(port).ask("GET", "k")) < 2 << 20


def test_when_a_log_rewrites_itself(daemon, tmp_path):
    wire = Wire(new_cache(daemon, persistent=str(tmp_path / "db.aof")))
    set_config(wire, "auto-aof-rewrite-percentage", "0")
    set_config(wire, "auto-aof-rewrite-min-size", "0")
    wire.ask_all([["SET", "k", "x" * 1000]] * 100)
    time.sleep(0.5)
    assert info(wire, "aof_rewrites") == 0
    set_config(wire, "auto-aof-rewrite-percentage", "100")
    eventually(lambda: info(wire, "aof_rewrites") == 1, "it has more than doubled")


@pytest.mark.parametrize("stops", ["yes", "no"])
def test_changes_stop_when_saving_fails(daemon, tmp_path, stops):
    folder = tmp_path / "folder"
    folder.mkdir()
    wire = Wire(new_cache(daemon, snapshot=str(folder / "dump.rdb"), save="3600 1000"))
    set_config(wire, "stop-writes-on-bgsave-error", stops)
    folder.rename(tmp_path / "moved")
    assert wire.ask("SET", "k", "v") == b"+OK\r\n"
    assert wire.ask("SAVE").startswith(b"-ERR")
    reply = wire.ask("SET", "k", "w")
    assert reply.startswith(b"-MISCONF") if stops == "yes" else reply == b"+OK\r\n"


def test_rules_that_a_client_sets_save(daemon, tmp_path):
    wire = Wire(new_cache(daemon, snapshot=str(tmp_path / "dump.rdb")))
    wire.ask("SET", "k", "v")
    set_config(wire, "save", "1 1")
    eventually(lambda: info(wire, "rdb_saves") >= 1, "it is saved")


def test_a_leader_is_given_the_password(daemon):
    leader = Wire(new_cache(daemon, "leader", password="secret"))
    leader.ask("AUTH", "secret")
    leader.ask("SET", "k", "v")
    wire = Wire(new_cache(daemon))
    set_config(wire, "masterauth", "secret")
    wire.ask("REPLICAOF", "127.0.0.1", str(leader.socket.getpeername()[1]))
    eventually(lambda: wire.ask("GET", "k") == b"$1\r\nv\r\n", "the data is there")


@pytest.mark.parametrize("name", ["repl-ping-replica-period", "repl-ping-slave-period"])
def test_followers_are_greeted_and_silent_ones_ended(daemon, name):
    port = new_cache(daemon)
    wire, follower = Wire(port), Wire(port)
    set_config(wire, name, "1")
    set_config(wire, "repl-backlog-size", "16kb")
    follow(follower)
    heard = b""
    while b"PING" not in heard:
        heard += follower.socket.recv(1 << 16)
        follower.send("REPLCONF", "ACK", "0")
    wire.ask_all([["SET", "k", "x" * 1000]] * 100)
    eventually(lambda: 0 < info(wire, "repl_backlog_histlen") <= 2 * 16 << 10, "the old are gone")
    set_config(wire, "repl-timeout", "1")
    eventually(lambda: info(wire, "connected_slaves") == 0, "it has not said a word")


# --- every parameter -----------------------------------------------------------------------------

# The file and the test that cover each parameter.
TESTED = {
    "acllog-max-len": ("test_cache_acl.py", "test_each_request_gets_the_bytes_of_redis"),
    "acl-pubsub-default": ("test_cache_acl.py", "test_each_request_gets_the_bytes_of_redis"),
    "masteruser": ("test_cache_acl.py", "test_a_follower_logs_in_as_a_user"),
    **{each[0]: (THIS, "test_what_is_kept_packed") for each in ENCODINGS},
    "maxmemory": ("test_cache.py", "test_maxmemory_evicts_or_refuses"),
    "maxmemory-policy": ("test_cache.py", "test_maxmemory_evicts_or_refuses"),
    "maxmemory-samples": (THIS, "test_more_samples_find_better_keys_to_evict"),
    "lfu-log-factor": (THIS, "test_how_fast_uses_are_counted"),
    **{name: (THIS, "test_nodes_of_lists_are_as_large_as_they_may")
       for name in ("list-max-listpack-size", "list-max-ziplist-size")},
    "hll-sparse-max-bytes": ("test_cache_hyperloglog.py",
                             "test_random_commands_get_the_same_replies_bytes_and_events"),
    **{name: (THIS, "test_blocks_of_streams_are_as_large_as_they_may")
       for name in ("stream-node-max-entries", "stream-node-max-bytes")},
    **{name: ("test_cache_busy_scripts.py", "test_others_see_what_they_see_beside_redis")
       for name in ("busy-reply-threshold", "lua-time-limit")},
    "slowlog-log-slower-than": (THIS, "test_the_slow_log_notes_what_it_is_to"),
    "slowlog-max-len": (THIS, "test_the_slow_log_notes_what_it_is_to"),
    "latency-monitor-threshold": ("test_cache_latency.py",
                                  "test_what_takes_longer_than_the_threshold_is_noted"),
    "latency-tracking": ("test_cache_latency.py", "test_a_histogram_has_all_calls_of_a_command"),
    "tracking-table-max-keys": ("test_cache_tracking.py",
                                "test_no_more_keys_are_remembered_than_configured"),
    "proto-max-bulk-len": (THIS, "test_what_is_too_large_is_not_read"),
    "client-query-buffer-limit": (THIS, "test_what_is_too_large_is_not_read"),
    "client-output-buffer-limit": ("test_cache_waiting.py",
                                   "test_a_subscriber_that_does_not_read_is_ended_at_its_limit"),
    "maxclients": (THIS, "test_maxclients_limits"),
    "maxmemory-clients": ("test_cache_config.py", "test_what_a_client_sets_is_an_option"),
    **{name: ("test_cache_info.py", "test_what_is_freed_later")
       for name in ("lazyfree-lazy-user-del", "lazyfree-lazy-user-flush", "lazyfree-lazy-expire")},
    **{name: ("test_cache_info.py", "test_changes_are_refused_without_followers")
       for name in ("min-replicas-to-write", "min-replicas-max-lag", "min-slaves-to-write",
                    "min-slaves-max-lag")},
    **{f"{role}-serve-stale-data": ("test_cache_script_states.py",
                                    "test_a_follower_with_its_leader_serves")
       for role in ("replica", "slave")},
    **{f"{role}-{name}": ("test_cache_info.py", "test_a_follower_says_what_it_is_told_to_say")
       for role in ("replica", "slave") for name in ("announce-ip", "announce-port", "priority")},
    "replica-announced": ("test_cache_follower_figures.py",
                          "test_a_follower_may_keep_itself_from_sentinels"),
    "timeout": (THIS, "test_timeout_ends_clients_that_are_idle_and_no_others"),
    "tcp-keepalive": (THIS, "test_tcp_keepalive_is_for_new_connections"),
    "hz": (THIS,
           "test_hz_is_how_often_keys_that_have_expired_are_looked_for"),
    "notify-keyspace-events": ("test_cache.py", "test_keys_expire_when_nobody_looks"),
    "requirepass": ("test_cache_config.py",
                    "test_a_password_that_a_client_has_set_outlives_an_edit_and_the_daemon"),
    "save": (THIS, "test_rules_that_a_client_sets_save"),
    "auto-aof-rewrite-percentage": (THIS, "test_when_a_log_rewrites_itself"),
    "auto-aof-rewrite-min-size": ("test_cache_storage.py",
                                  "test_a_log_that_has_doubled_rewrites_itself"),
    "stop-writes-on-bgsave-error": (THIS,
                                    "test_changes_stop_when_saving_fails"),
    # The option has the effect, and CONFIG sets the option.
    "appendfsync": ("test_cache_storage.py",
                    "test_what_was_acknowledged_under_always_survives_kill_9"),
    "activerehashing": (THIS,
                        "test_activerehashing_moves_a_table_that_grows_while_nothing_is_asked"),
    "masterauth": (THIS, "test_a_leader_is_given_the_password"),
    **{name: (THIS, "test_followers_are_greeted_and_silent_ones_ended")
       for name in ("repl-backlog-size", "repl-timeout", "repl-ping-replica-period",
                    "repl-ping-slave-period")},
}
# The effect takes minutes.
UNSEEN = {"lfu-decay-time"}


def test_every_parameter_has_an_effect_or_is_refused(wire):
    shown = bulks(wire.ask("CONFIG", "GET", "*"))
    values = dict(zip(shown[::2], shown[1::2], strict=True))
    documented = DOCS.read_text()
    documented = documented[documented.index("## Where it differs from Redis"):]
    for name, value in values.items():
        if name in UNSEEN:
            continue
        if name in TESTED:
            file, test = TESTED[name]
            text = (HERE / file).read_text()
            stem = name.removeprefix("replica-").removeprefix("slave-")
            assert f"def {test}(" in text and stem in text, name
            continue
        other = {"yes": "no", "no": "yes"}.get(value, "17")
        reply = wire.ask("CONFIG", "SET", name, other)
        assert reply.startswith(b"-ERR CONFIG SET failed") or f"`{name}`" in documented, name
        if reply == b"+OK\r\n":
            set_config(wire, name, value)
        assert config(wire, name) == value
    assert UNSEEN | TESTED.keys() <= values.keys()


def test_what_has_no_effect_says_so(wire):
    # Parameters that have no effect are kept, if Redis takes the value.
    for name, value in (("list-compress-depth", "1"), ("activedefrag", "yes"),
                        ("loglevel", "VERBOSE"), ("rdb-key-save-delay", "10")):
        set_config(wire, name, value)
        assert config(wire, name) == value.lower()
    for name, value in (("list-compress-depth", "x"), ("activedefrag", "2"), ("loglevel", "loud")):
        assert b"argument" in wire.ask("CONFIG", "SET", name, value)
    assert b"rdb-key-save-delay" not in wire.ask("CONFIG", "GET", "*")
    assert b"activedefrag" in wire.ask("CONFIG", "GET", "*defrag*")
    assert b"immutable" in wire.ask("CONFIG", "SET", "daemonize", "yes")
