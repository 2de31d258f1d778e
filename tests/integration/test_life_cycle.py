"""start, stop, restart, reload and remove: alone, with globs, and under heavy traffic."""

import contextlib
import random
import re
import resource
import threading
import time
from pathlib import Path

import pytest

from strata_daemon import Refused, eventually
from talker import Talker, free_port

LINE = re.compile(rb"(\d+) (\d+) (\d+) ([a-z]*)")


def payload(speaker, number):
    """Returns bytes of which each identifies the speaker."""
    return bytes([97 + speaker]) * (number * 37 % 400)


class Chatterbox(threading.Thread):
    """Connects, sends and receives again and again, and checks every line that it receives."""

    def __init__(self, number, url):
        super().__init__()
        self.number = number
        self.url = url
        self.over = threading.Event()
        self.fault = None
        self.heard = 0

    def run(self):
        for epoch in range(1_000_000):
            if self.over.is_set() or self.fault:
                return
            with contextlib.suppress(OSError):
                with Talker(self.url) as talker:
                    talker.socket.settimeout(1)
                    self.talk(talker, epoch)
            time.sleep(0.002)

    def talk(self, talker, epoch):
        last = {}
        for number in range(1_000_000):
            if self.over.is_set():
                return
            talker.say(b"%d %d %d " % (self.number, epoch, number) + payload(self.number, number))
            while talker.has_something():
                more = talker.socket.recv(65536)
                if not more:
                    return
                *lines, talker.rest = (talker.rest + more).split(b"\n")
                for line in lines:
                    self.check(line, last)

    def check(self, line, last):
        """Checks that a line is whole, comes from another speaker, and follows that
        speaker's previous line."""
        self.heard += 1
        parts = LINE.fullmatch(line)
        speaker, epoch, number = map(int, parts.groups()[:3]) if parts else (self.number, 0, 0)
        expected = last.get((speaker, epoch), number - 1) + 1
        good = (speaker != self.number and parts.group(4) == payload(speaker, number)
                and number == expected)
        last[speaker, epoch] = number
        if not good:
            self.fault = f"{self.number} heard {line!r}, expected number {expected}"


@contextlib.contextmanager
def chatter(*urls):
    """Runs eight chatterboxes for each server."""
    boxes = [Chatterbox(number, url) for url in urls for number in range(8)]
    for each in boxes:
        each.start()
    try:
        yield boxes
    finally:
        for each in boxes:
            each.over.set()
        for each in boxes:
            each.join()
    assert [each.fault for each in boxes if each.fault] == []


def test_states_follow_the_actions(daemon):
    assert daemon.create("server", "s", start=False, port=0)["state"] == "created"
    assert daemon.act("s", "start")["state"] == "running"
    assert daemon.act("s", "start")["state"] == "running"
    assert daemon.act("s", "stop")["state"] == "stopped"
    assert daemon.act("s", "stop")["state"] == "stopped"
    assert daemon.act("s", "reload")["state"] == "stopped"
    assert daemon.act("s", "restart")["state"] == "running"
    assert daemon.act("s", "reload")["state"] == "running"
    daemon.remove("s")
    for action in ["start", "stop", "restart", "reload"]:
        with pytest.raises(Refused) as refused:
            daemon.act("s", action)
        assert refused.value.code == "not_found"
    assert daemon.names() == []


def test_a_name_is_used_once_at_a_time(daemon):
    daemon.server("s")
    with pytest.raises(Refused) as refused:
        daemon.server("s")
    assert refused.value.code == "already_exists"
    daemon.remove("s")
    daemon.server("s")


def test_a_stop_disconnects_and_counts_stay(daemon):
    [url] = daemon.server("s")
    with Talker(url) as ann, Talker(url) as bob:
        daemon.wait_connections("s", 2)
        ann.say(b"one")
        assert bob.hear() == b"one"
        daemon.act("s", "stop")
        assert ann.is_ended() and bob.is_ended()
    stats = daemon.stats("s")
    assert (stats["messages"], stats["connections"]["now"]) == ({"in": 1, "out": 1}, 0)
    daemon.act("s", "start")
    assert daemon.stats("s")["connections"]["total"] == 2


