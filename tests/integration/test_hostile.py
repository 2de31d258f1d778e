"""The data path against hostile and unlucky clients."""

import contextlib
import os
import random
import re
import selectors
import signal
import socket
import struct
import threading
import time

import pytest

from strata_daemon import eventually
from talker import Peer, Talker


@pytest.fixture
def chance():
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    return random.Random(seed)


@pytest.mark.parametrize("framing", ["line", "length", "raw"])
def test_random_bytes_harm_nobody(daemon, chance, framing):
    [url] = daemon.server("s", framing=framing, max_message=65536, max_buffer=65536)
    for _ in range(150):
        talker = Talker(url)
        with contextlib.suppress(ConnectionError):
            for _ in range(chance.randrange(1, 4)):
                talker.send(chance.randbytes(chance.randrange(1, 60_000)))
        chance.choice([talker.close, talker.reset])()
    daemon.wait_gone("s", 150)
    with Talker(url) as ann, Talker(url) as bob:
        daemon.wait_connections("s", 2)
        message = b"\0\0\0\2hi" if framing == "length" else b"hi\n"
        ann.send(message)
        assert bob.read(len(message)) == message


def test_random_datagrams_harm_nobody(daemon, chance):
    [url] = daemon.server("s", listen=["udp://127.0.0.1:0"])
    with contextlib.ExitStack() as stack:
        for _ in range(100):
            peer = stack.enter_context(Peer(url))
            for _ in range(5):
                peer.say(chance.randbytes(chance.randrange(0, 9000)))
        ann, bob = (stack.enter_context(Peer(url)) for _ in range(2))

        def passes():
            """Reports whether ann receives bob's datagram: it may be lost, and
            others may come between."""
            ann.say(b"ann")
            bob.say(b"are you there?")
            while ann.has_something():
                if ann.hear() == b"are you there?":
                    return True

        eventually(passes, "bob is heard")


@pytest.mark.parametrize("framing, half", [("line", b"half a line"), ("raw", b"half"),
                                           ("length", b"\0\0\0\x20half")])
def test_half_messages_then_a_reset_reach_nobody_by_accident(daemon, framing, half):
    [url] = daemon.server("s", framing=framing)
    with Talker(url) as ann:
        for _ in range(200):
            talker = Talker(url)
            talker.send(half)
            talker.reset()
        daemon.wait_gone("s", 201, left=1)
        heard = b""
        while ann.has_something():
            heard += ann.socket.recv(65536)
        whole = {"line": rb"", "raw": rb"(half)*", "length": rb""}[framing]
        assert re.fullmatch(whole, heard)
    assert daemon.stats("s")["errors"] == 0


@pytest.mark.parametrize("scheme", ["tcp", "unix"])
@pytest.mark.parametrize("end", ["close", "reset"])
def test_an_end_right_behind_the_data_is_seen(daemon, tmp_path, scheme, end):
    [url] = daemon.server("s", mode="in", listen=[
        {"tcp": "tcp://127.0.0.1:0", "unix": f"unix://{tmp_path}/path"}[scheme]])
    for _ in range(3000):
        talker = Talker(url)
        talker.send(b"half a line")
        getattr(talker, end)()
    daemon.wait_gone("s", 3000)
    for turn in range(1, 6):
        talkers = [Talker(url) for _ in range(400)]
        daemon.wait_connections("s", 400)
        for each in talkers:
            each.send(b"half a line")
            getattr(each, end)()
        daemon.wait_gone("s", 3000 + turn * 400)


def warm_up(daemon):
    """UBSan reads the first object of each class through a pipe, which needs descriptors, so
    everything that happens when they run out must have happened once before."""
    [url] = daemon.server("warm", threads=2)
    with Talker(url) as ann, Talker(url) as bob:
        daemon.wait_connections("warm", 2)
        ann.say(b"warm")
        assert bob.hear() == b"warm"
    daemon.remove("warm")


