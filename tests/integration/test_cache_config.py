"""A cache's options and the parameters of CONFIG have the same values."""

import pytest

from cache_config import config, new_cache, set_config
from resp_wire import Wire
from strata_daemon import eventually


@pytest.fixture
def wire(daemon):
    return Wire(new_cache(daemon))


# Redis's name, the value set, the option, its value, and the value shown.
BOTH = [
    ("maxmemory", "100mb", "max_memory", 100 << 20, "104857600"),
    ("maxmemory-policy", "ALLKEYS-LRU", "eviction", "allkeys-lru", "allkeys-lru"),
    ("maxclients", "7", "max_connections", 7, "7"),
    ("maxmemory-clients", "64mb", "max_memory_connections", 64 << 20, str(64 << 20)),
    ("requirepass", "secret", "password", "********", "secret"),
    ("masterauth", "secret", "follow_password", "********", "secret"),
    ("appendfsync", "no", "appendfsync", "no", "no"),
    ("save", "3600 1 60 1000", "save", "3600 1 60 1000", "3600 1 60 1000"),
]
NAMES = [each[0] for each in BOTH]


@pytest.mark.parametrize("name, value, option, kept, shown", BOTH, ids=NAMES)
def test_an_edit_leaves_what_a_client_has_set(daemon, tmp_path, name, value, option, kept, shown):
    wire = Wire(new_cache(daemon, snapshot=str(tmp_path / "dump.rdb")))
    set_config(wire, name, value)
    if name == "requirepass":
        wire.ask("AUTH", value)
    daemon.edit("db", rate_limit=100_000, access="readwrite")
    assert b"NOPERM" in wire.ask("FLUSHALL")
    daemon.edit("db", access="admin")
    assert config(wire, name) == shown
    assert daemon.show("db")["options"][option] == kept


def without_password(wire):
    wire.send("GET", "k")
    return wire.receive()


@pytest.mark.parametrize("name, value, option, kept, shown", BOTH, ids=NAMES)
def test_what_a_client_sets_is_an_option(daemon, tmp_path, name, value, option, kept, shown):
    wire = Wire(new_cache(daemon, snapshot=str(tmp_path / "dump.rdb")))
    set_config(wire, name, value)
    eventually(lambda: daemon.show("db")["options"][option] == kept, "strata show agrees")
    daemon.act("db", "restart")
    wire = Wire(int(daemon.show("db")["endpoints"][0].rsplit(":", 1)[1]))
    if name == "requirepass":
        assert without_password(wire).startswith(b"-NOAUTH")
        wire.send("AUTH", value)
        assert wire.receive() == b"+OK\r\n"
    assert config(wire, name) == shown


def test_a_password_that_a_client_has_set_outlives_an_edit_and_the_daemon(daemon):
    port = new_cache(daemon)
    set_config(Wire(port), "requirepass", "secret")
    daemon.cli("edit", "db", "--rate-limit", "100")
    assert without_password(Wire(port)) == b"-NOAUTH Authentication required.\r\n"
    assert "secret" not in daemon.cli("show", "db")
    daemon.restart()
    port = int(daemon.show("db")["endpoints"][0].rsplit(":", 1)[1])
    assert without_password(Wire(port)) == b"-NOAUTH Authentication required.\r\n"


def test_an_edit_is_seen_by_clients(daemon, wire):
    daemon.edit("db", max_memory=1 << 30, eviction="volatile-ttl", max_connections=9)
    eventually(lambda: config(wire, "maxclients") == "9", "it is in force")
    assert config(wire, "maxmemory") == str(1 << 30)
    assert config(wire, "maxmemory-policy") == "volatile-ttl"
    daemon.edit("db", max_connections=None)
    eventually(lambda: config(wire, "maxclients") == "0", "there is no limit any more")
    assert config(wire, "maxmemory") == str(1 << 30)


def test_what_takes_a_restart_is_not_shown_before(daemon, wire, tmp_path):
    daemon.edit("db", snapshot=str(tmp_path / "dump.rdb"), max_memory=1 << 30)
    eventually(lambda: config(wire, "maxmemory") == str(1 << 30), "the edit has come")
    assert config(wire, "dbfilename") == ""


def test_clients_and_edits_that_race_end_in_one_truth(daemon, wire):
    for round in range(50):
        wire.send("CONFIG", "SET", "maxmemory", str(round * 2 + 1000))
        daemon.edit("db", max_memory=round * 2 + 1001)
        assert wire.receive() == b"+OK\r\n"
        eventually(lambda: config(wire, "maxmemory")
                   == str(daemon.show("db")["options"]["max_memory"]), "both say the same")


def test_all_or_none(daemon, wire):
    reply = wire.ask("CONFIG", "SET", "maxmemory", "1000", "requirepass", b"\xff\xfe")
    assert reply.startswith(b"-ERR CONFIG SET failed") and b"UTF-8" in reply
    assert config(wire, "maxmemory") == "0" and config(wire, "requirepass") == ""
    assert daemon.show("db")["options"]["max_memory"] == 0


def test_rules_to_save_need_a_file(wire):
    reply = wire.ask("CONFIG", "SET", "save", "60 1")
    assert reply.startswith(b"-ERR CONFIG SET failed") and b"--snapshot FILE" in reply
    set_config(wire, "save", "")


def test_where_the_cache_listens_is_shown(daemon, tmp_path):
    wire = Wire(new_cache(daemon))
    port = str(wire.socket.getpeername()[1])
    assert (config(wire, "port"), config(wire, "bind")) == (port, "127.0.0.1")
    assert (config(wire, "tls-port"), config(wire, "unixsocket")) == ("0", "")
    assert b"protected config" in wire.ask("CONFIG", "SET", "port", "1")
    socket = tmp_path / "db.sock"
    created = daemon.create("cache", "other", resp=True, listen=[
        f"unix://{socket}", "tcp://[::1]:0", "tcp://127.0.0.1:0"])
    first, second = (each.rsplit(":", 1)[1] for each in created["endpoints"][1:])
    wire = Wire(int(second))
    assert (config(wire, "port"), config(wire, "bind")) == (first, "::1 127.0.0.1")
    assert config(wire, "unixsocket") == str(socket)
