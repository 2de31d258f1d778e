"""Roles: what a caller of the control API may do, by token, certificate or group."""

import http.client
import json
import signal
import socket
import ssl
import subprocess

import pytest
import yaml

from certificates import client_context
from others import ATTACKER, MEMBER, SHARED, USER, copied_binary, run_as
from remote import Remote
from strata_daemon import PATIENCE, Daemon, eventually

ROLES = ["read", "operate", "admin"]
TOKENS = {role: f"token-of-{role}-0123456789" for role in ROLES}


@pytest.fixture
def remote(tmp_path):
    made = Remote(tmp_path)
    made.token_file.write_text("# who may what\n\n" + "".join(
        f"{role} {token}\n" for role, token in TOKENS.items()))
    return made


@pytest.fixture
def daemon(remote):
    started = remote.daemon("--token-file", str(remote.token_file)).start()
    yield started
    started.close()


class Caller:
    """Sends requests over https://, with a token."""

    def __init__(self, remote, token, **more):
        self.remote, self.token, self.more = remote, token, more

    def open(self):
        trust = client_context(self.remote.authority.ca, **self.more)
        return http.client.HTTPSConnection("localhost", self.remote.port, timeout=PATIENCE,
                                           context=trust)

    def ask(self, method, path, body=None, fields=None):
        """Returns status and error; does not read an answer to its end, since a feed has none."""
        connection = self.open()
        fields = {"Authorization": "Bearer " + self.token} if fields is None else fields
        connection.request(method, path, body, fields)
        reply = connection.getresponse()
        content = b"" if reply.status < 300 else reply.read()
        connection.close()
        return reply.status, json.loads(content)["error"] if content else None


def described_routes(daemon):
    """Returns the method, the path and the API's description of each route."""
    document = yaml.safe_load(daemon.exchange("GET", "/v1/openapi.yaml")[1])
    return [(method.upper(), path, operation)
            for path, item in document["paths"].items()
            for method, operation in item.items() if method != "parameters"]


def test_each_route_says_which_role_it_needs(daemon):
    routes = described_routes(daemon)
    needed = {(method, path): operation["x-role"] for method, path, operation in routes}
    below = "/v1/runtimes/{name}"
    for method, path, role in [
            ("POST", "/v1/runtimes", "admin"), ("PATCH", below, "admin"),
            ("DELETE", below, "admin"), ("POST", below + "/eval-lua", "admin"),
            ("POST", below + "/start", "operate"), ("POST", below + "/stop", "operate"),
            ("POST", below + "/restart", "operate"), ("POST", below + "/reload", "operate"),
            ("POST", below + "/send", "operate"), ("POST", below + "/disconnect", "operate"),
            ("GET", below + "/tap", "admin"), ("GET", below + "/exec", "admin")]:
        assert needed[method, path] == role, (method, path)
    for method, path, operation in routes:
        if method == "GET" and path not in (below + "/tap", below + "/exec"):
            assert operation["x-role"] == "read", path
        assert ("403" in operation["responses"]) == (operation["x-role"] != "read"), (method, path)
    types = daemon.ask("GET", "/v1/types")
    for operation in [each for kind in types for each in kind["operations"]]:
        assert operation["role"] == needed[operation["method"], operation["path"]]


@pytest.mark.parametrize("role", ROLES)
def test_each_route_refuses_lower_roles_and_no_other(remote, daemon, role):
    daemon.server("web")
    daemon.create("proxy", "gate", listen=["tcp://127.0.0.1:0"], backend=["127.0.0.1:9"])
    caller = Caller(remote, TOKENS[role])
    before = daemon.show("web"), daemon.names()
    for method, path, operation in described_routes(daemon):
        needed = operation["x-role"]
        is_refused = ROLES.index(role) < ROLES.index(needed)
        for name in ["web", "gate", "nobody"]:
            target = path.replace("{name}", name)
            # Permitted requests are made where they have no effect.
            if method != "GET" and not is_refused and name != "nobody":
                continue
            status, error = caller.ask(method, target, b"{" if method != "GET" else None)
            assert (status == 403) == is_refused, (method, target, status, error)
            if is_refused:
                assert error["code"] == "permission_denied"
                assert error["message"] == (f"cannot {method} '{target}': it needs the role "
                                            f"'{needed}', and you have '{role}'")
                assert f"role '{needed}'" in error["remedy"]
    assert (daemon.show("web")["options"], daemon.names()) == (before[0]["options"], before[1])
    assert daemon.show("web")["state"] == "running"
    if role != "admin":
        assert f"it has '{role}'" in daemon.log()
    assert all(token not in daemon.log() for token in TOKENS.values())


