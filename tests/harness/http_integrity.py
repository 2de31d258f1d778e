"""Does what integrity.py does, for HTTP: bodies of random sizes in both directions, with a length
or in chunks, several on a connection, with breaks inside them. By hand:

    STRATA_BIN=build/release/strata STRATA_LOOP=epoll python3 tests/harness/http_integrity.py 1000
"""

import asyncio
import collections
import contextlib
import random
import re
import socket

from dataclasses import dataclass

import integrity
from integrity import PATIENCE, RESET, Heard
from talker import port_of

MOST_EXCHANGES = 4


@dataclass
class Body:
    """What one side sends in one exchange, and how."""

    bytes: bytes
    is_chunked: bool
    breaks_at: int | None  # a position inside the body
    by_reset: bool
    dice: random.Random

    @staticmethod
    def of(dice, most):
        body = dice.randbytes(int(most * dice.random() ** 3))
        breaks = len(body) > 1 and dice.random() < 0.05
        return Body(body, dice.random() < 0.5, dice.randrange(len(body)) if breaks else None,
                    dice.random() < 0.5, random.Random(dice.random()))

    def framing(self):
        return ("Transfer-Encoding: chunked" if self.is_chunked
                else f"Content-Length: {len(self.bytes)}")

    async def send(self, writer):
        """Returns whether the whole body was sent."""
        at, end = 0, len(self.bytes) if self.breaks_at is None else self.breaks_at
        while at < end:
            size = min(self.dice.randrange(1, 65536), end - at)
            piece = self.bytes[at:at + size]
            writer.write(b"%x\r\n%s\r\n" % (size, piece) if self.is_chunked else piece)
            await writer.drain()
            if self.dice.random() < 0.05:
                await asyncio.sleep(self.dice.random() * 0.05)
            at += size
        if self.breaks_at is None:
            writer.write(b"0\r\n\r\n" if self.is_chunked else b"")
            await writer.drain()
            return True
        if self.by_reset:
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            writer.transport.abort()
        else:
            writer.close()
        return False


async def read_head(reader):
    """Returns the first line, and the fields as text; None at the end of the stream."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (OSError, asyncio.IncompleteReadError):
        return None
    first, _, fields = head.decode("latin-1").partition("\r\n")
    return first, fields.lower()


async def read_body(reader, fields):
    pieces = []
    try:
        if "transfer-encoding: chunked" in fields:
            while size := int(await reader.readuntil(b"\r\n"), 16):
                await keep(reader, size, pieces)
                await reader.readexactly(2)
            await reader.readexactly(2)
        else:
            length = re.search(r"content-length: (\d+)", fields)
            await keep(reader, int(length[1]) if length else 0, pieces)
    except (OSError, asyncio.IncompleteReadError):
        return Heard(b"".join(pieces), is_whole=False)
    return Heard(b"".join(pieces), is_whole=True)


async def keep(reader, size, pieces):
    while size:
        piece = await reader.read(min(size, 65536))
        if not piece:
            raise asyncio.IncompleteReadError(b"", size)
        pieces.append(piece)
        size -= len(piece)


class Trial:
    def __init__(self, count, seed, most):
        self.plans = []
        for number in range(count):
            dice = random.Random(f"{seed} {number}")
            self.plans.append([(Body.of(dice, most), Body.of(dice, most))
                               for _ in range(dice.randrange(1, MOST_EXCHANGES + 1))])
        self.by_backends, self.by_clients = {}, {}
        self.statuses = collections.Counter()
        self.twice = []

    async def serve(self, reader, writer):
        with contextlib.suppress(asyncio.CancelledError):  # the proxy keeps it open to the end
            await self.answer_all(reader, writer)
        writer.close()

    async def answer_all(self, reader, writer):
        while head := await read_head(reader):
            first, fields = head
            place = tuple(map(int, re.match(r"POST /(\d+)/(\d+) ", first).groups()))
            heard = await read_body(reader, fields)
            if place in self.by_backends:
                self.twice.append(place)
            self.by_backends[place] = heard
            answer = self.plans[place[0]][place[1]][1]
            writer.write(f"HTTP/1.1 200 OK\r\n{answer.framing()}\r\n\r\n".encode())
            try:
                goes_on = heard.is_whole and await answer.send(writer)
            except OSError:
                goes_on = False
            if not goes_on:
                break

    async def connect(self, number, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for index, (question, _) in enumerate(self.plans[number]):
            writer.write((f"POST /{number}/{index} HTTP/1.1\r\nHost: h\r\n{question.framing()}"
                          "\r\n\r\n").encode())
            hearing = asyncio.ensure_future(self.hear(reader, (number, index)))
            with contextlib.suppress(OSError):
                await question.send(writer)
            if not await hearing:
                break
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()

    async def hear(self, reader, place):
        """Reads a response. Returns whether another exchange may follow."""
        head = await read_head(reader)
        if head is None:
            return False
        status = int(head[0].split()[1])
        self.statuses[status] += 1
        heard = await read_body(reader, head[1])
        if status == 200:
            self.by_clients[place] = heard
        return status == 200 and heard.is_whole and "connection: close" not in head[1]

    async def run(self, make_proxy):
        backend = await asyncio.start_server(self.serve, "127.0.0.1", 0, backlog=4096)
        async with backend:
            port = make_proxy(backend.sockets[0].getsockname()[1])
            await asyncio.wait_for(
                asyncio.gather(*(self.connect(number, port) for number in range(len(self.plans)))),
                PATIENCE)
        return self.report()

    def judge(self, number):
        """Yields what is wrong with a connection: there must be no fault before the
        exchange that a side broke."""
        for index, (question, answer) in enumerate(self.plans[number]):
            place = number, index
            is_broken = question.breaks_at is not None or answer.breaks_at is not None
            for name, heard, said in (("backend", self.by_backends.get(place), question),
                                      ("client", self.by_clients.get(place), answer)):
                if heard is None:
                    if not is_broken:
                        yield f"{place}: the {name} heard nothing"
                elif not said.bytes.startswith(heard.bytes):
                    yield f"{place}: the {name} heard what was not said"
                elif heard.is_whole and (said.breaks_at is not None
                                         or len(heard.bytes) != len(said.bytes)):
                    yield f"{place}: the {name} takes a part for the whole"
                elif not heard.is_whole and not is_broken:
                    yield f"{place}: it broke for the {name}, though nobody broke it"
            if is_broken:
                return

    def report(self):
        wrong = [each for number in range(len(self.plans)) for each in self.judge(number)]
        wrong += [f"{place}: the backend got it twice" for place in self.twice]
        heard = [*self.by_backends.values(), *self.by_clients.values()]
        return {"connections": len(self.plans), "exchanges": sum(map(len, self.plans)),
                "answers": dict(self.statuses), "whole": sum(each.is_whole for each in heard),
                "cut": sum(not each.is_whole for each in heard),
                "bytes_heard": sum(len(each.bytes) for each in heard), "wrong": wrong}


def proxied(daemon, count, seed, most=1 << 20, **options):
    """Returns the report of `count` connections through an HTTP proxy of `daemon`."""
    def make_proxy(backend_port):
        # The breaks must not open a backend's circuit.
        made = daemon.create("proxy", "integrity", listen=["http://127.0.0.1:0"],
                             backend=[f"127.0.0.1:{backend_port}"], max_connections=2 * count,
                             circuit_failures=0, circuit_share=0, **options)
        return port_of(made["endpoints"][0])

    report = asyncio.run(Trial(count, seed, most).run(make_proxy))
    daemon.remove("integrity")
    return report


if __name__ == "__main__":
    integrity.main(proxied)
