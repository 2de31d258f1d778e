// Redisson against a cache: two of its clients share locks, queues, maps, topics and services.
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.redisson.Redisson;
import org.redisson.api.BatchResult;
import org.redisson.api.RBatch;
import org.redisson.api.RedissonClient;
import org.redisson.api.TransactionOptions;
import org.redisson.config.Config;

class Participants {
  static final int PATIENCE_S = 30;

  public interface Calculator {
    int add(int first, int second);
  }

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

  static <T> CompletableFuture<T> background(Callable<T> act) {
    return CompletableFuture.supplyAsync(() -> {
      try {
        return act.call();
      } catch (Exception failed) {
        throw new IllegalStateException(failed);
      }
    });
  }

  static <T> T within(CompletableFuture<T> future) throws Exception {
    return future.get(PATIENCE_S, TimeUnit.SECONDS);
  }

  static void runLock(RedissonClient first, RedissonClient second) throws Exception {
    final var lock = first.getLock("lock");
    final var other = second.getLock("lock");
    lock.lock();
    lock.lock();
    want("holds of a lock", lock.getHoldCount(), 2);
    want("a lock that is taken", other.tryLock(50, TimeUnit.MILLISECONDS), false);
    final long life = lock.remainTimeToLive();
    want("a lock's time of life", life > 0 && life <= 30000, true);
    final var wait = background(() -> {
      other.lock(1, TimeUnit.SECONDS);
      return other.isHeldByCurrentThread();
    });
    lock.unlock();
    want("a lock that is held still", wait.isDone(), false);
    lock.unlock();
    want("a lock that is handed over", within(wait), true);
    want("a lock after another's lease", lock.tryLock(PATIENCE_S, TimeUnit.SECONDS), true);
    want("a forced unlock", other.forceUnlock(), true);
    want("a lock after that", lock.isLocked(), false);
  }

  // Eight threads of two clients read and write one number, which only the lock makes exact.
  static void runContention(RedissonClient first, RedissonClient second) throws Exception {
    final var threads = new ArrayList<CompletableFuture<Void>>();
    final var pool = Executors.newFixedThreadPool(8);
    for (int thread = 0; thread < 8; ++thread) {
      final var client = thread % 2 == 0 ? first : second;
      threads.add(CompletableFuture.runAsync(() -> {
        final var lock = client.getFairLock("fair lock");
        final var number = client.<Integer>getBucket("number");
        for (int turn = 0; turn < 5; ++turn) {
          lock.lock();
          number.set(number.isExists() ? number.get() + 1 : 1);
          lock.unlock();
        }
      }, pool));
    }
    for (final var thread : threads) within(thread);
    pool.shutdown();
    want("a number under a lock", first.getBucket("number").get(), 40);
  }

  static void runSynchronizers(RedissonClient first, RedissonClient second) throws Exception {
    final var readWrite = first.getReadWriteLock("read and write");
    readWrite.readLock().lock();
    final var otherOne = second.getReadWriteLock("read and write");
    want("a second reader", otherOne.readLock().tryLock(), true);
    want("a writer beside readers", otherOne.writeLock().tryLock(), false);
    otherOne.readLock().unlock();
    readWrite.readLock().unlock();
    want("a writer alone", otherOne.writeLock().tryLock(), true);
    otherOne.writeLock().unlock();
    final var semaphore = first.getSemaphore("semaphore");
    want("permits", semaphore.trySetPermits(2), true);
    semaphore.acquire(2);
    want("a permit in vain", second.getSemaphore("semaphore").tryAcquire(), false);
    final var permit = background(
        () -> second.getSemaphore("semaphore").tryAcquire(Duration.ofSeconds(PATIENCE_S)));
    semaphore.release();
    want("a permit that was released", within(permit), true);
    final var latch = first.getCountDownLatch("latch");
    want("a latch", latch.trySetCount(2), true);
    second.getCountDownLatch("latch").countDown();
    want("a latch that waits", latch.await(50, TimeUnit.MILLISECONDS), false);
    second.getCountDownLatch("latch").countDown();
    want("a latch that opens", latch.await(PATIENCE_S, TimeUnit.SECONDS), true);
    final var limiter = first.getRateLimiter("limiter");
    want("a rate", limiter.trySetRate(org.redisson.api.RateType.OVERALL, 3,
        Duration.ofSeconds(60)), true);
    want("what a rate allows", IntStream.range(0, 5).filter(
        turn -> (turn % 2 == 0 ? first : second).getRateLimiter("limiter").tryAcquire()).count(),
        3L);
  }

  static void runMaps(RedissonClient first, RedissonClient second) throws Exception {
    final var map = first.<String, List<Integer>>getMap("map");
    want("a new entry", map.put("a", List.of(1, 2)), null);
    want("an entry", second.getMap("map").get("a"), List.of(1, 2));
    want("an absent entry", map.putIfAbsent("a", List.of()), List.of(1, 2));
    want("a replaced entry", map.replace("a", List.of(1, 2), List.of(3)), true);
    want("a merged entry", second.<String, List<Integer>>getMap("map").merge("a", List.of(4),
        (old, fresh) -> fresh), List.of(4));
    final var cache = first.<String, Integer>getMapCache("cache");
    cache.put("short", 1, 500, TimeUnit.MILLISECONDS);
    cache.put("long", 2, 500, TimeUnit.SECONDS);
    eventually("an entry that expires", () -> second.getMapCache("cache").get("short"), null);
    want("the other entry", second.getMapCache("cache").readAllMap(), Map.of("long", 2));
    final var local = org.redisson.api.options.LocalCachedMapOptions.<String, Integer>name("local");
    final var near = first.getLocalCachedMap(local);
    final var far = second.getLocalCachedMap(local);
    near.put("key", 1);
    want("an entry for the other's copy", far.get("key"), 1);
    near.put("key", 2);
    eventually("the other's copy after a change", () -> far.get("key"), 2);
  }

