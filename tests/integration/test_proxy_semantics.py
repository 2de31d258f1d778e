"""What a proxy passes on of requests and answers, in all pairings of HTTP/1.1 and HTTP/2.

A row is an exchange: what a client asks, what a back answers, and what each of them must see. It is
tried with each version of its `fronts` and of its `backs`.
"""

import contextlib
import dataclasses

import pytest

from semantics import VERSIONS, Asked, ask, ask_http1, make_back

from http_back import gateway

OK = [("head", 200, [("content-length", "2")]), ("data", b"ok"), ("end",)]
LINK = [("link", "</a.css>; rel=preload")]


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
    reason: str = ""  # by HTTP/1.1 at both ends
    ending: str = "end"
    back_sees: dict = dataclasses.field(default_factory=dict)
    back_body: bytes | None = None
    back_trailers: list | None = None
    early: tuple = ()  # what the back says before it reads the body
    first: list | None = None  # what an HTTP/2 back answers the first request
    requests: int | None = None  # that backs hear of
    target: str | None = None  # that the back sees
    fronts: tuple = tuple(VERSIONS)
    backs: tuple = tuple(VERSIONS)


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
        interim=(103,), backs=("1.1",)),
    # Section 10.1.1: whether a body is wanted is the back's to say.
    Row("continue", post(waits=True), OK, body=b"ok", interim=(100,), early=[("interim", 100, [])],
        back_body=b"body", back_sees={"expect": "100-continue"}),
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
        trailers={"grpc-status": "5"}, backs=("2",)),
    Row("trailers_of_a_request", post(trailers=[("mine", "1")]), OK, body=b"ok",
        back_body=b"body", back_trailers=[("mine", "1")]),
    Row("trailers_of_a_request_without_a_body", post(b"", trailers=[("mine", "1")]), OK,
        body=b"ok", back_body=b"", back_trailers=[("mine", "1")]),
    # Bodies and their lengths.
    Row("head", Asked("HEAD"), [("head", 200, [("content-length", "5")])],
        fields={"content-length": "5"}),
    Row("204", Asked(), [("head", 204, [])], status=204, missing=("content-length",)),
    Row("304", Asked(), [("head", 304, [("etag", '"a"')])], status=304, fields={"etag": '"a"'}),
    Row("a_length", post(), OK, body=b"ok", fields={"content-length": "2"}, back_body=b"body",
        back_sees={"content-length": "4"}),
    Row("no_length", Asked(), [("head", 200, []), ("data", b"o"), ("data", b"k"), ("end",)],
        body=b"ok"),
    Row("an_empty_body", Asked(), [("head", 200, [("content-length", "0")]), ("end",)],
        fields={"content-length": "0"}),
    Row("an_unfinished_body", Asked(), [("head", 200, []), ("data", b"ok"), ("reset",)],
        body=b"ok", ending="broken"),
    # Section 15: a status has three digits, from 100 to 599.
    *[Row(f"status_{status}", Asked(), [("head", status, [("content-length", "0")]), ("end",)],
          status=502, backs=("2",)) for status in (0, 99, 600, 999)],
    *[Row(f"status_{text}", Asked(),
          [("raw", b"HTTP/1.1 " + text.encode() + b" OK\r\nContent-Length: 0\r\n\r\n")],
          status=502, backs=("1.1",)) for text in ("000", "099", "600", "999")],
    # RFC 9112 section 4, as others read it.
    Row("no_reason", Asked(), [("raw", b"HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok")], body=b"ok",
        reason="OK", backs=("1.1",)),
    Row("a_reason_of_the_backs_own", Asked(),
        [("raw", b"HTTP/1.1 299 Quite Fine\r\nContent-Length: 0\r\n\r\n")], status=299,
        reason="Quite Fine", backs=("1.1",)),
    Row("registered_reasons", Asked(), [("head", 416, [("content-length", "0")]), ("end",)],
        status=416, backs=("2",), fronts=("1.1",), reason="Range Not Satisfiable"),
    # RFC 9113 sections 6.8 and 8.7: what was not processed is sent once more, elsewhere.
    *[Row(f"{how}_of_{asked.method}", asked, OK, body=b"ok", first=[(how,)], requests=2,
          back_body=asked.body, backs=("2",))
      for how in ("refuse", "farewell") for asked in (Asked(), post())],
    Row("refused_with_trailers", post(trailers=[("mine", "1")]), OK, body=b"ok",
        first=[("refuse",)], requests=2, back_body=b"body", back_trailers=[("mine", "1")],
        backs=("2",)),
    Row("refused_always", post(), [("refuse",)], status=502, requests=2, backs=("2",)),
    Row("reset", post(), [("reset",)], status=502, requests=1, backs=("2",)),
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
        body=b"ok", back_sees={"x-own": None, "x-kept": "2"}, fronts=("1.1",)),
    *[Row(f"connection_{name.lower()}", Asked(fields=[("Connection", name), (name, value)]), OK,
          body=b"ok", back_sees={name.lower(): value}, fronts=("1.1",))
      for name, value in [("Cookie", "a=b"), ("Authorization", "Basic eA==")]],
    Row("connection_host", Asked(fields=[("Connection", "Host")]), OK, body=b"ok",
        back_sees={"host": "h"}, fronts=("1.1",)),
    Row("connection_x_forwarded_for", Asked(fields=[("Connection", "X-Forwarded-For")]), OK,
        body=b"ok", back_sees={"x-forwarded-for": "127.0.0.1"}, fronts=("1.1",)),
    Row("several_fields_of_one_name", Asked(),
        [("head", 200, [("content-length", "0"), ("set-cookie", "a=1"), ("set-cookie", "b=2")]),
         ("end",)], fields={"set-cookie": "a=1, b=2"}),
    Row("cookies", Asked(fields=[("cookie", "a=1; b=2")]), OK, body=b"ok",
        back_sees={"cookie": "a=1; b=2"}),
    Row("codings", Asked(), [("head", 200, [("content-length", "2"), ("content-encoding", "br")]),
                             ("data", b"ok"), ("end",)],
        body=b"ok", fields={"content-encoding": "br"}),
]