def test_globs_name_many(daemon):
    for name in ["web-1", "web-2", "db-1"]:
        daemon.server(name)
    assert daemon.cli("stop", "web-*") == "web-1: stopped\nweb-2: stopped\n".replace(
        "stopped", "stopped at tcp://127.0.0.1:0")
    states = {each["name"]: each["state"] for each in daemon.ask("GET", "/v1/runtimes")}
    assert states == {"web-1": "stopped", "web-2": "stopped", "db-1": "running"}
    daemon.cli("start", "web-?")
    daemon.cli("remove", "[dw]*-1")
    assert daemon.names() == ["web-2"]
    assert daemon.run("stop", "nothing-*").returncode == 3


def test_restart_keeps_a_fixed_port_a_hundred_times(daemon):
    port = free_port()
    daemon.server("s", listen=[f"tcp://127.0.0.1:{port}", f"udp://127.0.0.1:{port}"])
    with contextlib.closing(daemon.connect()) as connection:
        for _ in range(100):
            answer = daemon.ask("POST", "/v1/runtimes/s/restart", connection=connection)
            assert answer["state"] == "running"


def test_actions_under_heavy_traffic_mix_nothing_up(daemon):
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    urls = [f"tcp://127.0.0.1:{free_port()}" for _ in range(2)]
    for number, url in enumerate(urls):
        daemon.server(f"s{number}", listen=[url], threads=number + 1)
    answers = []

    def interfere(chance):
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline:
            name = f"s{chance.randrange(2)}"
            action = chance.choice(["start", "stop", "restart", "reload", "reload"])
            with contextlib.suppress(Refused):
                answers.append(daemon.act(name, action)["state"])
            time.sleep(chance.random() * 0.1)

    with chatter(*urls) as boxes:
        meddlers = [threading.Thread(target=interfere, args=(random.Random(seed + number),))
                    for number in range(3)]
        for each in meddlers:
            each.start()
        for each in meddlers:
            each.join()
        for name in ["s0", "s1"]:
            daemon.act(name, "restart")
        heard = [each.heard for each in boxes]
        eventually(lambda: all(each.heard > before for each, before in zip(boxes, heard)),
                   "all hear again")
    assert {"running", "stopped"} <= set(answers)


def test_remove_under_heavy_traffic(daemon):
    url = f"tcp://127.0.0.1:{free_port()}"
    with chatter(url) as boxes:
        for round in range(20):
            daemon.server("s", listen=[url], threads=1 + round % 2)
            before = sum(each.heard for each in boxes)
            eventually(lambda: sum(each.heard for each in boxes) > before, "somebody hears")
            daemon.remove("s")
    assert daemon.names() == []


def test_all_actions_at_once_on_one_runtime(daemon):
    daemon.server("s", threads=2)
    allowed = {"conflict", "not_found", "already_exists"}
    surprises = []

    def hammer(number):
        chance = random.Random(number)
        connection = daemon.connect()
        for _ in range(40):
            action = chance.choice(["start", "stop", "restart", "reload", "remove", "create",
                                    "edit", "send"])
            path, method, body = f"/v1/runtimes/s/{action}", "POST", None
            if action == "remove":
                path, method = "/v1/runtimes/s", "DELETE"
            elif action == "edit":
                path, method, body = "/v1/runtimes/s", "PATCH", {"options": {"rate_limit": 5}}
            elif action == "create":
                path = "/v1/runtimes"
                body = {"type": "server", "name": "s", "start": True, "options": {"port": 0}}
            try:
                daemon.ask(method, path, body, connection)
            except Refused as refused:
                if refused.code not in allowed:
                    surprises.append(refused)
        connection.close()

    threads = [threading.Thread(target=hammer, args=(number,)) for number in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert surprises == []


def test_sixty_runtimes_side_by_side(daemon):
    urls = [daemon.server(f"s{number:02}")[0] for number in range(60)]
    for number, url in enumerate(urls):
        with Talker(url) as ann:
            daemon.wait_connections(f"s{number:02}", 1)
            daemon.send(f"s{number:02}", b"%d" % number)
            assert ann.hear() == b"%d" % number
    daemon.cli("remove", "s*")
    assert daemon.names() == []


def test_the_table_of_descriptors_need_not_grow_while_connections_come(daemon):
    """In a process of several threads, growing it takes the kernel some 20 ms."""
    status = Path(f"/proc/{daemon.pid}/status").read_text()
    size = int(re.search(r"^FDSize:\s+(\d+)$", status, re.MULTILINE)[1])
    limit, _ = resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE)
    assert size >= min(limit, 16_384), status
