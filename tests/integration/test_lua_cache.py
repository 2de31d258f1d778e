"""Scripts of caches: commands as functions, fetched keys, notifications of changes."""

import concurrent.futures
import json
import threading
import time

import pytest
import redis

from strata_daemon import PATIENCE, eventually
from talker import port_of


@pytest.fixture
def cached(daemon, tmp_path):
    """Yields a function that makes a cache with a script, and returns a client of it."""
    made = []

    def start(script, name="kv", **options):
        path = tmp_path / f"{name}.lua"
        path.write_text(script)
        port = port_of(daemon.create("cache", name, listen=["tcp://127.0.0.1:0"], lua=str(path),
                                     **options)["endpoints"][0])
        made.append(redis.Redis(port=port, socket_timeout=PATIENCE, decode_responses=True))
        return made[-1]

    yield start
    for each in made:
        each.close()


def another(client, **options):
    port = client.connection_pool.connection_kwargs["port"]
    return redis.Redis(port=port, socket_timeout=PATIENCE, decode_responses=True, **options)


def told(client):
    """Returns what the script has recorded in the list `told`, which its own hooks ignore."""
    return [json.loads(line) for line in client.lrange("told", 0, -1)]


def test_each_command_is_a_function(daemon, cached):
    client = cached("""
        local checks = {}
        local function is(name, got, wanted)
          checks[name] = strata.json.encode{got} == strata.json.encode{wanted} or {got}
        end
        function on_start()
          is('set', self.set('k', 'v'), 'OK')
          is('get', self.get('k'), 'v')
          is('none', self.get('nothing'), nil)
          is('number', self.incrby('n', 41), 41)
          is('again', cache.incr('n'), 42)
          is('text of a number', self.get('n'), '42')
          self.hset('h', 'a', 1, 'b', 'two')
          is('map', self.hgetall('h'), {a = '1', b = 'two'})
          self.rpush('l', 'x', 'y')
          is('array', self.lrange('l', 0, -1), {'x', 'y'})
          is('gaps', self.mget('k', 'nothing')[2], strata.json.null)
          is('double', self.zincrby('z', 1.5, 'm'), 1.5)
          local value, why = self.incr('k')
          is('no value', value, nil)
          is('why', why:match('^ERR'), 'ERR')
          is('by name', self.call('TYPE', 'h'), 'hash')
          is('elsewhere', self.call_in(3, 'SET', 'k', 'third'), 'OK')
          is('not here', self.get('k'), 'v')
          is('published', self.publish('c', 'm'), 0)
          is('bytes', self.set('b', '\\0\\r\\n\\255') and self.strlen('b'), 4)
          local nothing, unknown = self.call('NOSUCH', 1)
          is('unknown', unknown:match('unknown command'), 'unknown command')
          local _, refused = self.call('SUBSCRIBE', 'c')
          is('for a connection', refused:match('connection'), 'connection')
          is('no transaction', select(2, self.call('MULTI')) ~= nil, true)
          is('blocks not', self.blpop('empty', 0), nil)
          is('wrong', pcall(self.set, 'k', {}), false)
          is('no database', pcall(self.call_in, 16, 'GET', 'k'), false)
          is('type', self.type, 'cache')
          self.set('checks', strata.json.encode(checks))
        end""")
    checks = json.loads(client.get("checks"))
    assert {name: what for name, what in checks.items() if what is not True} == {}
    assert len(checks) == 24
    assert another(client, db=3).get("k") == "third"


def test_access_does_not_bind_the_script(cached):
    client = cached("""
        function on_start() self.set('k', 'v') end
        function on_miss(key) return 'fetched ' .. key end""", access="readonly")
    assert client.get("k") == "v" and client.get("other") == "fetched other"
    with pytest.raises(redis.ResponseError):
        client.set("k", "w")


