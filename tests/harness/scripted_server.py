"""A server with a script, and how curl sends it HTTP requests."""

import subprocess

from strata_daemon import PATIENCE

VERSIONS = ["--http1.1", "--http2-prior-knowledge"]


def start(daemon, folder, text, name="web", **options):
    """Starts a server with this script and returns where it listens. The script's file is in
    `folder` and has the server's name."""
    path = folder / f"{name}.lua"
    path.write_text(text)
    return daemon.create("server", name, lua=str(path), **options)["endpoints"][0]


def curl_command(version, port, path, *more):
    return ["curl", "-sN", version, *more, f"http://127.0.0.1:{port}{path}"]


def curl(*words):
    """Returns a function that runs curl with arguments as `curl_command` takes them."""
    return subprocess.run(curl_command(*words), capture_output=True, timeout=PATIENCE, check=False)


def fetch(*words):
    """Returns a function that does the same and returns body and status."""
    body, _, status = curl(*words, "-w", "|%{http_code}").stdout.rpartition(b"|")
    return body, int(status)
