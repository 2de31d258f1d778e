"""The servers to compare, and how each is started and stopped."""

import contextlib
import os
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

from harness.process import Failure, Process, free_port, listening, on_cpus, wait_until


@dataclass(frozen=True)
class Server:
    """A running contender."""

    pid: int
    port: int


@dataclass(frozen=True)
class Contender:
    name: str
    protocol: str  # the protocol that bench_load speaks to it: lines or redis
    program: Path | None  # None: not found
    start: Callable  # (program, port, folder) -> Process, listening on the port soon


def _start_epoll(policy):
    def start(program, port, folder):
        return Process([program, "--port", port, "--write", policy], folder / "log")

    return start


def _start_redis(program, port, folder):
    argv = [program, "--bind", "127.0.0.1", "--port", port, "--save", "", "--appendonly", "no"]
    return Process([*argv, "--dir", folder], folder / "log")


def _start_strata(loop):
    def start(program, port, folder):
        control = folder / "control.sock"
        env = {**os.environ, "STRATA_SOCKET": str(control)}
        daemon = Process(
            [program, "daemon", "--state-dir", folder, "--socket", control, "--loop", loop],
            folder / "log",
            env,
        )
        try:
            wait_until(lambda: control.exists() or not daemon.alive(), "strata opened no socket")
            _create_server(program, port, env)
        except Failure as failure:
            daemon.stop()
            raise Failure(f"{failure} (daemon: {daemon.last_words()})") from None
        return daemon

    return start


def _create_server(program, port, env):
    url = f"tcp://127.0.0.1:{port}"
    argv = [program, "create", "server", "bench", "--listen", url, "-s"]
    for attempt in range(10):  # the socket's file appears shortly before the daemon answers
        done = subprocess.run(
            argv, env=env, capture_output=True, text=True, timeout=10, check=False
        )
        if done.returncode == 0:
            return
        time.sleep(0.05 * attempt)
    raise Failure(f"strata create failed: {(done.stderr or done.stdout).strip()}")


def contenders(build_dir, strata, before=None):
    """Returns all contenders; the program of a missing one is None, which is reported. With
    `before`, another strata binary, each of strata's appears twice."""
    strata = strata or _first(build_dir, ["strata", "src/strata", "bin/strata"])
    epoll = _first(build_dir, ["bench/bench_epoll_chat", "bench_epoll_chat"])
    redis = shutil.which("redis-server")
    older = [
        Contender(f"before-{loop}", "lines", before, _start_strata(loop))
        for loop in ("io_uring", "epoll")
    ]
    return [
        Contender("strata-io_uring", "lines", strata, _start_strata("io_uring")),
        Contender("strata-epoll", "lines", strata, _start_strata("epoll")),
        *(older if before else []),
        Contender("epoll-each", "lines", epoll, _start_epoll("each")),
        Contender("epoll-batch", "lines", epoll, _start_epoll("batch")),
        Contender("redis", "redis", Path(redis) if redis else None, _start_redis),
    ]


def _first(folder, names):
    return next((folder / name for name in names if (folder / name).is_file()), None)


@contextlib.contextmanager
def running(contender, folder, cpus=None):
    """Starts the contender on a port of its own; yields its Server; ends it."""
    folder.mkdir(parents=True)
    port = free_port()
    with on_cpus(cpus):
        process = contender.start(contender.program, port, folder)
    try:
        wait_until(
            lambda: listening(port) or not process.alive(), f"{contender.name} did not listen"
        )
        if not process.alive():
            raise Failure(f"{contender.name} ended at its start: {process.last_words()}")
        yield Server(process.pid, port)
        if not process.alive():
            raise Failure(f"{contender.name} died under load: {process.last_words()}")
    finally:
        process.stop()
        shutil.rmtree(folder, ignore_errors=True)
