"""A server with --cache: its clients use a cache by messages."""

import pytest

from strata_daemon import eventually
from talker import TextTalker as Talker


@pytest.fixture
def url(daemon):
    daemon.create("cache", "db", listen=["tcp://127.0.0.1:0"])
    return daemon.create("server", "chat", listen=["tcp://127.0.0.1:0"], cache="db")["endpoints"][0]


def test_commands_go_to_the_cache_and_replies_to_their_client(daemon, url):
    with Talker(url) as ann, Talker(url) as bob:
        daemon.wait_clients("chat", 2)
        ann.say("cache set k 'two words'", "cache get k", "cache get none", "cache incr n")
        assert [ann.hear() for _ in range(4)] == ["ok", "two words", "(nil)", "1"]
        bob.say("cache get k")
        assert bob.hear() == "two words"
        ann.say("hello")  # a message like any other
        assert bob.hear() == "hello"
    assert daemon.cli("db", "get", "n").strip() == "1"


def test_each_client_has_its_own_connection(daemon, url):
    with Talker(url) as ann, Talker(url) as bob:
        ann.say("cache multi", "cache set k 1")
        assert [ann.hear(), ann.hear()] == ["ok", "QUEUED"]
        bob.say("cache get k")
        assert bob.hear() == "(nil)"
        ann.say("cache exec")
        assert ann.hear() == "ok"
        eventually(lambda: daemon.stats("db")["connections"]["now"] == 2, "two are connected")
    eventually(lambda: daemon.stats("db")["connections"]["now"] == 0, "they have left")


def test_many_commands_are_answered_in_their_order(url):
    with Talker(url) as ann:
        ann.say(*[f"cache incr n{number % 7}" for number in range(700)])
        assert [ann.hear() for _ in range(700)] == [str(1 + number // 7) for number in range(700)]


@pytest.mark.parametrize("text", ["cache *1", "cache ", "cache $3", "cache 1"])
def test_what_is_no_command_is_refused(url, text):
    with Talker(url) as ann:
        ann.say(text, "cache ping")
        assert ann.hear() == "error: write one command, such as: cache get key"
        assert ann.hear() == "PONG"


def test_a_cache_that_is_not_there(daemon):
    [url] = daemon.create("server", "chat", listen=["tcp://127.0.0.1:0"],
                          cache="none")["endpoints"]
    with Talker(url) as ann:
        ann.say("cache get k")
        assert ann.hear().startswith("error: ")
    daemon.create("cache", "none", listen=["tcp://127.0.0.1:0"])
    with Talker(url) as ann:
        ann.say("cache get k")
        assert ann.hear() == "(nil)"
    daemon.edit("chat", cache="")
    with Talker(url) as ann, Talker(url) as bob:
        daemon.wait_clients("chat", 2)
        ann.say("cache get k")
        assert bob.hear() == "cache get k"


def test_a_client_that_is_not_admitted_reaches_no_cache(daemon, tmp_path):
    script = tmp_path / "gate.lua"
    script.write_text("function on_auth(id) strata.sleep(0.3) return false end")
    daemon.create("cache", "db", listen=["tcp://127.0.0.1:0"])
    [url] = daemon.create("server", "gate", listen=["tcp://127.0.0.1:0"], cache="db",
                          lua=str(script))["endpoints"]
    with Talker(url) as ann:
        ann.say("cache set k 1")
        eventually(lambda: daemon.stats("gate")["connections"]["now"] == 0, "it is refused")
    assert daemon.cli("db", "get", "k").strip() in ("(nil)", "")
