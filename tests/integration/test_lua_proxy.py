"""Scripts of proxies: they choose backends, and change requests and answers."""

import json

import pytest

from http_backend import ask, client, gateway, get
from strata_daemon import Refused, eventually
from talker import TextTalker as Talker
from talker import port_of


@pytest.fixture
def scripted(daemon, tmp_path):
    """Returns a function that starts a gateway with a script."""

    def start(script, *backends, **options):
        path = tmp_path / "gw.lua"
        path.write_text(script)
        return gateway(daemon, *backends, lua=str(path), **options)

    return start


def named(make_backend, name):
    """Returns a backend that answers with its name and the requested target."""
    def answer(wire, asked):
        body = f"{name} {asked.start.split()[1]}".encode()
        wire.over.sendall(b"HTTP/1.1 200 OK\r\nX-Backend: %s\r\nContent-Length: %d\r\n\r\n%s"
                          % (name.encode(), len(body), body))
    return make_backend(answer)


def get_with(port, path, *fields):
    with client(port) as wire:
        lines = [f"GET {path} HTTP/1.1", "Host: h", *fields, "", ""]
        head, body = ask(wire, "\r\n".join(lines).encode())
        return head.decode(), body


def test_on_route_chooses_the_backend(daemon, make_backend, scripted):
    one, two, three = (named(make_backend, name) for name in ("one", "two", "three"))
    port = scripted(f"""
        function on_route(request)
          if request.path == '/number' then return 2 end
          if request.path == '/name' then return '{two.where}' end
          if request.path == '/route' then return '{three.where}' end
          if request.path == '/own' then return {{status = 418, body = request.method}} end
          if request.path == '/waits' then strata.sleep(0.05) return 2 end
          if request.path == '/fails' then error('no idea') end
          if request.path == '/nowhere' then return '10.0.0.1:1' end
          if request.path == '/odd' then return true end
          if request.headers['x-canary'] == 'yes' then return 2 end
        end""", one, two, route=[f"path=/only -> {three.where}"], balance="first")
    assert get(port, "/") == (200, b"one /")
    for path, backend in (("number", "two"), ("name", "two"), ("route", "three"), ("waits", "two")):
        assert get(port, f"/{path}") == (200, f"{backend} /{path}".encode())
    assert get(port, "/own") == (418, b"GET")
    assert get_with(port, "/", "X-Canary: yes")[1] == b"two /"
    for path in ("fails", "nowhere", "odd"):
        assert get(port, f"/{path}") == (500, b"the proxy's script has failed\n")
    for line in ("no idea", "there is no backend '10.0.0.1:1'", "there is no backend 'true'"):
        eventually(lambda: daemon.logged("gw", line), f"{line} is logged")
    backends = daemon.ask("GET", "/v1/runtimes/gw/backends")
    assert [backend["total"] for backend in backends] == [1, 4, 1]


def test_a_backend_that_was_chosen_and_is_down_is_passed_over(make_backend, scripted):
    one, two = (named(make_backend, name) for name in ("one", "two"))
    port = scripted("function on_route() return 2 end", one, two)
    assert get(port, "/") == (200, b"two /")
    two.close()
    assert get(port, "/") == (200, b"one /")


