"""Asks strata, inside the guest, what AF_XDP can do on each interface, and writes the
answers as JSON.

    ask.py OUT NAME=DESCRIPTION...       one row for each interface
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

BINARY = os.environ["STRATA_BIN"]
# With headers and the kernel's headroom, this is more than a chunk holds.
JUMBO = "9000"
COPIED = "it was promised, but the kernel copies"


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def answer(errors, link):
    """Returns the reason for a failure, in the same words for all interfaces."""
    words = re.sub(r" for xdp://[^ ]+(?=: )|strata: |cannot start '.*?': ", "", errors.strip())
    return words.replace(f"'{link}'", "it")


def receive_queues(link):
    return str(len(list(Path(f"/sys/class/net/{link}/queues").glob("rx-*"))))


def receives(link, *arguments):
    """Returns True or the reason for a failure, the number of queues meanwhile, and the report."""
    process = subprocess.Popen([BINARY, "xdp", "drop", link, "--format", "json", *arguments],
                               text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    said = process.stderr.readline()
    count = receive_queues(link)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    if "takes frames" not in said:
        return answer(said, link), count, {}
    return True, count, json.loads(out)


def receives_without_copy(link):
    """Returns True only if the kernel reports zero-copy for the socket."""
    does, _, said = receives(link, "-z")
    return does if does is not True else said["zero_copy"] or COPIED


def sends_without_copy(link):
    done = run(BINARY, "xdp", "gen", link, "-z", "-c", "1", "--format", "json")
    if done.returncode != 0:
        return answer(done.stderr, link)
    said = json.loads(done.stdout)
    return said["zero_copy"] or COPIED


def assembles(link, mode):
    """Returns whether frames of several chunks work: an endpoint requests them if the
    MTU needs them."""
    before = run("cat", f"/sys/class/net/{link}/mtu").stdout.strip()
    changed = run("ip", "link", "set", link, "mtu", JUMBO)
    if changed.returncode != 0:
        return answer(changed.stderr, link)
    with tempfile.TemporaryDirectory() as folder:
        place = ["--socket", f"{folder}/control"]
        daemon = subprocess.Popen([BINARY, "daemon", "--state-dir", f"{folder}/state", *place],
                                  text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        for line in daemon.stderr:
            if line.endswith(" ready\n"):
                break
        done = run(BINARY, "create", "server", "s", "--listen", f"xdp://{link}?mode={mode}", "-s",
                   *place)
        daemon.send_signal(signal.SIGTERM)
        daemon.communicate(timeout=60)
    run("ip", "link", "set", link, "mtu", before)
    return True if done.returncode == 0 else answer(done.stderr, link)


def driver(link):
    found = re.search("driver: (.*)", run("ethtool", "-i", link).stdout)
    return found.group(1) if found else "?"


def queues(link):
    """Returns the current number of queues, and the maximum."""
    counts = re.findall(r"Combined:\s+(\d+)", run("ethtool", "-l", link).stdout)
    return " of ".join(reversed(counts)) or "1"


def row(link, description):
    run("ip", "link", "set", link, "up")
    native, count, _ = receives(link, "--mode", "native")
    made = {"kernel": os.uname().release, "interface": description, "driver": driver(link),
            "queues": queues(link), "with XDP": count, "native": native,
            "generic": receives(link, "--mode", "generic")[0],
            "zero-copy in": receives_without_copy(link), "zero-copy out": sends_without_copy(link),
            "multi-buffer native": assembles(link, "native"),
            "multi-buffer generic": assembles(link, "generic")}
    words = re.findall(rf"^.*\b{link}: .*XDP.*$", run("dmesg").stdout, re.MULTILINE)
    made["kernel said"] = sorted({re.sub(r"^\[.*?\] *", "", each) for each in words})
    return made


if __name__ == "__main__":
    rows = [row(*asked.split("=", 1)) for asked in sys.argv[2:]]
    Path(sys.argv[1]).write_text(json.dumps(rows))
