#!/usr/bin/env python3
"""A shell in the guest, as root, at this terminal, in FOLDER/bin; or COMMAND there, and its exit
code. Nothing else of the host can be written there but FOLDER, which is /run/out in the guest.
Ctrl-A x ends it at once."""

import argparse
import shlex
import sys
from pathlib import Path

import guest

SERIES = "6.1"
# Of its own session, so that Ctrl-C reaches what it runs. A copy is made of what it is to run: a
# folder of the host's is slow there.
SETTING = """exec < /dev/ttyS0 > /dev/ttyS0 2>&1
cp -r /run/out/bin /tmp/bin && cd /tmp/bin
export HOME=/tmp TERM=dumb PS1='guest# '
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--version", action="store_true", help="prints the guest's kernel")
    parser.add_argument("folder", type=Path, nargs="?", metavar="FOLDER")
    parser.add_argument("command", nargs="?", metavar="COMMAND")
    wanted = parser.parse_args()
    if missing := guest.missing():
        sys.exit(f"shell.py: there is no guest: install {' '.join(missing)}")
    kernel = guest.Kernel(SERIES)
    if wanted.version:
        print(kernel.version)
        return 0
    if not wanted.folder:
        parser.error("give the FOLDER that the guest is to have")
    what = f"sh -c {shlex.quote(wanted.command)}" if wanted.command else \
        "setsid -c -w bash --noprofile --norc --noediting -i"
    done = guest.boot(kernel, f"{SETTING}{what}\n", wanted.folder.resolve(), seconds=None,
                      terminal=True)
    return 1 if done.exit_code is None else done.exit_code


if __name__ == "__main__":
    sys.exit(main())
