#!/usr/bin/env python3
"""Measures strata's HTTP, WebSocket and TLS against µWebSockets, nginx and h2o: CPU of the server
per message or request, and memory of an idle WebSocket. The contenders take turns.

µWebSockets comes with the crate libuwebsockets-sys, whose sources cargo fetches; wrk and h2load
make the requests, bench_web_load the messages."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from harness.comparison import (argument_parser, chosen, participants, publish, summarise,
                                take_turns, to_before)
from harness.goal import Goal
from harness.machine import describe_machine
from harness.measured import Measured, measure_load
from harness.process import Failure, Process, free_port, listening, wait_until
from harness.strata_daemon import strata_daemon

HERE = Path(__file__).resolve().parent
CRATE = "libuwebsockets-sys"
VERSION = "0.0.10"
KIB, MIB = 1024, 1024 * 1024
IDLE = 8000


@dataclass(frozen=True)
class Scenario:
    name: str
    about: str
    peer: str  # the contender to compare with
    goal: float  # at most this times the peer's CPU; bytes if idle
    load: tuple  # the program and its words, with {port} and {seconds}; empty: idle
    secure: bool = False
    mode: str = "echo"  # mode of a message server
    unit: str = "us/message"

    @property
    def goals(self):
        own = Goal("cpu_us", self.goal, self.peer) if self.load else Goal("bytes", self.goal)
        return [own, *to_before()]


def messages(kind, connections, size, in_flight):
    return ("bench_web_load", kind, "{port}", connections, size, in_flight, "{seconds}")


def wrk(path, scheme="http", connections=64):
    return ("wrk", "-t1", f"-c{connections}", "-d{seconds}s", scheme + "://127.0.0.1:{port}" + path)


def handshakes(mode):
    return (sys.executable, HERE / "handshakes.py", mode, "{port}", "/1k", "{seconds}", "{ca}")


def h2load(*more, scheme="http"):
    url = scheme + "://127.0.0.1:{port}/1k"
    return ("h2load", "-t1", "-c4", "-m100", "-D{seconds}", *more, url)


SCENARIOS = [
    Scenario("ws 20 f1", "echo of 20 B, 100 connections, 1 in flight", "uws", 0.95,
             messages("echo", 100, 20, 1)),
    Scenario("ws 20 f16", "the same, 16 in flight", "uws", 0.6, messages("echo", 100, 20, 16)),
    Scenario("ws 16k f1", "echo of 16 KiB, 100 connections, 1 in flight", "uws", 0.95,
             messages("echo", 100, 16 * KIB, 1)),
    Scenario("ws 16k f16", "the same, 16 in flight", "uws", 0.6,
             messages("echo", 100, 16 * KIB, 16)),
    Scenario("ws broadcast", "100 B to 1,000 WebSockets", "uws", 0.7,
             messages("broadcast", 1000, 100, 4), mode="inout"),
    Scenario("file 1k", "a file of 1 KiB, 64 connections kept alive", "nginx", 0.8, wrk("/1k"),
             unit="us/request"),
    Scenario("file 10m", "a file of 10 MiB, 4 connections", "nginx", 1.0,
             wrk("/10m", connections=4), unit="us/request"),
    Scenario("tls file 1k", "a file of 1 KiB with TLS", "nginx", 1.05,
             wrk("/1k", scheme="https"), secure=True, unit="us/request"),
    Scenario("tls file 10m", "a file of 10 MiB with TLS, 4 connections", "nginx", 1.05,
             wrk("/10m", scheme="https", connections=4), secure=True, unit="us/request"),
    Scenario("tls full", "a full handshake of TLS 1.3 and a file of 1 KiB each", "nginx", 1.05,
             handshakes("full"), secure=True, unit="us/handshake"),
    Scenario("tls resumed", "the same, each resumed by the ticket of the one before", "nginx", 1.0,
             handshakes("resumed"), secure=True, unit="us/handshake"),
    Scenario("h2 1k", "a file of 1 KiB by HTTP/2, 4 connections of 100 streams", "nginx", 0.9,
             h2load(), unit="us/request"),
    Scenario("idle", f"{IDLE:,} WebSockets that say nothing", "uws", 1536, (), mode="inout",
             unit="B/WebSocket"),
]


class Server(Measured):
    """A running contender, on a port of its own."""

    def __init__(self, name, tools, folder, scenario):
        self.name = name
        self.port = free_port()
        folder.mkdir(parents=True)
        self._log = folder / "log"
        start = getattr(self, "_start_" + name.removeprefix("before-"))
        self._process = start(tools, folder, scenario)
        wait_until(lambda: listening(self.port), f"{name} does not listen")

    def _start_strata(self, tools, folder, scenario):
        scheme = "https" if scenario.secure else "http"
        words = ["server", "bench", "--listen", f"{scheme}://127.0.0.1:{self.port}", "--mode",
                 scenario.mode, "--http", tools.files, "--http-cache"]
        if scenario.secure:
            words += ["--cert", tools.certificate, "--key", tools.key]
        program = tools.before if self.name == "before-strata" else tools.strata
        return strata_daemon(program, folder, words)

    def _start_uws(self, tools, _folder, scenario):
        return Process([tools.uws, self.port, scenario.mode], self._log)

    def _start_nginx(self, tools, folder, scenario):
        tls = (f"ssl_certificate {tools.certificate}; ssl_certificate_key {tools.key}; "
               "ssl_session_cache off; ssl_protocols TLSv1.2 TLSv1.3;") if scenario.secure else ""
        flags = ("ssl" if scenario.secure else "") + (" http2" if "h2" in scenario.name else "")
        places = "".join(f"{each}_temp_path {folder}/{each}; " for each in
                         ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        config = folder / "config"
        config.write_text(
            f"daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/error;"
            "worker_rlimit_nofile 10000; events { worker_connections 4096; }"
            f"http {{ access_log off; sendfile on; tcp_nopush on; keepalive_requests 100000000; "
            f"open_file_cache max=100; {places} server {{ listen 127.0.0.1:{self.port} {flags}; "
            f"{tls} root {tools.files}; }} }}")
        program = shutil.which("nginx", path="/usr/sbin:/usr/bin")
        return Process([program, "-c", config, "-p", folder], self._log)

    def _start_h2o(self, tools, folder, scenario):
        tls = (f", ssl: {{certificate-file: {tools.certificate}, key-file: {tools.key}}}"
               if scenario.secure else "")
        config = folder / "config"
        config.write_text(
            f"num-threads: 1\nuser: root\npid-file: {folder}/pid\nhosts:\n  default:\n"
            f"    listen: {{host: 127.0.0.1, port: {self.port}{tls}}}\n"
            f"    paths:\n      /: {{file.dir: {tools.files}}}\n")
        return Process(["h2o", "-c", config], self._log)


@dataclass(frozen=True)
class Tools:
    strata: Path
    before: Path | None
    load: Path
    uws: Path | None
    files: Path
    certificate: Path
    key: Path
    authority: Path


def build_uws(folder):
    """Builds the peer's echo server; returns None if its sources are unavailable."""
    project = folder / "uws"
    (project / "src").mkdir(parents=True)
    (project / "src" / "lib.rs").write_text("")
    (project / "Cargo.toml").write_text(
        '[package]\nname = "fetch"\nversion = "0.1.0"\nedition = "2021"\n'
        f'[dependencies]\n{CRATE} = "={VERSION}"\n')
    fetched = subprocess.run(["cargo", "fetch", "--quiet"], cwd=project, check=False)
    home = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    found = list(home.glob(f"registry/src/*/{CRATE}-{VERSION}/uWebSockets"))
    if fetched.returncode != 0 or not found:
        return None
    sources, sockets = found[0] / "src", found[0] / "uSockets" / "src"
    flags = ["-O3", "-flto", "-DLIBUS_NO_SSL", f"-I{sockets}"]
    for each in [*sockets.glob("*.c"), *(sockets / "eventing").glob("*.c")]:
        subprocess.run(["gcc", *flags, "-w", "-c", each], cwd=project, check=True)
    program = project / "echo"
    subprocess.run(["g++", "-std=c++20", *flags, "-w", "-DUWS_NO_ZLIB", f"-I{sources}",
                    HERE / "web_uws.cpp", *project.glob("*.o"), "-o", program], check=True)
    return program


