"""The guest's interfaces, as arguments of QEMU's.

    eth0 ===[ hub inside QEMU ]=== eth1              pair(): one queue, no host needed

    strata-g-<pid>, a namespace of the host's:
    +---------------------------+
    |  tap0 --- bridge --- tap1 |                    Taps(): as many queues as are asked for
    +---||------------------||--+
       eth0                eth1
"""

import secrets
import subprocess

# Native XDP takes frames as they were on the wire: not merged by the device, and with a checksum.
# The device would drop VLANs that are not configured.
WITHOUT_OFFLOADS = ("guest_tso4=off,guest_tso6=off,guest_ecn=off,guest_ufo=off,guest_csum=off,"
                    "ctrl_vlan=off")
# The driver gives the device access to the UMEM only if the kernel maps memory for devices.
ZERO_COPY = WITHOUT_OFFLOADS + ",iommu_platform=on,disable-legacy=on"


def card(net, options):
    return ["-device", f"virtio-net-pci,netdev={net},{options}"]


def pair(options=WITHOUT_OFFLOADS):
    nics = []
    for net in ["pair0", "pair1"]:
        nics += ["-netdev", f"hubport,id={net},hubid=1", *card(net, options)]
    return nics


class Taps:
    def __init__(self):
        self.space = f"strata-g-{secrets.token_hex(4)}"
        self.prefix = ["ip", "netns", "exec", self.space]
        self.count = 0

    def __enter__(self):
        self.ip("netns", "add", self.space)
        try:
            self.join()
        except subprocess.CalledProcessError:
            self.__exit__()
            raise
        return self

    def join(self):
        self.inside("sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1",
                    "net.ipv6.conf.default.disable_ipv6=1")
        self.inside("ip", "link", "add", "bridge", "type", "bridge", "mcast_snooping", "0")
        self.inside("ip", "link", "set", "bridge", "up")

    def __exit__(self, *_):
        self.ip("netns", "del", self.space)

    @staticmethod
    def ip(*arguments):
        subprocess.run(["ip", *arguments], check=True, timeout=60)

    def inside(self, *command):
        subprocess.run([*self.prefix, *command], check=True, timeout=60)

    def tap(self, queues, options=WITHOUT_OFFLOADS):
        """Adds an interface to the bridge."""
        name = f"tap{self.count}"
        self.count += 1
        kind = ["multi_queue"] if queues > 1 else []
        self.inside("ip", "tuntap", "add", name, "mode", "tap", "vnet_hdr", *kind)
        self.inside("ip", "link", "set", name, "master", "bridge", "up")
        several = f",mq=on,vectors={2 * queues + 2}" if queues > 1 else ""
        return ["-netdev", f"tap,id={name},ifname={name},script=no,downscript=no,vhost=off,"
                f"queues={queues}", *card(name, options + several)]
