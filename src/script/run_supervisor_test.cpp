#include "script/run_supervisor.hpp"

#include <gtest/gtest.h>

#include <string>

#include "loop/backends/sim_loop.hpp"
#include "loop/backends/sim_world.hpp"
#include "script/machine.hpp"

namespace strata::script {
namespace {

using namespace std::chrono_literals;

class run_supervisor_test : public testing::Test, public observer, public run_supervisor {
 protected:
  void SetUp() override {
    auto made =
        machine::make(world_.add_loop(), {.most_memory = 8U << 20U, .supervisor = this}, *this);
    ASSERT_TRUE(made) << describe(made.error());
    machine_ = std::move(*made);
  }

  // Returns the result of a function with this body, or its error with the line.
  std::string run(const std::string& body) {
    const auto function = machine_->compile(body, "@test");
    if (!function) return describe(function.error());
    std::string outcome;
    machine_->run(
        *function, [](value_writer&) { return 0; },
        [&](value_view value, const failure_place* failed) {
          outcome = value.text();
          if (failed != nullptr) {
            outcome = "failed at " + std::to_string(failed->line) + ": " + outcome;
          }
        });
    return outcome;
  }

  int asked_ = 0;
  int extensions_ = 0;
  std::string error_ = "stopped by a test";

 private:
  loop::duration allowance() override { return 2ms; }
  decision on_overtime() override {
    ++asked_;
    if (asked_ <= extensions_) return {.more = 1ms};
    return {.error = error_};
  }
  void on_error(const std::string& text) override { ADD_FAILURE() << text; }
  void on_print(const std::string& line) override { ADD_FAILURE() << line; }
  void on_run(const callback_run& /*ran*/) override {}

  loop::sim_world world_{1};
  std::unique_ptr<machine> machine_;
};

TEST_F(run_supervisor_test, a_short_run_is_none_of_its_business) {
  EXPECT_EQ(run("return 'done'"), "done");
  EXPECT_EQ(asked_, 0);
}

TEST_F(run_supervisor_test, a_run_gets_more_time_as_often_as_it_is_given) {
  extensions_ = 5;
  EXPECT_EQ(run("\nwhile true do end"), "failed at 2: stopped by a test");
  EXPECT_EQ(asked_, 6);
  // The next run begins again.
  asked_ = 0;
  EXPECT_EQ(run("return 'done'"), "done");
  EXPECT_EQ(asked_, 0);
  EXPECT_EQ(run("while true do end"), "failed at 1: stopped by a test");
}

TEST_F(run_supervisor_test, a_run_that_got_more_time_ends_as_usual) {
  extensions_ = 1'000'000;
  EXPECT_EQ(run("local n = 0 for i = 1, 1e7 do n = n + i end return n"), "50000005000000");
  EXPECT_GT(asked_, 0);
}

TEST_F(run_supervisor_test, its_error_cannot_be_caught) {
  EXPECT_EQ(run("\nwhile true do pcall(function() while true do end end) end"),
            "failed at 2: stopped by a test");
  EXPECT_EQ(run("while true do xpcall(function() while true do end end, function() end) end"),
            "failed at 1: stopped by a test");
  EXPECT_EQ(run("local c = coroutine.wrap(function() pcall(function() while true do end end) end)\n"
                "while true do c() end"),
            "failed at 2: stopped by a test");
}

TEST_F(run_supervisor_test, without_an_error_it_is_the_one_of_the_limit) {
  error_.clear();
  EXPECT_EQ(run("while true do end"),
            "failed at 1: test:1: the handler was stopped: it ran for 2 ms, the limit of "
            "--lua-time");
}

}  // namespace
}  // namespace strata::script
