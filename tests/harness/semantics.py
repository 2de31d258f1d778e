"""Both ends of a proxy, each in HTTP/1.1 or HTTP/2: a backend that answers as a row says, and a
client that records all that it receives."""

import contextlib
import dataclasses
import socket
import threading

import h2.config
import h2.connection
import h2.errors
import h2.events

from http_backend import Wire
from strata_daemon import PATIENCE

VERSIONS = ["1.1", "2"]
REASONS = {200: "OK", 204: "No Content"}


@dataclasses.dataclass
class Seen:
    """What a client received. `ending`: "end", or how the exchange broke off."""

    interim: list = dataclasses.field(default_factory=list)
    status: int = 0
    reason: str = ""
    fields: dict = dataclasses.field(default_factory=dict)
    body: bytes = b""
    trailers: dict = dataclasses.field(default_factory=dict)
    ending: str = "end"


@dataclasses.dataclass
class Asked:
    """A request, as a client sends it and as a backend reads it."""

    method: str = "GET"
    target: str = "/"
    fields: list = dataclasses.field(default_factory=list)
    body: bytes = b""
    trailers: list = dataclasses.field(default_factory=list)
    waits: bool = False  # for 100 Continue, before it sends its body
    host: str = "h"

    def field(self, name):
        return [value for known, value in self.fields if known == name]


# --- a backend: steps are ("interim", status, fields), ("head", status, fields), ("data", bytes),
# ("trailers", fields), ("end",), ("raw", bytes), ("refuse",), ("farewell",) and ("reset",)


class Http1Script:
    """An HTTP/1.1 backend. `early`: steps before it reads the body; `steps`: steps after the
    body."""

    def __init__(self, steps, early=(), first=None):
        self.steps, self.early, self.first = steps, list(early), first
        self.requests, self.connections, self.left = [], 0, threading.Event()
        self.server = socket.create_server(("127.0.0.1", 0))
        self.where = f"127.0.0.1:{self.server.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                one = self.server.accept()[0]
                self.connections += 1
                threading.Thread(target=self.serve, args=(one,), daemon=True).start()

    def serve(self, one):
        with contextlib.suppress(OSError, ValueError), one:
            wire = Wire(one)
            while True:
                head = wire.until(b"\r\n\r\n")
                start, *lines = head.decode("latin-1").split("\r\n")
                method, target, _ = start.split(" ")
                fields = [tuple(each.split(": ", 1)) for each in lines]
                asked = Asked(method, target, [(name.lower(), value) for name, value in fields])
                self.requests.append(asked)
                self.send(one, self.early, asked)
                if any(each[0] == "head" for each in self.early):
                    return
                self.read_body(wire, asked)
                if self.send(one, self.steps, asked) is False:
                    return
        self.left.set()

    @staticmethod
    def read_body(wire, asked):
        if asked.field("transfer-encoding"):
            while size := int(wire.until(b"\r\n"), 16):
                asked.body += wire.take(size)
                wire.take(2)
            while line := wire.until(b"\r\n"):
                asked.trailers.append(tuple(line.decode().split(": ", 1)))
        elif length := asked.field("content-length"):
            asked.body = wire.take(int(length[0]))

    @staticmethod
    def send(one, steps, asked):
        chunked = False
        for kind, *rest in steps:
            if kind in ("interim", "head"):
                status, fields = rest
                reason = REASONS.get(status, "Reason")
                text = f"HTTP/1.1 {status} {reason}\r\n"
                text += "".join(f"{name}: {value}\r\n" for name, value in fields)
                framed = any(name in ("content-length", "transfer-encoding")
                             for name, _ in fields)
                if kind == "head" and not framed and status not in (204, 304):
                    chunked = True
                    text += "transfer-encoding: chunked\r\n"
                one.sendall(text.encode() + b"\r\n")
                if asked.method == "HEAD" and kind == "head":
                    return None
            elif kind == "data":
                piece = rest[0]
                one.sendall(b"%x\r\n%s\r\n" % (len(piece), piece) if chunked else piece)
            elif kind == "raw":
                one.sendall(rest[0])
            elif kind in ("trailers", "end") and chunked:
                fields = rest[0] if rest else []
                one.sendall(b"0\r\n" + "".join(f"{name}: {value}\r\n" for name, value in
                                                fields).encode() + b"\r\n")
            elif kind == "reset":
                return False
        return None

    def close(self):
        with contextlib.suppress(OSError):
            self.server.shutdown(socket.SHUT_RDWR)
        self.server.close()


