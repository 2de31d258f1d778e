"""An HTTP/2 client based on python-h2, whose streams may be WebSockets by wsproto (RFC 8441)."""

import socket
import ssl

import h2.config
import h2.connection
import h2.events
import h2.settings
from hyperframe.frame import GoAwayFrame
from wsproto.connection import Connection, ConnectionType
from wsproto.events import BytesMessage, TextMessage
from wsproto.extensions import PerMessageDeflate

from strata_daemon import PATIENCE
from talker import address_of


class Http2:
    """An HTTP/2 connection on which WebSockets are opened."""

    def __init__(self, url, trust=None, room=None):
        family, kind, address = address_of(url)
        self.socket = socket.socket(family, kind)
        if room:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(address)
        if trust:
            context = ssl.create_default_context(cafile=trust)
            context.set_alpn_protocols(["h2"])
            self.socket = context.wrap_socket(self.socket, server_hostname="localhost")
        self.state = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True))
        # h2 treats GOAWAY as the end of the connection; streams continue after it
        # (RFC 9113 section 6.8).
        self.state._frame_dispatch_table[GoAwayFrame] = self.take_farewell
        self.state.initiate_connection()
        self.heads, self.sockets, self.ended = {}, {}, {}
        self.bodies = {}
        self.farewell = None  # the code of the server's GOAWAY
        self.is_over = False
        self.flush()
        setting = h2.settings.SettingCodes.ENABLE_CONNECT_PROTOCOL
        self.until(lambda: self.state.remote_settings.get(setting) == 1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def flush(self):
        self.socket.sendall(self.state.data_to_send())

    def until(self, done):
        while not done():
            data = self.socket.recv(65536)
            self.is_over = not data
            assert data or done(), "the server has ended the connection"
            for event in self.state.receive_data(data):
                self.take(event)
            self.flush()

    def take(self, event):
        if isinstance(event, h2.events.ResponseReceived):
            self.heads[event.stream_id] = dict(event.headers)
        elif isinstance(event, h2.events.DataReceived):
            self.state.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            if event.stream_id in self.sockets:
                self.sockets[event.stream_id].feed(event.data)
            else:
                self.bodies[event.stream_id] = self.bodies.get(event.stream_id, b"") + event.data
        elif isinstance(event, h2.events.StreamEnded):
            self.ended.setdefault(event.stream_id, "end")
        elif isinstance(event, h2.events.StreamReset):
            self.ended.setdefault(event.stream_id, event.error_code)

    def take_farewell(self, frame):
        self.farewell = frame.error_code
        return [], []

    def request(self, method, path, more=(), end=True):
        stream = self.state.get_next_available_stream_id()
        self.state.send_headers(stream, [
            (":method", method), (":scheme", "http"), (":path", path), (":authority", "localhost"),
            *more], end_stream=end)
        self.flush()
        return stream

    def ask(self, more=(), end=False, protocol="websocket"):
        stream = self.state.get_next_available_stream_id()
        self.state.send_headers(stream, [
            (":method", "CONNECT"), (":protocol", protocol), (":scheme", "http"), (":path", "/"),
            (":authority", "localhost"), ("sec-websocket-version", "13"), *more], end_stream=end)
        self.flush()
        self.until(lambda: stream in self.heads)
        return stream

    def status(self, *arguments, **more):
        return int(self.heads[self.ask(*arguments, **more)][b":status"])

    def open(self, more=(), deflated=False):
        offer = PerMessageDeflate()
        if deflated:
            more = [*more, ("sec-websocket-extensions", f"permessage-deflate; {offer.offer()}")]
        stream = self.ask(more)
        head = self.heads[stream]
        assert head[b":status"] == b"200", head
        if deflated:
            offer.finalize(head[b"sec-websocket-extensions"].decode())
        self.sockets[stream] = WebSocket(self, stream, [offer] if deflated else [])
        return self.sockets[stream]


class WebSocket:
    """One stream of an HTTP/2 connection."""

    def __init__(self, on, stream, extensions):
        self.on = on
        self.stream = stream
        self.state = Connection(ConnectionType.CLIENT, extensions)
        self.events = []
        self.parts = ""
        self.size = 0  # bytes on the wire

    def feed(self, data):
        if not data:
            return
        self.size += len(data)
        self.state.receive_data(data)
        for event in self.state.events():
            if isinstance(event, TextMessage):
                self.parts += event.data
                if not event.message_finished:
                    continue
                self.events.append(self.parts)
                self.parts = ""
            elif isinstance(event, BytesMessage):
                self.events.append(bytes(event.data))
            else:
                self.events.append(event)

    def send(self, event, end=False):
        self.send_bytes(self.state.send(event), end)

    def send_bytes(self, data, end=False):
        self.on.state.send_data(self.stream, data, end_stream=end)
        self.on.flush()

    def say(self, text):
        self.send(TextMessage(data=text))

    def hear(self):
        self.on.until(lambda: self.events)
        return self.events.pop(0)

    def ended(self):
        """Returns how the server ended the stream: "end", or the code of a reset."""
        self.on.until(lambda: self.stream in self.on.ended)
        return self.on.ended[self.stream]
