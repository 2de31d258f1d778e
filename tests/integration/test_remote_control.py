"""The control API for other machines: https://, and a token or a certificate."""

import json
import signal
import subprocess
import time
import urllib.error
import urllib.request

import pytest

from certificates import Authority, client_context
from deaf import deaf_address
from remote import Remote
from strata_daemon import BINARY, PATIENCE
from talker import free_port

UNREACHABLE = 4


@pytest.fixture
def remote(tmp_path):
    return Remote(tmp_path)


def test_a_token_lets_the_cli_in(remote):
    daemon = remote.daemon("--token-file", str(remote.token_file)).start()
    try:
        made = remote.run("create", "server", "far", "-l", "tcp://127.0.0.1:0", "-s",
                          STRATA_TOKEN=remote.token)
        assert made.returncode == 0 and "running" in made.stdout, made
        listed = remote.run("ls", "--format", "json", STRATA_TOKEN=remote.token)
        assert [each["name"] for each in json.loads(listed.stdout)] == ["far"]
        followed = subprocess.Popen(
            [BINARY, "logs", "-f", "far"], text=True, stdout=subprocess.PIPE,
            env={"PATH": "/usr/bin:/bin", "STRATA_SOCKET": remote.url,
                 "STRATA_CA": remote.authority.ca, "STRATA_TOKEN": remote.token})
        assert "created" in followed.stdout.readline()
        assert "started" in followed.stdout.readline()
        daemon.edit("far", max_connections=5)
        assert "edited" in followed.stdout.readline()
        followed.kill()
        followed.wait()
        followed.stdout.close()
        for token in ["", "wrong", remote.token[:-1], remote.token + "0"]:
            refused = remote.run("ls", STRATA_TOKEN=token)
            assert refused.returncode != 0 and "does not accept the token" in refused.stderr, token
    finally:
        daemon.close()


def test_a_daemon_far_away_that_does_not_answer_is_not_waited_for(remote):
    daemon = remote.daemon("--token-file", str(remote.token_file)).start()
    try:
        daemon.server("web")
        daemon.create("client", "c", start=False, target="127.0.0.1:9", connect_timeout=3600)
        daemon.create("cache", "db", listen=["tcp://127.0.0.1:0"])
        with deaf_address() as deaf:
            daemon.edit("c", target=deaf.text)
            starting = subprocess.Popen(
                [BINARY, "start", "c", "--timeout", "0.3"], text=True, stderr=subprocess.PIPE,
                env={"PATH": "/usr/bin:/bin", "STRATA_SOCKET": remote.url,
                     "STRATA_CA": remote.authority.ca, "STRATA_TOKEN": remote.token})
            time.sleep(1.2)
            assert starting.poll() is None  # the daemon answers other requests meanwhile
            daemon.signal(signal.SIGSTOP)
            said = starting.communicate(timeout=PATIENCE)[1]
            assert starting.returncode == UNREACHABLE, said
            assert f"the daemon at {remote.url} has not answered 'POST" in said
            done = remote.run("ls", "--timeout", "0.3", STRATA_TOKEN=remote.token)
            assert done.returncode == UNREACHABLE and remote.url in done.stderr
            daemon.signal(signal.SIGCONT)
        daemon.remove("c")
        done = remote.run("tell", "db", "GET", "k", STRATA_TOKEN=remote.token)
        assert done.returncode == 1 and "another machine" in done.stderr
        done = remote.run("web", "x", STRATA_TOKEN=remote.token)
        assert done.stdout == "delivered to 0 connections\n", done
    finally:
        daemon.signal(signal.SIGCONT)
        daemon.close()


def test_without_the_token_no_route_answers(remote):
    daemon = remote.daemon("--token-file", str(remote.token_file)).start()
    try:
        trust = client_context(remote.authority.ca)
        for method, path in [("GET", "/v1/version"), ("GET", "/metrics"), ("GET", "/v1/events"),
                             ("GET", "/nowhere"), ("POST", "/v1/runtimes"),
                             ("DELETE", "/v1/runtimes/x")]:
            for said in [{}, {"Authorization": "Basic " + remote.token},
                         {"Authorization": "Bearer"}, {"Authorization": "Bearer "}]:
                asked = urllib.request.Request(remote.url + path, method=method, headers=said)
                with pytest.raises(urllib.error.HTTPError) as refused:
                    urllib.request.urlopen(asked, context=trust, timeout=PATIENCE)
                assert refused.value.code == 401
                assert refused.value.headers["WWW-Authenticate"] == "Bearer"
        said = {"Authorization": "Bearer " + remote.token}
        asked = urllib.request.Request(remote.url + "/v1/version", headers=said)
        with urllib.request.urlopen(asked, context=trust, timeout=PATIENCE) as answer:
            assert json.load(answer)["api"] == "1"
    finally:
        daemon.close()


def test_a_certificate_lets_the_cli_in(remote):
    own, own_key = remote.authority.issue("operator", into=remote.folder / "operator")
    stranger = Authority(remote.folder / "stranger")
    other, other_key = stranger.issue("operator")
    daemon = remote.daemon("--client-ca", remote.authority.ca).start()
    try:
        good = remote.run("version", STRATA_CLIENT_CERT=own, STRATA_CLIENT_KEY=own_key)
        assert good.returncode == 0, good
        assert remote.run("ls").returncode != 0
        refused = remote.run("ls", STRATA_CLIENT_CERT=other, STRATA_CLIENT_KEY=other_key)
        assert refused.returncode != 0
        assert daemon.names() == []
    finally:
        daemon.close()


