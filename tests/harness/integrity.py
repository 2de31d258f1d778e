"""Compares every byte that a proxy forwards: many connections at once, random sizes in both
directions, with half-closes, stalls and resets at random moments. By hand, on either loop:

    STRATA_BIN=build/release/strata STRATA_LOOP=epoll python3 tests/harness/integrity.py 1000

Each connection has a plan, made from the seed and its number, which both sides know: the client
first sends the backend its number. A whole stream must be equal; a reset stream may be cut short,
but its bytes must not differ, and neither side may take it for the whole.
"""

import asyncio
import collections
import contextlib
import json
import os
import pathlib
import random
import resource
import socket
import struct
import sys
import tempfile
from dataclasses import dataclass

from strata_daemon import Daemon
from talker import port_of

NUMBER = struct.Struct("!I")
PATIENCE = 120
RESET = struct.pack("ii", 1, 0)


@dataclass
class Side:
    """What one side of a connection does."""

    says: bytes
    breaks_at: int | None  # resets the connection after it has sent this many bytes
    stalls: float          # probability of a pause between two pieces
    dice: random.Random

    @staticmethod
    def of(seed, number, name, most):
        dice = random.Random(f"{seed} {number} {name}")
        says = dice.randbytes(int(most * dice.random() ** 3))
        breaks = len(says) > 1 and dice.random() < 0.1
        return Side(says, dice.randrange(len(says)) if breaks else None,
                    dice.choice([0, 0, 0.05, 0.3]), dice)

    async def pause(self):
        if self.dice.random() < self.stalls:
            await asyncio.sleep(self.dice.random() * 0.05)


@dataclass
class Heard:
    """What a side received, and whether the stream ended as a whole one does."""

    bytes: bytes
    is_whole: bool


async def say(writer, side):
    at = 0
    end = len(side.says) if side.breaks_at is None else side.breaks_at
    while at < end:
        size = min(side.dice.randrange(1, 65536), end - at)
        writer.write(side.says[at:at + size])
        await writer.drain()
        await side.pause()
        at += size
    if side.breaks_at is None:
        writer.write_eof()
        return
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    writer.transport.abort()


async def hear(reader, side):
    pieces = []
    try:
        while piece := await reader.read(side.dice.randrange(1, 65536)):
            pieces.append(piece)
            await side.pause()
    except OSError:
        return Heard(b"".join(pieces), is_whole=False)
    return Heard(b"".join(pieces), is_whole=True)


async def converse(reader, writer, side):
    """Runs both directions at once."""
    hearing = asyncio.ensure_future(hear(reader, side))
    with contextlib.suppress(OSError):
        await say(writer, side)
    heard = await hearing
    heard.is_whole = heard.is_whole and side.breaks_at is None  # its own reset looks like an end
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
    return heard


def judge(number, plan, client_heard, backend_heard):
    """Yields what is wrong with the data that the two sides of a connection received."""
    client, backend = plan
    is_broken = client.breaks_at is not None or backend.breaks_at is not None
    for name, heard, said, breaks_at in (("client", client_heard, backend.says, backend.breaks_at),
                                         ("backend", backend_heard, client.says, client.breaks_at)):
        if heard is None:
            if not is_broken:
                yield f"connection {number}: the {name} heard nothing of it"
        elif not said.startswith(heard.bytes):
            yield f"connection {number}: the {name} heard what was not said"
        elif heard.is_whole and len(heard.bytes) != len(said):
            yield (f"connection {number}: the {name} takes {len(heard.bytes)} of {len(said)} "
                   "bytes for the whole")
        elif not is_broken and not heard.is_whole:
            yield f"connection {number}: it broke for the {name}, though nobody broke it"


class Trial:
    """`count` connections at once, through the proxy at `port` to the backend at `backend_port`."""

    def __init__(self, count, seed, most):
        self.plans = [(Side.of(seed, number, "client", most),
                       Side.of(seed, number, "backend", most)) for number in range(count)]
        self.by_backends = {}

    async def serve(self, reader, writer):
        try:
            number, = NUMBER.unpack(await reader.readexactly(NUMBER.size))
        except (OSError, asyncio.IncompleteReadError):
            writer.close()  # its client closed at once
            return
        self.by_backends[number] = await converse(reader, writer, self.plans[number][1])

    async def connect(self, number, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(NUMBER.pack(number))
        return await converse(reader, writer, self.plans[number][0])

    async def run(self, make_proxy):
        backend = await asyncio.start_server(self.serve, "127.0.0.1", 0, backlog=4096)
        async with backend:
            port = make_proxy(backend.sockets[0].getsockname()[1])
            heard = await asyncio.wait_for(
                asyncio.gather(*(self.connect(number, port) for number in range(len(self.plans)))),
                PATIENCE)
            for _ in range(500):
                if all(number in self.by_backends
                       or any(side.breaks_at is not None for side in plan)
                       for number, plan in enumerate(self.plans)):
                    break
                await asyncio.sleep(0.02)
        return self.report(heard)

    def report(self, heard):
        wrong = [each for number, plan in enumerate(self.plans)
                 for each in judge(number, plan, heard[number], self.by_backends.get(number))]
        ends = collections.Counter(
            "reset by the client" if client.breaks_at is not None else
            "reset by the backend" if backend.breaks_at is not None else "whole"
            for client, backend in self.plans)
        return {"connections": len(self.plans), **ends, "wrong": wrong,
                "bytes_said": sum(len(side.says) for plan in self.plans for side in plan),
                "bytes_heard": sum(len(each.bytes)
                                   for each in [*heard, *self.by_backends.values()])}


def proxied(daemon, count, seed, most=1 << 20, **options):
    """Returns the report of `count` connections through a proxy of `daemon`."""
    def make_proxy(backend_port):
        made = daemon.create("proxy", "integrity", listen=["tcp://127.0.0.1:0"],
                             backend=[f"127.0.0.1:{backend_port}"], max_connections=2 * count,
                             **options)
        return port_of(made["endpoints"][0])

    report = asyncio.run(Trial(count, seed, most).run(make_proxy))
    daemon.remove("integrity")
    return report


def main(proxied):
    count = int(sys.argv[1])
    seed = int(os.environ.get("STRATA_SEED", random.randrange(1 << 32)))
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with tempfile.TemporaryDirectory() as folder:
        daemon = Daemon(pathlib.Path(folder) / "daemon").start()
        try:
            report = proxied(daemon, count, seed)
        finally:
            daemon.close()
    print(json.dumps({"seed": seed, **report}, indent=2))
    sys.exit(1 if report["wrong"] else 0)


if __name__ == "__main__":
    main(proxied)