def test_when_descriptors_run_out_the_operator_is_served_and_clients_are_later(make_daemon):
    daemon = make_daemon(files=80)
    warm_up(daemon)
    [url] = daemon.server("s")
    with Talker(url) as ann, Talker(url) as bob, contextlib.ExitStack() as stack:
        crowd = [stack.enter_context(Talker(url)) for _ in range(100)]
        eventually(lambda: "ulimit -n" in daemon.log(), "the log says so")
        ann.say(b"existing ones work")
        assert bob.hear() == b"existing ones work"
        # The reserved descriptors are for the operator, including new connections.
        eventually(lambda: daemon.stats("s")["connections"]["refused"] >= 30, "others are not")
        assert 30 < daemon.show("s")["connections"] < 64
        assert daemon.cli("edit", "s", "--max-connections", "10")
        for each in crowd:
            each.close()
    eventually(lambda: daemon.stats("s")["connections"]["now"] == 0, "all are gone")
    with Talker(url) as ann, Talker(url) as bob:
        daemon.wait_connections("s", 2)
        ann.say(b"as new")
        assert bob.hear() == b"as new"
    assert daemon.log().count("ulimit -n") < 50


@contextlib.contextmanager
def silent_listener():
    """Accepts connections, and sends nothing on them."""
    with socket.create_server(("127.0.0.1", 0), backlog=4000) as listener:
        taken = []

        def take():
            with contextlib.suppress(OSError):
                while True:
                    taken.append(listener.accept()[0])

        threading.Thread(target=take, daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
        for each in taken:
            each.close()


def ask_by_http2(port, streams=100):
    """Returns a client that has sent all its requests at once."""
    def frame(kind, flags, stream, body=b""):
        return struct.pack(">I", len(body))[1:] + bytes([kind, flags]) + struct.pack(
            ">I", stream) + body

    # GET http://x/: the first three are entries of HPACK's static table.
    head = b"\x82\x86\x84\x41\x01x"
    client = socket.create_connection(("127.0.0.1", port), 10)
    client.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0)
                   + b"".join(frame(1, 5, 1 + 2 * place, head) for place in range(streams)))
    return client


def send_from(count, port):
    """Sends datagrams from `count` different sockets."""
    senders = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(count)]
    for each in senders:
        each.sendto(b"hello", ("127.0.0.1", port))
    return senders


@pytest.mark.parametrize("way", ["http2 proxy", "udp proxy", "script"])
def test_what_is_opened_for_clients_leaves_the_operator_his_descriptors(make_daemon, way, tmp_path):
    daemon = make_daemon(files=128)
    warm_up(daemon)
    with (silent_listener() as silent, contextlib.ExitStack() as stack,
          socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as hearer):
        hearer.bind(("127.0.0.1", 0))
        if way == "script":
            script = tmp_path / "ask.lua"
            script.write_text("function on_http_request(request)\n"
                              f"  return strata.http{{url = 'http://127.0.0.1:{silent}/'}}\nend\n")
            [url] = daemon.server("s", listen=["http://127.0.0.1:0"], lua=str(script))
        elif way == "udp proxy":
            daemon.create("proxy", "s", listen=["udp://127.0.0.1:0"],
                          backend=["udp://127.0.0.1:%d" % hearer.getsockname()[1]])
            [url] = daemon.show("s")["endpoints"]
        else:
            daemon.create("proxy", "s", listen=["http://127.0.0.1:0"],
                          backend=[f"127.0.0.1:{silent}"])
            [url] = daemon.show("s")["endpoints"]
        port = int(url.rsplit(":", 1)[1].rstrip("/"))
        clients = (send_from(200, port) if way == "udp proxy"
                   else [ask_by_http2(port) for _ in range(3)])
        for each in clients:
            stack.enter_context(contextlib.closing(each))
        held = f"/proc/{daemon.process.pid}/fd"
        most = 96  # a quarter of 128 is reserved
        eventually(lambda: len(os.listdir(held)) >= most - 4, "its clients have what they may")
        assert daemon.cli("ls", "-q") == "s\n"
        assert daemon.ask("GET", "/v1/version", connection=daemon.connect())["version"]
        assert len(os.listdir(held)) < most + 8
        daemon.cli("stop", "s", "--now")


def test_starting_a_runtime_without_descriptors_is_an_error_and_no_end(make_daemon):
    daemon = make_daemon(files=64)
    warm_up(daemon)
    [url] = daemon.server("s")
    daemon.create("server", "more", start=False, port=0, threads=8)
    control = daemon.connect()
    daemon.ask("GET", "/v1/version", connection=control)
    folder = f"/proc/{daemon.pid}/fd"
    before = len(os.listdir(folder))
    with contextlib.ExitStack() as stack:
        for _ in range(80):
            stack.enter_context(Talker(url))
        eventually(lambda: "ulimit -n" in daemon.log(), "all descriptors are taken")
        control.request("POST", "/v1/runtimes/more/start")
        reply = control.getresponse()
        assert reply.status == 503 and b"ulimit -n" in reply.read()
        control.request("GET", "/v1/runtimes/s")
        assert control.getresponse().read()
    # Clients that still wait to be accepted come after the others have gone.
    eventually(lambda: len(os.listdir(folder)) <= before, "all descriptors are closed")
    assert daemon.act("more", "start")["state"] == "running"
    control.close()


