"""EVAL and its relatives: each request to a cache and to a real redis-server, byte for byte."""

import hashlib

import pytest
import redis as redis_py

from resp_wire import Wire
from test_cache import new_cache

pytestmark = pytest.mark.once


GLOBALS = """
local names = {}
for name, value in pairs(_G) do
  if name:sub(1, 2) == '__' then
  elseif type(value) == 'table' and name ~= '_G' then
    for inner, member in pairs(value) do
      names[#names + 1] = name .. '.' .. tostring(inner) .. ' ' .. type(member)
    end
  else
    names[#names + 1] = name .. ' ' .. type(value)
  end
end
table.sort(names)
return names
"""
SCRIPTS = [
    # values
    ("return 1", []), ("return 3.99", []), ("return -3.99", []), ("return 'text'", []),
    ("return true", []), ("return false", []), ("return nil", []), ("return", []),
    ("return {1, 2, {3, 'four'}, nil, 5}", []), ("return {}", []), ("return {ok = 'FINE'}", []),
    ("return {err = 'MY error'}", []), ("return {err = 'plain'}", []), ("return 1e300", []),
    ("return '\\0\\255bytes'", []), ("return {double = 3.5}", []), ("return 2^53", []),
    ("return {map = {a = 1}}", []), ("return {set = {a = true}}", []),
    ("return function() end", []),
    # keys and arguments
    ("return {KEYS[1], KEYS[2], ARGV[1], ARGV[2]}", [2, "a", "b", "c", "d"]),
    ("return #KEYS + #ARGV", [1, "a", "b", "c"]), ("return ARGV[1]", [0, b"\x00\xff"]),
    ("return 1", [3, "a"]), ("return 1", [-1]), ("return 1", ["x"]),
    # commands
    ("return redis.call('SET', KEYS[1], ARGV[1])", [1, "k", "v"]),
    ("return redis.call('GET', KEYS[1])", [1, "k"]), ("return redis.call('GET', 'none')", []),
    ("return redis.call('INCR', 'n')", []), ("return redis.call('INCRBY', 'n', 5)", []),
    ("return redis.call('SET', 'real', 3.5)", []), ("return redis.call('GET', 'real')", []),
    ("return redis.call('rpush', 'l', 1, 2, 3)", []),
    ("return redis.call('lrange', 'l', 0, -1)", []),
    ("return redis.call('HSET', 'h', 'a', 1)", []), ("return redis.call('HGETALL', 'h')", []),
    ("return redis.call('ZADD', 'z', 1.5, 'm')", []),
    ("return redis.call('ZSCORE', 'z', 'm')", []),
    ("local v = redis.call('GET', 'none'); return v == false", []),
    ("return redis.call('PING').ok", []), ("return type(redis.call('INCR', 'n'))", []),
    ("redis.call('SELECT', 3); return redis.call('SET', 'there', 1)", []),
    ("return redis.call('EXISTS', 'there')", []),
    # errors
    ("return redis.call('nosuch')", []), ("return redis.pcall('nosuch')", []),
    ("return redis.call('GET')", []), ("return redis.call('LPUSH', 'n', 1)", []),
    ("return redis.pcall('LPUSH', 'n', 1)", []), ("return redis.pcall('LPUSH', 'n', 1).err", []),
    ("return redis.call('SUBSCRIBE', 'c')", []), ("return redis.call('MULTI')", []),
    ("return redis.call('EVAL', 'return 1', 0)", []), ("return redis.call()", []),
    ("return redis.call('SET', 'k', {})", []), ("return redis.call('SET', 'k', true)", []),
    ("return nosuch()", []), ("return nosuch", []), ("x = 1; return x", []),
    ("error('broken')", []), ("error({err = 'MY own'})", []), ("error()", []),
    ("return redis.error_reply('MY words')", []), ("return redis.error_reply('word')", []),
    ("return redis.error_reply('-MY dash')", []), ("return redis.status_reply('FINE')", []),
    ("return redis.status_reply()", []), ("this is not lua", []), ("return (", []),
    ("local ok, why = pcall(redis.call, 'nosuch'); return {ok, type(why), why.err}", []),
    ("local ok, why = pcall(error, 'x'); return {ok, why}", []),
    # what scripts use
    ("return redis.sha1hex('')", []), ("return redis.sha1hex('text')", []),
    ("return {unpack({1, 2, 3})}", []), ("return table.getn({1, 2})", []),
    ("return string.format('%d %s %5.2f', 3, 'x', 1.5)", []),
    ("return {string.find('hello', 'l')}", []), ("return ('x'):rep(10)", []),
    ("return tostring(1e15) .. tostring(0.1) .. tostring(100)", []),
    ("return {tonumber('10'), tonumber('0x10'), tostring(nil)}", []),
    ("return {type(cjson), type(redis), type(bit), type(struct), type(cmsgpack)}", []),
    ("return bit.band(7, 12)", []), ("return math.floor(3.7)", []), ("return #ARGV", []),
    ("return {redis.LOG_DEBUG, redis.LOG_WARNING}", []),
    ("local t = {}; for i = 1, 1000 do t[i] = i end; return #t", []),
    ("return redis.setresp(3)", []),
    ("redis.setresp(3); return redis.call('HGETALL', 'h')", []),
    # libraries
    ("return cjson.encode({1, 2.5, {a = 'x/y'}, {true, cjson.null}})", []),
    ("return cjson.encode({})", []), ("return cjson.encode({[1] = 1, [5] = 5})", []),
    ("return cjson.encode({1.5, 1e20, 2^53, {b = {}}})", []),
    ("return cjson.decode('{\"a\": [1, 2.5, null, \"x\"]}').a[2] * 2", []),
    ("local v = cjson.decode('[1, 2') return v", []),
    ("local v = cjson.decode('nothing') return v", []),
    ("local t = {}; t.t = t; local v = cjson.encode(t) return v", []),
    ("return cjson.decode('null') == cjson.null", []),
    ("local v = cjson.decode(string.rep('[', 1001) .. string.rep(']', 1001)) return v", []),
    ("local v = cjson.encode(function() end) return v", []),
    ("local v = cjson.encode(1/0) return v", []),
    ("return cmsgpack.pack(1, -1, 127, 128, 255, 256, 65536, 2^32, 2^53, -33, -129, -32769)", []),
    ("return cmsgpack.pack(1.5, 0.1, -2^31, -2^31 - 1, 2^63, -2^63, 1e300)", []),
    ("return cmsgpack.pack('', ('a'):rep(31), ('b'):rep(32), ('c'):rep(256))", []),
    ("return cmsgpack.pack({1, 2, {3}}, {a = 1}, {}, true, false, nil)", []),
    ("local t = {}; for i = 1, 20 do t[i] = i end; return cmsgpack.pack(t)", []),
    ("local t = {}; for i = 1, 20 do t = {t} end; return cmsgpack.pack(t)", []),
    ("return (pcall(cmsgpack.pack))", []),
    ("return {cmsgpack.unpack(cmsgpack.pack(1, 'two', {3}))}", []),
    ("return cmsgpack.unpack(cmsgpack.pack({a = {b = 'c'}})).a.b", []),
    ("return {cmsgpack.unpack(string.char(0xcb, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0)) * 2}", []),
    ("return {cmsgpack.unpack(string.char(0xd1, 0x80, 0, 0xcd, 0xff, 0xff, 0xe0, 0xc0, 7))}", []),
    ("return {cmsgpack.unpack_one(cmsgpack.pack(1, 2, 3), 1)}", []),
    ("return {cmsgpack.unpack_one(cmsgpack.pack(1), 0)}", []),
    ("return {cmsgpack.unpack_limit(cmsgpack.pack(1, 2, 3), 2)}", []),
    ("return {cmsgpack.unpack_limit(cmsgpack.pack(1, 2, 3), 9, 1)}", []),
    ("return {pcall(cmsgpack.unpack, string.char(0x92, 1))}[1]", []),
    ("return (pcall(cmsgpack.unpack, string.char(0xc1)))", []),
    ("return struct.pack('>I2hlB', 258, -2, -3, 255)", []),
    ("return struct.pack('<i4I8fdxs', 1, 2, 1.5, 2.5, 'text')", []),
    ("return struct.pack('c3c0', 'abcdef', 'rest')", []), ("return struct.size('!8bli4')", []),
    ("return struct.pack('!4bi8h', 1, 2, 3)", []), ("return struct.size('>I2hlBT')", []),
    ("return {struct.unpack('>I2hl', struct.pack('>I2hl', 65535, -2, -3))}", []),
    ("return {struct.unpack('Bc0s', struct.pack('Bc0s', 3, 'abc', 'rest'))}", []),
    ("return {struct.unpack('<d', struct.pack('<d', 2.5))}[1] * 2", []),
    ("return {struct.unpack('i4', struct.pack('i4i4', 1, 2), 5)}", []),
    ("return (pcall(struct.pack, 'z', 1))", []), ("return (pcall(struct.unpack, 'i4', 'ab'))", []),
    ("return (pcall(struct.size, 's'))", []), ("return (pcall(struct.pack, 'c5', 'abc'))", []),
    ("return {bit.tobit(2^31), bit.bnot(0), bit.bxor(5, 3), bit.tohex(255)}", []),
    ("return {tostring(math.random()), math.random(10), math.random(5, 9)}", []),
    ("math.randomseed(42); return {tostring(math.random()), math.random(100)}", []),
    ("return {math.mod(7, 3), table.maxn({1, 2}), #string.gfind and 1 or 0}", []),
    ("local s = 0; table.foreach({1, 2}, function(k, v) s = s + v end); return s", []),
    ("return {string.format('%q', 'a\"b'), string.format('%5s|%-5s|', 'a', 'b')}", []),
    ("return {tostring(1/0), tostring(-1/0), tostring(0/0) == tostring(0/0), 2^31, 1e15}", []),
    ("return {1e15 .. '', 123456789012 .. '', 0.1 .. '', 1e100 .. ''}", []),
    ("return redis.REDIS_VERSION", []), ("return redis.REDIS_VERSION_NUM", []),
    ("return redis.replicate_commands()", []), ("return redis.breakpoint()", []),
    ("return redis.set_repl(redis.REPL_ALL)", []), ("return redis.acl_check_cmd('get', 'k')", []),
    ("return redis.log(redis.LOG_DEBUG, 'one', 2)", []), ("return redis.log(1)", []),
    ("return _VERSION", []), ("return type(gcinfo())", []),
    ("return collectgarbage('step') == nil", []),
    ("local c = coroutine.wrap(function() coroutine.yield(1) return 2 end) return {c(), c()}", []),
    ("return {xpcall(function() error('x') end, function(e) return 'handled ' .. e end)}", []),
    ("return {select('#', 1, 2, 3), select(2, 'a', 'b')}", []),
    ("return loadstring('return 7')()", []), ("return {pcall(loadstring, 1)}", []),
    ("local t = setmetatable({}, {__index = function(_, k) return k end}); return t.deep", []),
    (GLOBALS, []),
    # a set has no order, but scripts get one
    *((f"redis.call('SADD', 'set', 'b', 'a', 'ccc', 'B', '') "
       f"return redis.call('SORT', 'set', {words})", [])
      for words in ("'BY', 'nosort'", "'BY', 'nosort', 'DESC'", "'BY', 'nosort', 'GET', '#'",
                    "'BY', 'nosort', 'LIMIT', 1, 2", "'ALPHA'")),
    # the first line
    ("#!lua\nreturn 1", []), ("#!lua flags=no-writes\nreturn redis.call('GET', 'k')", []),
    ("#!lua flags=no-writes\nreturn redis.call('SET', 'k', 1)", []),
    ("#!lua flags=no-such\nreturn 1", []), ("#!lua name=x\nreturn 1", []),
    ("#!python\nreturn 1", []), ("#!lua", []), ("#!lua\n\nreturn nosuch", []),
    ("#!lua flags=no-writes,allow-stale,allow-oom\nreturn 1", []), ("\n\nerror('third')", []),
    # what only RESP3 has
    *((f"{chosen}return {{{fields}}}", []) for chosen in ("", "redis.setresp(3) ") for fields in (
        "big_number = '123'", "big_number = '12\\r\\n3'", "big_number = 123", "big_number = {}",
        "big_number = {}, 3", "big_number = '1', map = {a = 1}", "big_number = '1', double = 1",
        "big_number = '1', verbatim_string = {format = 'txt', string = 'a'}",
        "ok = 1, big_number = '5'", "map = {a = 1}, set = {b = 1}", "double = '1'", "ok = 1",
        "verbatim_string = {format = 'txt', string = 'abc'}",
        "verbatim_string = {format = 't', string = 'a\\r\\nb'}",
        "verbatim_string = {format = 'long', string = ''}", "verbatim_string = {string = 'a'}",
        "verbatim_string = {format = 'txt'}, 7", "verbatim_string = 'abc'",
        "verbatim_string = {format = 1, string = 5}",
        "verbatim_string = {format = 'txt', string = 'a'}, map = {a = 1}")),
    ("redis.setresp(3) local s = redis.call('MEMORY', 'DOCTOR').verbatim_string "
     "return {s.format, type(s.string)}", []),
    ("return type(redis.call('MEMORY', 'DOCTOR'))", []),
    # what one script may not do to the next
    ("string.format = nil", []), ("rawset(string, 'format', nil)", []),
    ("getmetatable('').__index = nil", []), ("redis.call = nil", []),
    ("setmetatable(_G, {})", []), ("_G.y = 1", []), ("return _G == nil", []),
    ("rawset(_G, 'y', 1)", []), ("loadstring('z = 1')()", []), ("return type(z)", []),
    ("return loadstring('string.format = nil')()", []), ("getmetatable(_G).y = 1", []),
    ("return coroutine.resume(coroutine.create(function() w = 1 end))", []),
    ("return ('x').format == string.format", []),
    ("return load(function() return nil end) ~= nil", []), ("return type(loadfile)", []),
    ("return type(dofile)", []),
    ("return type(os.execute)", []), ("return type(io)", []), ("return type(require)", []),
    ("local function f() return f() end; return 1", []),
    # texts that are numbers, where functions take numbers
    ("return struct.pack('I', ARGV[1])", [0, "7"]), ("return struct.pack('i', ' 0x10 ')", []),
    ("return struct.pack('Bc0I', #ARGV[2], ARGV[2], ARGV[1])", [0, "3", "ab"]),
    ("return struct.pack('d', '1.5') .. struct.pack('f', '2')", []),
    ("return {struct.unpack('B', 'abc', '2')}", []), ("return struct.size(1)", []),
    ("return struct.size('i4xyz') + struct.size('1h')", []),
    ("return {cmsgpack.unpack_one(cmsgpack.pack(1, 2), '1')}", []),
    ("return {cmsgpack.unpack_limit(cmsgpack.pack(1, 2), '1', '0')}", []),
    ("return redis.setresp('3')", []), ("return redis.log('2', 'x')", []),
    ("return redis.set_repl('3')", []), ("return math.floor('3.7')", []),
    ("return bit.band('7', 3)", []), ("return ('x'):rep('3')", []),
    ("return cjson.encode({1, '2'})", []), ("math.randomseed('1') return 1", []),
]


