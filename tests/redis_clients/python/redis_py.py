"""redis-py against a cache, with its defaults: RESP3."""

import sys
import threading
import time

import redis

PATIENCE = 20


def want(what, got, wanted):
    if got != wanted or isinstance(got, bool) != isinstance(wanted, bool):
        sys.exit(f"redis-py: {what}: got {got!r}, wanted {wanted!r}")


def failure_of(what, act):
    try:
        value = act()
    except redis.RedisError as error:
        return error
    return sys.exit(f"redis-py: {what}: got {value!r}, wanted an error")


def strings(client):
    want("SET EX", client.set("s", "1", ex=100), True)
    want("GET", client.get("s"), b"1")
    want("TTL", 0 < client.ttl("s") <= 100, True)
    want("SET NX of a key that is there", client.set("s", "2", nx=True), None)
    want("SET GET", client.set("s", "2", get=True), b"1")
    want("INCRBY", client.incrby("s", 40), 42)
    want("INCRBYFLOAT", client.incrbyfloat("f", 1.5), 1.5)
    want("MGET", client.mget("s", "none"), [b"42", None])
    anything = bytes(range(256))
    want("SET of any bytes", client.set("bytes", anything), True)
    want("GETRANGE", client.getrange("bytes", 250, 255), anything[250:])
    want("SETBIT", client.setbit("b", 7, 1), 0)
    want("BITCOUNT", client.bitcount("b"), 1)
    want("BITOP", client.bitop("NOT", "nb", "b"), 1)
    want("BITPOS", client.bitpos("nb", 0), 7)
    want("BITFIELD", client.bitfield("bf").incrby("u8", 0, 200).get("u4", 0).execute(), [200, 12])
    refused = failure_of("INCR of bytes", lambda: client.incr("bytes"))
    want("INCR of bytes", str(refused), "value is not an integer or out of range")


def lists(client):
    want("RPUSH", client.rpush("l", "a", "b", "c"), 3)
    want("LRANGE", client.lrange("l", 0, -1), [b"a", b"b", b"c"])
    want("LPOS", client.lpos("l", "c"), 2)
    want("LPOP of two", client.lpop("l", 2), [b"a", b"b"])
    popped = []
    waiting = threading.Thread(target=lambda: popped.append(client.blpop("queue", PATIENCE)))
    waiting.start()
    want("RPUSH for a client that waits", client.rpush("queue", "job"), 1)
    waiting.join(PATIENCE)
    want("BLPOP", list(popped[0]), [b"queue", b"job"])
    want("BLPOP in vain", client.blpop("queue", 0.05), None)
    want("BLMOVE in vain", client.blmove("queue", "other", 0.05), None)


def sets_and_hashes(client):
    want("SADD", client.sadd("t", "x", "y"), 2)
    want("SMEMBERS", set(client.smembers("t")), {b"x", b"y"})
    want("SISMEMBER", client.sismember("t", "x"), 1)
    want("SDIFF", set(client.sdiff("t", "none")), {b"x", b"y"})
    want("HSET", client.hset("h", mapping={"a": "1", "b": "2"}), 2)
    want("HGETALL", client.hgetall("h"), {b"a": b"1", b"b": b"2"})
    want("HINCRBY", client.hincrby("h", "a", 4), 5)
    want("HMGET", client.hmget("h", "a", "c"), [b"5", None])
    want("HSCAN", dict(client.hscan_iter("h")), {b"a": b"5", b"b": b"2"})


def sorted_sets(client):
    want("ZADD", client.zadd("z", {"a": 1, "b": 2.5}), 2)
    want("ZSCORE", client.zscore("z", "b"), 2.5)
    want("ZADD INCR", client.zadd("z", {"a": 2}, incr=True), 3.0)
    want("ZRANGE", client.zrange("z", 0, -1), [b"b", b"a"])
    scored = client.zrange("z", 0, -1, withscores=True)
    want("ZRANGE WITHSCORES", [list(each) for each in scored], [[b"b", 2.5], [b"a", 3.0]])
    want("ZRANGEBYSCORE", client.zrangebyscore("z", "(2.5", "+inf"), [b"a"])
    want("ZRANK", client.zrank("z", "a"), 1)
    want("BZPOPMIN", list(client.bzpopmin("z", 1)), [b"z", b"b", 2.5])
    want("ZPOPMAX", [list(each) for each in client.zpopmax("z")], [[b"a", 3.0]])


