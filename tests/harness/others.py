"""Other users of the same machine, and folders that they can access."""

import os
import shutil
import subprocess
import sys

from strata_daemon import BINARY, PATIENCE, Daemon

USER = 61001  # owner of the daemon
ATTACKER = 61002
MEMBER = 61003
SHARED = 61100  # a group


def command_of(uid, *command, gid=None, groups=()):
    """Returns the words that run `command` as that user, without any of root's privileges."""
    more = f"--groups={','.join(map(str, groups))}" if groups else "--clear-groups"
    return ["setpriv", f"--reuid={uid}", f"--regid={gid or uid}", more, "--bounding-set=-all",
            *map(str, command)]


def run_as(uid, *command, environment=None, **who):
    return subprocess.run(command_of(uid, *command, **who), env=environment, text=True,
                          capture_output=True, timeout=PATIENCE)


def shell_as(uid, script, folder, **who):
    done = subprocess.run(command_of(uid, "sh", "-ec", script, **who), cwd=folder, text=True,
                          capture_output=True, timeout=PATIENCE)
    assert done.returncode == 0, done


class UserDaemon(Daemon):
    """A daemon that USER owns, in a folder that all other users can read."""

    def __init__(self, place, *flags, gid=USER, binary=BINARY, **how):
        folder = place / "own"
        folder.mkdir()
        folder.chmod(0o755)
        super().__init__(folder, *flags, **how)
        self.gid = gid
        self.binary = binary
        self.state_dir.mkdir(mode=0o700)
        for owned in (folder, self.state_dir):
            os.chown(owned, USER, gid)

    def command(self, *more):
        return command_of(USER, self.binary, *super().command(*more)[1:], gid=self.gid)


def copied_binary(place):
    """Copies the binary to where every user may run it, whatever the mode of its build folder."""
    path = shutil.copy(BINARY, place / "strata")
    os.chmod(path, 0o755)
    return path


# Answers every request as the daemon would, and prints what it received.
LISTENER = """
import os, socket, sys
os.umask(0)
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
print("ready", flush=True)
while True:
    connection, _ = listener.accept()
    said = connection.recv(65536)
    print(said, flush=True)
    try:
        connection.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\n{}")
    except OSError:
        pass
    connection.close()
"""


class FalseDaemon:
    """The attacker, in the place of a control socket."""

    def __init__(self, path):
        command = command_of(ATTACKER, sys.executable, "-c", LISTENER, path)
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "ready\n"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.heard()

    def heard(self):
        """Returns all that the attacker received, and ends it."""
        if self.process.poll() is None:
            self.process.terminate()
        self.said = getattr(self, "said", "") + self.process.stdout.read()
        self.process.wait(PATIENCE)
        return self.said