def prepare(wanted, folder):
    files = folder / "files"
    files.mkdir()
    (files / "1k").write_bytes(os.urandom(KIB))
    (files / "10m").write_bytes(os.urandom(10 * MIB))
    build_dir = wanted.build_dir.resolve()
    strata = build_dir / "strata"
    env = {**os.environ, "STRATA_CONFIG_DIR": str(folder / "config")}
    subprocess.run([strata, "cert", "make", "localhost", "127.0.0.1", "-o", folder], env=env,
                   check=True, capture_output=True)
    os.chmod(folder, 0o755)  # nginx's worker runs as nobody
    load = next(build_dir.rglob("bench_web_load"))
    return Tools(strata, wanted.before, load, build_uws(folder), files, folder / "localhost.pem",
                 folder / "localhost-key.pem", folder / "config" / "authority" / "ca.pem")


def measure(server, scenario, tools, seconds):
    if not scenario.load:
        return measure_idle(server, tools)
    words = [str(word).format(port=server.port, seconds=seconds, ca=tools.authority)
             for word in scenario.load]
    if words[0] == "bench_web_load":
        words[0] = str(tools.load)
    return measure_load(server, words)


def contenders_of(scenario, tools, wanted):
    if scenario.peer == "uws":
        return participants(wanted, ["strata", *(["uws"] if tools.uws else [])])
    peers = [each for each in ("nginx", "h2o") if shutil.which(each, path="/usr/sbin:/usr/bin")]
    return participants(wanted, ["strata", *peers])


def measure_idle(server, tools):
    before = server.anonymous()
    with subprocess.Popen([tools.load, "hold", str(server.port), str(IDLE)],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as hold:
        hold.stdout.readline()
        time.sleep(1)
        return {"bytes": (server.anonymous() - before) / IDLE}


def main():
    parser = argument_parser(__doc__, SCENARIOS)
    parser.add_argument("--seconds", type=int, default=3, help="of each measurement")
    wanted = parser.parse_args()
    scenarios = chosen(wanted, SCENARIOS)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            tools = prepare(wanted, folder)
            if tools.uws is None:
                print(f"cargo has no {CRATE}: µWebSockets does not take part", file=sys.stderr)
            found = take_turns(
                wanted.repetitions, scenarios, lambda each: contenders_of(each, tools, wanted),
                lambda name, scenario, place: Server(name, tools, folder / place, scenario),
                lambda server, scenario: measure(server, scenario, tools, wanted.seconds))
        except Failure as failure:
            sys.exit(f"bench-web: {failure}")
        rows = summarise(found, scenarios, lambda each: contenders_of(each, tools, wanted))
    publish({"machine": describe_machine(), "repetitions": wanted.repetitions, "scenarios": rows},
            wanted, "bench-web", "CPU and memory are the server's alone")


if __name__ == "__main__":
    main()