def test_the_cli_trusts_no_stranger(remote):
    daemon = remote.daemon("--token-file", str(remote.token_file)).start()
    try:
        untrusted = remote.run("ls", STRATA_CA="", STRATA_TOKEN=remote.token)
        assert untrusted.returncode != 0 and "authority" in untrusted.stderr, untrusted
        assert "STRATA_CA" in untrusted.stderr and "--ca" not in untrusted.stderr
        half = remote.run("ls", STRATA_CLIENT_CERT=remote.certificate)
        assert half.returncode != 0 and "STRATA_CLIENT_KEY" in half.stderr, half
        named = remote.run("ls", STRATA_SOCKET=remote.url.replace("localhost", "127.0.0.2"))
        assert named.returncode != 0 and "--servername" not in named.stderr, named
    finally:
        daemon.close()


@pytest.mark.parametrize("flags, why", [
    ([], "anyone could control the daemon"),
    (["tcp://127.0.0.1:0"], "write https://HOST:PORT"),
    (["http://127.0.0.1:0"], "write https://HOST:PORT"),
])
def test_what_would_let_anybody_in_is_refused(remote, flags, why):
    if flags:
        remote.flags[1:2] = flags
    launched = remote.daemon()
    process = launched.launch()
    assert process.wait(PATIENCE) != 0
    assert why in launched.log()


def curl(url, authority, *flags):
    done = subprocess.run(["curl", "-sS", "--cacert", authority.ca, "-w", "%{stderr}%{http_code}",
                           *flags, url], text=True, capture_output=True, timeout=PATIENCE)
    return done.returncode, done.stdout, done.stderr[-3:]


@pytest.fixture
def metrics(remote):
    """Sets the flags of a daemon that serves only its metrics to strangers, with TLS. Returns the
    metrics' URL."""
    port = free_port()
    remote.flags[:2] = ["--metrics", f"https://127.0.0.1:{port}"]
    return f"https://localhost:{port}/metrics"


def test_metrics_by_https_want_the_token(remote, metrics):
    daemon = remote.daemon("--token-file", str(remote.token_file)).start()
    try:
        daemon.server("web")
        bearer = ["-H", "Authorization: Bearer " + remote.token]
        code, text, status = curl(metrics, remote.authority, *bearer)
        assert (code, status) == (0, "200")
        assert 'strata_up{name="web",type="server"} 1' in text
        for said in [[], ["-H", "Authorization: Bearer wrong"]]:
            assert curl(metrics, remote.authority, *said)[-1] == "401"
        other = metrics.replace("/metrics", "/v1/runtimes")
        assert curl(other, remote.authority, *bearer)[-1] == "404"
        assert curl(metrics.replace("https", "http"), remote.authority)[0] != 0
        stranger = Authority(remote.folder / "stranger")
        stranger.issue("somebody")
        assert curl(metrics, stranger)[0] == 60  # not trusted
        [shown] = daemon.ask("GET", "/v1/version")["certificates"]
        assert shown["file"] == remote.certificate
    finally:
        daemon.close()


def test_metrics_by_https_want_a_certificate(remote, metrics):
    own, key = remote.authority.issue("prometheus", into=remote.folder / "prometheus")
    daemon = remote.daemon("--client-ca", remote.authority.ca).start()
    try:
        assert curl(metrics, remote.authority, "--cert", own, "--key", key)[-1] == "200"
        assert curl(metrics, remote.authority)[0] != 0
    finally:
        daemon.close()


def test_metrics_by_https_without_token_are_for_all(remote, metrics):
    daemon = remote.daemon().start()
    try:
        assert curl(metrics, remote.authority)[-1] == "200"
    finally:
        daemon.close()


@pytest.mark.parametrize("url, flags, why", [
    ("https://127.0.0.1:0", 0, "strata cert make"),
    ("tls://127.0.0.1:0", 4, "write tcp://HOST:PORT or https://HOST:PORT"),
    ("udp://127.0.0.1:0", 4, "write tcp://HOST:PORT or https://HOST:PORT"),
    ("https://127.0.0.1:0/metrics", 4, "leave out '/metrics'"),
])
def test_metrics_that_cannot_be_served_are_refused(remote, url, flags, why):
    remote.flags = ["--metrics", url, *remote.flags[2:2 + flags]]
    launched = remote.daemon()
    assert launched.launch().wait(PATIENCE) != 0
    assert why in launched.log()


def test_a_token_that_others_can_read_or_guess_is_refused(remote):
    remote.token_file.chmod(0o644)
    launched = remote.daemon("--token-file", str(remote.token_file))
    assert launched.launch().wait(PATIENCE) != 0
    assert "chmod 600" in launched.log()
    remote.token_file.chmod(0o600)
    remote.token_file.write_text("short\n")
    assert launched.launch().wait(PATIENCE) != 0
    assert "could be guessed" in launched.log()


def test_what_is_no_https_url_is_no_daemon(remote):
    for url in ["http://localhost:1", "tcp://localhost:1", "https://localhost:1/path", "x://"]:
        refused = remote.run("ls", STRATA_SOCKET=url)
        assert refused.returncode != 0 and "Traceback" not in refused.stderr
        assert url in refused.stderr
    nobody = remote.run("ls", STRATA_SOCKET=f"https://localhost:{free_port()}")
    assert nobody.returncode != 0 and "Connection refused" in nobody.stderr
