"""The files of TLS: named, reloaded, shown; and certificates of clients in logs."""

import json
import os
import re
import shutil
import subprocess
import threading

import pytest

from certificates import client_context, connect
from strata_daemon import BINARY, PATIENCE, Refused, eventually
from talker import Talker, free_port, port_of
from tls_servers import authority_of, logged, serial_of, tls_server


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
    logged(daemon, "s", "reread the certificates")


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
    # A certificate for another key.
    authority.issue("other.test")
    shutil.copy(authority.folder / "other.test.pem", cert)
    logged(daemon, "s", "does not belong to it")
    assert serial_of(url, context) == before
    os.rename(cert + ".good", cert)
    logged(daemon, "s", "reread the certificates")


def test_a_reload_reads_the_certificates_and_keeps_the_connections(daemon, authority):
    cert, key = authority.issue("localhost")
    url = tls_server(daemon, authority, certificates=[(cert, key)])
    context = client_context(authority.ca)
    with connect(url, context) as one, connect(url, context) as other:
        daemon.wait_clients("s", 2)
        for _ in range(3):
            before = serial_of(url, context)
            authority.issue("localhost")  # the same files
            assert daemon.act("s", "reload")["state"] == "running"
            assert serial_of(url, context) != before
        one.say(b"still here")
        assert other.hear() == b"still here"
        before = serial_of(url, context)
        with open(cert, "w") as broken:
            broken.write("-----BEGIN CERTIFICATE-----\nnonsense\n")
        with pytest.raises(Refused) as refused:
            daemon.act("s", "reload")
        assert cert in refused.value.message and "before" in refused.value.message
        assert serial_of(url, context) == before
        os.unlink(key)
        assert daemon.run("reload", "s").returncode != 0
        assert daemon.show("s")["state"] == "running"
        other.say(b"and still")
        assert one.hear() == b"and still"
        authority.issue("localhost")
        # With options that wait for a restart, a reload restarts; the files must be valid before.
        daemon.edit("s", cert=["/nowhere.pem"])
        with pytest.raises(Refused, match="/nowhere.pem"):
            daemon.act("s", "reload")
        one.say(b"even now")
        assert other.hear() == b"even now"
        daemon.edit("s", cert=[cert], framing="raw")
        daemon.act("s", "reload")
        assert one.is_ended() and other.is_ended()
    assert daemon.show("s")["state"] == "running"


def test_a_client_and_a_cache_reload_without_losing_a_connection(daemon, authority):
    url = tls_server(daemon, authority, client_ca=authority_of(authority),
                     listen=[f"tls://127.0.0.1:{free_port()}"])
    cert, key = authority.issue("ann", into=authority.folder / "ann")
    daemon.create("client", "c", connect=url.replace("127.0.0.1", "localhost"), ca=authority.ca,
                  client_cert=cert, client_key=key, reconnect=0, reconnect_min=0.1)
    daemon.wait_clients("s", 1)
    total = daemon.stats("s")["connections"]["total"]
    daemon.act("c", "reload")
    daemon.send("c", "heard")
    eventually(lambda: daemon.stats("s")["messages"]["in"] == 1, "it is heard")
    assert daemon.stats("s")["connections"]["total"] == total
    os.rename(key, key + ".away")
    with pytest.raises(Refused, match="ann-key.pem"):
        daemon.act("c", "reload")
    daemon.act("s", "restart")  # the client presents the certificate that it read before
    daemon.wait_connections("s", 1)

    own = authority.issue("localhost", "127.0.0.1")
    [where] = daemon.create("cache", "db", listen=["tls://127.0.0.1:0"], cert=[own[0]],
                            key=[own[1]], resp=True)["endpoints"]
    context = client_context(authority.ca)
    before = serial_of(where, context)
    with connect(where, context) as talker:
        authority.issue("localhost", "127.0.0.1")
        daemon.act("db", "reload")
        assert serial_of(where, context) != before
        talker.socket.sendall(b"PING\r\n")
        assert talker.socket.recv(7) == b"+PONG\r\n"


def test_a_reload_ends_connections_where_an_edit_waits_and_says_so_before(daemon):
    [url] = daemon.server("plain")
    with Talker(url) as one, Talker(url) as two:
        daemon.wait_connections("plain", 2)
        done = daemon.run("reload", "plain")
        assert done.returncode == 0 and done.stderr == "", done.stderr
        one.say(b"still here")
        assert two.hear() == b"still here"
        daemon.edit("plain", framing="raw")
        assert daemon.show("plain")["pending"] == ["framing"]
        said = daemon.run("reload", "plain").stderr
        assert ("restarting 'plain', which ends its 2 connections: edits wait for a restart "
                "(framing)") in said
        assert one.is_ended() and two.is_ended()
    assert daemon.show("plain")["pending"] == []


def hostile_certificate(authority):
    """Returns a certificate whose subject is long, and would move a terminal's cursor."""
    parts = ["Ünïcode " + "x" * 50] * 20
    return authority.sign("hostile", f'/O={"/O=".join(parts)}/CN=Ann "x" \x1b[2J\u009b2J')


