// Random scripts in virtual time, whose machine is destroyed at any moment.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <optional>

#include "loop/backends/sim_loop.hpp"
#include "loop/backends/sim_world.hpp"
#include "net/testing/seeds.hpp"
#include "script/machine.hpp"

namespace strata::runtime::scripting {
namespace {

using namespace std::chrono_literals;

constexpr script::callback_row callbacks[] = {{"on_start", "n: number", "", ""}};

class script_world : public script::observer {
 public:
  explicit script_world(std::uint64_t seed) : world_(seed) {}

  /// Runs until `awaits` functions have begun to wait: then the machine is destroyed. Returns how
  /// many have waited, if the script runs to its end.
  int live_until(int awaits) {
    make();
    const auto is_over = [&] { return awaits_ >= awaits; };
    for (auto calls = 1 + world_.draw(8); calls > 0 && !is_over(); --calls) {
      call();
      world_.run_until(is_over, std::chrono::milliseconds(world_.draw(30)));
    }
    world_.run_until(is_over, 1s);
    machine_.reset();
    EXPECT_EQ(ended_, started_) << text_;
    return awaits_;
  }

  void live() {
    for (int round = 0; round < 3; ++round) {
      make();
      for (auto calls = 1 + world_.draw(8); calls > 0; --calls) {
        call();
        world_.run_for(std::chrono::milliseconds(world_.draw(30)));
      }
      if (world_.chance(0.5)) world_.run_for(1h);
      machine_.reset();
      EXPECT_EQ(ended_, started_) << text_;
    }
  }

 private:
  class listener final : public script::waiter {
   public:
    explicit listener(int& ended) : ended_(ended) {}

   private:
    void on_end(const script::finished& /*with*/) override { ++ended_; }
    int& ended_;
  };

  /// Some calls, one after the other.
  class calls_in_a_row final : public script::series {
   public:
    calls_in_a_row(int& ended, std::uint64_t count) : ended_(ended), left_(count) {}

   private:
    std::optional<script::step> next() override {
      if (left_ == 0) return std::nullopt;
      return script::step{.with = {static_cast<double>(--left_ % 5)}, .count = 1};
    }
    void on_end(const script::finished& outcome) override {
      EXPECT_TRUE(outcome.has_failed() || left_ == 0);
      ++ended_;
    }
    int& ended_;
    std::uint64_t left_;
  };

  void make() {
    auto made = script::machine::make(
        loop_, {.most_memory = 2U << 20U, .most_time = 10s, .most_waiting = 40}, *this);
    ASSERT_TRUE(made);
    machine_ = std::move(*made);
    machine_->add({"host", functions, ""}, this);
    text_ = "function on_start(n)\n" + statements(0) + "end\n";
    ASSERT_TRUE(machine_->load_text(text_, "random.lua", callbacks)) << text_;
  }

  void call() {
    const script::argument with[] = {static_cast<double>(world_.draw(5))};
    ++started_;
    if (world_.chance(0.2)) {
      // The end may have no listener.
      machine_->start(0, with);
      ++ended_;
      return;
    }
    if (world_.chance(0.3)) {
      machine_->start(rows_.emplace_back(ended_, world_.draw(6)));
    } else {
      machine_->start(0, with, &listeners_.emplace_back(ended_));
    }
  }

  std::string statements(int depth) {
    std::string all;
    for (auto count = world_.draw(4); count > 0; --count) all += statement(depth);
    return all;
  }

  std::string statement(int depth) {
    const auto inner = [&] { return depth < 3 ? statements(depth + 1) : std::string(); };
    switch (world_.draw(10)) {
      case 0: return fmt::format("host.sleep({})\n", static_cast<double>(world_.draw(50)) / 1000);
      case 1: return "pcall(function()\n" + inner() + "end)\n";
      case 2: return "coroutine.wrap(function()\n" + inner() + "end)()\n";
      case 3: return "if n == 1 then error('oh') end\n";
      case 4:
        return fmt::format("host.later({}, function()\nlocal n = n\n", world_.draw(3)) + inner() +
               "end)\n";
      case 5: return "for i = 1, 3 do\n" + inner() + "end\n";
      case 6: return "local t = {} for i = 1, 200 do t[i] = {i} end\n";
      case 7: return "assert(host.fail())\n";
      case 8: return "xpcall(function()\n" + inner() + "error({})\nend, function() return 1 end)\n";
      default: return "if n == 2 then host.later('x') end\n";
    }
  }

  void on_error(const std::string& /*what*/) override {}
  void on_print(const std::string& /*line*/) override {}
  void on_run(const script::callback_run& /*ran*/) override {}

  loop::task<script::answers> sleep(script::call& call) {
    ++awaits_;
    return sleep_for(loop_, call.number(0));
  }
  static loop::task<script::answers> sleep_for(loop::loop& on, double seconds) {
    co_await on.sleep(loop::from_seconds(seconds));
    co_return std::vector<nlohmann::json>{nlohmann::json{{"slept", seconds}}};
  }
  loop::task<script::answers> fail(script::call& /*with*/) {
    ++awaits_;
    return fail_soon(loop_);
  }
  static loop::task<script::answers> fail_soon(loop::loop& on) {
    co_await on.sleep(1ms);
    co_return failure(errc::timed_out, "do it", "it takes too long", "");
  }
  void later(script::call& call) {
    call.give(machine_->arm(loop::from_seconds(call.number(0)), false, call.function(1)));
  }

  static constexpr script::function_row functions[] = {
      {"sleep", "s: number", "", "", nullptr, script::method<&script_world::sleep>},
      {"fail", "", "", "", nullptr, script::method<&script_world::fail>},
      {"later", "s: number, f: function", "", "", script::method<&script_world::later>},
  };

  loop::sim_world world_;
  loop::loop& loop_ = world_.add_loop();
  std::unique_ptr<script::machine> machine_;
  std::deque<listener> listeners_;
  std::deque<calls_in_a_row> rows_;
  std::string text_;
  int started_ = 0;
  int ended_ = 0;
  int awaits_ = 0;
};

TEST(script_simulation, whoever_waits_for_a_function_hears_of_its_end) {
  for_each_seed([](std::uint64_t seed) { script_world(seed).live(); });
}

TEST(script_simulation, a_machine_may_go_wherever_a_function_waits) {
  static constexpr int most = 30;
  for_each_seed([](std::uint64_t seed) {
    const auto all = std::min(script_world(seed).live_until(most), most);
    for (int awaits = 1; awaits <= all; ++awaits) script_world(seed).live_until(awaits);
  });
}

}  // namespace
}  // namespace strata::runtime::scripting
