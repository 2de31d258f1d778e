"""A failing disk under a cache: changes are refused, existing data is served, no client waits
forever, and the operator is informed."""

import time

import pytest

from resp_wire import Wire
from strata_daemon import LOOP, Refused, eventually

BIG = "x" * 3000  # ten of them fill the small disk apart from the reserve


def port_of(daemon, name="db"):
    return int(daemon.show(name)["endpoints"][0].rsplit(":", 1)[1])


def make(daemon, folder, policy, **options):
    daemon.create("cache", "db", listen=["tcp://127.0.0.1:0"], resp=True,
                  persistent=str(folder / "db.aof"), appendfsync=policy, **options)
    return port_of(daemon)


def has_tried_to_write(port):
    info = Wire(port).ask("INFO", "persistence")
    return b"aof_buffer_length:0\r\n" in info or b"aof_last_write_status:err" in info


def fill(port):
    """Changes the data until the disk is full; the cache may disconnect clients meanwhile."""
    for number in range(1000):
        try:
            reply = Wire(port).ask("SET", f"big:{number}", BIG)
        except (AssertionError, OSError):
            continue  # the client got no reply to a change that is not safe
        if reply.startswith(b"-MISCONF"):
            return
        # What waits for a slow write must later fit into the reserve.
        eventually(lambda: has_tried_to_write(port), "the change is on the disk, or is not")
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
    # The three places where an operator looks.
    eventually(lambda: daemon.show("db")["warning"].startswith("not writing: "), "it is told")
    assert "running (not writing)" in daemon.cli("ls")
    assert "not writing" in daemon.run("doctor").stdout
    assert metric(daemon) == 1
    # With more room, all is well again.
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


def test_scripts_on_a_full_disk(daemon, small_disk):
    port = make(daemon, small_disk, "always")
    wire = Wire(port)
    wire.ask("SET", "small", "1")
    wire.ask("FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('put', function() "
             "return redis.call('SET', 'small', 3) end)")
    fill(port)
    wire = Wire(port)
    put, read = "redis.call('SET', 'small', 2)", "return redis.call('GET', 'small')"
    for call in (["EVAL", put, 0], ["EVAL", "return redis.pcall('INCR', 'small')", 0],
                 ["EVAL", "#!lua\nreturn 1", 0],
                 ["EVAL", "redis.call('DEL', 'small') return 1", 0], ["FCALL", "put", 0],
                 ["FUNCTION", "FLUSH"]):
        assert wire.ask(*call).startswith(b"-MISCONF"), call
    for call in (["EVAL", read, 0], ["EVAL_RO", read, 0],
                 ["EVAL", "#!lua flags=no-writes\n" + read, 0],
                 ["EVAL", f"redis.pcall('DEL', 'small') {read}", 0]):
        assert wire.ask(*call) == b"$1\r\n1\r\n", call
    (small_disk / "more").unlink()
    eventually(lambda: wire.ask("FCALL", "put", 0) == b"+OK\r\n", "changes are taken")
    assert wire.ask("EVAL", read, 0) == b"$1\r\n3\r\n"


@pytest.mark.parametrize("policy", ["always", "everysec"])
def test_a_script_whose_changes_do_not_fit_is_kept_whole_or_not_at_all(daemon, small_disk, policy):
    port = make(daemon, small_disk, policy)
    Wire(port).ask("SET", "small", "1")
    script = f"for i = 1, 60 do redis.call('SET', 'big:' .. i, ('x'):rep({len(BIG)})) end return 1"
    try:
        reply = Wire(port).ask("EVAL", script, 0)
    except (AssertionError, OSError):
        reply = b""  # no reply to a change that is not safe
    assert policy == "everysec" or reply != b":1\r\n"
    eventually(lambda: Wire(port).ask("SET", "small", "2").startswith(b"-MISCONF"), "it is full")
    assert Wire(port).ask("PING") == b"+PONG\r\n"
    daemon.kill9()
    (small_disk / "more").unlink()
    daemon.start()
    assert Wire(port_of(daemon)).ask("DBSIZE") in (b":1\r\n", b":61\r\n")


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


# How a disk can fail × what the cache has to write: what clients see. `refused`: changes get
# MISCONF, all else is answered. `unnoticed`: the cache makes no write that could fail.
# `waits`: replies wait for the disk. `behind`: replies do not wait. The table of
# docs/cache.md has the same content.
OUTCOMES = {
    "write": {"always": "refused", "everysec": "refused", "no": "refused", "snapshot": "refused"},
    "sync": {"always": "refused", "everysec": "refused", "no": "unnoticed", "snapshot": "refused"},
    "full": {"always": "refused", "everysec": "refused", "no": "refused", "snapshot": "refused"},
    "readonly": {"always": "refused", "everysec": "refused", "no": "refused",
                 "snapshot": "refused"},
    "stuck": {"always": "waits", "everysec": "behind", "no": "behind", "snapshot": "behind"},
}
WRITERS = ("always", "everysec", "no", "snapshot")