def test_a_get_waits_for_what_is_fetched(daemon, cached):
    client = cached("""
        function on_miss(key, database)
          self.incr('asked:' .. key)
          strata.sleep(0.1)
          if key:find('^none') then return nil end
          if key == 'fails' then error('no such luck') end
          if key == 'table' then return {} end
          if key == 'no time' then return 'x', -1 end
          if key == 'short' then return 'x', 0.05 end
          return key .. ' of ' .. database, 60
        end""")
    assert client.get("a") == "a of 0" and 0 < client.ttl("a") <= 60
    assert client.get("none") is None
    assert client.mget("a", "b", "none 1", "none 2", "c") == ["a of 0", "b of 0", None, None,
                                                              "c of 0"]
    assert client.getrange("d", 0, 0) == "d" and client.strlen("e") == len("e of 0")
    assert client.getex("f", ex=7) == "f of 0" and 0 < client.ttl("f") <= 7
    assert another(client, db=2).get("a") == "a of 2"
    for bad in ("fails", "table", "no time"):
        with pytest.raises(redis.ResponseError, match="was not fetched"):
            client.get(bad)
    assert daemon.logged("kv", "no such luck")
    assert client.get("short") == "x"
    eventually(lambda: client.exists("short") == 0, "it has expired")
    # A transaction does not wait, and neither do commands that do not return a string.
    pipe = client.pipeline(transaction=True)
    pipe.get("g")
    assert pipe.execute() == [None]
    assert client.exists("g") == 0 and client.hgetall("g") == {} and client.ttl("g") == -2
    assert client.get("asked:a") == "2" and client.get("asked:none 1") == "1"


def test_others_are_served_while_one_waits_for_a_fetch(cached):
    client = cached("""
        function on_miss(key)
          while not self.get('go') do strata.sleep(0.01) end
          return 'come'
        end""".replace("self.get('go')", "(self.exists('go') == 1)"))
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(another(client).get, "slow")
        eventually(lambda: any(each["cmd"] == "get" and each["flags"] == "b"
                               for each in client.client_list()), "it waits")
        assert client.set("k", "v") and client.get("k") == "v"
        assert client.exists("slow") == 0 and not waiting.done()
        client.set("go", "1")
        assert waiting.result(PATIENCE) == "come"


def test_a_value_that_is_written_meanwhile_stays(cached):
    client = cached("""
        function on_miss(key)
          while self.exists('go') == 0 do strata.sleep(0.01) end
          self.set('fetched', 1)
          return 'old'
        end""")
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(another(client).get, "k")
        eventually(lambda: any(each["flags"] == "b" for each in client.client_list()), "it waits")
        client.set("k", "new")
        assert waiting.result(PATIENCE) == "new"
        client.set("go", "1")
        eventually(lambda: client.exists("fetched") == 1, "the fetch has ended")
        assert client.get("k") == "new"


def test_equal_misses_wait_for_one_fetch(cached):
    client = cached("""
        function on_miss(key)
          self.call_in(1, 'INCR', 'fetches')
          strata.sleep(0.05)
          return 'value of ' .. key
        end""")

    def ask(which):
        mine = another(client)
        got = [(key, mine.get(key)) for key in
               (f"key {(which * 7 + step) % 100}" for step in range(100))]
        mine.close()
        return got

    with concurrent.futures.ThreadPoolExecutor(100) as pool:
        for got in pool.map(ask, range(100)):
            assert all(value == f"value of {key}" for key, value in got)
    assert another(client, db=1).get("fetches") == "100"


def test_who_waits_too_long_gets_an_error_and_who_goes_is_forgotten(daemon, cached):
    client = cached("""
        miss_ms = 100
        function on_miss(key)
          if key == 'late' then strata.sleep(1) else strata.sleep(1000) end
          return 'late'
        end""")
    with pytest.raises(redis.ResponseError, match="not fetched in time"):
        client.get("late")
    eventually(lambda: client.exists("late") == 1, "it comes all the same")
    assert client.get("late") == "late"
    gone = another(client)
    threading.Thread(target=lambda: pytest.raises(redis.RedisError, gone.get, "never")).start()
    eventually(lambda: any(each["flags"] == "b" for each in client.client_list()), "it waits")
    gone.close()
    daemon.cli("stop", "kv")  # while a fetch is in progress


