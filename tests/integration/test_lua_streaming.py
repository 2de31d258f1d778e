"""Answers of a server's script whose body a function returns piece by piece."""

import subprocess

import pytest

from scripted_server import VERSIONS, curl, curl_command
from strata_daemon import PATIENCE, eventually
from talker import Talker

MIB = 1 << 20


def go_on(daemon):
    daemon.cli("lua", "repl", "web", "-e", "go_on = (go_on or 0) + 1")


COUNT = """
    function on_http_request(request)
      local at = 0
      return {status = 201, headers = {['X-Path'] = request.path}, body = function()
        at = at + 1
        if request.query.wait then strata.sleep(0.01) end
        if at == 3 then return '' end
        if at <= 5 then return 'piece ' .. at .. ';' end
      end}
    end"""


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("path", ["/a", "/a?wait=1"])
def test_pieces_until_nil(scripted_web, version, path):
    port = scripted_web(COUNT)
    done = curl(version, port, path, "-i")
    head, body = done.stdout.split(b"\r\n\r\n", 1)
    assert done.returncode == 0 and body == b"piece 1;piece 2;piece 4;piece 5;"
    assert b" 201" in head.split(b"\r\n")[0] and b"x-path: /a" in head.lower()
    assert b"content-length" not in head.lower()
    assert (b"transfer-encoding: chunked" in head.lower()) == (version == VERSIONS[0])
    done = curl(version, port, path, "-I")
    assert done.returncode == 0 and b" 201" in done.stdout and b"piece" not in done.stdout


def test_the_connection_goes_on_behind_it_and_old_clients_see_its_end(scripted_web):
    port = scripted_web(COUNT)
    with Talker(f"tcp://127.0.0.1:{port}") as wire:
        wire.send(b"GET /a HTTP/1.1\r\nHost: h\r\n\r\nGET /b HTTP/1.1\r\nHost: h\r\n\r\n"
                  b"GET /c HTTP/1.0\r\n\r\n")
        said = b""
        while more := wire.socket.recv(65536):
            said += more
    assert said.count(b"HTTP/1.1 201") == 3 and said.count(b"0\r\n\r\n") == 2
    assert said.endswith(b"\r\n\r\npiece 1;piece 2;piece 4;piece 5;")


@pytest.mark.parametrize("version", VERSIONS)
def test_each_piece_arrives_before_the_next_is_made(daemon, scripted_web, version):
    port = scripted_web("""
        function on_http_request()
          local at = 0
          return {body = function()
            at = at + 1
            while (go_on or 0) < at do strata.sleep(0.005) end
            if at <= 4 then return at .. '\\n' end
          end}
        end""")
    with subprocess.Popen(curl_command(version, port, "/"), stdout=subprocess.PIPE) as asking:
        for number in range(1, 5):
            go_on(daemon)
            assert asking.stdout.readline() == b"%d\n" % number
        assert asking.poll() is None
        go_on(daemon)
        assert asking.stdout.read() == b"" and asking.wait(PATIENCE) == 0


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("mistake", ["error('no')", "return {}", "return true", "return print",
                                     "coroutine.yield()", "while true do end"])
def test_a_mistake_cuts_the_answer_so_that_it_shows(daemon, scripted_web, version, mistake):
    port = scripted_web(f"""
        function on_http_request(request)
          local at = 0
          return {{body = function()
            at = at + 1
            if at == 1 then return 'beginning' end
            if request.path == '/waits' then strata.sleep(0.01) end
            {mistake}
          end}}
        end""", lua_time=0.02)
    for path in ("/", "/waits"):
        done = curl(version, port, path)
        assert done.returncode in (18, 92), "curl says that it is not whole"
        # If an HTTP/2 stream is reset, curl may drop what it has not printed yet.
        assert done.stdout == b"beginning" or (version == VERSIONS[1] and not done.stdout)
    eventually(lambda: daemon.logged("web", "web.lua:", level="error")
               or daemon.logged("web", "did not return a text", level="error"), "the log says why")


