#!/usr/bin/env python3
"""Writes docs/proxy-semantics.md: the rows of semantics_rows.py with strata, nginx and HAProxy.

By hand: STRATA_BIN=… tests/harness/semantics_table.py"""

import contextlib
import itertools
import re
import subprocess
import tempfile
from pathlib import Path

from http_backend import gateway
from peers import Peers, program
from semantics import ask, make_backend
from semantics_rows import cases, faults
from strata_daemon import Daemon
from talker import own_ports

PAGE = Path(__file__).resolve().parents[2] / "docs/proxy-semantics.md"

NGINX = """worker_processes 1; daemon off; pid {folder}/pid; error_log {folder}/errors;
events {{ worker_connections 64; }}
http {{ access_log off; {places}
server {{ listen 127.0.0.1:{port} {version}; location / {{ proxy_pass http://{backend};
proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $http_host;
proxy_read_timeout 3s;
proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; }} }} }}
"""

HAPROXY = """defaults
  mode http
  option forwardfor
  timeout connect 3s
  timeout client 3s
  timeout server 3s
listen all
  bind 127.0.0.1:{port} {front}
  server one {backend} {version}
"""


class Contenders:
    """Starts a contender's proxy before `backend` and returns its port; None
    if it lacks the version."""

    def __init__(self, folder):
        self.folder, self.ports, self.number = folder, own_ports(), itertools.count()

    @contextlib.contextmanager
    def peers(self):
        folder = self.folder / str(next(self.number))
        folder.mkdir()
        peers = Peers(folder)
        with contextlib.closing(peers):
            yield peers

    @contextlib.contextmanager
    def strata(self, front, version, backend):
        folder = self.folder / str(next(self.number))
        folder.mkdir()
        daemon = Daemon(folder)
        daemon.start()
        try:
            yield gateway(daemon, backend=[backend.where], answer_timeout=3)
        finally:
            daemon.stop()

    @contextlib.contextmanager
    def nginx(self, front, version, backend):
        if version == "2":  # proxy_pass of nginx 1.22 speaks only HTTP/1.1
            yield None
            return
        with self.peers() as peers:
            yield peers.nginx("nginx", NGINX, port=next(self.ports), backend=backend.where,
                              version="http2" if front == "2" else "")

    @contextlib.contextmanager
    def haproxy(self, front, version, backend):
        with self.peers() as peers:
            yield peers.haproxy("haproxy", HAPROXY, port=next(self.ports),
                                backend=backend.where.split()[0],
                                front="proto h2" if front == "2" else "",
                                version="proto h2" if version == "2" else "")


def try_row(make, row, front, version):
    first = {"first": row.first} if row.first else {}
    with contextlib.closing(make_backend(version, row.steps, row.early, **first)) as backend:
        with make(front, version, backend) as port:
            if port is None:
                return None
            return faults(row, front, ask(front, port, row.asked), backend)


def cell(found):
    if found is None:
        return "–"
    plain = [" ".join(each.split()).replace("|", "\\|").replace("<", "&lt;") for each in found]
    return "; ".join(plain[:2]) or "as the rule says"


def main():
    names = ["strata", "nginx", "haproxy"]
    lines, counts, tried = [], dict.fromkeys(names, 0), dict.fromkeys(names, 0)
    with tempfile.TemporaryDirectory() as folder:
        contenders = Contenders(Path(folder))
        for row, front, version in cases():
            found = {name: try_row(getattr(contenders, name), row, front, version)
                     for name in names}
            for name in names:
                counts[name] += found[name] == []
                tried[name] += found[name] is not None
            if any(found.values()):
                cells = [row.name.replace("_", " "), f"{front} → {version}",
                         *(cell(found[name]) for name in names), row.rule]
                lines.append(f"| {' | '.join(cells)} |")
    PAGE.write_text(HEAD.format(
        all=len(cases()), nginx_version=version_of("nginx"),
        haproxy_version=version_of("haproxy"),
        **{name: f"{counts[name]} of {tried[name]}" for name in names}, rows="\n".join(lines)))


def version_of(name):
    done = subprocess.run([program(name), "-v"], capture_output=True, text=True, check=True)
    return re.search(r"\d+\.\d+\.\d+", done.stdout + done.stderr)[0]


HEAD = """# What proxies pass on

Interim answers, trailers, HEAD, lengths, resets, targets and fields, from clients of HTTP/1.1 and
HTTP/2 to backends of both. `tests/harness/semantics_rows.py` has the exchanges, with what each end
must see by the RFCs; tests/integration/test_proxy_semantics.py holds strata to them.
`tests/harness/semantics_table.py` sends them through strata, nginx {nginx_version} and HAProxy
{haproxy_version} as Debian has them, and has written this page.

Of {all} exchanges {strata} came out as the rule says with strata, {nginx} with nginx (which speaks
HTTP/1.1 alone to backends) and {haproxy} with HAProxy. The exchanges in which one differs:

| exchange | client → backend | strata | nginx | HAProxy | the rule |
|---|---|---|---|---|---|
{rows}
"""


if __name__ == "__main__":
    main()
