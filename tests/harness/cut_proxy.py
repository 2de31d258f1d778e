"""A TCP forwarder whose connections can be cut, or can lose their link while they stay open."""

import socket
import threading


class CutProxy:
    """Forwards connections to `port` to `target`, a port of 127.0.0.1."""

    def __init__(self, target):
        self.target = target
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.lock = threading.Lock()
        self.pairs = []
        self.accepted = 0
        self.is_paused = False
        self.shut_out_host = None
        self.is_linked = threading.Event()  # without a link, data and ends of connections wait
        self.is_linked.set()
        self.left = None  # bytes from the target that still pass; None: all
        self.stall_mark = None
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near, (host, _) = self.listener.accept()
            except OSError:
                return
            if self.is_paused or host == self.shut_out_host:
                near.close()
                continue
            try:
                far = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                near.close()
                continue
            with self.lock:
                if host == self.shut_out_host:  # since it was accepted
                    near.close()
                    far.close()
                    continue
                self.pairs.append((near, far, host))
                self.accepted += 1
            for source, sink, admit in ((near, far, bytes), (far, near, self.admit)):
                threading.Thread(target=self.forward, args=(source, sink, admit),
                                 daemon=True).start()

    def forward(self, source, sink, admit):
        try:
            while not self.is_paused:
                data = source.recv(1 << 16)
                self.is_linked.wait()
                if not (data := admit(data)):
                    break
                mark = self.stall_mark
                if admit == self.admit and mark is not None and mark in data:
                    sink.sendall(data[:data.index(mark) + len(mark)])
                    return
                sink.sendall(data)
        except OSError:
            pass
        for each in (source, sink):
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def admit(self, data):
        """Returns the part of the target's data that may pass. Behind the last byte the link is
        paused, and its end reaches the follower after the data."""
        with self.lock:
            if self.left is None:
                return data
            data = data[:self.left]
            self.left -= len(data)
            self.is_paused = self.is_paused or self.left == 0
        return data

    def cut(self, host=None):
        """Breaks every connection, or those from one host; data in transit is lost."""
        with self.lock:
            gone = [pair for pair in self.pairs if host in (None, pair[2])]
            self.pairs = [pair for pair in self.pairs if pair not in gone]
        for near, far, _ in gone:
            for each in (near, far):
                try:
                    each.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
                each.close()

    def pause(self):
        """Breaks every connection, and accepts no data until `resume`."""
        self.is_paused = True
        self.cut()

    def pause_after(self, count):
        """Forwards `count` more bytes from the target, then pauses."""
        with self.lock:
            self.left = count

    def shut_out(self, host):
        """Breaks the connections from one host, and accepts no more of them until `resume`."""
        with self.lock:
            self.shut_out_host = host
        self.cut(host)

    def hold(self):
        """Keeps every connection open, and all data and ends of connections until `resume`: to
        both sides, the other one is silent."""
        self.is_linked.clear()

    def stall_behind(self, mark):
        """From now on a connection on which the target sends these bytes is silent behind them,
        for ever, and stays open; after `resume`, others are not."""
        self.stall_mark = mark

    def resume(self):
        with self.lock:
            self.left = None
        self.stall_mark = None
        self.is_paused = False
        self.shut_out_host = None
        self.is_linked.set()

    def close(self):
        self.listener.close()
        self.cut()
        self.is_linked.set()
