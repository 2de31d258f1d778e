"""The proxy's access log: one line per HTTP request."""

import json
import os
import re
import signal
import socket

import pytest

from http_backend import OK, ask, client, gateway, get
from strata_daemon import Refused, eventually
from talker import free_port, port_of

WHOLE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def lines_of(path, count):
    eventually(lambda: path.exists() and path.read_bytes().count(b"\n") >= count, f"{count} lines")
    lines = path.read_bytes().decode("ascii").splitlines()
    assert len(lines) == count, lines
    return lines


def test_json_says_what_became_of_each_request(daemon, make_backend, tmp_path):
    log = tmp_path / "log"
    backend = make_backend()
    nobody = f"127.0.0.1:{free_port()}"
    port = gateway(daemon, backend=[f"{backend.where} weight=2"], access_log=str(log),
                   access_format="json",
                   route=["path=/gone/* -> answer=410", f"path=/r -> {backend.where}",
                          f"path=/nobody -> {nobody}"])
    with client(port) as wire:
        ask(wire, b"POST /a%20b?c HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n"
                  b"Referer: http://x/\r\nUser-Agent: one\r\n\r\nhi")
    assert [get(port, path)[0] for path in ["/gone/1", "/r", "/nobody"]] == [410, 200, 503]
    posted, gone, routed, refused = map(json.loads, lines_of(log, 4))
    assert WHOLE.fullmatch(posted.pop("time")) and posted.pop("duration_ms") >= 0
    assert posted == {"client": "127.0.0.1", "method": "POST", "target": "/a%20b?c",
                      "protocol": "HTTP/1.1", "status": 200, "bytes": 2, "backend": backend.where,
                      "route": "", "referer": "http://x/", "user_agent": "one", "retries": 0, "request_id": "",
                      "tls_subject": ""}
    assert (gone["status"], gone["backend"], gone["route"]) == (
        410, "", "path=/gone/* -> answer=410")
    assert (routed["backend"], routed["route"]) == (backend.where, f"path=/r -> {backend.where}")
    assert (refused["status"], refused["backend"]) == (503, "")


def test_tries_are_counted(daemon, make_backend, tmp_path):
    log = tmp_path / "log"
    broken, whole = make_backend(lambda wire, asked: False), make_backend()
    port = gateway(daemon, broken, whole, balance="first", access_log=str(log),
                   access_format="%{backend} %{retries}")
    assert get(port) == (200, b"ok")
    assert lines_of(log, 1) == [f"{whole.where} 1"]


HOSTILE = (b'GET /"%41\\ HTTP/1.1\r\nHost: h\r\nUser-Agent: a"b\\c\xff\x80\r\n'
           b"Referer: \xe2\x80\xae\t\r\n\r\n")


OWN = 'u="%{user_agent}" t="%{target}" r=%{referer}'


@pytest.mark.parametrize("form", ["combined", "json", OWN])
def test_what_strangers_say_stays_in_its_place(daemon, make_backend, tmp_path, form):
    log = tmp_path / "log"
    port = gateway(daemon, make_backend(), access_log=str(log), access_format=form)
    with client(port) as wire:
        ask(wire, HOSTILE)
    [line] = lines_of(log, 1)
    if form == "json":
        seen = json.loads(line)
        assert seen["user_agent"] == 'a"b\\c\ufffd\ufffd' and seen["target"] == '/"%41\\'
        assert seen["referer"] == "\u202e"
    elif form == "combined":
        assert line.endswith('"GET /\\x22%41\\x5C HTTP/1.1" 200 2 "\\xE2\\x80\\xAE" '
                             '"a\\x22b\\x5Cc\\xFF\\x80"'), line
    else:
        assert line == ('u="a\\x22b\\x5Cc\\xFF\\x80" t="/\\x22%41\\x5C" r=\\xE2\\x80\\xAE'), line


def test_what_is_no_request_is_in_it(daemon, make_backend, tmp_path):
    log = tmp_path / "log"
    backend = make_backend()
    port = gateway(daemon, backend, access_log=str(log), access_format="json")
    with client(port) as wire:
        assert b" 400 " in ask(wire, b"GET / HTTP/1.1\r\nno field \x1b[2J\r\n\r\n")[0]
    [line] = lines_of(log, 1)
    seen = json.loads(line)
    assert (seen["status"], seen["method"], seen["target"], seen["protocol"]) == (400, "", "", "")
    assert seen["client"] == "127.0.0.1" and seen["bytes"] > 0
    assert backend.requests == []


def test_after_sighup_it_is_written_to_a_new_file(daemon, make_backend, tmp_path):
    log, moved = tmp_path / "log", tmp_path / "moved"
    port = gateway(daemon, make_backend(), access_log=str(log), access_format="%{target}",
                   threads=2)
    get(port, "/one")
    lines_of(log, 1)
    log.rename(moved)
    get(port, "/two")
    assert lines_of(moved, 2) == ["/one", "/two"]
    daemon.signal(signal.SIGHUP)
    eventually(lambda: daemon.logged("gw", "reopened its files"), "it has opened it again")
    for each in range(8):
        get(port, f"/{each}")
    assert sorted(lines_of(log, 8)) == [f"/{each}" for each in range(8)]
    assert moved.read_text() == "/one\n/two\n"
    log.rename(moved)
    daemon.act("gw", "reload")
    get(port, "/again")
    assert lines_of(log, 1) == ["/again"]


