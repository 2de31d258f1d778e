"""A daemon that makes sockets for others, and those others."""

import os
import shutil

from strata_daemon import BINARY
from veth import DaemonInside

NOBODY = "65534"


class Broker(DaemonInside):
    """Runs in veth's namespace b, as the others do."""

    def __init__(self, veth, folder):
        super().__init__(veth.b, folder)
        self.veth = veth
        self.socket = folder / "strata.sock"  # so the broker is at broker.sock
        # Where a user without privileges can get at them.
        folder.chmod(0o755)
        self.policy = folder / "policy"
        self.binary = shutil.copy(BINARY, folder / "strata")

    def allow(self, policy):
        self.policy.write_text(policy)
        return self

    def launch(self, *more):
        return super().launch("--socket-policy", str(self.policy), *more)

    def start_as_nobody(self, *command, stdin=None, **environment):
        """A program that goes on in the background, without any privilege."""
        return self.veth.start(
            self.veth.b, "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
            "--no-new-privs", "--bounding-set=-all", *command, stdin=stdin,
            env={**os.environ, "STRATA_BROKER_SOCKET": str(self.folder / "broker.sock"),
                 **environment})

    def as_nobody(self, *arguments):
        """The same: one of strata's verbs."""
        return self.start_as_nobody(self.binary, *arguments, "--through-daemon", "--format",
                                    "json")


def refusal_of(process, exit_code=1):
    """What it said of why it ended with that code, and did nothing."""
    out, errors = process.communicate(timeout=60)
    assert process.returncode == exit_code and out == ""
    return errors
