"""The examples of caches in front of databases, with real databases."""

import concurrent.futures
import pathlib
import shutil
import sqlite3
import subprocess
import tempfile

import pytest
import redis

from strata_daemon import PATIENCE, eventually
from talker import port_of

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples" / "lua"


@pytest.fixture
def cached(daemon, tmp_path):
    """Returns a function that runs the unchanged example after a line that sets its store."""

    def start(name, store):
        path = tmp_path / f"{name}.lua"
        path.write_text(f"STORE = '{store}'\n"
                        "fetches = 0\n"
                        f"dofile('{EXAMPLES / name}.lua')\n"
                        "local fetch = on_miss\n"
                        "function on_miss(...)\n"
                        "  fetches = fetches + 1\n"
                        "  self.call_in(1, 'SET', 'fetches', fetches)\n"
                        "  return fetch(...)\n"
                        "end\n")
        made = daemon.create("cache", "kv", listen=["tcp://127.0.0.1:0"], lua=str(path),
                             lua_unsafe=True)
        return port_of(made["endpoints"][0])

    return start


def client(port, **options):
    return redis.Redis(port=port, socket_timeout=PATIENCE, **options)


def check_misses(port, expected):
    """Makes 10,000 reads of 100 keys by 100 clients at once: each key is fetched once."""

    def ask(which):
        mine = client(port)
        got = [mine.get(f"key {(which * 7 + step) % 100}") for step in range(100)]
        mine.close()
        return [(f"key {(which * 7 + step) % 100}", value) for step, value in enumerate(got)]

    with concurrent.futures.ThreadPoolExecutor(100) as pool:
        for got in pool.map(ask, range(100)):
            for key, value in got:
                assert value == expected(key)
    assert client(port, db=1).get("fetches") == b"100"


def check_writes(daemon, port, look):
    """Checks that writes arrive, whatever their bytes, that deletions arrive, and that a
    list stays in the cache."""
    mine = client(port)
    odd = bytes(range(256)) * 3
    mine.set(b"k'\0", odd)
    mine.set("gone", "x")
    mine.rpush("list", "a")
    for number in range(1000):
        mine.set("counted", number)
    mine.delete("gone")
    # The last two changes may be in two batches.
    eventually(lambda: look(b"counted") == b"999" and look(b"gone") is None,
               "it is written behind")
    assert look(b"k'\0") == odd and look(b"list") is None
    assert daemon.stats("kv")["script"]["flush_errors"] == 0
    assert mine.get("nothing at all") is None
    daemon.cli("stop", "kv")
    daemon.cli("start", "kv")
    port = port_of(daemon.show("kv")["endpoints"][0])
    mine = client(port)
    assert mine.get(b"k'\0") == odd and mine.get("counted") == b"999" and mine.get("gone") is None
    mine.flushdb()
    eventually(lambda: look(b"counted") is None, "all is removed")


def value_of(key):
    return f"stored for {key}".encode()


def test_sqlite(daemon, cached, tmp_path):
    store = tmp_path / "store.sqlite"
    beside = sqlite3.connect(store, isolation_level=None, timeout=PATIENCE)
    beside.execute("CREATE TABLE pairs (key BLOB PRIMARY KEY, value BLOB)")
    beside.executemany("INSERT INTO pairs VALUES (?, ?)",
                       [(f"key {n}".encode(), value_of(f"key {n}")) for n in range(100)])

    def look(key):
        row = beside.execute("SELECT value FROM pairs WHERE key = ?", (key,)).fetchone()
        return row and row[0]

    port = cached("sqlite", store)
    check_misses(port, value_of)
    check_writes(daemon, port, look)


@pytest.fixture
def postgres():
    """Starts a server of the test's own, on a socket in a folder that its user can access."""
    newest = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))[-1]
    folder = pathlib.Path(tempfile.mkdtemp(prefix="strata-postgres-"))
    shutil.chown(folder, "postgres", "postgres")
    data = folder / "data"

    def run(*command, **options):
        return subprocess.run(["runuser", "-u", "postgres", "--", *map(str, command)], check=True,
                              capture_output=True, timeout=60, **options)

    run(newest / "initdb", "-D", data, "-A", "trust", "--no-sync")
    run(newest / "pg_ctl", "-D", data, "-w", "-l", folder / "log", "-o",
        f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off", "start")
    yield folder
    run(newest / "pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")
    shutil.rmtree(folder)


def test_postgres(daemon, cached, postgres):
    def ask(statement):
        return subprocess.run(["psql", "-h", postgres, "-U", "postgres", "-tA", "-c", statement],
                              check=True, capture_output=True, text=True,
                              timeout=PATIENCE).stdout.strip()

    ask("CREATE TABLE pairs (key BYTEA PRIMARY KEY, value BYTEA)")
    ask("INSERT INTO pairs SELECT ('key ' || n)::bytea, ('stored for key ' || n)::bytea "
        "FROM generate_series(0, 99) n")

    def look(key):
        shown = ask(f"SELECT 'is ' || encode(value, 'hex') FROM pairs "
                    f"WHERE key = decode('{key.hex()}', 'hex')")
        return bytes.fromhex(shown[3:]) if shown else None

    port = cached("postgres", f"host={postgres} user=postgres dbname=postgres")
    check_misses(port, value_of)
    check_writes(daemon, port, look)
