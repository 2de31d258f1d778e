"""A machine reached by ssh: an sshd of the test's own, in the far namespace of a veth.

    +-- a: strata bench remote --+            +-- b: sshd on port 2222 --+
    |  vethA       192.0.2.1/24 =|============|= vethB      192.0.2.2/24 |
    +----------------------------+            +--------------------------+

It has its own view of the file system (`ip netns exec` unshares the mounts), in which other files
cover a few files. So its users and their sudo rights are real, and yet no user of the real machine
is touched. All users have a shell that prints a greeting, as some do.
"""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

PORT = 2222
PASSWORD = "correct horse"
SUDOERS = {"free": "tester ALL=(ALL) NOPASSWD: ALL", "password": "tester ALL=(ALL) ALL", "no": ""}


def make_key(path, *flags):
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-f", str(path), *(flags or ("-N", ""))],
                   check=True, timeout=60)
    return path


class SshHost:
    def __init__(self, veth, sudo="free", path="/usr/bin:/bin", covered=(), shell=None):
        """`covered`: further (file, replacement) pairs in its view of the file system."""
        self.veth = veth
        # All users of the host must be able to enter it, and pytest's folders are closed to them.
        self.folder = Path(tempfile.mkdtemp(prefix="strata-ssh-"))
        self.folder.chmod(0o755)
        self.there = self.folder / "there"  # the place of its $TMPDIR
        self.there.mkdir()
        self.there.chmod(0o1777)
        self.home = self.folder / "home"
        self.home.mkdir()
        os.chown(self.home, 12345, 12345)
        self.host_key = make_key(self.folder / "host_key")
        self.key = make_key(self.folder / "key")
        self.known_hosts = self.folder / "known_hosts"
        self.know(self.host_key)
        self._write("authorized_keys", self._public(self.key), 0o644)
        self._write_users(shell or self._write("greeting_shell", GREETING_SHELL, 0o755))
        self._write("sudoers", f"Defaults use_pty\n{SUDOERS[sudo]}\n", 0o440)
        self._write("sshd_config", SSHD_CONFIG.format(port=PORT, folder=self.folder, path=path))
        for name in ("passwd", "group", "shadow", "sudoers"):
            covered = [*covered, (f"/etc/{name}", self.folder / name)]
        mounts = "".join(f"mount --bind {by} {file} && " for file, by in covered)
        self.sshd = veth.start(veth.b, "sh", "-c", "mount -t tmpfs -o mode=755 run /run && "
                               f"mkdir /run/sshd && {mounts} exec /usr/sbin/sshd -D -e "
                               f"-f {self.folder}/sshd_config")
        self._await()

    def _write(self, name, text, mode=0o600):
        file = self.folder / name
        file.write_text(text)
        file.chmod(mode)
        return file

    @staticmethod
    def _public(key):
        return Path(f"{key}.pub").read_text()

    def _write_users(self, shell):
        hashed = subprocess.run(["perl", "-e", r'print crypt($ARGV[0], "\$6\$strata\$")', PASSWORD],
                                check=True, capture_output=True, text=True).stdout
        users = [line if not line.startswith("root:") else f"root:x:0:0:root:/root:{shell}"
                 for line in Path("/etc/passwd").read_text().splitlines()]
        users.append(f"tester:x:12345:12345::{self.home}:{shell}")
        self._write("passwd", "\n".join(users) + "\n", 0o644)
        self._write("group", Path("/etc/group").read_text() + "tester:x:12345:\n", 0o644)
        self._write("shadow", Path("/etc/shadow").read_text() + f"tester:{hashed}:19000::::::\n")

    def _await(self):
        for _ in range(500):
            assert self.sshd.poll() is None, self.sshd.communicate()
            if f":{PORT}" in self.veth.inside(self.veth.b, "ss", "-Hltn", f"sport = :{PORT}"):
                return
            time.sleep(0.02)
        raise AssertionError("sshd does not listen")

    def know(self, key):
        """Makes this key the host's entry in known_hosts."""
        self.known_hosts.write_text(f"[192.0.2.2]:{PORT} {self._public(key)}")

    def inode(self):
        return os.stat(f"/run/netns/{self.veth.b}").st_ino

    def processes(self):
        """Returns the command lines of the processes there, except sshd's own,
        which end by themselves."""
        found = []
        for process in filter(str.isdigit, os.listdir("/proc")):
            try:
                is_there = os.stat(f"/proc/{process}/ns/net").st_ino == self.inode()
                line = Path(f"/proc/{process}/cmdline").read_text().replace("\0", " ")
            except OSError:
                continue  # the process has ended
            # A process without a command line is ending: the kernel frees its memory before it
            # closes its files, whose closing tells the other side, and closes these before it
            # leaves its namespaces.
            if is_there and line and not line.startswith(("sshd:", "/usr/sbin/sshd")):
                found.append(line)
        return found

    def leftovers(self, patience=10):
        """Returns what remains there after up to `patience` seconds, when nothing should."""
        end = time.monotonic() + patience
        while True:
            left = self.processes() + os.listdir(self.there)
            if not left or time.monotonic() > end:
                return left
            time.sleep(0.05)

    def close(self):
        self.sshd.send_signal(signal.SIGTERM)
        self.sshd.communicate(timeout=30)
        shutil.rmtree(self.folder)


GREETING_SHELL = """#!/bin/sh
echo 'Welcome to this machine!'
exec /bin/sh "$@"
"""

SSHD_CONFIG = """
Port {port}
ListenAddress 192.0.2.2
HostKey {folder}/host_key
PidFile none
AuthorizedKeysFile {folder}/authorized_keys
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
UseDNS no
Subsystem sftp internal-sftp
SetEnv PATH={path} TMPDIR={folder}/there
"""
