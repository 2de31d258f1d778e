"""What a proxy forwards of requests and answers, in all pairings of HTTP/1.1 and HTTP/2: the rows
of tests/harness/semantics_rows.py. docs/proxy-semantics.md compares nginx and HAProxy."""

import contextlib

import pytest

from semantics import VERSIONS, Asked, ask, ask_http1, make_backend
from semantics_rows import LINK, OK, cases, faults, post

from http_backend import gateway


@pytest.fixture
def script():
    with contextlib.ExitStack() as stack:
        yield lambda *how, **more: stack.enter_context(
            contextlib.closing(make_backend(*how, **more)))


@pytest.mark.parametrize("row, front, version", [
    pytest.param(*case, id="-".join([case[0].name, *case[1:]])) for case in cases()])
def test_exchanges(daemon, script, row, front, version):
    first = {"first": row.first} if row.first else {}
    backend = script(version, row.steps, row.early, **first)
    port = gateway(daemon, backend=[backend.where], answer_timeout=3)
    assert faults(row, front, ask(front, port, row.asked), backend) == []
    # The connection serves the next request, undisturbed by any earlier answer.
    if backend.requests and row.steps == OK:
        assert ask(front, port, Asked()).body == b"ok"


@pytest.mark.parametrize("version", VERSIONS)
def test_http10_gets_no_interim_answers(daemon, script, version):
    backend = script(version, [("interim", 103, LINK), *OK])
    port = gateway(daemon, backend=[backend.where])
    seen = ask_http1(port, Asked(fields=[("Expect", "100-continue")]), version="1.0")
    assert (seen.status, seen.body, seen.interim) == (200, b"ok", [])
    assert backend.requests[0].field("expect") == []


def test_a_body_that_is_too_long_to_keep_is_not_sent_again(daemon, script):
    backend = script("2", OK, first=[("refuse",)])
    port = gateway(daemon, backend=[backend.where], max_buffer=4096)
    assert ask("1.1", port, post(b"x" * 10_000)).status == 502
    assert len(backend.requests) == 1
    assert ask("1.1", port, post(b"x" * 4000)).status == 200


def test_the_connection_goes_on_behind_interim_answers_of_head(daemon, script):
    backend = script("1.1", [("interim", 103, LINK), ("head", 200, [("content-length", "5")])])
    port = gateway(daemon, backend=[backend.where], answer_timeout=3)
    for _ in range(3):
        seen = ask("1.1", port, Asked("HEAD"))
        assert (seen.status, [status for status, _ in seen.interim]) == (200, [103])
    assert backend.connections == 1
