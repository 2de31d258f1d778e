"""Prints how strata, nginx and HAProxy treat requests that are unusual in one thing: a Markdown
table of those where they differ, with the reasons. It produces docs/smuggling.md:

    STRATA_BIN=build/release/strata python3 tests/harness/smuggling_table.py > docs/smuggling.md
"""

import pathlib
import shutil
import socket
import sys
import tempfile
import threading

import smuggling
from smuggling import CODINGS, ENDS, LENGTHS, SIZES, STARTS, Stage

BODY = "hello"
PROXIES = ["strata", "nginx", "haproxy"]
SPACES = ("RFC 9112 section 3: one space stands between the parts. More may be tolerated, and "
          "the section warns of that")
FOLD = "RFC 9112 section 5.2: a folded line is refused, or replaced by a space"
LF = ("RFC 9112 section 2.2: LF alone may be taken for a line's end, and so heads are read in two "
      "ways")
CHUNK_LF = "RFC 9112 section 7.1: CR LF stands there; for chunks nothing else is allowed"
TWICE = "RFC 9110 section 8.6: equal lengths may be taken for one, or refused"
BLANK = "RFC 9110 section 5.6.3: a tab may stand around a value; this is no trick"
# The reasons for differences, by a part of the form.
REASONS = {
    "POST  /1": SPACES, "POST\t/1": SPACES, "HTTP/1.1 ": SPACES,
    "post /1": "RFC 9110 section 9.1: methods are case-sensitive; `post` is one of its own",
    "5, 5": TWICE, "5\r\nContent-Length: 5": TWICE, ":5\t": BLANK, ":\tchunked": BLANK,
    "\r\n Content-Length": FOLD, ":\r\n chunked": FOLD, " Transfer-Encoding: chunked": FOLD,
    "y\nContent-Length": LF, "y\nTransfer-Encoding": LF, "behind a field": LF,
    "behind a chunk": CHUNK_LF,
    "chunked,": ("RFC 9110 section 5.6.1.2: empty elements of a list are passed over. strata takes "
                 "the one word, since backends differ in the rest"),
    "Transfer-Encoding: chunked": ("RFC 9112 section 6.1: both are refused, or the length is "
                                   "dropped"),
    "5 ": "RFC 9112 section 7.1: no blank stands behind a chunk's size",
}
HEADER = """# Requests that two programs could read differently

What the proxies of strata, nginx and HAProxy do with requests that are unusual in one thing.
`tests/harness/smuggling_table.py` sends each of them, to a backend that keeps what it reads, and
has written this page. Of {count} requests, {equal} are refused by all three or passed on by all
three. These are the others; strata refuses what is in doubt, since a backend may be of another
opinion:

| unusual in its | form | strata | nginx | HAProxy | the rule |
|---|---|---|---|---|---|
"""
FOOTER = """
A field whose name has an underscore (`Content_Length`) is one of another name: strata and HAProxy
pass it on, nginx drops it. A backend that makes variables of CGI out of fields takes it for the
real one: `--request-header 'remove content_length'` keeps it away.

`tests/harness/smuggling.py` goes further: requests with several such things at once, thousands of
them, before backends of h11, node, Go and nginx. One that a backend has read, and the proxy before
it has not, is smuggled. It prints how many; tests/integration/test_proxy_smuggling.py wants 0 of
strata.
"""


class Recorder:
    """A backend that keeps what it reads, and answers once per connection."""

    def __init__(self):
        self.server = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.server.getsockname()[1]
        self.read = []
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            over, _ = self.server.accept()
            with over:
                over.settimeout(0.2)
                said = b""
                try:
                    while piece := over.recv(65536):
                        said += piece
                except OSError:
                    pass
                if said:
                    self.read.append(said)
                    over.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"
                                 b"Connection: close\r\n\r\nok")