def keys(client):
    client.flushall()
    names = {b"k%d" % i for i in range(200)}
    want("MSET", client.mset({name: "v" for name in names}), True)
    want("SCAN", set(client.scan_iter("k*", 50)), names)
    want("TYPE", client.type("k1"), b"string")
    want("EXISTS", client.exists("k1", "none"), 1)
    want("PEXPIRE", client.pexpire("k1", 1), True)
    time.sleep(0.02)
    want("GET of what has expired", client.get("k1"), None)
    want("COPY", client.copy("k2", "copied"), True)
    want("DEL", client.delete("k2", "k3"), 2)
    want("INFO", client.info("server")["redis_version"].startswith("7."), True)


def publish_and_subscribe(client):
    ear = client.pubsub()
    ear.subscribe("news.today")
    ear.psubscribe("news.*")
    kinds = [ear.get_message(timeout=PATIENCE)["type"] for _ in range(2)]
    want("SUBSCRIBE", kinds, ["subscribe", "psubscribe"])
    want("PUBLISH", client.publish("news.today", "rain"), 2)
    heard = [ear.get_message(timeout=PATIENCE) for _ in range(2)]
    want("messages", [(each["type"], each["channel"], each["data"]) for each in heard],
         [("message", b"news.today", b"rain"), ("pmessage", b"news.today", b"rain")])
    ear.ping("there?")
    want("PING within", ear.get_message(timeout=PATIENCE)["data"], b"there?")
    ear.unsubscribe()
    ear.punsubscribe()
    for _ in range(2):
        ear.get_message(timeout=PATIENCE)
    want("PUBLISH to nobody", client.publish("news.today", "sun"), 0)
    ear.close()


def transactions(client):
    with client.pipeline(transaction=True) as pipe:
        pipe.set("m", "1").incr("m").lpush("ml", "x")
        want("MULTI", pipe.execute(), [True, 2, 1])
    with client.pipeline() as pipe:
        pipe.watch("m")
        client.set("m", "other")
        pipe.multi()
        pipe.set("m", "mine")
        failed = failure_of("EXEC after a change", pipe.execute)
        want("EXEC after a change", type(failed).__name__, "WatchError")
    want("GET after it", client.get("m"), b"other")
    with client.pipeline(transaction=False) as pipe:
        for _ in range(1000):
            pipe.incr("n")
        want("a pipeline", pipe.execute(), list(range(1, 1001)))


def commands_of_later_versions(client):
    client.flushall()
    own = client.client_info()
    want("CLIENT SETINFO at connect", own["lib-name"].startswith("redis-py"), True)
    want("CLIENT NO-TOUCH", client.client_no_touch("OFF"), b"OK")
    want("WAITAOF", client.waitaof(0, 0, 0), [0, 0])
    client.zadd("z", {"a": 1, "b": 2.5})
    want("ZRANK WITHSCORE", list(client.zrank("z", "b", withscore=True)), [1, 2.5])
    client.hset("h", mapping={"a": "1", "b": "2", "c": "3"})
    want("HEXPIRE", client.hexpire("h", 100, "a", "none"), [1, -2])
    want("HEXPIRE NX", client.hexpire("h", 200, "a", nx=True), [0])
    want("HTTL", 0 < client.httl("h", "a")[0] <= 100, True)
    want("HPEXPIREAT", client.hpexpireat("h", 4_000_000_000_000, "b"), [1])
    want("HPEXPIRETIME", client.hpexpiretime("h", "b", "c"), [4_000_000_000_000, -1])
    want("HPERSIST", client.hpersist("h", "b", "c"), [1, -1])
    want("HPEXPIRE of 0", client.hpexpire("h", 0, "c"), [2])
    want("HSETEX", client.hsetex("h", "d", "4", ex=100), 1)
    want("HGETEX", client.hgetex("h", "d", persist=True), [b"4"])
    want("HTTL of what persists", client.httl("h", "d"), [-1])
    want("HGETDEL", client.hgetdel("h", "d", "none"), [b"4", None])
    want("HSCAN NOVALUES", set(client.hscan_iter("h", no_values=True)), {b"a", b"b"})
    client.hpexpire("h", 1, "a", "b")
    time.sleep(0.02)
    want("HGETALL of what has expired", client.hgetall("h"), {})
    want("SET IFEQ", client.set("k", "v", ifeq="w"), None)
    want("SET IFNE", client.set("k", "v", ifne="w"), True)
    want("DELEX", client.delex("k", ifeq="v"), 1)
    client.mset({"x": b"\x0f", "y": b"\x03"})
    want("BITOP DIFF", client.bitop("DIFF", "d", "x", "y"), 1)
    want("GET of the difference", client.get("d"), b"\x0c")


def main():
    host, port = sys.argv[1], int(sys.argv[2])
    client = redis.Redis(host, port)
    want("the protocol", client.execute_command("HELLO")[b"proto"], 3)
    client.flushall()
    for act in (strings, lists, sets_and_hashes, sorted_sets, keys, publish_and_subscribe,
                transactions, commands_of_later_versions):
        act(client)
    client.close()


main()
