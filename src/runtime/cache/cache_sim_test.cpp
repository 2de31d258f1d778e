// Tests the cache's log in a simulated world, seed by seed: the machine loses its power at any
// point of writing, syncing, rewriting and renaming, the disk is sometimes full, writes are short,
// and syncs fail, after which nothing that they were to make safe can be relied on. Changes
// acknowledged under appendfsync always must exist afterwards, and under everysec those that are
// two seconds old; nothing else may be damaged.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "runtime/cache/cache.hpp"
#include "runtime/testing/sim_stage.hpp"

namespace strata::runtime::cache {
namespace {

using namespace std::chrono_literals;

constexpr std::uint16_t port = 7000;
constexpr std::size_t clients = 3;

/// When a cache makes its log safe, and what may be lost without power.
struct policy {
  std::string appendfsync;
  loop::duration lag;                       ///< of what is safe behind what is acknowledged
  std::chrono::microseconds longest_pause;  ///< between changes of a test
};
const policy always = {.appendfsync = "always", .lag = 0s, .longest_pause = 3ms};
const policy every_second = {.appendfsync = "everysec", .lag = 2s, .longest_pause = 400ms};

/// One life of a machine: from its start to its power failure.
class life {
 public:
  life(std::uint64_t seed, loop::sim_world::disk disk, const policy& policy = always)
      : stage_(seed) {
    stage_.world.set_disk(std::move(disk));
    auto made = make(stage_.given(), {{"listen", {"tcp://127.0.0.1:" + std::to_string(port)}},
                                      {"persistent", "/disk/db.aof"},
                                      {"snapshot", "/disk/dump.rdb"},
                                      {"appendfsync", policy.appendfsync}});
    EXPECT_TRUE(made) << describe(made.error());
    cache_ = std::move(*made);
    const auto started = stage_.await(cache_->start());
    EXPECT_TRUE(started) << "it did not start in time";
    if (started) {
      EXPECT_TRUE(*started) << describe(started->error());
    }
  }
  ~life() { EXPECT_TRUE(stage_.await_done(cache_->stop())) << "it did not stop in time"; }
  life(const life&) = delete;
  life& operator=(const life&) = delete;

  [[nodiscard]] loop::sim_world& world() { return stage_.world; }

  std::unique_ptr<actor> connect() {
    auto made = std::make_unique<actor>(stage_.outside, proto::framing::line);
    made->connect(port);
    EXPECT_TRUE(world().run_until([&] { return made->connected(); }, 10s));
    return made;
  }

  /// Returns the reply, one line.
  std::string ask(actor& actor, const std::string& line) {
    const auto before = actor.received().size();
    actor.send(line);
    EXPECT_TRUE(world().run_until([&] { return actor.received().size() > before; }, 30s)) << line;
    return actor.received().size() > before ? actor.received().back() : "";
  }

