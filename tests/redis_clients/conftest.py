"""A daemon for the clients' tests: the one of the integration tests."""

import os

import pytest

from strata_daemon import BINARY, Daemon


def pytest_sessionstart():
    if not os.access(BINARY, os.X_OK):
        pytest.exit("STRATA_BIN does not name the strata binary", returncode=2)
    if not os.environ.get("STRATA_CLIENT_PACKAGES"):
        pytest.exit("STRATA_CLIENT_PACKAGES does not name a folder to fetch into", returncode=2)


@pytest.fixture
def daemon(tmp_path):
    made = Daemon(tmp_path / "daemon").start()
    yield made
    made.close()
