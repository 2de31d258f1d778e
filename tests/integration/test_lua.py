"""Scripts of servers: the events they receive, what they do, and what they cannot do."""

import asyncio
import contextlib
import json
import pathlib
import subprocess
import threading
import time

import pytest
import websockets
import websockets.exceptions

from strata_daemon import BINARY, PATIENCE, eventually
from talker import TextTalker as Talker
from talker import port_of


def refused(daemon, tmp_path, text, **options):
    path = tmp_path / "bad.lua"
    path.write_text(text)
    result = subprocess.run(
        [BINARY, "create", "server", "bad", "-p", "0", "--local", "--lua", str(path), "-s"],
        env=daemon.environment, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert result.returncode != 0 and daemon.names() == []
    return result.stderr


def fetch(url, path, *more):
    command = ["curl", "-s", "-i", f"http://127.0.0.1:{port_of(url)}{path}", *more]
    return subprocess.run(command, capture_output=True, timeout=PATIENCE,
                          check=True).stdout.decode()


def test_an_echo_with_its_beginnings_and_ends(daemon, scripted):
    url = scripted("""
        function on_start() strata.log('started ' .. self.name .. ', a ' .. self.type) end
        function on_stop() strata.log('stopped') end
        function on_connect(id) self.send(id, 'welcome') end
        function on_message(message, id) self.send(id, 'echo: ' .. message) end
        function on_disconnect(id) strata.log('gone ' .. id) end""")
    with Talker(url) as ann:
        assert ann.hear() == "welcome"
        ann.say("hello", "world")
        assert ann.hear() == "echo: hello" and ann.hear() == "echo: world"
    eventually(lambda: daemon.logged("web", "started web, a server"), "it is logged")
    eventually(lambda: daemon.logged("web", "gone "), "it is logged")
    daemon.act("web", "stop")
    eventually(lambda: daemon.logged("web", "stopped"), "it is logged")


def test_the_script_decides_who_hears_what(daemon, scripted, tmp_path):
    url = scripted("""
        function on_client_message(id, message)
          local to, text = message:match('^(%d+) (.*)$')
          if to then self.send(tonumber(to), text)
          elseif message == 'all' then self.broadcast('to all')
          elseif message == 'others' then self.broadcast('to others', id)
          elseif message == 'who' then self.send(id, #self.clients() .. ' of ' .. id)
          elseif message == 'leave' then self.disconnect(id)
          else self.multicast(self.clients(), 'some: ' .. message) end
        end""", write=str(tmp_path / "kept"))
    with Talker(url) as ann, Talker(url) as bob:
        daemon.wait_connections("web", 2)
        for one in (ann, bob):
            one.say("who")
        numbers = [one.hear() for one in (ann, bob)]
        assert [each.split(" of ")[0] for each in numbers] == ["2", "2"]
        bob_id = numbers[1].split(" of ")[1]
        ann.say(f"{bob_id} psst", "others", "all", "x")
        assert [bob.hear() for _ in range(4)] == ["psst", "to others", "to all", "some: x"]
        assert [ann.hear() for _ in range(2)] == ["to all", "some: x"]
        bob.say("leave")
        assert bob.hear() is None
    eventually(lambda: "leave" in (tmp_path / "kept").read_text(), "the file has what was said")


def test_groups_and_data_of_clients(daemon, scripted):
    url = scripted("""
        function on_message(message, id)
          local verb, rest = message:match('^(%a+) ?(.*)$')
          if verb == 'join' then
            self.join_group(id, rest) self.set_data(id, 'room', {name = rest})
            self.send(id, 'joined')
          elseif verb == 'part' then
            self.send(id, tostring(self.leave_group(id, self.get_data(id, 'room').name)))
          else self.group_send(self.get_data(id, 'room').name, rest, id) end
        end
        function on_disconnect(id)
          local room = self.get_data(id, 'room')
          if room then self.group_send(room.name, 'somebody left', id) end
        end""")
    with Talker(url) as ann, Talker(url) as bob, Talker(url) as eve:
        for one, room in ((ann, "red"), (bob, "red"), (eve, "blue")):
            one.say(f"join {room}")
            assert one.hear() == "joined"
        ann.say("say hi")
        assert bob.hear() == "hi"
        eve.say("part")
        assert eve.hear() == "true"
        ann.close()
        assert bob.hear() == "somebody left"


def test_a_function_that_waits_keeps_the_order_of_one_client_alone(daemon, scripted):
    url = scripted("""
        function on_message(message, id)
          if message == 'slow' then strata.sleep(0.3) end
          self.send(id, message)
        end""")
    with Talker(url) as ann, Talker(url) as bob:
        ann.say("slow", "one", "two")
        bob.say("quick")
        assert bob.hear() == "quick"
        assert [ann.hear() for _ in range(3)] == ["slow", "one", "two"]


def test_clients_that_are_not_let_in_hear_nothing(daemon, scripted):
    url = scripted("""
        function on_auth(id)
          strata.sleep(0.2)
          return self.peer_ip(id) == '127.0.0.1' and not full
        end
        function on_connect(id) self.send(id, 'in') full = true end
        function on_message(message) self.broadcast(message) end""")
    with Talker(url) as ann:
        ann.say("mine")
        assert ann.hear() == "in" and ann.hear() == "mine"
        with Talker(url) as bob:
            bob.say("for all")
            assert bob.hear() is None
        ann.say("again")
        assert ann.hear() == "again"


def test_who_has_only_come_hears_nothing_whatever_it_speaks(daemon, scripted):
    """Without on_message, the mode relays clients' messages, but only between admitted clients."""
    url = scripted("""
        function on_auth(id)
          strata.sleep(0.3)
          return strata.shared.add('clients') == 1
        end
        function on_connect(id) self.send(id, 'in') end""", protocol="auto", http_messages=True,
                   detect_timeout=0.3)
    with Talker(url) as ann:
        ann.say("first")
        assert ann.hear() == "in"
        with Talker(url) as bob:
            for number in range(30):
                ann.say(f"secret {number}")
                with contextlib.suppress(ConnectionError):  # it is disconnected meanwhile
                    bob.say("heard by nobody")
                time.sleep(0.02)
            with contextlib.suppress(ConnectionError):
                assert bob.hear_to_end() == []
        assert fetch(url, "/", "-d", "posted").startswith("HTTP/1.1 403")
        assert daemon.send("web", b"last")["delivered"] == 1
        assert ann.hear() == "last"


def test_websockets_and_streams_are_clients_alike(daemon, scripted):
    url = scripted("""
        function on_websocket(request)
          if request.headers.cookie ~= 'token=good' then return false end
          return 'chat'
        end
        function on_message(message, id) self.broadcast(message, id) end""", protocol="auto")
    where = f"ws://127.0.0.1:{port_of(url)}/"

    async def converse(ann):
        with pytest.raises(websockets.exceptions.InvalidStatusCode, match="403"):
            await websockets.connect(where)
        async with websockets.connect(where, extra_headers={"Cookie": "token=good"},
                                      subprotocols=["chat"]) as web:
            assert web.subprotocol == "chat"
            await asyncio.to_thread(daemon.wait_connections, "web", 2)
            await web.send("from the web")
            assert await asyncio.to_thread(ann.hear) == "from the web"
            ann.say("from a stream")
            assert await web.recv() == "from a stream"

    with Talker(url) as ann:
        asyncio.run(asyncio.wait_for(converse(ann), PATIENCE))


def test_http_requests_are_answered(daemon, scripted, tmp_path):
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "page").write_text("a file\n")
    url = scripted("""
        local routes = strata.router()
        routes:get('/users/:name', function(_, params) return {json = {name = params.name}} end)
        routes:post('/echo', function(request) strata.sleep(0.05) return request.body end)
        routes:get('/created', function()
          return {status = 201, headers = {['X-A'] = 'b', ['Set-Cookie'] = {'a=1', 'b=2'}}} end)
        routes:get('/query', function(r) return {json = r.query} end)
        routes:get('/split', function() return {headers = {['X-A'] = 'b\\r\\nC: d'}} end)
        routes:get('/fails', function() error('oh no') end)
        routes:get('/wrong', function() return 17 end)
        function on_http_request(request) return routes:answer(request) end""",
                   http=str(tmp_path / "files"), protocol="auto")
    assert fetch(url, "/users/ann").endswith('\r\n\r\n{"name":"ann"}')
    assert "application/json" in fetch(url, "/users/ann")
    echoed = fetch(url, "/echo", "-d", "some bytes")
    assert echoed.endswith("\r\n\r\nsome bytes") and "Content-Type: text/plain; charset" in echoed
    created = fetch(url, "/created")
    assert created.startswith("HTTP/1.1 201") and "X-A: b\r\n" in created
    assert "Set-Cookie: a=1\r\n" in created and "Set-Cookie: b=2\r\n" in created
    query = fetch(url, "/query?a=1&b=x%20y").split("\r\n\r\n")[1]
    assert json.loads(query) == {"a": "1", "b": "x y"}
    assert fetch(url, "/page").endswith("a file\n")
    assert fetch(url, "/nothing").startswith("HTTP/1.1 404")
    assert fetch(url, "/echo").startswith("HTTP/1.1 405")
    for bad in ("split", "fails", "wrong"):
        failed = fetch(url, f"/{bad}")
        assert failed.startswith("HTTP/1.1 500") and "text/plain" in failed
    eventually(lambda: daemon.logged("web", "oh no"), "it is logged")
    [line] = [each["text"] for each in daemon.lines("/v1/runtimes/web/logs")
              if "oh no" in each["text"]]
    assert ": oh no | " in line and "\n" not in line, "a traceback is one line"
    assert "strata:" not in line and "'handler'" not in line, "of the script's own functions"


