"""strata.redis: scripts send requests to caches of the daemon, and to real Redis servers."""

import contextlib
import socket

import pytest

from deaf import deaf_address
from lua_console import LuaConsole
from resp_wire import RedisServer, Wire
from strata_daemon import PATIENCE, eventually
from talker import Talker, free_port


@pytest.fixture
def console(daemon, tmp_path):
    return LuaConsole(daemon, tmp_path)


@pytest.fixture
def redis(tmp_path):
    server = RedisServer(tmp_path / "redis")
    wire = Wire(server.port)
    assert wire.ask("CONFIG", "SET", "requirepass", "se/cret") == b"+OK\r\n"
    wire.close()
    yield server
    server.close()


class FakeRedis:
    """A server that sends what the test says, whatever the request."""

    def __enter__(self):
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.listening.settimeout(PATIENCE)
        self.url = f"redis://127.0.0.1:{self.listening.getsockname()[1]}"
        return self

    def __exit__(self, *_):
        self.listening.close()

    def accept(self):
        one = Talker.accepted(self.listening)
        assert one.hear_lines(5) == [b"*2\r", b"$5\r", b"HELLO\r", b"$1\r", b"3\r"]
        one.send(b"%1\r\n+proto\r\n:3\r\n")
        return one


def check_answers(console, where):
    console.run(f"db = strata.redis({where})")
    assert console.run("return db:set('k', 'v'), db:get('k')") == ("OK", "v")
    assert console.run("return db:call('GET', 'none') == nil") == (True, None)
    assert console.run("return db:set('n', 41), db:incr('n')") == ("OK", 42)
    assert console.run("local b = '\\0\\255\\r\\n' db:set('b', b) return db:get('b') == b")[0]
    assert console.run("db:rpush('l', 'a', 'b') return db:lrange('l', 0, -1)")[0] == ["a", "b"]
    assert console.run("return db:lrange('nothing', 0, -1)")[0] == []
    assert console.run("local m = db:mget('k', 'none') return m[1], m[2] == strata.json.null") == (
        "v", True)
    assert console.run("db:hset('h', 'f', 1, 'g', 2) return db:hgetall('h')")[0] == {
        "f": "1", "g": "2"}
    assert console.run("db:zadd('z', 1.5, 'm') return db:zscore('z', 'm')")[0] == 1.5
    assert console.run("return db:incr('k')")[1].startswith("ERR value is not an integer")
    assert console.run("return db:nonsense()")[1].startswith("ERR unknown command")
    assert console.run("return db:set('big', '9007199254740993'), db:incrby('big', 0)") == (
        "OK", "9007199254740993")
    assert console.run("return db:multi{{'SET', 't', 1}, {'INCR', 't'}, {'INCR', 'k'}}")[0][:2] == [
        "OK", 2]
    assert "not an integer" in console.run("return db:multi{{'INCR', 'k'}}[1].err")[0]
    assert console.run("return db:multi{{'NONSENSE'}}")[1].startswith("EXECABORT")
    assert console.run("return db:multi{}")[0] == []
    for shared in ("db:subscribe('x')", "db:multi{{'EXEC'}}", "db:call('multi')", "db:select(1)",
                   "db:client('REPLY', 'OFF')", "db:monitor()"):
        assert "for all that share it" in console.fails(shared)
    assert "neither a text nor a number" in console.fails("db:set('k', {})")
    assert "a list of texts and numbers" in console.fails("db:multi{{}}")


def test_a_cache_of_the_daemon(daemon, console):
    daemon.create("cache", "store", listen=["tcp://127.0.0.1:0"], resp=True)
    check_answers(console, "'store'")
    assert console.run("return strata.redis('store') == strata.redis('store')")[0]
    daemon.act("store", "stop")
    assert "store" in console.run("return db:get('k')")[1]
    daemon.act("store", "start")
    assert console.run("return db:set('k', 2), db:get('k')") == ("OK", "2")


def test_a_real_server_with_a_password(console, redis):
    url = f"redis://:se%2Fcret@127.0.0.1:{redis.port}/3"
    check_answers(console, f"'{url}'")
    where = f"'redis://127.0.0.1:{redis.port}'"
    console.run(f"other = strata.redis({where}, {{password = 'se/cret'}})")
    assert console.run("return other:get('k') == nil, other:dbsize()") == (True, 0)
    console.run(f"wrong = strata.redis({where}, {{password = 'no', user = 'default'}})")
    assert "WRONGPASS" in console.run("return wrong:get('k')")[1]
    console.run(f"none = strata.redis({where})")
    assert "NOAUTH" in console.run("return none:get('k')")[1]
    console.run(f"far = strata.redis({where}, {{password = 'se/cret', database = 99}})")
    assert "out of range" in console.run("return far:get('k')")[1]
    # It reconnects.
    assert console.run("return other:client('KILL', 'TYPE', 'normal')")[0] > 0
    eventually(lambda: console.run("return db:get('t')") == ("2", None), "it is there again")


