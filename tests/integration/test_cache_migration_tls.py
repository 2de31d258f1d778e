"""MIGRATE by TLS. A redis-server uses TLS for it with `tls-cluster yes`, a cache if it has followed
a leader by TLS.

    redis-server -- MIGRATE, tls-cluster --> cache at tls://
    cache <-- follow at tls:// -- cache -- MIGRATE --> cache at tls:// | redis-server at tls-port
"""

import pytest

from cache_contents import assert_same
from certificates import Authority
from resp_wire import RedisServer, Wire
from strata_daemon import eventually
from talker import free_port, port_of
from test_cache_log_groups import stream_of
from test_cache_migration import KEYS, data_of, fill, migrate

CANNOT_CONNECT = b"-IOERR error or timeout connecting to the client\r\n"


@pytest.fixture
def make_redis(tmp_path):
    """Yields a function that makes a redis-server which also listens for TLS."""
    servers = []

    def make(authority, *flags):
        cert, key = authority.issue("localhost", into=tmp_path / f"redis-tls{len(servers)}")
        port = free_port()
        servers.append(RedisServer(tmp_path / f"redis{len(servers)}", "--tls-port", str(port),
                                   "--tls-cert-file", cert, "--tls-key-file", key,
                                   "--tls-ca-cert-file", authority.ca, *flags))
        return servers[-1].port, port

    yield make
    for each in servers:
        each.close()


def new_cache(daemon, authority, name, *names, **options):
    """Returns the ports of a cache without TLS and with it."""
    cert, key = authority.issue(*(names or ["localhost", "127.0.0.1"]),
                                into=authority.folder / name)
    endpoints = daemon.create("cache", name, listen=["tcp://127.0.0.1:0", "tls://127.0.0.1:0"],
                              resp=True, cert=[cert], key=[key], **options)["endpoints"]
    return tuple(port_of(url) for url in endpoints)


def assert_everything_moves(source, target, tls_port, host="127.0.0.1"):
    """Moves all keys, first as copies, to the TLS port of a server; `target` is its other port."""
    wire = Wire(source)
    fill(wire)
    wire.ask("XREADGROUP", "GROUP", "group", "alice", "STREAMS", "stream", ">")
    before, stream = data_of(source), stream_of(wire, "stream")
    copy = migrate(tls_port, "COPY", "KEYS", *KEYS)
    assert wire.ask("MIGRATE", host, *copy[2:]) == b"+OK\r\n"
    assert_same(before, data_of(source))
    assert_same(before, data_of(target))
    Wire(target).ask("FLUSHALL")
    for key in KEYS:
        assert wire.ask("MIGRATE", host, *migrate(tls_port, key=key)[2:]) == b"+OK\r\n"
    assert wire.ask("DBSIZE") == b":0\r\n"
    assert_same(before, data_of(target))
    assert_same(stream, stream_of(Wire(target), "stream"))


def refusal_of(source, port, host="127.0.0.1"):
    """Returns the reply to a MIGRATE after which the key is still there."""
    wire = Wire(source)
    wire.ask("SET", "k", "v")
    reply = wire.ask("MIGRATE", host, *migrate(port, key="k", timeout=2000)[2:])
    assert wire.ask("GET", "k") == b"$1\r\nv\r\n"
    return reply


# --- from a redis-server


def test_a_redis_server_moves_keys_by_tls(daemon, authority, make_redis):
    source, _ = make_redis(authority, "--tls-cluster", "yes")
    assert_everything_moves(source, *new_cache(daemon, authority, "target"))


def test_a_redis_server_shows_its_certificate(daemon, authority, make_redis):
    source, _ = make_redis(authority, "--tls-cluster", "yes")
    assert_everything_moves(source, *new_cache(daemon, authority, "target",
                                               client_ca=authority.ca))
    foreign = Authority(authority.folder / "foreign")
    foreign.issue("somebody")
    plain, secure = new_cache(daemon, authority, "other", client_ca=foreign.ca)
    assert refusal_of(source, secure).startswith(b"-IOERR")
    assert Wire(plain).ask("DBSIZE") == b":0\r\n"


