"""Pastes the README's first blocks unchanged into an interactive shell, and into a script. They run
in a network namespace of their own, because of their ports:

    netns strata-readme-PID:  lo, with the daemon and all that talk to it
"""

import os
import pathlib
import re
import secrets
import signal
import subprocess

import pytest

from strata_daemon import BINARY, PATIENCE, SANITIZER_REPORT, eventually
from terminal import Terminal

# Both tests make the namespace that README names.
pytestmark = [pytest.mark.once, pytest.mark.xdist_group("readme")]

REPOSITORY = pathlib.Path(__file__).parents[2]


def blocks():
    """Returns the blocks that a newcomer pastes, whole."""
    text = (REPOSITORY / "README.md").read_text()
    text = text[text.index("## Quick start"):text.index("## What there is")]
    found = re.findall(r"^```\n(.*?)^```\n", text, re.MULTILINE | re.DOTALL)
    assert len(found) >= 4, found
    return "".join(found)


@pytest.fixture
def namespace(root):
    name = f"strata-readme-{secrets.token_hex(4)}"
    subprocess.run(["ip", "netns", "add", name], check=True)
    subprocess.run(["ip", "-n", name, "link", "set", "lo", "up"], check=True)
    yield name
    subprocess.run(["ip", "netns", "del", name], check=True)
    subprocess.run(["ip", "netns", "del", "plant"], check=False)  # README's, left by a failed shell


class Clone:
    """A built clone, and a shell in it. `make` has nothing to do there."""

    def __init__(self, folder):
        self.folder = folder / "clone"
        self.home = folder / "home"
        self.home.mkdir()
        (self.folder / "build" / "release").mkdir(parents=True)
        (self.folder / "build" / "release" / "strata").symlink_to(BINARY)
        for part in "docs", "examples":
            (self.folder / part).symlink_to(REPOSITORY / part)
        tools = folder / "tools"
        tools.mkdir()
        (tools / "make").write_text("#!/bin/sh\n")
        (tools / "make").chmod(0o755)
        self.environment = {"PATH": f"{tools}:{os.environ['PATH']}", "HOME": str(self.home),
                            "TMPDIR": str(self.home), "PS1": "$ ", "TERM": "dumb",
                            "STRATA_CONFIG_DIR": str(self.home / "config")}

    def end_daemon(self):
        """Ends the daemon by its process id, and checks that it ended successfully."""
        [lock] = self.home.glob("tmp.*/lock")
        pid = int(lock.read_text())
        os.kill(pid, signal.SIGTERM)
        eventually(lambda: not os.path.exists(f"/proc/{pid}"), "the daemon has ended")
        log = (lock.parent / "daemon.log").read_text()
        assert log.endswith(" stopped\n") and not SANITIZER_REPORT.search(log), log


@pytest.fixture
def clone(tmp_path):
    return Clone(tmp_path)


def check_what_it_shows(shown):
    for text in ["myapp: running at tcp://*:9000, open to other machines",
                 "ear: running at tcp://127.0.0.1:9000", "delivered to 1 connection",
                 '"name": "myapp"', "in force now: rate_limit",
                 "chat: running at tcp://*:8081", "gw: running at tcp://*:8000", "# The proxy", "page: running at ws://127.0.0.1:8081",
                 "db: running at tcp://*:6379, for this machine alone", "OK",
                 "safe: running at tls://0.0.0.0:9443", "orders: created", "0.40", "order 1",
                 "front  edit    check   tcp      http", "orders: removed", "plc: running at l2://plc0",
                 "nlctrl"]:
        assert text in shown, f"{text!r} is missing in {shown}"
    shown = shown.replace("strata: takes frames of 'plc1' in native mode", "")
    for text in ["strata: ", "command not found", "rror:", "Stopped"]:
        assert text not in shown, f"{text!r} is in {shown}"


def test_the_blocks_run_as_a_script(namespace, clone):
    script = clone.folder / "pasted.sh"
    script.write_text("set -e\n" + blocks())
    done = subprocess.run(["nsenter", f"--net=/run/netns/{namespace}", "bash", script], text=True,
                          cwd=clone.folder, env=clone.environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=4 * PATIENCE)
    clone.end_daemon()
    assert done.returncode == 0, done.stdout
    check_what_it_shows(done.stdout)


def test_the_blocks_can_be_pasted_into_a_terminal(namespace, clone):
    with Terminal.of(["nsenter", f"--net=/run/netns/{namespace}", "bash", "--norc", "-i"],
                     clone.environment, clone.folder, columns=200) as terminal:
        terminal.shows(b"$ ")
        terminal.paste(blocks().encode() + b"echo all is $((1 + 1)) pasted\n")
        terminal.shows(b"\nall is 2 pasted")
        clone.end_daemon()
        shown = terminal.screen.decode().replace("\r\n", "\n")
        check_what_it_shows(re.sub(r"\x1b\[[0-9;]*m", "", shown))  # jq prints colors