def test_no_descriptor_is_lost(daemon, chance):
    [url] = daemon.server("s")
    folder = f"/proc/{daemon.pid}/fd"
    before = len(os.listdir(folder))
    for _ in range(300):
        talker = Talker(url)
        talker.send(b"x")
        chance.choice([talker.close, talker.reset])()
    daemon.wait_gone("s", 300)
    eventually(lambda: len(os.listdir(folder)) <= before, "all descriptors are closed")


@pytest.mark.parametrize("threads", [1, 2])
def test_reused_descriptors_inherit_nothing(daemon, chance, threads):
    """Connections come and go while others talk: none receives data for another
    connection's descriptor."""
    [url] = daemon.server("s", threads=threads, mode="master", master_pw="pw",
                          master_forward=True)
    with Talker(url) as master:
        master.say(b"master pw")
        assert master.hear() == b"master: ok"
        heard = 0
        for number in range(400):
            with Talker(url) as passer:
                passer.send(b"%d says hello\n" % number + b"and half a li")
                if chance.random() < 0.5:
                    passer.reset()
        expected = {b"%d says hello" % number for number in range(400)}
        daemon.wait_gone("s", 401, left=1)
        with Talker(url) as late:
            daemon.wait_connections("s", 2)
            late.say(b"who am I")
            # The connection is not the master, and has no partial line of another one.
            while (text := master.hear().split(b"] ", 1)[1]) != b"who am I":
                assert text in expected or text == b"and half a li", text
                heard += 1
            assert heard > 200
            master.say(b"you are late")
            assert late.hear() == b"you are late"


class Burster:
    """Sends its lines and receives those of all others, as fast as the socket permits."""

    def __init__(self, url, number, lines):
        self.number = number
        self.talker = Talker(url)
        self.talker.socket.setblocking(False)
        self.unsent = b"".join(lines)
        self.heard = bytearray()

    def step(self, events):
        if events & selectors.EVENT_WRITE and self.unsent:
            with contextlib.suppress(BlockingIOError):
                self.unsent = self.unsent[self.talker.socket.send(self.unsent):]
        if events & selectors.EVENT_READ:
            with contextlib.suppress(BlockingIOError):
                more = self.talker.socket.recv(1 << 20)
                assert more, f"{self.number} was disconnected"
                self.heard += more


def lines_of(number, count, size):
    """Returns lines in which every byte identifies the sender."""
    heads = [b"%d %d " % (number, sequence) for sequence in range(count)]
    return [head + bytes([97 + number % 26]) * (size - len(head) - 1) + b"\n" for head in heads]


def by_sender(data, senders):
    found = [[] for _ in range(senders)]
    for line in data.splitlines(keepends=True):
        found[int(line.split()[0])].append(line)
    return found


def test_300_bursts_of_64_kib_at_once_arrive_whole(daemon):
    """The bursts exceed all receive buffers together: the loop runs out of buffers,
    and no data is mixed up."""
    count = 300
    [url] = daemon.server("s", mode="master", master_pw="pw", master_forward=True,
                          max_buffer=64 << 20)
    sent = [lines_of(number, 64, 1024) for number in range(count)]
    with Talker(url) as master:
        master.say(b"master pw")
        assert master.hear() == b"master: ok"
        bursters = [Burster(url, number, sent[number]) for number in range(count)]
        daemon.wait_connections("s", count + 1)
        with selectors.DefaultSelector() as selector:
            for each in bursters:
                selector.register(each.talker, selectors.EVENT_WRITE, each)
            while selector.get_map():
                for key, events in selector.select(30):
                    key.data.step(events)
                    if not key.data.unsent:
                        selector.unregister(key.fileobj)
        heard = [re.fullmatch(rb"\[(\d+)\] (.*)", line).groups()
                 for line in master.hear_lines(count * 64)]
    assert by_sender(b"".join(text + b"\n" for _, text in heard), count) == sent
    assert len({(sender, text.split()[0]) for sender, text in heard}) == count
    for each in bursters:
        each.talker.close()


