"""A daemon with one runtime, as the server benchmarks start it."""

import os
import subprocess

from harness.process import Process, wait_until


def environment(folder):
    """Returns the environment in which the CLI finds the daemon that was started in that folder."""
    return {**os.environ, "STRATA_SOCKET": str(folder / "control.sock")}


def strata_daemon(program, folder, words):
    """Returns the process. Its runtime is created by `strata create` with these words, and
    started."""
    env = environment(folder)
    daemon = Process([program, "daemon", "--state-dir", folder / "state",
                      "--socket", env["STRATA_SOCKET"]], folder / "strata.log", env)

    def created():
        done = subprocess.run([program, "create", *words, "-s"], env=env, capture_output=True,
                              check=False, timeout=10)
        return done.returncode == 0

    wait_until(created, f"strata made no {words[0]}")
    return daemon