@pytest.mark.parametrize("version", VERSIONS)
def test_a_client_that_leaves_ends_the_function(daemon, scripted_web, version):
    port = scripted_web("""
        function on_http_request()
          return {body = function()
            calls = (calls or 0) + 1
            strata.sleep(0.01)
            return 'more'
          end}
        end""")
    with subprocess.Popen(curl_command(version, port, "/"), stdout=subprocess.PIPE) as asking:
        assert asking.stdout.read(4) == b"more"
        asking.kill()

    def is_called_no_more():
        shown = [daemon.cli("lua", "repl", "web", "-e", line) for line in
                 ("calls", "strata.sleep(0.1)", "calls")]
        return shown[0] == shown[2]

    eventually(is_called_no_more, "the function is called no more")
    eventually(lambda: daemon.stats("web")["script"]["waiting"] == 0, "nothing waits")


def test_a_client_that_leaves_while_the_function_waits_is_noticed(daemon, scripted_web):
    port = scripted_web("""
        function on_http_request()
          return {body = function() strata.sleep(3600) end}
        end""")
    with Talker(f"tcp://127.0.0.1:{port}") as wire:
        wire.send(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        assert wire.read(8) == b"HTTP/1.1"
    daemon.wait_connections("web", 0)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_client_that_reads_slowly_holds_the_function_backend(daemon, scripted_web, version):
    port = scripted_web("""
        local piece = ('x'):rep(65536)
        made = 0
        function on_http_request()
          return {body = function()
            made = made + 1
            if made <= 2000 then return piece end
          end}
        end""", max_buffer=MIB)
    with subprocess.Popen(curl_command(version, port, "/"), stdout=subprocess.PIPE) as asking:
        assert asking.stdout.read(1) == b"x"
        made = []

        def stands_still():
            made.append(int(daemon.cli("lua", "repl", "web", "-e", "made")))
            return len(made) > 5 and made[-1] == made[-5]

        eventually(stands_still, "no more is made")
        assert made[-1] < 1000
        left = 2000 * 65536 - 1
        while more := asking.stdout.read(MIB):
            assert more == b"x" * len(more)
            left -= len(more)
        assert left == 0 and asking.wait(PATIENCE) == 0


@pytest.mark.parametrize("version", VERSIONS)
def test_reloads_and_stops_while_pieces_are_made(daemon, scripted_web, tmp_path, version):
    text = """
        function on_http_request()
          local at = 0
          return {body = function()
            at = at + 1
            if at == 1 then return 'old;' end
            while not strata.shared.get('go') do strata.sleep(0.005) end
            if at <= 100 then return at .. ';' end
          end}
        end"""
    port = scripted_web(text)
    with subprocess.Popen(curl_command(version, port, "/"), stdout=subprocess.PIPE) as asking:
        assert asking.stdout.read(4) == b"old;"
        (tmp_path / "web.lua").write_text(text.replace("old", "new"))
        for _ in range(3):
            daemon.cli("reload-lua", "web")
        daemon.cli("lua", "repl", "web", "-e", "strata.shared.set('go', true)")
        assert asking.stdout.read() == b"".join(b"%d;" % n for n in range(2, 101))
        assert asking.wait(PATIENCE) == 0
    daemon.cli("lua", "repl", "web", "-e", "strata.shared.set('go', nil)")
    with subprocess.Popen(curl_command(version, port, "/"), stdout=subprocess.PIPE) as asking:
        assert asking.stdout.read(4) == b"new;"
        daemon.act("web", "stop")
        assert asking.stdout.read() == b"" and asking.wait(PATIENCE) != 0
    assert daemon.show("web")["state"] == "stopped"


def test_the_same_table_may_be_given_again(scripted_web):
    port = scripted_web("""
        local answer = {body = function() done = not done return done and 'x' or nil end}
        function on_http_request(request)
          if request.path == '/status' then return {status = 204, body = answer.body} end
          return answer
        end""")
    for _ in range(3):
        assert curl("--http1.1", port, "/").stdout == b"x"
    assert curl("--http1.1", port, "/status").stdout == b""
