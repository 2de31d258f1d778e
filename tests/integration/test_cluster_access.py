"""What daemons of a cluster let each other and their users do: roles over --on, certificates of
`strata cluster ca`, and tokens, which are sent to nobody whom a registry names."""

import contextlib
import json
import socket
import ssl
import subprocess
import threading

import pytest

from certificates import Authority
from cluster import Cluster, Folder, all_know, names, registry_of, state_on
from controlled import Controlled
from remote import Remote
from strata_daemon import BINARY, PATIENCE, eventually
from talker import Talker, free_port, port_of

pytestmark = pytest.mark.once

TOKEN = "fedcba9876543210fedcba9876543210"


@pytest.fixture
def cluster(make_daemon, tmp_path):
    return Cluster(make_daemon, registry_of("dir", tmp_path).url)


def test_a_role_holds_over_another_daemon(cluster, tmp_path):
    controlled = Controlled(cluster, tmp_path)
    reader, worker = controlled.authority.issue("reader"), controlled.authority.issue("worker")
    roles = ("--client-role", "read:CN=reader", "--client-role", "operate:CN=worker")
    first, second, third = (controlled.start(each, *roles) for each in "abc")
    all_know(first, second, third)
    second.create("server", "web", listen=["tcp://127.0.0.1:0"])
    eventually(lambda: "web" in first.cli("cluster", "ps", "-q"), "it is known")

    def run(own, *words):
        return controlled.run(first, *words, STRATA_CLIENT_CERT=own[0], STRATA_CLIENT_KEY=own[1])

    writes = {"admin": [("create", "server", "x", "-l", "tcp://127.0.0.1:0"),
                        ("edit", "web", "--rate-limit", "7"), ("remove", "web")],
              "operate": [("stop", "web"), ("restart", "web"), ("send", "web", "hello")]}
    for own, refused in ((reader, ("admin", "operate")), (worker, ("admin",))):
        for role in refused:
            for words in writes[role]:
                for target in ("b", "[bc]"):  # a itself is asked by its own socket
                    done = run(own, *words, "--on", target)
                    assert done.returncode != 0, done
                    assert f"it needs the role '{role}'" in done.stderr, done
    assert second.names() == ["web"] and second.show("web")["state"] == "running"
    assert first.names() == third.names() == []
    assert second.show("web")["options"]["rate_limit"] != 7
    assert run(reader, "ls", "-q", "--on", "b").stdout.split() == ["web"]
    assert run(worker, "stop", "web", "--on", "b").returncode == 0
    assert second.show("web")["state"] == "stopped"


def made_by_cluster_ca(authority, name, folder):
    """A certificate that `strata cluster ca` makes, and its key."""
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run([BINARY, "cluster", "ca", name, "127.0.0.1", "-o", folder, "--format",
                           "json"], env=authority.environment, text=True, capture_output=True,
                          timeout=PATIENCE)
    assert done.returncode == 0, done
    made = json.loads(done.stdout)
    return made["certificate"], made["key"]


def test_daemons_know_each_other_by_certificates_of_cluster_ca(cluster, tmp_path):
    """A proxy of one daemon connects to a server of the other, each with its certificate."""
    own, other = Authority(tmp_path / "own"), Authority(tmp_path / "other")
    east, west = (made_by_cluster_ca(own, each, tmp_path / each) for each in ("east", "west"))
    stranger = made_by_cluster_ca(other, "west", tmp_path / "stranger")
    first, second = cluster.start("a"), cluster.start("b")
    all_know(first, second)
    script = tmp_path / "echo.lua"
    script.write_text("function on_message(message, id) self.send(id, 'from a') end")

    def serve(name, identity, ca):
        [url] = first.create("server", name, listen=["tls://0.0.0.0:0"], lua=str(script),
                             cert=[identity[0]], key=[identity[1]], client_ca=ca)["endpoints"]
        return port_of(url)

    def relay(name, target, ca, identity):
        [url] = second.create("proxy", name, listen=["tcp://127.0.0.1:0"], protocol="raw",
                              backend=[target], ca=ca, client_cert=identity[0],
                              client_key=identity[1])["endpoints"]
        return url

    def said(url):
        with contextlib.suppress(OSError), Talker(url) as talker:
            talker.say(b"who?")
            return talker.hear()

    serve("api", east, own.ca)
    eventually(lambda: state_on(second, "api@a") == "running", "it is known")
    # By the name of the cluster, and by the address.
    assert said(relay("good", "api@a", own.ca, west)) == b"from a"
    # The server refuses a certificate of another authority.
    assert said(relay("stranger", "api@a", own.ca, stranger)) != b"from a"
    # The proxy refuses a server of another authority.
    assert said(relay("cautious", "api@a", other.ca, west)) != b"from a"
    assert said(relay("again", "api@a", own.ca, west)) == b"from a"


