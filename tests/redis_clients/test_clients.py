"""Redis clients, as their users install them, against a cache: each tries everything once with its
defaults, and reports what differs from the expected result."""

import os
import subprocess
from pathlib import Path

import pytest

import packages

PACKAGES = Path(os.environ.get("STRATA_CLIENT_PACKAGES", "."))
PATIENCE = 120  # for one client's run, with a sanitizer and on a busy machine

CLIENTS = {
    "node_redis.mjs": packages.node,
    "ioredis.mjs": packages.node,
    "redis_py.py": packages.python,
    "go_redis": packages.go,
    "redis_rs": packages.rust,
    "jedis.java": packages.java,
}


@pytest.mark.parametrize("program", CLIENTS)
def test_a_client_does_a_round_of_everything(daemon, program):
    fetch = CLIENTS[program]
    command = fetch(PACKAGES.resolve() / fetch.__name__, program)
    daemon.cli("create", "cache", "db", "--listen", "tcp://127.0.0.1:0", "--resp", "-s")
    host, port = daemon.show("db")["endpoints"][0].removeprefix("tcp://").rsplit(":", 1)
    done = subprocess.run([*map(str, command), host, port], env=packages.environment(),
                          stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=PATIENCE)
    assert done.returncode == 0, done.stderr + done.stdout