def test_a_burst_is_read_to_its_end_while_others_leave(daemon):
    """Clients that leave need no buffer, so they must not use up the turns of clients that do."""
    [url] = daemon.server("s", mode="in")
    talkers = [Talker(url) for _ in range(512)]
    daemon.wait_connections("s", 512)
    daemon.signal(signal.SIGSTOP)
    for each in talkers[:384]:
        each.say(b"one line")
    for each in talkers[384:]:
        each.close()
    daemon.signal(signal.SIGCONT)
    daemon.wait_connections("s", 384)
    eventually(lambda: daemon.stats("s")["messages"]["in"] == 384, "all lines are read")
    for each in talkers[:384]:
        each.close()


def test_bursts_of_all_to_all_arrive_whole(daemon):
    count = 30
    [url] = daemon.server("s", max_buffer=64 << 20)
    sent = [lines_of(number, 64, 1024) for number in range(count)]
    bursters = [Burster(url, number, sent[number]) for number in range(count)]
    daemon.wait_connections("s", count)
    whole = (count - 1) * 64 * 1024
    deadline = time.monotonic() + 60
    with selectors.DefaultSelector() as selector:
        for each in bursters:
            selector.register(each.talker, selectors.EVENT_WRITE | selectors.EVENT_READ, each)
        while any(len(each.heard) < whole for each in bursters):
            assert time.monotonic() < deadline
            for key, events in selector.select(1):
                key.data.step(events)
                if not key.data.unsent:
                    selector.modify(key.fileobj, selectors.EVENT_READ, key.data)
    for each in bursters:
        found = by_sender(bytes(each.heard), count)
        assert found[each.number] == []
        found[each.number] = sent[each.number]
        assert found == sent
        each.talker.close()


def test_a_flood_by_some_does_not_starve_others(daemon):
    [url] = daemon.server("s", mode="master", master_pw="pw")
    over = threading.Event()

    def flood():
        with Talker(url) as talker:
            while not over.is_set():
                talker.send(b"flood\n" * 10_000)

    floods = [threading.Thread(target=flood) for _ in range(4)]
    with Talker(url) as ann, Talker(url) as bob:
        ann.say(b"master pw")
        assert ann.hear() == b"master: ok"
        for each in floods:
            each.start()
        try:
            daemon.wait_connections("s", 6)
            for number in range(20):
                ann.say(b"%d" % number)
                assert bob.hear() == b"%d" % number
        finally:
            over.set()
            for each in floods:
                each.join()


def test_peers_that_are_gone_are_not_read_to_their_end(daemon):
    """No client takes all buffers at once, so the first answer shows that the peer is gone before
    much of the rest is read."""
    [url] = daemon.server("s", mode="echo")
    left = 0
    daemon.process.send_signal(signal.SIGSTOP)
    try:
        for _ in range(100):
            with Talker(url) as talker:
                talker.socket.settimeout(0.05)
                with contextlib.suppress(TimeoutError):
                    while left < 1 << 30:
                        left += talker.socket.send(b"x" * 65535 + b"\n")
    finally:
        daemon.process.send_signal(signal.SIGCONT)
    daemon.wait_gone("s", 100)
    assert left > 100 << 20
    assert daemon.stats("s")["bytes"]["in"] < left / 3


def test_lengths_that_lie_are_survived(daemon, chance):
    [url] = daemon.server("s", framing="length")
    before = daemon.resident_mib()
    talkers = []
    for size in [1 << 20, (1 << 20) + 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF]:
        talkers.append(Talker(url))
        talkers[-1].send(struct.pack(">I", size) + b"x" * 100)
    eventually(lambda: daemon.stats("s")["dropped"]["too_large"] == 4, "four are too large")
    daemon.wait_connections("s", 1)
    assert daemon.resident_mib() < before + 32
    for each in talkers:
        each.close()


def test_urgent_data_and_early_ends_are_survived(daemon):
    [url] = daemon.server("s")
    with Talker(url) as ann:
        daemon.wait_connections("s", 1)
        for _ in range(50):
            other = Talker(url)
            other.socket.send(b"!", socket.MSG_OOB)
            other.say(b"x")
            assert ann.hear() in (b"x", b"!x")
            other.close()
