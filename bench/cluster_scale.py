#!/usr/bin/env python3
"""Measures what the membership of a cluster costs as the cluster grows: what a daemon receives and
the CPU that it takes, in a simulation, and the CPU of a real etcd. Draws both against the number of
daemons with --plot."""

import argparse
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from html import escape
from math import log10
from pathlib import Path

from harness.machine import describe_machine
from harness.progress import Progress

SIMULATED = [10, 30, 100, 300, 1000]
MEASURED = [10, 30, 100]  # more than that, one process cannot be
PATIENCE_S = 30


class Etcd:
    """An etcd of one member on loopback. It is ended by its process id."""

    def __init__(self, folder):
        ports = []
        for _ in range(2):
            with socket.create_server(("127.0.0.1", 0)) as free:
                ports.append(free.getsockname()[1])
        self.address = f"127.0.0.1:{ports[0]}"
        peer = f"http://127.0.0.1:{ports[1]}"
        self.process = subprocess.Popen(
            ["etcd", "--data-dir", folder, "--log-level", "error", "--name", "m",
             "--listen-client-urls", f"http://{self.address}",
             "--advertise-client-urls", f"http://{self.address}", "--listen-peer-urls", peer,
             "--initial-advertise-peer-urls", peer, "--initial-cluster", f"m={peer}"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + PATIENCE_S
        while not self.is_healthy():
            if time.monotonic() > deadline:
                sys.exit("bench: etcd did not start")
            time.sleep(0.1)

    def is_healthy(self):
        try:
            with urllib.request.urlopen(f"http://{self.address}/health", timeout=2) as got:
                return json.load(got)["health"] == "true"
        except OSError:
            return False

    def cpu_s(self):
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def sent_bytes(self):
        with urllib.request.urlopen(f"http://{self.address}/metrics", timeout=PATIENCE_S) as got:
            text = got.read().decode()
        found = re.search(r"^etcd_network_client_grpc_sent_bytes_total (\S+)", text, re.MULTILINE)
        return float(found[1]) if found else 0.0

    def close(self):
        self.process.terminate()
        self.process.wait()


def simulate(program, count, seconds):
    done = subprocess.run([program, "sim", str(count), str(seconds)], capture_output=True,
                          text=True)
    if done.returncode != 0:
        sys.exit(f"bench: {done.stderr.strip()}")
    return json.loads(done.stdout)


def measure(program, count, seconds):
    with tempfile.TemporaryDirectory() as folder:
        etcd = Etcd(folder)
        try:
            running = subprocess.Popen(
                [program, "etcd", str(count), str(seconds), etcd.address], text=True,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            said = []
            for line in running.stderr:
                said.append(line)
                if line == "settled\n":
                    break
            cpu_s, sent = etcd.cpu_s(), etcd.sent_bytes()
            printed, rest = running.communicate()
            if running.returncode != 0:
                sys.exit(f"bench: {''.join(said)}{rest}")
            row = json.loads(printed)
            row["etcd_cores"] = (etcd.cpu_s() - cpu_s) / seconds
            row["etcd_sent_bytes"] = (etcd.sent_bytes() - sent) / seconds
            return row
        finally:
            etcd.close()


# --- the plot: both axes by powers of ten

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 760, 420, 80, 60, 60
LINES = {
    "events": ("events that a daemon receives in a second", "#2563a8"),
    "kib": ("KiB that a daemon receives in a second", "#b5523b"),
    "cpu_ms": ("CPU of a daemon with its part of the simulated etcd, ms in a second", "#4b8b3b"),
    "etcd_cores": ("CPU of a real etcd, cores", "#8a8f98"),
}


def draw(document):
    series = {
        "events": [(row["daemons"], row["events"]) for row in document["simulated"]],
        "kib": [(row["daemons"], row["bytes"] / 1024) for row in document["simulated"]],
        "cpu_ms": [(row["daemons"], row["cpu_us"] / 1000) for row in document["simulated"]],
        "etcd_cores": [(row["daemons"], row["etcd_cores"]) for row in document["measured"]],
    }
    low, high = 0.001, 10_000
    most = max(row["daemons"] for row in document["simulated"])

    def x_of(count):
        return LEFT + (WIDTH - LEFT - 30) * _power(count, 10) / _power(most, 10)

    def y_of(value):
        share = _power(max(value, low), low) / _power(high, low)
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share

    machine = document["machine"]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT + 90}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT + 90}" font-family="sans-serif" font-size="13">',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        _text(16, 26, "What a cluster costs as it grows", 'font-size="16" font-weight="bold"'),
        _text(16, 46, "ten runtimes on each daemon, one of which changes every minute",
              'fill="#555555"')]
    value = low
    while value <= high:
        y = y_of(value)
        parts += [f'<path d="M{LEFT} {y:.1f} H{WIDTH - 30}" stroke="#dddddd"/>',
                  _text(LEFT - 8, y + 4, f"{value:g}", 'text-anchor="end"')]
        value *= 10
    for count in sorted({row["daemons"] for row in document["simulated"]}):
        parts.append(_text(x_of(count), HEIGHT - BOTTOM + 20, f"{count:,}", 'text-anchor="middle"'))
    parts.append(_text(WIDTH / 2, HEIGHT - BOTTOM + 40, "daemons", 'text-anchor="middle"'))
    for place, (key, (title, colour)) in enumerate(LINES.items()):
        points = " ".join(f"{x_of(count):.1f},{y_of(value):.1f}" for count, value in series[key])
        parts += [f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>']
        parts += [f'<circle cx="{x_of(count):.1f}" cy="{y_of(value):.1f}" r="3" fill="{colour}"/>'
                  for count, value in series[key]]
        y = HEIGHT + 10 + 18 * place
        parts += [f'<rect x="{LEFT}" y="{y - 9}" width="12" height="12" fill="{colour}"/>',
                  _text(LEFT + 20, y + 2, title)]
    parts += [_text(16, HEIGHT + 84, f"{machine['cpu_model']}, Linux {machine['kernel']}",
                    'fill="#555555" font-size="11"'), "</svg>"]
    return "\n".join(parts) + "\n"


def _power(value, base):
    return log10(value / base)


def _text(x, y, words, style=""):
    return f'<text x="{x:.1f}" y="{y:.1f}"{style and " " + style}>{escape(words)}</text>'


def table(document):
    lines = ["daemons  events/s  KiB/s  CPU ms/s   (of one daemon, in the simulation)"]
    lines += [f"{row['daemons']:7,}  {row['events']:8.2f}  {row['bytes'] / 1024:5.1f}  "
              f"{row['cpu_us'] / 1000:8.3f}" for row in document["simulated"]]
    lines += ["", "daemons  etcd cores  MiB/s sent  CPU ms/s   (a real etcd; of one daemon)"]
    lines += [f"{row['daemons']:7,}  {row['etcd_cores']:10.2f}  "
              f"{row['etcd_sent_bytes'] / 2 ** 20:10.2f}  {row['cpu_us'] / 1000:8.3f}"
              for row in document["measured"]]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build-dir", type=Path, default=Path("build/release"))
    parser.add_argument("--seconds", type=float, default=20, help="of each measurement")
    parser.add_argument("--most", type=int, default=max(SIMULATED), help="daemons")
    parser.add_argument("--format", choices=("table", "json"), default="table")
    parser.add_argument("--output", type=Path, help="write the JSON document here too")
    parser.add_argument("--plot", type=Path, help="draw an SVG into this file")
    wanted = parser.parse_args()
    program = wanted.build_dir / "bench/bench_cluster"
    progress = Progress(len(SIMULATED) + len(MEASURED))
    document = {"machine": describe_machine(), "simulated": [], "measured": []}
    for kind, counts, run in (("simulated", SIMULATED, simulate), ("measured", MEASURED, measure)):
        for count in counts:
            if count > wanted.most:
                continue
            progress.step(f"{kind}: {count} daemons")
            document[kind].append(run(program, count, wanted.seconds))
    progress.close()
    if wanted.output:
        wanted.output.write_text(json.dumps(document, indent=1) + "\n")
    if wanted.plot:
        wanted.plot.write_text(draw(document))
    print(json.dumps(document) if wanted.format == "json" else table(document))


if __name__ == "__main__":
    main()
