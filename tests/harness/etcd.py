"""etcd servers on loopback: one, or the members of a cluster."""

import base64
import contextlib
import json
import os
import shutil
import signal
import socket
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

    def __init__(self, folder, name, port, peer_port, cluster):
        self.name, self.port = name, port
        self.data = folder / name
        self.words = [
            "etcd", "--name", name, "--data-dir", str(self.data), "--log-level", "error",
            "--listen-client-urls", f"http://127.0.0.1:{port}",
            "--advertise-client-urls", f"http://127.0.0.1:{port}",
            "--listen-peer-urls", f"http://127.0.0.1:{peer_port}",
            "--initial-advertise-peer-urls", f"http://127.0.0.1:{peer_port}",
            "--initial-cluster", cluster, "--unsafe-no-fsync"]
        self.log = open(folder / f"{name}.log", "ab")
        self.process = None

    def start(self):
        self.process = subprocess.Popen(self.words, stdout=self.log, stderr=self.log)

    def forget(self):
        """Removes all that it has stored, while it does not run."""
        shutil.rmtree(self.data)

    def is_healthy(self):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health", timeout=2) as got:
                return json.load(got)["health"] == "true"
        except OSError:
            return False

    def call(self, path, **body):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}",
                                         json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=PATIENCE) as got:
            return json.load(got)

    def kill(self, number=signal.SIGKILL):
        if self.process is None:
            return
        os.kill(self.process.pid, number)
        self.process.wait()
        self.process = None


class Etcd:
    """`count` members, which know each other."""

    def __init__(self, folder, count=1):
        folder.mkdir(parents=True, exist_ok=True)
        ports = free_ports(2 * count)
        cluster = ",".join(f"m{at}=http://127.0.0.1:{ports[count + at]}" for at in range(count))
        self.members = [Member(folder, f"m{at}", ports[at], ports[count + at], cluster)
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
        return "etcd://" + ",".join(f"127.0.0.1:{each.port}" for each in self.members)

    def leader(self):
        """The member that leads, as its own status says."""
        for each in self.members:
            if each.process is None:
                continue
            status = each.call("/v3/maintenance/status")
            if status["leader"] == status["header"]["member_id"]:
                return each
        return None

    def put(self, key, value):
        """Writes a key as a stranger would."""
        def encoded(text):
            return base64.b64encode(text).decode()
        self.members[0].call("/v3/kv/put", key=encoded(key), value=encoded(value))
