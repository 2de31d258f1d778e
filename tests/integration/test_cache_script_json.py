"""The options of cjson in scripts, and what it makes of right and wrong texts and values: each
script to a cache and to a real redis-server, byte for byte. An option that a script sets holds for
the next ones, so the order matters."""

import re

import pytest

from resp_wire import Wire

pytestmark = pytest.mark.once

# TRY f, x: the result, or the error, of f(x).
SCRIPTS = r"""
return cjson.encode_sparse_array()
return {cjson.encode_sparse_array()}
local a,b,c=cjson.encode_sparse_array() return {tostring(a),tostring(b),tostring(c)}
local a,b,c=cjson.encode_sparse_array(true,1,2) return {tostring(a),tostring(b),tostring(c)}
return cjson.encode({[3]=1})
return cjson.encode({[1]=1,[2]=5,[10]=2})
TRY cjson.encode,{[1000]=2}
local a,b,c=cjson.encode_sparse_array(false,2,10) return {tostring(a),tostring(b),tostring(c)}
TRY cjson.encode,{[1000]=2}
TRY cjson.encode_sparse_array,'x'
TRY cjson.encode_sparse_array,true,-1
TRY cjson.encode_sparse_array,true,1,-1
TRY cjson.encode_sparse_array,true,1,2,3
TRY cjson.encode_sparse_array,1
TRY cjson.encode_sparse_array,nil,3
return cjson.encode_max_depth()
return cjson.encode_max_depth(3)
TRY cjson.encode,{{{1}}}
TRY cjson.encode,{{{{1}}}}
return cjson.encode_max_depth()
return cjson.encode_max_depth(1000)
TRY cjson.encode_max_depth,0
TRY cjson.encode_max_depth,-1
TRY cjson.encode_max_depth,'x'
TRY cjson.encode_max_depth,'5'
TRY cjson.encode_max_depth,1.5
TRY cjson.encode_max_depth,2^31
TRY cjson.encode_max_depth,2^53
TRY cjson.encode_max_depth,{}
TRY cjson.encode_max_depth,1,2
return cjson.encode_max_depth(1000)
return cjson.decode_max_depth()
return cjson.decode_max_depth(2)
TRY cjson.decode,'[[1]]'
TRY cjson.decode,'[[[1]]]'
TRY cjson.decode,'{"a":{"b":{"c":1}}}'
return cjson.decode_max_depth(1000)
TRY cjson.decode_max_depth,0
return tostring(cjson.decode_invalid_numbers())
return {tostring(cjson.decode('NaN')), tostring(cjson.decode('Infinity'))}
return {tostring(cjson.decode('-Infinity')), cjson.decode('0x10'), cjson.decode('[0x1F]')[1]}
return tostring(cjson.decode_invalid_numbers(false))
TRY cjson.decode,'NaN'
TRY cjson.decode,'[0x10]'
TRY cjson.decode,'[Infinity]'
TRY cjson.decode,'[-nan]'
TRY cjson.decode,'[01]'
TRY cjson.decode,'[-0]'
TRY cjson.decode,'[+1]'
return tostring(cjson.decode_invalid_numbers(true))
TRY cjson.decode_invalid_numbers,'x'
TRY cjson.decode_invalid_numbers,1
TRY cjson.decode_invalid_numbers,'on'
TRY cjson.decode_invalid_numbers,'null'
return tostring(cjson.encode_invalid_numbers())
TRY cjson.encode,1/0
TRY cjson.encode,0/0
return tostring(cjson.encode_invalid_numbers(true))
return {cjson.encode(1/0), cjson.encode(-1/0), cjson.encode({0/0})}
return tostring(cjson.encode_invalid_numbers('null'))
return {cjson.encode(1/0), cjson.encode(-1/0), cjson.encode({0/0})}
return tostring(cjson.encode_invalid_numbers('off'))
return tostring(cjson.encode_invalid_numbers('on'))
TRY cjson.encode_invalid_numbers,'x'
TRY cjson.encode_invalid_numbers,5
TRY cjson.encode_invalid_numbers,{}
TRY cjson.encode_invalid_numbers,nil
return tostring(cjson.encode_invalid_numbers(false))
return cjson.encode_number_precision()
return cjson.encode(math.pi)
return cjson.encode_number_precision(3)
return {cjson.encode(math.pi), cjson.encode(123456), cjson.encode(0.1), cjson.encode({1e100,-0.5})}
return cjson.encode_number_precision(14)
TRY cjson.encode_number_precision,0
TRY cjson.encode_number_precision,15
TRY cjson.encode_number_precision,16
TRY cjson.encode_number_precision,17
TRY cjson.encode_number_precision,-1
TRY cjson.encode_number_precision,'x'
return cjson.encode(0.1)
return cjson.encode_number_precision(14)
return tostring(cjson.encode_keep_buffer())
return tostring(cjson.encode_keep_buffer(false))
return cjson.encode({1,2,3})
return cjson.encode(string.rep('x',100000)) == '"'..string.rep('x',100000)..'"'
return tostring(cjson.encode_keep_buffer(true))
return cjson.encode({1,2,3})
TRY cjson.encode_keep_buffer,'x'
return type(cjson.new)
local c=cjson.new() return type(c)
local n={} for k,v in pairs(cjson.new()) do n[#n+1]=k..' '..type(v) end table.sort(n) return n
local n={} for k,v in pairs(cjson) do n[#n+1]=k..' '..type(v) end table.sort(n) return n
local c=cjson.new() c.encode_max_depth(2) return {cjson.encode_max_depth(), c.encode_max_depth()}
local c=cjson.new() c.encode_number_precision(3) return {cjson.encode(math.pi), c.encode(math.pi)}
local c=cjson.new() c.x=1 return c.x
local c=cjson.new() c.encode=nil return type(c.encode)
local c=cjson.new() return {tostring(c.null==cjson.null), c.encode(c.null)}
return tostring(cjson.new().decode('null')==cjson.null)
TRY function() cjson.x=1 end
local ok,e=pcall(cjson.new,1) return {tostring(ok)}
return {tostring(cjson._NAME), tostring(cjson._VERSION)}
TRY cjson.encode
TRY cjson.encode,1,2
TRY cjson.decode
TRY cjson.decode,'1','2'
TRY cjson.decode,5
TRY cjson.decode,''
TRY cjson.decode,'{'
TRY cjson.decode,'[1,]'
TRY cjson.decode,'{"a":}'
TRY cjson.decode,'{a:1}'
TRY cjson.decode,'"\\u00e9\\ud83d\\ude00"'
TRY cjson.decode,'"\\ud83d"'
TRY cjson.decode,'"\\x"'
TRY cjson.decode,'"\0"'
TRY cjson.decode,'[1] x'
TRY cjson.decode,'\255\254[1]'
TRY cjson.decode,'[\0001]'
return cjson.encode('\0\1\31\127\128\255"\\/\b\f\n\r\t')
return cjson.encode({a={}})
return cjson.encode({true,false,cjson.null})
TRY cjson.encode,{[true]=1}
TRY cjson.encode,{[1.5]=1}
TRY cjson.encode,{[-1]=1}
TRY cjson.encode,{[0]=1}
TRY cjson.encode,coroutine.create(function() end)
return cjson.encode(nil)
return cjson.encode(setmetatable({1},{__index={2,3}}))
return cjson.encode({1e15,1e14,123456789012345,2^53,2^63,-1e-7,1e21})
return cjson.decode('[1e5, 1E+2, -1.5e-3, 123456789012345678]')
return cjson.decode('[1e999]')
return #cjson.decode('[' .. string.rep('1,', 9999) .. '1]')
"""
ADDRESS = re.compile(rb"(table|userdata|function): 0x[0-9a-f]+")


def script_of(line):
    if not line.startswith("TRY "):
        return line
    return f"local ok, e = pcall({line[4:]}) return {{tostring(ok), tostring(e)}}"


def test_each_option_of_cjson_is_that_of_redis(ports):
    wires = [Wire(port) for port in ports]
    wrong = []
    for line in SCRIPTS.strip().split("\n"):
        ours, theirs = (ADDRESS.sub(rb"\1", wire.ask("EVAL", script_of(line), 0))
                        for wire in wires)
        if ours != theirs:
            wrong.append(f"{line}: {ours!r}, and redis gives {theirs!r}")
    assert not wrong, "\n".join(wrong)
