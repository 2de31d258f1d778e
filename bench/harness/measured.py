"""What a program and the processes that it has made cost, and what its load says."""

import re
from pathlib import Path

from harness.process import Failure, memory


class Measured:
    """Of one that has `_process`."""

    def pids(self):
        """Its process, and those that this has made: nginx's worker."""
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text()
        return [self._process.pid, *map(int, children.split())]

    def cpu_us(self):
        total = 0
        for pid in self.pids():
            for task in Path(f"/proc/{pid}/task").iterdir():
                total += int((task / "schedstat").read_text().split()[0])
        return total / 1000

    def anonymous(self):
        return sum(memory(pid)["anonymous"] for pid in self.pids())

    def stop(self):
        self._process.stop()


def count_of(output):
    """Messages or requests, as the programs say it."""
    for pattern in (r'"messages": (\d+)', r"(\d+) requests in",
                    r"finished in [^\n]*\n.*?(\d+) total"):
        if found := re.search(pattern, output, re.DOTALL):
            return int(found[1])
    raise Failure("the load says no figure: " + output[-300:])
