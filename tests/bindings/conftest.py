"""A daemon and namespaces for the bindings' tests: those of the integration tests."""

import os

import pytest

from c_library import prefix  # noqa: F401
from fixtures import broker, root, veth  # noqa: F401
from strata_daemon import BINARY


def pytest_sessionstart():
    if not os.access(BINARY, os.X_OK):
        pytest.exit("STRATA_BIN does not name the strata binary", returncode=2)
