"""Frameworks that keep their work in Redis, as their users install and run them, against a cache:
each does a real task, with real workers."""

import os
import subprocess
from pathlib import Path

import pytest

import packages

PACKAGES = Path(os.environ.get("STRATA_CLIENT_PACKAGES", "."))
PATIENCE = 200  # for one program's run, with a sanitizer and on a busy machine
SOURCE = Path(__file__).resolve().parent / "frameworks"

PROGRAMS = {
    "async_jobs.py": packages.python,
    "job_queues.py": packages.python,
    "web_caches.py": packages.python,
    "worker_processes.py": packages.python,
    "job_queues.mjs": packages.node,
    "live_updates.mjs": packages.node,
    "web_sessions.mjs": packages.node,
    "go_frameworks": packages.go,
    "sidekiq.rb": packages.ruby,
    "redisson.java": packages.java,
    "lettuce.java": packages.java,
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_framework_does_its_work(daemon, program):
    fetch = PROGRAMS[program]
    command = fetch(PACKAGES.resolve() / f"frameworks-{fetch.__name__}", program,
                    SOURCE / fetch.__name__)
    daemon.cli("create", "cache", "db", "--listen", "tcp://127.0.0.1:0", "--resp", "-s")
    host, port = daemon.show("db")["endpoints"][0].removeprefix("tcp://").rsplit(":", 1)
    done = subprocess.run([*map(str, command), host, port], env=packages.environment(),
                          stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=PATIENCE)
    assert done.returncode == 0, done.stderr[-5000:] + done.stdout