def test_messages_that_are_sent_from_outside_pass_the_script(daemon, scripted):
    url = scripted("""
        function on_send(message)
          if message == 'secret' then return false end
          return message:upper()
        end""")
    with Talker(url) as ann, Talker(url) as bob:
        daemon.wait_connections("web", 2)
        assert daemon.send("web", b"secret")["delivered"] == 0
        assert daemon.send("web", b"hello")["delivered"] == 2
        assert ann.hear() == "HELLO" and bob.hear() == "HELLO"


def test_ticks_and_timers(daemon, scripted):
    url = scripted("""
        tick_ms = 20
        local ticks, fired = 0, {}
        function on_tick(elapsed) if elapsed > 0 then ticks = ticks + 1 end end
        strata.set_timeout(10, function() fired[#fired + 1] = 'once' end)
        local again
        again = strata.set_interval(10, function()
          fired[#fired + 1] = 'again'
          if #fired == 4 then strata.clear_interval(again) end
        end)
        function on_message(message, id)
          self.send(id, strata.json.encode{ticks = ticks > 1, fired = #fired}) end""")
    with Talker(url) as ann:
        def settled():
            ann.say("?")
            return json.loads(ann.hear()) == {"ticks": True, "fired": 4}
        eventually(settled, "all has been called")


