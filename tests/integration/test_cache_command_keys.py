"""COMMAND GETKEYS and GETKEYSANDFLAGS of each kind of call, right and wrong ones, compared with
redis-server's."""

import pytest

from resp_wire import Wire

pytestmark = pytest.mark.once

CALLS = """
eval x 0|eval x 1 a|eval x 2 a b c|eval x 2 a|eval x -1 a|eval x|eval x y a|eval x 0 a
eval x 9223372036854775807 a|eval x 1|eval_ro x 1 a b|eval_ro x 0|evalsha s 1 a|evalsha s 2 a b
evalsha s 0 b|evalsha_ro s 1 a|evalsha_ro s 0|evalsha s 99 a|fcall f 1 a|fcall f 0|fcall f 2 a b c
fcall f x a|fcall_ro f 1 a|fcall_ro f 0 z|fcall f 3 a b|georadius g 1 1 1 m
georadius g 1 1 1 m store d|georadius g 1 1 1 m storedist d
georadius g 1 1 1 m store d storedist e|georadius g 1 1 1 m count 1 store d
georadius g 1 1 1 m store|georadius g 1 1 1 m withdist store d asc|georadius g 1 1 store d m
georadius g store d 1 m|georadius g 1 1 1 m STORE d StoreDist
georadius g 1 1 1 m count store store d|georadiusbymember g m 1 km store d
georadiusbymember g m 1 km|georadiusbymember g m 1 km storedist d|georadiusbymember g store d km
georadiusbymember g m 1 store d|georadius_ro g 1 1 1 m|georadius_ro g 1 1 1 m store d
georadiusbymember_ro g m 1 km|geosearchstore d g fromlonlat 1 1 byradius 1 m
geosearch g fromlonlat 1 1 byradius 1 m|geoadd g 1 1 m|xadd s * f v|xadd s maxlen 1 * f v
xadd s nomkstream * f v|xadd s|xtrim s maxlen 1|xgroup create s g 0|xgroup x|xgroup help
xinfo stream s|xinfo groups s|xinfo help|xinfo|xclaim s g c 0 1-1|xautoclaim s g c 0 0|xack s g 1
xdel s 1|xrange s - +|xread block 1 count 1 streams a b 0 0|xread streams streams 0
xread count streams streams a 0|xreadgroup group streams streams streams a b > >
xreadgroup group g c streams a|xread a b c|xread streams a b c 0 0 0|xread streams a b 0
xreadgroup group g c noack streams a >|xreadgroup streams a > group g c|xsetid s 1-1|xpending s g
subscribe a|subscribe a b|psubscribe a*|ssubscribe a b|sunsubscribe|sunsubscribe a|spublish c m
publish c m|unsubscribe|unsubscribe a|pubsub channels|pubsub numsub a|sort a store b|sort a store
sort a by x get y store b store c|sort a limit 0 store store b|sort a by store
sort a desc alpha store b|sort a STORE b LIMIT 0 1|sort_ro a|sort_ro a store b|sort
migrate h 1 a 0 0|migrate h 1 "" 0 0 keys a|migrate h 1 a 0 0 copy replace
migrate h 1 a 0 0 auth p keys b|migrate h 1 a 0 0 keys|zunionstore d 1 a
zunionstore d 2 a b weights 1 2|zunionstore d 0|zunionstore d 3 a b|zunionstore d -1 a
zinterstore d 2 a b|zdiffstore d 2 a b|zunion 2 a b|zunion 1 a withscores|zinter 3 a b|zdiff 1 a
zintercard 2 a b|zintercard 0 a|sintercard 1 a limit 1|sintercard 5 a|zunionstore d 1
zunionstore d|zunion 1|zmpop 1 a min|zmpop 2 a min|bzmpop 0 2 a b min|bzmpop 0 x a min
blmpop 0 1 a left|lmpop 1 a left count 1|zrangestore d a 0 1|bitfield a
bitfield a get u8 0 get u8 1|bitfield a get u8|bitfield a set u8 0 1|bitfield a incrby u8 0 1
bitfield a overflow sat|bitfield a overflow sat get u8 0 incrby u8 0 1|bitfield a GET u8 0
bitfield a junk|bitfield a get u8 0 junk|bitfield_ro a get u8 0|bitfield_ro a
bitfield_ro a set u8 0 1|set a b get|set a b GET|set a b xx get|set a b nx|set a b ex 1
set a b ex get|set a b keepttl|set a get|set a|set a b px 1 get|set a b junk|set get b
set get get get|set a b exat 1 nx get|bitop and d a b|bitop not d a|bitop|bitcount a|pfcount a b
pfmerge d a b|pfmerge d|pfadd a|pfdebug getreg a|pfdebug a b|pfselftest|object encoding a
object help|object freq a|object|memory usage a|memory usage a samples 1|memory doctor|memory help
debug object a|client kill a|config get a|config set a b|watch a b|unwatch|exists a b|touch a
unlink a b|del a|type a|dump a|restore a 0 x|move a 1|copy a b|copy a b db 1|rename a b
renamenx a b|expire a 1|persist a|ttl a|lpush a b|lpos a b|linsert a before b c
lmove a b left right|blmove a b left right 0|rpoplpush a b|brpoplpush a b 0|blpop a b 0|blpop a
brpop a b c 0|bzpopmin a b 0|bzpopmax a 0|sinterstore d a b|sunionstore d|sdiff a b|smove a b m
sort a by nosort get # store d|mset a 1 b 2|mset a 1 b|mset a|msetnx a 1|mget a b|getset a b
lcs a b|lcs a|append a b|hset a f v|hgetall a|hscan a 0|sscan a 0|zscan a 0|scan 0|keys *
randomkey|zadd a 1 m|zrange a 0 1|zpopmin a|getex a px 1|getdel a|setrange a 0 x|substr a 0 1
script load x|script exists x|function load x|multi|exec|ping|echo a|select 1|auth a|hello 3|info
command getkeys get a|command getkeys|latency help|cluster keyslot a|wait 1 0|replconf a|psync a b
monitor|role|save|flushall|dbsize|swapdb 0 1|failover|shutdown|lastsave|reset|quit|asking|readonly
nosuch a|get|get a b|xgroup|acl setuser a|acl getuser a|module load a|slowlog get|lolwut|time
debug sleep 0|object nosuch a|memory nosuch a
"""


@pytest.mark.parametrize("protocol", [2, 3])
def test_the_keys_of_each_call_are_those_of_redis(ports, protocol):
    wires = [Wire(port, protocol) for port in ports]
    wrong = []
    for call in CALLS.strip().replace("\n", "|").split("|"):
        words = [word.strip('"') for word in call.split()]
        # Capitals, and what begins as options and keys that some commands have at the end.
        for variant in (words, [words[0].upper(), *words[1:]], [*words, "store", "zz"],
                        [*words, "keys", "zz"]):
            for subcommand in ("GETKEYS", "GETKEYSANDFLAGS"):
                ours, theirs = (wire.ask("COMMAND", subcommand, *variant) for wire in wires)
                if ours != theirs:
                    wrong.append(f"{subcommand} {variant}: {ours!r}, and redis has {theirs!r}")
    assert not wrong, "\n".join(wrong[:20])
