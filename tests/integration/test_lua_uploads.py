"""Bodies of requests that a function of a server's script takes, piece by piece."""

import hashlib
import subprocess
import threading

import pytest

from scripted_server import VERSIONS, fetch
from strata_daemon import PATIENCE, eventually
from talker import Talker

MIB = 1 << 20


def ask(daemon, line):
    return daemon.cli("lua", "repl", "web", "-e", line).strip()


DIGEST = """
    function on_http_body(request)
      local pieces = {}
      return function(piece)
        if piece then pieces[#pieces + 1] = piece return end
        local body = table.concat(pieces)
        return {status = 201, json = {size = #body, pieces = #pieces,
                                      sum = strata.hash('sha256', body), path = request.path}}
      end
    end
    function on_http_request(request) return 'whole ' .. #request.body end"""

COUNT = """
    function on_http_body(request)
      local size = 0
      return function(piece)
        if piece then size = size + #piece return end
        return size .. ' bytes'
      end
    end"""


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("length", [[], ["-H", "Transfer-Encoding: chunked"]])
def test_all_of_a_body_comes_in_its_order(scripted_web, tmp_path, version, length):
    if length and version != VERSIONS[0]:
        length = ["-H", "Content-Length:"]
    port = scripted_web(DIGEST)
    body = hashlib.shake_128(b"a body").digest(5 * MIB)
    (tmp_path / "body").write_bytes(body)
    said, status = fetch(version, port, "/up", "--data-binary", f"@{tmp_path}/body", *length)
    assert status == 201
    assert f'"size":{len(body)}'.encode() in said and b'"path":"/up"' in said
    assert hashlib.sha256(body).hexdigest().encode() in said
    assert b'"pieces":1,' not in said
    assert fetch(version, port, "/") == (b"whole 0", 200), "without a body it is not asked"


@pytest.mark.parametrize("version", VERSIONS)
def test_a_body_may_be_larger_than_the_memory_of_its_script(daemon, scripted_web, tmp_path,
                                                            version):
    port = scripted_web(COUNT, http_max_body=MIB, lua_memory=8 * MIB)
    with open(tmp_path / "large", "wb") as large:
        large.truncate(300 * MIB)
    with open(tmp_path / "small", "wb") as small:
        small.truncate(30 * MIB)
    # What a first body costs once, and a sanitizer more, is no part of the growth.
    assert fetch(version, port, "/", "-T", str(tmp_path / "small")) == (b"31457280 bytes", 200)
    before = daemon.resident_mib()
    assert fetch(version, port, "/", "-T", str(tmp_path / "large")) == (b"314572800 bytes", 200)
    assert daemon.resident_mib() - before < 50
    assert daemon.stats("web")["bytes"]["in"] >= 300 * MIB


