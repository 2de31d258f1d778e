"""TLS with other programs: openssl, Python's ssl, redis-cli."""

import ssl
import subprocess

import pytest

from certificates import Authority, client_context, connect
from strata_daemon import PATIENCE, Refused, eventually
from talker import free_port, port_of
from tls_servers import authority_of, logged, raw, tls_server


def test_lines_between_openssl_and_python(daemon, authority):
    url = tls_server(daemon, authority)
    with connect(url, client_context(authority.ca)) as ear:
        daemon.wait_clients("s", 1)
        done = subprocess.run(
            ["openssl", "s_client", "-quiet", "-no_ign_eof", "-verify_return_error",
             "-verify_hostname", "localhost", "-CAfile", authority.ca, "-connect",
             f"127.0.0.1:{port_of(url)}"],
            input="hello by openssl\n", text=True, capture_output=True, timeout=PATIENCE)
        assert "error" not in done.stderr, done
        assert ear.hear() == b"hello by openssl"
        many = [b"line %d of many" % number for number in range(20000)]
        with connect(url, client_context(authority.ca)) as mouth:
            mouth.say(*many)
            assert ear.hear_lines(len(many)) == many


def test_a_server_that_drains_ends_in_good_order(daemon, authority):
    url = tls_server(daemon, authority, drain=True)
    with connect(url, client_context(authority.ca)) as ear:
        daemon.wait_clients("s", 1)
        daemon.send("s", b"last words")
        daemon.act("s", "stop")
        assert ear.hear_to_end() == [b"last words"]  # Python raises without close_notify


def test_the_name_chooses_the_certificate(daemon, authority):
    pairs = [authority.issue("first.test"), authority.issue("second.test", "also.test"),
             authority.issue("*.wild.test")]
    url = tls_server(daemon, authority, certificates=pairs)
    for name, subject in (("first.test", "first.test"), ("second.test", "second.test"),
                          ("also.test", "second.test"), ("any.wild.test", "*.wild.test")):
        with connect(url, client_context(authority.ca), name) as each:
            shown = each.socket.getpeercert()
            assert shown["subject"] == ((("commonName", subject),),)
    with pytest.raises(ssl.SSLCertVerificationError):
        connect(url, client_context(authority.ca), "a.b.wild.test")
    # A client that requests an unknown name gets the first certificate.
    anything = client_context(authority.ca, check_hostname=False)
    with connect(url, anything, "unknown.test") as each:
        assert each.socket.getpeercert()["subject"] == ((("commonName", "first.test"),),)


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_clients_without_a_certificate_are_refused_where_one_is_wanted(daemon, authority, version):
    url = tls_server(daemon, authority, client_ca=authority_of(authority))
    own = authority.issue("alice")
    foreign = Authority(authority.folder / "foreign")
    good = client_context(authority.ca, own, maximum_version=version)
    with connect(url, good) as known:
        daemon.wait_connections("s", 1)
        for stranger in (None, foreign.issue("alice")):
            with pytest.raises((ssl.SSLError, ConnectionError)):
                context = client_context(authority.ca, stranger, maximum_version=version)
                with connect(url, context) as refused:
                    refused.hear()  # with TLS 1.3, the client receives the refusal only here
        known.say(b"still here")
        eventually(lambda: daemon.stats("s")["messages"]["in"] == 1, "it is heard")
    assert daemon.stats("s")["tls"]["handshakes_failed"] == 2
    logged(daemon, "s", "no certificate")


def test_a_cache_serves_redis_cli(daemon, authority):
    cert, key = authority.issue("localhost")
    daemon.cli("create", "cache", "db", "-l", "tls://127.0.0.1:0", "--cert", cert, "--key", key,
               "--resp", "-s")
    port = port_of(daemon.show("db")["endpoints"][0])
    words = ["redis-cli", "--tls", "--cacert", authority.ca, "--sni", "localhost", "-p", str(port)]
    big = "x" * 200_000
    for command, given, answer in (
            (["SET", "greeting", "hello"], "", "OK"), (["GET", "greeting"], "", "hello"),
            (["-x", "SET", "big"], big, "OK"), (["GET", "big"], "", big)):
        done = subprocess.run([*words, "-h", "127.0.0.1", *command], input=given, text=True,
                              capture_output=True, timeout=PATIENCE)
        assert done.stdout.strip() == answer, done


