"""Exchanges through a proxy: what a client requests, what a backend answers, and what each of them
must see. A row is tried with each version of its `fronts` and of its `backends`."""

import dataclasses
import re

from semantics import VERSIONS, Asked

OK = [("head", 200, [("content-length", "2")]), ("data", b"ok"), ("end",)]
LINK = [("link", "</a.css>; rel=preload")]


# The section of the RFC, by the beginning of a row's name.
RULES = [
    (r"10[23]", "RFC 9110 section 15.2: a proxy forwards interim answers"),
    ("continue|expectation|unauthorized", "RFC 9110 section 10.1.1: whether a body is wanted is "
     "the backend's to say"),
    ("trailers", "RFC 9110 section 6.5: trailers are forwarded, unless it is known that nobody "
     "wants them"),
    ("status_", "RFC 9110 section 15: a status has three digits, from 100 to 599"),
    ("head|204|304", "RFC 9110 sections 9.3.2, 15.3.5 and 15.4.5: no content, whatever the length "
     "says"),
    ("a_length|no_length|an_", "RFC 9112 section 6.3, RFC 9113 section 8.1.1: where a body ends"),
    ("no_reason|a_reason|registered", "RFC 9112 section 4: the reason may be empty; strata gives "
     "IANA's where it is"),
    ("refuse|farewell|reset", "RFC 9113 sections 6.8 and 8.7: what was not processed may be sent "
     "again"),
    ("query", "RFC 3986 section 3.4: a query is the backend's to read"),
    ("bad_path", "RFC 3986 section 2.1: two digits stand behind %"),
    ("options|absolute", "RFC 9112 section 3.2: forms of the target"),
    ("hop_by|connection_", "RFC 9110 section 7.6.1: what Connection names is removed; not what "
     "routing rests on"),
    ("", "RFC 9110 sections 5.3 and 8.4: fields are forwarded"),
]


@dataclasses.dataclass
class Row:
    name: str
    asked: Asked
    steps: list
    status: int = 200
    body: bytes = b""
    interim: tuple = ()  # statuses
    fields: dict = dataclasses.field(default_factory=dict)
    missing: tuple = ()  # fields that the client must not see
    trailers: dict = dataclasses.field(default_factory=dict)
    reason: str = ""  # with HTTP/1.1 at both ends
    ending: str = "end"
    backend_sees: dict = dataclasses.field(default_factory=dict)
    backend_body: bytes | None = None
    backend_trailers: list | None = None
    early: tuple = ()  # what the backend sends before it reads the body
    first: list | None = None  # what an HTTP/2 backend answers to the first request
    requests: int | None = None  # that backends receive
    target: str | None = None  # that the backend sees
    fronts: tuple = tuple(VERSIONS)
    backends: tuple = tuple(VERSIONS)

    @property
    def rule(self):
        """The section that demands this row's behavior."""
        return next(rule for group, rule in RULES if re.match(group, self.name))


def post(body=b"body", **more):
    return Asked("POST", "/", body=body, **more)


