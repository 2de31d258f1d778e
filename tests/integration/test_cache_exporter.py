"""Prometheus's exporter for Redis finds in caches every metric, with the same labels, that it finds
in redis-servers."""

import re
import socket
import subprocess
import urllib.parse
import urllib.request

import pytest

from resp_wire import RedisServer, Wire
from strata_daemon import PATIENCE, eventually
from test_cache_replication import await_same, new_cache

pytestmark = pytest.mark.once

# Labels whose values are the servers' own: addresses, identities and versions.
OWN_LABELS = {"addr", "id", "name", "age", "idle", "laddr", "created_at", "idle_since",
              "redis_version", "redis_build_id", "os", "tcp_port", "process_id", "run_id",
              "master_replid", "slave_ip", "slave_port", "master_host", "master_port", "tot_mem",
              "qbuf", "omem", "fd"}
# Commands that servers send by the clock, and the connection to a leader, which is no client of a
# cache (docs/cache.md).
UNCOMPARED = {("cmd", "replconf"), ("cmd", "ping"), ("flags", "M")}
# Metrics whose values follow from what was sent.
EQUAL = re.compile("redis_(up|db_keys|db_keys_expiring|key_size|key_value|stream_(?!.*idle).*|"
                   "connected_slaves|exporter_last_scrape_error|slowlog_length|"
                   "number_of_distinct_key_groups|instance_info|slave_info)$")
SAMPLE = re.compile(r'^(\w+)(?:\{(.*)\})? (\S+)$', re.MULTILINE)
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
DATA = [
    ["CONFIG", "RESETSTAT"], ["SET", "number", "17"],
    ["SET", "text", "a value"], ["SETEX", "soon", "1000", "v"], ["RPUSH", "list", "1", "2", "3"],
    ["SADD", "set", "a", "b"], ["HSET", "hash", "f", "v"], ["ZADD", "sorted", "1", "a", "2", "b"],
    ["PFADD", "log", "a", "b"], ["XADD", "stream", "5-1", "f", "v"],
    ["XADD", "stream", "6-1", "f", "v"], ["XGROUP", "CREATE", "stream", "group", "0"],
    ["XREADGROUP", "GROUP", "group", "consumer", "COUNT", "1", "STREAMS", "stream", ">"],
    ["EVAL", "return 1", "0"], ["FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function("
                                "'f', function() return 1 end)"], ["FCALL", "f", "0"],
    ["CONFIG", "SET", "latency-monitor-threshold", "5"], ["DEBUG", "SLEEP", "0.02"],
    ["SELECT", "3"], ["SET", "other", "1"], ["GET", "none"], ["SELECT", "0"],
]


@pytest.fixture
def exporter(tmp_path):
    """Yields the port of an exporter that reads whichever server it is asked for."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with open(tmp_path / "exporter.log", "wb") as log:
        running = subprocess.Popen(
            ["prometheus-redis-exporter", "-web.listen-address", f"127.0.0.1:{port}",
             "-export-client-list", "-include-system-metrics"], stdout=log, stderr=log)
    try:
        eventually(lambda: answers(port), "the exporter answers")
        yield port
    finally:
        running.terminate()
        running.wait(PATIENCE)


def answers(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=PATIENCE).close()
        return True
    except OSError:
        return False


def scrape(exporter, port):
    """Returns the values of all metrics, by their names and labels."""
    wanted = urllib.parse.urlencode({"target": f"redis://127.0.0.1:{port}", "check-keys": "*",
                                     "check-streams": "*", "check-key-groups": "^(.)"})
    with urllib.request.urlopen(f"http://127.0.0.1:{exporter}/scrape?{wanted}",
                                timeout=PATIENCE) as answer:
        text = answer.read().decode()
    found = {}
    for name, labels, value in SAMPLE.findall(text):
        # Also of a client's last command: the exporter's own change while it reads.
        own = OWN_LABELS | ({"cmd"} if name.endswith("clients_details") else set())
        kept = sorted((label, "" if label in own else text)
                      for label, text in LABEL.findall(labels))
        found[name, tuple(kept)] = float(value)
    return found


def fill(leader, follower, leader_port):
    wire, copy = Wire(leader), Wire(follower)
    for each in (wire, copy):
        each.ask("CONFIG", "SET", "latency-tracking", "yes", "slowlog-log-slower-than", "10000000")
        each.ask("SLOWLOG", "RESET")  # on a busy machine, the first commands were slow
    copy.ask("REPLICAOF", "127.0.0.1", leader_port)
    await_same(wire, copy)
    eventually(lambda: b"state=online" in wire.ask("INFO", "replication"), "it is online")
    for words in DATA:
        reply = wire.ask(*words)
        assert not reply.startswith(b"-"), (words, reply)
    assert wire.ask("LPUSH", "text", "v").startswith(b"-WRONGTYPE")
    await_same(wire, copy)
    return wire, copy


def test_the_exporter_finds_every_metric(daemon, tmp_path, exporter):
    servers = [RedisServer(tmp_path / name, "--repl-diskless-sync-delay", "0", "--appendonly",
                           "yes") for name in ("leader", "follower")]
    caches = [new_cache(daemon, name, "--persistent", tmp_path / f"{name}.aof")
              for name in ("leader", "follower")]
    redises = [each.port for each in servers]
    try:
        wires = [*fill(*redises, redises[0]), *fill(*caches, caches[0])]
        for cache, redis in zip(caches, redises):
            expected, present = scrape(exporter, redis), scrape(exporter, cache)
            assert len(expected) > 150
            missing = sorted(key for key in expected.keys() - present.keys()
                             if not UNCOMPARED.intersection(key[1]))
            assert missing == [], "\n".join(map(str, missing))
            differing = {key: (present[key], value) for key, value in expected.items()
                         if EQUAL.match(key[0]) and present[key] != value}
            assert differing == {}
        for each in wires:
            each.close()
    finally:
        for each in servers:
            each.close()
