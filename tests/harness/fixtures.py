"""Fixtures that tests in several folders use."""

import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from broker import Broker
from cut_proxy import CutProxy
from failing_disk import FailingDisk
from sentinel_group import Sentinels
from strata_daemon import Daemon
from veth import Veth
from web_site import make_site


@pytest.fixture
def make_daemon(tmp_path):
    """Makes daemons, each in a folder of its own, and checks at the end that each
    one ends successfully."""
    daemons = []

    def make(*flags, **settings):
        daemons.append(Daemon(tmp_path / str(len(daemons)), *flags, **settings))
        return daemons[-1].start()

    yield make
    for each in daemons:
        each.close()


@pytest.fixture
def site(tmp_path):
    """Returns a folder for --http, with files in it."""
    return make_site(tmp_path / "site")


@pytest.fixture
def root():
    """Marks a test that needs root."""
    if os.geteuid() != 0:
        pytest.skip("NEEDS ROOT: it mounts a file system or traces a process")


@pytest.fixture
def place(root):
    """Yields a folder with the permissions of /tmp: all users may create files in
    it and remove their own."""
    with tempfile.TemporaryDirectory(prefix="strata-trust.") as folder:
        os.chmod(folder, 0o1777)
        yield Path(folder)


@pytest.fixture
def veth(root):
    made = Veth()
    yield made
    made.close()


@pytest.fixture
def broker(veth):
    with tempfile.TemporaryDirectory() as folder:
        made = Broker(veth, Path(folder))
        yield made
        made.close()


@pytest.fixture
def failing_disk(root, tmp_path):
    made = FailingDisk(tmp_path)
    yield made
    made.close()


@pytest.fixture
def small_disk(root, tmp_path):
    """Yields a file system of 64 KiB."""
    folder = tmp_path / "small"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", folder], check=True)
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


@pytest.fixture
def proxies():
    """Yields a function that makes proxies to a port of 127.0.0.1; their connections can be cut."""
    made = []

    def make(target):
        made.append(CutProxy(target))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def sentinels(tmp_path):
    """Yields three sentinels, which `start` starts."""
    processes = Sentinels(tmp_path)
    yield processes
    processes.close()