def start_writer(daemon, disk, writer):
    if writer != "snapshot":
        return make(daemon, disk.mount, writer)
    daemon.create("cache", "db", listen=["tcp://127.0.0.1:0"], resp=True, save="300 100",
                  snapshot=str(disk.mount / "db.rdb"))
    return port_of(daemon)


def try_to_change(port, writer):
    """Returns the reply to a change; None if the client was disconnected without a reply."""
    try:
        wire = Wire(port)
        if writer == "snapshot":
            wire.ask("SAVE")
        return wire.ask("SET", "key", "value")
    except (AssertionError, OSError):
        return None


def is_told(daemon):
    """Reports whether all four places show the failure; None while only some of them
    do, until the next tick."""
    told = [daemon.show("db")["warning"].startswith("not writing: "),
            "running (not writing)" in daemon.cli("ls"),
            "not writing" in daemon.run("doctor").stdout, metric(daemon) == 1]
    return all(told) or (None if any(told) else False)


def is_refused(port, writer):
    reply = try_to_change(port, writer)
    return reply is not None and reply.startswith(b"-MISCONF")


def meets_refusals(daemon, port, writer):
    eventually(lambda: is_refused(port, writer), "changes are refused")
    wire = Wire(port)
    assert wire.ask("PING") == b"+PONG\r\n"
    assert wire.ask("GET", "first") == b"$1\r\n1\r\n"
    eventually(lambda: is_told(daemon), "it is told")
    yield


def meets_nothing(daemon, port, writer):
    assert try_to_change(port, writer) == b"+OK\r\n"
    time.sleep(1.5)  # a sync of everysec would have happened by now
    assert Wire(port).ask("GET", "key") == b"$5\r\nvalue\r\n"
    assert is_told(daemon) is False
    yield


def meets_waiting(daemon, port, writer):
    asking, bystander = Wire(port), Wire(port)
    asking.send("SET", "key", "value")
    time.sleep(0.1)
    bystander.send("GET", "first")
    eventually(lambda: is_told(daemon), "it is told")
    assert asking.is_silent() and bystander.is_silent()
    yield
    assert asking.receive() == b"+OK\r\n"
    assert bystander.receive() == b"$1\r\n1\r\n"


def meets_no_waiting(daemon, port, writer):
    saving, wire = Wire(port), Wire(port)
    if writer == "snapshot":
        saving.send("BGSAVE")
    assert wire.ask("SET", "key", "value") == b"+OK\r\n"
    assert wire.ask("GET", "key") == b"$5\r\nvalue\r\n"
    if writer != "snapshot":
        eventually(lambda: is_told(daemon), "it is told")
    yield


# With epoll, the loop itself writes: a stuck disk blocks all that the loop serves.
CASES = [(failure, writer) for failure in OUTCOMES for writer in WRITERS
         if (failure, LOOP) != ("stuck", "epoll")]


@pytest.mark.parametrize("failure, writer", CASES)
def test_what_clients_and_operators_meet_while_a_disk_fails(daemon, failing_disk, failure, writer):
    port = start_writer(daemon, failing_disk, writer)
    assert Wire(port).ask("SET", "first", "1") == b"+OK\r\n"
    failing_disk.become(failure)
    outcome = {"refused": meets_refusals, "unnoticed": meets_nothing, "waits": meets_waiting,
               "behind": meets_no_waiting}[OUTCOMES[failure][writer]]
    meeting = outcome(daemon, port, writer)
    next(meeting)
    failing_disk.become("good")
    assert next(meeting, None) is None
    eventually(lambda: try_to_change(port, writer) == b"+OK\r\n", "changes are taken")
    eventually(lambda: is_told(daemon) is False, "the warnings end")
    if writer in ("always", "snapshot"):
        if writer == "snapshot":
            assert Wire(port).ask("SAVE") == b"+OK\r\n"
        daemon.kill9()
        daemon.start()
        wire = Wire(port_of(daemon))
        assert wire.ask("GET", "first") == b"$1\r\n1\r\n"
        assert wire.ask("GET", "key") == b"$5\r\nvalue\r\n"


@pytest.mark.parametrize("writer", WRITERS)
def test_a_cache_does_not_start_where_it_cannot_write(daemon, failing_disk, writer):
    failing_disk.become("readonly")
    with pytest.raises(Refused) as refused:
        start_writer(daemon, failing_disk, writer)
    assert "Read-only file system" in refused.value.message
    failing_disk.become("good")
    assert Wire(start_writer(daemon, failing_disk, writer)).ask("PING") == b"+PONG\r\n"