def cases():
    for row in ROWS:
        for front in row.fronts:
            for back in row.backs:
                yield pytest.param(row, front, back, id=f"{row.name}-{front}-{back}")


@pytest.fixture
def script():
    with contextlib.ExitStack() as stack:
        yield lambda *how, **more: stack.enter_context(
            contextlib.closing(make_back(*how, **more)))


@pytest.mark.parametrize("row, front, version", cases())
def test_exchanges(daemon, script, row, front, version):
    first = {"first": row.first} if row.first else {}
    back = script(version, row.steps, row.early, **first)
    port = gateway(daemon, backend=[back.where], answer_timeout=3)
    seen = ask(front, port, row.asked)
    assert seen.ending == row.ending, seen
    if row.ending == "broken":  # a reset may overtake what came before it
        return
    assert seen.status == row.status, seen
    assert tuple(status for status, _ in seen.interim) == row.interim, seen
    for status, fields in seen.interim:
        assert status != 103 or row.backs == ("1.1",) or fields == dict(LINK), seen
        assert not {"connection", "x-own"} & set(fields), seen
    if row.status < 400:
        assert seen.body == row.body, seen
    assert seen.fields == seen.fields | row.fields, seen
    assert not set(row.missing) & set(seen.fields), seen
    assert seen.trailers == row.trailers, seen
    if row.reason and front == "1.1":
        assert seen.reason == row.reason
    if row.requests is not None:
        assert len(back.requests) == row.requests, back.requests
    if not back.requests:
        return
    asked = back.requests[-1]
    for name, value in row.back_sees.items():
        assert asked.field(name) == ([] if value is None else [value]), asked
    assert row.back_body in (None, asked.body), asked
    assert row.back_trailers in (None, asked.trailers), asked
    assert row.target in (None, asked.target), asked
    # The connection serves the next request, which no answer before it has disturbed.
    if row.steps == OK:
        assert ask(front, port, Asked()).body == b"ok"


@pytest.mark.parametrize("version", VERSIONS)
def test_http10_gets_no_interim_answers(daemon, script, version):
    back = script(version, [("interim", 103, LINK), *OK])
    port = gateway(daemon, backend=[back.where])
    seen = ask_http1(port, Asked(fields=[("Expect", "100-continue")]), version="1.0")
    assert (seen.status, seen.body, seen.interim) == (200, b"ok", [])
    assert back.requests[0].field("expect") == []


def test_a_body_that_is_too_long_to_keep_is_not_sent_again(daemon, script):
    back = script("2", OK, first=[("refuse",)])
    port = gateway(daemon, backend=[back.where], max_buffer=4096)
    assert ask("1.1", port, post(b"x" * 10_000)).status == 502
    assert len(back.requests) == 1
    assert ask("1.1", port, post(b"x" * 4000)).status == 200


def test_the_connection_goes_on_behind_interim_answers_of_head(daemon, script):
    back = script("1.1", [("interim", 103, LINK), ("head", 200, [("content-length", "5")])])
    port = gateway(daemon, backend=[back.where], answer_timeout=3)
    for _ in range(3):
        seen = ask("1.1", port, Asked("HEAD"))
        assert (seen.status, [status for status, _ in seen.interim]) == (200, [103])
    assert back.connections == 1
