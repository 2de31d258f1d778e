"""A program that prints very much: the daemon's memory and the files of its output are bounded.

STRATA_OUTPUT_MIB=1024 prints 1 GiB, for which a daemon with sanitizers needs a minute.
"""

import os
import subprocess
import sys

import pytest

from strata_daemon import eventually

pytestmark = pytest.mark.once

OUTPUT_MIB = int(os.environ.get("STRATA_OUTPUT_MIB", "128"))
LINE = 1 << 12
# 16 MiB without the end of a line, then lines.
PRINTER = f"""
import os, sys, time
part = b'y' * {1 << 20}
for _ in range(16): os.write(1, part)
lines = (b'x' * {LINE - 1} + b'\\n') * {(1 << 20) // LINE}
for _ in range(int(sys.argv[1]) - 16):
    rest = memoryview(lines)
    while rest: rest = rest[os.write(1, rest):]
os.write(1, b'\\nthe end\\n')
time.sleep(1000)
"""
KEPT, SIZE_MIB = 3, 8
# How much more memory the daemon may need for four times the output: half of what would be kept
# if all of it were. The first output has its price: the last 1,000 lines of 8 KiB, and the tenfold
# of it where a sanitizer keeps freed memory, by chance 20 MiB more or less.
GROWTH_MIB = 48


class Printer:
    """A program that prints, and the most memory that the daemon needs meanwhile."""

    def __init__(self, daemon, folder):
        self.daemon = daemon
        self.path = folder / "printer.py"
        self.path.write_text(PRINTER)

    def print(self, name, mib, **options):
        """Returns the daemon's largest resident memory in MiB and the output files' total."""
        folder = self.path.parent
        self.daemon.create("program", name, command=f"{sys.executable} {self.path} {mib}",
                           **options)
        memory, files = [0.0], [0]

        def is_over():
            memory.append(self.daemon.resident_mib())
            files.append(sum(map(size_of, folder.glob(f"{name}.log*"))))
            return self.daemon.logged(name, "the end")

        eventually(is_over, "all is printed", within=300)
        return max(memory), max(files)


def size_of(path):
    try:
        return path.stat().st_size
    except FileNotFoundError:  # renamed meanwhile
        return 0


@pytest.fixture
def printer(daemon, tmp_path):
    return Printer(daemon, tmp_path)


def test_much_output_needs_little_memory_and_disk(daemon, printer, tmp_path):
    def print_into_file(name, mib):
        return printer.print(name, mib, output_file=str(tmp_path / f"{name}.log"),
                             output_size=SIZE_MIB << 20, output_keep=KEPT)

    before, _ = print_into_file("first", OUTPUT_MIB // 4)
    daemon.act("first", "stop")
    daemon.remove("first")
    memory, files = print_into_file("p", OUTPUT_MIB)
    assert memory < before + GROWTH_MIB
    assert len(list(tmp_path.glob("p.log*"))) == KEPT + 1
    assert files <= ((KEPT + 1) * SIZE_MIB << 20) + (1 << 20)
    last = subprocess.run(["tail", "-c", "9", tmp_path / "p.log"], capture_output=True,
                          check=True).stdout
    assert last == b"\nthe end\n"
    assert len(daemon.logs("p")) <= 1000
    assert daemon.log_path.stat().st_size < 1 << 20  # output does not go there


def test_much_output_without_a_file(daemon, printer):
    before, _ = printer.print("first", OUTPUT_MIB // 4)
    daemon.act("first", "stop")
    daemon.remove("first")
    memory, _ = printer.print("p", OUTPUT_MIB)
    assert memory < before + GROWTH_MIB
    daemon.act("p", "stop")
    assert daemon.show("p")["state"] == "stopped"
