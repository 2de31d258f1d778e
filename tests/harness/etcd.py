"""etcd servers on loopback: one, or the members of a cluster."""

import base64
import contextlib
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import urllib.request

from strata_daemon import PATIENCE, eventually


def free_ports(count):
    """Ports that nobody listens at now; all are held until the last is found."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0)))
                   for _ in range(count)]
        return [each.getsockname()[1] for each in sockets]


class Member:
    """One etcd. It is ended by its process id."""

    def __init__(self, folder, name, port, peer_port, cluster, tls=None):
        self.name, self.port, self.tls = name, port, tls
        at = f"{'https' if tls else 'http'}://127.0.0.1:{port}"
        self.data = folder / name
        self.words = [
            "etcd", "--name", name, "--data-dir", str(self.data), "--log-level", "error",
            "--listen-client-urls", at, "--advertise-client-urls", at,
            "--listen-peer-urls", f"http://127.0.0.1:{peer_port}",
            "--initial-advertise-peer-urls", f"http://127.0.0.1:{peer_port}",
            "--initial-cluster", cluster, "--unsafe-no-fsync", "--auth-token", "simple",
            "--bcrypt-cost", "4"]  # passwords take no time
        if tls:
            self.words += tls.flags
        self.log = open(folder / f"{name}.log", "ab")
        self.process = None

    def start(self):
        self.process = subprocess.Popen(self.words, stdout=self.log, stderr=self.log)

    def forget(self):
        """Removes all that it has stored, while it does not run."""
        shutil.rmtree(self.data)

    def is_healthy(self):
        try:
            with self.open("/health", timeout=2) as got:
                return json.load(got)["health"] == "true"
        except OSError:
            return False

    def open(self, path, body=None, timeout=PATIENCE):
        scheme, context = ("https", self.tls.context) if self.tls else ("http", None)
        return urllib.request.urlopen(f"{scheme}://127.0.0.1:{self.port}{path}", body,
                                      timeout=timeout, context=context)

    def call(self, path, **body):
        with self.open(path, json.dumps(body).encode()) as got:
            return json.load(got)

    def kill(self, number=signal.SIGKILL):
        if self.process is None:
            return
        os.kill(self.process.pid, number)
        self.process.wait()
        self.process = None


class EtcdTls:
    """TLS of a member: a certificate for `host`, and whether clients need one as well."""

    def __init__(self, authority, host="127.0.0.1", asks_clients=False):
        self.ca = authority.ca
        certificate, key = authority.issue(host)
        self.flags = ["--cert-file", certificate, "--key-file", key]
        if asks_clients:
            self.flags += ["--client-cert-auth", "--trusted-ca-file", self.ca]
        self.context = ssl.create_default_context(cafile=self.ca)
        self.context.check_hostname = False  # its health is read wherever it is
        self.context.load_cert_chain(certificate, key)


class Etcd:
    """`count` members, which know each other."""

    def __init__(self, folder, count=1, tls=None):
        folder.mkdir(parents=True, exist_ok=True)
        ports = free_ports(2 * count)
        cluster = ",".join(f"m{at}=http://127.0.0.1:{ports[count + at]}" for at in range(count))
        self.scheme = "etcds" if tls else "etcd"
        self.members = [Member(folder, f"m{at}", ports[at], ports[count + at], cluster, tls)
                        for at in range(count)]

    def __enter__(self):
        for each in self.members:
            each.start()
        eventually(lambda: all(each.is_healthy() for each in self.members), "etcd serves")
        return self

    def __exit__(self, *_):
        for each in self.members:
            each.kill()
            each.log.close()

    @property
    def url(self):
        return f"{self.scheme}://" + ",".join(f"127.0.0.1:{each.port}" for each in self.members)

    def leader(self):
        """The member that leads, as its own status says."""
        for each in self.members:
            if each.process is None:
                continue
            status = each.call("/v3/maintenance/status")
            if status["leader"] == status["header"]["member_id"]:
                return each
        return None

    def add_user(self, name, password):
        """Adds a user who may use the keys of strata, and asks everyone for a password."""
        call = self.members[0].call
        begin, end = (base64.b64encode(key).decode() for key in (b"/strata/", b"/strata0"))
        call("/v3/auth/role/add", name="strata")
        call("/v3/auth/role/grant", name="strata",
             perm={"permType": "READWRITE", "key": begin, "range_end": end})
        call("/v3/auth/role/add", name="root")
        for user, secret, role in (("root", "over all", "root"), (name, password, "strata")):
            call("/v3/auth/user/add", name=user, password=secret)
            call("/v3/auth/user/grant", user=user, role=role)
        call("/v3/auth/enable")

    def put(self, key, value, lease="0"):
        """Writes a key as a stranger would."""
        def encoded(text):
            return base64.b64encode(text).decode()
        self.members[0].call("/v3/kv/put", key=encoded(key), value=encoded(value), lease=lease)
