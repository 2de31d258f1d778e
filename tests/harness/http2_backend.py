"""A proxy backend that speaks HTTP/2, based on python-h2."""

import contextlib
import socket
import threading

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.settings


class Http2Back:
    """Records each request (head, body, trailers), then answers with `answers`: a function of this
    backend, the connection's state, the stream and the request. Data that the state holds when the
    function returns is sent; False ends the connection. With `secure`, TLS negotiates the version:
    `serve_http1`, a function of the socket, serves HTTP/1.1 connections. `opens` is the status for
    clients that open a WebSocket over HTTP/2; if it is set, the backend announces support for
    that."""

    def __init__(self, answers, most=100, secure=None, serve_http1=None, opens=None):
        self.answers, self.most = answers, most
        self.secure, self.serve_http1, self.opens = secure, serve_http1, opens
        self.requests, self.connections, self.together = [], 0, 0
        self.server = socket.create_server(("127.0.0.1", 0))
        self.where = f"127.0.0.1:{self.server.getsockname()[1]} http2"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                one = self.server.accept()[0]
                self.connections += 1
                threading.Thread(target=self.serve, args=(one,), daemon=True).start()

    def serve(self, one):
        if self.secure is None:
            return self.serve_http2(one)
        with contextlib.suppress(OSError):
            one = self.secure.wrap_socket(one, server_side=True)
            if one.selected_alpn_protocol() == "h2":
                self.serve_http2(one)
            elif self.serve_http1 is not None:
                self.serve_http1(one)
        one.close()

    def serve_http2(self, one):
        state = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
        # Settings that are set later take effect before the client has received them.
        state.local_settings = h2.settings.Settings(client=False, initial_values={
            h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS: self.most,
            h2.settings.SettingCodes.ENABLE_CONNECT_PROTOCOL: int(self.opens is not None)})
        state.initiate_connection()
        open_ = {}
        with contextlib.suppress(OSError, h2.exceptions.ProtocolError), one:
            while True:
                one.sendall(state.data_to_send())
                data = one.recv(65536)
                if not data:
                    return
                for event in state.receive_data(data):
                    if isinstance(event, h2.events.RequestReceived):
                        head = {name.decode(): value.decode() for name, value in event.headers}
                        open_[event.stream_id] = {"head": head, "body": b"", "trailers": {}}
                        self.together = max(self.together, len(open_))
                        if head[":method"] == "CONNECT":
                            self.requests.append(open_.pop(event.stream_id))
                            state.send_headers(event.stream_id, [(":status", str(self.opens))],
                                               end_stream=True)
                    elif isinstance(event, h2.events.DataReceived):
                        open_[event.stream_id]["body"] += event.data
                        state.acknowledge_received_data(event.flow_controlled_length,
                                                        event.stream_id)
                    elif isinstance(event, h2.events.TrailersReceived):
                        open_[event.stream_id]["trailers"] = {
                            name.decode(): value.decode() for name, value in event.headers}
                    elif isinstance(event, h2.events.StreamReset):
                        open_.pop(event.stream_id, None)
                    elif isinstance(event, h2.events.StreamEnded):
                        request = open_.pop(event.stream_id)
                        self.requests.append(request)
                        goes_on = self.answers(state, event.stream_id, request)
                        one.sendall(state.data_to_send())
                        if goes_on is False:
                            one.shutdown(socket.SHUT_RDWR)
                            return

    def close(self):
        with contextlib.suppress(OSError):
            self.server.shutdown(socket.SHUT_RDWR)
        self.server.close()


def ok(state, stream, _request):
    state.send_headers(stream, [(":status", "200"), ("content-length", "2")])
    state.send_data(stream, b"ok", end_stream=True)
