"""examples/shop, a whole installation in one file: a proxy in front of pages and two programs, and
their cache with a script."""

import os
import pathlib
import signal
import urllib.request

import pytest

from strata_daemon import eventually
from talker import free_port

pytestmark = pytest.mark.once

STACK = pathlib.Path(__file__).parents[2] / "examples" / "shop" / "strata.yaml"
NAMES = ["pages", "store", "prices", "orders", "front"]


@pytest.fixture
def shop(daemon):
    """Returns a function that runs a verb of stacks on the example, with free ports."""
    ports = {"port": free_port(), "store_port": free_port()}
    chosen = [word for name, port in ports.items() for word in ("--set", f"{name}={port}")]

    def run(verb, *flags):
        return daemon.run(verb, *flags, "-f", STACK, *chosen)

    run.site = f"http://127.0.0.1:{ports['port']}"
    done = run("up", "--wait")
    assert (done.returncode, done.stderr) == (0, ""), done
    assert done.stdout.splitlines() == [
        f"plan: create {', '.join(NAMES)}", *(f"{name}: created" for name in NAMES)]
    return run


def fetch(url, data=None):
    with urllib.request.urlopen(urllib.request.Request(url, data)) as answer:
        return answer.read().decode()


def test_it_serves_on_a_fresh_state(shop):
    assert "<h1>Shop</h1>" in fetch(f"{shop.site}/")
    assert fetch(f"{shop.site}/prices/apple") == "0.40\n"
    for number in (1, 2, 3):
        assert fetch(f"{shop.site}/orders/pear", b"") == f"order {number}\n"
    with pytest.raises(urllib.error.HTTPError, match="404"):
        fetch(f"{shop.site}/prices/stone")


def test_it_serves_while_an_instance_is_replaced(daemon, shop):
    first = daemon.ask("GET", "/v1/runtimes/prices/instances")[0]["pid"]
    os.kill(first, signal.SIGKILL)
    for _ in range(50):
        assert fetch(f"{shop.site}/prices/pear") == "0.55\n"
    eventually(lambda: {each["state"] for each in daemon.ask(
        "GET", "/v1/runtimes/prices/instances")} == {"running"}, "it is restarted")


def test_the_file_is_what_stands(daemon, shop):
    unchanged = "".join(f"{line}\n" for line in (
        "plan: nothing to change", *(f"{name}: unchanged" for name in NAMES)))
    assert shop("up").stdout == unchanged
    assert (shop("diff").returncode, shop("diff").stdout) == (0, "")
    daemon.cli("edit", "front", "--check", "tcp")
    found = shop("diff")
    assert found.returncode == 1
    assert found.stdout.splitlines()[1].split() == ["front", "edit", "check", "tcp", "http"]
    assert "front: changed: check\n" in shop("up").stdout
    assert shop("diff").returncode == 0
    exported = daemon.cli("export")
    again = daemon.cli("up", "-f", "-", given=exported)
    assert sorted(again.splitlines()) == sorted(unchanged.splitlines())
    shop("down")
    assert daemon.names() == []
