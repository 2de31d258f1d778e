#!/usr/bin/env python3
"""Measures the cost of scripts: an echo in Lua beside the built-in echo, HTTP requests answered in
JSON beside node, and a proxy with on_route beside one without. CPU of the server per message or
request, and memory of a script. The contenders take turns.

nginx with Lua does not take part: Debian's module brings another LuaJIT, which replaces the one
that strata is built with."""

import json
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from harness.comparison import (argument_parser, chosen, participants, publish, summarise,
                                take_turns, to_before)
from harness.goal import Goal
from harness.machine import describe_machine
from harness.measured import Measured, measure_load
from harness.process import Failure, Process, free_port, listening, wait_until
from harness.strata_daemon import environment, strata_daemon

ECHO = "function on_client_message(id, message) self.send(id, message) end\n"
ANSWER = """local encode = strata.json.encode
function on_http_request(request)
  return {json = {hello = request.query.name or 'nobody', path = request.path, list = {1, 2, 3}}}
end
"""
ROUTE = """function on_route(request)
  if request.headers['x-canary'] == 'yes' then return 1 end
end
"""
NODE_ANSWER = """
require('http').createServer((request, answer) => {
  const url = new URL(request.url, 'http://x');
  const body = JSON.stringify({hello: url.searchParams.get('name') || 'nobody',
                               path: url.pathname, list: [1, 2, 3]});
  answer.writeHead(200, {'Content-Type': 'application/json', 'Content-Length': body.length});
  answer.end(body);
}).listen(Number(process.argv[2]), '127.0.0.1');
"""
MEMORY_GOAL = 300 * 1024
OWN = ("built-in", "lua", "lua-jit")


@dataclass(frozen=True)
class Scenario:
    name: str
    about: str
    contenders: tuple
    peer: str  # the contender to compare with
    goal: float
    load: tuple
    unit: str

    @property
    def goals(self):
        return [Goal("cpu_us", self.goal, self.peer, contender="lua"),
                Goal("script_bytes", MEMORY_GOAL, contender="lua"), *to_before(OWN)]


def messages(in_flight):
    return ("bench_web_load", "echo", "{port}", 100, 20, in_flight, "{seconds}")


SCENARIOS = [
    Scenario("echo f1", "echo of 20 B on 100 WebSockets, 1 in flight",
             OWN, "built-in", 1.25, messages(1), "us/message"),
    Scenario("echo f16", "the same, 16 in flight", OWN, "built-in", 1.25, messages(16),
             "us/message"),
    Scenario("http json", "an answer in JSON, 64 connections kept alive",
             ("lua", "lua-jit", "node"), "node", 0.7,
             ("wrk", "-t1", "-c64", "-d{seconds}s", "http://127.0.0.1:{port}/some/path?name=ann"),
             "us/request"),
    Scenario("on_route", "a proxy that asks a script where to, 50 connections kept alive",
             OWN, "built-in", 1.1,
             ("wrk", "-t1", "-c50", "-d{seconds}s", "http://127.0.0.1:{port}/some/path"),
             "us/request"),
]


class Server(Measured):
    """A running contender, on a port of its own."""

    def __init__(self, name, tools, folder, scenario):
        self.name = name.removeprefix("before-")
        self._program = tools.before if name.startswith("before-") else tools.strata
        self.port = free_port()
        folder.mkdir(parents=True)
        self._log = folder / "log"
        self._backend = None
        start = self._start_node if name == "node" else self._start_strata
        self._process = start(folder, scenario)
        wait_until(lambda: listening(self.port), f"{name} does not listen")

    def _start_strata(self, folder, scenario):
        self.env = environment(folder)
        is_route = scenario.name == "on_route"
        words = ["proxy" if is_route else "server", "bench"]
        if is_route:
            words += ["--backend", f"127.0.0.1:{self._start_backend(folder)}"]
        elif self.name == "built-in":
            words += ["--mode", "echo"]
        if self.name != "built-in":
            script = folder / "script.lua"
            script.write_text(ROUTE if is_route else
                              ECHO if scenario.name.startswith("echo") else ANSWER)
            words += ["--lua", script, *(["--lua-jit"] if self.name == "lua-jit" else [])]
        return self._daemon(folder, self.port, words)

    def _daemon(self, folder, port, words):
        listen = ["--listen", f"http://127.0.0.1:{port}"]
        return strata_daemon(self._program, folder, [*words, *listen])

    def _start_backend(self, folder):
        """Starts the proxy's backend, whose CPU is not counted."""
        place, port = folder / "backend", free_port()
        place.mkdir()
        (place / "answer.lua").write_text(ANSWER)
        self._backend = self._daemon(place, port,
                                     ["server", "backend", "--lua", place / "answer.lua"])
        wait_until(lambda: listening(port), "the backend does not listen")
        return port

    def stop(self):
        super().stop()
        if self._backend is not None:
            self._backend.stop()

    def _start_node(self, folder, _scenario):
        script = folder / "answer.js"
        script.write_text(NODE_ANSWER)
        return Process(["node", script, str(self.port)], self._log)

    def script_memory(self):
        shown = subprocess.run([self._program, "stats", "bench", "--format", "json"], env=self.env,
                               capture_output=True, check=True, timeout=10)
        return json.loads(shown.stdout)[0]["script"]["memory"]


@dataclass(frozen=True)
class Tools:
    strata: Path
    before: Path | None
    load: Path


def contenders_of(scenario, wanted):
    present = [each for each in scenario.contenders if each in OWN or shutil.which(each)]
    return participants(wanted, present, OWN)


def measure(server, scenario, tools, seconds):
    words = [str(word).format(port=server.port, seconds=seconds) for word in scenario.load]
    if words[0] == "bench_web_load":
        words[0] = str(tools.load)
    found = measure_load(server, words)
    if "lua" in server.name:
        found["script_bytes"] = server.script_memory()
    return found


def main():
    parser = argument_parser(__doc__, SCENARIOS)
    parser.add_argument("--seconds", type=int, default=3, help="of each measurement")
    wanted = parser.parse_args()
    scenarios = chosen(wanted, SCENARIOS)
    build = wanted.build_dir.resolve()
    tools = Tools(build / "strata", wanted.before, next(build.rglob("bench_web_load")))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)  # nginx's worker runs as nobody
        try:
            found = take_turns(
                wanted.repetitions, scenarios, lambda each: contenders_of(each, wanted),
                lambda name, scenario, place: Server(name, tools, folder / place, scenario),
                lambda server, scenario: measure(server, scenario, tools, wanted.seconds))
        except Failure as failure:
            sys.exit(f"bench-lua: {failure}")
    publish({"machine": describe_machine(), "repetitions": wanted.repetitions,
             "scenarios": summarise(found, scenarios, lambda each: contenders_of(each, wanted))},
            wanted, "bench-lua", "CPU is the server's alone")


if __name__ == "__main__":
    main()
