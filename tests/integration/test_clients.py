"""strata clients and strata disconnect: who is there, what has passed, and how one is sent away."""

import asyncio
import datetime
import json
import socket

import pytest
import websockets
from strata_daemon import PATIENCE, Refused, eventually
from talker import Peer, Talker

SCRIPT = """
function on_message(message, id)
  self.join_group(id, 'readers')
  self.join_group(id, message)
  self.send(id, message)
end
"""


class Web:
    """A client on a WebSocket."""

    def __init__(self, url):
        self.loop = asyncio.new_event_loop()
        self.wire = self.wait(self.opened(url.replace("tcp://", "ws://")))

    @staticmethod
    async def opened(url):
        return await websockets.connect(url, compression=None)

    def wait(self, work):
        return self.loop.run_until_complete(asyncio.wait_for(work, PATIENCE))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.wait(self.wire.close())
        self.loop.close()

    def say(self, text):
        self.wait(self.wire.send(text))

    def hear(self):
        return self.wait(self.wire.recv())


def clients_of(daemon, name="s"):
    return daemon.ask("GET", f"/v1/runtimes/{name}/clients")


def await_clients(daemon, count):
    eventually(lambda: len(clients_of(daemon)) == count, f"{count} clients are there")
    return clients_of(daemon)


def test_what_is_shown_of_each(daemon, tmp_path):
    path = tmp_path / "socket"
    stream, datagrams, own = daemon.server(
        "s", listen=["tcp://127.0.0.1:0", "udp://127.0.0.1:0", f"unix://{path}"], mode="echo")
    with Talker(stream) as ann, Peer(datagrams) as bob, Talker(own) as cyd, Web(stream) as dan:
        ann.say(b"hello", b"again")
        assert ann.hear_lines(2) == [b"hello", b"again"]
        bob.say(b"four")
        assert bob.hear() == b"four"
        cyd.say(b"from here")
        assert cyd.hear() == b"from here"
        dan.say("hello")
        assert dan.hear() == "hello"
        shown = {each["protocol"]: each for each in await_clients(daemon, 4)}
        assert shown.keys() == {"tcp", "udp", "unix", "ws"}
        assert shown["tcp"]["address"] == "{}:{}".format(*ann.socket.getsockname())
        assert shown["udp"]["address"] == "{}:{}".format(*bob.socket.getsockname())
        passed = {name: [each[key] for key in ("messages_in", "bytes_in", "messages_out",
                                               "bytes_out")] for name, each in shown.items()}
        assert passed == {"tcp": [2, 12, 2, 12], "udp": [1, 4, 1, 4], "unix": [1, 10, 1, 10],
                          "ws": [1, 11, 1, 7]}
        for each in shown.values():
            came = datetime.datetime.fromisoformat(each["since"].replace("Z", "+00:00"))
            age = datetime.datetime.now(datetime.timezone.utc) - came
            assert abs(age.total_seconds()) < 60 and each["idle_s"] < 60
            assert each["waiting"] == 0 and each["groups"] == [] and each["tls_subject"] == ""
    # UDP peers are there until they are forgotten.
    assert [each["protocol"] for each in await_clients(daemon, 1)] == ["udp"]


def test_what_waits(daemon):
    [url] = daemon.server("s", max_buffer=50_000_000)
    with Talker(url) as ann, Talker(url, room=4096) as slow:
        ann.say(b"unfinished" * 10)
        ann.send(b"half a line")
        slow.say(b"x")
        assert ann.hear() == b"x"
        for _ in range(300):
            ann.say(b"m" * 60_000)
        eventually(lambda: max(each["waiting"] for each in clients_of(daemon)) > 100_000,
                   "the slow one's messages wait")


def test_groups_are_those_of_the_script(daemon, tmp_path):
    script = tmp_path / "script.lua"
    script.write_text(SCRIPT)
    [url] = daemon.server("s", lua=str(script), threads=2)
    with Talker(url) as ann, Talker(url):
        await_clients(daemon, 2)
        ann.say(b"red")
        assert ann.hear() == b"red"
        groups = [each["groups"] for each in clients_of(daemon)]
        assert sorted(groups) == [[], ["readers", "red"]]


@pytest.mark.parametrize("threads", [1, 3])
def test_one_is_sent_away_and_the_others_stay(daemon, threads):
    [url] = daemon.server("s", threads=threads, protocol="raw")
    people = [Talker(url) for _ in range(6)]
    try:
        shown = {each["address"]: each["id"] for each in await_clients(daemon, 6)}
        gone = people.pop(2)
        number = shown["{}:{}".format(*gone.socket.getsockname())]
        done = daemon.run("disconnect", "s", str(number))
        assert done.returncode == 0, done.stderr
        assert gone.is_ended()
        gone.close()
        assert number not in [each["id"] for each in await_clients(daemon, 5)]
        people[0].say(b"still here")
        assert [each.hear() for each in people[1:]] == [b"still here"] * 4
        again = daemon.run("disconnect", "s", str(number))
        assert again.returncode == 1 and "it has gone, or never came" in again.stderr
    finally:
        for each in people:
            each.close()


def test_a_websocket_is_told(daemon):
    [url] = daemon.server("s")
    with Web(url) as ann:
        [shown] = await_clients(daemon, 1)
        daemon.ask("POST", f"/v1/runtimes/s/disconnect?client={shown['id']}")
        with pytest.raises(websockets.ConnectionClosedOK):
            ann.hear()
        assert ann.wire.close_code == 1000


@pytest.mark.parametrize("query, why", [
    ("", "it lacks the parameter 'client'"), ("?client=ann", "ann"), ("?client=1&now=1", "'now'"),
    ("?client=18446744073709551615", "it has gone"), ("?client=99999999999999999999", "99999")])
def test_what_cannot_be_is_refused(daemon, query, why):
    daemon.server("s")
    with pytest.raises(Refused, match=why):
        daemon.ask("POST", f"/v1/runtimes/s/disconnect{query}")


def test_the_table(daemon):
    [url] = daemon.server("s", mode="echo", protocol="raw")
    with Talker(url) as ann, Talker(url) as bob:
        bob.say(b"one", b"two")
        assert bob.hear_lines(2) == [b"one", b"two"]
        await_clients(daemon, 2)
        table = daemon.run("clients", "s", "--sort", "in").stdout.splitlines()
        assert table[0].split()[:3] == ["ID", "ADDRESS", "PROTOCOL"] and len(table) == 3
        assert "{}:{}".format(*bob.socket.getsockname()) in table[1]
        listed = json.loads(daemon.run("clients", "s", "--format", "json").stdout)
        assert sorted(each["messages_in"] for each in listed) == [0, 2]
        wrong = daemon.run("clients", "s", "--sort", "height")
        assert wrong.returncode == 2 and "height" in wrong.stderr
        assert ann.socket.fileno() >= 0
    for words in (("disconnect", "s"), ("disconnect", "s", "ann"), ("clients",)):
        assert daemon.run(*words).returncode == 2, words


def test_thousands_are_listed_while_others_are_served(daemon):
    [url] = daemon.server("s", mode="echo", protocol="raw")
    count = 3000
    host, port = url.removeprefix("tcp://").split(":")
    crowd = [socket.create_connection((host, int(port))) for _ in range(count)]
    try:
        assert len({each["id"] for each in await_clients(daemon, count)}) == count
        with Talker(url) as ann:
            ann.say(b"hello")
            assert ann.hear() == b"hello"
    finally:
        for each in crowd:
            each.close()
