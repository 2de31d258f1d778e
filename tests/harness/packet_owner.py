"""A program without privileges that holds an AF_PACKET socket of the daemon and tries what it can
do with it. Its first argument is "receive" or "send". It prints one JSON document: the result of
each try, with the errno's name if the try was refused.

It speaks the broker's protocol itself, because strata's own library would not try these things."""

import array
import ctypes
import errno
import json
import os
import socket
import struct
import sys

SOL_PACKET, ETH_P_ALL = 263, 3
ADD_MEMBERSHIP, RX_RING, FANOUT, TX_RING = 1, 5, 18, 13
MR_MULTICAST, MR_PROMISC = 0, 1
QDISC_BYPASS = 20
ATTACH_FILTER, DETACH_FILTER, LOCK_FILTER, RCVBUFFORCE, PRIORITY = 26, 27, 44, 33, 12
TYPE, OTHER_TYPE = 0x88b5, 0x88b6


def ask(interface, receives):
    """Returns the socket, and the connection that delivered it."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    connection.settimeout(30)
    connection.connect(os.environ["STRATA_BROKER_SOCKET"])
    message = struct.pack("<I16sii21xBBBB3x", 0x504B0002, interface.encode(), TYPE, -1, 0,
                          receives, 1, 0)
    connection.send(message)
    reply, ancillary, _, _ = connection.recvmsg(4096, 1024)
    if not ancillary:
        sys.exit(reply[4:].rstrip(b"\0").decode())
    descriptors = array.array("i", ancillary[0][2][:4])
    return socket.socket(fileno=descriptors[0]), connection


def tried(what):
    try:
        return what() or "done"
    except OSError as refused:
        return errno.errorcode[refused.errno]


def frame(ethertype):
    return b"\xff" * 6 + b"\x02\0\0\0\0\x01" + struct.pack("!H", ethertype) + bytes(46)


def filter_of(take):
    """Returns a filter that accepts all or nothing, and the struct that attaches it."""
    code = ctypes.create_string_buffer(struct.pack("=HBBI", 6, 0, 0, take), 8)
    return code, struct.pack("@HP", 1, ctypes.addressof(code))


def ring(given, option):
    """Sets up a ring of 64 MiB of kernel memory."""
    size, count, slot = 1 << 16, 1024, 2048
    shape = struct.pack("IIII", size, count, slot, size // slot * count)
    given.setsockopt(SOL_PACKET, option, shape)


def membership(given, interface, kind, group=b""):
    index = socket.if_nametoindex(interface)
    wanted = struct.pack("iHH8s", index, kind, len(group), group)
    given.setsockopt(SOL_PACKET, ADD_MEMBERSHIP, wanted)


def in_another_process(given):
    ours, theirs = socket.socketpair()
    if os.fork() == 0:
        _, [taken], _, _ = socket.recv_fds(theirs, 1, 1)
        os.write(theirs.fileno(), b"%d" % socket.socket(fileno=taken).send(frame(OTHER_TYPE)))
        os._exit(0)
    socket.send_fds(ours, [b"x"], [given.fileno()])
    assert ours.recv(10) == b"60"


def main():
    given, connection = ask("vethB", sys.argv[1] == "receive")
    code, attached = filter_of(0xFFFF)
    option = given.setsockopt
    say = {
        # Operations that must be refused.
        "bind to its interface": tried(lambda: given.bind(("vethB", ETH_P_ALL))),
        "bind to another": tried(lambda: given.bind(("lo", ETH_P_ALL))),
        "join a group": tried(lambda: option(SOL_PACKET, FANOUT, 1 << 16 | 7)),
        "take the filter away": tried(lambda: option(socket.SOL_SOCKET, DETACH_FILTER, 0)),
        "replace the filter": tried(lambda: option(socket.SOL_SOCKET, ATTACH_FILTER, attached)),
        "unlock the filter": tried(lambda: option(socket.SOL_SOCKET, LOCK_FILTER, 0)),
        "a buffer above the limit": tried(lambda: option(socket.SOL_SOCKET, RCVBUFFORCE, 1 << 30)),
        "a priority above 6": tried(lambda: option(socket.SOL_SOCKET, PRIORITY, 7)),
        # Operations that must succeed.
        "send another type": tried(lambda: given.send(frame(OTHER_TYPE)) and None),
        "send on another interface": tried(lambda: given.sendto(frame(OTHER_TYPE),
                                                                ("lo", OTHER_TYPE)) and None),
        "pass the queueing discipline by": tried(lambda: option(SOL_PACKET, QDISC_BYPASS, 1)),
        "make lo promiscuous": tried(lambda: membership(given, "lo", MR_PROMISC)),
        "join a multicast group on lo": tried(
            lambda: membership(given, "lo", MR_MULTICAST, b"\x01\0\x5e\0\0\x07")),
        "give it to another process": tried(lambda: in_another_process(given)),
        # From here on it sends through a ring.
        "a receive ring": tried(lambda: ring(given, RX_RING)),
        "a send ring": tried(lambda: ring(given, TX_RING)),
    }
    print(json.dumps(say), flush=True)
    # What remains possible once the rule and the connection are gone.
    sys.stdin.readline()
    connection.close()
    print(tried(lambda: membership(given, "vethB", MR_PROMISC)), flush=True)
    sys.stdin.read()
    del code


if __name__ == "__main__":
    main()
