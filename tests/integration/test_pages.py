"""Follows pages of docs/ word for word, as tests/harness/page.py reads them.

    a namespace of the test's own, and its own /run/netns, which the page's namespaces are in:

        here: eth0 ======== veth ======== eth0 :there
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from page import Reader, files
from terminal import Terminal

pytestmark = pytest.mark.once

REPOSITORY = Path(__file__).resolve().parents[2]
ARTICLE = REPOSITORY / "docs/raw-ethernet-in-c.md"


def shell(prompt, folder, inside=()):
    """Starts an interactive shell without line editing."""
    environment = {"PATH": os.environ["PATH"], "PS1": f"{prompt} ", "TERM": "dumb",
                   "LC_ALL": "C.UTF-8", "HOME": str(folder)}
    return Terminal.of([*inside, "bash", "--norc", "--noediting", "-i"], environment, folder, 200)


@pytest.fixture
def apart(root):
    """Yields a command that runs another one where no other process sees what `ip netns` makes,
    and where nothing of it remains after the test."""
    holder = subprocess.Popen(
        ["unshare", "-mn", "--propagation", "private", "sh", "-c",
         "mount -t tmpfs none /run && mkdir /run/netns && echo ready && exec sleep 1000"],
        stdout=subprocess.PIPE, text=True)
    assert holder.stdout.readline() == "ready\n"
    yield ["nsenter", "-t", str(holder.pid), "-m", "-n", "--wd=."]
    holder.kill()
    holder.wait()
    holder.stdout.close()


@pytest.fixture
def clone(tmp_path):
    """Makes the parts of a clone that the page uses."""
    folder = tmp_path / "clone"
    shutil.copytree(REPOSITORY / "examples/raw_ethernet", folder / "examples/raw_ethernet")
    return folder


def test_raw_ethernet_in_c(apart, clone):
    with shell("#", clone, apart) as here, shell("there#", clone, apart) as there:
        Reader({"#": here, "there#": there}).follow(ARTICLE.read_text())


def test_the_programs_on_the_page_are_those_that_run():
    shown = files(ARTICLE.read_text())
    sources = {each.name: each.read_text()
               for each in (REPOSITORY / "examples/raw_ethernet").glob("*.c")}
    assert shown == sources


GOOD = """```console
$ echo 7 of $$
7 of <the process>
$ printf 'a b\\nx\\nc\\n'
a    b
…
c
```
"""


@pytest.mark.parametrize("before, after", [
    ("7 of <", "8 of <"), ("…\n", ""), ("c\n```", "c\nd\n```"), ("a    b", "ab"),
    ("<the process>", "<a> <b>"), ("printf", "exec printf")])
def test_a_page_that_is_wrong_is_found(tmp_path, before, after):
    with shell("$", tmp_path) as terminal:
        Reader({"$": terminal}).follow(GOOD)
    assert before in GOOD
    with shell("$", tmp_path) as terminal, pytest.raises(AssertionError, match="the page says"):
        Reader({"$": terminal}, patience=3).follow(GOOD.replace(before, after))


def test_the_index_leads_to_each_page():
    docs = REPOSITORY / "docs"
    index = (docs / "README.md").read_text()
    wanted = {each.name for each in docs.glob("*.md")} - {"README.md"}
    assert not {name for name in wanted if f"({name})" not in index}
