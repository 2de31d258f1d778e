"""Raw generic netlink for the hostile tests: builds messages from bytes, valid or invalid, and
parses the replies. The numbers are from linux/netlink.h, linux/genetlink.h and
kernel/uapi/strata_echo.h."""

import socket
import struct
import time

REQUEST, MULTI, ACK, DUMP = 0x1, 0x2, 0x4, 0x300
ERROR, DONE, CONTROLLER = 2, 3, 16
CAPPED, ACK_TLVS = 0x100, 0x200
GETFAMILY = 3
FAMILY_ID, FAMILY_NAME, MCAST_GROUPS = 1, 2, 7
SOL_NETLINK, ADD_MEMBERSHIP, EXT_ACK = 270, 1, 11
ERR_MSG, ERR_OFFS, ERR_COOKIE, ERR_MISS_TYPE = 1, 2, 3, 5
NESTED = 0x8000

ECHO_MSG, REPLY_WITH_NLMSG_ERR, ECHO_BATCH, GET_COUNTERS, NOTIFY, SET_PERIOD, EVENT = range(1, 8)
MSG, INDEX, ITEM, COUNT, COUNTERS, PERIOD, SEQUENCE, PERIODIC = range(1, 9)
PATIENCE_S = 20  # for an emulated guest


def attribute(kind, payload, length=None):
    """Returns an attribute; `length` replaces the correct length by a wrong one."""
    padding = b"\0" * (-len(payload) % 4)
    stated = 4 + len(payload) if length is None else length
    return struct.pack("HH", stated, kind) + payload + padding


def text(words, kind=MSG):
    return attribute(kind, words.encode() + b"\0")


def item(*attributes):
    return attribute(ITEM | NESTED, b"".join(attributes))


def message(kind, flags, command, body=b"", sequence=1, reserved=0):
    payload = struct.pack("BBH", command, 1, reserved) + body
    return struct.pack("IHHII", 16 + len(payload), kind, flags, sequence, 0) + payload


def attributes(data):
    """Returns [(type, payload)], without the nested flag."""
    found = []
    while len(data) >= 4:
        length, kind = struct.unpack_from("HH", data)
        assert 4 <= length <= len(data), f"an attribute of {length} bytes in {len(data)}"
        found.append((kind & 0x3fff, data[4:length]))
        data = data[(length + 3) & ~3:]
    return found


class Reply:
    def __init__(self, data):
        length, self.kind, self.flags, self.sequence, self.port = struct.unpack_from("IHHII", data)
        body = data[16:length]
        self.errno = self.command = self.words = self.offset = self.cookie = self.missing = None
        self.attributes = []
        if self.kind == ERROR:
            self.take_error(body)
        elif self.kind != DONE:
            self.command = body[0]
            self.attributes = attributes(body[4:])

    def take_error(self, body):
        self.errno, = struct.unpack_from("i", body)
        inner, = struct.unpack_from("I", body, 4)
        skip = 20 if self.flags & CAPPED else 4 + ((inner + 3) & ~3)
        told = dict(attributes(body[skip:])) if self.flags & ACK_TLVS else {}
        if ERR_MSG in told:
            self.words = told[ERR_MSG].rstrip(b"\0").decode()
        if ERR_OFFS in told:
            self.offset, = struct.unpack("I", told[ERR_OFFS])
        if ERR_COOKIE in told:
            self.cookie, = struct.unpack("Q", told[ERR_COOKIE])
        if ERR_MISS_TYPE in told:
            self.missing, = struct.unpack("I", told[ERR_MISS_TYPE])

    def __getitem__(self, kind):
        return dict(self.attributes)[kind]

    def __repr__(self):
        return (f"<type {self.kind} flags {self.flags:#x} command {self.command} "
                f"errno {self.errno} {self.words!r} at {self.offset} {self.attributes}>")


class Socket:
    def __init__(self):
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)
        # With port 0, as it was before, the socket would receive no events: the kernel took it
        # for their sender.
        self.socket.bind((0, 0))
        self.wait_at_most(PATIENCE_S)
        self.socket.setsockopt(SOL_NETLINK, EXT_ACK, 1)
        self.waiting = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def wait_at_most(self, seconds):
        """Sets the kernel's time limit; Python's own limit would make MSG_DONTWAIT wait too."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", seconds, 0))

    def send(self, data):
        self.socket.sendto(data, (0, 0))

    def receive(self):
        """Returns the next message of this datagram, or of the next one."""
        if not self.waiting:
            data, sender = self.socket.recvfrom(65536)
            assert sender[0] == 0, f"{sender} is not the kernel"
            while data:
                length, = struct.unpack_from("I", data)
                self.waiting.append(Reply(data[:length]))
                data = data[(length + 3) & ~3:]
        return self.waiting.pop(0)

    def ask(self, data):
        self.send(data)
        return self.receive()

    def is_silent(self):
        """Reports whether nothing waits: the kernel replies before send() returns."""
        try:
            self.socket.recv(65536, socket.MSG_PEEK | socket.MSG_DONTWAIT)
            return False
        except BlockingIOError:
            return not self.waiting

    def join(self, group):
        self.socket.setsockopt(SOL_NETLINK, ADD_MEMBERSHIP, group)

    def drain(self):
        """Drops all waiting datagrams and returns their number; dumps are read to their end."""
        count = 0
        while True:
            try:
                self.socket.recv(65536, socket.MSG_DONTWAIT)
                count += 1
            except BlockingIOError:
                return count
            except OSError as lost:
                assert lost.errno == 105, lost  # ENOBUFS: events arrived faster


class Family:
    """The controller's description of a family."""

    def __init__(self, reply):
        self.id, = struct.unpack("H", reply[FAMILY_ID])
        self.groups = {}
        for _, nest in attributes(dict(reply.attributes).get(MCAST_GROUPS, b"")):
            group = dict(attributes(nest))
            self.groups[group[1].rstrip(b"\0").decode()] = struct.unpack("I", group[2])[0]


def resolve(name="strata_echo"):
    with Socket() as asking:
        reply = asking.ask(message(CONTROLLER, REQUEST, GETFAMILY, text(name, FAMILY_NAME)))
    return None if reply.errno == -2 else Family(reply)


def within(seconds, what, happened):
    """Waits until `happened()` is true."""
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end, f"{what}: not within {seconds} s"
        time.sleep(0.05)
