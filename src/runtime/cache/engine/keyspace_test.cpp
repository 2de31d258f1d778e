#include "runtime/cache/engine/keyspace.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/cache/engine/change_scope.hpp"

namespace strata::runtime::cache {
namespace {

class still_clock final : public engine_clock {
 public:
  [[nodiscard]] std::int64_t steady_us() const override { return 0; }
  [[nodiscard]] std::int64_t wall_us() const override { return 0; }
};

/// Records every notification.
class recorder final : public change_listener, public key_observer, public change_guard {
 public:
  std::vector<std::string> changes;
  std::vector<std::string> touched;
  std::vector<std::string> events;
  std::vector<std::string> guarded;

  void on_change(unsigned database, std::span<const std::string_view> words) override {
    auto text = std::to_string(database);
    for (const auto& each : words) text.append(" ").append(each);
    changes.push_back(text);
  }
  void on_touch(unsigned /*database*/, std::string_view key) override { touched.emplace_back(key); }
  void on_clear(unsigned database) override {
    events.push_back("clear" + std::to_string(database));
  }
  void on_exchange(unsigned database, unsigned /*other*/) override {
    events.push_back("swap" + std::to_string(database));
  }
  void on_exchanged(unsigned database) override {
    events.push_back("swap" + std::to_string(database));
  }
  void on_event(std::string_view event, std::string_view key, unsigned /*database*/) override {
    events.push_back(std::string(event).append(" ").append(key));
  }
  void before_command(unsigned /*database*/, const command& /*what*/,
                      std::span<const std::string_view> /*words*/) override {}
  void before_change(unsigned /*database*/, std::string_view key) override {
    guarded.emplace_back(key);
  }
  void before_clear(unsigned database) override { guarded.push_back(std::to_string(database)); }
  void on_swap(unsigned first, unsigned second) override {
    guarded.push_back(std::to_string(first) + std::to_string(second));
  }
};

using lines = std::vector<std::string>;

struct keyspace_alone : testing::Test {
  still_clock clock;
  keyspace_limits limits;
  keyspace keys{limits, clock};
  recorder received;

