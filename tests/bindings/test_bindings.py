"""The bindings' own tests, against the C library as it is installed.

It is built here without sanitizers, since those of other languages' programs would have to be too.
"""

import os
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2]
BUILD = Path(os.environ["STRATA_BUILD"]) / "bindings"


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
    run("cmake", "--build", build, "--target", "strata_c")
    run("cmake", "--install", build, "--prefix", BUILD / "prefix", "--component", "c")
    return BUILD / "prefix"


def test_rust(prefix):
    out = run(SOURCE / "bindings/rust/run_tests.sh", prefix, CARGO="/usr/bin/cargo",
              CARGO_TARGET_DIR=str(BUILD / "rust"))
    assert "strata-xdp: all tests passed" in out


def test_ocaml(prefix):
    run(SOURCE / "bindings/ocaml/run_tests.sh", prefix, STRATA_OCAML_BUILD=str(BUILD / "ocaml"))
