"""What a daemon serves while others take over from it, and the start of a takeover."""

import contextlib
import os

import redis

from steady_clients import Counter, Steady, ask_stream
from strata_daemon import PATIENCE, eventually
from talker import free_port, port_of

ECHO = "function on_message(message, id) self.send(id, 'echo: ' .. message) end"
KEYS = 200_000  # so that the data takes a while to go over
BEGUN, GIVEN_UP = "another daemon takes over", "this one goes on"


def at_own_port():
    return f"tcp://127.0.0.1:{free_port()}"


class House:
    """An echo server, a cache with a log and a large one in memory, and clients that count."""

    def __init__(self, daemon, folder):
        self.daemon = daemon
        script = folder / "echo.lua"
        script.write_text(ECHO)
        self.echo = daemon.server("echo", listen=[at_own_port()], lua=str(script))[0]
        self.logged = daemon.create("cache", "logged", listen=[at_own_port()], appendfsync="always",
                                    persistent=str(folder / "cache.aof"))["endpoints"][0]
        self.memory = daemon.create("cache", "memory", listen=[at_own_port()])["endpoints"][0]
        self.fill()
        self.counter = Counter(self.logged)
        self.clients = Steady()
        self.clients.add("count", self.counter, self.logged)

    def fill(self):
        with redis.Redis(port=port_of(self.memory)) as client, client.pipeline(False) as pipeline:
            for number in range(KEYS):
                pipeline.set(f"key{number}", "x" * 50)
            pipeline.execute()

    def keys_in_memory(self):
        with redis.Redis(port=port_of(self.memory), socket_timeout=PATIENCE) as client:
            return client.dbsize()

    def runs(self):
        try:
            return all(each["state"] == "running" for each in
                       self.daemon.ask("GET", "/v1/runtimes"))
        except OSError:
            return False

    def check(self):
        """One daemon serves, with all that was acknowledged."""
        daemon = self.daemon
        eventually(self.runs, "all run")
        assert daemon.ask("GET", "/v1/version")["pid"] == daemon.pid
        assert holders(daemon) == {daemon.pid}
        ask_stream(self.echo)
        acknowledged = self.counter.acknowledged
        with redis.Redis(port=port_of(self.logged), socket_timeout=PATIENCE) as client:
            assert int(client.get("count") or 0) >= acknowledged


def open_files(process):
    """The files that a process has open: those that it closes meanwhile are passed over."""
    folder = f"/proc/{process}/fd"
    try:
        names = os.listdir(folder)
    except OSError:  # it ended
        return
    for each in names:
        with contextlib.suppress(OSError):
            yield os.readlink(f"{folder}/{each}")


def holders(daemon):
    """The processes that have the lock of the state folder open."""
    lock = str(daemon.state_dir / "lock")
    return {int(each) for each in os.listdir("/proc")
            if each.isdigit() and lock in open_files(each)}


def begin(daemon):
    """Starts a takeover, and returns the later daemon once the earlier one hands over."""
    start = len(daemon.log())
    later = daemon.launch("--takeover")
    eventually(lambda: BEGUN in daemon.log()[start:], "it hands over")
    return later
