"""A cache that serves over TLS on several loops, and one that follows over TLS: another cache, and
a real redis-server."""

import socket

import pytest

from certificates import Authority, client_context
from resp_wire import RedisServer, Wire, encode
from strata_daemon import PATIENCE, Refused, eventually
from talker import free_port, port_of


def new_cache(daemon, name, **options):
    """Makes a cache that plain clients can also reach, and returns its endpoints."""
    options.setdefault("listen", ["tcp://127.0.0.1:0"])
    return daemon.create("cache", name, resp=True, **options)["endpoints"]


def leader(daemon, authority, *names, **options):
    cert, key = authority.issue(*(names or ["localhost"]))
    return new_cache(daemon, "leader", listen=["tcp://127.0.0.1:0", "tls://127.0.0.1:0"],
                     cert=[cert], key=[key], **options)


def by_name(url):
    return url.replace("127.0.0.1", "localhost")


def wire_to(url):
    return Wire(port_of(url))


def follows(wire):
    return b"master_link_status:up\r" in wire.ask("INFO", "replication")


def await_value(wire, key, value):
    eventually(lambda: wire.ask("GET", key) == b"$%d\r\n%s\r\n" % (len(value), value),
               f"the follower has {key}")


def trouble(daemon, name, *parts):
    """Waits until the warning contains all the parts, and returns it."""
    def is_shown():
        shown = daemon.show(name)["warning"]
        return shown if all(part in shown for part in parts) else None
    shown = eventually(is_shown, f"{name} is shown with {parts}")
    assert shown.startswith("not following: ") and "\n" not in shown
    return shown


def test_a_cache_follows_a_cache_by_tls(daemon, authority):
    plain, secure = leader(daemon, authority, "localhost", client_ca=authority.ca)
    own, key = authority.issue("follower")
    [url] = new_cache(daemon, "copy", follow=by_name(secure), ca=authority.ca, client_cert=own,
                      client_key=key)
    source, copy = wire_to(plain), wire_to(url)
    source.ask("SET", "big", "x" * 300_000)
    await_value(copy, "big", b"x" * 300_000)
    source.ask("SET", "later", "1")
    await_value(copy, "later", b"1")
    assert daemon.show("copy")["warning"] == ""
    # The new certificate is presented when the link is made again.
    authority.issue("follower")
    daemon.act("copy", "reload")
    assert follows(copy)
    daemon.act("leader", "restart")
    trouble(daemon, "copy", "cannot follow localhost:")
    assert daemon.cli("ls").count("running (not following)") == 1


def test_a_follower_refuses_a_leader_that_it_cannot_trust(daemon, authority):
    plain, secure = leader(daemon, authority, "other.test")
    wire_to(plain).ask("SET", "secret", "1")
    foreign = Authority(authority.folder / "foreign")
    foreign.issue("somebody")
    for name, why, options in (
            ("wrong_name", "its certificate is for other.test", {"ca": authority.ca}),
            ("unknown", "the authority of its certificate is not trusted", {}),
            ("foreign", "the authority of its certificate is not trusted",
             {"ca": foreign.ca, "servername": "other.test"})):
        [url] = new_cache(daemon, name, follow=by_name(secure), **options)
        trouble(daemon, name, why)
        assert daemon.logged(name, why) and not follows(wire_to(url))
        assert wire_to(url).ask("GET", "secret") == b"$-1\r\n"
    [url] = new_cache(daemon, "right", follow=by_name(secure), ca=authority.ca,
                      servername="other.test")
    await_value(wire_to(url), "secret", b"1")
    [url] = new_cache(daemon, "careless", follow=by_name(secure), insecure=True)
    await_value(wire_to(url), "secret", b"1")
    assert daemon.show("careless")["warning"].startswith("insecure: ")


def test_what_tls_needs_is_asked_for_at_once(daemon, authority):
    _, secure = leader(daemon, authority)
    cert, _ = authority.issue("follower")
    for why, options in (("--client-key", {"client_cert": cert}),
                         ("an absolute path", {"ca": "ca.pem"}),
                         ("/nowhere.pem", {"ca": "/nowhere.pem"})):
        with pytest.raises(Refused) as refused:
            new_cache(daemon, "copy", follow=secure, **options)
        assert why in refused.value.message
        if "copy" in daemon.names():
            daemon.remove("copy")
    with pytest.raises(Refused, match="only over streams"):
        new_cache(daemon, "copy", follow="https://localhost:1")


def test_a_leader_without_tls_is_not_followed_by_tls(daemon, authority):
    plain, secure = leader(daemon, authority)
    [url] = new_cache(daemon, "copy", follow=by_name(plain).replace("tcp", "tls"), ca=authority.ca)
    trouble(daemon, "copy", "TLS")
    # REPLICAOF does not replace a protected link by an unprotected one either.
    wire = wire_to(url)
    assert wire.ask("REPLICAOF", "127.0.0.1", str(port_of(plain))) == b"+OK\r\n"
    trouble(daemon, "copy", "127.0.0.1")
    assert wire.ask("REPLICAOF", "localhost", str(port_of(secure))) == b"+OK\r\n"
    eventually(lambda: follows(wire), "it follows by TLS")
    eventually(lambda: daemon.show("copy")["warning"] == "", "and all is well")


def test_a_cache_follows_a_redis_by_tls(daemon, authority, tmp_path):
    cert, key = authority.issue("localhost")
    own, own_key = authority.issue("follower")
    port = free_port()
    redis = RedisServer(tmp_path / "redis", "--tls-port", str(port), "--tls-cert-file", cert,
                        "--tls-key-file", key, "--tls-ca-cert-file", authority.ca,
                        "--repl-diskless-sync-delay", "0")
    try:
        with_key = {"client_cert": own, "client_key": own_key}
        [url] = new_cache(daemon, "copy", follow=f"tls://localhost:{port}", ca=authority.ca,
                          **with_key)
        source, copy = Wire(redis.port), wire_to(url)
        source.ask("SET", "big", "y" * 300_000)
        await_value(copy, "big", b"y" * 300_000)
        source.ask("SET", "later", "1")
        await_value(copy, "later", b"1")
        # Redis requires a certificate of its followers.
        new_cache(daemon, "nameless", follow=f"tls://localhost:{port}", ca=authority.ca)
        trouble(daemon, "nameless", "certificate")
    finally:
        redis.close()


def test_all_loops_serve_tls(daemon, authority):
    certificate, key = authority.issue("localhost", "127.0.0.1")
    [url] = new_cache(daemon, "db", listen=["tls://127.0.0.1:0"], cert=[certificate], key=[key],
                      threads=4)
    context = client_context(authority.ca)
    for i in range(32):  # the kernel spreads them over the loops
        texts = [f"{i}:{j}" for j in range(200)]
        expected = "".join(f"${len(each)}\r\n{each}\r\n" for each in texts).encode()
        plain = socket.create_connection(("127.0.0.1", port_of(url)), timeout=PATIENCE)
        with context.wrap_socket(plain, server_hostname="localhost") as client:
            client.sendall(b"".join(encode(["ECHO", each]) for each in texts))
            received = b""
            while len(received) < len(expected):
                received += client.recv(1 << 16)
            assert received == expected
