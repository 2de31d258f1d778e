"""strata.pipe: clients of two servers, joined by a script."""

import pytest

from strata_daemon import eventually
from talker import TextTalker as Talker

ECHO = "function on_message(message, id) self.send(id, self.name .. ' ' .. message) end"


@pytest.fixture
def pair(scripted):
    """Returns where two servers listen, whose scripts answer each message."""
    return scripted(ECHO, name="left"), scripted(ECHO, name="right")


@pytest.fixture
def join(scripted):
    """Returns a function that calls strata.pipe or strata.unpipe, and returns its results."""
    url = scripted("""
        function on_message(line, id)
          local what, first, a, second, b = line:match('(%w+) (%w+) (%d+) (%w+) (%d+)')
          local done, why = strata[what](first, tonumber(a), second, tonumber(b))
          self.send(id, tostring(done) .. ' ' .. tostring(why))
        end""", name="join", lua_allow=["runtimes"])

    def call(line):
        with Talker(url) as asking:
            asking.say(line)
            return asking.hear()
    return call


def id_of(daemon, name):
    eventually(lambda: daemon.ask("GET", f"/v1/runtimes/{name}/clients"), "it is connected")
    return daemon.ask("GET", f"/v1/runtimes/{name}/clients")[0]["id"]


def test_messages_pass_both_ways_until_one_leaves(daemon, pair, join):
    with Talker(pair[0]) as ann:
        with Talker(pair[1]) as bob:
            a, b = id_of(daemon, "left"), id_of(daemon, "right")
            assert join(f"pipe left {a} right {b}") == "true nil"
            ann.say("hello")
            assert bob.hear() == "hello"
            bob.say("good day")
            assert ann.hear() == "good day"
            texts = [str(number) for number in range(2000)]
            ann.say(*texts)
            bob.say(*reversed(texts))
            assert [bob.hear() for _ in texts] == texts
            assert [ann.hear() for _ in texts] == texts[::-1]
            bob.say(*texts)  # and leaves at once
        assert [ann.hear() for _ in texts] == texts

        ann.socket.settimeout(0.5)  # what is said before the end is told goes nowhere

        def answers_itself():
            ann.say("alone")
            try:
                return ann.hear() == "left alone"
            except TimeoutError:
                return False
        eventually(answers_itself, "its messages go to its script again")


def test_a_pipe_can_be_ended(daemon, pair, join):
    with Talker(pair[0]) as ann, Talker(pair[1]) as bob:
        ends = f"left {id_of(daemon, 'left')} right {id_of(daemon, 'right')}"
        assert join(f"pipe {ends}") == "true nil"
        ann.say("hello")
        assert bob.hear() == "hello"
        assert join(f"unpipe {ends}") == "true nil"
        ann.say("a")
        bob.say("b")
        assert (ann.hear(), bob.hear()) == ("left a", "right b")
        assert join(f"unpipe {ends}") == "false nil"


def test_what_cannot_be_joined(daemon, pair, join):
    daemon.create("server", "plain", listen=["tcp://127.0.0.1:0"])
    with Talker(pair[0]) as ann:
        a = id_of(daemon, "left")
        assert "no such client" in join(f"pipe left {a} right 12345")
        assert "has no script" in join(f"pipe left {a} plain 1")
        assert "nil " in join(f"pipe left {a} none 1")
        assert "nil " in join(f"pipe left 999 right {a}")
        # Half a pipe is none.
        ann.say("still here")
        assert ann.hear() == "left still here"


def test_only_a_script_with_the_right_may_join(scripted, pair):
    url = scripted("""
        function on_message(_, id)
          local done, why = pcall(strata.pipe, 'left', 1, 'right', 2)
          self.send(id, tostring(done) .. ' ' .. tostring(why))
        end""", name="weak", lua_allow=["net"])
    with Talker(url) as asking:
        asking.say("try")
        assert "runtimes" in asking.hear()
