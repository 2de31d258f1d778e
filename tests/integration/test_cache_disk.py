"""A disk that fails, under a cache: changes are refused, what is there is served, nobody waits for
ever, and people are told."""

import pytest

from resp_wire import Wire
from strata_daemon import eventually

BIG = "x" * 3000  # ten of them fill what the reserve leaves of the small disk


def port_of(daemon, name="db"):
    return int(daemon.show(name)["endpoints"][0].rsplit(":", 1)[1])


def make(daemon, folder, policy, **options):
    daemon.create("cache", "db", listen=["tcp://127.0.0.1:0"], resp=True,
                  persistent=str(folder / "db.aof"), appendfsync=policy, **options)
    return port_of(daemon)


def fill(port):
    """Changes the data until the disk is full; clients may be disconnected meanwhile."""
    for number in range(1000):
        try:
            reply = Wire(port).ask("SET", f"big:{number}", BIG)
        except (AssertionError, OSError):
            continue  # it was told nothing of a change that is not safe
        if reply.startswith(b"-MISCONF"):
            return
    raise AssertionError("the disk is never full")


def metric(daemon):
    return daemon.stats("db")["disk_fails"]


@pytest.mark.parametrize("policy", ["always", "everysec", "no"])
def test_a_full_disk_refuses_changes_and_holds_nobody(daemon, small_disk, policy):
    port = make(daemon, small_disk, policy)
    bystander = Wire(port)
    assert bystander.ask("SET", "small", "1") == b"+OK\r\n"
    fill(port)
    assert bystander.ask("PING") == b"+PONG\r\n"
    assert bystander.ask("GET", "small") == b"$1\r\n1\r\n"
    assert b"aof_last_write_status:err" in bystander.ask("INFO", "persistence")
    assert bystander.ask("SET", "small", "2").startswith(b"-MISCONF")
    assert Wire(port).ask("PING") == b"+PONG\r\n"
    # The three places where people look.
    eventually(lambda: daemon.show("db")["warning"].startswith("not writing: "), "it is told")
    assert "running (not writing)" in daemon.cli("ls")
    assert "not writing" in daemon.run("doctor").stdout
    assert metric(daemon) == 1
    # More room, and all is well.
    (small_disk / "more").unlink()
    eventually(lambda: bystander.ask("SET", "small", "3") == b"+OK\r\n", "changes are taken")
    eventually(lambda: daemon.show("db")["warning"] == "", "the warning ends")
    assert "running (not writing)" not in daemon.cli("ls")
    assert metric(daemon) == 0


@pytest.fixture
def small_disk_with_reserve(small_disk):
    (small_disk / "more").write_bytes(b"x" * 32_000)
    return small_disk


@pytest.fixture(autouse=True)
def reserve(request):
    if "small_disk" in request.fixturenames:
        request.getfixturevalue("small_disk_with_reserve")


def test_nothing_acknowledged_on_a_full_disk_is_lost(daemon, small_disk):
    port = make(daemon, small_disk, "always")
    taken = []
    for number in range(200):
        try:
            if Wire(port).ask("SET", f"key:{number}", "x" * 2000) == b"+OK\r\n":
                taken.append(number)
        except (AssertionError, OSError):
            pass
    assert 0 < len(taken) < 200
    daemon.kill9()
    (small_disk / "more").unlink()
    daemon.start()
    wire = Wire(port_of(daemon))
    for number in taken:
        assert wire.ask("EXISTS", f"key:{number}") == b":1\r\n"


def test_a_snapshot_that_cannot_be_written_is_told(daemon, tmp_path):
    snapshot = tmp_path / "db.rdb"
    (tmp_path / "db.rdb.new").mkdir()
    daemon.create("cache", "db", listen=["tcp://127.0.0.1:0"], resp=True, snapshot=str(snapshot),
                  save="300 100")
    wire = Wire(port_of(daemon))
    wire.ask("SET", "key", "value")
    assert wire.ask("SAVE").startswith(b"-ERR")
    assert wire.ask("SET", "key", "other").startswith(b"-MISCONF")
    assert wire.ask("GET", "key") == b"$5\r\nvalue\r\n"
    eventually(lambda: daemon.show("db")["warning"].startswith("not writing: "), "it is told")
    assert metric(daemon) == 1
    (tmp_path / "db.rdb.new").rmdir()
    assert wire.ask("SAVE") == b"+OK\r\n"
    assert wire.ask("SET", "key", "other") == b"+OK\r\n"
    eventually(lambda: daemon.show("db")["warning"] == "", "the warning ends")
