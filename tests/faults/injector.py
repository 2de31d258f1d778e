"""Makes one system call of a process fail, in whichever thread it is made.

The process starts with a seccomp filter that asks us about the calls named below (seccomp's user
notification), and we let the kernel continue all of them but one. Unlike strace, this counts the
calls of all threads together, knows what the life under test is doing at that moment, and needs
neither root nor a tracer, so that LeakSanitizer works with it. The numbers are those of x86-64.
"""

import collections
import contextlib
import ctypes
import dataclasses
import errno
import fcntl
import mmap
import os
import select
import struct
import subprocess
import threading
import time

NUMBERS = {
    "read": 0, "write": 1, "open": 2, "fstat": 5, "poll": 7, "mmap": 9, "pread64": 17,
    "pwrite64": 18, "writev": 20, "access": 21, "dup": 32, "sendfile": 40, "socket": 41,
    "connect": 42, "sendto": 44, "recvfrom": 45, "sendmsg": 46, "recvmsg": 47, "bind": 49,
    "listen": 50, "getsockname": 51, "getpeername": 52, "setsockopt": 54, "getsockopt": 55,
    "fcntl": 72, "flock": 73, "fsync": 74, "fdatasync": 75, "ftruncate": 77, "rename": 82,
    "unlink": 87, "chmod": 90, "fchmod": 91, "getdents64": 217, "epoll_ctl": 233,
    "inotify_add_watch": 254, "openat": 257, "mkdirat": 258, "newfstatat": 262, "unlinkat": 263,
    "renameat": 264, "linkat": 265, "signalfd4": 289, "eventfd2": 290, "epoll_create1": 291,
    "pipe2": 293, "inotify_init1": 294, "accept4": 288, "prlimit64": 302, "renameat2": 316,
    "statx": 332, "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427,
    "clone3": 435, "openat2": 437, "epoll_pwait2": 441,
}
NAMES = {number: name for name, number in NUMBERS.items()}

ON_DESCRIPTOR = {
    "read", "write", "fstat", "pread64", "pwrite64", "writev", "sendto", "recvfrom", "sendmsg",
    "recvmsg", "fcntl", "fsync", "fdatasync", "ftruncate", "getdents64", "fchmod"}

PR_SET_NO_NEW_PRIVS, SYS_SECCOMP, SYS_PIDFD_GETFD = 38, 317, 438
SET_MODE_FILTER, NEW_LISTENER = 1, 8
ALLOW, ASK = 0x7FFF0000, 0x7FC00000
LOAD, EQUALS, RETURN = 0x20, 0x15, 0x06  # BPF codes
X86_64 = 0xC000003E
RECEIVE, ANSWER = 0xC0502100, 0xC0182101
GO_ON = 1
FD_MAP_STACK = 0x20000
SET_FILE_LIMIT = 7  # RLIMIT_NOFILE

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


@dataclasses.dataclass(frozen=True, order=True)
class Place:
    """The `nth` call of its kind within a phase of the daemon's life."""
    phase: str
    call: str
    kind: str
    nth: int


@dataclasses.dataclass(frozen=True, order=True)
class Fault:
    place: Place
    error: int

    def __str__(self):
        at = self.place
        return f"{at.phase}: {at.call}({at.kind}) #{at.nth} -> {errno.errorcode[self.error]}"


def filter_of(calls):
    """Returns the filter's instructions: ask about `calls`, allow all others."""
    def step(code, then, otherwise, value):
        return struct.pack("HBBI", code, then, otherwise, value)
    count = len(calls)
    steps = [step(LOAD, 0, 0, 4), step(EQUALS, 0, count + 1, X86_64), step(LOAD, 0, 0, 0)]
    steps += [step(EQUALS, count - index, 0, NUMBERS[name]) for index, name in enumerate(calls)]
    return b"".join([*steps, step(RETURN, 0, 0, ALLOW), step(RETURN, 0, 0, ASK)])


def kind_of_descriptor(pid, number):
    if number == 2:
        return "log"
    try:
        target = os.readlink(f"/proc/{pid}/fd/{number}")
    except OSError:
        return "none"
    if target.startswith("/"):
        return "folder" if os.path.isdir(target) else "file"
    return target.split(":")[1].strip("[]") if target.startswith("anon_inode") \
        else target.split(":")[0]


