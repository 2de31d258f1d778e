"""The life of one daemon, in which one call fails, and what a second daemon finds afterwards."""

import contextlib
import dataclasses
import http.client
import json
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))

from resp_wire import encode, end_of_reply  # noqa: E402
from strata_daemon import SANITIZER_REPORT, Daemon, Refused, eventually  # noqa: E402
from talker import Peer, Talker  # noqa: E402

from .injector import Fault, Injector  # noqa: E402

LIMIT = 20  # seconds for each answer, the start and the end: longer is a hang
TRIES = 5  # attempts to serve a client again; a failed call may cost it a connection
CUT = (ConnectionError, http.client.HTTPException, BrokenPipeError)
DOUBT = object()  # the operation was neither acknowledged nor refused, or concerned more
PAGE = b"a page of some length\n" * 3000


class Bad(Exception):
    """A result that must not happen: `verdict` is crash, hang or lost."""

    def __init__(self, verdict, detail):
        super().__init__(f"{verdict}: {detail}")
        self.verdict = verdict


@dataclasses.dataclass
class Outcome:
    fault: Fault | None
    verdict: str
    detail: str = ""


class Watched(Daemon):
    """A daemon with an injector."""

    def __init__(self, folder, fault=None):
        super().__init__(folder, "--drain-timeout", "3", "--loops", "2")
        self.injector = Injector(fault)

    @property
    def environment(self):
        given = super().environment
        # The failing call must not be one of LeakSanitizer's own at the end.
        return given | {"ASAN_OPTIONS": given["ASAN_OPTIONS"] + ":detect_leaks=0"}

    def launch(self, *more):
        with open(self.log_path, "ab") as log:
            return self.injector.launch(self.command(*more), env=self.environment,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=log)


class Known:
    """What must be true according to the daemon's answers. DOUBT stands for an unknown value."""

    def __init__(self):
        self.runtimes = {}  # name -> whether it runs, or DOUBT
        self.options = {}  # (name, key) -> value
        self.doubtful = set()  # names that may be there
        self.data = {}  # the cache's data, as acknowledged

    def forget(self, name):
        self.runtimes.pop(name, None)
        self.options = {key: value for key, value in self.options.items() if key[0] != name}

    def compare(self, shown, runs_too, where):
        found = {each["name"]: each for each in shown}
        for name, running in self.runtimes.items():
            if name not in found:
                raise Bad("lost", f"'{name}' is not there {where}")
            is_running = found[name]["state"] == "running"
            if runs_too and running is not DOUBT and is_running != running:
                raise Bad("lost", f"'{name}' is {found[name]['state']} {where}: {found[name]}")
        for name in found.keys() - self.runtimes.keys() - self.doubtful:
            raise Bad("lost", f"'{name}' is there {where}, though it was refused or removed")
        for (name, key), value in self.options.items():
            if value is not DOUBT and found[name]["options"][key] != value:
                raise Bad("lost", f"'{name}' has {key} {found[name]['options'][key]!r} {where}, "
                                  f"and not {value!r}")


