"""Network namespaces of a benchmark's own, and the veth pairs between them."""

import contextlib
import os
import subprocess
from dataclasses import dataclass


@dataclass(frozen=True)
class Interface:
    space: str
    name: str
    mac: str | None = None  # None: the kernel chooses one

    def words(self):
        address = ["address", self.mac] if self.mac else []
        return ["name", self.name, *address, "netns", self.space]


def run(*words, **how):
    """Returns the program's output if `how` captures it."""
    return subprocess.run([str(word) for word in words], check=True, timeout=60, text=True,
                          **how).stdout


def inside(space, *words):
    """Returns the words of a command that runs in a namespace."""
    return ["ip", "netns", "exec", space, *map(str, words)]


@contextlib.contextmanager
def namespaces(kind, *names):
    """Yields the namespaces' full names, and always removes them afterwards."""
    spaces = [f"strata-{kind}-{os.getpid()}-{name}" for name in names]
    made = []
    try:
        for space in spaces:
            run("ip", "netns", "add", space)
            made.append(space)
        yield spaces
    finally:
        for space in made:
            subprocess.run(["ip", "netns", "del", space], check=False)


def join(one, other):
    """Makes a veth pair, up, on which the kernel itself sends nothing."""
    run("ip", "link", "add", *one.words(), "type", "veth", "peer", *other.words())
    for end in (one, other):
        run(*inside(end.space, "sysctl", "-qw", f"net.ipv6.conf.{end.name}.disable_ipv6=1"))
        run("ip", "-n", end.space, "link", "set", end.name, "up")


def detach_xdp(interface):
    """Detaches libxdp's program, which remains when its process ends."""
    run("ip", "-n", interface.space, "link", "set", "dev", interface.name, "xdp", "off")
