// Jedis against a cache, with its defaults: RESP3.
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import redis.clients.jedis.AbstractTransaction;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisPool;
import redis.clients.jedis.JedisPoolConfig;
import redis.clients.jedis.JedisPubSub;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.Response;
import redis.clients.jedis.args.BitOP;
import redis.clients.jedis.args.ClientType;
import redis.clients.jedis.args.ListDirection;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.params.ClientKillParams;
import redis.clients.jedis.params.ScanParams;
import redis.clients.jedis.params.SetParams;
import redis.clients.jedis.resps.Tuple;
import redis.clients.jedis.util.KeyValue;

class Round {
  static final int PATIENCE_S = 20;

  static void want(String what, Object got, Object wanted) {
    if (Objects.equals(got, wanted)) return;
    throw new IllegalStateException(what + ": got " + got + ", wanted " + wanted);
  }

  static void wantFailure(String what, String text, Supplier<Object> act) {
    try {
      throw new IllegalStateException(what + ": got " + act.get() + ", wanted an error");
    } catch (JedisDataException failed) {
      want(what, failed.getMessage(), text);
    }
  }

  static void strings(RedisClient client) {
    want("SET EX", client.set("s", "1", SetParams.setParams().ex(100)), "OK");
    want("GET", client.get("s"), "1");
    final long ttl = client.ttl("s");
    want("TTL", ttl > 0 && ttl <= 100, true);
    want("SET NX of a key that is there", client.set("s", "2", SetParams.setParams().nx()), null);
    want("INCRBY", client.incrBy("s", 41), 42L);
    want("MGET", client.mget("s", "none"), Arrays.asList("42", null));
    want("SETBIT", client.setbit("b", 7, true), false);
    want("BITCOUNT", client.bitcount("b"), 1L);
    want("BITOP", client.bitop(BitOP.NOT, "nb", "b"), 1L);
    want("BITPOS", client.bitpos("nb", false), 7L);
    wantFailure("INCR of a text", "ERR value is not an integer or out of range",
        () -> client.incr("nb"));
  }

  static void lists(RedisClient client) throws Exception {
    want("RPUSH", client.rpush("l", "a", "b", "c"), 3L);
    want("LRANGE", client.lrange("l", 0, -1), List.of("a", "b", "c"));
    want("LPOP", client.lpop("l"), "a");
    want("LMOVE", client.lmove("l", "other", ListDirection.RIGHT, ListDirection.LEFT), "c");
    final var popped = CompletableFuture.supplyAsync(() -> client.blpop(20.0, "queue"));
    want("RPUSH for who waits", client.rpush("queue", "job"), 1L);
    want("BLPOP", popped.get(PATIENCE_S, TimeUnit.SECONDS), KeyValue.of("queue", "job"));
    want("BLPOP in vain", client.blpop(0.05, "queue"), null);
  }

  static void setsAndHashes(RedisClient client) {
    want("SADD", client.sadd("t", "x", "y"), 2L);
    want("SMEMBERS", client.smembers("t"), Set.of("x", "y"));
    want("SISMEMBER", client.sismember("t", "x"), true);
    want("SUNION", client.sunion("t", "none"), Set.of("x", "y"));
    want("HSET", client.hset("h", Map.of("a", "1", "b", "2")), 2L);
    want("HGETALL", client.hgetAll("h"), Map.of("a", "1", "b", "2"));
    want("HINCRBY", client.hincrBy("h", "a", 4), 5L);
    want("HMGET", client.hmget("h", "a", "c"), Arrays.asList("5", null));
  }

  static void sortedSets(RedisClient client) {
    want("ZADD", client.zadd("z", Map.of("a", 1.0, "b", 2.5)), 2L);
    want("ZSCORE", client.zscore("z", "b"), 2.5);
    want("ZINCRBY", client.zincrby("z", 2, "a"), 3.0);
    want("ZRANGE WITHSCORES", client.zrangeWithScores("z", 0, -1),
        List.of(new Tuple("b", 2.5), new Tuple("a", 3.0)));
    want("ZRANGEBYSCORE", client.zrangeByScore("z", "(2.5", "+inf"), List.of("a"));
    want("ZRANK", client.zrank("z", "a"), 1L);
    want("ZPOPMIN", client.zpopmin("z"), new Tuple("b", 2.5));
    want("BZPOPMAX", client.bzpopmax(1, "z"), KeyValue.of("z", new Tuple("a", 3.0)));
  }

  static void keys(RedisClient client) throws Exception {
    want("FLUSHALL", client.flushAll(), "OK");
    final Set<String> names = new HashSet<>();
    for (int i = 0; i < 200; ++i) {
      names.add("k" + i);
      want("SET", client.set("k" + i, "v"), "OK");
    }
    final Set<String> found = new HashSet<>();
    String cursor = ScanParams.SCAN_POINTER_START;
    do {
      final var part = client.scan(cursor, new ScanParams().match("k*").count(50));
      found.addAll(part.getResult());
      cursor = part.getCursor();
    } while (!cursor.equals(ScanParams.SCAN_POINTER_START));
    want("SCAN", found, names);
    want("TYPE", client.type("k1"), "string");
    want("EXISTS", client.exists("k1", "none"), 1L);
    want("PEXPIRE", client.pexpire("k1", 1), 1L);
    Thread.sleep(20);
    want("GET of what has expired", client.get("k1"), null);
    want("DEL", client.del("k2", "k3"), 2L);
  }

