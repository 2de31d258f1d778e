"""A cache's data on the disk: it survives kill -9, simulated file system crashes, and a transfer to
a real redis-server and back."""

import contextlib
import os
import random
import re
import shutil
import socket
import subprocess
import threading
import time

import pytest

from cache_commands import Commands
from cache_contents import assert_same, contents
from resp_wire import RedisServer, Wire, encode
from strata_daemon import PATIENCE, eventually
from stream_commands import StreamCommands

ROUNDS = int(os.environ.get("STRATA_KILL_ROUNDS", "12"))
COUNT = int(os.environ.get("STRATA_CACHE_COMMANDS", "20000"))


def seeded():
    seed = int(os.environ.get("STRATA_SEED", random.randrange(1 << 32)))
    print(f"STRATA_SEED={seed}")
    return seed


def port_of(daemon, name="db"):
    return int(daemon.show(name)["endpoints"][0].rsplit(":", 1)[1])


def new_cache(daemon, *flags, name="db"):
    daemon.cli("create", "cache", name, "-l", "tcp://127.0.0.1:0", "--resp", "-s", *flags)
    return port_of(daemon, name)


def run_random(port, seed, count=COUNT):
    """Sends random commands; afterwards no transaction is open and the database is 0."""
    wire = Wire(port)
    commands, entries = Commands(seed), StreamCommands(seed)
    for _ in range(0, count, 500):
        wire.ask_all([commands.next() for _ in range(400)] + [["DISCARD"], ["SELECT", "2"]]
                     + [entries.next() for _ in range(100)] + [["SELECT", "0"]])
    wire.close()


def await_written(wire):
    """Under everysec, a reply may precede the write that it acknowledges."""
    eventually(lambda: b"aof_buffer_length:0\r\n" in wire.ask("INFO", "persistence"),
               "all is written")


def crash(daemon):
    daemon.kill9()
    daemon.start()
    # The daemon is ready before a large cache is.
    eventually(lambda: daemon.show("db")["state"] == "running", "the cache is restored")
    return port_of(daemon)


@pytest.fixture
def log(tmp_path):
    return tmp_path / "db.aof"


# --- the log