def test_heads_are_changed(make_backend, scripted):
    backend = named(make_backend, "one")
    port = scripted("""
        function on_proxy_request(request)
          if request.path == '/denied' then
            return {status = 401, headers = {['WWW-Authenticate'] = 'Basic'}, json = {no = true}}
          end
          return {target = '/v2' .. request.target,
                  headers = {['X-User'] = 'ann', ['X-Secret'] = false, ['X-Both'] = {'a', 'b'}}}
        end
        function on_proxy_response(response, request)
          if request.path == '/gone' then return {status = 410, body = 'replaced'} end
          return {headers = {['X-Backend'] = false, ['X-Path'] = request.path,
                             ['X-Status'] = response.status}}
        end""", backend)
    head, body = get_with(port, "/a?b=c", "X-Secret: 1", "X-Both: old")
    assert body == b"one /v2/a?b=c" and "x-path: /a\r\n" in head + "\r\n"
    assert "x-status: 200" in head and "x-backend" not in head.lower().replace("x-backends", "")
    [asked] = backend.requests
    assert asked.field("x-user") == ["ann"] and asked.field("x-both") == ["a", "b"]
    assert asked.field("x-secret") == [] == asked.field("X-Secret")
    head, body = get_with(port, "/denied")
    assert head.startswith("HTTP/1.1 401") and json.loads(body) == {"no": True}
    head, body = get_with(port, "/gone")
    assert head.startswith("HTTP/1.1 410") and body == b"replaced"
    assert len(backend.requests) == 2
    assert get(port, "/more") == (200, b"one /v2/more")


def test_heads_cannot_be_split_or_framed_anew(daemon, make_backend, scripted):
    backend = named(make_backend, "one")
    port = scripted("""
        local bad = {split = {headers = {['X-A'] = 'b\\r\\nC: d'}},
                     name = {headers = {['a b'] = 'c'}},
                     framing = {headers = {['Content-Length'] = '7'}},
                     coding = {headers = {['Transfer-Encoding'] = 'chunked'}},
                     host = {target = 'http://elsewhere/'}, blank = {target = '/a b'},
                     text = 'x', status = {status = 99}, list = {headers = 'x'}}
        function on_proxy_request(request) return bad[request.path:sub(2)] end
        function on_proxy_response(response, request)
          return bad[request.path:sub(2):gsub('answer.', '')]
        end""".replace("(2):gsub('answer.', '')]", "(9)]"), backend)
    for path in ("split", "name", "framing", "coding", "host", "blank", "text", "status", "list"):
        assert get(port, f"/{path}")[0] == 500, path
    assert backend.requests == []
    for path in ("split", "name", "framing", "coding", "text", "status", "list"):
        assert get(port, f"/answer.{path}")[0] == 500, path
    assert get(port, "/answer.fine")[0] == 200


def test_bodies_are_changed_in_pieces(make_backend, scripted):
    def answer(wire, asked):
        head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(asked.body)}\r\n\r\n"
        wire.over.sendall(head.encode() + (b"" if "HEAD" in asked.start else asked.body))
    backend = make_backend(answer)
    port = scripted("""
        function on_proxy_request_body(piece, request)
          if piece == nil then return '!' end
          if piece == 'fail' then error('no') end
          return piece:upper()
        end
        function on_proxy_response_body(piece)
          if piece == nil then return '?' end
          return piece:gsub('A', 'aa')
        end""", backend)

    def post(body):
        with client(port) as wire:
            head, got = ask(wire, b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n%s"
                            % (len(body), body))
            return int(head.split()[1]), got

    assert post(b"banana") == (200, b"BaaNaaNaa!?")
    assert backend.requests[-1].body == b"BANANA!"
    large = b"x" * 3_000_000
    assert post(large) == (200, large.upper() + b"!?")
    assert post(b"fail") == (500, b"the proxy's script has failed\n")
    assert get(port, "/") == (200, b"")  # no body, nothing to change
    with client(port) as wire:
        wire.over.sendall(b"HEAD / HTTP/1.1\r\nHost: h\r\n\r\n")
        assert b"200 OK" in wire.until(b"\r\n\r\n")


