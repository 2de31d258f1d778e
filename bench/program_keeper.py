#!/usr/bin/env python3
"""Measures what the keeper of a program costs: its private memory, and the time from its start to
that of the program, beside the same program started without one, in turn."""

import argparse
import json
import os
import re
import signal
import socket
import statistics
import time
from pathlib import Path

from harness.machine import describe_machine

DAEMON_CONNECTION, PROGRAM_OUTPUT = 4, 5  # keeper_descriptor in src/process/keeper.hpp


class Keeper:
    """A keeper as a daemon starts it, without a socket in a folder."""

    def __init__(self, binary, *words):
        self.connection, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        reader, writer = os.pipe()
        null = os.open(os.devnull, os.O_RDONLY)
        actions = [(os.POSIX_SPAWN_DUP2, descriptor, place) for descriptor, place in (
            (null, 0), (writer, 1), (writer, 2), (other.fileno(), DAEMON_CONNECTION + 100),
            (reader, PROGRAM_OUTPUT + 100), (DAEMON_CONNECTION + 100, DAEMON_CONNECTION),
            (PROGRAM_OUTPUT + 100, PROGRAM_OUTPUT))]
        actions += [(os.POSIX_SPAWN_CLOSE, place + 100)
                    for place in (DAEMON_CONNECTION, PROGRAM_OUTPUT)]
        arguments = ["strata-keeper", "--keep-program", os.environ["PATH"], "15", "1000", "bench.1",
                     "{}", *words]
        self.pid = os.posix_spawn(binary, arguments, os.environ, file_actions=actions, setsid=True)
        for each in (reader, writer, null):
            os.close(each)
        other.close()
        greeting, descriptors, _, _ = socket.recv_fds(self.connection, 16384, 8)
        self.program = json.loads(greeting)["process"]
        for each in descriptors:
            os.close(each)

    def private_kib(self):
        """Returns its anonymous memory, and all that is private to it and written."""
        rollup = Path(f"/proc/{self.pid}/smaps_rollup").read_text()
        return [int(re.search(rf"^{row}: +(\d+) kB", rollup, re.M)[1])
                for row in ("Anonymous", "Private_Dirty")]

    def wait(self):
        """Waits for the end of its program, and lets it go."""
        assert b"exit_code" in self.connection.recv(16384)
        self.connection.send(b"a")
        self.connection.close()
        os.waitpid(self.pid, 0)

    def end(self):
        os.kill(self.program, signal.SIGKILL)
        self.wait()


def memory_of(binary, count):
    keepers = [Keeper(binary, "sleep", "1000") for _ in range(count)]
    time.sleep(0.5)
    figures = [each.private_kib() for each in keepers]
    for each in keepers:
        each.end()
    anonymous, dirty = (statistics.median(column) for column in zip(*figures))
    return {"processes": count, "anonymous_kib": anonymous, "private_dirty_kib": dirty}


def start_times(binary, count):
    """Returns the medians in ms: until the program runs, by a keeper and by itself."""
    kept, plain = [], []
    for _ in range(count):
        begin = time.perf_counter()
        keeper = Keeper(binary, "/bin/true")
        kept.append(time.perf_counter() - begin)
        keeper.wait()
        begin = time.perf_counter()
        pid = os.posix_spawn("/bin/true", ["true"], os.environ)
        plain.append(time.perf_counter() - begin)
        os.waitpid(pid, 0)
    return {"starts": count, "keeper_ms": round(statistics.median(kept) * 1e3, 2),
            "posix_spawn_ms": round(statistics.median(plain) * 1e3, 2)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build-dir", type=Path, default=Path("build/release"))
    options = parser.parse_args()
    binary = options.build_dir / "strata"
    print(json.dumps({"machine": describe_machine(), "memory": memory_of(binary, 20),
                      "start": start_times(binary, 50)}, indent=2))


if __name__ == "__main__":
    main()
