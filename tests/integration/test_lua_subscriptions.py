"""What scripts subscribe to: channels of caches, events of runtimes, the members of a group."""

import re
from pathlib import Path

import pytest

from lua_console import LuaConsole
from resp_wire import RedisServer, Wire
from strata_daemon import eventually
from talker import TextTalker as Talker
from talker import port_of

ANNOTATIONS = Path(__file__).parents[2] / "packaging/lua/strata.lua"


@pytest.fixture
def console(daemon, tmp_path):
    made = LuaConsole(daemon, tmp_path)
    made.run("heard = {} function note(...) table.insert(heard, table.concat({...}, ' ')) end")
    return made


def heard(console):
    return console.run("return strata.json.array(heard)")[0]


def cache_port(daemon, name="kv", **options):
    return port_of(daemon.create("cache", name, listen=["tcp://127.0.0.1:0"],
                                 **options)["endpoints"][0])


def publish(port, *pairs):
    wire = Wire(port)
    counts = [wire.ask("PUBLISH", *pair) for pair in pairs]
    wire.close()
    return counts


def check_channels(console, where, port):
    console.run(f"a, why = strata.subscribe({where}, {{'news', 'sport'}}, note)")
    assert console.run("return a:is_open(), why") == (True, None)
    console.run(f"b = strata.psubscribe({where}, 'n*', note)")
    assert publish(port, ("news", "one"), ("sport", "two"), ("other", "x")) == [
        b":2\r\n", b":1\r\n", b":0\r\n"]
    eventually(lambda: sorted(heard(console)) == ["news one", "news one n*", "sport two"],
               "all is heard")
    console.run("b:close() heard = {}")
    eventually(lambda: publish(port, ("news", "three")) == [b":1\r\n"], "one follows")
    eventually(lambda: "news three" in heard(console), "it is heard")
    assert console.run("return a:is_open(), b:is_open()") == (True, False)


def test_a_cache_is_followed_by_its_name(daemon, console):
    check_channels(console, "'kv'", cache_port(daemon))


def test_a_redis_server_is_followed_and_again_after_it_was_away(console, tmp_path):
    server = RedisServer(tmp_path / "redis")
    where = f"'redis://127.0.0.1:{server.port}'"
    check_channels(console, where, server.port)
    wire = Wire(server.port)
    assert wire.ask("CLIENT", "KILL", "TYPE", "pubsub") == b":1\r\n"
    eventually(lambda: publish(server.port, ("sport", "again")) == [b":1\r\n"], "it is back")
    eventually(lambda: "sport again" in heard(console), "it is heard")
    wire.close()
    server.close()


def test_one_that_is_not_there_yet_is_followed_once_it_is(daemon, console):
    kept, why = console.run("local s, why = strata.subscribe('kv', 'c', note) "
                            "return s:is_open(), why")
    assert kept and "'kv'" in why
    port = cache_port(daemon)
    eventually(lambda: publish(port, ("c", "late")) == [b":1\r\n"], "it follows")
    eventually(lambda: "c late" in heard(console), "it is heard")


def test_a_user_that_may_not_follow_is_told_so(console, tmp_path):
    server = RedisServer(tmp_path / "redis")
    wire = Wire(server.port)
    assert wire.ask("ACL", "SETUSER", "ann", "on", ">pw", "+@all", "resetchannels",
                    "&open") == b"+OK\r\n"
    wire.close()
    console.run(f"""function why_not(channel)
        return select(2, strata.subscribe('redis://ann:pw@127.0.0.1:{server.port}', channel, note))
    end""")
    assert "NOPERM" in console.run("return why_not('secret')")[0]
    assert console.run("return why_not('open')")[0] is None
    server.close()


@pytest.mark.parametrize("wrong, says", [
    ("strata.subscribe('kv', {}, note)", "neither a text nor a list of texts"),
    ("strata.subscribe('kv', {1, 2}, note)", "neither a text nor a list of texts"),
    ("strata.subscribe('udp://127.0.0.1:1', 'c', note)", "not a stream of bytes"),
    ("strata.subscribe('kv', 'c')", "argument 3 (call) is missing"),
    ("strata.subscribe('kv', 'c', note, {pasword = 'x'})", "there is no option 'pasword'"),
    ("strata.events('x')", "it must be a function"),
    ("strata.send('kv', 'x', 1.5)", "it must be a whole number"),
])
def test_mistakes_are_told(console, wrong, says):
    assert says in console.fails(wrong)


def test_messages_are_told_one_after_the_other(daemon, console):
    port = cache_port(daemon)
    console.run("""strata.subscribe('kv', 'c', function(_, n)
        note('begin', n)
        if n == '3' then error('oh') end
        strata.sleep(n == '1' and 0.1 or 0)
        note('end', n)
    end)""")
    publish(port, *[("c", str(n)) for n in range(1, 5)])
    eventually(lambda: "end 4" in heard(console), "all are told")
    assert heard(console) == ["begin 1", "end 1", "begin 2", "end 2", "begin 3", "begin 4", "end 4"]


def test_a_reload_and_a_collection_end_nothing_but_what_they_should(daemon, console):
    port = cache_port(daemon)
    console.run("strata.subscribe('kv', 'c', note) collectgarbage() collectgarbage()")
    assert publish(port, ("c", "x")) == [b":1\r\n"]
    eventually(lambda: "c x" in heard(console), "it is heard though nobody holds it")
    console.run("""strata.subscribe('kv', 'd', function(_, m)
        if mine then mine:close() end note(m) end)
        mine = strata.subscribe('kv', 'd', function(_, m) mine:close() note('mine ' .. m) end)""")
    publish(port, ("d", "1"), ("d", "2"))
    eventually(lambda: "2" in heard(console), "the other one is told on")
    console.reload()
    eventually(lambda: publish(port, ("c", "x"), ("d", "x")) == [b":0\r\n", b":0\r\n"],
               "those of the script before are gone")


