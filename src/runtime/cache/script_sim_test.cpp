// Tests caches with random scripts in a simulated world: functions that wait, fail and return
// anything fetch keys and receive changes, while clients come and go, the script is reloaded, and
// the cache stops.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "runtime/cache/cache.hpp"
#include "runtime/testing/random_script.hpp"
#include "runtime/testing/sim_stage.hpp"

namespace strata::runtime::cache {
namespace {

using namespace std::chrono_literals;

constexpr std::uint16_t script_port = 7000;

/// A client that compares each reply with its command: one reply per command, in order.
struct asker {
  explicit asker(loop::loop& loop) : is(std::make_unique<actor>(loop, proto::framing::line)) {}

  void ask(const std::string& command, std::string key) {
    is->send(command + " " + key);
    asked.push_back(std::move(key));
  }
  // A reply is an error, a status or a number; null; or a value, which contains its key.
  void compare() {
    const auto& received = is->received();
    while (at < received.size()) {
      const auto& first = received[at];
      const bool is_value = first.starts_with('$') && first != "$-1";
      if (is_value && at + 1 == received.size()) return;
      ASSERT_LT(replies, asked.size());
      if (is_value) {
        EXPECT_TRUE(received[at + 1].starts_with(asked[replies] + "=")) << received[at + 1];
      }
      at += is_value ? 2 : 1;
      ++replies;
    }
  }

  std::unique_ptr<actor> is;
  std::vector<std::string> asked;  // the keys
  std::size_t at = 0;              // position in the received lines
  std::size_t replies = 0;
};

class scripted_life {
 public:
  explicit scripted_life(std::uint64_t seed) : stage_(seed) {
    file_.write(script());
    auto made =
        make(stage_.given(), {{"listen", {"tcp://127.0.0.1:" + std::to_string(script_port)}},
                              {"lua", file_.path()},
                              {"lua_time", 10}});
    EXPECT_TRUE(made) << describe(made.error());
    cache_ = std::move(*made);
    const auto started = stage_.await(cache_->start());
    EXPECT_TRUE(started) << text_;
    has_started_ = started && *started;  // on_start may fail
  }

  /// Returns how many replies its clients received.
  std::size_t run() {
    for (auto turns = has_started_ ? 5 + world().draw(60) : 0; turns != 0; --turns) act();
    if (has_started_ && world().chance(0.5)) expect_all_replies();
    const auto limit = world().now() + std::chrono::milliseconds(world().draw(2000));
    EXPECT_TRUE(stage_.await_done(cache_->stop(limit))) << text_;
    for (auto& each : askers_) each->is->leave();
    cache_.reset();
    world().run_for(2s);
    EXPECT_EQ(world().open_count(), 0U) << text_;
    std::size_t replies = 0;
    for (const auto& each : askers_) replies += each->replies;
    return replies;
  }

 private:
  loop::sim_world& world() { return stage_.world; }

  std::string script() {
    random_script made(
        world(),
        {"self.get('a')", "self.set('b', 'b=script')", "self.del('a')", "self.call('PING')",
         "self.expire('c', 1)", "self.call('NOTHING')", "self.lpush('l', 1)", "self.flushdb()"},
        world().chance(0.3));
    made.say(fmt::format("miss_ms = {} flush_ms = {} flush_max = {} flush_backlog = {}",
                         1 + world().draw(200), world().draw(100), 1 + world().draw(10),
                         1 + world().draw(100)));
    if (world().chance(0.3)) made.add("on_start", "", {});
    if (world().chance(0.3)) made.add("on_stop", "", {});
    if (world().chance(0.3)) made.add("on_connect", "id", {});
    if (world().chance(0.3)) made.add("on_disconnect", "id", {});
    if (world().chance(0.8)) {
      made.add("on_miss", "key, database",
               {"key .. '=fetched'", "key .. '=short', 0.01", "nil", "false", "{}",
                "key .. '=', -1", "key .. '=', 'x'"});
    }
    if (world().chance(0.5)) made.add("on_write", "key, value, ttl, change", {});
    if (world().chance(0.5)) made.add("on_delete", "key", {"true"});
    if (world().chance(0.5)) made.add("on_expire", "key", {});
    if (world().chance(0.5)) made.add("on_flush", "batch", {"nil", "false", "1", "#batch", "{}"});
    return text_ = made.text();
  }

  void act() {
    switch (world().draw(10)) {
      case 0:
        askers_.push_back(std::make_unique<asker>(stage_.outside));
        askers_.back()->is->connect(script_port);
        break;
      case 1:
        if (!askers_.empty() && world().chance(0.3)) {
          askers_[world().draw(askers_.size())]->is->leave();
        }
        break;
      case 2: {
        file_.write(world().chance(0.1) ? "no Lua" : script());
        EXPECT_TRUE(stage_.await(asked(*cache_, operation_rows(), "reload-lua"))) << text_;
        break;
      }
      default: speak();
    }
    world().run_for(std::chrono::microseconds(world().draw(30'000)));
    for (auto& each : askers_) each->compare();
  }

  void speak() {
    if (askers_.empty()) return;
    auto& who = *askers_[world().draw(askers_.size())];
    if (!who.is->connected()) return;
    for (auto count = 1 + world().draw(3); count != 0; --count) {
      const std::string key(1, static_cast<char>('a' + world().draw(4)));
      switch (world().draw(7)) {
        case 0: who.ask("del", key); break;
        case 1: who.ask("incr", key); break;
        case 2: who.ask("pexpire", key); break;  // an error: the time is missing
        case 3: who.ask("flushdb", ""); break;
        case 4:
          who.is->send("set " + key + " " + key + "=set px " +
                       std::to_string(1 + world().draw(50)));
          who.asked.push_back(key);
          break;
        default: who.ask("get", key);
      }
    }
  }

  void expect_all_replies() {
    const auto has_all = [](const auto& each) {
      each->compare();
      return !each->is->connected() || each->replies == each->asked.size();
    };
    EXPECT_TRUE(world().run_until([&] { return std::ranges::all_of(askers_, has_all); }, 60s))
        << text_;
  }

  sim_stage stage_;
  std::string text_;
  script_file file_;
  std::unique_ptr<runtime> cache_;
  std::vector<std::unique_ptr<asker>> askers_;
  bool has_started_ = false;
};

TEST(cache_script_simulation, each_command_has_its_reply_whatever_the_script_does) {
  std::size_t replies = 0;
  std::size_t seeds = 0;
  for_each_seed([&](std::uint64_t seed) {
    replies += scripted_life(seed).run();
    ++seeds;
  });
  if (seeds > 1) {
    EXPECT_GE(replies, 5 * seeds);
  }
}

}  // namespace
}  // namespace strata::runtime::cache