def test_many_functions_share_one_connection(console, redis):
    url = f"redis://default:se%2Fcret@127.0.0.1:{redis.port}"
    console.run(f"""
        sum, ended, db = 0, 0, strata.redis('{url}')
        for n = 1, 500 do
          strata.set_timeout(0, function()
            db:set('k' .. n, n)
            local value = tonumber(db:get('k' .. n))
            sum = sum + value
            ended = ended + 1
          end)
        end
        while ended < 500 do strata.sleep(0.01) end""")
    assert console.run("return sum")[0] == 500 * 501 / 2
    clients = console.run("return select(2, db:client('LIST'):gsub('\\n', ''))")[0]
    assert clients == 1


def test_what_is_no_place_is_said(console):
    for where, said in (("redis://127.0.0.1:x", "is not HOST:PORT"),
                        ("redis://127.0.0.1/x", "not the number of a database"),
                        ("redis://%zz@127.0.0.1", "not valid percent-encoded"),
                        ("udp://127.0.0.1:1", "not a stream of bytes"), ("nothing://x", "nothing")):
        assert said in console.fails(f"strata.redis('{where}')")
    assert "secret" not in console.fails("strata.redis('redis://:secret@[:1')")
    assert "no option" in console.fails("strata.redis('x', {db = 1})")
    assert "nobody" in console.run("return strata.redis('nobody'):get('k')")[1]
    closed = f"redis://127.0.0.1:{free_port()}"
    assert "refused" in console.run(f"return strata.redis('{closed}'):get('k')")[1]
    assert console.run("local db = strata.redis('x') db:close() return db:get('k')")[1] == (
        "it was closed")


def test_servers_that_say_nothing_nonsense_or_too_much(console, daemon):
    ask = "return db:get('k')"
    with deaf_address() as deaf:
        console.run(f"db = strata.redis('redis://{deaf.text}', {{timeout_ms = 200}})")
        assert "in time" in console.run(ask)[1]
    with FakeRedis() as fake:
        console.run(f"db = strata.redis('{fake.url}', {{timeout_ms = 200}})")
        console.begin(ask)
        with fake.accept() as bob:
            assert "in time" in console.end()[1]
            assert bob.is_ended()
        console.run(f"db = strata.redis('{fake.url}', {{timeout_ms = 10000}})")
        for said, why in ((b"nonsense\r\n", "malformed"), (b"", "closed the connection"),
                          (b"$10\r\nabc", "closed the connection"),
                          (b"*1\r\n" * 100, "deep"), (b"$99999999999\r\n", "receive from"),
                          (b"*99999999999\r\n", "receive from"), (b":1x\r\n", "malformed")):
            console.begin(ask)
            with fake.accept() as bob:
                bob.hear_lines(5)
                bob.send(said)
                if "closed" in why:
                    bob.close()
                assert why in console.end()[1], said
        # More replies than requests, and unexpected pushes.
        console.begin(ask)
        with fake.accept() as bob:
            bob.hear_lines(5)
            bob.send(b">2\r\n+a\r\n+b\r\n$1\r\nx\r\n")
            assert console.end() == ("x", None)
            bob.send(b":1\r\n")
            assert bob.is_ended()
        # A line without an end.
        console.begin(ask)
        with fake.accept() as bob:
            bob.hear_lines(5)
            with contextlib.suppress(ConnectionError):
                for _ in range(128):
                    bob.send(b"+" + b"x" * (1 << 20))
            assert console.end()[0] is None
    assert daemon.show("console")["state"] == "running"


def test_reload_and_stop_while_functions_wait(console, daemon):
    with FakeRedis() as fake:
        console.begin(f"db = strata.redis('{fake.url}') return db:get('k')")
        with fake.accept() as bob:
            bob.hear_lines(5)
            daemon.cli("reload-lua", "console")
            assert console.end() == (None, "it was closed")
            assert bob.is_ended()
        console.begin(f"db = strata.redis('{fake.url}') return db:get('k')")
        with fake.accept() as bob:
            bob.hear_lines(5)
            daemon.act("console", "stop")
            assert bob.is_ended()