def test_one_writer_a_file(daemon, make_backend, tmp_path):
    log = tmp_path / "log"
    backend = make_backend()
    gateway(daemon, backend, access_log=str(log))
    with pytest.raises(Refused, match="runtime 'gw' writes it"):
        gateway(daemon, backend, name="other", access_log=str(log))
    assert os.stat(log).st_mode & 0o777 == 0o600


def test_a_full_disk_costs_lines_and_no_requests(daemon, make_backend, small_disk):
    port = gateway(daemon, make_backend(), access_log=str(small_disk / "log"),
                   access_format="%{user_agent}")
    asked = b"GET / HTTP/1.1\r\nHost: h\r\nUser-Agent: " + b"\xff" * 15_000 + b"\r\n\r\n"
    with client(port) as wire:
        before = daemon.resident_mib()
        for _ in range(200):
            assert b" 200 " in ask(wire, asked)[0]
        assert daemon.stats("gw")["access_log"]["lost"] > 20
        assert daemon.resident_mib() < before + 64
    assert daemon.logged("gw", "free some space", "error")


def test_what_is_no_file_is_refused(daemon, make_backend, tmp_path):
    with pytest.raises(Refused, match="regular"):
        gateway(daemon, make_backend(), access_log=str(tmp_path))


def test_wrong_ones_are_refused(daemon, make_backend, tmp_path):
    backend = make_backend()
    for form, why in [("%{statsu}", "there is no field named 'statsu'"),
                      ("json ", "no field of a request"), ("%{status", "lacks its '}'"),
                      ("%{status}\n", "control character")]:
        with pytest.raises(Refused, match=re.escape(why)):
            gateway(daemon, backend, access_log=str(tmp_path / "log"), access_format=form)
    with pytest.raises(Refused, match="--access-format: it has no effect"):
        gateway(daemon, backend, access_format="json")
    with pytest.raises(Refused, match="--access-log: it has no effect"):
        daemon.create("proxy", "raw", listen=["tcp://127.0.0.1:0"], backend=[backend.where],
                      access_log="/tmp/log")
    with pytest.raises(Refused, match="missing"):
        gateway(daemon, backend, access_log=str(tmp_path / "missing" / "log"))


def test_a_websocket_is_in_it_when_it_has_ended(daemon, make_backend, tmp_path):
    log = tmp_path / "log"

    def switch(wire, _):
        wire.over.sendall(b"HTTP/1.1 101 Go\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\nhello")
        return False

    port = gateway(daemon, make_backend(switch), access_log=str(log),
                   access_format="%{client} %{target} %{status}")
    with client(port) as wire:
        wire.over.sendall(b"GET /up HTTP/1.1\r\nHost: h\r\nConnection: upgrade\r\n"
                          b"Upgrade: echo\r\n\r\n")
        wire.until(b"\r\n\r\n")
        assert wire.take(5) == b"hello"
        wire.over.shutdown(socket.SHUT_WR)
    assert lines_of(log, 1) == ["127.0.0.1 /up 101"]


def test_lines_are_written_before_it_stops(daemon, make_backend, tmp_path):
    log = tmp_path / "log"
    port = gateway(daemon, make_backend(OK), access_log=str(log), access_format="%{status}")
    with client(port) as wire:
        for _ in range(50):
            ask(wire, b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    daemon.act("gw", "stop")
    assert log.read_text() == "200\n" * 50


@pytest.mark.parametrize("how", ["signal", "reload"])
def test_logs_of_a_server_are_opened_again_and_its_clients_stay(daemon, tmp_path, how):
    log, messages = tmp_path / "http.log", tmp_path / "messages"
    [url] = daemon.server("s", http_log=str(log), http_messages=True, write=str(messages))
    with client(port_of(url)) as stays:
        def say(path):
            head, _ = ask(stays, f"GET {path} HTTP/1.1\r\nHost: h\r\n\r\n".encode())
            assert head.startswith(b"HTTP/1.1 404 ")
        say("/first")
        eventually(lambda: "/first" in log.read_text(), "the line is written")
        log.rename(tmp_path / "http.log.1")
        messages.rename(tmp_path / "messages.1")
        if how == "signal":
            daemon.signal(signal.SIGHUP)
        else:
            assert daemon.act("s", "reload")["state"] == "running"
        eventually(log.exists, "the log is opened again")
        eventually(messages.exists, "so is the file of messages")
        say("/second")
        eventually(lambda: "/second" in log.read_text(), "the line is written")
    assert "/second" not in (tmp_path / "http.log.1").read_text()
