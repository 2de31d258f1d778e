"""A program without privileges that holds an AF_XDP socket of the daemon on vethB and tries what it
can do with it. It prints one JSON document: the result of each try, with the errno's name if the
try was refused. When it reads a line from its input it continues: it receives what has arrived,
closes the connection, and prints another document.

It speaks the broker's protocol and maps the rings itself, because strata's own library would not
try these things."""

import ctypes
import fcntl
import json
import mmap
import os
import random
import socket
import struct
import sys

from packet_owner import TYPE, frame, tried

AF_XDP, SOL_XDP = 44, 283
MMAP_OFFSETS, RX_RING, UMEM_REG = 1, 2, 4
ADD_SEALS, SEAL_WRITE = 1033, 8
BPF, PROGRAM_BY_ID = 321, 13
OTHER_TYPE = 0x88b6
FRAMES, FRAME_SIZE, SLOTS = 16, 4096, 8
PLACES = {"receive": 0, "send": 0x80000000, "fill": 0x100000000, "completion": 0x180000000}
libc = ctypes.CDLL(None, use_errno=True)


def ask():
    """Returns the socket, its memory, and the connection that delivered them."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    connection.settimeout(30)
    connection.connect(os.environ["STRATA_BROKER_SOCKET"])
    connection.send(struct.pack("<I16sIiii12s3I4B6I", 0x58440002, b"vethB", 0, TYPE, -1, -1,
                                bytes(12), FRAMES, FRAME_SIZE, 0, 0, 0, 0, 0, 0, 0, *[SLOTS] * 4))
    reply, descriptors, _, _ = socket.recv_fds(connection, 4096, 8)
    if not descriptors:
        sys.exit(reply[4:].rstrip(b"\0").decode())
    assert len(descriptors) == 2, "the socket and its memory, and no program, map or other thing"
    return descriptors[0], descriptors[1], connection


def call(name, *arguments):
    if libc[name](*arguments) != 0:
        raise OSError(ctypes.get_errno(), "")


def bind(given, interface, queue):
    address = struct.pack("HHIII", AF_XDP, 0, socket.if_nametoindex(interface), queue, 0)
    call("bind", given, address, len(address))


def option(given, name, value):
    call("setsockopt", given, SOL_XDP, name, value, len(value))


class Ring:
    def __init__(self, given, name, offsets):
        which = list(PLACES).index(name)
        self.made, self.taken, self.first, _ = struct.unpack_from("4Q", offsets, 32 * which)
        self.slot = 8 if name in ("fill", "completion") else 16
        libc.mmap.restype = ctypes.c_void_p
        libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int,
                              ctypes.c_int, ctypes.c_long]
        size = self.first + SLOTS * self.slot
        at = libc.mmap(None, size, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED, given,
                       PLACES[name])
        assert at not in (None, ctypes.c_void_p(-1).value), os.strerror(ctypes.get_errno())
        self.bytes = (ctypes.c_char * size).from_address(at)

    def count(self, place):
        return struct.unpack_from("I", self.bytes, place)[0]

    def put(self, *values):
        made = self.count(self.made)
        form = "Q" if self.slot == 8 else "QII"
        struct.pack_into(form, self.bytes, self.first + made % SLOTS * self.slot, *values)
        struct.pack_into("I", self.bytes, self.made, made + 1)

    def take_all(self):
        """Returns the descriptors that the kernel has put there."""
        taken, made = self.count(self.taken), self.count(self.made)
        struct.pack_into("I", self.bytes, self.taken, made)
        return [struct.unpack_from("QII", self.bytes, self.first + each % SLOTS * self.slot)
                for each in range(taken, made)]


def main():
    given, memory, connection = ask()
    offsets = ctypes.create_string_buffer(128)
    size = ctypes.c_uint(128)
    call("getsockopt", given, SOL_XDP, MMAP_OFFSETS, offsets, ctypes.byref(size))
    rings = {name: Ring(given, name, offsets) for name in PLACES}
    room = mmap.mmap(memory, FRAMES * FRAME_SIZE)
    for number in range(4):
        rings["fill"].put(number * FRAME_SIZE)
    first_program = struct.pack("III", 1, 0, 0)
    registration = struct.pack("QQIIII", 0, FRAMES * FRAME_SIZE, FRAME_SIZE, 0, 0, 0)

    def send_another_type():
        sent = frame(OTHER_TYPE)
        room[8 * FRAME_SIZE:8 * FRAME_SIZE + len(sent)] = sent
        rings["send"].put(8 * FRAME_SIZE, len(sent), 0)
        call("sendto", given, None, 0, socket.MSG_DONTWAIT, None, 0)

    print(json.dumps({
        # Operations that must be refused.
        "open another": tried(lambda: socket.socket(AF_XDP, socket.SOCK_RAW) and None),
        "bind to its queue": tried(lambda: bind(given, "vethB", 0)),
        "bind to another interface": tried(lambda: bind(given, "lo", 0)),
        "register other memory": tried(lambda: option(given, UMEM_REG, registration)),
        "make a ring larger": tried(lambda: option(given, RX_RING, struct.pack("i", 1 << 20))),
        "make its memory smaller": tried(lambda: os.ftruncate(memory, 0)),
        "make its memory larger": tried(lambda: os.ftruncate(memory, 1 << 30)),
        "seal its memory": tried(lambda: fcntl.fcntl(memory, ADD_SEALS, SEAL_WRITE) and None),
        "hold the program": tried(lambda: call("syscall", BPF, PROGRAM_BY_ID, first_program,
                                               len(first_program))),
        # Operations that must succeed.
        "send another type": tried(send_another_type),
    }), flush=True)
    sys.stdin.readline()
    heard = [struct.unpack_from("!H", room, at + 12)[0] for at, _, _ in rings["receive"].take_all()]
    chance = random.Random(7)
    for ring in rings.values():
        for at in range(ring.first, len(ring.bytes)):
            ring.bytes[at] = chance.randbytes(1)
        struct.pack_into("I", ring.bytes, ring.made, chance.getrandbits(32))
        struct.pack_into("I", ring.bytes, ring.taken, chance.getrandbits(32))
        tried(lambda: call("sendto", given, None, 0, socket.MSG_DONTWAIT, None, 0))
    print(json.dumps({"heard": heard}), flush=True)
    sys.stdin.readline()
    connection.close()
    print(json.dumps({"keep the socket": tried(lambda: os.fstat(given) and None)}), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
