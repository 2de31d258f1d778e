"""Helpers that run and install programs."""

import os
import subprocess

BUILD = os.environ["STRATA_BUILD"]


def run(*command, **how):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          timeout=300, check=False, **how)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def install(prefix, **environment):
    run("cmake", "--install", BUILD, "--prefix", prefix, env={**os.environ, **environment})