class Injector:
    """A process whose calls are counted, and of which one call may be made to fail."""

    def __init__(self, fault=None):
        self.fault = fault
        self.phase = "start"
        self.counts = collections.Counter()  # (phase, call, kind) -> calls
        self.is_armed = False  # calls of the loader and the C library are not tested
        self.struck = False
        self.listener = None
        self.calls = ([fault.place.call, "prlimit64"] if fault else list(NUMBERS))
        self.shared = mmap.mmap(-1, 4096)
        self.thread = None

    def launch(self, command, **how):
        taker = threading.Thread(target=self.take_listener, daemon=True)
        taker.start()
        process = subprocess.Popen(command, preexec_fn=self.install, **how)
        taker.join()
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()
        return process

    def close(self):
        """Releases the listener once the process has ended."""
        if self.thread:
            self.thread.join()
        if self.listener is not None:
            os.close(self.listener)

    def install(self):
        """Installs the filter in the child, before it becomes the daemon."""
        program = filter_of(self.calls)
        steps = ctypes.create_string_buffer(program, len(program))
        whole = struct.pack("HxxxxxxQ", len(program) // 8, ctypes.addressof(steps))
        libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        made = libc.syscall(SYS_SECCOMP, SET_MODE_FILTER, NEW_LISTENER, whole)
        if made < 0:
            os._exit(126)
        # The child must make no call that the filter asks about before we have the listener.
        self.shared[:16] = struct.pack("qq", os.getpid(), made)
        while self.shared[16] == 0:
            time.sleep(0.0005)

    def take_listener(self):
        """Takes over the child's descriptor, which its exec closes."""
        deadline = time.monotonic() + 10
        pid = 0
        while pid == 0 and time.monotonic() < deadline:
            time.sleep(0.0005)
            pid, number = struct.unpack("qq", self.shared[:16])
        with_pid = os.pidfd_open(pid)
        self.listener = libc.syscall(SYS_PIDFD_GETFD, with_pid, number, 0)
        os.close(with_pid)
        self.shared[16] = 1

    def serve(self):
        poller = select.poll()
        poller.register(self.listener, select.POLLIN)
        while True:
            for _, events in poller.poll():
                if events & select.POLLHUP:
                    return
            asked = bytearray(80)
            with contextlib.suppress(OSError):  # the process was killed meanwhile
                fcntl.ioctl(self.listener, RECEIVE, asked)
                self.answer(asked)

    def answer(self, asked):
        ticket, pid, _, number, _, _, *arguments = struct.unpack("QIIiIQ6Q", asked)
        error = self.judge(pid, NAMES[number], arguments)
        flags = GO_ON if error == 0 else 0
        fcntl.ioctl(self.listener, ANSWER, struct.pack("QqiI", ticket, 0, -error, flags))

    def judge(self, pid, call, arguments):
        """Returns the errno with which the call fails, or 0."""
        if call == "prlimit64":
            # Raising the limit of files is the first thing that the daemon does.
            self.is_armed = self.is_armed or (arguments[1] == SET_FILE_LIMIT and arguments[2] != 0)
            return 0
        if not self.is_armed:
            return 0
        kind = self.kind(pid, call, arguments)
        if kind is None:
            return 0
        key = (self.phase, call, kind)
        self.counts[key] += 1
        if self.struck or self.fault is None:
            return 0
        if self.fault.place != Place(*key, self.counts[key]):
            return 0
        self.struck = True
        return self.fault.error

    @staticmethod
    def kind(pid, call, arguments):
        if call in ON_DESCRIPTOR:
            return kind_of_descriptor(pid, arguments[0])
        if call == "epoll_ctl":
            return {1: "add", 2: "del", 3: "mod"}[arguments[1]]
        if call == "mmap":
            mapped = ctypes.c_int(arguments[4] & 0xFFFFFFFF).value
            if mapped >= 0:
                return kind_of_descriptor(pid, mapped)
            return "stack" if arguments[3] & FD_MAP_STACK else None  # otherwise it is malloc's
        return ""