def test_random_commands_survive_kill_9(daemon, log):
    port = new_cache(daemon, "--persistent", log)
    seed = seeded()
    rounds, most_keys = max(3, ROUNDS // 4), 0
    for turn in range(rounds):
        run_random(port, seed + turn, COUNT // rounds)
        before = contents(port)
        most_keys = max(most_keys, len(before))
        await_written(Wire(port))
        port = crash(daemon)
        assert_same(before, contents(port))
    assert most_keys > 20


def test_a_string_that_only_grew_survives_kill_9(daemon, log):
    port = new_cache(daemon, "--persistent", log)
    wire = Wire(port)
    wire.ask("SETRANGE", "short", 0, "a")
    for key in ("new", "short"):
        reply = wire.ask("BITFIELD", key, "OVERFLOW", "FAIL", "SET", "u2", 64, 9)
        assert reply == b"*1\r\n$-1\r\n"
    before = contents(port)
    assert len(before) == 2
    await_written(wire)
    assert_same(before, contents(crash(daemon)))


def test_what_was_acknowledged_under_always_survives_kill_9(daemon, log):
    """Several clients each have their own list or stream, some by scripts, and remember what was
    acknowledged."""
    rng = random.Random(seeded())
    port = new_cache(daemon, "--persistent", log, "--appendfsync", "always")
    acknowledged = [0] * 8
    for _ in range(ROUNDS):
        clients = [threading.Thread(target=push_until_cut, args=(port, i, acknowledged))
                   for i in range(len(acknowledged))]
        clients.append(threading.Thread(target=rewrite_until_cut, args=(port,)))
        for each in clients:
            each.start()
        time.sleep(rng.uniform(0.005, 0.12))
        daemon.kill9()
        for each in clients:
            each.join()
        daemon.start()
        port = port_of(daemon)
        wire = Wire(port)
        for number, least in enumerate(acknowledged):
            found = pushed(wire, number)
            assert [int(each) for each in found] == list(range(1, len(found) + 1))
            assert len(found) >= least, f"client {number} lost {least - len(found)}"
            acknowledged[number] = len(found)
        wire.close()
    assert sum(acknowledged) > ROUNDS


def rewrite_until_cut(port):
    try:
        wire = Wire(port)
        while True:
            wire.ask("BGREWRITEAOF")
            time.sleep(0.005)
    except (OSError, AssertionError):
        pass


# How the clients add a value, and the number of lines of the reply.
PUSHES = [
    (lambda key, value: ["RPUSH", key, value], 1),
    (lambda key, value: ["EVAL", "return redis.call('RPUSH', KEYS[1], ARGV[1])", 1, key, value], 1),
    (lambda key, value: ["XADD", key, f"{value}-0", "f", "v"], 2),
    (lambda key, value: ["EVAL", "for part = 0, 1 do redis.call('XADD', KEYS[1], ARGV[1] .. '-' "
                         ".. part, 'f', 'v') end return 1", 1, key, value], 1),
]


def pushed(wire, number):
    """Returns the values that a client has added. A script's two entries are there or not."""
    key = f"values{number}"
    if number % len(PUSHES) < 2:
        return wire.ask("LRANGE", key, 0, -1).split(b"\r\n")[2::2]
    ids = re.findall(rb"\r\n(\d+)-(\d)\r\n", wire.ask("XRANGE", key, "-", "+"))
    firsts = [value for value, part in ids if part == b"0"]
    if number % len(PUSHES) == 3:
        assert firsts == [value for value, part in ids if part == b"1"]
    return firsts


def push_until_cut(port, number, acknowledged):
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as wire:
            value = acknowledged[number]
            request, lines = PUSHES[number % len(PUSHES)]
            while True:
                batch = 1 + (value + number) % 5
                wire.sendall(b"".join(encode(request(f"values{number}", value + i + 1))
                                      for i in range(batch)))
                replies = b""
                while replies.count(b"\n") < batch * lines:
                    part = wire.recv(4096)
                    if not part:
                        return
                    replies += part
                    whole = replies.count(b"\n") // lines
                    acknowledged[number] = value + whole
                value += batch
    except OSError:
        pass


def test_a_transaction_is_kept_as_a_whole(daemon, log):
    port = new_cache(daemon, "--persistent", log)
    wire = Wire(port)
    wire.ask_all([["MULTI"], ["SET", "a", 1], ["SELECT", 3], ["SET", "b", 2], ["EXEC"]])
    eventually(lambda: b"EXEC" in log.read_bytes(), "the log has it")
    text = log.read_bytes()
    daemon.act("db", "stop")
    # The end is cut off, as if the machine had stopped during the write.
    log.write_bytes(text[:text.rindex(b"*1\r\n$4\r\nEXEC")] + b"*1\r\n$4\r\nEX")
    daemon.act("db", "start")
    assert contents(port_of(daemon)) == {}
    assert "bytes are removed" in daemon.log()
    assert log.read_bytes() == encode(["SELECT", "0"])


def test_a_torn_end_is_cut_off_wherever_it_is(daemon, log):
    port = new_cache(daemon, "--persistent", log)
    wire = Wire(port)
    for i in range(5):
        wire.ask("SET", f"key{i}", "x" * 20)
    daemon.act("db", "stop")
    text = log.read_bytes()
    ends = [at for at in range(len(text) + 1) if at == len(text) or text[at:at + 1] == b"*"]
    for size in random.Random(seeded()).sample(range(len(text)), 30):
        log.write_bytes(text[:size])
        daemon.act("db", "start")
        whole = max(at for at in ends if at <= size)
        assert len(contents(port_of(daemon))) == text[:whole].count(b"SET")
        daemon.act("db", "stop")
        assert log.stat().st_size == whole


@pytest.mark.parametrize("damage,says", [
    (b"*3\r\n$3\r\nSET\r\n!1\r\n", "expected '$', got '!'"),
    (b"*2\r\n$8\r\nJSON.SET\r\n$1\r\nx\r\n", "this cache does not support the command"),
    (b"*1\r\n$8\r\nSHUTDOWN\r\n", "the command does not change data"),
    (b"REDIS0099", "the format version is '0099'"),
])
def test_a_damaged_file_is_refused_and_left_as_it_is(daemon, log, damage, says):
    log.write_bytes(damage + encode(["SET", "k", "v"]))
    done = daemon.run("create", "cache", "db", "-p", "0", "--persistent", log, "-s")
    assert done.returncode != 0 and says in done.stderr, done
    assert log.read_bytes() == damage + encode(["SET", "k", "v"])


def test_the_log_is_rewritten_while_it_grows(daemon, log):
    port = new_cache(daemon, "--persistent", log)
    wire = Wire(port)
    for _ in range(20):
        wire.ask_all([["SET", f"key{i}", "x" * 100] for i in range(1000)])
    eventually(lambda: log.stat().st_size > 2_000_000, "the log has grown")
    stopping = threading.Event()
    counts = [0, 0]

    def count_up(number):
        mine = Wire(port)
        while not stopping.is_set():
            mine.ask_all([["INCR", f"count{number}"], ["RPUSH", f"all{number}", counts[number]]])
            counts[number] += 1
        mine.close()

    counters = [threading.Thread(target=count_up, args=(i,)) for i in range(2)]
    for each in counters:
        each.start()
    for turn in range(5):
        assert b"started" in wire.ask("BGREWRITEAOF")
        eventually(lambda: b"aof_rewrite_in_progress:0" in wire.ask("INFO", "persistence"),
                   "the rewrite is over")
        assert b"aof_rewrites:%d\r" % (turn + 1) in wire.ask("INFO", "persistence")
    stopping.set()
    for each in counters:
        each.join()
    before = contents(port)
    assert log.stat().st_size < 1_500_000
    assert_same(before, contents(crash(daemon)))


def test_a_log_that_has_doubled_rewrites_itself(daemon, log):
    port = new_cache(daemon, "--persistent", log)
    wire = Wire(port)
    wire.ask("CONFIG", "SET", "auto-aof-rewrite-min-size", "100kb")
    for _ in range(30):
        wire.ask_all([["SET", f"key{i}", "x" * 100] for i in range(100)])
    eventually(lambda: log.stat().st_size < 200_000, "it is small again")
    assert_same(contents(port), contents(crash(daemon)))


def test_a_full_disk_refuses_changes_until_there_is_room(daemon, tmp_path, root):
    small = tmp_path / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", small], check=True)
    try:
        port = new_cache(daemon, "--persistent", small / "db.aof", "--appendfsync", "always")
        ballast = small / "ballast"
        ballast.write_bytes(b"x" * 200_000)
        wire = Wire(port)
        acknowledged = 0
        try:
            while wire.ask("RPUSH", "list", "y" * 1000).startswith(b":"):
                acknowledged += 1
        except (AssertionError, OSError):
            pass  # disconnected: its last change is in memory, and not safe
        assert acknowledged > 10
        other = Wire(port)
        eventually(lambda: "No space left" in daemon.log(), "the log tells of it")
        assert other.ask("SET", "k", "v").startswith(b"-MISCONF Errors writing to the AOF file")
        # It has changed nothing, so it also gets replies that come late.
        assert other.ask("WAIT", "1", "10") == b":0\r\n"
        ballast.unlink()
        eventually(lambda: other.ask("SET", "k", "v") == b"+OK\r\n", "changes are accepted again")
        assert int(other.ask("LLEN", "list")[1:]) >= acknowledged
        assert_same(contents(port), contents(crash(daemon)))
    finally:
        daemon.close()
        daemon.process = None
        subprocess.run(["umount", small], check=True)


# --- snapshots


def test_save_and_bgsave(daemon, tmp_path):
    file = tmp_path / "dump.rdb"
    port = new_cache(daemon, "--snapshot", file)
    run_random(port, seeded(), 5000)
    wire = Wire(port)
    before = contents(port)
    assert wire.ask("SAVE") == b"+OK\r\n"
    assert abs(int(wire.ask("LASTSAVE")[1:]) - time.time()) < 60
    assert_same(before, contents(crash(daemon)))
    wire = Wire(port_of(daemon))
    wire.ask("SET", "later", "1")
    assert wire.ask("BGSAVE") == b"+Background saving started\r\n"
    eventually(lambda: b"rdb_saves:1\r" in wire.ask("INFO", "persistence"), "it is saved")
    assert (0, b"later") in contents(crash(daemon))


def test_a_snapshot_is_of_one_moment(daemon, tmp_path):
    """Pairs of keys that only change together match in every snapshot, even in one
    written while they change."""
    file = tmp_path / "dump.rdb"
    port = new_cache(daemon, "--snapshot", file)
    wire = Wire(port)
    wire.ask("DEBUG", "POPULATE", 300_000, "ballast", 40)
    stopping = threading.Event()
    changes = [0, 0]

    def change_together(number):
        mine = Wire(port)
        rng = random.Random(number)
        while not stopping.is_set():
            which = rng.randrange(200)
            mine.ask_all([["MULTI"], ["INCR", f"left{which}"], ["LPUSH", f"right{which}", "x"],
                          ["EXEC"]])
            changes[number] += 1
        mine.close()

    def save_meanwhile(turn):
        assert wire.ask("BGSAVE") == b"+Background saving started\r\n"
        before = sum(changes)
        saved = f"rdb_saves:{turn + 1}\r".encode()
        eventually(lambda: saved in wire.ask("INFO", "persistence"), "it is saved")
        return sum(changes) - before

    changers = [threading.Thread(target=change_together, args=(i,)) for i in range(2)]
    for each in changers:
        each.start()
    eventually(lambda: all(changes), "both change keys")
    meanwhile = 0
    for turn in range(4):
        meanwhile += save_meanwhile(turn)
        loaded = new_cache(daemon, "--snapshot", shutil.copy(file, tmp_path / f"{turn}.rdb"),
                           name=f"copy{turn}")
        copy = Wire(loaded)
        for which in range(200):
            left = copy.ask("GET", f"left{which}")
            right = copy.ask("LLEN", f"right{which}")
            count = 0 if left.startswith(b"$-1") else int(left.split(b"\r\n")[1])
            assert count == int(right[1:]), (turn, which)
        assert int(copy.ask("DBSIZE")[1:]) >= 300_000
        copy.close()
        daemon.remove(f"copy{turn}")
    stopping.set()
    for each in changers:
        each.join()
    assert meanwhile > 0, "nothing changed while a snapshot was written: the test shows nothing"


def test_a_flush_or_an_exchange_of_databases_leaves_the_snapshot_whole(daemon, tmp_path):
    file = tmp_path / "dump.rdb"
    port = new_cache(daemon, "--snapshot", file)
    wire = Wire(port)
    wire.ask("DEBUG", "POPULATE", 200_000)
    wire.ask_all([["SELECT", 5], ["DEBUG", "POPULATE", 1000, "five"], ["SELECT", 0]])
    assert wire.ask("BGSAVE").startswith(b"+")
    wire.ask_all([["SWAPDB", 0, 5], ["SET", "new", 1], ["SELECT", 5], ["FLUSHDB"],
                  ["SET", "new", 2], ["FLUSHALL"]])
    eventually(lambda: b"rdb_saves:1\r" in wire.ask("INFO", "persistence"), "it is saved")
    crash(daemon)
    wire = Wire(port_of(daemon))
    assert b"db0:keys=200000," in wire.ask("INFO", "keyspace")
    assert b"db5:keys=1000," in wire.ask("INFO", "keyspace")


def test_rules_save_by_themselves(daemon, tmp_path):
    file = tmp_path / "dump.rdb"
    port = new_cache(daemon, "--snapshot", file, "--save", "1 3")
    wire = Wire(port)
    wire.ask_all([["SET", "a", 1], ["SET", "b", 1], ["SET", "c", 1]])
    eventually(lambda: file.stat().st_size > 0, "it is saved")
    assert len(contents(crash(daemon))) == 3


def test_without_a_file_saving_says_what_to_do(daemon):
    wire = Wire(new_cache(daemon))
    for words in (["SAVE"], ["BGSAVE"]):
        assert b"--snapshot FILE" in wire.ask(*words)
    assert b"--persistent FILE" in wire.ask("BGREWRITEAOF")
    assert b"protected config" in wire.ask("CONFIG", "SET", "dir", "/tmp")


def test_shutdown_ends_the_cache(daemon, tmp_path):
    file = tmp_path / "dump.rdb"
    port = new_cache(daemon, "--snapshot", file)
    wire = Wire(port)
    wire.ask("SET", "k", "v")
    wire.send("SHUTDOWN", "SAVE")
    assert wire.socket.recv(100) == b""
    eventually(lambda: daemon.show("db")["state"] == "failed", "it has ended")
    assert "SHUTDOWN" in daemon.cli("show", "db")
    daemon.act("db", "start")
    assert (0, b"k") in contents(port_of(daemon))


def test_debug_reload_and_digest(daemon):
    port = new_cache(daemon)
    run_random(port, seeded(), 5000)
    wire = Wire(port)
    before, digest = contents(port), wire.ask("DEBUG", "DIGEST")
    assert wire.ask("DEBUG", "RELOAD") == b"+OK\r\n"
    assert wire.ask("DEBUG", "DIGEST") == digest
    assert_same(before, contents(port))
    wire.ask("SET", "another", "key")
    assert wire.ask("DEBUG", "DIGEST") != digest


# --- a real redis-server


def real_redis(folder, *flags):
    server = RedisServer(folder, *flags)
    wire = Wire(server.port)
    eventually(lambda: b"\nloading:0" in wire.ask("INFO", "persistence"), "redis has loaded")
    wire.close()
    return server


def test_redis_loads_our_files(daemon, tmp_path, log):
    port = new_cache(daemon, "--persistent", log, "--snapshot", tmp_path / "dump.rdb")
    run_random(port, seeded(), COUNT // 2)
    wire = Wire(port)
    assert wire.ask("SAVE") == b"+OK\r\n"
    saved = contents(port)
    wire.ask("BGREWRITEAOF")
    eventually(lambda: b"aof_rewrites:1\r" in wire.ask("INFO", "persistence"), "it is rewritten")
    run_random(port, seeded() + 1, COUNT // 2)
    before = contents(port)
    daemon.act("db", "stop")
    for folder, name in (("one", "dump.rdb"), ("two", "appendonly.aof")):
        (tmp_path / folder).mkdir()
        source = log if name.endswith("aof") else tmp_path / "dump.rdb"
        shutil.copy(source, tmp_path / folder / name)
    server = real_redis(tmp_path / "one")
    assert_same(saved, contents(server.port))
    server.close()
    server = real_redis(tmp_path / "two", "--appendonly", "yes")
    assert_same(before, contents(server.port))
    server.close()


def test_we_load_redis_files(daemon, tmp_path, log):
    server = real_redis(tmp_path / "redis", "--appendonly", "yes", "--appendfsync", "always")
    run_random(server.port, seeded(), COUNT // 2)
    wire = Wire(server.port)
    wire.ask("BGREWRITEAOF")
    eventually(lambda: b"aof_rewrite_in_progress:0" in wire.ask("INFO", "persistence")
               and b"aof_rewrite_scheduled:0" in wire.ask("INFO", "persistence"), "rewritten")
    run_random(server.port, seeded() + 1, COUNT // 2)
    assert wire.ask("SAVE") == b"+OK\r\n"
    before = contents(server.port)
    server.close()
    files = tmp_path / "redis"
    port = new_cache(daemon, "--snapshot", files / "dump.rdb", name="one")
    assert_same(before, contents(port))
    # Redis's log has several files; concatenated, they form our log.
    parts = sorted((files / "appendonlydir").glob("*.rdb")) + sorted(
        (files / "appendonlydir").glob("*.incr.aof"))
    log.write_bytes(b"".join(each.read_bytes() for each in parts))
    port = new_cache(daemon, "--persistent", log, name="two")
    assert_same(before, contents(port))


def test_options_that_clients_set_wait_for_room_in_the_state_folder(make_daemon, small_disk):
    daemon = make_daemon(state_dir=small_disk / "state")
    port = new_cache(daemon)
    wire = Wire(port)
    ballast = small_disk / "ballast"
    with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(b"x" * 4096)
    assert wire.ask("CONFIG", "SET", "maxmemory", "77777777") == b"+OK\r\n"
    eventually(lambda: "not saved in the record" in daemon.cli("ls"), "a warning says so")
    eventually(lambda: wire.ask("CONFIG", "REWRITE").startswith(b"-ERR Rewriting config file: "),
               "it cannot be written")
    ballast.unlink()
    eventually(lambda: wire.ask("CONFIG", "REWRITE") == b"+OK\r\n", "it has been written")
    assert "not saved in the record" not in daemon.cli("ls")
    again = crash(daemon)
    assert b"77777777" in Wire(again).ask("CONFIG", "GET", "maxmemory")
