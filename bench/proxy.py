#!/usr/bin/env python3
"""Measures strata's proxy against HAProxy and nginx: CPU of the proxy per message, request and
byte, and memory of an idle connection. The contenders take turns in front of the same backend.

bench_web_load sends the messages, wrk and h2load make the requests."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from harness.comparison import (argument_parser, chosen, participants, publish, summarise,
                                take_turns, to_before)
from harness.crowd import Crowd
from harness.goal import Goal
from harness.machine import describe_machine
from harness.measured import Measured, count_of
from harness.process import Failure, Process, free_port, listening, wait_until
from harness.strata_daemon import strata_daemon

MIB = 1024 * 1024
IDLE = 9_000  # connections, each with one to a backend: 18,000 descriptors
PATHS = "/usr/sbin:/usr/bin"
STREAM_MODULE = "/usr/lib/nginx/modules/ngx_stream_module.so"  # libnginx-mod-stream


@dataclass(frozen=True)
class Scenario:
    name: str
    about: str
    goal: float  # at most this times HAProxy's CPU, or its memory if idle
    load: tuple  # the program and its words, with {port} and {seconds}; empty: idle
    is_http: bool = True
    secure: bool = False
    unit: str = "us/request"

    @property
    def goals(self):
        return [Goal("cpu_us" if self.load else "bytes", self.goal, "haproxy"), *to_before()]


def messages(size, in_flight):
    return ("bench_web_load", "echo", "{port}", 50, size, in_flight, "{seconds}")


def wrk(path, scheme="http", connections=50, *more):
    return ("wrk", "-t1", f"-c{connections}", "-d{seconds}s", "--latency", *more,
            scheme + "://127.0.0.1:{port}" + path)


SCENARIOS = [
    Scenario("tcp 64", "50 streams, 64 B there and back", 0.7, messages(64, 1), is_http=False,
             unit="us/message"),
    Scenario("tcp 64 f16", "the same, 16 in flight", 0.7, messages(64, 16), is_http=False,
             unit="us/message"),
    Scenario("tcp bulk", "10 MiB each, 4 streams", 1.0, wrk("/10m", "http", 4), is_http=False,
             unit="us/10 MiB"),
    Scenario("tcp connect", "a connection and 64 B each", 1.0,
             wrk("/64", "http", 50, "-H", "Connection: close"), is_http=False,
             unit="us/connection"),
    Scenario("http 64", "64 B, 50 connections kept alive", 1 / 1.2, wrk("/64")),
    Scenario("http bulk", "10 MiB each, 4 connections", 1.0, wrk("/10m", "http", 4),
             unit="us/10 MiB"),
    Scenario("https 64", "64 B with TLS at the front", 1.0, wrk("/64", "https"), secure=True),
    Scenario("h2 64", "64 B by HTTP/2 with TLS at the front, 4 connections of 25 streams", 1.0,
             ("h2load", "-t1", "-c4", "-m25", "-D{seconds}", "https://127.0.0.1:{port}/64"),
             secure=True),
    Scenario("idle tcp", f"{IDLE:,} connections that have been used once", 0.5, (), is_http=False,
             unit="B/connection"),
    Scenario("idle http", "the same, by HTTP", 0.5, (), unit="B/connection"),
]


@dataclass(frozen=True)
class Tools:
    strata: Path
    before: Path | None
    load: Path
    files: Path
    certificate: Path
    key: Path
    bundle: Path  # both in one file, as HAProxy takes them


class Backend:
    """nginx for requests, strata's echo for messages."""

    def __init__(self, tools, folder):
        self.web, self.echo = free_port(), free_port()
        folder.mkdir(parents=True)
        config = folder / "config"
        config.write_text(nginx_config(folder, f"server {{ listen 127.0.0.1:{self.web}; "
                                               f"root {tools.files}; }}"))
        self._nginx = Process([shutil.which("nginx", path=PATHS), "-c", config, "-p", folder],
                              folder / "nginx.log")
        self._strata = strata_daemon(tools.strata, folder, [
            "server", "echo", "--listen", f"http://127.0.0.1:{self.echo}", "--mode", "echo"])
        wait_until(lambda: listening(self.web) and listening(self.echo),
                   "the backends do not listen")

    def stop(self):
        self._nginx.stop()
        self._strata.stop()