  static void publishAndSubscribe(RedisClient client) throws Exception {
    final var heard = new LinkedBlockingQueue<String>();
    final var ear = new JedisPubSub() {
      @Override public void onSubscribe(String channel, int count) {
        heard.add("subscribed " + count);
      }
      @Override public void onPSubscribe(String pattern, int count) {
        heard.add("psubscribed " + count);
      }
      @Override public void onMessage(String channel, String text) {
        heard.add(channel + ": " + text);
      }
      @Override public void onPMessage(String pattern, String channel, String text) {
        heard.add(pattern + ": " + channel + ": " + text);
      }
    };
    final var listening = CompletableFuture.runAsync(() -> client.subscribe(ear, "news.today"));
    want("SUBSCRIBE", heard.poll(PATIENCE_S, TimeUnit.SECONDS), "subscribed 1");
    ear.psubscribe("news.*");
    want("PSUBSCRIBE", heard.poll(PATIENCE_S, TimeUnit.SECONDS), "psubscribed 2");
    want("PUBLISH", client.publish("news.today", "rain"), 2L);
    want("message", heard.poll(PATIENCE_S, TimeUnit.SECONDS), "news.today: rain");
    want("pmessage", heard.poll(PATIENCE_S, TimeUnit.SECONDS), "news.*: news.today: rain");
    ear.unsubscribe();
    ear.punsubscribe();
    listening.get(PATIENCE_S, TimeUnit.SECONDS);
    want("PUBLISH to nobody", client.publish("news.today", "sun"), 0L);
  }

  static void transactions(RedisClient client) {
    try (AbstractTransaction change = client.multi()) {
      change.set("m", "1");
      change.incr("m");
      want("MULTI", change.exec(), List.of("OK", 2L));
    }
    try (AbstractTransaction change = client.transaction(false)) {
      want("WATCH", change.watch("m"), "OK");
      want("SET by another", client.set("m", "other"), "OK");
      change.multi();
      change.set("m", "mine");
      want("EXEC after a change", change.exec(), null);
    }
    want("GET after it", client.get("m"), "other");
    try (var pipeline = client.pipelined()) {
      final List<Response<Long>> counts = new ArrayList<>();
      for (int i = 0; i < 1000; ++i) counts.add(pipeline.incr("n"));
      pipeline.sync();
      for (int i = 0; i < 1000; ++i) want("a pipeline", counts.get(i).get(), i + 1L);
    }
  }

  // Sixteen threads share four connections, some of which are killed in between.
  static void pools(String host, int port) throws Exception {
    final var settings = new JedisPoolConfig();
    settings.setMaxTotal(4);
    settings.setTestOnBorrow(true);
    settings.setMaxWait(Duration.ofSeconds(PATIENCE_S));
    try (JedisPool pool = new JedisPool(settings, host, port)) {
      for (int round = 1; round <= 2; ++round) {
        final List<CompletableFuture<Void>> threads = new ArrayList<>();
        for (int i = 0; i < 16; ++i) threads.add(CompletableFuture.runAsync(() -> count(pool)));
        for (var thread : threads) thread.get(PATIENCE_S, TimeUnit.SECONDS);
        try (Jedis jedis = pool.getResource()) {
          want("a pool's work", jedis.get("counted"), String.valueOf(round * 16 * 100));
          final var others = new ClientKillParams().type(ClientType.NORMAL)
              .skipMe(ClientKillParams.SkipMe.YES);
          want("CLIENT KILL of a pool's connections", jedis.clientKill(others) > 0, true);
        }
      }
      want("a pool's connections", pool.getNumActive() + pool.getNumIdle() <= 4, true);
    }
  }

  static void count(JedisPool pool) {
    for (int i = 0; i < 100; ++i) {
      try (Jedis jedis = pool.getResource()) {
        jedis.incr("counted");
      }
    }
  }

  static void talk(String host, int port) throws Exception {
    try (RedisClient client = RedisClient.create(host, port)) {
      want("FLUSHALL", client.flushAll(), "OK");
      strings(client);
      lists(client);
      setsAndHashes(client);
      sortedSets(client);
      keys(client);
      publishAndSubscribe(client);
      transactions(client);
    }
    pools(host, port);
  }

  public static void main(String[] arguments) {
    if (arguments.length != 2) {
      System.err.println("usage: jedis.java HOST PORT");
      System.exit(2);
    }
    try {
      talk(arguments[0], Integer.parseInt(arguments[1]));
    } catch (Exception failed) {
      System.err.println("Jedis: " + failed);
      System.exit(1);
    }
    System.exit(0);
  }
}
