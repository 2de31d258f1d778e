"""Scripts outside stream servers: clients, datagrams, and what checks scripts."""

import json

import pytest

from lua_console import LuaConsole
from strata_daemon import eventually
from talker import TextTalker as Talker
from talker import free_port, port_of


def test_a_client_hears_and_speaks(daemon, tmp_path):
    port = free_port()
    url = f"tcp://127.0.0.1:{port}"
    daemon.create("server", "hub", listen=[url], protocol="raw")
    path = tmp_path / "ear.lua"
    path.write_text("""
        function on_connect() self.send('here I am') end
        function on_message(message)
          if message == 'slow' then strata.sleep(0.2) end
          self.send('heard ' .. message)
        end
        function on_send(message) return message ~= 'no' and 'sent ' .. message end
        function on_disconnect()
          strata.log(tostring(self.is_connected()) .. ' ' .. tostring(self.send('x')))
        end""")
    with Talker(url) as ann:
        daemon.wait_connections("hub", 1)
        daemon.create("client", "ear", target=f"127.0.0.1:{port}", reconnect=0,
                      reconnect_min=0.05, reconnect_max=0.05, lua=str(path))
        assert ann.hear() == "here I am"
        ann.say("slow", "quick")
        assert [ann.hear(), ann.hear()] == ["heard slow", "heard quick"]
        assert daemon.send("ear", b"me")["delivered"] == 1
        assert ann.hear() == "sent me"
        assert daemon.send("ear", b"no")["delivered"] == 0
        path.write_text(path.read_text().replace("heard", "got"))
        daemon.cli("reload-lua", "ear")
        ann.say("again")
        assert ann.hear() == "got again"
    daemon.act("hub", "restart")
    eventually(lambda: daemon.logged("ear", "false false"), "it is logged")
    with Talker(url) as ann:
        daemon.act("ear", "restart")
        assert ann.hear() == "here I am"
    assert daemon.stats("ear")["script"]["calls"] > 5


def test_datagrams_and_frames_are_messages_alike(daemon, tmp_path):
    path = tmp_path / "udp.lua"
    path.write_text("function on_message(message, id) self.send(id, 'echo ' .. message) end")
    made = daemon.create("server", "udp", listen=["udp://127.0.0.1:0"], lua=str(path))
    with Talker(made["endpoints"][0]) as ann:
        ann.send(b"a datagram")
        assert ann.socket.recv(100) == b"echo a datagram"


def test_mistakes_are_found_without_running(daemon, tmp_path):
    path = tmp_path / "x.lua"
    path.write_text("function on_start() strata.lgo('x') end\n"
                    "function on_mesage() self.snd(1) end\n")
    result = daemon.run("lua", "check", str(path))
    assert result.returncode == 1
    assert result.stdout == (f"{path}:1: there is no strata.lgo\n"
                             f"{path}:2: there is no self.snd\n"
                             f"{path}:2: 'on_mesage' is never called\n")
    assert json.loads(daemon.run("lua", "check", str(path), "--format", "json").stdout)[0] == {
        "file": str(path), "line": 1, "what": "there is no strata.lgo"}
    path.write_text("function on_connect(id) self.peer_ip(id) end")
    assert daemon.cli("lua", "check", str(path)) == ""
    assert "no self.peer_ip" in daemon.run("lua", "check", "--type", "client", str(path)).stdout
    path.write_text("function on_proxy_request(request) self.peer(1) end")
    assert daemon.cli("lua", "check", "--type", "proxy", str(path)) == ""
    assert "never called" in daemon.run("lua", "check", "--type", "cache", str(path)).stdout
    assert "function strata.log(message, level) end" in daemon.cli("lua", "annotations")


