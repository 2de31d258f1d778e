#!/usr/bin/env python3
"""Opens a root shell in the guest on this terminal, in FOLDER/bin; or runs COMMAND there and
returns its exit code. The guest can write only FOLDER on the host, which is /run/out in the guest.
Ctrl-A x ends it at once."""

import argparse
import shlex
import sys
from pathlib import Path

import guest

SERIES = "6.1"
# A session of its own, so that Ctrl-C reaches the command. The programs are copied: a folder of the
# host's is slow in the guest.
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
