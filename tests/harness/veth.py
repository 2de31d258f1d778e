"""Two network namespaces of a test's own, joined by a veth, and functions that run programs in
them.

    +-- strata-t-<any>-a --+            +-- strata-t-<any>-b --+
    |  vethA 192.0.2.1/24 =|============|= vethB 192.0.2.2/24  |
    |  lo                  |            |  lo                  |
    +----------------------+            +----------------------+

STRATA_TEST_LINKS="eth0,eth1" lends two existing, connected interfaces instead of the veth. They
must be in the namespace in which the tests run, and are put back there. With STRATA_TEST_ZEROCOPY=1
they must have AF_XDP's zero-copy mode, and without it they must not.
"""

import json
import os
import secrets
import signal
import subprocess

import pytest

import strata_daemon
from strata_daemon import BINARY, Daemon

KERNEL = tuple(map(int, os.uname().release.split(".")[:2]))


class Veth:
    def __init__(self, mtu=1500, queues=1):
        name = f"strata-t-{secrets.token_hex(4)}"
        self.a, self.b = f"{name}-a", f"{name}-b"
        self.lent = os.environ.get("STRATA_TEST_LINKS", "").split(",")[:2]
        self.is_virtual = self.lent == [""]
        self.has_zero_copy = os.environ.get("STRATA_TEST_ZEROCOPY") == "1"
        self.run("ip", "netns", "add", self.a)
        self.run("ip", "netns", "add", self.b)
        if self.is_virtual:
            ring = ["mtu", str(mtu), "numrxqueues", str(queues), "numtxqueues", str(queues)]
            self.run("ip", "link", "add", "vethA", *ring, "netns", self.a, "type", "veth",
                     "peer", "name", "vethB", *ring, "netns", self.b)
        else:
            self.borrow(mtu, queues)
        for space, link, address in [(self.a, "vethA", "192.0.2.1/24"),
                                     (self.b, "vethB", "192.0.2.2/24")]:
            self.inside(space, "sysctl", "-qw", f"net.ipv6.conf.{link}.disable_ipv6=1")
            self.inside(space, "ip", "address", "add", address, "dev", link)
            self.inside(space, "ip", "link", "set", link, "up")
            self.inside(space, "ip", "link", "set", "lo", "up")

    def places(self):
        return zip(self.lent, [self.a, self.b], ["vethA", "vethB"])

    def borrow(self, mtu, queues):
        for link, space, name in self.places():
            self.run("ip", "link", "set", link, "down")
            self.run("ip", "link", "set", link, "netns", space)
            self.inside(space, "ip", "link", "set", link, "name", name)
        for _, space, name in self.places():
            try:
                self.inside(space, "ip", "link", "set", name, "mtu", str(mtu))
                if queues != self.queues(space, name):
                    self.inside(space, "ethtool", "-L", name, "combined", str(queues))
            except subprocess.CalledProcessError as refused:
                self.close()
                pytest.skip(f"THESE INTERFACES HAVE NO MTU {mtu} AND {queues} QUEUES: "
                            f"{refused.stderr.strip()}")

    def queues(self, space, link):
        return len([each for each in self.inside(space, "ls", f"/sys/class/net/{link}/queues")
                    .split() if each.startswith("rx-")])

    def give_back(self):
        """Puts the lent interfaces back. Deleting a namespace also returns them to the first
        namespace, under these names."""
        for link, space, name in self.places():
            self.inside(space, "ip", "link", "set", name, "down")
            self.inside(space, "ip", "link", "set", name, "name", link)
            self.inside(space, "ip", "link", "set", link, "netns", str(os.getpid()))

    def needs_virtual(self, why):
        if not self.is_virtual:
            pytest.skip(f"ONLY ON A VETH: {why}")

    def lost(self):
        """Returns the number of frames from a to b that the link itself dropped, as a veth does
        when its ring is full. For other interfaces the number is unknown."""
        if not self.is_virtual:
            return float("inf")
        [row] = json.loads(self.inside(self.a, "ip", "-s", "-j", "link", "show", "vethA"))
        return row["stats64"]["tx"]["dropped"]

    @staticmethod
    def run(*command, **how):
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60,
                              **how).stdout

    def inside(self, space, *command, **how):
        return self.run("ip", "netns", "exec", space, *command, **how)

    def strata(self, space, *arguments, **how):
        return self.inside(space, BINARY, *arguments, **how)

    def start(self, space, *command, **how):
        """Starts a program in the background; end it with communicate() or end()."""
        return subprocess.Popen(["ip", "netns", "exec", space, *command], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how)

    def packet_sockets(self, space):
        """Returns the number of listening AF_PACKET sockets: a socket is listed before it is bound,
        and R is 1 once it is."""
        rows = self.inside(space, "cat", "/proc/net/packet").splitlines()[1:]
        return sum(row.split()[5] == "1" for row in rows)

    def mac(self, space, link):
        return self.inside(space, "cat", f"/sys/class/net/{link}/address").strip()

    def close(self):
        if not self.is_virtual:
            self.give_back()
        for space in (self.a, self.b):
            subprocess.run(["ip", "netns", "del", space], check=False)


def end(process, how=signal.SIGINT):
    process.send_signal(how)
    return process.communicate(timeout=30)


class DaemonInside(Daemon):
    """A daemon in one of the namespaces; its control socket is a file, reachable from anywhere."""

    def __init__(self, space, folder):
        super().__init__(folder)
        self.space = space

    def launch(self, *more):
        command = ["ip", "netns", "exec", self.space, BINARY, "daemon", "--state-dir",
                   self.state_dir, "--socket", self.socket, "--loop", strata_daemon.LOOP, *more]
        with open(self.log_path, "ab") as log:
            return subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL,
                                    stdout=subprocess.DEVNULL, stderr=log)
