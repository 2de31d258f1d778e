// ioredis against a cache, with its defaults: among them the INFO that says whether it is ready.
import Redis from "ioredis";
import { failureOf, hearing, run, want, wantTrue } from "./wanted.mjs";

async function strings(client) {
  want("SET EX", await client.set("s", "1", "EX", 100), "OK");
  want("GET", await client.get("s"), "1");
  const ttl = await client.ttl("s");
  wantTrue("TTL", ttl > 0 && ttl <= 100, ttl);
  want("SET NX of a key that is there", await client.set("s", "2", "NX"), null);
  want("INCRBY", await client.incrby("s", 41), 42);
  want("MGET", await client.mget("s", "none"), ["42", null]);
  want("GET of bytes", await client.getBuffer("s"), Buffer.from("42"));
  const bytes = Buffer.from([0, 255, 13, 10, 128]);
  want("SET of bytes", await client.set("bytes", bytes), "OK");
  want("GET of any bytes", await client.getBuffer("bytes"), bytes);
  want("SETBIT", await client.setbit("b", 7, 1), 0);
  want("BITCOUNT", await client.bitcount("b"), 1);
  want("BITOP", await client.bitop("NOT", "nb", "b"), 1);
  want("BITFIELD", await client.bitfield("bf", "INCRBY", "u8", 0, 200), [200]);
  const refused = await failureOf("LPUSH to a string", client.lpush("s", "x"));
  const wrong = "WRONGTYPE Operation against a key holding the wrong kind of value";
  want("LPUSH to a string", refused, wrong);
}

async function lists(client) {
  want("RPUSH", await client.rpush("l", "a", "b", "c"), 3);
  want("LRANGE", await client.lrange("l", 0, -1), ["a", "b", "c"]);
  want("LPOP", await client.lpop("l"), "a");
  want("LINSERT", await client.linsert("l", "BEFORE", "c", "x"), 3);
  want("LREM", await client.lrem("l", 0, "x"), 1);
  const waiting = client.duplicate();
  const popped = waiting.blpop("queue", 20);
  want("RPUSH for who waits", await client.rpush("queue", "job"), 1);
  want("BLPOP", await popped, ["queue", "job"]);
  want("BLPOP in vain", await waiting.blpop("queue", 0.05), null);
  waiting.disconnect();
}

async function sets_and_hashes(client) {
  want("SADD", await client.sadd("t", "x", "y"), 2);
  want("SMEMBERS", (await client.smembers("t")).sort(), ["x", "y"]);
  want("SMISMEMBER", await client.smismember("t", "x", "no"), [1, 0]);
  want("HSET", await client.hset("h", { a: "1", b: "2" }), 2);
  want("HGETALL", await client.hgetall("h"), { a: "1", b: "2" });
  want("HINCRBYFLOAT", await client.hincrbyfloat("h", "a", 0.5), "1.5");
  want("HKEYS", (await client.hkeys("h")).sort(), ["a", "b"]);
}

async function sorted_sets(client) {
  want("ZADD", await client.zadd("z", 1, "a", 2.5, "b"), 2);
  want("ZSCORE", await client.zscore("z", "b"), "2.5");
  want("ZINCRBY", await client.zincrby("z", 2, "a"), "3");
  want("ZRANGE", await client.zrange("z", 0, -1, "WITHSCORES"), ["b", "2.5", "a", "3"]);
  want("ZRANGEBYSCORE", await client.zrangebyscore("z", "(2.5", "+inf"), ["a"]);
  want("ZREVRANK", await client.zrevrank("z", "b"), 1);
  want("ZPOPMIN", await client.zpopmin("z"), ["b", "2.5"]);
}

async function keys(client) {
  await client.flushall();
  const names = Array.from({ length: 200 }, (_, i) => `k${i}`);
  want("MSET", await client.mset(Object.fromEntries(names.map((name) => [name, "v"]))), "OK");
  const found = new Set();
  for await (const some of client.scanStream({ match: "k*", count: 50 })) {
    for (const name of some) found.add(name);
  }
  want("SCAN", [...found].sort(), names.sort());
  want("KEYS", (await client.keys("k19?")).length, 10);
  want("RENAME", await client.rename("k1", "moved"), "OK");
  want("EXISTS", await client.exists("k1", "moved"), 1);
  want("UNLINK", await client.unlink("moved"), 1);
}

async function publish_and_subscribe(client) {
  const ear = client.duplicate();
  const direct = hearing(1);
  const matched = hearing(1);
  ear.on("message", direct.listen);
  ear.on("pmessage", matched.listen);
  want("SUBSCRIBE", await ear.subscribe("news.today"), 1);
  want("PSUBSCRIBE", await ear.psubscribe("news.*"), 2);
  want("PUBLISH", await client.publish("news.today", "rain"), 2);
  want("message", await direct.all, [["news.today", "rain"]]);
  want("pmessage", await matched.all, [["news.*", "news.today", "rain"]]);
  want("UNSUBSCRIBE", await ear.unsubscribe("news.today"), 1);
  want("PUNSUBSCRIBE", await ear.punsubscribe("news.*"), 0);
  want("PING afterwards", await ear.ping(), "PONG");
  ear.disconnect();
}

async function transactions(client) {
  const done = await client.multi().set("m", "1").incr("m").lpush("m", "x").exec();
  want("MULTI", done.slice(0, 2), [[null, "OK"], [null, 2]]);
  wantTrue("an error within EXEC", done[2][0].message.startsWith("WRONGTYPE"), done[2]);
  const watching = client.duplicate();
  await watching.watch("m");
  await client.set("m", "other");
  want("EXEC after a change", await watching.multi().set("m", "mine").exec(), null);
  want("GET after it", await client.get("m"), "other");
  watching.disconnect();
  const pipeline = client.pipeline();
  for (let i = 0; i < 1000; i++) pipeline.incr("n");
  const wanted = Array.from({ length: 1000 }, (_, i) => [null, i + 1]);
  want("a pipeline", await pipeline.exec(), wanted);
}

run("ioredis", async (host, port) => {
  const client = new Redis({ host, port });
  client.on("error", (error) => { throw error; });
  want("FLUSHALL", await client.flushall(), "OK");
  await strings(client);
  await lists(client);
  await sets_and_hashes(client);
  await sorted_sets(client);
  await keys(client);
  await publish_and_subscribe(client);
  await transactions(client);
  want("QUIT", await client.quit(), "OK");
});
