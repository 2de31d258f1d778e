"""A cache and a real redis-server that receive the same requests: their replies and keyspace events
must be the same bytes."""

import os
import random

from resp_wire import Wire, split_replies

COUNT = int(os.environ.get("STRATA_CACHE_COMMANDS", "20000"))
CHUNK = 200
SAME_VERSION = ("--redis-version", "7.0")  # options of a cache: as the real server beside it


def new_seed():
    seed = int(os.environ.get("STRATA_SEED", random.randrange(1 << 32)))
    print(f"STRATA_SEED={seed}")
    return seed


def as_it_is(_request, reply):
    return reply


def assert_same_replies(requests, ours, theirs, seed, normalised=as_it_is, shown=12):
    """Raises an error for the first request whose replies differ, if there is one; `normalised`
    returns a reply without what may differ."""
    if ours == theirs:
        return
    for number, (request, our, their) in enumerate(
            zip(requests, split_replies(ours), split_replies(theirs), strict=True)):
        if normalised(request, our) == normalised(request, their):
            continue
        before = "\n".join(f"  {each!r}"[:200] for each in requests[max(0, number - shown):number])
        raise AssertionError(f"seed {seed}: behind\n{before}\nthe request {request!r}\n"
                             f"gave {our[:900]!r}\nand redis {their[:900]!r}")


class Listener:
    """Receives all keyspace events of one server."""

    def __init__(self, port):
        self.wire = Wire(port)
        self.wire.ask("CONFIG", "SET", "notify-keyspace-events", "KEAmn")
        self.wire.send("PSUBSCRIBE", "__key*")
        self.wire.receive()

    def events_until(self, mark):
        received = []
        while not received or mark not in received[-1]:
            received.append(self.wire.receive())
        return received

    def close(self):
        self.wire.close()


class Twins:
    """Connections to both servers of `ports`, with a listener each."""

    def __init__(self, ports, protocol, seed=None):
        self.seed = seed
        self.wires = [Wire(port, protocol) for port in ports]
        self.listeners = [Listener(port) for port in ports]
        self.marks = 0

    def compare(self, requests):
        """Sends the requests to both servers, and compares replies and events."""
        assert_same_replies(requests, *(wire.ask_all(requests) for wire in self.wires), self.seed)
        self.marks += 1
        mark = b"end of part %d" % self.marks
        for wire in self.wires:
            wire.ask("PUBLISH", "__key_mark", mark)
        ours, theirs = (each.events_until(mark) for each in self.listeners)
        assert ours == theirs, f"seed {self.seed}"

    def close(self):
        for each in self.wires + self.listeners:
            each.close()