class Http2Script(Http1Script):
    """The same for HTTP/2. `first`: steps for the first request only."""

    def __init__(self, *arguments, **more):
        super().__init__(*arguments, **more)
        self.where += " http2"

    def serve(self, one):
        state = h2.connection.H2Connection(h2.config.H2Configuration(
            client_side=False, validate_outbound_headers=False,
            normalize_outbound_headers=False))
        state.initiate_connection()
        open_ = {}
        with contextlib.suppress(OSError, h2.exceptions.ProtocolError), one:
            while True:
                one.sendall(state.data_to_send())
                data = one.recv(65536)
                if not data:
                    break
                for event in state.receive_data(data):
                    self.take(state, event, open_)
                one.sendall(state.data_to_send())
                if state.state_machine.state == h2.connection.ConnectionState.CLOSED:
                    break
        self.left.set()

    def take(self, state, event, open_):
        if isinstance(event, h2.events.RequestReceived):
            head = [(name.decode(), value.decode()) for name, value in event.headers]
            pseudo = {name: value for name, value in head if name.startswith(":")}
            asked = Asked(pseudo[":method"], pseudo[":path"],
                          [each for each in head if not each[0].startswith(":")])
            asked.fields.append(("host", pseudo.get(":authority", "")))
            open_[event.stream_id] = asked
            self.requests.append(asked)
            self.act(state, event.stream_id, self.early, asked)
        elif isinstance(event, h2.events.DataReceived):
            open_[event.stream_id].body += event.data
            state.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        elif isinstance(event, h2.events.TrailersReceived):
            open_[event.stream_id].trailers = [
                (name.decode(), value.decode()) for name, value in event.headers]
        elif isinstance(event, h2.events.StreamEnded):
            steps = self.steps
            if self.first is not None:
                steps, self.first = self.first, None
            self.act(state, event.stream_id, steps, open_.pop(event.stream_id))
        elif isinstance(event, h2.events.StreamReset):
            self.left.set()

    @staticmethod
    def act(state, stream, steps, asked):
        for at, (kind, *rest) in enumerate(steps):
            if kind in ("interim", "head"):
                status, fields = rest
                kept = [each for each in fields if each[0] != "transfer-encoding"]
                ends = kind == "head" and (asked.method == "HEAD" or status in (204, 304)
                                           or steps[at + 1:] == [("end",)])
                state.send_headers(stream, [(":status", f"{status:03}"), *kept], end_stream=ends)
                if ends:
                    return
            elif kind == "data":
                state.send_data(stream, rest[0])
            elif kind == "trailers":
                state.send_headers(stream, rest[0], end_stream=True)
            elif kind == "end":
                state.end_stream(stream)
            elif kind == "refuse":
                state.reset_stream(stream, h2.errors.ErrorCodes.REFUSED_STREAM)
            elif kind == "farewell":
                state.close_connection(last_stream_id=stream - 2 if stream > 2 else 0)
            elif kind == "reset":
                state.reset_stream(stream, h2.errors.ErrorCodes.INTERNAL_ERROR)


def make_backend(version, *arguments, **more):
    return (Http1Script if version == "1.1" else Http2Script)(*arguments, **more)


# --- clients


def ask(version, port, asked):
    return (ask_http1 if version == "1.1" else ask_http2)(port, asked)


def head_of(text):
    start, *lines = text.decode("latin-1").split("\r\n")
    _, status, reason = (start + " ").split(" ", 2)
    fields = {}
    for name, value in (each.split(": ", 1) for each in lines):
        known = fields.get(name.lower())
        fields[name.lower()] = value if known is None else f"{known}, {value}"
    return int(status), reason.strip(), fields


