"""Two network namespaces of a test's own, joined by a veth, and how to run programs in them.

    +-- strata-t-<pid>-a --+            +-- strata-t-<pid>-b --+
    |  vethA 192.0.2.1/24 =|============|= vethB 192.0.2.2/24  |
    |  lo                  |            |  lo                  |
    +----------------------+            +----------------------+
"""

import itertools
import os
import signal
import subprocess

from strata_daemon import BINARY

_numbers = itertools.count()


class Veth:
    def __init__(self, mtu=1500):
        name = f"strata-t-{os.getpid()}-{next(_numbers)}"
        self.a, self.b = f"{name}-a", f"{name}-b"
        self.run("ip", "netns", "add", self.a)
        self.run("ip", "netns", "add", self.b)
        self.run("ip", "link", "add", "vethA", "mtu", str(mtu), "netns", self.a, "type", "veth",
                 "peer", "name", "vethB", "mtu", str(mtu), "netns", self.b)
        for space, link, address in [(self.a, "vethA", "192.0.2.1/24"),
                                     (self.b, "vethB", "192.0.2.2/24")]:
            self.inside(space, "sysctl", "-qw", f"net.ipv6.conf.{link}.disable_ipv6=1")
            self.inside(space, "ip", "address", "add", address, "dev", link)
            self.inside(space, "ip", "link", "set", link, "up")
            self.inside(space, "ip", "link", "set", "lo", "up")

    @staticmethod
    def run(*command, **how):
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60,
                              **how).stdout

    def inside(self, space, *command, **how):
        return self.run("ip", "netns", "exec", space, *command, **how)

    def strata(self, space, *arguments, **how):
        return self.inside(space, BINARY, *arguments, **how)

    def start(self, space, *command, **how):
        """A program that goes on in the background: communicate() or end() it."""
        return subprocess.Popen(["ip", "netns", "exec", space, *command], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how)

    def packet_sockets(self, space):
        """How many AF_PACKET sockets hear: one is listed before it is bound, and R is 1 then."""
        rows = self.inside(space, "cat", "/proc/net/packet").splitlines()[1:]
        return sum(row.split()[5] == "1" for row in rows)

    def mac(self, space, link):
        return self.inside(space, "cat", f"/sys/class/net/{link}/address").strip()

    def close(self):
        for space in (self.a, self.b):
            subprocess.run(["ip", "netns", "del", space], check=False)


def end(process, how=signal.SIGINT):
    process.send_signal(how)
    return process.communicate(timeout=30)