ROWS = [
    # RFC 9110 section 15.2: a proxy forwards interim answers.
    Row("103", Asked(), [("interim", 103, LINK), *OK], body=b"ok", interim=(103,)),
    Row("102_and_103", Asked(), [("interim", 102, []), ("interim", 103, LINK), *OK], body=b"ok",
        interim=(102, 103)),
    Row("103_of_head", Asked("HEAD"),
        [("interim", 103, LINK), ("head", 200, [("content-length", "5")])],
        interim=(103,), fields={"content-length": "5"}),
    Row("103_then_204", Asked(), [("interim", 103, LINK), ("head", 204, [])], status=204,
        interim=(103,)),
    Row("103_of_a_connection", Asked(),
        [("interim", 103, [("connection", "x-own"), ("x-own", "1")]), *OK], body=b"ok",
        interim=(103,), backends=("1.1",)),
    # Section 10.1.1: the backend decides whether it wants a body.
    Row("continue", post(waits=True), OK, body=b"ok", interim=(100,), early=[("interim", 100, [])],
        backend_body=b"body", backend_sees={"expect": "100-continue"}),
    Row("expectation_failed", post(waits=True), [], status=417,
        early=[("head", 417, [("content-length", "0")]), ("end",)]),
    Row("unauthorized_before_the_body", post(waits=True), [], status=401,
        early=[("head", 401, [("content-length", "0"), ("www-authenticate", "Basic")]), ("end",)],
        fields={"www-authenticate": "Basic"}),
    # Section 6.5: trailers, with a body, without one, and with a length of 0.
    Row("trailers", Asked(), [("head", 200, []), ("data", b"ok"), ("trailers", [("sum", "7")])],
        body=b"ok", trailers={"sum": "7"}),
    Row("trailers_without_a_body", Asked(), [("head", 200, []), ("trailers", [("sum", "7")])],
        trailers={"sum": "7"}),
    Row("trailers_behind_a_length_of_0", Asked(),
        [("head", 200, [("content-length", "0")]), ("trailers", [("grpc-status", "5")])],
        trailers={"grpc-status": "5"}, backends=("2",)),
    Row("trailers_of_a_request", post(trailers=[("mine", "1")]), OK, body=b"ok",
        backend_body=b"body", backend_trailers=[("mine", "1")]),
    Row("trailers_of_a_request_without_a_body", post(b"", trailers=[("mine", "1")]), OK,
        body=b"ok", backend_body=b"", backend_trailers=[("mine", "1")]),
    # Bodies and their lengths.
    Row("head", Asked("HEAD"), [("head", 200, [("content-length", "5")])],
        fields={"content-length": "5"}),
    Row("204", Asked(), [("head", 204, [])], status=204, missing=("content-length",)),
    Row("304", Asked(), [("head", 304, [("etag", '"a"')])], status=304, fields={"etag": '"a"'}),
    Row("a_length", post(), OK, body=b"ok", fields={"content-length": "2"}, backend_body=b"body",
        backend_sees={"content-length": "4"}),
    Row("no_length", Asked(), [("head", 200, []), ("data", b"o"), ("data", b"k"), ("end",)],
        body=b"ok"),
    Row("an_empty_body", Asked(), [("head", 200, [("content-length", "0")]), ("end",)],
        fields={"content-length": "0"}),
    Row("an_unfinished_body", Asked(), [("head", 200, []), ("data", b"ok"), ("reset",)],
        body=b"ok", ending="broken"),
    # Section 15: a status has three digits, from 100 to 599.
    *[Row(f"status_{status}", Asked(), [("head", status, [("content-length", "0")]), ("end",)],
          status=502, backends=("2",)) for status in (0, 99, 600, 999)],
    *[Row(f"status_{text}", Asked(),
          [("raw", b"HTTP/1.1 " + text.encode() + b" OK\r\nContent-Length: 0\r\n\r\n")],
          status=502, backends=("1.1",)) for text in ("000", "099", "600", "999")],
    # RFC 9112 section 4, as other servers read it.
    Row("no_reason", Asked(), [("raw", b"HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok")], body=b"ok",
        reason="OK", backends=("1.1",)),
    Row("a_reason_of_the_backends_own", Asked(),
        [("raw", b"HTTP/1.1 299 Quite Fine\r\nContent-Length: 0\r\n\r\n")], status=299,
        reason="Quite Fine", backends=("1.1",)),
    Row("registered_reasons", Asked(), [("head", 416, [("content-length", "0")]), ("end",)],
        status=416, backends=("2",), fronts=("1.1",), reason="Range Not Satisfiable"),
    # RFC 9113 sections 6.8 and 8.7: an unprocessed request is sent again, to another backend.
    *[Row(f"{how}_of_{asked.method}", asked, OK, body=b"ok", first=[(how,)], requests=2,
          backend_body=asked.body, backends=("2",))
      for how in ("refuse", "farewell") for asked in (Asked(), post())],
    Row("refused_with_trailers", post(trailers=[("mine", "1")]), OK, body=b"ok",
        first=[("refuse",)], requests=2, backend_body=b"body", backend_trailers=[("mine", "1")],
        backends=("2",)),
    Row("refused_always", post(), [("refuse",)], status=502, requests=2, backends=("2",)),
    Row("reset", post(), [("reset",)], status=502, requests=1, backends=("2",)),
    # Targets: RFC 9112 section 3.2, RFC 3986 section 3.4.
    *[Row(f"query_{name}", Asked(target=target), OK, body=b"ok", target=target)
      for name, target in [("percent", "/?discount=50%"), ("unicode", "/?x=%u2019"),
                           ("bytes", "/?info_hash=%60%00%fc"), ("signs", "/?a=b?c=/d&&=;+%2B"),
                           ("empty", "/?")]],
    Row("bad_path", Asked(target="/50%"), OK, status=400, requests=0),
    Row("options_of_all", Asked("OPTIONS", "*"), OK, body=b"ok", target="*"),
    Row("options_of_all_in_absolute_form", Asked("OPTIONS", "http://h"), OK, body=b"ok",
        target="*", fronts=("1.1",)),
    Row("absolute_form", Asked(target="http://h/a?b"), OK, body=b"ok", target="/a?b",
        fronts=("1.1",)),
    # Fields: RFC 9110 sections 5.3 and 7.6.1.
    Row("hop_by_hop", Asked(fields=[("Connection", "x-own"), ("X-Own", "1"), ("X-Kept", "2")]), OK,
        body=b"ok", backend_sees={"x-own": None, "x-kept": "2"}, fronts=("1.1",)),
    *[Row(f"connection_{name.lower()}", Asked(fields=[("Connection", name), (name, value)]), OK,
          body=b"ok", backend_sees={name.lower(): value}, fronts=("1.1",))
      for name, value in [("Cookie", "a=b"), ("Authorization", "Basic eA==")]],
    Row("connection_host", Asked(fields=[("Connection", "Host")]), OK, body=b"ok",
        backend_sees={"host": "h"}, fronts=("1.1",)),
    Row("connection_x_forwarded_for", Asked(fields=[("Connection", "X-Forwarded-For")]), OK,
        body=b"ok", backend_sees={"x-forwarded-for": "127.0.0.1"}, fronts=("1.1",)),
    Row("several_fields_of_one_name", Asked(),
        [("head", 200, [("content-length", "0"), ("set-cookie", "a=1"), ("set-cookie", "b=2")]),
         ("end",)], fields={"set-cookie": "a=1, b=2"}),
    Row("cookies", Asked(fields=[("cookie", "a=1; b=2")]), OK, body=b"ok",
        backend_sees={"cookie": "a=1; b=2"}),
    Row("codings", Asked(), [("head", 200, [("content-length", "2"), ("content-encoding", "br")]),
                             ("data", b"ok"), ("end",)],
        body=b"ok", fields={"content-encoding": "br"}),
]