@pytest.mark.parametrize("protocol", [2, 3])
def test_each_script_gives_the_reply_of_redis(daemon, redis, protocol):
    ports = (new_cache(daemon), redis.port)
    wrong = []
    wires = [Wire(port) for port in ports]
    if protocol == 3:
        for wire in wires:
            wire.ask("HELLO", 3)
    for text, arguments in SCRIPTS:
        ours, theirs = (wire.ask("EVAL", text, *(arguments or [0])) for wire in wires)
        if ours != theirs:
            wrong.append(f"{text}: {ours!r}, and redis gives {theirs!r}")
    assert not wrong, "\n".join(wrong)


def test_scripts_are_kept_by_their_digest(daemon, redis):
    for port in (new_cache(daemon), redis.port):
        client = redis_py.Redis(port=port)
        text = "return redis.call('INCRBY', KEYS[1], ARGV[1])"
        digest = hashlib.sha1(text.encode()).hexdigest()
        with pytest.raises(redis_py.exceptions.NoScriptError):
            client.evalsha(digest, 1, "count", 2)
        assert client.script_exists(digest) == [False]
        assert client.script_load(text) == digest
        assert client.evalsha(digest.upper(), 1, "count", 2) == 2
        assert client.script_exists(digest, "0" * 40) == [True, False]
        lock = client.lock("lock", timeout=10)
        assert lock.acquire(blocking=False)
        lock.release()
        client.script_flush()
        assert client.script_exists(digest) == [False]
        add = client.register_script(text)
        assert add(keys=["count"], args=[3]) == 5


