"""Changing options: which take effect at once, which wait for a restart, which are refused."""

import json

import pytest

from strata_daemon import Refused, eventually
from talker import Talker, free_port

pytestmark = pytest.mark.once

LIVE = {"mode": "in", "max_connections": 5,
        "rate_limit": 7, "global_rate_limit": 8, "idle_timeout": 9.5, "peer_timeout": 10.5,
        "max_message": 4096, "max_buffer": 8192, "slow_client": "drop", "drain": True,
        "http_max_head": 4096, "http_max_body": 5000, "http_head_timeout": 1.5,
        "http_body_timeout": 2, "http_idle_timeout": 0, "http2_max_streams": 7,
        "drain_timeout": 2.5, "group": "blue", "owner": "parent", "on_parent_stop": "remove"}
LIVE_MASTER = {"master_pw": "secret", "master_forward": True}
LIVE_CLIENT = {"connect_timeout": 3, "reconnect": 3, "reconnect_min": 0.5, "reconnect_max": 4,
               "reconnect_seed": 6, "mode": "in", "queue": 7, "max_message": 4096,
               "max_buffer": 8192, "global_rate_limit": 9}


def test_every_live_option_of_a_server_is_applied_at_once(daemon):
    daemon.create("server", "parent", start=False, listen=["tcp://127.0.0.1:0"])
    listen = ["tcp://127.0.0.1:0", "udp://127.0.0.1:0"]
    daemon.server("chat", listen=listen)
    daemon.server("choir", listen=listen, mode="master", master_pw="first")
    for name, option, value in [*(("chat", *each) for each in LIVE.items()),
                                *(("choir", *each) for each in LIVE_MASTER.items())]:
        assert daemon.edit(name, **{option: value}) == {
            "applied": [option], "needs_restart": []}
        shown = daemon.show(name)["options"][option]
        assert shown == ("********" if option == "master_pw" else value)


def test_every_live_option_of_a_client_is_applied_at_once(daemon):
    [url] = daemon.server("chat")
    daemon.create("client", "guest", connect=url)
    for option, value in LIVE_CLIENT.items():
        assert daemon.edit("guest", **{option: value})["applied"] == [option]
        assert daemon.show("guest")["options"][option] == value


def test_what_needs_a_restart_is_said_and_in_force_after_it(daemon, tmp_path):
    [url] = daemon.server("chat")
    other = f"tcp://127.0.0.1:{free_port()}"
    changes = {"listen": [other], "framing": "raw", "threads": 2, "write": f"{tmp_path}/said"}
    done = daemon.edit("chat", rate_limit=1000, **changes)
    assert (done["applied"], sorted(done["needs_restart"])) == (["rate_limit"], sorted(changes))
    with Talker(url) as ann, Talker(url) as bob:  # all as before
        daemon.wait_connections("chat", 2)
        ann.say(b"a line")
        assert bob.hear() == b"a line"
    assert daemon.act("chat", "restart")["endpoints"] == [other]
    with Talker(other) as ann, Talker(other) as bob:
        daemon.wait_connections("chat", 2)
        ann.send(b"raw")
        assert bob.read(3) == b"raw"
        eventually((tmp_path / "said").read_bytes, "the file is written")
    assert daemon.edit("chat", port=None)["needs_restart"] == ["port"]


def test_an_edit_of_a_stopped_runtime_needs_no_restart(daemon):
    daemon.create("server", "chat", start=False, listen=["tcp://127.0.0.1:0"])
    assert daemon.edit("chat", framing="raw") == {"applied": ["framing"], "needs_restart": []}


def test_modes_change_under_the_clients_feet(daemon):
    [url] = daemon.server("chat")
    with Talker(url) as ann, Talker(url) as bob:
        daemon.wait_connections("chat", 2)
        ann.say(b"1")
        assert bob.hear() == b"1"
        daemon.edit("chat", mode="out")
        ann.say(b"2")
        eventually(lambda: daemon.stats("chat")["dropped"]["mode"] == 1, "2 is dropped")
        daemon.edit("chat", mode="master", master_pw="pw")
        ann.say(b"master pw", b"3")
        assert ann.hear() == b"master: ok" and bob.hear() == b"3"
        daemon.edit("chat", master_pw="other")
        bob.say(b"master pw")
        assert bob.hear() == b"master: denied"
        daemon.edit("chat", mode="inout")
        bob.say(b"4")
        assert ann.hear() == b"4"


def test_limits_change_while_connected(daemon):
    [url] = daemon.server("chat")
    with Talker(url) as ann, Talker(url) as bob:
        daemon.wait_connections("chat", 2)
        daemon.edit("chat", max_message=10)
        ann.say(b"x" * 11)
        assert ann.is_ended()
        daemon.wait_connections("chat", 1)
        daemon.edit("chat", max_connections=1, max_message=None)
        with Talker(url) as cid:
            assert cid.is_ended()
        daemon.edit("chat", max_connections=0, idle_timeout=0.1)
        assert bob.is_ended()
        daemon.wait_connections("chat", 0)


