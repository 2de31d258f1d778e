"""Scripts of servers: connections that the server opens for them, and who may be master."""

import socket

import pytest

from strata_daemon import PATIENCE, Refused, eventually
from talker import Talker as ByteTalker
from talker import TextTalker as Talker
from talker import free_port

RELAY = """
    function on_upstream_connect(id) self.upstream_send(id, 'hello from ' .. self.name) end
    function on_upstream(id, message)
      if message == 'slow' then strata.sleep(0.1) end
      if message == 'fail' then error('oh') end
      self.broadcast(id .. ' says ' .. message)
    end
    function on_upstream_disconnect(id) self.broadcast(id .. ' is gone') end
    function on_message(message, id)
      local to, text = message:match('^(%d+) (.*)')
      if to then
        local sent, why = self.upstream_send(tonumber(to), text)
        return self.send(id, why or 'sent')
      end
      if message == 'who' then return self.send(id, table.concat(self.upstreams(), ' ')) end
      self.send(id, self.upstream_broadcast(message) .. ' took it')
    end"""


@pytest.fixture
def relay(daemon, tmp_path):
    def start(script=RELAY, **options):
        path = tmp_path / "relay.lua"
        path.write_text(script)
        return daemon.create("server", "relay", listen=["tcp://127.0.0.1:0"], protocol="raw",
                             lua=str(path), **options)["endpoints"][0]

    return start


@pytest.mark.parametrize("threads", [1, 2])
def test_upstreams_are_heard_and_spoken_to(daemon, relay, threads):
    daemon.create("server", "far", listen=["tcp://127.0.0.1:0"], protocol="raw")
    far = daemon.show("far")["endpoints"][0]
    port = free_port()
    url = relay(upstream=["runtime://far", f"127.0.0.1:{port}"], threads=threads)
    with Talker(far) as there, Talker(url) as ann:
        daemon.wait_connections("far", 2)
        ann.say("who")
        assert ann.hear() == "1"
        there.say("slow", "quick", "fail", "more")
        assert [ann.hear() for _ in range(3)] == ["1 says slow", "1 says quick", "1 says more"]
        ann.say("1 for you", "2 x", "3 x", "all")
        assert ann.hear() == "sent"
        assert "it is not connected" in ann.hear() and "there are 2" in ann.hear()
        assert ann.hear() == "1 took it"
        # The greeting is included if it arrived before the relay did.
        said = [there.hear(), there.hear()]
        assert [*said, there.hear()][-2:] == ["for you", "all"] if "all" not in said else said == [
            "for you", "all"]
        with socket.create_server(("127.0.0.1", port)) as late:
            late.settimeout(PATIENCE)
            second = ByteTalker.accepted(late)
            assert second.hear() == b"hello from relay"
            ann.say("who")
            assert ann.hear() == "1 2"
            second.close()
            assert ann.hear() == "2 is gone"
            again = ByteTalker.accepted(late)
            assert again.hear() == b"hello from relay"
            again.send(b"unfinished and then a reset")
            again.reset()
            assert ann.hear() == "2 is gone"


def test_much_from_an_upstream_is_held_back_and_none_is_lost(daemon, relay):
    with socket.create_server(("127.0.0.1", 0)) as far:
        far.settimeout(PATIENCE)
        url = relay("""
            local sum, count = 0, 0
            function on_upstream(_, message)
              if count % 1000 == 0 then strata.sleep(0.001) end
              count, sum = count + 1, sum + tonumber(message)
            end
            function on_message(_, id) self.send(id, count .. ' ' .. sum) end""",
                    upstream=[f"127.0.0.1:{far.getsockname()[1]}"])
        talker = ByteTalker.accepted(far)
        talker.send(b"".join(b"%d\n" % n for n in range(50000)))
        with Talker(url) as ann:
            def told():
                ann.say("?")
                return ann.hear()
            eventually(lambda: told() == f"50000 {sum(range(50000))}", "all is told, once")
        # A stop while the upstream sends.
        talker.send(b"1\n" * 10000)
        daemon.act("relay", "stop")
        daemon.act("relay", "start")
        assert ByteTalker.accepted(far)


@pytest.mark.parametrize("upstream, says", [
    ("http://127.0.0.1:1/", "it carries no messages"),
    ("127.0.0.1", "127.0.0.1"),
    ("runtime://relay", "itself"),
])
def test_upstreams_that_cannot_be_are_refused(relay, upstream, says):
    with pytest.raises(Refused) as refused:
        relay(upstream=[upstream])
    assert says in str(refused.value)


def test_upstreams_need_a_script(daemon):
    with pytest.raises(Refused) as refused:
        daemon.create("server", "plain", listen=["tcp://127.0.0.1:0"], upstream=["127.0.0.1:1"])
    assert "lua" in str(refused.value)


MASTER = """
    local tries = 0
    function on_master_auth(id, password)
      tries = tries + 1
      if password == 'slow' then strata.sleep(0.1) return true end
      if password == 'fail' then error('oh') end
      if password == 'nil' then return nil end
      return password == 'open ' .. id
    end"""


def test_a_script_says_who_is_master(daemon, tmp_path):
    path = tmp_path / "master.lua"
    path.write_text(MASTER)
    url = daemon.create("server", "stage", listen=["tcp://127.0.0.1:0"], protocol="raw",
                        mode="master", lua=str(path), threads=2)["endpoints"][0]
    with Talker(url) as ann, Talker(url) as bob, Talker(url) as eve:
        daemon.wait_connections("stage", 3)
        ann.say("master slow", "to all")
        assert ann.hear() == "master: ok"
        assert [bob.hear(), eve.hear()] == ["to all", "to all"]
        for word in ("x", "fail", "nil"):
            bob.say(f"master {word}", "nobody hears this")
            assert bob.hear() == "master: denied"
        ann.say("still me")
        assert [bob.hear(), eve.hear()] == ["still me", "still me"]
        # Five claims were wrong, so the script is not called for a while.
        eve.say("master x", "master x", "master slow")
        assert [eve.hear() for _ in range(3)] == ["master: denied"] * 3
        ann.say("still me")
        assert eve.hear() == "still me"
    eventually(lambda: daemon.logged("stage", "oh"), "its error is logged")


def test_a_password_beside_a_script_without_it_still_holds(daemon, tmp_path):
    path = tmp_path / "other.lua"
    path.write_text("function on_connect(id) end")
    url = daemon.create("server", "stage", listen=["tcp://127.0.0.1:0"], protocol="raw",
                        mode="master", lua=str(path), master_pw="secret")["endpoints"][0]
    with Talker(url) as ann:
        ann.say("master wrong", "master secret")
        assert [ann.hear(), ann.hear()] == ["master: denied", "master: ok"]