def test_changes_are_told_one_by_one(cached):
    client = cached("""
        local function note(...) self.call_in(1, 'RPUSH', 'told', strata.json.encode{...}) end
        function on_miss(key) if key == 'there' then return 'fetched' end end
        function on_write(key, value, ttl, change)
          if change.database == 1 then return end
          note('write', key, value or change.type, change.command or (ttl and 'ttl') or 'string')
        end
        function on_delete(key) note('delete', key) end
        function on_expire(key) note('expire', key) end""")
    notes = another(client, db=1)
    heard = []

    def hear(*wanted):
        heard.extend(list(each) for each in wanted)
        eventually(lambda: len(told(notes)) >= len(heard), "it is told")
        assert told(notes) == heard

    client.set("k", "v")
    hear(("write", "k", "v", "string"))
    assert client.get("there") == "fetched"  # a fetched key is not reported as a change
    client.set("k", "w", px=60000)
    hear(("write", "k", "w", "ttl"))
    client.append("k", "x")
    hear(("write", "k", "wx", "ttl"))
    client.incr("n")
    hear(("write", "n", "1", "string"))
    client.lpush("l", "a", "b")
    hear(("write", "l", "list", ["LPUSH", "l", "a", "b"]))
    client.rename("k", "r")
    hear(("delete", "k"), ("write", "r", "wx", "ttl"))
    client.delete("r", "none")
    hear(("delete", "r"))
    client.copy("n", "n", 2)
    client.move("l", 3)
    hear(("write", "n", "1", "string"), ("delete", "l"),
         ("write", "l", "list", ["MOVE", "l", "3"]))
    client.sadd("s", "m")
    client.sunionstore("t", "s", "s")
    hear(("write", "s", "set", ["SADD", "s", "m"]),
         ("write", "t", "set", ["SUNIONSTORE", "t", "s", "s"]))
    client.set("short", "x", px=20)
    hear(("write", "short", "x", "ttl"), ("expire", "short"))


def test_batches_are_given_until_they_are_taken(daemon, cached, tmp_path):
    store = tmp_path / "store"
    client = cached(f"""
        flush_ms = 50
        local tries = 0
        local function keep(change)
          local file = io.open('{store}', 'a')
          file:write(change.key, '=', change.value or change.op, '\\n')
          file:close()
        end
        function on_flush(batch)
          tries = tries + 1
          if tries % 3 == 1 then error('the database is away') end
          keep(batch[1])
          if tries % 3 == 2 then return 1 end
          for number = 2, #batch do keep(batch[number]) end
        end""", lua_unsafe=True)
    pipe = client.pipeline(transaction=False)
    for number in range(50):
        pipe.set("a", f"old {number}")
    pipe.set("b", "x")
    pipe.delete("b")
    pipe.set("c", "y")
    pipe.set("a", "new")
    pipe.execute()
    eventually(lambda: daemon.stats("kv")["script"]["flushed"] == 3, "each key's last is taken")
    assert store.read_text() == "a=new\nb=delete\nc=y\n"
    assert daemon.stats("kv")["script"]["flush_errors"] == 2
    assert daemon.stats("kv")["script"]["unflushed"] == 0
    assert daemon.logged("kv", "the database is away")


def test_too_many_changes_that_wait_are_refused(daemon, cached):
    client = cached("""
        flush_ms, flush_max, flush_backlog = 1, 10, 100
        function on_flush() return strata.shared.get('open') == true end
        function on_miss(key) if key == 'open' then strata.shared.set('open', true) end end""")
    with pytest.raises(redis.ResponseError, match="BUSY"):
        for number in range(200):
            client.set(f"key {number}", "x")
    assert number == 100
    assert client.get("key 0") == "x"
    assert client.get("open") is None

    def goes_on():
        try:
            return client.set("more", "x")
        except redis.ResponseError:
            return False

    eventually(goes_on, "changes are accepted again")
    eventually(lambda: daemon.stats("kv")["script"]["unflushed"] == 0, "all is taken")


def test_a_stop_waits_for_what_has_changed(daemon, cached, tmp_path):
    store = tmp_path / "store"
    client = cached(f"""
        flush_ms = 60000
        function on_flush(batch)
          strata.sleep(0.1)
          local file = io.open('{store}', 'a')
          for _, change in ipairs(batch) do file:write(change.key, '=', change.value, ';') end
          file:close()
        end""", lua_unsafe=True)
    client.set("a", "1")
    client.set("b", "2")
    client.set("a", "3")
    daemon.cli("stop", "kv")
    assert store.read_text() == "a=3;b=2;"


def test_a_key_that_is_evicted_before_it_is_told_is_told_all_the_same(cached):
    client = cached("""
        flush_ms = 300
        function on_flush(batch)
          local lost = 0
          for _, change in ipairs(batch) do
            if change.op ~= 'write' or #change.value ~= 10000 then lost = lost + 1 end
          end
          strata.shared.add('told', #batch)
          strata.shared.add('lost', lost)
        end
        function on_miss(key) return strata.shared.get(key) or 'none' end""",
                    max_memory=1 << 20, eviction="allkeys-lru")
    for number in range(500):
        client.set(f"key {number}", "x" * 10000)
    assert client.info("stats")["evicted_keys"] > 100
    time.sleep(0.5)
    eventually(lambda: client.get("told") == "500" or not client.delete("told"), "all are told")
    assert client.get("lost") == "0"


