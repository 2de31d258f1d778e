// node-redis against a cache: its defaults, and RESP3.
import { createClient, WatchError } from "redis";
import { failureOf, hearing, run, want, wantTrue } from "./wanted.mjs";

async function strings(client) {
  want("SET EX", await client.set("s", "1", { EX: 100 }), "OK");
  want("GET", await client.get("s"), "1");
  const ttl = await client.ttl("s");
  wantTrue("TTL", ttl > 0 && ttl <= 100, ttl);
  want("SET NX of a key that is there", await client.set("s", "2", { NX: true }), null);
  want("INCRBY", await client.incrBy("s", 41), 42);
  want("INCRBYFLOAT", await client.incrByFloat("f", 1.5), "1.5");
  want("APPEND", await client.append("s", "!"), 3);
  want("MGET", await client.mGet(["s", "none"]), ["42!", null]);
  want("GETDEL", await client.getDel("s"), "42!");
  want("SETBIT", await client.setBit("b", 7, 1), 0);
  want("GETBIT", await client.getBit("b", 7), 1);
  want("BITCOUNT", await client.bitCount("b"), 1);
  want("BITOP", await client.bitOp("NOT", "nb", "b"), 1);
  want("BITPOS", await client.bitPos("nb", 0), 7);
  const refused = await failureOf("INCR of a text", client.incr("nb"));
  want("INCR of a text", refused, "ERR value is not an integer or out of range");
}

async function lists(client) {
  want("RPUSH", await client.rPush("l", ["a", "b", "c"]), 3);
  want("LRANGE", await client.lRange("l", 0, -1), ["a", "b", "c"]);
  want("LPOP", await client.lPop("l"), "a");
  want("LMOVE", await client.lMove("l", "other", "RIGHT", "LEFT"), "c");
  want("LLEN", await client.lLen("l"), 1);
  const waiting = client.duplicate();
  await waiting.connect();
  const popped = waiting.blPop("queue", 20);
  want("RPUSH for who waits", await client.rPush("queue", "job"), 1);
  want("BLPOP", await popped, { key: "queue", element: "job" });
  want("BLPOP in vain", await waiting.blPop("queue", 0.05), null);
  waiting.destroy();
}

async function sets_and_hashes(client) {
  want("SADD", await client.sAdd("t", ["x", "y"]), 2);
  want("SMEMBERS", (await client.sMembers("t")).sort(), ["x", "y"]);
  want("SISMEMBER", await client.sIsMember("t", "x"), 1);
  want("SINTER", await client.sInter(["t", "t"]).then((all) => all.sort()), ["x", "y"]);
  want("HSET", await client.hSet("h", { a: "1", b: "2" }), 2);
  want("HGETALL", await client.hGetAll("h"), { a: "1", b: "2" });
  want("HINCRBY", await client.hIncrBy("h", "a", 4), 5);
  want("HMGET", await client.hmGet("h", ["a", "c"]), ["5", null]);
  want("HDEL", await client.hDel("h", "b"), 1);
}

async function sorted_sets(client) {
  const members = [{ score: 1, value: "a" }, { score: 2.5, value: "b" }];
  want("ZADD", await client.zAdd("z", members), 2);
  want("ZSCORE", await client.zScore("z", "b"), 2.5);
  want("ZINCRBY", await client.zIncrBy("z", 2, "a"), 3);
  want("ZRANGE", await client.zRange("z", 0, -1), ["b", "a"]);
  const all = [{ value: "b", score: 2.5 }, { value: "a", score: 3 }];
  want("ZRANGE WITHSCORES", await client.zRangeWithScores("z", 0, -1), all);
  want("ZRANGEBYSCORE", await client.zRangeByScore("z", "(2.5", "+inf"), ["a"]);
  want("ZRANK", await client.zRank("z", "a"), 1);
  want("ZPOPMIN", await client.zPopMin("z"), { value: "b", score: 2.5 });
  want("BZPOPMAX", await client.bzPopMax("z", 1), { key: "z", value: "a", score: 3 });
}

async function keys(client) {
  want("DBSIZE before", await client.flushAll().then(() => client.dbSize()), 0);
  const names = Array.from({ length: 200 }, (_, i) => `k${i}`);
  want("MSET", await client.mSet(names.map((name) => [name, "v"])), "OK");
  const found = [];
  for await (const some of client.scanIterator({ MATCH: "k*", COUNT: 50 })) found.push(...some);
  want("SCAN", [...new Set(found)].sort(), names.sort());
  want("TYPE", await client.type("k1"), "string");
  want("EXISTS", await client.exists(["k1", "none"]), 1);
  want("PEXPIRE", await client.pExpire("k1", 1), 1);
  await new Promise((resolve) => setTimeout(resolve, 20));
  want("GET of what has expired", await client.get("k1"), null);
  want("DEL", await client.del(["k2", "k3"]), 2);
}

async function publish_and_subscribe(client) {
  const ear = client.duplicate();
  await ear.connect();
  const direct = hearing(1);
  const matched = hearing(1);
  await ear.subscribe("news.today", direct.listen);
  await ear.pSubscribe("news.*", matched.listen);
  want("PUBLISH", await client.publish("news.today", "rain"), 2);
  want("message", await direct.all, [["rain", "news.today"]]);
  want("pmessage", await matched.all, [["rain", "news.today"]]);
  await ear.unsubscribe("news.today");
  await ear.pUnsubscribe("news.*");
  want("PUBLISH to nobody", await client.publish("news.today", "sun"), 0);
  want("GET afterwards", await ear.get("none"), null);
  ear.destroy();
}

async function transactions(client) {
  const done = await client.multi().set("m", "1").incr("m").lPush("ml", "x").exec();
  want("MULTI", done, ["OK", 2, 1]);
  const watching = client.duplicate();
  await watching.connect();
  await watching.watch("m");
  await client.set("m", "other");
  const failed = await watching.multi().set("m", "mine").exec().then(
    () => "nothing", (error) => error);
  wantTrue("EXEC after a change", failed instanceof WatchError, failed);
  want("GET after it", await client.get("m"), "other");
  watching.destroy();
  const counts = Array.from({ length: 1000 }, () => client.incr("n"));
  const wanted = Array.from({ length: 1000 }, (_, i) => i + 1);
  want("a pipeline", await Promise.all(counts), wanted);
}

run("node-redis", async (host, port) => {
  for (const options of [{}, { RESP: 3 }]) {
    const client = createClient({ socket: { host, port }, ...options });
    client.on("error", (error) => { throw error; });
    await client.connect();
    want("FLUSHALL", await client.flushAll(), "OK");
    await strings(client);
    await lists(client);
    await sets_and_hashes(client);
    await sorted_sets(client);
    await keys(client);
    await publish_and_subscribe(client);
    await transactions(client);
    await client.close();
  }
});