def test_the_cli_tells_which_role_is_missing(remote, daemon):
    daemon.server("web")
    refused = remote.run("stop", "web", STRATA_TOKEN=TOKENS["read"])
    assert refused.returncode == 1 and refused.stdout == ""
    assert refused.stderr == (
        "strata: cannot POST '/v1/runtimes/web/stop': it needs the role 'operate', and you have "
        "'read'; use a token or a certificate with the role 'operate'\n")
    assert remote.run("stop", "web", STRATA_TOKEN=TOKENS["operate"]).returncode == 0
    refused = remote.run("rm", "web", STRATA_TOKEN=TOKENS["operate"])
    assert refused.returncode == 1 and "needs the role 'admin'" in refused.stderr
    assert daemon.names() == ["web"]
    assert remote.run("rm", "web", STRATA_TOKEN=TOKENS["admin"]).returncode == 0
    assert daemon.names() == []


def test_a_refused_request_is_answered_before_its_body_is_read(remote, daemon):
    connection = Caller(remote, TOKENS["read"]).open()
    connection.putrequest("POST", "/v1/runtimes")
    for name, value in [("Authorization", "Bearer " + TOKENS["read"]),
                        ("Content-Length", str(1 << 40)), ("Expect", "100-continue")]:
        connection.putheader(name, value)
    connection.endheaders()
    assert connection.getresponse().status == 403
    connection.close()
    assert Caller(remote, TOKENS["read"]).ask("POST", "/v1/runtimes", b"x" * (1 << 20))[0] == 403
    assert daemon.names() == []


def test_methods_and_paths_that_are_none_are_told_to_each_role(remote, daemon):
    caller = Caller(remote, TOKENS["read"])
    for method, path, status in [("PUT", "/v1/runtimes", 405), ("GET", "/v1/nothing", 404),
                                 ("POST", "/v1/version", 405), ("HEAD", "/v1/runtimes", 200),
                                 ("HEAD", "/v1/runtimes/x/start", 405)]:
        connection = caller.open()
        connection.request(method, path, headers={"Authorization": "Bearer " + caller.token})
        assert connection.getresponse().status == status, (method, path)
        connection.close()


@pytest.mark.parametrize("fields, status", [
    (["Bearer {0}"], 200), (["bearer {0}"], 200), (["BEARER   {0}"], 200),
    ([], 401), ([""], 401), (["Bearer"], 401), (["Bearer "], 401), (["{0}"], 401),
    (["Bearer{0}"], 401), (["Basic {0}"], 401), (["Bearer {0} {0}"], 401),
    (["Bearer read {0}"], 401), (["Bearer {0},{0}"], 401), (["Bearer \"{0}\""], 401),
    (["Bearer {0}", "Bearer {0}"], 401), (["", "Bearer {0}"], 401),
    (["Basic x", "Bearer {0}"], 401), (["Bearer {0}", "Bearer wrong"], 401),
    (["Bearer read"], 401), (["Bearer #"], 401), (["Bearer " + "x" * 8000], 401)])
def test_a_token_is_said_in_one_way(remote, daemon, fields, status):
    connection = Caller(remote, "").open()
    connection.putrequest("GET", "/v1/runtimes")
    for field in fields:
        connection.putheader("Authorization", field.format(TOKENS["admin"]))
    connection.endheaders()
    assert connection.getresponse().status == status
    connection.close()


@pytest.mark.parametrize("text, why", [
    ("", "it has no token"),
    ("# token-of-nobody-0123456789\n\n", "it has no token"),
    ("\nread tooshort\n", "the token in line 2 has 8 characters and could be guessed"),
    ("read token-of-read-0123456789 and more\n", "line 1 has more than two words"),
    ("reader token-of-reader-0123456789\n", "the first word of line 1 is not a role"),
    ("read\n", "line 1 has the role 'read', but no token"),
    ("read token-of-both-0123456789\ntoken-of-both-0123456789\n",
     "lines 1 and 2 give one token the roles 'read' and 'admin'"),
    ("".join(f"read token-number-{i:06}\n" for i in range(1001)), "more than 1000 tokens"),
    ("#" * (1 << 20) + "\n", "larger than 1048576 bytes"),
    ("read token-of-ré-0123456789\n", "not printable ASCII"),
    ("token-of-x-0123456789\0\n", "not printable ASCII")])
def test_a_list_of_tokens_with_a_fault_is_refused(remote, text, why):
    remote.token_file.write_text(text)
    launched = remote.daemon("--token-file", str(remote.token_file))
    assert launched.launch().wait(PATIENCE) == 1
    assert why in launched.log() and str(remote.token_file) in launched.log()
    assert "token-of" not in launched.log() and "tooshort" not in launched.log()


