"""The control API for other machines."""

import subprocess

from certificates import Authority
from strata_daemon import BINARY, PATIENCE, Daemon
from talker import free_port


class Remote:
    """A daemon that serves the control API over https://, and the CLI of another machine."""

    def __init__(self, folder):
        self.authority = Authority(folder / "authority")
        self.certificate, self.key = self.authority.issue("localhost", "127.0.0.1")
        self.token_file = folder / "token"
        self.token = "0123456789abcdef0123456789abcdef"
        self.token_file.write_text(self.token + "\n")
        self.token_file.chmod(0o600)
        self.port = free_port()
        self.url = f"https://localhost:{self.port}"
        self.folder = folder
        self.flags = ["--listen", f"https://127.0.0.1:{self.port}", "--cert", self.certificate,
                      "--key", self.key]

    def daemon(self, *flags):
        return Daemon(self.folder / "daemon", *self.flags, *flags)

    def run(self, *words, **environment):
        wanted = {"PATH": "/usr/bin:/bin", "STRATA_SOCKET": self.url,
                  "STRATA_CA": self.authority.ca, **environment}
        return subprocess.run([BINARY, *words], env=wanted, text=True, capture_output=True,
                              timeout=PATIENCE)