def test_what_a_follower_hears_is_for_its_leaders_script(daemon, cached):
    leader = cached("function on_miss(key) return 'fetched' end", name="leader")
    port = leader.connection_pool.connection_kwargs["port"]
    follower = cached("""
        function on_miss(key) return 'wrong' end
        function on_flush(batch) strata.shared.add('told', #batch) end""",
                      name="follower", follow=f"tcp://127.0.0.1:{port}")
    leader.set("k", "v")
    eventually(lambda: follower.get("k") == "v", "it follows")
    assert follower.get("other") is None
    assert leader.get("other") == "fetched"
    eventually(lambda: follower.get("other") == "fetched", "what is fetched is followed too")
    assert daemon.stats("follower")["script"]["flushed"] == 0


def test_a_reload_changes_what_is_told(daemon, cached, tmp_path):
    client = cached("function on_flush() error('never') end flush_ms = 1")
    client.set("a", "1")
    eventually(lambda: daemon.stats("kv")["script"]["flush_errors"] > 0, "it fails")
    (tmp_path / "kv.lua").write_text("flush_ms = 1 function on_flush() end "
                                     "function on_miss() return 'now' end")
    daemon.cli("reload-lua", "kv")
    eventually(lambda: daemon.stats("kv")["script"]["unflushed"] == 0, "the new one takes it")
    assert client.get("x") == "now"
    (tmp_path / "kv.lua").write_text("-- nothing")
    daemon.cli("reload-lua", "kv")
    client.set("b", "2")
    assert client.get("y") is None and daemon.stats("kv")["script"]["unflushed"] == 0


@pytest.mark.parametrize("meanwhile", [["del k"], ["unlink other k"], ["set k x", "del k"],
                                       ["mset k x o y", "flushdb"]])
def test_what_was_removed_while_it_was_fetched_is_fetched_again(cached, meanwhile):
    client = cached("""
        function on_miss(key)
          local call = strata.shared.add('calls', 1)
          if call == 1 then
            while not strata.shared.get('open') do strata.sleep(0.005) end
          end
          return 'fetched ' .. call
        end
        function on_delete(key) if key == 'open' then strata.shared.set('open', true) end end""")
    with concurrent.futures.ThreadPoolExecutor() as asking:
        # Once this command waits, the script has been called for it.
        pipe = another(client)
        asked = asking.submit(lambda: pipe.execute_command("GETRANGE", "k", 0, -1))
        eventually(lambda: "cmd=getrange" in str(client.execute_command("CLIENT", "LIST")),
                   "it waits")
        for line in meanwhile:
            client.execute_command(*line.split())
        client.set("open", 1)
        client.delete("open")
        assert asked.result() in ("fetched 2", "x")
        assert client.get("k") == "fetched 2"


def test_a_key_that_was_not_there_is_not_told_as_deleted(daemon, cached):
    client = cached("""
        function on_delete(key) strata.log('deleted ' .. key) end
        function on_flush(batch)
          for _, each in ipairs(batch) do strata.log(each.op .. ' ' .. each.key) end
        end""")
    client.mset({"a": 1, "b": 2, "last": 3})
    assert client.delete("none", "a", "nothing") == 1
    assert client.unlink("void", "b", "a") == 1
    assert client.delete("last") == 1
    eventually(lambda: daemon.logged("kv", "delete last"), "all is told")
    for key in ("a", "b", "last"):
        assert daemon.logged("kv", f"deleted {key}")
    for key in ("none", "nothing", "void"):
        assert not daemon.logged("kv", f"{key}")


def test_a_function_that_changes_what_it_is_told_of_leaves_time_for_others(cached):
    client = cached("""
        function on_write(key) self.incr(key) end""")
    client.set("n", 0)
    before = int(client.get("n"))
    for _ in range(20):
        assert client.ping()
    eventually(lambda: int(client.get("n")) > before, "it goes on")


def test_a_key_that_on_miss_itself_removes_is_given_up(cached):
    client = cached("""
        function on_miss(key)
          calls = (calls or 0) + 1
          self.del(key)
          return 'calls ' .. calls
        end""")
    with pytest.raises(redis.ResponseError, match="it was removed during each fetch"):
        client.get("k")
    assert client.ping() and not client.exists("k")