def test_a_redis_server_refuses_a_cache_that_it_does_not_trust(daemon, authority, make_redis):
    foreign = Authority(authority.folder / "foreign")
    source, _ = make_redis(foreign, "--tls-cluster", "yes")
    plain, secure = new_cache(daemon, authority, "target")
    assert refusal_of(source, secure) == CANNOT_CONNECT
    assert Wire(plain).ask("DBSIZE") == b":0\r\n"


@pytest.mark.parametrize("tls_cluster", ["yes", "no"])
def test_tls_of_only_one_side_moves_nothing(daemon, authority, make_redis, tls_cluster):
    source, _ = make_redis(authority, "--tls-cluster", tls_cluster)
    plain, secure = new_cache(daemon, authority, "target")
    port, other = (plain, "no") if tls_cluster == "yes" else (secure, "yes")
    assert refusal_of(source, port).startswith(b"-IOERR")
    assert Wire(plain).ask("DBSIZE") == b":0\r\n"
    wire = Wire(source)
    assert wire.ask("CONFIG", "SET", "tls-cluster", other) == b"+OK\r\n"
    assert wire.ask(*migrate(port, key="k")) == b"+OK\r\n"
    assert Wire(plain).ask("GET", "k") == b"$1\r\nv\r\n"


# --- from a cache


@pytest.fixture
def source(daemon, authority):
    """A cache that has followed a leader by TLS, and leads now; yields its port."""
    plain, secure = new_cache(daemon, authority, "leader")
    [url] = daemon.create("cache", "source", listen=["tcp://127.0.0.1:0"], resp=True,
                          follow=f"tls://localhost:{secure}", ca=authority.ca)["endpoints"]
    wire = Wire(port_of(url))
    Wire(plain).ask("SET", "mark", "1")
    eventually(lambda: wire.ask("GET", "mark") == b"$1\r\n1\r\n", "it follows")
    assert wire.ask_all([["REPLICAOF", "NO", "ONE"], ["DEL", "mark"]]) == b"+OK\r\n:1\r\n"
    daemon.remove("leader")
    return port_of(url)


def test_a_cache_moves_keys_to_a_cache_by_tls(daemon, authority, source):
    assert_everything_moves(source, *new_cache(daemon, authority, "target"), host="localhost")


def test_a_cache_moves_keys_to_a_redis_server_by_tls(authority, source, make_redis):
    assert_everything_moves(source, *make_redis(authority, "--tls-auth-clients", "no"),
                            host="localhost")


def test_a_cache_refuses_a_target_that_it_does_not_trust(daemon, authority, source):
    foreign = Authority(authority.folder / "foreign")
    for name, owner, names in (("unknown", foreign, ["localhost"]),
                               ("wrong_name", authority, ["other.test"])):
        plain, secure = new_cache(daemon, owner, name, *names)
        assert refusal_of(source, secure, "localhost") == CANNOT_CONNECT, name
        assert Wire(plain).ask("DBSIZE") == b":0\r\n"


def test_a_cache_that_has_followed_by_tls_sends_nothing_without(daemon, authority, source):
    plain, _ = new_cache(daemon, authority, "target")
    assert refusal_of(source, plain, "localhost").startswith(b"-IOERR")
    assert Wire(plain).ask("DBSIZE") == b":0\r\n"


def test_a_cache_that_has_followed_by_tls_uses_it_after_a_restart(daemon, authority, source):
    plain, secure = new_cache(daemon, authority, "target")
    daemon.act("source", "restart")
    source = port_of(daemon.show("source")["endpoints"][0])
    assert refusal_of(source, plain, "localhost").startswith(b"-IOERR")
    assert Wire(plain).ask("DBSIZE") == b":0\r\n"
    assert Wire(source).ask("MIGRATE", "localhost", *migrate(secure, key="k")[2:]) == b"+OK\r\n"
    assert Wire(plain).ask("GET", "k") == b"$1\r\nv\r\n"


def test_a_cache_that_has_not_followed_by_tls_sends_no_tls(daemon, authority):
    source, _ = new_cache(daemon, authority, "source")
    plain, secure = new_cache(daemon, authority, "target")
    assert refusal_of(source, secure, "localhost").startswith(b"-IOERR")
    assert Wire(plain).ask("DBSIZE") == b":0\r\n"
    assert Wire(source).ask(*migrate(plain, key="k")) == b"+OK\r\n"
    assert Wire(plain).ask("GET", "k") == b"$1\r\nv\r\n"
