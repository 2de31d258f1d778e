"""A daemon for the bindings' tests, and namespaces: those of the integration tests."""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "integration"))

from fixtures import broker, root, veth  # noqa: E402, F401
from strata_daemon import BINARY  # noqa: E402


def pytest_sessionstart():
    if not os.access(BINARY, os.X_OK):
        pytest.exit("STRATA_BIN does not name the strata binary", returncode=2)
