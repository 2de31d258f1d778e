"""What a proxy changes in the heads that it forwards."""

import re

import pytest

from http_backend import OK, ask, client, gateway
from strata_daemon import Refused

TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def test_fields_are_set_added_and_removed_both_ways(daemon, make_backend):
    backend = make_backend(b"HTTP/1.1 200 OK\r\nServer: secret\r\nX-A: 1\r\n"
                           b"Content-Length: 2\r\n\r\nok")
    port = gateway(daemon, backend,
                   request_header=["set X-One: new", "add X-Two: more", "remove Cookie",
                                   "set Host: inner.example"],
                   answer_header=["remove Server", "add X-A: 2", "set X-B: 3"])
    request = (b"GET / HTTP/1.1\r\nHost: h\r\nX-One: a\r\nX-One: b\r\nX-Two: c\r\nCookie: d=e\r\n"
               b"\r\n")
    with client(port) as wire:
        for _ in range(2):
            head, body = ask(wire, request)
            assert body == b"ok"
    seen = backend.requests[1]
    assert seen.field("x-one") == ["new"] and seen.field("x-two") == ["c", "more"]
    assert seen.field("cookie") == [] and seen.field("host") == ["inner.example"]
    assert seen.field("x-forwarded-host") == ["h"]
    lines = head.decode().lower().split("\r\n")
    assert [line for line in lines if line.startswith("x-a")] == ["x-a: 1", "x-a: 2"]
    assert "x-b: 3" in lines and not any(line.startswith("server") for line in lines)
    # The option changes while the proxy runs.
    daemon.edit("gw", answer_header=[])
    with client(port) as wire:
        assert b"server: secret" in ask(wire, request)[0].lower()


@pytest.mark.parametrize("rule", ["set X", "put X: y", "remove", "set Content-Length: 1",
                                  "add Transfer-Encoding: chunked", "remove Connection",
                                  "set X: a\r\nY: b"])
def test_what_would_break_messages_is_refused(daemon, make_backend, rule):
    backend = make_backend()
    for option in ("request_header", "answer_header"):
        with pytest.raises(Refused) as refused:
            gateway(daemon, backend, **{option: [rule]})
        assert refused.value.code == "invalid_argument"


def test_each_request_has_an_id_that_all_sides_know(daemon, make_backend, tmp_path):
    backend, log = make_backend(), tmp_path / "access"
    port = gateway(daemon, backend, request_id=True, traceparent=True, access_log=str(log),
                   access_format="%{request_id}")
    said = (f"GET / HTTP/1.1\r\nHost: h\r\nX-Request-Id: mine\r\nTraceparent: {TRACE}\r\n"
            "Tracestate: a=b\r\n\r\n").encode()
    with client(port) as wire:
        heads = [ask(wire, said)[0].decode() for _ in range(2)]
    ids = [seen.field("x-request-id")[0] for seen in backend.requests]
    assert ids[0] != ids[1] and all(re.fullmatch("[0-9a-f]{32}", each) for each in ids)
    for head, known in zip(heads, ids):
        assert f"x-request-id: {known}" in head.lower()
    for seen in backend.requests:
        [trace] = seen.field("traceparent")
        assert re.fullmatch("00-[0-9a-f]{32}-[0-9a-f]{16}-01", trace) and trace != TRACE
        assert seen.field("tracestate") == []
    daemon.remove("gw")
    assert log.read_text().splitlines() == ids


def test_ids_of_trusted_clients_stay(daemon, make_backend):
    backend = make_backend()
    port = gateway(daemon, backend, request_id=True, traceparent=True, trust=["127.0.0.0/8"])
    with client(port) as wire:
        ask(wire, (f"GET / HTTP/1.1\r\nHost: h\r\nX-Request-Id: mine\r\nTraceparent: {TRACE}\r\n"
                   "Tracestate: a=b\r\n\r\n").encode())
        ask(wire, b"GET / HTTP/1.1\r\nHost: h\r\nX-Request-Id: no id\r\nTraceparent: 00-1\r\n\r\n")
    first, second = backend.requests
    assert first.field("x-request-id") == ["mine"] and first.field("traceparent") == [TRACE]
    assert first.field("tracestate") == ["a=b"]
    assert second.field("x-request-id") != ["no id"] and second.field("traceparent") != ["00-1"]


def test_forwarded_says_for_whom(daemon, make_backend):
    backend = make_backend(OK)
    port = gateway(daemon, backend, forwarded=True)
    with client(port) as wire:
        ask(wire, b"GET / HTTP/1.1\r\nHost: h:80\r\nForwarded: for=1.2.3.4\r\n\r\n")
    daemon.edit("gw", trust=["127.0.0.1"])
    with client(port) as wire:
        ask(wire, b"GET / HTTP/1.1\r\nHost: h\r\nForwarded: for=1.2.3.4\r\n\r\n")
    assert [each.field("forwarded") for each in backend.requests] == [
        ['for=127.0.0.1;host="h:80";proto=http'],
        ["for=1.2.3.4, for=127.0.0.1;host=h;proto=http"]]