def test_a_piece_is_given_before_the_next_has_come(daemon, scripted_web):
    port = scripted_web("""
        heard = ''
        function on_http_body()
          return function(piece)
            if not piece then return heard end
            heard = heard .. '<' .. piece .. '>'
          end
        end""")
    with Talker(f"tcp://127.0.0.1:{port}") as wire:
        wire.send(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 6\r\n\r\n")
        heard = ""
        for piece in (b"ab", b"cd", b"ef"):
            wire.send(piece)
            heard += f"<{piece.decode()}>"
            eventually(lambda: heard in ask(daemon, "heard"), f"the script has {heard}")
        assert wire.read(12) == b"HTTP/1.1 200"


@pytest.mark.parametrize("version", VERSIONS)
def test_a_function_that_waits_holds_its_client_backend(daemon, scripted_web, tmp_path, version):
    port = scripted_web("""
        taken = 0
        function on_http_body()
          return function(piece)
            if not piece then return taken .. ' bytes' end
            taken = taken + #piece
            while not strata.shared.get('go') do strata.sleep(0.005) end
          end
        end""")
    with open(tmp_path / "large", "wb") as large:
        large.truncate(50 * MIB)
    said = []
    sending = threading.Thread(
        target=lambda: said.append(fetch(version, port, "/", "-T", str(tmp_path / "large"))))
    sending.start()
    eventually(lambda: int(ask(daemon, "taken")) > 0, "a piece has come")
    first = int(ask(daemon, "taken"))
    ask(daemon, "strata.sleep(0.1)")
    assert int(ask(daemon, "taken")) == first < MIB
    ask(daemon, "strata.shared.set('go', true)")
    sending.join()
    assert said == [(b"52428800 bytes", 200)]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("answer", ["{status = 403, body = 'no'}", "'no'"])
def test_an_answer_before_the_end_ends_it(daemon, scripted_web, tmp_path, version, answer):
    """curl 7.88 waits for ever when a stream of HTTP/2 ends with 200 before all is sent, nghttp
    does not."""
    port = scripted_web(f"""
        function on_http_body(request)
          if request.path == '/refused' then return {answer} end
          local size = 0
          return function(piece)
            size = size + #(piece or '')
            if size > 100000 then return {answer} end
          end
        end""")
    with open(tmp_path / "large", "wb") as large:
        large.truncate(20 * MIB)
    for path in ("/refused", "/later"):
        if answer == "'no'" and version == VERSIONS[1]:
            said = subprocess.run(["nghttp", "-d", tmp_path / "large",
                                   f"http://127.0.0.1:{port}{path}"],
                                  capture_output=True, timeout=PATIENCE, check=True).stdout
            assert said == b"no"
        else:
            said, status = fetch(version, port, path, "-T", str(tmp_path / "large"))
            assert (said, status) == (b"no", 403 if "403" in answer else 200)
    assert daemon.stats("web")["bytes"]["in"] < 20 * MIB


def test_what_the_end_may_give(scripted_web):
    port = scripted_web("""
        function on_http_body(request)
          if request.path == '/whole' then return end
          return function(piece)
            if piece or request.path == '/nothing' then return end
            local at = 0
            return {status = 202, body = function()
              at = at + 1
              return at < 4 and "p" .. at or nil
            end}
          end
        end
        function on_http_request(request) return 'whole ' .. request.body end""")
    assert fetch("--http1.1", port, "/nothing", "-d", "x") == (b"", 204)
    assert fetch("--http1.1", port, "/pieces", "-d", "x") == (b"p1p2p3", 202)
    assert fetch("--http1.1", port, "/whole", "-d", "x") == (b"whole x", 200)


def test_what_it_leaves_and_nobody_else_answers_is_not_there(scripted_web):
    port = scripted_web("function on_http_body() end")
    assert fetch("--http1.1", port, "/", "-d", "x")[1] == 404


@pytest.mark.parametrize("broken", [b"", b"5\r\nhel", b"zz\r\n"])
def test_a_body_that_breaks_off_is_told(daemon, scripted_web, broken):
    port = scripted_web("""
        calls, why = 0, nil
        function on_http_body()
          return function(piece, problem)
            calls = calls + 1
            if piece == nil then why = problem or 'none' end
          end
        end""")
    with Talker(f"tcp://127.0.0.1:{port}") as wire:
        wire.send(b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
                  b"5\r\nhello\r\n")
        eventually(lambda: int(ask(daemon, "calls")) == 1, "the first piece has come")
        wire.send(broken)
        if broken == b"zz\r\n":
            assert wire.read(12) == b"HTTP/1.1 400"
    eventually(lambda: ask(daemon, "why") not in ("nil", "", "none"), "it is told why")
    calls = ask(daemon, "calls")
    ask(daemon, "strata.sleep(0.05)")
    assert ask(daemon, "calls") == calls
    eventually(lambda: daemon.stats("web")["script"]["waiting"] == 0, "nothing waits")


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("mistake", ["error('no')", "return true", "return print", "return {1}",
                                     "coroutine.yield()", "while true do end"])
def test_a_mistake_is_answered_500_and_the_log_says_why(daemon, scripted_web, version, mistake):
    port = scripted_web(f"""
        function on_http_body(request)
          if request.path == '/at-once' then {mistake} end
          if request.path == '/good' then return function() end end
          return function(piece) {mistake} end
        end""", lua_time=0.02)
    for path in ("/at-once", "/later"):
        said, status = fetch(version, port, path, "-d", "x")
        is_taker = path == "/at-once" and mistake == "return print"
        assert status == (204 if is_taker else 500), said
    told = "web.lua:" if mistake in ("error('no')", "coroutine.yield()", "while true do end") \
        else "take the answer of on_http_body"
    eventually(lambda: daemon.logged("web", told, level="error"), "the log says why")
    assert fetch(version, port, "/good", "-d", "x") == (b"", 204)


def test_reloads_and_stops_while_a_body_comes(daemon, scripted_web, tmp_path):
    text = """
        function on_http_body()
          local taken = 'old'
          return function(piece)
            if not piece then return taken end
            taken = taken .. piece
            strata.shared.set('taken', #taken)
          end
        end"""
    port = scripted_web(text)
    head = b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\n"
    with Talker(f"tcp://127.0.0.1:{port}") as wire:
        wire.send(head + b"ab")
        eventually(lambda: ask(daemon, "strata.shared.get('taken')") == "5", "a piece was taken")
        (tmp_path / "web.lua").write_text(text.replace("old", "new"))
        for _ in range(3):
            daemon.cli("reload-lua", "web")
        wire.send(b"cd" + head + b"efgh")
        said = b""
        while said.count(b"HTTP/1.1 200") < 2 or not said.endswith(b"newefgh"):
            said += wire.socket.recv(65536)
        assert b"oldabcd" in said
        wire.send(head + b"i")
        eventually(lambda: ask(daemon, "strata.shared.get('taken')") == "4", "a piece was taken")
        daemon.act("web", "stop")
        assert b"200" not in wire.socket.recv(65536)
    assert daemon.show("web")["state"] == "stopped"