def test_what_happens_to_runtimes_is_told(daemon, console):
    console.run("strata.events(function(e) if e.runtime ~= self.name then "
                "note(e.runtime, e.event, e.type) end end)")
    daemon.create("server", "chat", listen=["tcp://127.0.0.1:0"])
    daemon.edit("chat", group="g")
    daemon.remove("chat")
    eventually(lambda: "chat removed server" in heard(console), "it is told")
    told = heard(console)
    wanted = [f"chat {what} server" for what in ("created", "started", "edited", "removed")]
    assert [each for each in told if each in wanted] == wanted


def test_the_members_of_a_group_are_told(daemon, console):
    console.run("""strata.watch_group('g', function(members)
        local names = {}
        for _, each in ipairs(members) do table.insert(names, each.name) end
        note('[' .. table.concat(names, ' ') .. ']')
        if #members == 2 then error('oh') end
    end)""")
    eventually(lambda: heard(console) == ["[]"], "it is told first")
    for name in ("b", "a", "other"):
        daemon.create("server", name, listen=["tcp://127.0.0.1:0"],
                      group="g" if name != "other" else "")
    daemon.act("b", "stop")
    daemon.remove("a")
    eventually(lambda: heard(console)[-1] == "[]", "it has no member left")
    told = heard(console)
    assert "[a b]" in told and "[a]" in told, told


def test_a_script_knows_its_own_runtime(daemon, console):
    assert console.run("return self.options().group, #self.endpoints()") == ("", 1)
    assert console.run("return self.stats().connections.now, self.stats().uptime_s >= 0") == (
        1, True)
    calls = console.run("return self.stats().script.callbacks.calls")[0]
    assert calls["on_message"] == 4 and "on_connect" not in calls
    assert console.run("return self.stats().script.callbacks.time_us.on_message > 0")[0]
    metrics = daemon.exchange("GET", "/metrics")[1].decode().splitlines()
    assert ('strata_script_callback_calls_total{name="console",type="server",'
            'callback="on_message"} 5') in metrics
    daemon.create("server", "plain", listen=["tcp://127.0.0.1:0"])
    assert console.run("return strata.stats('plain').messages['in'], "
                       "strata.get('plain').options.mode") == (0, "inout")
    assert "no runtime has this name" in console.run("return strata.stats('none')")[1]


def test_the_owner_s_clients_are_spoken_to(daemon, tmp_path):
    path = tmp_path / "hub.lua"
    path.write_text("""
        function on_message(message, id)
          if message == 'table' then
            strata.create('server', 'child', {listen = {'tcp://127.0.0.1:0'}, lua = '%s'})
          end
          self.send(id, 'you are ' .. id)
        end""" % (tmp_path / "child.lua"))
    (tmp_path / "child.lua").write_text("""
        function on_start() strata.log('owned: ' .. self.options().owner) end
        function on_message(message)
          local id, text = message:match('(%d+) (.*)')
          if id then
            local count, why = self.owner_send(tonumber(id), text)
            return strata.log(tostring(count) .. ' heard it, ' .. tostring(why))
          end
          self.owner_broadcast(message)
        end""")
    hub = daemon.create("server", "hub", listen=["tcp://127.0.0.1:0"], lua=str(path), threads=2)
    with Talker(hub["endpoints"][0]) as ann, Talker(hub["endpoints"][0]) as bob:
        ann.say("table")
        bob.say("hello")
        ids = [each.hear().removeprefix("you are ") for each in (ann, bob)]
        eventually(lambda: daemon.logged("child", "owned: hub"), "it knows its owner")
        with Talker(daemon.show("child")["endpoints"][0]) as eve:
            eve.say(f"{ids[0]} for ann", "for all", f"{ids[1]} for bob", "9007199254740000 x")
            assert [ann.hear(), ann.hear()] == ["for ann", "for all"]
            assert [bob.hear(), bob.hear()] == ["for all", "for bob"]
            eventually(lambda: daemon.logged("child", "no such client is connected"), "it is told")


def test_an_id_that_nobody_has_reaches_nobody(daemon, console):
    """Ids contain their loop's number; an id with the number of a missing loop was
    once read out of bounds."""
    daemon.create("server", "other", listen=["tcp://127.0.0.1:0"])
    for number in (0, 77, 2 ** 40, 3 * 2 ** 45, 2 ** 53):
        assert console.run(f"return self.send({number}, 'x')") == (False, None)
        console.run(f"self.disconnect({number}) self.pipe({number}, {number})")
        assert "client" in console.run(f"return strata.send('other', 'x', {number})")[1]


def test_all_that_is_written_down_is_there(daemon, tmp_path):
    path = tmp_path / "all.lua"
    names = re.findall(r"^function (\w+)\.([\w.]+)\(", ANNOTATIONS.read_text(), re.MULTILINE)
    assert ("strata", "watch_group") in names and ("server", "owner_send") in names
    path.write_text("")
    places = {"listen": ["tcp://127.0.0.1:0"]}
    kinds = {"server": places, "cache": places, "proxy": {**places, "backend": ["127.0.0.1:1"]},
             "client": {"target": "127.0.0.1:1", "reconnect": 0}}
    for kind, options in kinds.items():
        daemon.create(kind, kind, lua=str(path), **options)
        expected = [f"{table}.{name}" for table, name in names if table in ("strata", kind)]
        types = ", ".join(f"'{name} ' .. type({name})" for name in expected)
        shown = daemon.cli("lua", "repl", kind, "-e", f"return table.concat({{{types}}}, ', ')")
        for name in expected:
            assert f"{name} function" in shown, (kind, name)
