"""A daemon for the clients' tests: the one of the integration tests."""

import os

import pytest

from fixtures import make_daemon, sentinels  # noqa: F401
from strata_daemon import BINARY


def pytest_sessionstart():
    if not os.access(BINARY, os.X_OK):
        pytest.exit("STRATA_BIN does not name the strata binary", returncode=2)
    if not os.environ.get("STRATA_CLIENT_PACKAGES"):
        pytest.exit("STRATA_CLIENT_PACKAGES does not name a folder to fetch into", returncode=2)


@pytest.fixture
def daemon(make_daemon):  # noqa: F811
    return make_daemon()
