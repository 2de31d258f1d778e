"""Follows docs/netlink-tutorial.md word for word: on this machine, and in the guest that
its script boots.

    a terminal --- bash in a clone --- run.sh shell --- QEMU --- bash in the guest
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import guest
from page import Reader, files
from terminal import Terminal

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("STRATA_BUILD", ROOT / "build/release"))
PAGE = ROOT / "docs/netlink-tutorial.md"
EXAMPLE = ROOT / "examples/netlink_tutorial"
KERNELS = ["6.1"]


@pytest.fixture
def clone(tmp_path):
    """Makes the parts of a clone that the page uses, as after `make deps build`."""
    folder = tmp_path / "clone"
    for part in ["examples/netlink_tutorial", "tests/guest", "include", "lib/nl", "docs"]:
        shutil.copytree(ROOT / part, folder / part)
    (folder / "build").mkdir()
    (folder / "build/release").symlink_to(BUILD)
    return folder


def test_the_tutorial(kernel, clone):
    if not Path("/lib/modules", kernel.version, "build").exists():
        pytest.skip(f"THERE ARE NO HEADERS: install linux-headers-{kernel.version}")
    flags = os.environ.get("STRATA_FLAGS", "")
    environment = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), "PS1": "$ ",
                   "TERM": "dumb", "LC_ALL": "C.UTF-8", "CXXFLAGS": f"-O1 {flags}",
                   "STRATA_GUEST_CACHE": str(guest.CACHE)}
    shell = ["bash", "--norc", "--noediting", "-i"]
    with Terminal.of(shell, environment, clone, 200) as terminal:
        Reader({"$": terminal, "guest#": terminal}).follow(PAGE.read_text())


def test_the_files_on_the_page_are_those_that_run():
    shown = files(PAGE.read_text())
    assert set(shown) >= {"hello.c", "client.c", "noticeboard.c", "noticeboard.yaml", "board.cpp"}
    assert shown == {name: (EXAMPLE / name).read_text() for name in shown}


def test_the_picture_is_of_the_bytes_on_the_page():
    drawn = subprocess.run([sys.executable, EXAMPLE / "draw_message.py"], capture_output=True,
                           text=True, check=True, timeout=60).stdout
    assert drawn == (ROOT / "docs/netlink-message.svg").read_text()