def test_on_route_chooses_for_connections_too(daemon, tmp_path):
    script = tmp_path / "gw.lua"
    script.write_text("""
        function on_route(connection)
          strata.shared.set('turn', (strata.shared.get('turn') or 0) + 1)
          local turn = strata.shared.get('turn')
          if turn == 3 then return {status = 403} end
          if turn == 4 then error('no') end
          assert(connection.peer:match('^127.0.0.1:%d+$') and connection.method == nil)
          return 2
        end""")
    backends = []
    for name in ("one", "two"):
        text = tmp_path / f"{name}.lua"
        text.write_text(f"function on_message(m, id) self.send(id, '{name} ' .. m) end")
        backends.append(daemon.create("server", name, listen=["tcp://127.0.0.1:0"], lua=str(text))
                     ["endpoints"][0])
    made = daemon.create("proxy", "gw", listen=["tcp://127.0.0.1:0"], lua=str(script),
                         backend=[f"127.0.0.1:{port_of(each)}" for each in backends])
    for _ in range(2):
        with Talker(made["endpoints"][0]) as ann:
            ann.say("hi")
            assert ann.hear() == "two hi"
    for _ in range(2):
        with pytest.raises(ConnectionResetError), Talker(made["endpoints"][0]) as ann:
            ann.hear()
    with Talker(made["endpoints"][0]) as ann:
        ann.say("hi")
        assert ann.hear() == "two hi"


def test_a_script_sees_the_backends_and_is_loaded_again(daemon, make_backend, scripted, tmp_path):
    one, two = (named(make_backend, name) for name in ("one", "two"))
    port = scripted("""
        function on_route(request)
          if request.path == '/backends' then return {status = 200, json = self.backends()} end
          if request.path == '/who' then
            return {status = 200, json = {self.name, proxy.type, self.connections()}}
          end
        end""", one, two, threads=2)
    assert json.loads(get(port, "/who")[1]) == ["gw", "proxy", 1]
    assert [(each["backend"], each["state"]) for each in json.loads(get(port, "/backends")[1])] == [
        (f"tcp://{one.where}", "ready"), (f"tcp://{two.where}", "ready")]
    (tmp_path / "gw.lua").write_text("function on_route() return 2 end")
    daemon.cli("reload-lua", "gw")
    assert {get(port, "/")[1] for _ in range(8)} == {b"two /"}
    (tmp_path / "gw.lua").write_text("function on_route(")
    with pytest.raises(Refused, match="expected"):
        daemon.ask("POST", "/v1/runtimes/gw/reload-lua")
    assert get(port, "/")[1] == b"two /"
    assert daemon.stats("gw")["script"]["reloads"] == 2  # once on each thread


def test_a_backend_may_be_another_while_the_script_waits(daemon, make_backend, scripted):
    one, two = (named(make_backend, name) for name in ("one", "two"))
    port = scripted("""
        function on_route(request)
          if request.path ~= '/edits' then return end
          assert(strata.edit(self.name, {backend = {'""" + two.where + """'}}))
          return 1
        end""", one)
    assert get(port, "/") == (200, b"one /")
    assert get(port, "/edits") == (200, b"two /edits")
    assert get(port, "/") == (200, b"two /")


def test_fields_that_come_twice_are_one_and_all_are_gone_through(make_backend, scripted):
    port = scripted("""
        function on_route(request)
          local names = {}
          for name in pairs(request.headers) do names[#names + 1] = name end
          table.sort(names)
          local has = request.headers
          return {status = 200, json = {names = names, both = has['x-both'], many = has['x-39'],
                                        cookie = has.cookie, host = has.host}}
        end""", named(make_backend, "one"))
    twice = ("X-Both: a", "Cookie: c=1", "X-Both: b", "Cookie: d=2")
    many = [f"X-{number}: {number}" for number in range(40)]
    for fields in ((), twice, many, [*many, *twice]):
        said = json.loads(get_with(port, "/", *fields)[1])
        assert said["host"] == "h"
        assert said["names"] == sorted({"host", *(each.split(":")[0].lower() for each in fields)})
        assert (said.get("both"), said.get("cookie")) == (
            ("a, b", "c=1; d=2") if twice[0] in fields else (None, None))
        assert said.get("many") == ("39" if many[0] in fields else None)
