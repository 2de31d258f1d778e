"""What others have used to break out of the scripts of Redis and Valkey, or to crash them: each is
refused, or does no harm, and the next script finds everything as it was."""

import pytest

from resp_wire import Wire
from test_cache import new_cache

pytestmark = pytest.mark.once

ESCAPES = {
    # bit.tohex with the least integer wrote behind its buffer (CVE-2024-31449).
    "tohex": "return {bit.tohex(0x65, -2147483648), bit.tohex(0x65, 2147483647), bit.tohex(1, -9)}",
    # unpack computed the number of results in 32 bits (CVE-2025-46817).
    "unpack": """local tries = {{0, 2147483647}, {-2147483648, 2147483647}, {-2147483648, 0},
                                {1, 2147483648}, {2147483647, -2147483648}, {1, 8000000}}
                 local told = {}
                 for n, ends in ipairs(tries) do
                   local done, why = pcall(unpack, {}, ends[1], ends[2])
                   told[n] = done and 'done' or why
                 end
                 return told""",
    # The name of a chunk was freed while its text was parsed (CVE-2025-49844).
    "chunk name": """local told = 0
                     for n = 1, 200 do
                       local text = 'return ' .. ('x'):rep(n) .. n .. ' = ' .. ('a'):rep(n * 10)
                       local name = ('@'):rep(n * 7)
                       collectgarbage('collect')
                       if loadstring(text, name) then told = told + 1 end
                       if loadstring('return ' .. n, name)() ~= n then return 'wrong' end
                     end
                     return told""",
    # A long bracket was read behind the end of the text (CVE-2025-46819).
    "brackets": """local told = {}
                   for n, text in ipairs({'[', '[=', '--[====', '[=[', '--[=[', ('['):rep(5000),
                                          '[' .. ('='):rep(100000), 'return [==[a]=]'}) do
                     told[n] = loadstring(text) == nil
                   end
                   return told""",
    # The metatables of strings and of the libraries belonged to the next script (CVE-2025-46818).
    "metatables": """local told = {}
                     for n, value in ipairs({'', _G, string, table, math, redis, cjson, bit, struct,
                                             cmsgpack, 1, true, type, coroutine}) do
                       local meta = getmetatable(value)
                       if meta then
                         told[#told + 1] = pcall(function() meta.__index = {taken = 1} end)
                         told[#told + 1] = pcall(rawset, meta, 'taken', 1)
                       end
                     end
                     for _, each in ipairs(told) do if each then return 'open' end end
                     return 'closed'""",
    # Functions of debug, and bytecode, lead out of the sandbox.
    "bytecode": """local told = {}
                   for n, name in ipairs({'debug', 'jit', 'ffi', 'package', 'module', 'require',
                                          'io', 'os.execute', 'dofile', 'loadfile', 'newproxy'}) do
                     told[n] = type(rawget(_G, name))
                   end
                   told[#told + 1] = loadstring(string.dump(function() return 1 end)) == nil
                   told[#told + 1] = loadstring('\\27LJ\\2\\0\\0') == nil
                   told[#told + 1] = loadstring('\\27Lua\\81\\0\\1\\4\\8\\4\\8\\0') == nil
                   return told""",
    # Numbers of elements and sizes overflowed in the libraries (CVE-2018-11218, CVE-2018-11219,
    # CVE-2022-24834).
    "struct": """local told = {}
                 for n, form in ipairs({'>i2147483648', 'i33', 'I4294967297', '!65b', 'c2147483647',
                                        'c9999999999999999999', 'i0', 'c0c0'}) do
                   told[n] = pcall(struct.pack, form, 1, 2) or pcall(struct.unpack, form, 'abc') or
                             pcall(struct.size, form)
                 end
                 told[#told + 1] = pcall(struct.unpack, 'c0', 'abc')
                 told[#told + 1] = pcall(struct.unpack, 'Bc0', '\\255abc')
                 told[#told + 1] = pcall(struct.unpack, 'i4', 'abcd', 2147483647)
                 told[#told + 1] = pcall(struct.unpack, 'i4', 'abcd', -2147483648)
                 return #told""",
    "cmsgpack": """local told = {}
                   for n, bytes in ipairs({'\\221\\255\\255\\255\\255', '\\223\\255\\255\\255\\255',
                                           '\\219\\255\\255\\255\\255a', ('\\145'):rep(100000),
                                           ('\\129'):rep(100000), '\\198\\127\\255\\255\\255'}) do
                     told[n] = (pcall(cmsgpack.unpack, bytes))
                   end
                   local deep = {}
                   for _ = 1, 100000 do deep = {deep} end
                   told[#told + 1] = pcall(cmsgpack.pack, deep)
                   told[#told + 1] = pcall(cmsgpack.unpack_limit, '\\1', -1, -1)
                   told[#told + 1] = pcall(cmsgpack.unpack_one, '\\1', 2147483648)
                   return #told""",
    "cjson": """local told = {}
                for n, text in ipairs({('['):rep(100000), ('{"a":'):rep(100000),
                                       '"\\\\u', '"\\\\ud800',
                                       '[1e99999]', '-', '[1,', '\\0',
                                       '"' .. ('\\\\u0000'):rep(9999)}) do
                  told[n] = (pcall(cjson.decode, text))
                end
                local deep = {}
                for _ = 1, 100000 do deep = {deep} end
                told[#told + 1] = pcall(cjson.encode, deep)
                told[#told + 1] = pcall(cjson.encode, {[1e9] = 1})
                told[#told + 1] = pcall(cjson.encode, ('\\1'):rep(1e6))
                return #told""",
    # Patterns, formats and comparisons without end, and what is called while something else works.
    "patterns": """local told = {}
                   for n, pattern in ipairs({('('):rep(100), ('%b'):rep(9), '%f', '[', '[^', '%',
                                             ('a'):rep(100000), ('(a'):rep(40)}) do
                     told[n] = pcall(string.find, ('a'):rep(30), pattern)
                   end
                   told[#told + 1] = pcall(string.rep, 'x', 2147483647)
                   told[#told + 1] = pcall(string.format, '%99999d', 1)
                   told[#told + 1] = pcall(string.format, ('%s'):rep(300), 1)
                   told[#told + 1] = pcall(table.sort, {3, 1, 2}, function() return true end)
                   told[#told + 1] = pcall(table.concat, {}, 'x', -2147483648, 2147483647)
                   return #told""",
    "recursion": """local function down() return 1 + down() end
                    local told = {pcall(down)}
                    local loop = setmetatable({}, {})
                    told[#told + 1] = pcall(function()
                      local t = {} t.__index = t setmetatable(t, t) return t.missing end)
                    told[#told + 1] = pcall(function()
                      local a = setmetatable({}, {__eq = function(x, y) return x == y end})
                      return a == setmetatable({}, getmetatable(a)) end)
                    return #told""",
    "coroutines": """local told = {}
                     local inner
                     inner = coroutine.create(function() return coroutine.resume(inner) end)
                     told[1] = coroutine.resume(inner)
                     told[2] = pcall(coroutine.wrap(function() error({}) end))
                     told[3] = pcall(coroutine.wrap(function() redis.call('nosuch') end))
                     for _ = 1, 1000 do coroutine.wrap(function() coroutine.yield() end)() end
                     return #told""",
}


@pytest.mark.parametrize("name", ESCAPES)
def test_an_escape_leads_nowhere(daemon, name):
    wire = Wire(new_cache(daemon))
    surroundings = """local names = {}
        for _, library in ipairs({_G, string, table, math, redis, cjson, bit, struct, cmsgpack}) do
          for name, value in pairs(library) do names[#names + 1] = name .. ' ' .. type(value) end
        end
        table.sort(names)
        return {table.concat(names, ','), ('x'):rep(3), #string.format('%d', 7)}"""
    before = wire.ask("EVAL", surroundings, 0)
    for _ in range(3):
        reply = wire.ask("EVAL", ESCAPES[name], 0)
        assert reply and not reply.startswith(b"+"), reply
    assert wire.ask("EVAL", surroundings, 0) == before
    assert wire.ask("PING") == b"+PONG\r\n"
    told = wire.ask("EVAL", ESCAPES[name], 0)
    if name == "metatables":
        assert told == b"$6\r\nclosed\r\n"
    if name == "bytecode":
        assert b"function" not in told and told.count(b":1\r\n") == 3