def test_a_script_asks_web_servers(daemon, tmp_path):
    path = tmp_path / "web.lua"
    path.write_text("""
        function on_http_request(request)
          if request.path == '/slow' then strata.sleep(10) end
          if request.path == '/echo' then
            return {status = 201, headers = {['X-Method'] = request.method}, body = request.body}
          end
        end
        function on_message(message, id)
          local answer = strata.http(strata.json.decode(message))
          self.send(id, strata.json.encode(answer))
        end""")
    made = daemon.create("server", "web", listen=["tcp://127.0.0.1:0"], lua=str(path))
    url = made["endpoints"][0]
    web = f"http://127.0.0.1:{port_of(url)}"
    with Talker(url) as ann:
        def ask(**question):
            ann.say(json.dumps(question))
            return json.loads(ann.hear())

        answer = ask(url=f"{web}/echo", body="some bytes", headers={"X-A": "b"})
        assert (answer["ok"], answer["status"], answer["body"]) == (True, 201, "some bytes")
        assert answer["headers"]["x-method"] == "POST"
        assert ask(url=f"{web}/none")["status"] == 404
        assert "not answered in time" in ask(url=f"{web}/slow", timeout_ms=100)["error"]
        assert not ask(url=f"http://127.0.0.1:{free_port()}/")["ok"]
        assert not ask(url="https://127.0.0.1:1/")["ok"]
        for wrong in ({"url": "tcp://127.0.0.1:1"}, {}, {"url": web, "headers": {"A\r\nB": "c"}},
                      {"url": web, "method": "G T"}):
            ann.say(json.dumps(wrong))
        eventually(lambda: daemon.logged("web", "is neither http:// nor https://"), "it is logged")
        eventually(lambda: daemon.logged("web", "its method is not valid"), "it is logged")


def test_a_runtime_that_is_created_again_is_changed_only_where_it_differs(daemon, tmp_path):
    console = LuaConsole(daemon, tmp_path)

    def create(rate_limit, start="true"):
        options = ("{listen = {'tcp://127.0.0.1:0'}, protocol = 'raw', mode = 'master', "
                   f"master_pw = 'secret', rate_limit = {rate_limit}, start = {start}}}")
        return console.run(f"return strata.create('server', 'child', {options}).state")[0]

    def edits():
        return daemon.log().count("child: edited")

    assert create(1000) == "running"
    endpoints = daemon.show("child")["endpoints"]
    assert (create(1000), edits()) == ("running", 0)
    assert (create(5), edits()) == ("running", 1)
    assert daemon.show("child")["options"]["rate_limit"] == 5
    assert daemon.show("child")["endpoints"] == endpoints
    daemon.act("child", "stop")
    assert (create(5, start="false"), edits()) == ("stopped", 1)
    assert (create(5), edits()) == ("running", 1)


def test_a_script_keeps_house(daemon, tmp_path):
    path = tmp_path / "house.lua"
    path.write_text("""
        function on_start()
          local made, why = strata.create('server', 'child', {
            listen = {'tcp://127.0.0.1:0'}, protocol = 'raw', rate_limit = 1000})
          assert(made, why)
          strata.log('child: ' .. made.state)
        end
        local verbs = {
          list = function() local n = {} for _, r in ipairs(strata.list()) do n[#n + 1] = r.name end
                            return table.concat(n, ' ') end,
          get = function() return strata.get('child').owner end,
          none = function() return select(2, strata.get('nobody')) end,
          send = function() return tostring(strata.send('child', 'from the house')) end,
          edit = function() return strata.edit('child', {rate_limit = 5}).applied[1] end,
          stop = function() return strata.stop('child').state end,
          start = function() return strata.start('child').state end,
          taken = function() return select(2, strata.create('cache', 'child')) end,
          wrong = function() return select(2, strata.create('server', 'x', {mode = 'none'})) end,
          remove = function() return tostring(strata.remove('child')) end,
          myself = function() strata.stop(self.name) end,
        }
        function on_message(message, id) self.send(id, verbs[message]()) end""")
    daemon.create("server", "house", listen=["tcp://127.0.0.1:0"], lua=str(path), protocol="raw")
    eventually(lambda: daemon.logged("house", "child: running"), "it is logged")
    with Talker(daemon.show("house")["endpoints"][0]) as ann:
        def ask(verb):
            ann.say(verb)
            return ann.hear()

        assert (ask("list"), ask("get")) == ("child house", "house")
        assert "nobody" in ask("none")
        with Talker(daemon.show("child")["endpoints"][0]) as child:
            daemon.wait_connections("child", 1)
            assert ask("send") == "1" and child.hear() == "from the house"
        assert ask("edit") == "rate_limit"
        assert (ask("stop"), ask("start")) == ("stopped", "running")
        assert "child" in ask("taken") and "mode" in ask("wrong")
        daemon.restart()  # on_start finds what the script created before
    eventually(lambda: daemon.logged("house", "child: running"), "it is logged")
    assert daemon.names() == ["child", "house"]
    with Talker(daemon.show("house")["endpoints"][0]) as ann:
        ann.say("remove")
        assert ann.hear() == "true"
        ann.say("myself")
        assert ann.hear() is None
    eventually(lambda: daemon.show("house")["state"] == "stopped", "it has stopped itself")


