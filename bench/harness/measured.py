"""The cost of a program and the processes that it has started, and the report of its load."""

import os
import re
import subprocess
import time
from pathlib import Path

from harness.process import Failure, memory


class Measured:
    """A mixin for a class with `_process`."""

    def pids(self):
        """Returns its process, and the children of that process, such as nginx's worker."""
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text()
        return [self._process.pid, *map(int, children.split())]

    def cpu_us(self):
        total = 0
        for pid in self.pids():
            for task in Path(f"/proc/{pid}/task").iterdir():
                total += int((task / "schedstat").read_text().split()[0])
        return total / 1000

    def kernel_us(self):
        """Returns the part of the CPU that the kernel took, in ticks of the clock: of a second of
        work it is exact to some percent."""
        ticks = sum(int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[12])
                    for pid in self.pids())
        return ticks * 1e6 / os.sysconf("SC_CLK_TCK")

    def anonymous(self):
        return sum(memory(pid)["anonymous"] for pid in self.pids())

    def stop(self):
        self._process.stop()


def measure_load(server, words):
    """Returns the server's CPU per message or request, and their rate, while a program loads it."""
    began = server.cpu_us()
    started = time.monotonic()
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    took = time.monotonic() - started
    spent = server.cpu_us() - began
    failed = re.search(r"Non-2xx or 3xx responses: (\d+)|, ([1-9]\d*) failed", done.stdout)
    if done.returncode != 0 or failed:
        raise Failure(f"{words[0]} against {server.name}: {done.stdout[-200:]}{done.stderr[-200:]}")
    count = count_of(done.stdout)
    return {"cpu_us": spent / max(1, count), "rate": count / took}


def count_of(output):
    """Returns the number of messages or requests, from the program's output."""
    for pattern in (r'"messages": (\d+)', r"(\d+) requests in",
                    r"finished in [^\n]*\n.*?(\d+) total"):
        if found := re.search(pattern, output, re.DOTALL):
            return int(found[1])
    raise Failure("the load says no figure: " + output[-300:])