def test_control_connections_want_a_certificate_of_the_clusters_authority(cluster, tmp_path):
    controlled = Controlled(cluster, tmp_path)
    first, second = controlled.start("a"), controlled.start("b")
    all_know(first, second)
    other = Authority(tmp_path / "other")
    stranger = other.issue("operator")  # the right name, from another authority
    refused = controlled.run(first, "ls", "--on", "b", STRATA_CLIENT_CERT=stranger[0],
                             STRATA_CLIENT_KEY=stranger[1])
    assert refused.returncode != 0 and refused.stdout == "", refused
    distrusting = controlled.run(first, "ls", "--on", "b", STRATA_CA=other.ca)
    assert distrusting.returncode != 0 and distrusting.stdout == "", distrusting
    assert controlled.run(first, "ls", "--on", "b").returncode == 0


class Listener:
    """Records all that is sent to it, with TLS or without, and answers nothing."""

    def __init__(self, identity=None):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.context = None
        if identity:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(*identity)
        self.raw, self.read, self.count = b"", b"", 0
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self):
        while True:
            try:
                caller, _ = self.socket.accept()
            except OSError:
                return
            self.count += 1
            with contextlib.suppress(OSError), caller:
                caller.settimeout(PATIENCE)
                if self.context:
                    with self.context.wrap_socket(caller, server_side=True) as secure:
                        while piece := secure.recv(65536):
                            self.read += piece
                            if b"\r\n\r\n" in self.read:
                                body = b"{}"
                                secure.sendall(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: "
                                               + str(len(body)).encode() + b"\r\n\r\n" + body)
                                break
                else:
                    while piece := caller.recv(65536):
                        self.raw += piece

    def close(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        self.thread.join()


@pytest.fixture
def listen():
    with contextlib.ExitStack() as stack:
        def start(identity=None):
            return stack.enter_context(contextlib.closing(Listener(identity)))
        yield start


@pytest.mark.parametrize("scheme", ["http", "tcp", "ws"])
def test_a_token_is_never_sent_without_tls(tmp_path, listen, scheme):
    remote, listener = Remote(tmp_path), listen()
    refused = remote.run("ls", STRATA_SOCKET=f"{scheme}://127.0.0.1:{listener.port}",
                         STRATA_TOKEN=TOKEN)
    assert refused.returncode != 0 and "write https://HOST:PORT" in refused.stderr, refused
    assert listener.count == 0  # it has not even connected


def test_a_token_is_not_sent_to_a_daemon_of_a_wrong_authority(tmp_path, listen):
    remote = Remote(tmp_path)
    other = Authority(tmp_path / "other")
    listener = listen(other.issue("127.0.0.1"))
    refused = remote.run("ls", STRATA_SOCKET=f"https://127.0.0.1:{listener.port}",
                         STRATA_TOKEN=TOKEN)
    assert refused.returncode != 0, refused
    eventually(lambda: listener.count == 1, "it has connected")
    assert listener.read == b""
    # This test can fail: one of the right authority gets the token.
    trusted = listen((remote.certificate, remote.key))
    remote.run("ls", STRATA_SOCKET=f"https://127.0.0.1:{trusted.port}", STRATA_TOKEN=TOKEN)
    assert TOKEN.encode() in trusted.read


def test_a_token_is_not_sent_to_an_address_of_the_registry(cluster, tmp_path, listen):
    controlled = Controlled(cluster, tmp_path)
    first = controlled.start("a")
    all_know(first)
    listener = listen(controlled.authority.issue("127.0.0.1", into=tmp_path / "liar"))
    Folder(tmp_path / "cluster").put("liar", json.dumps(
        {"daemon": "liar", "runtimes": [],
         "control": f"https://127.0.0.1:{listener.port}/"}).encode())
    eventually(lambda: "liar" in names(first), "its card is read")
    for own in ({}, {"STRATA_CLIENT_CERT": "", "STRATA_CLIENT_KEY": ""}):
        done = controlled.run(first, "ls", "--on", "liar", STRATA_TOKEN=TOKEN, **own)
        assert done.returncode != 0, done
    assert listener.read != b""  # it was asked
    assert TOKEN.encode() not in listener.read and b"uthorization" not in listener.read


def test_a_daemon_with_a_token_alone_is_refused_off_loopback_without_tls(tmp_path):
    remote = Remote(tmp_path)
    for url in ("http://0.0.0.0", "tcp://0.0.0.0", "http://127.0.0.1"):
        remote.flags[1] = f"{url}:{free_port()}"
        launched = remote.daemon("--token-file", str(remote.token_file))
        assert launched.launch().wait(PATIENCE) != 0
        assert "write https://HOST:PORT" in launched.log()
        assert remote.token not in launched.log()