def test_values_and_texts(daemon, scripted):
    url = scripted("""
        function on_message(message, id)
          local give, why = assert(load('return ' .. message))()
          if give == nil then give = strata.json.null end
          self.send(id, strata.json.encode{give, why})
        end""")
    with Talker(url) as ann:
        def value(expression):
            ann.say(expression)
            return json.loads(ann.hear())

        assert value("strata.json.decode('{\"a\":[1,null,true]}')") == [{"a": [1, None, True]}]
        assert "is not valid JSON" in value("strata.json.decode('{')")[1]
        assert "64 levels" in value("strata.json.decode(('['):rep(100000))")[1]
        assert value("strata.json.array({})") == [[]] and value("{}") == [{}]
        assert value("strata.base64.encode('hi\\0')") == ["aGkA"]
        assert value("strata.base64.decode('aGkA') == 'hi\\0'") == [True]
        assert value("strata.hash('sha256', 'abc'):sub(1, 8)") == ["ba7816bf"]
        assert value("strata.hmac('sha1', 'key', 'text'):len()") == [40]
        assert value("strata.url.encode('a b/ü')") == ["a%20b%2F%C3%BC"]
        assert value("strata.url.query('a=1&b=%20')") == [{"a": "1", "b": " "}]
        assert value("strata.resolve('localhost')[1]")[0] in ("127.0.0.1", "::1")
        assert value("strata.resolve('nowhere.invalid')")[0] is None
        assert value("strata.shared.add('n', 2)") == [2] == value("strata.shared.get('n')")
        assert value("strata.shared.set('s', {a = 1}, 0.05)") == [None]
        assert value("strata.shared.get('s')") == [{"a": 1}]
        eventually(lambda: value("strata.shared.get('s') == nil") == [True], "it has lived")
        assert value("#strata.random_bytes(8)") == [8]


