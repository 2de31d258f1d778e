// Tests the cache's log in a simulated world, seed by seed: the machine loses its power at any
// point of writing, syncing, rewriting and renaming, the disk is sometimes full, writes are short,
// and syncs fail, after which nothing that they were to make safe can be relied on. Changes
// acknowledged under appendfsync always must exist afterwards, and nothing else may be damaged.
#include <gtest/gtest.h>

#include <charconv>

#include "runtime/cache/cache.hpp"
#include "runtime/testing/sim_stage.hpp"

namespace strata::runtime::cache {
namespace {

using namespace std::chrono_literals;

constexpr std::uint16_t port = 7000;
constexpr std::size_t clients = 3;

/// One life of a machine: from its start to its power failure.
class life {
 public:
  life(std::uint64_t seed, loop::sim_world::disk disk) : stage_(seed) {
    stage_.world.set_disk(std::move(disk));
    auto made = make(stage_.given(), {{"listen", {"tcp://127.0.0.1:" + std::to_string(port)}},
                                      {"persistent", "/disk/db.aof"},
                                      {"snapshot", "/disk/dump.rdb"},
                                      {"appendfsync", "always"}});
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

}  // namespace
}  // namespace strata::runtime::cache
