"""TLS with the programs of others: openssl, Python's ssl, redis-cli; and with what is hostile."""

import os
import random
import shutil
import socket
import ssl
import subprocess
import threading
import warnings

import pytest

from certificates import Authority, client_context, client_hello, connect
from strata_daemon import BINARY, PATIENCE, Refused, eventually
from talker import Talker, address_of, free_port, port_of


@pytest.fixture
def authority(tmp_path):
    return Authority(tmp_path / "tls")


def tls_server(daemon, authority, name="s", certificates=None, **options):
    """A running server's URL. It shows a certificate for localhost, if no other is given."""
    pairs = certificates or [authority.issue("localhost", "127.0.0.1")]
    options.setdefault("listen", ["tls://127.0.0.1:0"])
    [url] = daemon.server(name, cert=[each for each, _ in pairs], key=[each for _, each in pairs],
                          **options)
    assert url.startswith("tls://")
    return url


def raw(url):
    family, kind, address = address_of(url)
    made = socket.socket(family, kind)
    made.settimeout(PATIENCE)
    made.connect(address)
    return made


def logged(daemon, name, text):
    eventually(lambda: daemon.logged(name, text), f"the log says '{text}'")


def test_lines_between_openssl_and_python(daemon, authority):
    url = tls_server(daemon, authority)
    with connect(url, client_context(authority.ca)) as ear:
        daemon.wait_connections("s", 1)
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
        daemon.wait_connections("s", 1)
        daemon.send("s", b"last words")
        daemon.act("s", "stop")
        assert ear.hear_to_end() == [b"last words"]  # Python raises at an end without close_notify


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
    # Whoever asks for nobody that is known is shown the first.
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
                    refused.hear()  # with 1.3, the client hears of it only here
        known.say(b"still here")
        eventually(lambda: daemon.stats("s")["messages"]["in"] == 1, "it is heard")
    assert daemon.stats("s")["tls"]["handshakes_failed"] == 2
    logged(daemon, "s", "no certificate")


def authority_of(authority):
    authority.issue("somebody")
    return authority.ca