def test_mistakes_are_told_with_file_and_line_and_harm_nobody(daemon, scripted):
    url = scripted("""
        function on_message(message, id)
          if message == 'loop' then while true do end end
          if message == 'memory' then
            local t = {} while true do t[#t + 1] = ('x'):rep(1e5) .. #t end
          end
          if message == 'error' then error({}) end
          if message == 'type' then self.send('nobody', 1) end
          if message == 'yield' then coroutine.yield() end
          self.send(id, message)
        end""", lua_memory=8 << 20)
    with Talker(url) as ann:
        for trouble in ("loop", "memory", "error", "type", "yield"):
            ann.say(trouble, "fine")
            assert ann.hear() == "fine"
    for line in ("web.lua:3: the handler was stopped", "not enough memory", "table: 0x",
                 "self.send: argument 1 (id) is string, it must be a whole number",
                 "yields outside its own coroutine"):
        eventually(lambda: daemon.logged("web", line), "it is logged")
    counted = daemon.stats("web")["script"]
    assert counted["errors"] == 5 and counted["calls"] >= 10 and counted["memory"] > 0


def test_what_cannot_be_loaded_is_refused(daemon, tmp_path):
    assert "bad.lua:1:" in refused(daemon, tmp_path, "function on_message(")
    assert "bad.lua:1: oh" in refused(daemon, tmp_path, "error('oh')")
    assert "the handler was stopped" in refused(daemon, tmp_path, "while true do end")
    assert "compiled Lua" in refused(daemon, tmp_path, "\x1bLJ\x02")
    assert "'on_connect' is not a function" in refused(daemon, tmp_path, "on_connect = 1")
    assert "on_start has failed" in refused(daemon, tmp_path, "function on_start() error('x') end")
    assert "it waits while it is being loaded" in refused(daemon, tmp_path, "strata.sleep(1)")
    assert "attempt to index global 'io'" in refused(daemon, tmp_path, "io.open('/etc/passwd')")


def test_modules_lie_beside_the_script(daemon, scripted, tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "greet.lua").write_text(
        "return {hello = function(n) return 'hello ' .. n end}")
    url = scripted("""
        local greet = require('lib.greet')
        assert(greet == require('lib.greet'))
        for _, name in ipairs{'../x', '/etc/passwd', 'lib..greet', 'none'} do
          assert(not pcall(require, name))
        end
        function on_message(message, id) self.send(id, greet.hello(message)) end""")
    with Talker(url) as ann:
        ann.say("ann")
        assert ann.hear() == "hello ann"


def test_it_is_loaded_again_beside_the_one_that_runs(daemon, scripted, tmp_path):
    text = """
        function on_connect(id) self.set_data(id, 'n', 'kept') end
        function on_message(message, id)
          if message == 'go' then strata.shared.set('go', true) end
          while message == 'wait' and not strata.shared.get('go') do strata.sleep(0.02) end
          self.send(id, 'VERSION ' .. message .. ' ' .. tostring(self.get_data(id, 'n'))
                    .. ' ' .. strata.shared.add('count'))
        end"""
    url = scripted(text.replace("VERSION", "one"))
    file = tmp_path / "web.lua"
    with Talker(url) as ann, Talker(url) as bob:
        ann.say("a")
        assert ann.hear() == "one a kept 1"
        bob.say("wait", "then")
        eventually(lambda: daemon.stats("web")["script"]["waiting"] == 1, "bob is waited for")
        file.write_text("function on_message(")
        failed = daemon.run("reload-lua", "web")
        assert failed.returncode != 0 and "web.lua:1:" in failed.stderr
        ann.say("b")
        assert ann.hear() == "one b kept 2"
        file.write_text(text.replace("VERSION", "two"))
        daemon.cli("reload-lua", "web")
        ann.say("c")
        assert ann.hear() == "two c kept 3"
        ann.say("go")
        assert ann.hear() == "two go kept 4"
        assert bob.hear() == "one wait kept 5"
        assert bob.hear() == "two then kept 6"
    assert daemon.stats("web")["script"]["reloads"] == 1
    daemon.server("plain")
    assert "runs no script" in daemon.run("reload-lua", "plain").stderr
    everything = daemon.run("reload-lua", "*")
    assert (everything.returncode, everything.stderr) == (0, ""), "a glob means those with a script"
    assert "web: running" in everything.stdout and "plain" not in everything.stdout


