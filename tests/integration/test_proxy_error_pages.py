"""The proxy's own answers can have custom pages."""

import os
import subprocess

import pytest

from http_backend import ask, client, gateway, get
from strata_daemon import Refused
from talker import free_port


@pytest.fixture
def pages(tmp_path):
    folder = tmp_path / "pages"
    folder.mkdir()
    for status in (400, 404, 502, 503):
        (folder / f"{status}.html").write_text(f"<h1>page of {status}</h1>")
    return folder


def test_answers_of_the_proxy_have_pages(daemon, make_backend, pages):
    backend = make_backend(lambda *_: False)  # closes the connection
    nobody = f"127.0.0.1:{free_port()}"
    port = gateway(daemon, backend=[], error_pages=str(pages), retries=0, circuit_failures=0,
                   route=[f"path=/502 -> {backend.where}", f"path=/503 -> {nobody}",
                          "path=/403 -> answer=403"])
    for path, status in (("/502", 502), ("/503", 503), ("/other", 404)):
        assert get(port, path) == (status, b"<h1>page of %d</h1>" % status)
    assert get(port, "/403") == (403, b"")  # this status has no page
    with client(port) as wire:
        head, body = ask(wire, b"GET /503 HTTP/1.1\r\nHost: h\r\n\r\n")
        assert b"content-type: text/html" in head.lower()
        head, body = ask(wire, b"GET / HTTP/1.1\r\nBad header\r\n\r\n")
        assert (head.split()[1], body) == (b"400", b"<h1>page of 400</h1>")
    told = subprocess.run(["curl", "-s", "--http2-prior-knowledge", f"http://127.0.0.1:{port}/x"],
                          capture_output=True, timeout=30).stdout
    assert told == b"<h1>page of 404</h1>"
    head = subprocess.run(["curl", "-sI", f"http://127.0.0.1:{port}/x"], capture_output=True,
                          timeout=30).stdout
    assert b"Content-Length: 20" in head and head.endswith(b"\r\n\r\n")


def test_an_answer_of_a_backend_stays_its_own(daemon, make_backend, pages):
    def answer(wire, _):
        wire.over.sendall(b"HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nmine")
        return True
    port = gateway(daemon, make_backend(answer), error_pages=str(pages))
    assert get(port) == (503, b"mine")


def test_pages_are_read_again(daemon, pages):
    port = gateway(daemon, backend=[f"127.0.0.1:{free_port()}"], error_pages=str(pages))
    (pages / "503.html").write_text("other words")
    assert get(port) == (503, b"<h1>page of 503</h1>")
    daemon.cli("reload", "gw")
    assert get(port) == (503, b"other words")
    (pages / "503.html").write_bytes(b"x" * 65537)
    done = daemon.run("reload", "gw")
    assert done.returncode != 0 and "65537 bytes, but at most 65536" in done.stderr
    assert get(port) == (503, b"other words")


@pytest.mark.once
def test_what_is_no_page_is_refused(daemon, pages, tmp_path):
    (pages / "502.html").unlink()
    os.mkfifo(pages / "502.html")
    with pytest.raises(Refused, match="not a regular file"):
        gateway(daemon, backend=["127.0.0.1:1"], error_pages=str(pages))
    with pytest.raises(Refused, match="there is none"):
        gateway(daemon, backend=["127.0.0.1:1"], error_pages=str(tmp_path), name="other")