def ask_http1(port, asked, version="1.1"):
    text = f"{asked.method} {asked.target} HTTP/{version}\r\nHost: {asked.host}\r\n"
    text += "".join(f"{name}: {value}\r\n" for name, value in asked.fields)
    body = b""
    if asked.trailers:
        text += "Transfer-Encoding: chunked\r\n"
        if asked.body:
            body = b"%x\r\n%s\r\n" % (len(asked.body), asked.body)
        body += b"0\r\n" + "".join(f"{name}: {value}\r\n" for name, value in
                                   asked.trailers).encode() + b"\r\n"
    elif asked.body:
        text += f"Content-Length: {len(asked.body)}\r\n"
        body = asked.body
    if asked.waits:
        text += "Expect: 100-continue\r\n"
    seen = Seen()
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as over:
        over.sendall(text.encode() + b"\r\n" + (b"" if asked.waits else body))
        wire = Wire(over)
        try:
            while True:
                status, seen.reason, fields = head_of(wire.until(b"\r\n\r\n"))
                if status // 100 != 1:
                    break
                seen.interim.append((status, fields))
                if status == 100 and asked.waits:
                    over.sendall(body)
            seen.status, seen.fields = status, fields
            read_answer(wire, asked, seen)
        except (OSError, ValueError):
            seen.ending = "broken"
    return seen


def read_answer(wire, asked, seen):
    if asked.method == "HEAD" or seen.status in (204, 304):
        return
    if "transfer-encoding" in seen.fields:
        while size := int(wire.until(b"\r\n"), 16):
            seen.body += wire.take(size)
            wire.take(2)
        while line := wire.until(b"\r\n"):
            name, value = line.decode().split(": ", 1)
            seen.trailers[name.lower()] = value
    elif "content-length" in seen.fields:
        seen.body = wire.take(int(seen.fields["content-length"]))
    else:
        while piece := wire.over.recv(65536):
            wire.rest += piece
        seen.body = wire.rest


def ask_http2(port, asked):
    state = h2.connection.H2Connection(h2.config.H2Configuration(
        client_side=True, validate_outbound_headers=False))
    state.initiate_connection()
    seen, ended = Seen(), False
    fields = [(":method", asked.method), (":scheme", "http"), (":path", asked.target),
              (":authority", asked.host), *((name.lower(), value) for name, value in asked.fields)]
    if asked.body and not asked.trailers:
        fields.append(("content-length", str(len(asked.body))))
    if asked.waits:
        fields.append(("expect", "100-continue"))
    has_more = bool(asked.body or asked.trailers)

    def send_body():
        if asked.body:
            state.send_data(1, asked.body, end_stream=not asked.trailers)
        if asked.trailers:
            state.send_headers(1, asked.trailers, end_stream=True)

    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as over:
        state.send_headers(1, fields, end_stream=not has_more)
        if has_more and not asked.waits:
            send_body()
        try:
            while not ended:
                over.sendall(state.data_to_send())
                data = over.recv(65536)
                if not data:
                    raise ConnectionError("it has ended")
                for event in state.receive_data(data):
                    ended = take_answer(state, event, seen) or ended
                    is_continue = isinstance(event, h2.events.InformationalResponseReceived) and (
                        seen.interim[-1][0] == 100)
                    if asked.waits and is_continue:
                        send_body()
        except (OSError, h2.exceptions.ProtocolError):
            seen.ending = "broken"
    return seen


def take_answer(state, event, seen):
    def texts():
        made = {}
        for name, value in event.headers:
            known = made.get(name.decode())
            made[name.decode()] = (value.decode() if known is None
                                   else f"{known}, {value.decode()}")
        return made
    if isinstance(event, h2.events.InformationalResponseReceived):
        head = texts()
        seen.interim.append((int(head.pop(":status")), head))
    elif isinstance(event, h2.events.ResponseReceived):
        seen.fields = texts()
        seen.status = int(seen.fields.pop(":status"))
    elif isinstance(event, h2.events.DataReceived):
        seen.body += event.data
        state.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
    elif isinstance(event, h2.events.TrailersReceived):
        seen.trailers = texts()
    elif isinstance(event, h2.events.StreamReset):
        seen.ending = "broken"
        return True
    elif isinstance(event, h2.events.StreamEnded):
        return True
    return False
