"""How a cache ends: it saves its changes first, whoever orders the end, and no end waits
forever."""

import signal
import time

import pytest

from resp_wire import Wire
from strata_daemon import Refused, eventually

RULES = "300 100"  # too few changes for a snapshot by itself


def port_of(daemon, name="db"):
    return int(daemon.show(name)["endpoints"][0].rsplit(":", 1)[1])


def state(daemon, name="db"):
    return daemon.show(name)["state"]


@pytest.fixture
def snapshot(tmp_path):
    return tmp_path / "db.rdb"


@pytest.fixture
def saving(daemon, snapshot):
    """Returns a function that makes a cache with save rules, whose snapshot lacks its only key."""
    def make(**options):
        daemon.create("cache", "db", listen=["tcp://127.0.0.1:0"], resp=True,
                      snapshot=str(snapshot), save=RULES, **options)
        assert Wire(port_of(daemon)).ask("SET", "key", "value") == b"+OK\r\n"
    return make


def value(daemon):
    return Wire(port_of(daemon)).ask("GET", "key")


def block(snapshot):
    """Makes snapshots fail: a folder takes the name of the new file."""
    folder = snapshot.with_name(snapshot.name + ".new")
    folder.mkdir()
    return folder


def stop_and_start(daemon):
    daemon.cli("stop", "db")
    assert state(daemon) == "stopped"
    daemon.cli("start", "db")


def end_daemon(daemon):
    daemon.stop()
    daemon.start()


def let_client_end(daemon):
    Wire(port_of(daemon)).send("SHUTDOWN")
    eventually(lambda: state(daemon) != "running", "it has ended")
    daemon.cli("start", "db")


ENDS = {"stop": stop_and_start, "restart": lambda daemon: daemon.cli("restart", "db"),
        "daemon": end_daemon, "client": let_client_end}


@pytest.mark.parametrize("end", ENDS)
def test_what_has_changed_is_saved_before_the_end(daemon, saving, end):
    saving()
    ENDS[end](daemon)
    assert value(daemon) == b"$5\r\nvalue\r\n"


def test_what_has_changed_is_saved_before_a_removal(daemon, saving, snapshot):
    saving()
    daemon.cli("remove", "db")
    daemon.create("cache", "db", listen=["tcp://127.0.0.1:0"], snapshot=str(snapshot), resp=True)
    assert value(daemon) == b"$5\r\nvalue\r\n"


def test_what_has_changed_is_saved_with_the_owner_that_stops(daemon, saving):
    daemon.create("server", "owner", listen=["tcp://127.0.0.1:0"])
    saving(owner="owner")
    daemon.cli("stop", "owner")
    daemon.cli("start", "db")
    assert value(daemon) == b"$5\r\nvalue\r\n"


def test_nothing_is_saved_without_rules(daemon, snapshot):
    daemon.create("cache", "db", listen=["tcp://127.0.0.1:0"], snapshot=str(snapshot), resp=True)
    Wire(port_of(daemon)).ask("SET", "key", "value")
    stop_and_start(daemon)
    assert value(daemon) == b"$-1\r\n"


@pytest.mark.parametrize("order", ["stop", "restart", "remove"])
def test_an_end_with_now_saves_nothing(daemon, saving, snapshot, order):
    saving()
    daemon.cli(order, "--now", "db")
    if order == "remove":
        assert daemon.names() == []
        assert not snapshot.exists() or snapshot.stat().st_size == 0
        return
    if order == "stop":
        daemon.cli("start", "db")
    assert value(daemon) == b"$-1\r\n"


@pytest.mark.parametrize("order", ["stop", "restart", "remove"])
def test_a_cache_that_cannot_save_runs_on(daemon, saving, snapshot, order):
    saving()
    folder = block(snapshot)
    refused = daemon.run(order, "db")
    assert refused.returncode != 0
    assert "which keeps running" in refused.stderr and "--now" in refused.stderr
    assert state(daemon) == "running" and value(daemon) == b"$5\r\nvalue\r\n"
    assert daemon.show("db")["warning"].startswith("not writing: ")
    folder.rmdir()
    stop_and_start(daemon)
    assert value(daemon) == b"$5\r\nvalue\r\n"


def test_a_cache_that_cannot_save_ends_with_now(daemon, saving, snapshot):
    saving()
    block(snapshot)
    daemon.cli("stop", "--now", "db")
    assert state(daemon) == "stopped"


def test_a_client_cannot_end_a_cache_that_cannot_save(daemon, saving, snapshot):
    saving()
    block(snapshot)
    wire = Wire(port_of(daemon))
    wire.send("SHUTDOWN")
    assert wire.receive() == b"-ERR Errors trying to SHUTDOWN. Check logs.\r\n"
    assert wire.ask("GET", "key") == b"$5\r\nvalue\r\n"
    wire.send("SHUTDOWN", "SAVE", "FORCE")
    eventually(lambda: state(daemon) != "running", "force ends it")


def test_shutdown_nosave_saves_nothing(daemon, saving):
    saving()
    Wire(port_of(daemon)).send("SHUTDOWN", "NOSAVE")
    eventually(lambda: state(daemon) != "running", "it has ended")
    daemon.cli("start", "db")
    assert value(daemon) == b"$-1\r\n"


# --- an end that waits for a script

REFUSES = "function on_flush(batch) return false end\n"


@pytest.fixture
def refusing(daemon, tmp_path):
    """Returns a function that makes a cache whose script rejects its only change."""
    def make(**options):
        script = tmp_path / "refuses.lua"
        script.write_text(REFUSES)
        daemon.create("cache", "db", listen=["tcp://127.0.0.1:0"], resp=True, lua=str(script),
                      **options)
        Wire(port_of(daemon)).ask("SET", "key", "value")
    return make


@pytest.mark.parametrize("order", [["stop", "--now"], ["stop", "-t", "0.3"], ["remove"],
                                   ["remove", "--now"]])
def test_a_later_order_shortens_an_end_that_waits(daemon, refusing, order):
    refusing(drain_timeout=3600)
    waiting = daemon.begin("stop", "db")
    eventually(lambda: state(daemon) == "stopping", "it waits for the script")
    assert "stopping" in daemon.cli("ls")
    assert waiting.poll() is None
    daemon.cli(order[0], "db", *order[1:])
    assert waiting.wait(timeout=30) == 0
    assert daemon.names() == [] if order[0] == "remove" else state(daemon) == "stopped"


def test_an_end_waits_for_its_own_time_at_most(daemon, refusing):
    refusing(drain_timeout=0.5)
    daemon.cli("stop", "db")
    assert state(daemon) == "stopped"
    assert daemon.logged("db", "the script did not accept 1 changes in time")


def test_a_stopping_cache_is_ended_with_the_daemon(daemon, refusing):
    refusing(drain_timeout=3600)
    daemon.begin("stop", "db")
    eventually(lambda: state(daemon) == "stopping", "it waits for the script")
    daemon.signal(signal.SIGTERM)
    daemon.wait()