@pytest.mark.parametrize("http2", [False, True])
def test_the_access_log_names_the_certificate(daemon, authority, tmp_path, http2):
    pair = authority.issue("localhost", "127.0.0.1")
    alice = authority.issue("Alice", into=authority.folder / "alice")
    hostile = hostile_certificate(authority)
    for form in ("json", "combined"):
        log = tmp_path / form
        url = tls_server(daemon, authority, name=form, certificates=[pair],
                         listen=["https://127.0.0.1:0"] if not http2 else ["tls://127.0.0.1:0"],
                         client_ca=authority.ca, http_log=str(log), http_log_format=form)
        for own in (alice, hostile):
            subprocess.run(["curl", "-sS", "--http2" if http2 else "--http1.1", "--cacert",
                            authority.ca, "--cert", own[0], "--key", own[1],
                            f"https://localhost:{port_of(url)}/"], check=True,
                           capture_output=True, timeout=PATIENCE)
        eventually(lambda: log.read_bytes().count(b"\n") == 2, "both requests are logged")
        first, second = log.read_text().splitlines()
        if form == "json":
            assert json.loads(first)["tls_subject"] == "CN=Alice"
            subject = json.loads(second)["tls_subject"]
            assert subject.startswith(r'CN=Ann \"x\" \1B[2J\C2\9B2J,O=Ünïcode x'), subject
            assert 500 < len(subject.encode()) <= 515
            assert subject.endswith("...")
        else:
            assert " - CN=Alice [" in first
            assert second.startswith(r"127.0.0.1 - CN=Ann\x20\x5C\x22x\x5C\x22\x20\x5C1B[2J")
            assert re.match(r"\S+ - \S+\.\.\. \[", second), second
            assert second.isprintable() and second.isascii()


def test_the_log_names_the_certificate(make_daemon, authority):
    daemon = make_daemon("--log-level", "debug")
    url = tls_server(daemon, authority, client_ca=authority_of(authority), max_message=100)
    alice = authority.issue("Alice", into=authority.folder / "alice")
    with connect(url, client_context(authority.ca, alice)) as one:
        daemon.wait_connections("s", 1)
        eventually(lambda: "has the certificate of 'CN=Alice'" in daemon.log(),
                   "the log names the certificate")
        assert not daemon.logged("s", "CN=Alice")  # the log has room for what matters
        one.socket.sendall(b"x" * 1000)
        assert one.is_ended()
    logged(daemon, "s", "(CN=Alice) disconnected")


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
    assert "certificates 1, keys 0" in said(cert=[cert])
    assert "an absolute path" in said(cert=["a.pem"], key=[key])
    message = said(cert=[other], key=[key])
    assert other in message and key in message and "does not belong to it" in message
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


def certificate_findings(daemon):
    shown = json.loads(daemon.run("doctor", "--format", "json").stdout)
    return [each for each in shown if each["name"].startswith("certificate")]


@pytest.mark.once
def test_doctor_finds_certificates_that_end(make_daemon, authority, tmp_path):
    own, own_key = authority.issue("host", "127.0.0.1", flags=["--days", "13"])
    token = tmp_path / "token"
    token.write_text("0123456789abcdef0123456789abcdef\n")
    token.chmod(0o600)
    daemon = make_daemon("--listen", f"https://127.0.0.1:{free_port()}", "--cert", own, "--key",
                         own_key, "--token-file", str(token))
    late, late_key = authority.issue("late", into=authority.folder / "late",
                                     flags=["--days", "5"])
    good, good_key = authority.issue("localhost", flags=["--days", "15"])
    tls_server(daemon, authority, name="good", certificates=[(good, good_key)])
    daemon.create("client", "c", connect="tls://localhost:1", reconnect=0, client_cert=late,
                  client_key=late_key)
    old, old_key = authority.expired("localhost")
    daemon.create("server", "bad", start=False, listen=["tls://127.0.0.1:0"], cert=[old],
                  key=[old_key])
    with pytest.raises(Refused):
        daemon.act("bad", "start")
    found = {each["found"].split()[0]: each for each in certificate_findings(daemon)}
    assert set(found) == {own, late, old}
    assert "of the daemon expires within 13 days" in found[own]["found"]
    assert "of 'c' expires within 5 days" in found[late]["found"]
    assert "of 'bad' expired on 20" in found[old]["found"]
    assert all(each["status"] == "warn" and "strata cert make" in each["remedy"]
               for each in found.values())


@pytest.mark.once
def test_doctor_is_content_with_certificates_that_last(daemon, authority):
    assert certificate_findings(daemon) == []
    tls_server(daemon, authority)
    [shown] = certificate_findings(daemon)
    assert shown["status"] == "ok" and shown["found"].startswith("1 in use")


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
    missing = authority.run("make", "a", "-o", authority.folder / "new").stderr
    assert f"make its folder first: mkdir -p {authority.folder}/new\n" in missing
    assert "name an existing file" in authority.run("show", "/nowhere.pem").stderr
    with Talker(daemon.server("plain")[0]) as _:
        plain = authority.run("show", daemon.show("plain")["endpoints"][0])
        assert plain.returncode == 1, plain
