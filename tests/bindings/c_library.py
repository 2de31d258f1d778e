"""The installed C library, for the bindings.

It is built without sanitizers, because otherwise programs in other languages would need them too.
"""

import os
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2]
BUILD = Path(os.environ.get("STRATA_BUILD", SOURCE / "build/release")) / "bindings"


def run(*command, **environment):
    done = subprocess.run([str(word) for word in command], cwd=SOURCE, text=True, timeout=800,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, **environment})
    assert done.returncode == 0, done.stdout[-20000:]
    return done.stdout


@pytest.fixture(scope="session")
def prefix():
    build = BUILD / "strata"
    run("cmake", "-G", "Ninja", "-S", SOURCE, "-B", build, "-DCMAKE_BUILD_TYPE=Release",
        "-DBUILD_TESTING=OFF")
    run("cmake", "--build", build, "--target", "strata_c", "strata_c_static")
    run("cmake", "--install", build, "--prefix", BUILD / "prefix", "--component", "c")
    return BUILD / "prefix"
