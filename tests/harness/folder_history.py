"""The complete history of the cards in a folder, as the kernel saw it (fanotify(7)): each card is a
file of its own, which is written once and then put in its place."""

import ctypes
import json
import os
import select
import struct
import time

from background import Background

INIT, MARK = 300, 301  # system calls of x86-64
CLOEXEC, NONBLOCK, UNLIMITED_QUEUE = 0x1, 0x2, 0x10
ADD, CLOSE_WRITE, ON_CHILD, OVERFLOW = 0x1, 0x8, 0x08000000, 0x4000
METADATA = struct.Struct("=IBBHQii")

libc = ctypes.CDLL(None, use_errno=True)


def call(number, *arguments):
    done = libc.syscall(number, *arguments)
    if done < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return done


class Write:
    """A card that was written, whole: its daemon's name, the process that wrote it, and when."""

    def __init__(self, name, pid, holder, at):
        self.name, self.pid, self.holder, self.at = name, pid, holder, at

    def __repr__(self):
        return f"{self.at:.3f} {self.name} by {self.pid} ({self.holder})"


class FolderHistory(Background):
    """Records what is written from its beginning to its end."""

    def __init__(self, folder):
        super().__init__()
        self.writes = []
        self.group = call(INIT, CLOEXEC | NONBLOCK | UNLIMITED_QUEUE, os.O_RDONLY)
        call(MARK, self.group, ADD, ctypes.c_uint64(CLOSE_WRITE | ON_CHILD), -1,
             os.fsencode(folder))

    def __exit__(self, *_):
        super().__exit__()
        os.close(self.group)

    def run(self):
        while not self.is_over.is_set():
            if select.select([self.group], [], [], 0.1)[0]:
                self.take(os.read(self.group, 1 << 16))

    def take(self, events):
        at = time.monotonic()
        while events:
            length, _, _, _, mask, fd, pid = METADATA.unpack_from(events)
            assert mask & OVERFLOW == 0, "the history has a gap"
            # Its name was another one while it was written, and its file may be gone by now.
            name = os.readlink(f"/proc/self/fd/{fd}").removesuffix(" (deleted)")
            with open(fd, "rb") as file:
                text = file.read()
            if text:
                self.writes.append(Write(os.path.basename(name).rpartition(".")[0], pid,
                                         json.loads(text)["holder"], at))
            events = events[length:]
