"""A private name server, and a network namespace whose programs use it.

As a program, `name_server.py ZONE` answers from the current contents of the file ZONE: JSON, a name
to `{"addresses": [...], "ttl": seconds}`. Without ZONE it answers nothing.
"""

import contextlib
import ipaddress
import json
import secrets
import shutil
import socket
import struct
import subprocess
import sys
from pathlib import Path

A, AAAA = 1, 28
NO_SUCH_NAME = 3


def asked_for(query):
    """Returns the name and the type of a query's only question, and where it
    ends (RFC 1035, 4.1.2)."""
    labels, at = [], 12
    while query[at]:
        labels.append(query[at + 1:at + 1 + query[at]].decode("ascii"))
        at += 1 + query[at]
    return ".".join(labels).lower(), struct.unpack("!H", query[at + 1:at + 3])[0], at + 5


def answer(query, zone):
    name, kind, end = asked_for(query)
    known = zone.get(name)
    records = b""
    count = 0
    for text in known["addresses"] if known else []:
        address = ipaddress.ip_address(text)
        if kind == (A if address.version == 4 else AAAA):
            records += struct.pack("!HHHIH", 0xc00c, kind, 1, known["ttl"], len(address.packed))
            records += address.packed
            count += 1
    flags = 0x8180 | (0 if known else NO_SUCH_NAME)
    return query[:2] + struct.pack("!HHHHH", flags, 1, count, 0, 0) + query[12:end] + records


@contextlib.contextmanager
def namespace(options="", zone=None):
    """Yields a namespace in which names are resolved by such a server on 127.0.0.1."""
    name = f"strata-names-{secrets.token_hex(4)}"
    folder = Path("/etc/netns") / name  # `ip netns exec` mounts its files over those of /etc
    with contextlib.ExitStack() as stack:
        subprocess.run(["ip", "netns", "add", name], check=True)
        stack.callback(subprocess.run, ["ip", "netns", "del", name], check=True)
        subprocess.run(["ip", "-n", name, "link", "set", "lo", "up"], check=True)
        folder.mkdir(parents=True)
        stack.callback(shutil.rmtree, folder)
        (folder / "resolv.conf").write_text(f"nameserver 127.0.0.1\n{options}")
        (folder / "nsswitch.conf").write_text("hosts: files dns\n")
        words = ["ip", "netns", "exec", name, sys.executable, __file__]
        server = subprocess.Popen(words + ([str(zone)] if zone else []), stdout=subprocess.PIPE)
        stack.callback(lambda: (server.kill(), server.communicate()))
        assert server.stdout.readline() == b"bound\n"
        yield name


def main():
    zone = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    with socket.socket(type=socket.SOCK_DGRAM) as at:
        at.bind(("127.0.0.1", 53))
        print("bound", flush=True)
        while True:
            query, asking = at.recvfrom(65536)
            if zone:
                at.sendto(answer(query, json.loads(zone.read_text())), asking)


if __name__ == "__main__":
    main()
