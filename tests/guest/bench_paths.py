#!/usr/bin/env python3
"""Runs `strata bench paths` in the guest, to compare with a second kind of machine:

    python3 tests/guest/bench_paths.py [--kernel 6.1] [flags of strata bench paths]
    build/release/strata bench compare HERE/results.json build/guest/bench-6.1/results/results.json
"""

import argparse
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import guest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("STRATA_BUILD", ROOT / "build/release"))
PROGRAMS = ["strata", "strata-plain-packet"]


def revision():
    return subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], check=True,
                          capture_output=True, text=True, timeout=60).stdout.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--kernel", default="6.1")
    parser.add_argument("--patience", type=int, default=3600, help="in seconds")
    wanted, flags = parser.parse_known_args()
    if missing := guest.missing():
        sys.exit(f"there is no guest: install {' '.join(missing)}")
    folder = ROOT / f"build/guest/bench-{wanted.kernel}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in PROGRAMS:
        shutil.copy(BUILD / name, folder / name)
    if "--revision" not in flags:
        flags += ["--revision", revision()]
    command = ["/run/out/strata", "bench", "paths", "-o", "/run/out/results", *flags]
    done = guest.boot(guest.Kernel(wanted.kernel), "modprobe veth\n" + shlex.join(command), folder,
                      seconds=wanted.patience)
    print(done.output)
    if done.exit_code != 0:
        sys.exit(f"exit code {done.exit_code}\n{done.console[-2000:]}")
    print(f"results: {folder}/results")


if __name__ == "__main__":
    main()