def test_tokens_are_read_again_at_sighup(remote, daemon):
    def status(role):
        return Caller(remote, TOKENS[role]).ask("GET", "/v1/runtimes")[0]

    remote.token_file.write_text("reader " + TOKENS["admin"])
    daemon.signal(signal.SIGHUP)
    eventually(lambda: "the previous tokens remain valid" in daemon.log(), "the fault is told")
    assert status("read") == 200
    remote.token_file.write_text("read " + TOKENS["operate"])
    daemon.signal(signal.SIGHUP)
    eventually(lambda: status("read") == 401, "the token is gone")
    assert Caller(remote, TOKENS["operate"]).ask("POST", "/v1/runtimes/x/stop")[0] == 403
    assert status("admin") == 401


def test_a_stream_ends_when_its_token_is_not_accepted_any_more(remote, daemon):
    def follow(token):
        connection = Caller(remote, token).open()
        connection.request("GET", "/v1/events?follow=true",
                           headers={"Authorization": "Bearer " + token})
        return connection.getresponse()

    gone, kept = follow(TOKENS["read"]), follow(TOKENS["admin"])
    remote.token_file.write_text("read " + TOKENS["admin"])
    daemon.signal(signal.SIGHUP)
    with pytest.raises((http.client.IncompleteRead, OSError)):
        gone.read()
    assert "its token is no longer accepted" in daemon.log()
    daemon.server("s")
    assert json.loads(kept.readline())["event"] == "created"


# --- certificates

@pytest.fixture
def certificates(remote):
    return {name: remote.authority.issue(name, into=remote.folder / name)
            for name in ["ann", "bob", "cat"]}


def role_of(remote, own=None, token=None):
    """Returns the highest role that a caller has; 401, or None if it is not admitted at all."""
    found = None
    for role, method, path in [("read", "GET", "/v1/version"),
                               ("operate", "POST", "/v1/runtimes/nobody/start"),
                               ("admin", "DELETE", "/v1/runtimes/nobody")]:
        connection = http.client.HTTPSConnection(
            "localhost", remote.port, timeout=PATIENCE,
            context=client_context(remote.authority.ca, own))
        try:
            connection.request(method, path,
                               headers={"Authorization": "Bearer " + token} if token else {})
            status = connection.getresponse().status
        except (ssl.SSLError, ConnectionError, http.client.HTTPException):
            return None
        finally:
            connection.close()
        if status == 401:
            return 401
        if status == 403:
            return found
        found = role
    return found


@pytest.mark.parametrize("flags, roles", [
    ([], {"ann": "admin", "bob": "admin"}),
    (["read"], {"ann": "read", "bob": "read"}),
    (["read:CN=ann"], {"ann": "read", "bob": "admin"}),
    (["operate:CN=ann", "admin:CN=ann", "read:CN=bob"], {"ann": "operate", "bob": "read"}),
    (["read", "operate:CN=ann", "admin:CN=bob"], {"ann": "operate", "bob": "admin", "cat": "read"}),
])
def test_a_certificate_has_the_role_that_its_subject_is_given(remote, certificates, flags, roles):
    given = [word for each in flags for word in ("--client-role", each)]
    daemon = remote.daemon("--client-ca", remote.authority.ca, *given).start()
    try:
        assert {name: role_of(remote, certificates[name]) for name in roles} == roles
        assert role_of(remote) is None
    finally:
        daemon.close()


def test_with_a_certificate_and_a_token_both_are_needed_and_the_higher_role_counts(
        remote, certificates):
    daemon = remote.daemon("--client-ca", remote.authority.ca, "--token-file",
                           str(remote.token_file), "--client-role", "operate:CN=ann",
                           "--client-role", "read").start()
    try:
        for name, token, role in [
                ("ann", "read", "operate"), ("ann", "operate", "operate"),
                ("ann", "admin", "admin"),
                ("bob", "read", "read"), ("bob", "operate", "operate"), ("bob", "admin", "admin")]:
            assert role_of(remote, certificates[name], TOKENS[token]) == role, (name, token)
        assert role_of(remote, certificates["ann"]) == 401
        assert role_of(remote, certificates["ann"], "wrong") == 401
        assert role_of(remote, None, TOKENS["admin"]) is None
    finally:
        daemon.close()


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_session_that_is_resumed_keeps_its_role(remote, certificates, version):
    daemon = remote.daemon("--client-ca", remote.authority.ca, "--client-role",
                           "read:CN=ann").start()
    try:
        context = client_context(remote.authority.ca, certificates["ann"], maximum_version=version)
        session = None
        for is_resumed in [False, True]:
            with socket.create_connection(("127.0.0.1", remote.port), PATIENCE) as plain:
                used = context.wrap_socket(plain, server_hostname="localhost", session=session)
                used.sendall(b"DELETE /v1/runtimes/x HTTP/1.1\r\nHost: s\r\n\r\n")
                assert used.recv(4096).startswith(b"HTTP/1.1 403")
                assert used.session_reused == is_resumed
                session = used.session
                used.close()
    finally:
        daemon.close()