def test_a_script_that_only_reads_changes_nothing(daemon, redis):
    for port in (new_cache(daemon), redis.port):
        wire = Wire(port)
        assert wire.ask("EVAL_RO", "return redis.call('GET', 'k')", 0) == b"$-1\r\n"
        refused = wire.ask("EVAL_RO", "return redis.call('SET', 'k', 1)", 0)
        assert refused.startswith(b"-ERR Write commands are not allowed from read-only scripts")
        assert wire.ask("EXISTS", "k") == b":0\r\n"


def test_effects_are_one_transaction(daemon, tmp_path):
    log = tmp_path / "log.aof"
    [url] = daemon.create("cache", "kept", listen=["tcp://127.0.0.1:0"], resp=True,
                          persistent=str(log), appendfsync="always")["endpoints"]
    wire = Wire(int(url.rpartition(":")[2]))
    assert wire.ask("EVAL", "redis.call('SET', 'a', 1) redis.call('INCR', 'b') return 1", 0) == \
        b":1\r\n"
    words = [word for word in log.read_bytes().split(b"\r\n") if word.isalpha()]
    assert words[-6:] == [b"MULTI", b"SET", b"a", b"INCR", b"b", b"EXEC"], words


def test_a_script_that_needs_too_much_memory_is_stopped(daemon):
    wire = Wire(new_cache(daemon))
    refused = wire.ask("EVAL", "local t = {} for i = 1, 1e9 do t[i] = ('x'):rep(1e6) .. i end", 0)
    assert b"not enough memory" in refused
    assert wire.ask("EVAL", "return 1", 0) == b":1\r\n"