 private:
  sim_stage stage_;
  std::unique_ptr<runtime> cache_;
};

std::uint64_t number_in(const std::string& text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// Each client appends 1, 2, 3, … to its own list, until the end.
void push_until_the_end(life& life, std::array<std::uint64_t, clients>& acknowledged,
                        std::array<std::uint64_t, clients>& sent) {
  auto& world = life.world();
  std::vector<std::unique_ptr<actor>> actors;
  for (std::size_t i = 0; i < clients; ++i) actors.push_back(life.connect());
  auto admin = life.connect();
  std::array<std::size_t, clients> received{};
  const auto turns = 5 + world.draw(60);
  for (std::uint64_t turn = 0; turn < turns; ++turn) {
    const auto who = world.draw(clients);
    for (auto left = 1 + world.draw(4); left != 0; --left) {
      actors[who]->send("rpush list" + std::to_string(who) + " " + std::to_string(++sent[who]));
    }
    if (world.chance(0.1)) admin->send("bgrewriteaof");
    if (world.chance(0.05)) admin->send("bgsave");
    if (world.chance(0.05)) world.faults.disk_full = !world.faults.disk_full;
    if (world.chance(0.05)) world.faults.sync_failure = world.chance(0.5) ? 0.2 : 0;
    if (world.chance(0.05)) world.faults.folder_sync_failure = world.chance(0.5) ? 0.5 : 0;
    world.run_for(std::chrono::microseconds(world.draw(3000)));
    for (std::size_t i = 0; i < clients; ++i) {
      for (; received[i] < actors[i]->received().size(); ++received[i]) {
        const auto length = number_in(actors[i]->received()[received[i]]);
        if (length != 0) acknowledged[i] = std::max(acknowledged[i], length);
      }
    }
  }
}

// Checks that nothing was executed twice, or in another order.
void expect_rising(life& life, actor& reader, const std::string& list, std::uint64_t length) {
  if (length == 0) return;
  const auto before = reader.received().size();
  reader.send("lrange " + list + " 0 -1");
  EXPECT_TRUE(
      life.world().run_until([&] { return reader.received().size() >= before + length; }, 10s));
  std::uint64_t last = 0;
  for (auto i = before; i < reader.received().size(); ++i) {
    const auto value = number_in(reader.received()[i]);
    EXPECT_GT(value, last) << list;
    last = value;
  }
}

TEST(cache_log_simulation, what_was_acknowledged_survives_the_loss_of_power) {
  for_each_seed([](std::uint64_t seed) {
    loop::sim_world::disk disk;
    std::array<std::uint64_t, clients> acknowledged{};
    std::array<std::uint64_t, clients> sent{};
    for (std::uint64_t turn = 0; turn < 1 + seed % 2; ++turn) {
      life now(seed * 10 + turn, disk);
      if (testing::Test::HasFailure()) return;
      push_until_the_end(now, acknowledged, sent);
      disk = now.world().disk_after_crash();

      life afterwards(seed * 10 + 5 + turn, disk);
      if (testing::Test::HasFailure()) return;
      auto reader = afterwards.connect();
      for (std::size_t i = 0; i < clients; ++i) {
        const auto list = "list" + std::to_string(i);
        const auto length = number_in(afterwards.ask(*reader, "llen " + list));
        EXPECT_GE(length, acknowledged[i]) << list << " lost what was acknowledged";
        expect_rising(afterwards, *reader, list, length);
        acknowledged[i] = length;
      }
    }
  });
}

/// Draws changes of every type, as lines. A change is one command, a script, or a transaction, so
/// that it must survive whole or not at all.
class change_source {
 public:
  explicit change_source(loop::sim_world& world) : world_(world) {}

  /// Returns a change that differs from those of other numbers.
  std::string draw(std::uint64_t number) {
    const auto text = std::to_string(number);
    switch (world_.draw(12)) {
      case 0: return "multi\r\n" + one(text) + "\r\n" + one(text) + "\r\n" + one(text) + "\r\nexec";
      case 1: return script(text);
      case 2:
        return "function load replace \"#!lua name=lib\\nredis.register_function('version', "
               "function() return " +
               text + " end)\"";
      default: return one(text);
    }
  }

 private:
  std::string key(std::string_view type) {
    return std::string(type) + std::to_string(world_.draw(2));
  }
  std::string small() { return std::to_string(world_.draw(8)); }

  std::string script(const std::string& number) {
    return "eval \"redis.call('rpush', KEYS[1], ARGV[1]) redis.call('incr', KEYS[2]) return "
           "redis.call('xadd', KEYS[3], ARGV[1] .. '-7', 'script', ARGV[1])\" 3 " +
           key("list") + " count " + key("stream") + " " + number;
  }

  std::string one(const std::string& number) {
    switch (world_.draw(6)) {
      case 0: return of_streams(number);
      case 1: return of_groups();
      case 2: return of_keys();
      default: return of_values(number);
    }
  }

  std::string of_values(const std::string& number) {
    switch (world_.draw(16)) {
      case 0: return "set " + key("text") + " " + number;
      case 1: return "append " + key("text") + " " + number;
      case 2: return "rpush " + key("list") + " " + number;
      case 3: return "lpop " + key("list");
      case 4: return "lmove list0 list1 left right";
      case 5: return "hset " + key("hash") + " field" + small() + " " + number;
      case 6: return "hdel " + key("hash") + " field" + small();
      case 7: return "hpexpireat " + key("hash") + " 9000000000000 fields 1 field" + small();
      case 8: return "sadd " + key("set") + " " + small() + " member" + small();
      case 9: return "srem " + key("set") + " " + small();
      case 10: return "zadd " + key("sorted") + " " + number + " member" + small();
      case 11: return "zincrby " + key("sorted") + " 0.25 member" + small();
      case 12: return "zremrangebyrank " + key("sorted") + " 0 0";
      case 13: return "pfadd " + key("log") + " " + number;
      case 14: return "setbit " + key("bits") + " " + number + " 1";
      default: return "geoadd " + key("places") + " 1." + small() + " 2 member" + small();
    }
  }

  std::string of_streams(const std::string& number) {
    switch (world_.draw(5)) {
      case 0: return "xtrim " + key("stream") + " maxlen " + small();
      case 1: return "xdel " + key("stream") + " " + std::to_string(world_.draw(60)) + "-1";
      case 2: return "xsetid " + key("stream") + " " + number + "-9";
      default: return "xadd " + key("stream") + " " + number + "-1 field" + small() + " " + number;
    }
  }

  std::string of_groups() {
    const std::string stream = key("stream") + " group" + small();
    const std::string reader = "consumer" + small();
    switch (world_.draw(8)) {
      case 0: return "xgroup create " + stream + " 0 mkstream";
      case 1: return "xgroup setid " + stream + " 0";
      case 2: return "xgroup delconsumer " + stream + " " + reader;
      case 3: return "xack " + stream + " " + std::to_string(world_.draw(60)) + "-1";
      case 4: return "xautoclaim " + stream + " " + reader + " 0 0 count 3";
      case 5: return "xgroup destroy " + stream;
      default:
        return "xreadgroup group group" + small() + " " + reader + " count 2 streams " +
               key("stream") + " >";
    }
  }

  std::string of_keys() {
    const std::array types{"text", "list", "hash", "set", "sorted", "log", "bits", "stream"};
    const std::string type = types.at(world_.draw(types.size()));
    switch (world_.draw(5)) {
      case 0: return "pexpireat " + key(type) + " 9000000000000";
      case 1: return "persist " + key(type);
      case 2: return "copy " + type + "0 " + type + "1 replace";
      case 3: return "rename " + type + "0 " + type + "1";
      default: return "del " + key(type);
    }
  }

  loop::sim_world& world_;
};

/// Returns what the cache holds: a digest of its keys, and the version of its function.
std::string contents(life& life, actor& reader) {
  return life.ask(reader, "debug digest") + " " + life.ask(reader, "fcall version 0");
}

/// Changes a cache until the power fails, and returns how many changes must be safe. Each is
/// followed by ECHO, whose reply means that the changes before it were acknowledged.
std::size_t change_until_the_end(life& life, std::vector<std::string>& changes,
                                 const policy& policy) {
  auto& world = life.world();
  change_source source(world);
  auto writer = life.connect();
  auto admin = life.connect();
  std::map<loop::time_point, std::size_t> acknowledged{{world.now(), changes.size()}};
  const auto longest = static_cast<std::uint64_t>(policy.longest_pause.count());
  std::size_t received = 0;
  for (auto turns = 5 + world.draw(40); turns != 0; --turns) {
    for (auto left = 1 + world.draw(4); left != 0; --left) {
      changes.push_back(source.draw(changes.size() + 1));
      writer->send(changes.back() + "\r\necho change:" + std::to_string(changes.size()));
    }
    if (world.chance(0.1)) admin->send("bgrewriteaof");
    if (world.chance(0.05)) admin->send("bgsave");
    world.run_for(std::chrono::microseconds(world.draw(longest)));
    for (; received < writer->received().size(); ++received) {
      const auto& line = writer->received()[received];
      if (line.starts_with("change:")) acknowledged[world.now()] = number_in(line.substr(7));
    }
  }
  const auto later = acknowledged.upper_bound(world.now() - policy.lag);
  return later == acknowledged.begin() ? later->second : std::prev(later)->second;
}

/// Makes changes one by one in a cache that nothing befalls. Returns its contents before the first
/// and after each.
std::vector<std::string> contents_after_each(const std::vector<std::string>& changes,
                                             std::uint64_t seed) {
  life calm(seed, {});
  auto writer = calm.connect();
  auto reader = calm.connect();
  std::vector found{contents(calm, *reader)};
  for (const auto& change : changes) {
    const auto before = writer->received().size();
    writer->send(change + "\r\necho change");
    EXPECT_TRUE(calm.world().run_until(
        [&] { return writer->received().size() > before && writer->received().back() == "change"; },
        30s))
        << change;
    found.push_back(contents(calm, *reader));
  }
  return found;
}

// After each failure the cache holds what it held after one of the changes that were sent, the
// last one that must be safe or a later one.
void lose_power(const policy& policy) {
  std::size_t all_changes = 0;
  std::size_t different_contents = 0;
  for_each_seed([&](std::uint64_t seed) {
    loop::sim_world::disk disk;
    std::vector<std::string> changes;
    for (std::uint64_t turn = 0; turn < 1 + seed % 3; ++turn) {
      std::size_t safe = 0;
      {
        life changing(seed * 10 + turn, disk, policy);
        if (testing::Test::HasFailure()) return;
        safe = change_until_the_end(changing, changes, policy);
        disk = changing.world().disk_after_crash();
      }
      const auto expected = contents_after_each(changes, seed * 10 + 9);
      all_changes += changes.size();
      different_contents += std::set(expected.begin(), expected.end()).size();
      life afterwards(seed * 10 + 5 + turn, disk, policy);
      if (testing::Test::HasFailure()) return;
      auto reader = afterwards.connect();
      const auto first = expected.begin() + static_cast<std::ptrdiff_t>(safe);
      const auto same = std::find(first, expected.end(), contents(afterwards, *reader));
      ASSERT_NE(same, expected.end())
          << "of " << changes.size() << " changes " << safe << " must be safe";
      changes.resize(static_cast<std::size_t>(same - expected.begin()));
    }
  });
  // Changes that change nothing would survive anything. Most of a few may be such.
  EXPECT_GT(different_contents, all_changes / 4);
}

TEST(cache_log_simulation, changes_of_all_types_survive_the_loss_of_power_whole_and_in_order) {
  lose_power(always);
}

TEST(cache_log_simulation, under_everysec_changes_survive_it_that_are_two_seconds_old) {
  lose_power(every_second);
}

}  // namespace
}  // namespace strata::runtime::cache