@pytest.mark.parametrize("flags, why", [
    (["--client-role", "read"], "add --client-ca or leave it out"),
    (["CA", "--client-role", "root:CN=ann"], "cannot use --client-role 'root:CN=ann'"),
    (["CA", "--client-role", "CN=ann"], "it does not start with a role"),
    (["CA", "--client-role", "read:"], "its subject has 0 bytes"),
    (["CA", "--client-role", "read:" + "x" * 513], "its subject has 513 bytes"),
    (["CA", "--client-role", "read", "--client-role", "admin"],
     "another role without a subject is set")])
def test_a_role_of_certificates_that_is_none_is_refused(remote, flags, why):
    if flags[0] == "CA":
        flags = ["--client-ca", remote.authority.ca, *flags[1:]]
    launched = remote.daemon("--token-file", str(remote.token_file), *flags)
    assert launched.launch().wait(PATIENCE) == 1
    assert why in launched.log()


def test_metrics_are_for_each_role(remote, daemon):
    for role in ROLES:
        assert Caller(remote, TOKENS[role]).ask("GET", "/metrics")[0] == 200


# --- the socket's group

def status_of(uid, daemon, method, path, **membership):
    return run_as(uid, "curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-X", method,
                  "--unix-socket", daemon.socket, "http://s" + path, **membership).stdout


@pytest.mark.parametrize("flags, role", [
    ([], "operate"), (["--socket-role", "read"], "read"), (["--socket-role", "admin"], "admin"),
    (["--socket-role", "operate"], "operate")])
def test_members_of_the_sockets_group_have_its_role(place, flags, role):
    binary = copied_binary(place)
    daemon = Daemon(place / "d", "--socket-group", str(SHARED), *flags)
    daemon.socket = place / "run" / "control.sock"
    daemon.start()
    try:
        daemon.server("web")
        for membership in [{"gid": SHARED}, {"groups": [SHARED]}, {"groups": [7, SHARED, 9]}]:
            for needed, method, path, usual in [
                    ("read", "GET", "/v1/runtimes", "200"),
                    ("operate", "POST", "/v1/runtimes/nobody/start", "404"),
                    ("admin", "DELETE", "/v1/runtimes/nobody", "404")]:
                is_allowed = ROLES.index(needed) <= ROLES.index(role)
                assert status_of(MEMBER, daemon, method, path, **membership) == (
                    usual if is_allowed else "403"), (membership, needed)
                assert status_of(0, daemon, method, path) == usual
                assert status_of(0, daemon, method, path, groups=[SHARED]) == usual
        assert status_of(ATTACKER, daemon, "GET", "/v1/runtimes") == "000"
        done = run_as(MEMBER, binary, "rm", "web", environment=daemon.environment, gid=SHARED)
        assert (done.returncode == 0) == (role == "admin"), done
        if role != "admin":
            assert f"needs the role 'admin', and you have '{role}'" in done.stderr
            assert "run the daemon with --socket-role admin" in done.stderr
            assert f"uid {MEMBER}" in daemon.log() and daemon.names() == ["web"]
    finally:
        daemon.close()


def test_the_daemons_own_user_is_admin_in_whatever_group(place):
    binary = copied_binary(place)
    state = place / "state"
    state.mkdir()
    subprocess.run(["chown", f"{USER}:{SHARED}", state], check=True)

    class Own(Daemon):
        def command(self, *more):
            return ["setpriv", f"--reuid={USER}", f"--regid={USER}", f"--groups={SHARED}",
                    binary, *super().command(*more)[1:]]

    daemon = Own(place / "d", "--socket-group", str(SHARED), "--socket-role", "read",
                 state_dir=state)
    daemon.socket = place / "own" / "control.sock"
    subprocess.run(["install", "-d", "-m", "755", "-o", str(USER), daemon.socket.parent],
                   check=True)
    daemon.start()
    try:
        assert status_of(USER, daemon, "DELETE", "/v1/runtimes/x", groups=[SHARED]) == "404"
        assert daemon.exchange("DELETE", "/v1/runtimes/x")[0] == 404  # as root
        assert status_of(MEMBER, daemon, "GET", "/v1/runtimes", groups=[SHARED]) == "200"
        assert status_of(MEMBER, daemon, "DELETE", "/v1/runtimes/x", groups=[SHARED]) == "403"
    finally:
        daemon.close()


def test_a_role_that_is_none_is_refused(tmp_path):
    launched = Daemon(tmp_path, "--socket-group", str(SHARED), "--socket-role", "root")
    assert launched.launch().wait(PATIENCE) != 0
    assert "read|operate|admin" in launched.log()