def cases():
    """Returns all rows with all their versions: row, front, backend."""
    return [(row, front, backend)
            for row in ROWS for front in row.fronts for backend in row.backends]


def shown(value):
    text = value.decode("latin-1") if isinstance(value, bytes) else str(value)
    if isinstance(value, bytes | str | list | dict | tuple | set) and not value:
        return "nothing"
    return text if len(text) <= 40 else f"{text[:30]}…"


def faults(row, front, seen, backend):
    """Returns how the client's and the backend's view differ from the row."""
    found = []

    def want(what, expected, present):
        if present != expected:
            found.append(f"{what}: {shown(present)} for {shown(expected)}")

    if seen.ending != row.ending:
        found.append("broken off" if seen.ending == "broken" else "ends as if it were whole")
    if row.ending == "broken" or found:  # a reset may overtake the data before it
        return found
    want("status", row.status, seen.status)
    want("interim answers", row.interim, tuple(status for status, _ in seen.interim))
    for status, fields in seen.interim:
        if status == 103 and row.backends != ("1.1",):
            want("fields of 103", dict(LINK), fields)
        want("hop-by-hop fields of an interim answer", set(), {"connection", "x-own"} & set(fields))
    if row.status < 400:
        want("body", row.body, seen.body)
    for name, value in row.fields.items():
        want(name, value, seen.fields.get(name))
    for name in row.missing:
        want(name, None, seen.fields.get(name))
    want("trailers", row.trailers, seen.trailers)
    if row.reason and front == "1.1":
        want("reason", row.reason, seen.reason)
    if row.requests is not None:
        want("requests that the backend read", row.requests, len(backend.requests))
    if backend.requests:
        read = backend.requests[-1]
        for name, value in row.backend_sees.items():
            want(f"the backend's {name}", [] if value is None else [value], read.field(name))
        for what, expected, present in [("body", row.backend_body, read.body),
                                        ("trailers", row.backend_trailers, read.trailers),
                                        ("target", row.target, read.target)]:
            if expected is not None:
                want(f"the backend's {what}", expected, present)
    return found