def test_old_versions_are_refused(daemon, authority):
    url = tls_server(daemon, authority)
    strict = tls_server(daemon, authority, name="strict", tls_min="1.3")
    for version, where in ((ssl.TLSVersion.TLSv1, url), (ssl.TLSVersion.TLSv1_1, url),
                           (ssl.TLSVersion.TLSv1_2, strict)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            context = client_context(authority.ca)
            context.set_ciphers("ALL:@SECLEVEL=0")
            context.minimum_version = version
            context.maximum_version = version
        with pytest.raises(ssl.SSLError, match="(?i)version"):
            connect(where, context)
    with connect(url, client_context(authority.ca, maximum_version=ssl.TLSVersion.TLSv1_2)) as one:
        assert one.socket.version() == "TLSv1.2"
    with connect(strict, client_context(authority.ca)) as one:
        assert one.socket.version() == "TLSv1.3"
    logged(daemon, "strict", "no version of TLS")


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
    daemon.wait_connections("s", 2)
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


def test_a_hello_cut_at_each_byte(daemon, authority):
    url = tls_server(daemon, authority)
    hello = client_hello()
    for at in range(1, len(hello)):
        with raw(url) as made:
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            made.sendall(hello[:at])
            if at % 3 == 0:
                continue  # it goes, in the middle of its hello
            made.sendall(hello[at:])
            assert made.recv(5)[:3] == b"\x16\x03\x03", at
    daemon.wait_gone("s", len(hello) - 1)


def test_garbage_harms_nobody(daemon, authority):
    url = tls_server(daemon, authority)
    seed = random.randrange(2**32)
    print("seed", seed)
    chance = random.Random(seed)
    hello = client_hello()
    altered = [bytes(hello[:at]) + bytes([hello[at] ^ 1 << chance.randrange(8)]) + hello[at + 1:]
               for at in (chance.randrange(len(hello)) for _ in range(100))]
    huge = b"".join(b"\x16\x03\x01\x40\x00" + chance.randbytes(0x4000) for _ in range(4))
    endless = b"\x16\x03\x01\x40\x00\x01\xff\xff\xff" + bytes(0x3ffc)
    with connect(url, client_context(authority.ca)) as bystander:
        inputs = [b"GET / HTTP/1.1\r\n\r\n", b"\0" * 100, b"\x16", b"\x80\x2e\x01\x03\x01",
                  b"\x15\x03\x03\x00\x02\x02\x28", huge, endless + huge, *altered,
                  *(chance.randbytes(chance.randrange(1, 2000)) for _ in range(100))]
        for each in inputs:
            with raw(url) as made:
                try:
                    made.sendall(each)
                    made.shutdown(socket.SHUT_WR)
                    while made.recv(65536):
                        pass
                except ConnectionError:
                    pass
        daemon.wait_gone("s", len(inputs) + 1, left=1)
        failed = daemon.stats("s")["tls"]["handshakes_failed"]
        assert failed >= len(inputs) - len(altered)
        with connect(url, client_context(authority.ca)) as other:
            other.say(b"as if nothing had been")
            assert bystander.hear() == b"as if nothing had been"
    # One line in a while, however many there were.
    told = [line for line in daemon.logs("s") if "agree on TLS" in line["text"]]
    assert 1 <= len(told) < len(inputs) / 4
    assert "127.0.0.1:" in told[0]["text"]


def test_who_never_finishes_the_handshake_is_ended(daemon, authority):
    url = tls_server(daemon, authority, handshake_timeout=1, max_connections=2)
    with raw(url) as silent, raw(url) as half:
        half.sendall(client_hello()[:100])
        eventually(lambda: daemon.stats("s")["connections"]["peak"] == 2,
                   "they take places meanwhile")
        while silent.recv(100):
            pass
        while half.recv(100):
            pass
    daemon.wait_gone("s", 2)
    assert daemon.stats("s")["tls"]["handshakes_failed"] == 2
    logged(daemon, "s", "has not finished its handshake")


def serial_of(url, context):
    with connect(url, context) as one:
        return one.socket.getpeercert()["serialNumber"]


def test_a_certificate_is_replaced_under_load(daemon, authority):
    pair = authority.issue("localhost")
    url = tls_server(daemon, authority, certificates=[pair])
    context = client_context(authority.ca)
    before = serial_of(url, context)
    seen, failures, done = set(), [], threading.Event()

    def load():
        while not done.is_set():
            try:
                seen.add(serial_of(url, context))
            except OSError as failure:
                failures.append(failure)

    with connect(url, context) as old:
        workers = [threading.Thread(target=load) for _ in range(2)]
        for each in workers:
            each.start()
        try:
            authority.issue("localhost")  # the same files
            eventually(lambda: seen - {before}, "the new certificate is shown")
        finally:
            done.set()
            for each in workers:
                each.join()
        assert not failures
        with connect(url, context) as new:
            new.say(b"to the old one")
            assert old.hear() == b"to the old one"
    logged(daemon, "s", "read the certificates again")


def test_broken_files_leave_the_old_certificates_in_force(daemon, authority):
    cert, key = authority.issue("localhost")
    url = tls_server(daemon, authority, certificates=[(cert, key)])
    context = client_context(authority.ca)
    before = serial_of(url, context)
    shutil.copy(cert, cert + ".good")
    with open(cert, "w") as broken:
        broken.write("-----BEGIN CERTIFICATE-----\nnonsense\n")
    logged(daemon, "s", "stay in force")
    assert serial_of(url, context) == before
    daemon.act("s", "reload")
    [url] = daemon.show("s")["endpoints"]
    assert serial_of(url, context) == before
    # A certificate of another key.
    authority.issue("other.test")
    shutil.copy(authority.folder / "other.test.pem", cert)
    logged(daemon, "s", "is not its key")
    assert serial_of(url, context) == before
    os.rename(cert + ".good", cert)
    logged(daemon, "s", "read the certificates again")


def test_relative_files_are_the_callers(daemon, authority):
    authority.issue("localhost")

    def create(kind, name, *flags):
        done = subprocess.run([os.path.abspath(BINARY), "create", kind, name, *flags, "-s"],
                              cwd=authority.folder, env=daemon.environment, text=True,
                              capture_output=True, timeout=PATIENCE)
        assert done.returncode == 0, done
        return daemon.show(name)["options"]

    def here(file):
        return str(authority.folder / file)

    own = ["--cert", "localhost.pem", "--key=./localhost-key.pem"]
    ca = "config/authority/ca.pem"
    shown = create("server", "s", "-l", "tls://127.0.0.1:0", *own, "--client-ca", ca, "-w", "said")
    assert shown["cert"] == [here("localhost.pem")]
    assert shown["key"] == [here("localhost-key.pem")]
    assert shown["client_ca"] == authority.ca and shown["write"] == here("said")
    port = port_of(daemon.show("s")["endpoints"][0])
    shown = create("client", "c", "-c", f"tls://localhost:{port}", "--ca", ca, "--client-cert",
                   "localhost.pem", "--client-key", "localhost-key.pem", "-w", "heard")
    assert shown["ca"] == authority.ca and shown["write"] == here("heard")
    assert [shown["client_cert"], shown["client_key"]] == [here("localhost.pem"),
                                                           here("localhost-key.pem")]
    shown = create("cache", "db", "-p", "0", "--persistent", "db.aof", "--snapshot", "db.rdb")
    assert [shown["persistent"], shown["snapshot"]] == [here("db.aof"), here("db.rdb")]
    assert (authority.folder / "db.aof").exists() and (authority.folder / "said").exists()


def test_files_that_are_wrong_are_named(daemon, authority, tmp_path):
    cert, key = authority.issue("localhost")
    other, _ = authority.issue("other.test")
    text = tmp_path / "text"
    text.write_text("no PEM\n")

    def said(**options):
        with pytest.raises(Refused) as refused:
            daemon.server("s", listen=["tls://127.0.0.1:0"], **options)
        if "s" in daemon.names():
            daemon.remove("s")
        return refused.value.message

    assert "strata cert make" in said()
    assert "1 of them, and 0 keys" in said(cert=[cert])
    assert "from / on" in said(cert=["a.pem"], key=[key])
    message = said(cert=[other], key=[key])
    assert other in message and key in message and "is not its key" in message
    assert str(text) in said(cert=[str(text)], key=[key])
    os.chmod(text, 0o600)
    assert "no private key" in said(cert=[cert], key=[str(text)])
    assert "/nowhere.pem" in said(cert=["/nowhere.pem"], key=[key])
    os.chmod(key, 0o644)
    message = said(cert=[cert], key=[key])
    assert "0644" in message and f"chmod 600 {key}" in message


def test_certificates_are_shown_with_their_end(daemon, authority):
    cert, key = authority.issue("localhost", "127.0.0.1", flags=["--days", "10"])
    tls_server(daemon, authority, certificates=[(cert, key)])
    [shown] = daemon.show("s")["certificates"]
    assert shown["file"] == cert and shown["subject"] == "CN=localhost"
    assert shown["names"] == ["localhost", "127.0.0.1"]
    assert 9 * 86400 < shown["expires_in_s"] <= 10 * 86400
    assert "CN=localhost" in daemon.cli("show", "s")
    metrics = daemon.exchange("GET", "/metrics")[1].decode()
    [line] = [each for each in metrics.splitlines()
              if each.startswith("strata_tls_certificate_expiry_seconds{")]
    assert 'name="s"' in line and 9 * 86400 < float(line.split()[-1]) <= 10 * 86400
    daemon.server("plain")
    assert daemon.show("plain")["certificates"] == []


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_session_is_resumed_on_any_loop(daemon, authority, version):
    url = tls_server(daemon, authority, threads=4)
    context = client_context(authority.ca, maximum_version=version)
    with connect(url, context) as first, connect(url, context) as other:
        daemon.wait_connections("s", 2)
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


@pytest.mark.once
def test_cert_make_and_show(daemon, authority):
    done = authority.run("make", "localhost", "::1", "-o", authority.folder)
    assert done.returncode == 0 and "--ca " + authority.ca in done.stdout, done
    cert, key = authority.folder / "localhost.pem", authority.folder / "localhost-key.pem"
    assert os.stat(key).st_mode & 0o777 == 0o600
    assert os.stat(authority.ca.replace("ca.pem", "ca-key.pem")).st_mode & 0o777 == 0o600
    good = authority.run("show", cert, "--ca", authority.ca)
    assert good.returncode == 0 and "trusted    yes" in good.stdout, good
    assert "localhost, ::1" in good.stdout
    unknown = authority.run("show", cert)
    assert unknown.returncode == 1 and "trusted    no" in unknown.stdout, unknown
    url = tls_server(daemon, authority, certificates=[(str(cert), str(key))])
    served = authority.run("show", url, "--ca", authority.ca, "--servername", "localhost")
    assert served.returncode == 0 and "TLSv1.3" in served.stdout, served
    wrong = authority.run("show", url, "--ca", authority.ca)
    assert wrong.returncode == 1 and "IP address mismatch" in wrong.stdout, wrong
    for words in (["make", "not a name"], ["show", "tls://:1"], ["show", "/nowhere.pem"],
                  ["make", "a", "-o", "/nowhere/at/all"]):
        refused = authority.run(*words)
        assert refused.returncode in (1, 2) and refused.stderr.startswith("strata: "), refused
    with Talker(daemon.server("plain")[0]) as _:
        plain = authority.run("show", daemon.show("plain")["endpoints"][0])
        assert plain.returncode == 1, plain