  static void runQueues(RedissonClient first, RedissonClient second) throws Exception {
    final var source = first.<String>getBlockingQueue("queue");
    final var taken = background(
        () -> second.<String>getBlockingQueue("queue").poll(PATIENCE_S, TimeUnit.SECONDS));
    source.add("job");
    want("a queue's job", within(taken), "job");
    final var delayed = first.getDelayedQueue(source);
    delayed.offer("late", 2, TimeUnit.SECONDS);
    want("a delayed job before its time", source.size(), 0);
    want("a delayed job", source.poll(PATIENCE_S, TimeUnit.SECONDS), "late");
    delayed.destroy();
    final var priority = first.<Integer>getPriorityQueue("priority");
    priority.addAll(List.of(3, 1, 2));
    want("a queue by priority", List.of(priority.poll(), priority.poll(), priority.poll()),
        List.of(1, 2, 3));
    final var scores = first.<String>getScoredSortedSet("scores");
    scores.addAll(Map.of("a", 3.0, "b", 1.0));
    want("a sorted set", second.getScoredSortedSet("scores").readAll(), List.of("b", "a"));
  }

  static void runTopics(RedissonClient first, RedissonClient second) throws Exception {
    final var messages = new LinkedBlockingQueue<String>();
    second.getTopic("news").addListener(String.class, (channel, text) -> messages.add(text));
    want("a topic's receivers", first.getTopic("news").publish("hello"), 1L);
    want("a topic's message", messages.poll(PATIENCE_S, TimeUnit.SECONDS), "hello");
    second.getPatternTopic("new?").addListener(String.class,
        (pattern, channel, text) -> messages.add(pattern + " " + channel + " " + text));
    second.getTopic("news").removeAllListeners();
    first.getTopic("news").publish("again");
    want("a pattern's message", messages.poll(PATIENCE_S, TimeUnit.SECONDS), "new? news again");
    second.getReliableTopic("reliable").addListener(String.class,
        (channel, text) -> messages.add(text));
    want("a reliable topic's receivers", first.getReliableTopic("reliable").publish("sure"), 1L);
    want("a reliable topic's message", messages.poll(PATIENCE_S, TimeUnit.SECONDS), "sure");
  }

  static void runServices(RedissonClient first, RedissonClient second) throws Exception {
    first.getRemoteService("service").register(Calculator.class, (a, b) -> a + b, 2);
    final var calculator = second.getRemoteService("service").get(Calculator.class);
    for (int number = 0; number < 10; ++number) {
      want("a remote call", calculator.add(number, 1), number + 1);
    }
    first.getRemoteService("service").deregister(Calculator.class);
    final RBatch batch = first.createBatch();
    batch.getAtomicLong("counter").addAndGetAsync(5);
    batch.getBucket("text").setAsync("x");
    batch.getAtomicLong("counter").incrementAndGetAsync();
    final BatchResult<?> results = batch.execute();
    want("a batch", results.getResponses().get(2), 6L);
    final var transaction = first.createTransaction(TransactionOptions.defaults());
    transaction.<String, Integer>getMap("accounts").put("a", 10);
    want("a map before the commit", second.getMap("accounts").get("a"), null);
    transaction.commit();
    want("a map after the commit", second.getMap("accounts").get("a"), 10);
    final var filter = first.<String>getBloomFilter("filter");
    want("a Bloom filter", filter.tryInit(1000, 0.01), true);
    filter.add("here");
    want("what a Bloom filter has", second.getBloomFilter("filter").contains("here"), true);
    want("what a Bloom filter lacks", second.getBloomFilter("filter").contains("none"), false);
  }

  interface Part {
    void run(RedissonClient first, RedissonClient second) throws Exception;
  }

  static void runAll(RedissonClient first, RedissonClient second) throws Exception {
    final List<Part> parts = List.of(Participants::runLock, Participants::runContention,
        Participants::runSynchronizers, Participants::runMaps, Participants::runQueues,
        Participants::runTopics, Participants::runServices);
    for (final var part : parts) {
      part.run(first, second);
      System.out.println("part " + parts.indexOf(part) + " done");
    }
    first.shutdown(0, 2, TimeUnit.SECONDS);
    second.shutdown(0, 2, TimeUnit.SECONDS);
  }

  public static void main(String[] arguments) {
    final var config = new Config();
    config.useSingleServer().setAddress("redis://" + arguments[0] + ":" + arguments[1]);
    try {
      runAll(Redisson.create(config), Redisson.create(new Config(config)));
    } catch (Exception failed) {
      System.err.println("Redisson: " + failed);
      failed.printStackTrace();
      System.exit(1);
    }
    System.exit(0);
  }
}