def nginx_config(folder, http, stream=""):
    places = "".join(f"{each}_temp_path {folder}/{each}; "
                     for each in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    more = f"stream {{ {stream} }}" if stream else ""
    modules = f"load_module {STREAM_MODULE};" if stream else ""
    return (f"{modules} daemon off; worker_processes 1; pid {folder}/pid; "
            f"error_log {folder}/error; worker_rlimit_nofile 20000; "
            "events { worker_connections 19000; }"
            f"http {{ access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000000; "
            f"open_file_cache max=100; {places} {http} }} {more}")


class Proxy(Measured):
    """A running contender, on a port of its own."""

    def __init__(self, name, tools, folder, scenario, backend):
        self.name, self.port = name, free_port()
        folder.mkdir(parents=True)
        is_message = scenario.unit == "us/message"
        self.backend = f"127.0.0.1:{backend.echo if is_message else backend.web}"
        start = getattr(self, "_start_" + name.removeprefix("before-"))
        self._process = start(tools, folder, scenario)
        wait_until(lambda: listening(self.port), f"{name} does not listen")

    def _start_strata(self, tools, folder, scenario):
        scheme = "https" if scenario.secure else "http" if scenario.is_http else "tcp"
        words = ["proxy", "bench", "--listen", f"{scheme}://127.0.0.1:{self.port}", "--backend",
                 self.backend]
        if scenario.secure:
            words += ["--cert", tools.certificate, "--key", tools.key]
        program = tools.before if self.name == "before-strata" else tools.strata
        return strata_daemon(program, folder, words)

    def _start_nginx(self, tools, folder, scenario):
        keys = (f"ssl_certificate {tools.certificate}; ssl_certificate_key {tools.key};"
                if scenario.secure else "")
        flags = ("ssl" if scenario.secure else "") + (" http2" if "h2" in scenario.name else "")
        http = (f"upstream b {{ server {self.backend}; keepalive 100; "
                "keepalive_requests 1000000000; "
                f"}} server {{ listen 127.0.0.1:{self.port} {flags}; {keys} location / {{ "
                "proxy_pass http://b; proxy_http_version 1.1; proxy_set_header Connection \"\"; "
                "proxy_set_header X-Forwarded-For $remote_addr; } }")
        stream = f"server {{ listen 127.0.0.1:{self.port}; proxy_pass {self.backend}; }}"
        config = folder / "config"
        config.write_text(nginx_config(folder, http) if scenario.is_http
                          else nginx_config(folder, "", stream))
        return Process([shutil.which("nginx", path=PATHS), "-c", config, "-p", folder],
                       folder / "log")

    def _start_haproxy(self, tools, folder, scenario):
        secure = f"ssl crt {tools.bundle} alpn h2,http/1.1" if scenario.secure else ""
        mode = "http" if scenario.is_http else "tcp"
        http = "http-reuse always\n  option forwardfor" if scenario.is_http else ""
        config = folder / "config"
        config.write_text(f"""global
  nbthread 1
  maxconn 9500
defaults
  mode {mode}
  timeout connect 5s
  timeout client 30s
  timeout server 30s
  {http}
frontend f
  bind 127.0.0.1:{self.port} {secure}
  default_backend b
backend b
  server s {self.backend}
""")
        return Process([shutil.which("haproxy", path=PATHS), "-f", config, "-db"], folder / "log")

    def stop(self):
        self._process.stop()


def prepare(wanted, folder):
    files = folder / "files"
    files.mkdir()
    (files / "64").write_bytes(b"x" * 64)
    (files / "10m").write_bytes(os.urandom(10 * MIB))
    build_dir = wanted.build_dir.resolve()
    strata = build_dir / "strata"
    env = {**os.environ, "STRATA_CONFIG_DIR": str(folder / "config")}
    subprocess.run([strata, "cert", "make", "localhost", "127.0.0.1", "-o", folder], env=env,
                   check=True, capture_output=True)
    os.chmod(folder, 0o755)  # nginx's worker runs as nobody
    certificate, key = folder / "localhost.pem", folder / "localhost-key.pem"
    bundle = folder / "bundle.pem"
    bundle.write_text(certificate.read_text() + key.read_text())
    load = next(build_dir.rglob("bench_web_load"))
    return Tools(strata, wanted.before, load, files, certificate, key, bundle)


def p99_ms(output):
    """Returns wrk's p99; 0 if the load reports none."""
    found = re.search(r"99%\s+([\d.]+)(us|ms|s)", output)
    return float(found[1]) * {"us": 0.001, "ms": 1, "s": 1000}[found[2]] if found else 0.0


def measure(proxy, scenario, tools, seconds):
    if not scenario.load:
        return measure_idle(proxy)
    words = [str(word).format(port=proxy.port, seconds=seconds) for word in scenario.load]
    if words[0] == "bench_web_load":
        words[0] = str(tools.load)
    began, started = proxy.cpu_us(), time.monotonic()
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    took, spent = time.monotonic() - started, proxy.cpu_us() - began
    failed = re.search(r"Non-2xx or 3xx responses: (\d+)|, ([1-9]\d*) failed", done.stdout)
    if done.returncode != 0 or failed:
        raise Failure(f"{words[0]} by {proxy.name}: {done.stdout[-200:]}{done.stderr[-200:]}")
    count = count_of(done.stdout)
    return {"cpu_us": spent / max(1, count), "rate": count / took, "p99_ms": p99_ms(done.stdout)}


def measure_idle(proxy):
    before = proxy.anonymous()
    crowd = Crowd(proxy.port, IDLE, b"GET /64 HTTP/1.1\r\nHost: bench\r\n\r\n",
                  lambda said: said.endswith(b"xx"))
    grown = proxy.anonymous() - before
    crowd.close()
    return {"bytes": grown / IDLE}


def contenders(wanted):
    peers = [each for each in ("haproxy", "nginx") if shutil.which(each, path=PATHS)]
    return participants(wanted, ["strata", *peers])


def main():
    parser = argument_parser(__doc__, SCENARIOS)
    parser.add_argument("--seconds", type=int, default=3, help="of each measurement")
    wanted = parser.parse_args()
    scenarios = chosen(wanted, SCENARIOS)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            tools = prepare(wanted, folder)
            if not shutil.which("haproxy", path=PATHS):
                print("haproxy is not installed: apt-get install haproxy", file=sys.stderr)
            backend = Backend(tools, folder / "backend")
            try:
                found = take_turns(
                    wanted.repetitions, scenarios, lambda _: contenders(wanted),
                    lambda name, scenario, place: Proxy(name, tools, folder / place, scenario,
                                                        backend),
                    lambda proxy, scenario: measure(proxy, scenario, tools, wanted.seconds))
            finally:
                backend.stop()
        except Failure as failure:
            sys.exit(f"bench-proxy: {failure}")
    publish({"machine": describe_machine(), "repetitions": wanted.repetitions,
             "scenarios": summarise(found, scenarios, lambda _: contenders(wanted))}, wanted,
            "bench-proxy", "CPU and memory are the proxy's alone")


if __name__ == "__main__":
    main()
