"""Daemons of a cluster that a user with a certificate controls from any of them."""

import subprocess

from certificates import Authority
from strata_daemon import BINARY, PATIENCE
from talker import free_port


class Controlled:
    """Daemons of a cluster that can be controlled from elsewhere with certificates."""

    def __init__(self, cluster, folder):
        self.cluster, self.folder = cluster, folder
        self.authority = Authority(folder / "authority")
        self.own = self.authority.issue("operator")
        # The authority is the one of `strata cert make`.
        made = subprocess.run([BINARY, "cluster", "ca", "ann", "-o", folder], text=True,
                              env=self.authority.environment, capture_output=True, timeout=PATIENCE)
        assert made.returncode == 0 and self.authority.ca in made.stdout, made

    def start(self, name, *flags):
        certificate, key = self.authority.issue(
            "127.0.0.1", "localhost", into=self.folder / f"{name}-tls")
        return self.cluster.start(
            name, "--listen", f"https://0.0.0.0:{free_port()}", "--cert", certificate, "--key", key,
            "--client-ca", self.authority.ca, "--client-role", "admin:CN=operator",
            *flags)

    def run(self, daemon, *words, **variables):
        environment = daemon.environment | {
            "STRATA_CA": self.authority.ca, "STRATA_CLIENT_CERT": self.own[0],
            "STRATA_CLIENT_KEY": self.own[1], **variables}
        return subprocess.run([BINARY, *words], env=environment, text=True, capture_output=True,
                              timeout=PATIENCE)