class Life:
    """One life of a daemon in `folder`, which `prepare` has filled."""

    def __init__(self, folder, fault=None):
        self.folder = folder
        self.daemon = Watched(folder, fault)
        self.known = Known()
        self.answered = 0  # requests that were answered with an error
        self.cut = 0  # connections that ended before an answer
        self.round = 0

    # --- existing records

    def prepare(self):
        """Makes records of one runtime of each type, and their files, as a template for many
        lives."""
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder / "site").mkdir(parents=True)
        (self.folder / "site" / "page.txt").write_bytes(PAGE)
        daemon = Daemon(self.folder)
        daemon.start()
        daemon.create("server", "served", mode="echo", write=str(self.folder / "said"),
                      http=str(self.folder / "site"), http_cache=True,
                      listen=["tcp://127.0.0.1:0", f"unix://{self.folder}/served.sock",
                              "udp://127.0.0.1:0"])
        [url] = daemon.create("cache", "kept", listen=["tcp://127.0.0.1:0"], appendfsync="always",
                              persistent=str(self.folder / "kept.log"),
                              snapshot=str(self.folder / "kept.rdb"))["endpoints"]
        daemon.create("client", "guest", connect="runtime://served", reconnect=0,
                      reconnect_min=0.1)
        daemon.create("server", "idle", start=False, port=0)
        with Talker(url) as wire:
            ask_cache(wire, "SET", "before", "1")
            ask_cache(wire, "SAVE")
        daemon.stop()
        daemon.log_path.unlink()

    def begin_known(self):
        self.known.runtimes = {"served": True, "kept": True, "guest": True, "idle": False}
        self.known.options = {("served", "mode"): "echo", ("kept", "appendfsync"): "always"}
        self.known.data = {"before": "1"}

    # --- one request

    def request(self, method, path, body=None):
        """Returns the answer, or None if the connection ended without one."""
        data = body if body is None or isinstance(body, bytes) else json.dumps(body)
        connection = self.daemon.connect()
        connection.timeout = LIMIT
        try:
            connection.request(method, path, data)
            reply = connection.getresponse()
            status, content = reply.status, reply.read()
        except TimeoutError:
            raise Bad("hang", f"{method} {path} is not answered") from None
        except (*CUT, FileNotFoundError):
            self.cut += 1
            return None
        finally:
            connection.close()
        answer = json.loads(content) if content else {}
        if status >= 300:
            self.answered += 1
            raise Refused(status, answer)
        return answer

    def ask(self, method, path, body=None):
        """Returns the answer to a request that changes nothing; repeats it if the connection
        ends without one."""
        for _ in range(TRIES):
            with contextlib.suppress(Refused):
                answer = self.request(method, path, body)
                if answer is not None:
                    return answer
            self.see_alive()
        raise Bad("hang", f"{method} {path} fails {TRIES} times")

    def look(self, path):
        """Makes a request whose subject may be missing because of a fault."""
        with contextlib.suppress(Refused):
            self.request("GET", path)

    def change(self, name, method, path, body, done, refused=None):
        """Requests a change of `name`; `done` and `refused` record what the answer proves."""
        before = self.known.runtimes.get(name)
        try:
            answer = self.request(method, path, body)
        except Refused as why:
            if refused:
                refused(before, why)
            return
        if answer is None:
            self.see_alive()
            self.known.forget(name)
            self.known.doubtful.add(name)
        elif name not in self.known.doubtful or method == "DELETE":
            done()

    def see_alive(self):
        code = self.daemon.process.poll()
        if code is not None:
            raise Bad("crash", f"it ended by itself with {code}")

    def create(self, kind, name, start=True, **options):
        def done():
            self.known.runtimes[name] = start
            self.known.options |= {(name, key): value for key, value in options.items()
                                   if key in ("mode", "appendfsync")}

        def refused(_, why):
            # A runtime that cannot start is not created, unless the creation cannot be
            # undone either.
            if f"start '{name}'" in why.message and f"create '{name}'" not in why.message:
                self.known.runtimes[name] = DOUBT

        self.change(name, "POST", "/v1/runtimes",
                    {"type": kind, "name": name, "start": start, "options": options}, done, refused)

    def edit(self, name, key, value):
        def done():
            self.known.options[name, key] = value

        if (name, key) not in self.known.options and name in self.known.runtimes:
            shown = self.ask("GET", f"/v1/runtimes/{name}")
            self.known.options[name, key] = shown["options"][key]
        self.change(name, "PATCH", f"/v1/runtimes/{name}", {"options": {key: value}}, done)

    def act(self, name, action, runs):
        def done():
            self.known.runtimes[name] = runs

        def refused(before, _):
            if before is not None:
                self.known.runtimes[name] = DOUBT

        self.change(name, "POST", f"/v1/runtimes/{name}/{action}", None, done, refused)

    def remove(self, name):
        self.change(name, "DELETE", f"/v1/runtimes/{name}", None,
                    lambda: (self.known.forget(name), self.known.doubtful.discard(name)))

    # --- clients

    def reach(self, name, scheme, talk):
        """Lets a client talk to a running runtime; repeats it if the connection ends."""
        for _ in range(TRIES):
            shown = {each["name"]: each for each in self.ask("GET", "/v1/runtimes")}.get(name)
            if shown is None or shown["state"] != "running":
                if shown and shown["state"] == "failed":
                    self.answered += 1
                    if not shown["reason"]:
                        raise Bad("lost", f"'{name}' failed without a reason")
                return
            [url, *_] = [each for each in shown["endpoints"] if each.startswith(scheme)]
            try:
                return talk(url)
            except CUT:
                self.cut += 1
            except TimeoutError:
                raise Bad("hang", f"{name} at {url} is silent") from None
        raise Bad("hang", f"{name} does not serve {scheme} clients")

    def talk(self):
        self.round += 1
        self.reach("served", "tcp://", self.echo)
        self.reach("served", "unix://", self.echo)
        self.reach("served", "udp://", self.datagram)
        self.reach("served", "tcp://", self.page)
        self.reach("kept", "tcp://", self.keep)

    def echo(self, url):
        with Talker(url) as talker:
            talker.socket.settimeout(LIMIT)
            talker.say(b"word")
            if talker.hear() != b"word":
                raise ConnectionError

    def datagram(self, url):
        with Peer(url) as peer:
            peer.socket.settimeout(1)
            for _ in range(LIMIT):
                peer.say(b"word")
                with contextlib.suppress(TimeoutError):
                    return peer.hear()
        raise Bad("hang", f"{url} is silent")

    def page(self, url):
        host = url.removeprefix("tcp://")
        connection = http.client.HTTPConnection(host, timeout=LIMIT)
        with contextlib.closing(connection):
            connection.request("GET", "/page.txt")
            reply = connection.getresponse()
            content = reply.read()
        if reply.status != 200:
            self.answered += 1
            raise ConnectionError
        if content != PAGE:
            raise Bad("lost", f"a page of {len(content)} bytes")

    def keep(self, url):
        """Checks that each write that the cache acknowledges is there later."""
        with Talker(url) as wire:
            wire.socket.settimeout(LIMIT)
            key, value = f"round-{self.round}", str(self.round)
            self.known.data.setdefault(key, DOUBT)
            reply = ask_cache(wire, "SET", key, value)
            if reply == b"+OK\r\n":
                self.known.data[key] = value
            else:
                self.answered += 1
            if ask_cache(wire, "SAVE") != b"+OK\r\n":
                self.answered += 1
            self.compare_data(wire, "in the same daemon")

    def compare_data(self, wire, where):
        for key, value in self.known.data.items():
            reply = ask_cache(wire, "GET", key)
            if value is not DOUBT and reply != b"$%d\r\n%s\r\n" % (len(value), value.encode()):
                raise Bad("lost", f"key {key} is {reply!r} {where}")

    # --- a whole life

    def phases(self):
        folder = self.folder
        yield "create", lambda: (
            self.create("server", "made", mode="echo",
                        listen=["tcp://127.0.0.1:0", f"unix://{folder}/made.sock"]),
            self.create("server", "later", start=False, port=0),
            self.create("cache", "new", listen=["tcp://127.0.0.1:0"],
                        persistent=str(folder / "new.log"), snapshot=str(folder / "new.rdb")),
            self.create("client", "caller", connect="runtime://made", reconnect=0,
                        reconnect_min=0.1))
        yield "stats", lambda: [self.look(path) for path in (
            "/v1/runtimes", "/v1/runtimes/served", "/v1/runtimes/served/stats",
            "/v1/runtimes/kept/stats")]
        yield "talk", self.talk
        yield "edit", lambda: (self.edit("made", "group", "blue"),
                               self.edit("idle", "rate_limit", 5),
                               self.edit("kept", "max_connections", 100))
        yield "stop", lambda: (self.act("made", "stop", False), self.act("kept", "stop", False))
        yield "start again", lambda: (self.act("made", "start", True),
                                      self.act("kept", "start", True),
                                      self.act("idle", "start", True))
        yield "restart", lambda: (self.act("served", "restart", True),
                                  self.act("guest", "restart", True))
        yield "send", lambda: [self.change(name, "POST", f"/v1/runtimes/{name}/send", b"hello",
                                           lambda: None) for name in ("served", "guest")]
        yield "remove", lambda: (self.remove("caller"), self.remove("new"), self.remove("later"))

    def is_up_or_ended(self):
        """Reports whether the daemon is up or has ended. It sends a request, because writing the
        log line that says so may be what fails."""
        if self.daemon.process.poll() is not None:
            return True
        with contextlib.suppress(*CUT, FileNotFoundError):
            return self.daemon.exchange("GET", "/v1/version")[0] == 200
        return False

    def start(self):
        """Starts the daemon and returns whether it serves; otherwise it must have refused
        with a sentence."""
        self.daemon.process = self.daemon.launch()
        try:
            eventually(self.is_up_or_ended, "ready", within=LIMIT)
        except (AssertionError, TimeoutError):
            raise Bad("hang", "it does not come up") from None
        code = self.daemon.process.poll()
        if code is None:
            return True
        if code != 1 or not re.search(r"(strata daemon: |error )cannot .+: .+", self.daemon.log()):
            raise Bad("crash", f"its start ended with {code}")
        return False

    def live(self):
        if not self.start():
            return "refused at start"
        for phase, act in self.phases():
            self.daemon.injector.phase = phase
            act()
        self.daemon.injector.phase = "after"
        shown = [self.ask("GET", f"/v1/runtimes/{each['name']}")
                 for each in self.ask("GET", "/v1/runtimes")]
        self.known.compare(shown, False, "in the same daemon")
        self.talk()
        self.daemon.injector.phase = "end"
        self.end()
        if self.answered:
            return "answered with an error"
        return "connection cut" if self.cut else "no effect seen"

    def end(self):
        self.see_alive()
        self.daemon.signal(signal.SIGTERM)
        try:
            code = self.daemon.process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            raise Bad("hang", "it does not end") from None
        if code != 0:
            raise Bad("crash", f"it ended with {code}")

    def settled(self, daemon):
        """Returns the runtimes that it shows. The daemon is ready before all have started if that
        takes over two seconds."""
        until = time.monotonic() + LIMIT
        while True:
            shown = [daemon.show(name) for name in daemon.names()]
            try:
                self.known.compare(shown, True, "in the next daemon")
                return shown
            except Bad:
                if time.monotonic() > until:
                    raise
            time.sleep(0.05)

    def look_afterwards(self):
        """Checks what a second daemon, without faults, finds."""
        daemon = Daemon(self.folder)
        daemon.log_path = self.folder / "second.log"
        daemon.start()
        try:
            shown = self.settled(daemon)
            kept = [each for each in shown if each["name"] == "kept"]
            if kept and kept[0]["state"] == "running":
                with Talker(kept[0]["endpoints"][0]) as wire:
                    self.compare_data(wire, "in the next daemon")
        finally:
            daemon.stop()

    def run(self):
        """Returns the outcome; never raises."""
        self.begin_known()
        fault = self.daemon.injector.fault
        try:
            verdict, detail = self.live(), ""
            if SANITIZER_REPORT.search(self.daemon.log()):
                raise Bad("crash", "a sanitizer reports")
            self.look_afterwards()
            if fault and not self.daemon.injector.struck:
                verdict = "not reached"
        except Bad as bad:
            verdict, detail = bad.verdict, str(bad)
        except Exception:  # an unexpected answer is a finding too
            verdict, detail = "crash", traceback.format_exc()
        finally:
            if self.daemon.process and self.daemon.process.poll() is None:
                self.daemon.kill9()
            self.daemon.injector.close()
        if detail:
            detail += "\n" + self.daemon.log()[-3000:]
        return Outcome(fault, verdict, detail)


def ask_cache(wire, *words):
    """Returns the reply's bytes."""
    wire.send(encode(words))
    while True:
        with contextlib.suppress(ValueError):
            if wire.rest and (end := end_of_reply(wire.rest, 0)) <= len(wire.rest):
                reply, wire.rest = wire.rest[:end], wire.rest[end:]
                return reply
        more = wire.socket.recv(65536)
        if not more:
            raise ConnectionError
        wire.rest += more
