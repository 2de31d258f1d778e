"""The actions of a hostile neighbour. Each role is a process of its own that prints what it tried
and what it got: python3 stranger.py ROLE SECONDS JSON. Roles on the same machine run as `nobody`,
those that forge packets in another network namespace."""

import collections
import contextlib
import ctypes
import itertools
import json
import os
import pathlib
import random
import select
import socket
import struct
import sys
import time

NOBODY = 65534


def links(until, folders, done):
    """Tries everything that a user can try with another user's files."""
    for number in itertools.count():
        if time.monotonic() > until:
            return
        for folder in map(pathlib.Path, folders):
            bait = pathlib.Path(f"/tmp/strata-bait-{os.getpid()}-{number}")
            for name in ["", "runtimes", "runtimes/echo.json", "runtimes/new.json", "tmp/echo.json",
                         "lock", "control.sock", "daemon.log", "db.aof"]:
                path = folder / name
                for deed in [lambda p=path: p.symlink_to("/etc/passwd"),
                             lambda p=path, b=bait: os.link(p, b),
                             lambda p=path, b=bait: p.rename(b),
                             lambda p=path: p.unlink(), lambda p=path: p.mkdir(),
                             lambda p=path: p.write_bytes(b"x"), lambda p=path: p.read_bytes(),
                             lambda p=path: os.listdir(p), lambda p=path: p.chmod(0o777),
                             lambda p=path: os.mkfifo(p), lambda p=path: os.truncate(p, 0)]:
                    done["tried"] += 1
                    with contextlib.suppress(OSError):
                        deed()
                        # An open folder may be listed, and its readable files may be read.
                        done["allowed"] += 1


def control(until, where, done):
    """Speaks to the control socket, and tries to take its places."""
    while time.monotonic() < until:
        with socket.socket(socket.AF_UNIX) as one:
            one.settimeout(1)
            done["tried"] += 1
            with contextlib.suppress(OSError):
                one.connect(where)
                one.sendall(b"DELETE /v1/runtimes/echo HTTP/1.1\r\nHost: s\r\n\r\n")
                if b" 20" in one.recv(100)[:13]:
                    done["allowed"] += 1


def hold(until, ports, done):
    """Sends partial requests that it never completes."""
    held = []
    begun = [b"GET / HTTP/1.1\r\nHost: ", b"*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1000\r\nx",
             b"half a line"]
    while time.monotonic() < until:
        if len(held) < 800:
            for port in ports:
                with contextlib.suppress(OSError):
                    held.append(socket.create_connection(("127.0.0.1", port), timeout=1))
                    held[-1].sendall(random.choice(begun))
                    done["held"] += 1
        else:
            time.sleep(0.05)
            gone = [each for each in held if select.select([each], [], [], 0)[0]]
            for each in gone[:50]:
                each.close()
                held.remove(each)


def talk(until, ports, done, words):
    """Opens connections that send what `words()` returns, fast, and read nothing for a while."""
    while time.monotonic() < until:
        with contextlib.suppress(OSError), \
                socket.create_connection(("127.0.0.1", random.choice(ports)), timeout=1) as one:
            done["connections"] += 1
            one.settimeout(0.2)
            for _ in range(random.randrange(1, 40)):
                one.sendall(words())
            if random.random() < 0.5:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def flood(until, ports, done):
    page = b"GET / HTTP/1.1\r\nHost: s\r\n\r\n" * 100
    lines = b"".join(b"%0*d\n" % (size, 7) for size in (1, 100, 10_000, 50_000))
    commands = b"PING\r\n" * 1000
    talk(until, ports, done, lambda: random.choice([page, lines, commands]))


def garbage(until, ports, done):
    talk(until, ports, done, lambda: random.randbytes(random.choice([1, 100, 5000])))


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    total = (total & 0xFFFF) + (total >> 16)
    return 0xFFFF & ~(total + (total >> 16))


def forged(sender, target, protocol, body):
    """Returns an IPv4 packet (RFC 791) with a forged sender."""
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(body), 0, 0, 64, protocol, 0,
                       socket.inet_aton(sender), socket.inet_aton(target))
    return head + body


def somebody():
    return f"192.0.2.{random.randrange(3, 254)}"


def datagrams(until, target, ports, done):
    """Sends datagrams from other hosts' addresses, empty and not."""
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW) as raw:
        while time.monotonic() < until:
            words = random.choice([b"", b"x", b"a\nb\n", random.randbytes(1000)])
            head = struct.pack("!HHHH", random.randrange(1, 65535), random.choice(ports),
                               8 + len(words), 0)
            with contextlib.suppress(OSError):
                raw.sendto(forged(somebody(), target, 17, head + words), (target, 0))
                done["datagrams"] += 1
            if done["datagrams"] % 20 == 0:
                time.sleep(0.001)


def syns(until, target, ports, done):
    """Opens half-open connections."""
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW) as raw:
        while time.monotonic() < until:
            sender = somebody()
            head = struct.pack("!HHIIBBHHH", random.randrange(1024, 65535), random.choice(ports),
                               random.getrandbits(32), 0, 0x50, 2, 65535, 0, 0)
            false = socket.inet_aton(sender) + socket.inet_aton(target) + struct.pack("!BBH", 0, 6,
                                                                                      len(head))
            head = head[:16] + struct.pack("!H", checksum(false + head)) + head[18:]
            with contextlib.suppress(OSError):
                raw.sendto(forged(sender, target, 6, head), (target, 0))
                done["syns"] += 1
            if done["syns"] % 20 == 0:
                time.sleep(0.001)


ROLES = {"links": links, "control": control, "hold": hold, "flood": flood, "garbage": garbage,
         "datagrams": datagrams, "syns": syns}


def main():
    role, seconds, what = sys.argv[1], float(sys.argv[2]), json.loads(sys.argv[3])
    # It ends with its parent process.
    ctypes.CDLL(None).prctl(1, 9, 0, 0, 0)
    if what.pop("as_nobody", True):
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    done = collections.Counter()
    ROLES[role](time.monotonic() + seconds, done=done, **what)
    print(json.dumps({"role": role, **done}))


if __name__ == "__main__":
    main()
