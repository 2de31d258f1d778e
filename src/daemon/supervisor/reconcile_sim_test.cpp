// Entries and records under a store that fails, loses answers, repeats notifications and forgets,
// with another writer and with daemons that are killed at any moment: in the end each entry matches
// its record.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "daemon/store/testing/memory_record_store.hpp"
#include "daemon/supervisor/supervisor.hpp"
#include "daemon/supervisor/testing/sim_loops.hpp"
#include "net/testing/seeds.hpp"

namespace strata::daemon {
namespace {

using namespace std::chrono_literals;

constexpr const char* names[] = {"a", "b", "c", "d"};
constexpr const char* ports[] = {"tcp://127.0.0.1:0", "tcp://127.0.0.1:7001",
                                 "tcp://127.0.0.1:7002"};

/// The life of one daemon, in a world of its own, on the records of earlier daemons.
class daemon_life {
 public:
  daemon_life(std::uint64_t seed, memory_records& records, const store_faults& faults)
      : world_(seed),
        records_(records),
        supervisor_(home_, loops_,
                    std::make_unique<memory_record_store>(home_, records, faults, seed), seed) {}

  ~daemon_life() { world_.end_tasks_beside(home_); }
  daemon_life(const daemon_life&) = delete;
  daemon_life& operator=(const daemon_life&) = delete;

  void begin() { tasks_.spawn(bring_up()); }
  [[nodiscard]] bool is_up() const { return is_up_; }
  void run_for(loop::duration span) { world_.run_for(span); }
  /// Runs until the world has taken `steps` steps, or until `limit`.
  void run_steps(std::uint64_t steps, loop::duration limit) {
    (void)world_.run_until([&steps] { return steps-- == 0; }, limit);
  }
  std::uint64_t draw(std::uint64_t below) { return world_.draw(below); }
  void give_order();
  void write_as_another();
  void check();

 private:
  loop::task<> bring_up() {
    for (;;) {
      const auto loaded = co_await supervisor_.load();
      if (loaded) break;
      co_await home_.sleep(100ms);
    }
    is_up_ = true;
    co_await supervisor_.start_all();
  }
  template <class T>
  static loop::task<> drop(loop::task<T> order) {
    (void)co_await order;
  }
  template <std::size_t N>
  std::string any(const char* const (&texts)[N]) {
    return texts[draw(N)];
  }
  nlohmann::json any_options();
  void check_one(const record& kept, const entry& present) const;
  [[nodiscard]] bool is_port_taken(const entry& subject) const;

  loop::sim_world world_;
  loop::sim_loop& home_ = world_.add_loop();
  memory_records& records_;
  sim_loops loops_{world_};
  supervisor supervisor_;
  bool is_up_ = false;
  loop::task_group tasks_;
};

nlohmann::json daemon_life::any_options() {
  nlohmann::json options = {{"group", "g" + std::to_string(draw(3))}};
  if (draw(2) == 0) options["listen"] = {any(ports)};
  if (draw(4) == 0) options["owner"] = any(names);
  if (draw(4) == 0) options["on_parent_stop"] = "remove";
  return options;
}

void daemon_life::give_order() {
  const auto name = any(names);
  auto options = any_options();
  switch (draw(6)) {
    case 0:
    case 1:
      if (!options.contains("listen")) options["listen"] = {any(ports)};
      tasks_.spawn(drop(supervisor_.create({.type = "server",
                                            .name = name,
                                            .options = std::move(options),
                                            .is_started = draw(2) == 0})));
      break;
    case 2: tasks_.spawn(drop(supervisor_.start(name))); break;
    case 3: tasks_.spawn(drop(supervisor_.stop(name))); break;
    case 4:
      if (draw(3) == 0) {
        tasks_.spawn(drop(supervisor_.remove(name)));
      } else {
        tasks_.spawn(drop(supervisor_.restart(name)));
      }
      break;
    default: tasks_.spawn(drop(supervisor_.edit(name, std::move(options)))); break;
  }
}

void daemon_life::write_as_another() {
  const auto name = any(names);
  const auto found = records_.records.find(name);
  const bool is_new = found == records_.records.end();
  auto next = is_new ? record{.name = name, .type = "server", .created_at = "", .options = "{}"}
                     : found->second;
  if (!is_new && draw(4) == 0) return records_.erase(name);
  auto options = nlohmann::json::parse(next.options);
  options.update(any_options());
  options.erase("owner");
  options.erase("on_parent_stop");
  if (!options.contains("listen")) options["listen"] = {any(ports)};
  next.options = options.dump();
  next.running = draw(2) == 0;
  if (draw(6) == 0) next.type = "of no type";
  if (draw(2) == 0) next.type = "server";
  records_.put(next);
}

bool daemon_life::is_port_taken(const entry& subject) const {
  const auto ours = subject.body->endpoints();
  return std::ranges::any_of(supervisor_.list().all(), [&](const entry_ref& each) {
    return each.get() != &subject && each->state == run_state::running &&
           each->body->endpoints() == ours;
  });
}

void daemon_life::check_one(const record& kept, const entry& present) const {
  EXPECT_EQ(present.stored.revision, kept.revision);
  EXPECT_TRUE(present.stored == kept);
  EXPECT_TRUE(present.desired == kept);
  EXPECT_TRUE(present.unapplied.empty()) << present.unapplied.dump();
  const auto options = present.body->options(true);
  const auto shall_be = nlohmann::json::parse(kept.options);
  for (const auto& [key, value] : shall_be.items()) EXPECT_EQ(options.at(key), value) << key;
  if (!kept.running) {
    EXPECT_NE(present.state, run_state::running);
  } else if (present.state != run_state::running) {
    EXPECT_TRUE(is_port_taken(present)) << name_of(present.state) << ": " << present.reason;
  }
}

void daemon_life::check() {
  const auto& list = supervisor_.list();
  for (const auto& [name, kept] : records_.records) {
    SCOPED_TRACE(name);
    if (kept.type != "server") {
      EXPECT_TRUE(list.unusable().contains(name));
      EXPECT_EQ(list.entry_of(name), nullptr);
      continue;
    }
    const auto found = list.find(name);
    EXPECT_TRUE(found) << describe(found.error());
    if (found) check_one(kept, **found);
  }
  EXPECT_EQ(list.known_names().size(), records_.records.size());
  EXPECT_EQ(list.entries().size() + list.unusable().size(), records_.records.size());
}

void run_lives(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto draw = [&random](std::uint64_t below) { return random() % below; };
  memory_records records;
  store_faults faults;
  const auto fail = [&] {
    faults = {.refusal = 0.15,
              .lost_answer = 0.1,
              .repetition = 0.1,
              .forgetting = 0.1,
              .longest_delay = 50ms};
  };
  const auto lives = 2 + draw(3);
  for (std::uint64_t number = 0; number < lives; ++number) {
    fail();
    daemon_life life(seed * 100 + number, records, faults);
    life.begin();
    const bool is_last = number + 1 == lives;
    for (auto orders = 5 + draw(20); orders > 0; --orders) {
      if (life.is_up()) life.give_order();
      if (draw(4) == 0) life.write_as_another();
      life.run_for(std::chrono::milliseconds(draw(200)));
    }
    if (is_last) {
      faults = {};
      life.run_for(120s);
      life.check();
    } else {
      life.run_steps(draw(200), 10s);  // killed there
    }
  }
}

TEST(reconcile_simulation, entries_become_what_their_records_say) { for_each_seed(run_lives); }

}  // namespace
}  // namespace strata::daemon