def resident(pid):
    """Returns a process's resident memory in bytes; 0 if a sanitizer keeps freed memory."""
    maps, sizes = (pathlib.Path(f"/proc/{pid}/{each}").read_text() for each in ("maps", "statm"))
    return 0 if "san.so" in maps else int(sizes.split()[1]) * 4096


def test_a_thousand_reloads_under_traffic_lose_nothing(daemon, scripted, tmp_path):
    """Every other time the file has an error."""
    text = "function on_message(message, id) self.send(id, message) end"
    url = scripted(text)
    file = tmp_path / "web.lua"
    said, heard, is_over = [], [], threading.Event()

    def talk():
        with Talker(url) as ann:
            while not is_over.is_set():
                said.append(str(len(said)))
                ann.say(said[-1])
                heard.append(ann.hear())

    def memory():
        return daemon.stats("web")["script"]["memory"], resident(daemon.process.pid)

    talking = threading.Thread(target=talk)
    talking.start()
    before = None
    for number in range(1000):
        file.write_text("function on_message(" if number % 2 else text)
        status, _ = daemon.exchange("POST", "/v1/runtimes/web/reload-lua")
        assert status == (400 if number % 2 else 200)
        if number == 100:
            before = memory()
    after = memory()
    is_over.set()
    talking.join()
    assert heard == said and len(said) > 100
    assert daemon.stats("web")["script"]["reloads"] == 500
    assert after[0] < 2 * before[0] and after[1] < before[1] + (8 << 20)


def test_a_file_that_is_watched_is_loaded_again(daemon, scripted, tmp_path):
    text = "function on_message(message, id) self.send(id, 'ANSWER') end"
    url = scripted(text.replace("ANSWER", "old"), lua_watch=True)
    with Talker(url) as ann:
        ann.say("?")
        assert ann.hear() == "old"
        (tmp_path / "web.lua").write_text(text.replace("ANSWER", "new"))

        def is_new():
            ann.say("?")
            return ann.hear() == "new"
        eventually(is_new, "the new script is there")


def test_loops_share_what_they_are_to_share(daemon, scripted):
    url = scripted("""
        function on_message(message, id)
          if message == 'join' then self.join_group(id, 'all') self.send(id, 'joined')
          elseif message == 'count' then
            self.send(id, #self.clients() .. ' ' .. strata.shared.add('n'))
          elseif message == 'group' then self.group_send('all', 'hi', id)
          else self.broadcast(message, id) end
        end""", threads=2)
    crowd = [Talker(url) for _ in range(12)]
    try:
        for one in crowd:
            one.say("join")
            assert one.hear() == "joined"
        for number, one in enumerate(crowd):
            one.say("count")
            assert one.hear() == f"12 {number + 1}"
        crowd[0].say("group", "to others")
        for one in crowd[1:]:
            assert sorted([one.hear(), one.hear()]) == ["hi", "to others"]
    finally:
        for one in crowd:
            one.close()


def test_a_stop_ends_functions_that_wait_and_the_daemon_ends_at_any_moment(daemon, scripted):
    url = scripted("""
        function on_message(message, id) strata.sleep(1000) end
        function on_send(message) strata.sleep(1000) end
        function on_stop() strata.sleep(0.05) end
        strata.set_interval(1, function() strata.sleep(1000) end)""")
    with Talker(url) as ann:
        ann.say("a", "b")
        sending = daemon.begin("send", "web", "x")
        eventually(lambda: daemon.stats("web")["script"]["waiting"] > 5, "functions wait")
        daemon.act("web", "stop")
        sending.wait(PATIENCE)  # the message is dropped
    daemon.act("web", "start")
    with Talker(daemon.show("web")["endpoints"][0]) as ann:
        ann.say("a")
        daemon.stop()