ROUTER = """
    function on_message(message, id)
      local word, rest = message:match('^(%S+) ?(.*)$')
      if word == 'to' then
        local done, why = self.route(id, rest)
        self.send(id, done and 'routed' or 'no: ' .. why)
      elseif word == 'where' then self.send(id, tostring(self.get_route(id)))
      elseif word == 'pipe' then self.pipe(id, tonumber(rest)) self.send(id, 'piped')
      elseif word == 'who' then self.send(id, tostring(id))
      elseif word == 'off' then self.send(id, tostring(self.unroute(tonumber(rest))))
      elseif word == 'unpipe' then self.unpipe(tonumber(rest)) self.send(id, 'done')
      else self.send(id, 'mine ' .. message) end
    end"""


def answer(talker, word):
    talker.say(word)
    return talker.hear()


@pytest.mark.parametrize("threads", [1, 2])
def test_a_client_is_routed_to_another_runtime(daemon, tmp_path, threads):
    script = tmp_path / "web.lua"
    script.write_text(ROUTER)
    url = daemon.create("server", "web", listen=["tcp://127.0.0.1:0"], lua=str(script),
                        protocol="raw", threads=threads)["endpoints"][0]
    there = daemon.create("server", "there", listen=["tcp://127.0.0.1:0"], mode="echo")
    with Talker(url) as ann, Talker(url) as bob:
        assert answer(ann, "hi") == "mine hi" and answer(ann, "where") == "nil"
        assert answer(ann, "to there") == "routed"
        ann.say(*(f"{each}" for each in range(1000)))
        for number in range(1000):
            assert ann.hear() == f"{number}"
        assert answer(bob, "hi") == "mine hi"
        assert answer(bob, f"to {there['endpoints'][0]}") == "routed"
        assert answer(bob, "where") == "where"
        daemon.cli("stop", "there")
        for each in (ann, bob):
            eventually(lambda: answer(each, "where") == "nil", "the route has ended")
        assert answer(ann, "to there").startswith("no: ")
        for bad in ("to http://127.0.0.1:1", "to nobody", "to ://", "to udp://127.0.0.1:1/x y"):
            assert answer(ann, bad).startswith("no: "), bad
        assert answer(ann, "off 1") == "false"


@pytest.mark.parametrize("threads", [1, 2])
def test_two_clients_are_piped(daemon, tmp_path, threads):
    script = tmp_path / "web.lua"
    script.write_text(ROUTER)
    url = daemon.create("server", "web", listen=["tcp://127.0.0.1:0"], lua=str(script),
                        protocol="raw", threads=threads)["endpoints"][0]
    with Talker(url) as ann, Talker(url) as bob, Talker(url) as eve:
        ids = {each: answer(each, "who") for each in (ann, bob, eve)}
        assert answer(ann, f"pipe {ids[bob]}") == "piped"
        ann.say("hello")
        assert bob.hear() == "hello"  # the message came after the pipe
        bob.say("back")
        assert ann.hear() == "back"
        assert answer(eve, "hi") == "mine hi"
        assert answer(eve, f"unpipe {ids[ann]}") == "done"
        eventually(lambda: answer(eve, "hi") == "mine hi", "what was posted is there")
        if threads == 1:
            assert answer(ann, "hi") == "mine hi" == answer(bob, "hi")
            assert answer(ann, f"pipe {ids[bob]}") == "piped"
            bob.close()
            daemon.wait_connections("web", 2)
            assert answer(ann, "hi") == "mine hi"