def request(start=STARTS[0], fields=("Host: h", f"Content-Length: {len(BODY)}"), body=BODY,
            end="\r\n"):
    head = "\r\n".join([start.format(n=1), *fields])
    return (head + end + "\r\n" + body).encode("latin-1")


def cases():
    """Yields each case: the kind, the unusual form, the bytes."""
    for each in STARTS[1:]:
        yield "request line", each.format(n=1), request(start=each)
    for each in LENGTHS[1:]:
        form = each.format(l=len(BODY))
        yield "length", form, request(fields=["Host: h", form] if form else ["Host: h"])
    chunked = f"{len(BODY):x}\r\n{BODY}\r\n0\r\n\r\n"
    for each in CODINGS[2:]:
        yield "coding", each, request(fields=["Host: h", each], body=chunked)
        yield "coding and length", each, request(
            fields=["Host: h", each, f"Content-Length: {len(BODY)}"])
    yield "coding and length", CODINGS[1], request(
        fields=["Host: h", CODINGS[1], f"Content-Length: {len(chunked)}"], body=chunked)
    for each in SIZES[1:]:
        size = each.format(s=len(BODY))
        yield "chunk size", size, request(fields=["Host: h", CODINGS[1]],
                                          body=f"{size}\r\n{BODY}\r\n0\r\n\r\n")
    for each in ENDS[1:]:
        yield "line end", f"{each!r} behind a field", request(end=each)
        yield "line end", f"{each!r} behind a chunk's size", request(
            fields=["Host: h", CODINGS[1]], body=f"5{each}{BODY}\r\n0\r\n\r\n")
        yield "line end", f"{each!r} behind a chunk", request(
            fields=["Host: h", CODINGS[1]], body=f"5\r\n{BODY}{each}0\r\n\r\n")


def framing_of(said):
    """Returns the framing fields that a backend received, and the body."""
    head, _, body = said.partition(b"\r\n\r\n")
    lines = [line for line in head.decode("latin-1").lower().split("\r\n")
             if line.startswith(("content-length", "transfer-encoding", "content_", "transfer_"))]
    return ", ".join(lines) or "no body", body.decode("latin-1")


def outcome(port, backend, data):
    """Returns the result of a request: its status, or how it was forwarded."""
    backend.read.clear()
    statuses = smuggling.send(port, data)
    passed = [framing_of(each) for each in backend.read]
    if not passed:
        return " ".join(statuses) or "closed"
    told = "; ".join(f"`{framing}`" for framing, _ in passed)
    return f"passed on, {told}" if len(passed) == 1 else f"passed on as {len(passed)}: {told}"


def shown(form):
    for raw, written in (("\r", "\\r"), ("\n", "\\n"), ("\t", "\\t"), ("\x00", "\\0"),
                         ("\x01", "\\x01"), ("\x0b", "\\v"), ("|", "\\|")):
        form = form.replace(raw, written)
    return f"`{form}`" if form.strip() == form and form else f'`"{form}"`'


def looked_at():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="strata-smuggling-"))
    stage, backend = Stage(folder), Recorder()
    try:
        ports = [stage.proxy(each, backend.port) for each in PROXIES]
        for kind, form, data in cases():
            yield kind, form, [outcome(port, backend, data) for port in ports]
    finally:
        stage.close()
        shutil.rmtree(folder, ignore_errors=True)


def is_refused(outcome):
    return not outcome.startswith("passed on")


def reason_of(form):
    for part, reason in REASONS.items():
        if part in form:
            return reason
    sys.exit(f"smuggling_table.py: they differ in {form!r}: say why in REASONS")


def page(rows):
    others = [(kind, form, found) for kind, form, found in rows
              if len({is_refused(each) for each in found}) == 2]
    text = HEADER.format(count=len(rows), equal=len(rows) - len(others))
    for kind, form, found in others:
        text += f"| {kind} | {shown(form)} | " + " | ".join(found) + f" | {reason_of(form)} |\n"
    return text + FOOTER


if __name__ == "__main__":
    sys.stdout.write(page(list(looked_at())))
