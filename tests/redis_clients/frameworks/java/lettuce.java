// Lettuce against a cache, with its defaults (RESP3): its synchronous, asynchronous and reactive
// interfaces on shared connections, messages, and its client-side cache.
import io.lettuce.core.Consumer;
import io.lettuce.core.KeyValue;
import io.lettuce.core.LettuceFutures;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanIterator;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.TrackingArgs;
import io.lettuce.core.XReadArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.support.caching.CacheAccessor;
import io.lettuce.core.support.caching.ClientSideCaching;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import reactor.core.publisher.Flux;

class Round {
  static final int PATIENCE_S = 30;

  static void want(String what, Object got, Object wanted) {
    if (Objects.equals(got, wanted)) return;
    throw new IllegalStateException(what + ": got " + got + ", wanted " + wanted);
  }

  static void eventually(String what, Callable<Object> read, Object wanted) throws Exception {
    final long limit = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_S);
    Object got = read.call();
    while (!Objects.equals(got, wanted) && System.nanoTime() < limit) {
      Thread.sleep(20);
      got = read.call();
    }
    want(what, got, wanted);
  }

  static <T> T within(RedisFuture<T> future) throws Exception {
    return future.get(PATIENCE_S, TimeUnit.SECONDS);
  }

  static void runSynchronous(RedisClient client) throws Exception {
    try (var connection = client.connect()) {
      final var commands = connection.sync();
      want("SET", commands.set("text", "1", SetArgs.Builder.ex(100)), "OK");
      want("SET NX of a key that is there", commands.set("text", "2", SetArgs.Builder.nx()), null);
      want("INCRBY", commands.incrby("text", 41), 42L);
      want("MGET", commands.mget("text", "none"),
          List.of(KeyValue.just("text", "42"), KeyValue.empty("none")));
      want("HSET", commands.hset("hash", Map.of("a", "1", "b", "2")), 2L);
      want("HGETALL", commands.hgetall("hash"), Map.of("a", "1", "b", "2"));
      want("ZADD", commands.zadd("scores", 2.5, "b", 1.0, "a"), 2L);
      want("ZRANGE", commands.zrange("scores", 0, -1), List.of("a", "b"));
      want("EVAL", commands.eval("return {KEYS[1], ARGV[1]}", ScriptOutputType.MULTI,
          new String[] {"key"}, "argument"), List.of("key", "argument"));
      try {
        throw new IllegalStateException("INCR of a hash: " + commands.incr("hash"));
      } catch (RedisCommandExecutionException failed) {
        want("INCR of a hash", failed.getMessage(),
            "WRONGTYPE Operation against a key holding the wrong kind of value");
      }
      final var fields = new ArrayList<String>();
      for (int number = 0; number < 500; ++number) commands.sadd("set", "member" + number);
      ScanIterator.sscan(commands, "set", ScanArgs.Builder.limit(20)).forEachRemaining(fields::add);
      want("SSCAN", fields.stream().distinct().count(), 500L);
    }
  }

  static void runAsynchronous(RedisClient client) throws Exception {
    try (var connection = client.connect(); var waiting = client.connect()) {
      final var commands = connection.async();
      connection.setAutoFlushCommands(false);
      final var counts = new ArrayList<RedisFuture<Long>>();
      for (int number = 0; number < 1000; ++number) counts.add(commands.incr("count"));
      connection.flushCommands();
      want("a pipeline's end", LettuceFutures.awaitAll(Duration.ofSeconds(PATIENCE_S),
          counts.toArray(new RedisFuture<?>[0])), true);
      for (int number = 0; number < 1000; ++number) {
        want("a pipeline's reply", counts.get(number).get(), number + 1L);
      }
      connection.setAutoFlushCommands(true);
      final var popped = waiting.async().blpop(PATIENCE_S, "queue");
      want("RPUSH for who waits", within(commands.rpush("queue", "job")), 1L);
      want("BLPOP", within(popped), KeyValue.just("queue", "job"));
      commands.multi();
      final var inside = commands.set("inside", "1");
      commands.get("inside");
      want("EXEC", within(commands.exec()).stream().toList(), List.of("OK", "1"));
      want("a future inside a transaction", within(inside), "OK");
    }
  }

  static void runReactive(RedisClient client) {
    try (var connection = client.connect()) {
      final var commands = connection.reactive();
      final var numbers = Flux.range(0, 200)
          .flatMap(number -> commands.set("reactive" + number, "" + number))
          .thenMany(Flux.range(0, 200))
          .flatMapSequential(number -> commands.get("reactive" + number))
          .collectList().block(Duration.ofSeconds(PATIENCE_S));
      want("reactive replies", numbers, IntStream.range(0, 200).mapToObj(n -> "" + n).toList());
    }
  }

  static void runMessages(RedisClient client) throws Exception {
    final var messages = new LinkedBlockingQueue<String>();
    try (var receiver = client.connectPubSub(); var sender = client.connect()) {
      receiver.addListener(new RedisPubSubAdapter<String, String>() {
        @Override public void message(String channel, String text) {
          messages.add(channel + ": " + text);
        }

        @Override public void message(String pattern, String channel, String text) {
          messages.add(pattern + ", " + channel + ": " + text);
        }
      });
      receiver.sync().subscribe("news");
      receiver.sync().psubscribe("other.*");
      want("PUBLISH", sender.sync().publish("news", "hello"), 1L);
      want("a message", messages.poll(PATIENCE_S, TimeUnit.SECONDS), "news: hello");
      want("PUBLISH by pattern", sender.sync().publish("other.one", "hi"), 1L);
      want("a pattern's message", messages.poll(PATIENCE_S, TimeUnit.SECONDS),
          "other.*, other.one: hi");
      final var commands = sender.sync();
      commands.xadd("stream", Map.of("field", "value"));
      commands.xgroupCreate(XReadArgs.StreamOffset.from("stream", "0"), "group");
      final var read = commands.xreadgroup(Consumer.from("group", "one"),
          XReadArgs.StreamOffset.lastConsumed("stream"));
      want("XREADGROUP", read.get(0).getBody(), Map.of("field", "value"));
      want("XPENDING", commands.xpending("stream", "group").getCount(), 1L);
      want("XACK", commands.xack("stream", "group", read.get(0).getId()), 1L);
    }
  }

  // The server reports the change of a key that the client keeps a copy of.
  static void runClientSideCache(RedisClient client) throws Exception {
    try (StatefulRedisConnection<String, String> connection = client.connect();
         var other = client.connect()) {
      final var copies = new ConcurrentHashMap<String, String>();
      final var cache = ClientSideCaching.enable(CacheAccessor.forMap(copies), connection,
          TrackingArgs.Builder.enabled());
      other.sync().set("cached", "1");
      want("a value for the copy", cache.get("cached"), "1");
      want("the copies", copies, Map.of("cached", "1"));
      other.sync().set("cached", "2");
      eventually("the copies after a change", () -> copies, Map.of());
      want("the value after a change", cache.get("cached"), "2");
    }
  }

  interface Part {
    void run(RedisClient client) throws Exception;
  }

  public static void main(String[] arguments) {
    final var client = RedisClient.create(
        RedisURI.create(arguments[0], Integer.parseInt(arguments[1])));
    final List<Part> parts = List.of(Round::runSynchronous, Round::runAsynchronous,
        Round::runReactive, Round::runMessages, Round::runClientSideCache);
    try {
      for (final var part : parts) {
        part.run(client);
        System.out.println("part " + parts.indexOf(part) + " done");
      }
      client.shutdown();
    } catch (Exception failed) {
      System.err.println("Lettuce: " + failed);
      failed.printStackTrace();
      System.exit(1);
    }
    System.exit(0);
  }
}
