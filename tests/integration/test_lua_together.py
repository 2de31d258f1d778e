"""Messages that arrive together are delivered together, and each remains a message of its own."""

import pytest

from strata_daemon import eventually
from talker import TextTalker as Talker


def test_a_mistake_in_one_harms_none_beside_it(daemon, scripted):
    url = scripted("""
        function on_message(message, id)
          if message == 'fail' then error('no') end
          if message == 'loop' then while true do end end
          if message == 'yield' then coroutine.yield() end
          if message == 'wait' then strata.sleep(0.01) end
          self.send(id, message)
        end""", lua_time=0.02)
    with Talker(url) as ann:
        ann.say("a", "fail", "b", "loop", "c", "yield", "wait", "d", "fail", "wait", "e")
        assert [ann.hear() for _ in range(7)] == ["a", "b", "c", "wait", "d", "wait", "e"]
    figures = daemon.stats("web")["script"]
    assert figures["calls"] == 12 and figures["errors"] == 4


def test_each_has_its_own_time(daemon, scripted):
    url = scripted("""
        function on_message(message, id)
          for i = 1, 300000 do end
          self.send(id, message)
        end""", lua_time=0.05)
    texts = [str(n) for n in range(100)]
    with Talker(url) as ann:
        ann.say(*texts)
        assert [ann.hear() for _ in texts] == texts
    assert daemon.stats("web")["script"]["errors"] == 0


def test_many_at_once_come_in_their_order(scripted):
    url = scripted("""
        local seen = 0
        function on_message(message, id)
          seen = seen + 1
          if seen % 5000 == 0 then strata.sleep(0.001) end
          self.send(id, message)
        end""", max_buffer=64 << 20)
    texts = [str(n) for n in range(30000)]
    with Talker(url) as ann:
        ann.say(*texts)
        assert [ann.hear() for _ in texts] == texts


def test_what_stands_behind_a_goodbye_is_heard_by_nobody(daemon, scripted):
    url = scripted("""
        function on_message(message, id)
          strata.log('heard ' .. message)
          if message == 'bye' then self.disconnect(id) end
        end""")
    with Talker(url) as ann:
        ann.say("a", "bye", "behind")
        assert ann.hear_to_end() == []
    eventually(lambda: daemon.logged("web", "heard bye"), "the goodbye is heard")
    assert not daemon.logged("web", "heard behind")
    assert daemon.stats("web")["script"]["calls"] == 3  # running the file counts as one


def test_what_stands_behind_a_pipe_goes_into_it(scripted):
    url = scripted("""
        local first
        function on_message(message, id)
          if not first then first = id return self.send(id, 'you are first') end
          self.pipe(first, id)
          self.send(id, 'script: ' .. message)
        end""")
    with Talker(url) as ann, Talker(url) as bob:
        ann.say("here")
        assert ann.hear() == "you are first"
        bob.say("one", "two", "three")
        assert bob.hear() == "script: one"
        assert [ann.hear(), ann.hear()] == ["two", "three"]


def test_what_waits_while_it_is_loaded_again_is_for_the_new_one(daemon, scripted, tmp_path):
    text = "function on_message(m, id) strata.sleep(%s) self.send(id, '%s ' .. m) end"
    url = scripted(text % (2, "old"))  # long enough for a busy machine to load the new one
    with Talker(url) as ann:
        ann.say("a", "b")
        eventually(lambda: daemon.stats("web")["script"]["waiting"] == 1, "a waits")
        (tmp_path / "web.lua").write_text(text % (0, "new"))
        daemon.cli("reload-lua", "web")
        assert [ann.hear(), ann.hear()] == ["old a", "new b"]


def test_a_client_stops_while_messages_wait_behind_one(daemon, tmp_path):
    listening = daemon.create("server", "talk", listen=["tcp://127.0.0.1:0"], protocol="raw")
    script = tmp_path / "ear.lua"
    script.write_text("function on_message() strata.sleep(60) end")
    for _ in range(3):
        daemon.create("client", "ear", connect=listening["endpoints"][0], lua=str(script))
        daemon.wait_connections("talk", 1)
        for word in ("a", "b", "c"):
            daemon.send("talk", word)
        eventually(lambda: daemon.stats("ear")["script"]["waiting"] == 1, "a is heard")
        daemon.act("ear", "stop")
        assert daemon.show("ear")["state"] == "stopped"
        daemon.remove("ear")
    assert daemon.names() == ["talk"]
