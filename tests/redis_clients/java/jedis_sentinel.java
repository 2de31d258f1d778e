// Jedis's two clients of Redis Sentinel: each writes all the time, and reports each write that a
// follower has acknowledged, as a line "key value". The end of the input ends the program.
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisSentinelPool;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.RedisSentinelClient;
import redis.clients.jedis.Response;
import redis.clients.jedis.exceptions.JedisException;

class Writers {
  static final int WAIT_MS = 2000;
  static final long PAUSE_NS = 5_000_000;
  static final AtomicBoolean isOver = new AtomicBoolean();

  // A client, which returns how many followers have acknowledged a write.
  interface Client {
    long write(String key, String value);
  }

  // WAIT counts for the writes of its own connection, so both go through the same one.
  static long write(JedisSentinelPool pool, String key, String value) {
    try (Jedis connection = pool.getResource()) {
      connection.set(key, value);
      return connection.waitReplicas(1, WAIT_MS);
    }
  }

  static long write(RedisSentinelClient client, String key, String value) {
    try (Pipeline pipeline = client.pipelined()) {
      final Response<String> written = pipeline.set(key, value);
      final Response<Long> followers = pipeline.waitReplicas(1, WAIT_MS);
      pipeline.sync();
      written.get();
      return followers.get();
    }
  }

  static void writeAllTheTime(String name, Client client) {
    final Map<String, Integer> failures = new TreeMap<>();
    for (int number = 0; !isOver.get(); ++number) {
      final String key = name + ":" + number;
      final String value = Long.toString(System.nanoTime());
      try {
        if (client.write(key, value) >= 1) System.out.println(key + " " + value);
      } catch (JedisException failure) {
        failures.merge(failure.getClass().getSimpleName(), 1, Integer::sum);
      }
      LockSupport.parkNanos(PAUSE_NS);
    }
    System.err.println(name + ": failures " + failures);
  }

  static void writeWithBoth(String name, Set<String> sentinels) throws Exception {
    final Set<HostAndPort> addresses =
        sentinels.stream().map(HostAndPort::from).collect(Collectors.toSet());
    try (JedisSentinelPool pool = new JedisSentinelPool(name, sentinels);
        RedisSentinelClient client =
            RedisSentinelClient.builder().masterName(name).sentinels(addresses).build()) {
      final List<Thread> threads = List.of(
          new Thread(() -> writeAllTheTime("pool", (key, value) -> write(pool, key, value))),
          new Thread(() -> writeAllTheTime("client", (key, value) -> write(client, key, value))));
      threads.forEach(Thread::start);
      awaitEnd();
      isOver.set(true);
      for (Thread thread : threads) thread.join();
    }
  }

  static void awaitEnd() throws IOException {
    while (System.in.read() != -1) {
    }
  }

  public static void main(String[] arguments) {
    if (arguments.length < 2) {
      System.err.println("usage: jedis_sentinel.java NAME HOST:PORT...");
      System.exit(2);
    }
    try {
      writeWithBoth(arguments[0], Stream.of(arguments).skip(1).collect(Collectors.toSet()));
    } catch (Exception failure) {
      System.err.println("Jedis: " + failure);
      System.exit(1);
    }
    System.exit(0);
  }
}
