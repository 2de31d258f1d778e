"""Runs a program that cannot open IPv6 sockets, as on a kernel without IPv6: python3
without_ipv6.py PROGRAM ARGUMENT..."""

import ctypes
import errno
import os
import platform
import socket
import struct
import sys

SOCKET_CALL = {"x86_64": 41, "aarch64": 198}[platform.machine()]
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, MODE_FILTER = 38, 22, 2
LOAD, EQUALS, RETURN = 0x20, 0x15, 0x06
ALLOW, FAIL = 0x7FFF0000, 0x00050000
NUMBER, FIRST_ARGUMENT = 0, 16  # offsets in seccomp_data


def step(code, then, otherwise, value):
    return struct.pack("HBBI", code, then, otherwise, value)


def refuse_ipv6():
    program = b"".join([
        step(LOAD, 0, 0, NUMBER), step(EQUALS, 0, 3, SOCKET_CALL),
        step(LOAD, 0, 0, FIRST_ARGUMENT), step(EQUALS, 0, 1, socket.AF_INET6),
        step(RETURN, 0, 0, FAIL | errno.EAFNOSUPPORT), step(RETURN, 0, 0, ALLOW)])
    steps = ctypes.create_string_buffer(program, len(program))
    whole = struct.pack("HxxxxxxQ", len(program) // 8, ctypes.addressof(steps))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if libc.prctl(PR_SET_SECCOMP, MODE_FILTER, ctypes.c_char_p(whole), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "install a seccomp filter")


if __name__ == "__main__":
    refuse_ipv6()
    os.execv(sys.argv[1], sys.argv[1:])
