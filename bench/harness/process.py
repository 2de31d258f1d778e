"""Processes of a benchmark: their descriptors, ports, memory, start and end."""

import contextlib
import os
import resource
import socket
import subprocess
import time
from pathlib import Path


class Failure(Exception):
    """A measurement that failed, as a sentence for the reader."""


def raise_descriptor_limit():
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


@contextlib.contextmanager
def on_cpus(cpus):
    """Restricts processes started inside to these CPUs; to all that we have if cpus is None."""
    ours = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cpus or ours)
    try:
        yield
    finally:
        os.sched_setaffinity(0, ours)


def free_port():
    """Returns an unused port; each server gets a new one, free of old TIME_WAIT entries."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until(ready, what, seconds=10):
    deadline = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > deadline:
            raise Failure(f"{what} within {seconds} s")
        time.sleep(0.02)


def listening(port):
    """Reports whether the port listens, from the kernel's table: a trial connection would cost the
    server memory and time."""
    wanted = f":{port:04X} "
    return any(
        wanted in line and line.split()[3] == "0A"
        for name in ("/proc/net/tcp", "/proc/net/tcp6")
        if os.path.exists(name)
        for line in Path(name).read_text().splitlines()
    )


class Process:
    """A child process, ended by its own pid. Its output goes to a file, which is shown if it
    fails."""

    def __init__(self, argv, log_path, env=None):
        self._log_path = log_path
        with open(log_path, "ab") as log:
            self._child = subprocess.Popen(
                [str(word) for word in argv],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=env,
            )
        self.pid = self._child.pid

    def alive(self):
        return self._child.poll() is None

    def last_words(self):
        lines = self._log_path.read_text(errors="replace").strip().splitlines()
        return lines[-1] if lines else "it printed nothing"

    def stop(self):
        self._child.terminate()
        try:
            self._child.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()


def memory(pid):
    """Returns the resident memory in bytes: all of it, and the part not backed by files."""
    fields = {}
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]:
        name, size, _ = line.split()
        fields[name.rstrip(":")] = int(size) * 1024
    return {
        "rss": fields["Rss"],
        "anonymous": fields["Anonymous"],
    }


def settled_memory(pid, seconds=5):
    """Returns the memory once it has stopped changing: a server may still be accepting."""
    deadline = time.monotonic() + seconds
    before = memory(pid)
    while True:
        time.sleep(0.3)
        now = memory(pid)
        if now == before or time.monotonic() > deadline:
            return now
        before = now