  keyspace_alone() {
    keys.set_time(1000);
    keys.set_observer(&received);
    keys.changes().add_listener(received);
  }
  void put(std::string_view key, std::int64_t expires_at_ms = entry::never, unsigned database = 0) {
    const charging scope(keys.memory_account());
    keys[database].add(entry::make_text(key, "value", expires_at_ms), hash_of(key));
  }
  entry* find(std::string_view key, unsigned database = 0) {
    return keys.find(database, key, hash_of(key));
  }
  void change(std::string_view word, unsigned database = 0) {
    const std::array words = {word};
    keys.changes().propagate(database, words);
  }
};

TEST_F(keyspace_alone, removes_a_key_that_is_looked_up_when_its_time_is_over) {
  put("early", 1500);
  put("late", 2500);
  EXPECT_NE(find("early"), nullptr);
  keys.set_time(2000);
  EXPECT_EQ(find("early"), nullptr);
  EXPECT_NE(find("late"), nullptr);
  EXPECT_EQ(keys[0].size(), 1U);
  EXPECT_EQ(keys.counted().expired, 1U);
  EXPECT_EQ(received.changes, (lines{"0 DEL early"}));
}

TEST_F(keyspace_alone, removes_keys_that_nobody_looks_up_though_the_clock_stands_still) {
  for (int i = 0; i < 1000; ++i) put("key" + std::to_string(i), 1500 + i % 2 * 1000, 3);
  keys.set_time(2000);
  while (keys[3].size() > 500) EXPECT_TRUE(keys.tidy(std::chrono::microseconds(1), true));
  EXPECT_EQ(keys.counted().expired, 500U);
  EXPECT_EQ(received.changes.size(), 500U);
}

TEST_F(keyspace_alone, expires_nothing_by_itself_that_a_leader_expires) {
  put("key", 1500);
  keys.set_expires_by_leader(true);
  keys.set_time(2000);
  EXPECT_EQ(find("key"), nullptr);
  EXPECT_TRUE(keys.tidy(std::chrono::seconds(1), true));
  EXPECT_EQ(keys[0].size(), 1U);
  EXPECT_TRUE(received.changes.empty());
}

TEST_F(keyspace_alone, a_replayed_command_sees_keys_whose_time_is_over) {
  put("key", 1500);
  keys.set_time(2000);
  {
    const change_scope replayed(keys.changes(), true);
    EXPECT_NE(find("key"), nullptr);
    {
      const change_scope own(keys.changes(), false);
      EXPECT_EQ(keys[0].size(), 1U);
    }
    // The inner scope's end does not change the outer one.
    EXPECT_NE(find("key"), nullptr);
  }
  EXPECT_EQ(find("key"), nullptr);
}

TEST_F(keyspace_alone, evicts_until_there_is_room) {
  for (int i = 0; i < 100; ++i) put("key" + std::to_string(i));
  const auto all = keys.memory();
  EXPECT_GT(all, 0);
  limits.maxmemory = all / 2;
  EXPECT_FALSE(keys.has_room());
  {
    const charging scope(keys.memory_account());
    EXPECT_FALSE(keys.make_room());  // no key may be evicted
    limits.policy = eviction::all_lru;
    EXPECT_TRUE(keys.make_room());
  }
  EXPECT_TRUE(keys.has_room());
  EXPECT_EQ(keys.counted().evicted + keys[0].size(), 100U);
  EXPECT_EQ(received.changes.size(), keys.counted().evicted);
}

TEST_F(keyspace_alone, evicts_only_what_expires_if_the_policy_says_so) {
  put("stays");
  put("goes", 5000);
  limits.maxmemory = 1;
  limits.policy = eviction::volatile_ttl;
  const charging scope(keys.memory_account());
  EXPECT_FALSE(keys.make_room());
  EXPECT_NE(find("stays"), nullptr);
  EXPECT_EQ(find("goes"), nullptr);
}

TEST_F(keyspace_alone, tells_of_touched_keys_only_while_there_is_attention) {
  keys.touch(0, "a");
  keys.watchfulness().set(attention::reason::watched, true);
  keys.watchfulness().set(attention::reason::tracked, true);
  keys.touch(0, "b");
  keys.watchfulness().set(attention::reason::watched, false);
  keys.touch(0, "c");
  keys.watchfulness().set(attention::reason::tracked, false);
  keys.touch(0, "d");
  EXPECT_EQ(received.touched, (lines{"b", "c"}));
}

TEST_F(keyspace_alone, tells_of_those_events_that_its_limits_name) {
  limits.events = event_keyspace | event_generic;
  keys.notify(event_generic, "del", "key", 0);
  keys.notify(event_list, "rpush", "key", 0);
  EXPECT_EQ(received.events, (lines{"del key"}));
}

TEST_F(keyspace_alone, each_change_is_propagated_by_itself) {
  {
    const change_scope scope(keys.changes(), false);
    change("one");
    change("two", 1);
  }
  EXPECT_EQ(received.changes, (lines{"0 one", "1 two"}));
}

TEST_F(keyspace_alone, changes_of_a_scope_and_those_inside_it_are_propagated_together) {
  {
    change_scope outer(keys.changes(), false);
    change("before");
    outer.propagate_together();
    {
      change_scope inner(keys.changes(), false);
      inner.propagate_together();  // already part of it
      change("one");
      EXPECT_FALSE(inner.has_changes());
      keys.changes().record();
      EXPECT_TRUE(inner.has_changes());
    }
    {
      const change_scope inner(keys.changes(), false);
      change("two", 1);
      EXPECT_FALSE(inner.has_changes());
    }
    EXPECT_TRUE(outer.has_changes());
    EXPECT_EQ(received.changes.size(), 4U);
  }
  change("after");
  EXPECT_EQ(received.changes,
            (lines{"0 before", "0 MULTI", "0 one", "1 two", "1 EXEC", "0 after"}));
}

TEST_F(keyspace_alone, a_single_change_of_a_scope_is_propagated_by_itself) {
  {
    change_scope scope(keys.changes(), false);
    scope.propagate_together();
    {
      const change_scope inner(keys.changes(), false);
      change("one", 3);
    }
    EXPECT_TRUE(received.changes.empty());
  }
  EXPECT_EQ(received.changes, (lines{"3 one"}));
  {
    change_scope scope(keys.changes(), false);
    scope.propagate_together();
    change("two");
    scope.abandon();
  }
  EXPECT_EQ(received.changes.size(), 1U);
}

TEST_F(keyspace_alone, a_scope_without_changes_is_not_propagated) {
  {
    change_scope scope(keys.changes(), false);
    scope.propagate_together();
  }
  EXPECT_TRUE(received.changes.empty());
}

TEST_F(keyspace_alone, shows_a_guard_what_is_about_to_change) {
  int reported = 0;
  keys.on_guard_admitted([&] { ++reported; });
  keys.set_guard(&received);
  EXPECT_TRUE(keys.is_guarded());
  keys.before_change(0, "key");
  keys.clear(2);
  keys.swap(0, 1);
  keys.set_guard(nullptr);
  keys.before_change(0, "other");
  EXPECT_EQ(received.guarded, (lines{"key", "2", "01"}));
  EXPECT_EQ(received.events, (lines{"clear2", "swap0", "swap1", "swap0", "swap1"}));
  EXPECT_EQ(reported, 1);
}

TEST_F(keyspace_alone, frees_later_what_was_in_a_database) {
  for (int i = 0; i < 10'000; ++i) put("key" + std::to_string(i));
  {
    const charging scope(keys.memory_account());
    keys.clear(0, true);
  }
  EXPECT_EQ(keys[0].size(), 0U);
  EXPECT_GT(keys.memory(), 10'000);
  EXPECT_TRUE(keys.tidy(std::chrono::seconds(1), true));
  EXPECT_EQ(keys.memory(), 0);
  EXPECT_GT(keys.peak_memory(), 10'000);
}

}  // namespace
}  // namespace strata::runtime::cache
