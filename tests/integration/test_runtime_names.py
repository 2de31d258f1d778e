"""Clients that connect to another runtime by name: runtime://NAME."""

import pytest

from resp_wire import Wire
from strata_daemon import Refused, eventually
from talker import port_of


def named(daemon, name, to, **options):
    return daemon.create("client", name, connect=f"runtime://{to}", **options)


@pytest.mark.parametrize("listen", ["tcp://0.0.0.0:0", "tcp://127.0.0.1:0", "udp://127.0.0.1:0",
                                    "unix"])
def test_a_client_reaches_a_server_wherever_it_listens(daemon, tmp_path, listen):
    daemon.server("web", listen=[f"unix://{tmp_path}/web.sock" if listen == "unix" else listen])
    named(daemon, "ear", "web")
    daemon.send("ear", b"by name")
    eventually(lambda: daemon.stats("web")["messages"]["in"] == 1, "it came")


def test_the_other_is_found_when_it_comes(daemon):
    named(daemon, "ear", "web", reconnect=0, reconnect_min=0.05, reconnect_max=0.1)
    eventually(lambda: daemon.logged("ear", "no runtime has this name"), "the log says why")
    daemon.create("server", "web", listen=["tcp://127.0.0.1:0"], start=False)
    eventually(lambda: daemon.logged("ear", "strata start web"), "the log says what to do")
    daemon.act("web", "start")
    daemon.wait_connections("ear", 1)


def test_what_cannot_be_connected_to(daemon):
    daemon.server("far")
    named(daemon, "ear", "far")
    for other, why in [("ear", "listens on no address"), ("nobody", "no runtime has this name"),
                       ("a/b", "its name is not valid for a runtime")]:
        with pytest.raises(Refused) as refused:
            named(daemon, "second", other)
        assert why in refused.value.message
        if "second" in daemon.names():
            daemon.remove("second")
    with pytest.raises(Refused) as refused:
        daemon.server("third", listen=["runtime://far"])
    assert "cannot listen on 'runtime://far'" in refused.value.message


@pytest.mark.parametrize("kind, options", [
    ("proxy", {"listen": ["tcp://127.0.0.1:0"], "backend": ["web"]}),
    ("client", {"connect": "runtime://web", "reconnect": 0})])
def test_a_runtime_that_is_not_there_is_a_warning(daemon, kind, options):
    daemon.create(kind, "x", **options)
    assert daemon.show("x")["warning"].startswith("runtime not found: it connects to 'web'")
    assert "running (runtime not found)" in daemon.cli("ls")
    assert "it connects to 'web'" in daemon.run("doctor").stdout
    daemon.create("cache", "web", listen=["tcp://127.0.0.1:0"])
    assert "runtime not found" not in daemon.show("x")["warning"]


def test_a_host_that_is_not_there_is_a_warning(daemon):
    daemon.create("proxy", "gw", listen=["tcp://127.0.0.1:0"], backend=["nowhere.invalid:80"])
    eventually(lambda: daemon.show("gw")["warning"].startswith(
        "host not found: backend 'nowhere.invalid:80'"), "the look-up has failed")
    assert "running (host not found)" in daemon.cli("ls")
    daemon.edit("gw", backend=["127.0.0.1:1"])
    eventually(lambda: daemon.show("gw")["warning"] == "", "it is no backend any more")


def test_nothing_waits_for_itself(daemon):
    named(daemon, "a", "b", reconnect=0)
    with pytest.raises(Refused) as refused:
        named(daemon, "b", "a", reconnect=0)
    assert "it would wait for itself" in refused.value.message
    daemon.create("client", "b", target="127.0.0.1:1", reconnect=0)
    with pytest.raises(Refused) as refused:
        daemon.edit("b", target="", connect="runtime://a")
    assert "it would wait for itself" in refused.value.message
    assert daemon.show("b")["options"]["target"] == "127.0.0.1:1"


def test_what_is_needed_starts_first_and_stops_last(daemon):
    """A cache is needed: without `needs`, clients start before caches."""
    daemon.create("cache", "z", listen=["tcp://127.0.0.1:0"])
    named(daemon, "a", "z")
    daemon.wait_connections("a", 1)
    for _ in range(3):
        seen = len(daemon.log())
        daemon.stop()
        ended = daemon.log()[seen:]
        assert 0 < ended.find("a: stopped: the daemon ends") < ended.find("z: stopped"), ended
        assert "closed the connection" not in ended and "broke" not in ended
        daemon.start()
        daemon.wait_connections("a", 1)
        assert daemon.show("a")["state"] == "running"
        assert not daemon.logged("a", "broke") and not daemon.logged("a", "closed the connection")
    daemon.act("z", "stop")
    assert daemon.logged("z", "needed by a")


def test_a_client_reaches_a_member_of_a_group(daemon):
    """Each connection takes the next member; one that is gone is passed over."""
    for name in ("one", "two"):
        daemon.server(name, group="web")
    for name in ("first", "second"):
        named(daemon, name, "@web", reconnect=0, reconnect_min=0.05, reconnect_max=0.1)
    for name in ("one", "two"):
        daemon.wait_connections(name, 1)
    daemon.act("one", "stop")
    daemon.wait_connections("two", 2)
    daemon.act("two", "stop")
    eventually(lambda: daemon.logged("first", "none runs and listens"), "the log says why")
    daemon.act("one", "start")
    daemon.wait_connections("one", 2)


def test_one_leader_and_one_upstream_are_no_group(daemon):
    for kind, options in (("cache", {"follow": "runtime://@db"}),
                          ("server", {"upstream": ["runtime://@web"], "mode": "in"})):
        with pytest.raises(Refused) as refused:
            daemon.create(kind, "x", listen=["tcp://127.0.0.1:0"], **options)
        assert "group" in refused.value.message and "runtime://NAME" in refused.value.message


def test_a_cache_follows_another_by_name(daemon):
    """Wherever the leader listens; and neither may follow itself."""
    daemon.create("cache", "db", listen=["tcp://127.0.0.1:0"], resp=True)
    daemon.create("cache", "copy", listen=["tcp://127.0.0.1:0"], resp=True, follow="runtime://db")

    def ask(name, *words):
        return Wire(port_of(daemon.show(name)["endpoints"][0])).ask(*words)

    ask("db", "SET", "k", "one")
    eventually(lambda: ask("copy", "GET", "k") == b"$3\r\none\r\n", "it has the data")
    assert b"master_host:db\r\nmaster_port:0\r\n" in ask("copy", "INFO", "replication")
    assert ask("copy", "CONFIG", "GET", "replicaof") == b"*2\r\n$9\r\nreplicaof\r\n$4\r\ndb 0\r\n"
    daemon.act("db", "restart")  # on another port
    ask("db", "SET", "k", "two")
    eventually(lambda: ask("copy", "GET", "k") == b"$3\r\ntwo\r\n", "it has found it again")
    with pytest.raises(Refused, match="wait for itself"):
        daemon.edit("db", follow="runtime://copy")
    assert ask("copy", "REPLICAOF", "NO", "ONE") == b"+OK\r\n"
    assert ask("copy", "SET", "k", "three") == b"+OK\r\n"
