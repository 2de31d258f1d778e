"""A program that prints 1 GiB: the daemon's memory and the files of its output are bounded."""

import subprocess
import sys

from strata_daemon import eventually

GIB = 1 << 30
LINE = 1 << 12
# Without a line's end for 16 MiB at the beginning, then lines.
PRINTER = f"""
import os, time
part = b'y' * {1 << 20}
for _ in range(16): os.write(1, part)
lines = (b'x' * {LINE - 1} + b'\\n') * {(1 << 20) // LINE}
written = 16 << 20
while written < {GIB}:
    rest = memoryview(lines)
    while rest: rest = rest[os.write(1, rest):]
    written += len(lines)
os.write(1, b'\\nthe end\\n')
time.sleep(1000)
"""
KEPT, SIZE_MIB = 3, 8
GROWTH_MIB = 64  # what the daemon may need besides, with the last 1,000 lines of 8 KiB


def test_a_gib_of_output_needs_little_memory_and_disk(daemon, tmp_path):
    before = daemon.resident_mib()
    path, out = tmp_path / "printer.py", tmp_path / "out.log"
    path.write_text(PRINTER)
    daemon.create("program", "p", command=f"{sys.executable} {path}", output_file=str(out),
                  output_size=SIZE_MIB << 20, output_keep=KEPT)
    highest, largest = [0.0], [0]

    def is_over():
        highest[0] = max(highest[0], daemon.resident_mib())
        sizes = [each.stat().st_size for each in tmp_path.glob("out.log*") if each.exists()]
        largest[0] = max(largest[0], sum(sizes))
        return daemon.logged("p", "the end")

    eventually(is_over, "all is printed", within=300)
    assert highest[0] < before + GROWTH_MIB
    assert len(list(tmp_path.glob("out.log*"))) == KEPT + 1
    assert largest[0] <= ((KEPT + 1) * SIZE_MIB << 20) + (1 << 20)
    last = subprocess.run(["tail", "-c", "9", out], capture_output=True, check=True).stdout
    assert last == b"\nthe end\n"
    assert len(daemon.logs("p")) <= 1000
    assert daemon.log_path.stat().st_size < 1 << 20  # output does not go there


def test_a_gib_without_a_file(daemon, tmp_path):
    before = daemon.resident_mib()
    path = tmp_path / "printer.py"
    path.write_text(PRINTER)
    daemon.create("program", "p", command=f"{sys.executable} {path}")
    highest = [0.0]

    def is_over():
        highest[0] = max(highest[0], daemon.resident_mib())
        return daemon.logged("p", "the end")

    eventually(is_over, "all is printed", within=300)
    assert highest[0] < before + GROWTH_MIB
    daemon.act("p", "stop")
    assert daemon.show("p")["state"] == "stopped"
