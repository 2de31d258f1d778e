"""A daemon that makes sockets for other programs, and those programs."""

import os
import shutil

from strata_daemon import BINARY
from veth import DaemonInside

NOBODY = "65534"


class Broker(DaemonInside):
    """A daemon in veth's namespace b, where its clients run too."""

    def __init__(self, veth, folder):
        super().__init__(veth.b, folder)
        self.veth = veth
        self.socket = folder / "strata.sock"  # so the broker is at broker.sock
        # A user without privileges must be able to reach the files.
        folder.chmod(0o755)
        self.policy = folder / "policy"
        self.binary = shutil.copy(BINARY, folder / "strata")

    def allow(self, policy):
        self.policy.write_text(policy)
        return self

    def launch(self, *more):
        return super().launch("--socket-policy", str(self.policy), *more)

    def start_as_nobody(self, *command, stdin=None, **environment):
        """Starts a program in the background without any privilege."""
        return self.veth.start(
            self.veth.b, "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
            "--no-new-privs", "--bounding-set=-all", *command, stdin=stdin,
            env={**os.environ, "STRATA_BROKER_SOCKET": str(self.folder / "broker.sock"),
                 **environment})

    def as_nobody(self, *arguments):
        """Starts one of strata's verbs in the same way."""
        return self.start_as_nobody(self.binary, *arguments, "--through-daemon", "--format",
                                    "json")


def refusal_of(process, exit_code=1):
    """Returns the error messages of a process that exits with that code and prints nothing."""
    out, errors = process.communicate(timeout=60)
    assert process.returncode == exit_code and out == ""
    return errors