def test_null_resets_an_option_to_its_default(daemon):
    daemon.server("chat", max_message=77, group="blue")
    daemon.edit("chat", max_message=None, group=None)
    options = daemon.show("chat")["options"]
    assert (options["max_message"], options["group"]) == (1 << 20, "")


@pytest.mark.parametrize("changes", [
    {"nonsense": 1}, {"mode": "up"}, {"rate_limit": -1}, {"rate_limit": "many"}, {"listen": []},
    {"mode": "master"}, {"framing": 5}, {"threads": 0}, {"threads": 65}, {"max_message": 0},
    {"listen": ["tcp://nowhere"]}, {"drain": "yes"}, {"idle_timeout": -1}, {"max_buffer": 1}])
def test_a_wrong_edit_changes_nothing(daemon, changes):
    daemon.server("chat")
    before = daemon.show("chat")["options"]
    with pytest.raises(Refused) as refused:
        daemon.edit("chat", group="blue", **changes)
    assert refused.value.code == "invalid_argument"
    assert daemon.show("chat")["options"] == before


def test_an_edit_is_kept_over_a_restart_of_the_daemon(daemon):
    daemon.server("chat")
    daemon.edit("chat", rate_limit=77, framing="raw", mode="master", master_pw="secret")
    daemon.restart()
    options = daemon.show("chat")["options"]
    assert (options["rate_limit"], options["framing"]) == (77, "raw")
    assert options["master_pw"] == "********"


def test_an_edit_may_say_which_revision_it_is_of(daemon):
    daemon.server("s")
    first = daemon.show("s")["revision"]
    done = daemon.run("edit", "s", "--group", "a", "--revision", str(first))
    assert done.returncode == 0, done.stderr
    second = daemon.show("s")["revision"]
    assert second > first
    late = daemon.run("edit", "s", "--group", "b", "--revision", str(first))
    assert late.returncode == 1
    assert late.stderr == (f"strata: cannot change revision {first} of 's': it has revision "
                           f"{second}; read it again: strata show s\n")
    assert daemon.show("s")["options"]["group"] == "a"
    for bad in [-1, 1.5, "1", None, True]:
        status, _ = daemon.exchange("PATCH", "/v1/runtimes/s",
                                    {"options": {"group": "c"}, "revision": bad})
        assert status == 400
    status, _ = daemon.exchange("PATCH", "/v1/runtimes/s",
                                {"options": {"group": "d"}, "revision": second})
    assert status == 200


# --- several at once

@pytest.fixture
def several(daemon):
    for name, labels in (("api-1", ["tier=front"]), ("api-2", ["tier=front"]), ("web", [])):
        daemon.server(name, group="g", label=labels)
    daemon.create("cache", "store", listen=["tcp://127.0.0.1:0"])
    return daemon


def limited(daemon):
    return [name for name in ("api-1", "api-2", "web")
            if daemon.show(name)["options"]["rate_limit"] == 7]


@pytest.mark.parametrize("words, names", [
    (["api-*"], ["api-1", "api-2"]),
    (["@g"], ["api-1", "api-2", "web"]),
    (["tier=front"], ["api-1", "api-2"]),
    (["web", "api-1"], ["api-1", "web"]),
    (["web", "api-[2]"], ["api-2", "web"]),
])
def test_several_are_edited_at_once(several, words, names):
    done = several.run("edit", *words, "--rate-limit", "7", "--framing", "raw")
    assert done.returncode == 0, done.stderr
    assert limited(several) == names
    lines = sorted(done.stdout.splitlines())
    assert lines == [line for name in names for line in (
        f"{name}: in force now: rate_limit",
        f"{name}: saved, in force from the next start ('strata restart {name}'): framing")]
    answers = json.loads(several.cli("edit", *words, "--rate-limit", "8", "--format", "json"))
    assert sorted(each["name"] for each in answers) == names
    assert {tuple(each["applied"]) for each in answers} == {("rate_limit",)}
    assert sorted(several.cli("edit", *words, "--rate-limit", "9", "-q").split()) == names


def test_those_of_one_type_alone_are_edited_together(several):
    mixed = several.run("edit", "*", "--rate-limit", "7")
    assert mixed.returncode == 2
    assert "'*' is a server and a cache" in mixed.stderr and limited(several) == []
    named = several.run("edit", "web", "store", "--framing", "raw")
    assert named.returncode == 2 and "strata: store: cannot set option 'framing'" in named.stderr
    assert several.show("web")["options"]["framing"] == "raw"


def test_what_cannot_be_edited_does_not_keep_the_others(several):
    done = several.run("edit", "api-1", "none", "x*", "api-2", "--rate-limit", "7")
    assert done.returncode == 3 and "'none'" in done.stderr and "'x*'" in done.stderr
    assert limited(several) == ["api-1", "api-2"]


def test_an_edit_of_several_needs_flags_and_no_revision(several):
    assert several.run("edit", "api-*").returncode == 2
    done = several.run("edit", "api-*", "--rate-limit", "7", "--revision", "1")
    assert done.returncode == 2 and "--revision" in done.stderr and limited(several) == []
    assert several.run("edit", "none*", "--rate-limit", "7").returncode == 3