def test_a_strata_client_talks_to_a_strata_server(daemon, authority):
    url = tls_server(daemon, authority)
    daemon.create("client", "c", connect=url, ca=authority.ca)
    daemon.create("client", "by_name", connect="runtime://s", ca=authority.ca)
    daemon.wait_clients("s", 2)
    daemon.send("c", "from the client")
    daemon.send("s", "from the server")
    eventually(lambda: daemon.stats("c")["messages"]["in"] == 1, "the client hears the server")
    eventually(lambda: daemon.stats("by_name")["messages"]["in"] == 2, "both are heard")
    daemon.act("s", "stop")
    eventually(lambda: daemon.show("c")["state"] == "failed", "the client's end")
    assert "closed the connection" in daemon.show("c")["reason"]


def refusal(daemon, name, **options):
    with pytest.raises(Refused) as refused:
        daemon.create("client", name, **options)
    return refused.value.message


def test_a_client_refuses_what_it_cannot_trust(daemon, authority):
    url = tls_server(daemon, authority, certificates=[authority.issue("other.test")])
    said = refusal(daemon, "wrong_name", connect=url, ca=authority.ca)
    assert "its certificate is for other.test" in said and "--servername" in said
    daemon.create("client", "right_name", connect=url, ca=authority.ca, servername="other.test")

    said = refusal(daemon, "unknown", connect=url)
    assert "the authority of its certificate is not trusted" in said and "--ca FILE" in said
    foreign = Authority(authority.folder / "foreign")
    assert "is not trusted" in refusal(daemon, "foreign", connect=url, ca=authority_of(foreign),
                                       servername="other.test")

    daemon.create("client", "careless", connect=url, insecure=True)
    assert "insecure" in daemon.show("careless")["warning"]
    assert "running (insecure)" in daemon.cli("ls")
    assert daemon.show("right_name")["warning"] == ""


def test_a_client_refuses_an_expired_certificate(daemon, authority):
    cert, key = authority.expired("localhost")
    port = free_port()
    other = subprocess.Popen(["openssl", "s_server", "-accept", str(port), "-cert", cert, "-key",
                              key, "-quiet"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    try:
        url = f"tls://localhost:{port}"
        daemon.create("client", "c", connect=url, ca=authority.ca, reconnect=0, reconnect_min=0.1,
                      reconnect_max=0.2)
        logged(daemon, "c", "its certificate expired on")
    finally:
        other.kill()
        other.wait()
    with pytest.raises(Refused, match="expired on"):
        tls_server(daemon, authority, certificates=[(cert, key)])


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_session_is_resumed_on_any_loop(daemon, authority, version):
    url = tls_server(daemon, authority, threads=4)
    context = client_context(authority.ca, maximum_version=version)
    with connect(url, context) as first, connect(url, context) as other:
        daemon.wait_clients("s", 2)
        other.say(b"so that the ticket is read")
        assert first.hear() == b"so that the ticket is read"
        session = first.socket.session
        assert not first.socket.session_reused
    for _ in range(8):
        plain = raw(url)
        with context.wrap_socket(plain, server_hostname="localhost", session=session) as again:
            assert again.session_reused


def test_one_port_for_tcp_and_tls_is_a_conflict(daemon, authority):
    url = tls_server(daemon, authority)
    with pytest.raises(Refused):
        daemon.server("other", listen=[url.replace("tls://", "tcp://")])


def test_a_port_and_a_certificate_mean_tls_for_each_type(daemon, authority):
    cert, key = map(str, authority.issue("localhost", "127.0.0.1"))
    more = {"server": {}, "cache": {"resp": True}, "proxy": {"backend": ["127.0.0.1:1"]}}
    for kind, options in more.items():
        made = daemon.create(kind, kind, port=0, cert=[cert], key=[key], **options,
                             **{"local": True})
        assert made["endpoints"][0].startswith("tls://127.0.0.1:"), kind
    said = daemon.cli("create", "server", "both", "-l", "tcp://127.0.0.1:0", "--cert", cert, "--key",
                      key, "-s")
    assert "tcp:// also accepts clear text" in said
    assert "clear text" not in daemon.cli("restart", "server")
