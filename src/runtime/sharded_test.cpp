// The base of runtimes in parts, tested with a type that only records what happens to it.
#include "runtime/sharded.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/testing/sim_stage.hpp"

namespace strata::runtime {
namespace {

using namespace std::chrono_literals;

struct step_options : runtime_options {
  std::uint64_t threads = 2;
  std::uint64_t pace = 1;
  std::string place = "here";
  std::uint64_t failing = 0;  // number of the part, from 1 on, that fails to open

  [[nodiscard]] static std::vector<std::string> endpoints() { return {}; }
};

const std::vector<options::bound_row<step_options>>& step_table() {
  using enum options::option_kind;
  static const auto table = with_runtime_options<step_options>({
      {{.key = "threads", .kind = count, .needs_restart = true}, &step_options::threads},
      {{.key = "pace", .kind = count}, &step_options::pace},
      {{.key = "place", .needs_restart = true}, &step_options::place},
      {{.key = "failing", .kind = count, .needs_restart = true}, &step_options::failing},
  });
  return table;
}

using diary = std::vector<std::string>;

class step final : public part {
 public:
  step(loop::loop& loop, std::size_t number, step_options options, serve::connection_gauge& gauge,
       diary& diary)
      : loop_(loop), number_(number), options_(std::move(options)), gauge_(gauge), told_(diary) {}
  ~step() override { note("goes"); }

  loop::task<result<void>> open(std::vector<net::bind_target>& /*targets*/) override {
    note("opens at " + options_.place);
    counters_.messages_in.add(10);
    place_ = gauge_.enter(0);
    co_await loop_.sleep(1ms);
    if (options_.failing == number_) {
      co_return failure(errc::conflict, "open part " + std::to_string(number_), "it was told so");
    }
    co_return result<void>{};
  }
  void stop_receiving() override { note("falls silent"); }
  loop::task<> close(loop::time_point /*limit*/) override {
    co_await loop_.sleep(1ms);
    counters_.messages_in.add();
    note("closes");
  }
  void apply(const live_edit<step_options>& edit) {
    note("hears " + edit.changes.dump() + ", is at " + edit.now.place);
    received_ = edit.number;
  }

  [[nodiscard]] const counters& counted() const override { return counters_; }
  [[nodiscard]] std::uint64_t received() const { return received_; }

 private:
  void note(const std::string& text) {
    EXPECT_EQ(loop::loop::current(), &loop_) << text;
    told_.push_back(std::to_string(number_) + " " + text);
  }

  loop::loop& loop_;
  std::size_t number_;
  step_options options_;
  serve::connection_gauge& gauge_;
  serve::connection_gauge::place place_;
  diary& told_;
  counters counters_;
  std::uint64_t received_ = 0;
};

class steps final : public sharded<step_options, step> {
 public:
  explicit steps(context&& context) : sharded(std::move(context), step_table()) {}

  diary reported;

  // Changes an option, as parts do on their own loops.
  void set_pace(std::uint64_t pace) {
    loop_of(0).post([this, pace] { adopt({{"pace", pace}}, part_at(0).received()); });
  }
  void break_down(const std::string& why) {
    loop_of(0).post([this, why] { fail(why); });
  }

 private:
  [[nodiscard]] result<void> check(const step_options& options) const override {
    if (options.pace <= options.threads * 10) return {};
    return failure(errc::invalid_argument, "go", "two at most are that fast");
  }
  [[nodiscard]] part_list make_parts(const std::vector<loop::loop*>& loops) override {
    part_list made;
    for (auto* const each : loops) {
      made.push_back(
          std::make_unique<step>(*each, made.size() + 1, running(), connections(), reported));
    }
    return made;
  }
  [[nodiscard]] std::size_t wanted_loops() const override { return wanted().threads; }
};

class stage final : private loop_source {
 public:
  stage() {
    auto given = stage_.given();
    auto made = make_from<steps>(
        {given.name, given.home, *this, given.names, given.binding, given.log, given.messages},
        nlohmann::json::object());
    EXPECT_TRUE(made) << describe(made.error());
    subject_.reset(static_cast<steps*>(made->release()));
  }

  [[nodiscard]] steps& subject() { return *subject_; }
  [[nodiscard]] sim_stage& sim() { return stage_; }
  [[nodiscard]] std::size_t loops_in_use() const { return in_use_; }
  result<void> start() { return *stage_.await(subject_->start()); }
  void stop() { EXPECT_TRUE(stage_.await_done(subject_->stop())); }
  /// The entries since the last call.
  diary reported() {
    stage_.world.run_for(10ms);
    return std::exchange(subject_->reported, {});
  }

 private:
  result<std::vector<loop::loop*>> assign(std::size_t count) override {
    in_use_ += count;
    while (workers_.size() < count) workers_.push_back(&stage_.world.add_loop());
    return std::vector(workers_.begin(), workers_.begin() + static_cast<std::ptrdiff_t>(count));
  }
  void release(const std::vector<loop::loop*>& loops) override { in_use_ -= loops.size(); }
  [[nodiscard]] std::size_t size() const override { return workers_.size(); }

  sim_stage stage_{1};
  std::vector<loop::loop*> workers_;
  std::size_t in_use_ = 0;
  std::unique_ptr<steps> subject_;
};

TEST(sharded, all_fall_silent_before_one_closes_and_all_close_before_one_goes) {
  stage at;
  ASSERT_TRUE(at.start());
  EXPECT_EQ(at.reported(), (diary{"1 opens at here", "2 opens at here"}));
  EXPECT_EQ(at.loops_in_use(), 2U);
  at.stop();
  // They close concurrently, in any order.
  auto reported = at.reported();
  ASSERT_EQ(reported.size(), 6U);
  std::sort(reported.begin() + 2, reported.begin() + 4);
  EXPECT_EQ(reported, (diary{"1 falls silent", "2 falls silent", "1 closes", "2 closes", "1 goes",
                             "2 goes"}));
  EXPECT_EQ(at.loops_in_use(), 0U);
}

TEST(sharded, when_a_part_cannot_be_opened_those_before_are_closed_and_all_is_given_back) {
  stage at;
  ASSERT_TRUE(at.subject().edit({{"threads", 3}, {"failing", 2}}));
  const auto started = at.start();
  ASSERT_FALSE(started);
  EXPECT_EQ(describe(started.error()), "cannot open part 2: it was told so");
  auto reported = at.reported();
  ASSERT_EQ(reported.size(), 9U);
  std::sort(reported.begin() + 4, reported.begin() + 6);
  EXPECT_EQ(reported,
            (diary{"1 opens at here", "2 opens at here", "1 falls silent", "2 falls silent",
                   "1 closes", "2 closes", "1 goes", "2 goes", "3 goes"}));
  EXPECT_EQ(at.loops_in_use(), 0U);
  ASSERT_TRUE(at.subject().edit({{"threads", 1}, {"failing", 0}}));
  ASSERT_TRUE(at.start());
  EXPECT_EQ(at.loops_in_use(), 1U);
  at.stop();
}

TEST(sharded, parts_hear_of_what_needs_no_restart_and_of_the_rest_after_one) {
  stage at;
  ASSERT_TRUE(at.start());
  (void)at.reported();
  const auto edited = at.subject().edit({{"pace", 5}, {"place", "there"}});
  ASSERT_TRUE(edited);
  EXPECT_EQ(edited->applied, std::vector<std::string>{"pace"});
  EXPECT_EQ(edited->needs_restart, std::vector<std::string>{"place"});
  EXPECT_EQ(at.reported(),
            (diary{R"(1 hears {"pace":5}, is at here)", R"(2 hears {"pace":5}, is at here)"}));
  EXPECT_EQ(at.subject().options(true)["place"], "there");
  ASSERT_TRUE(at.subject().edit({{"place", "elsewhere"}}));
  EXPECT_EQ(at.reported(), diary{}) << "nothing of it is for running parts";
  EXPECT_FALSE(at.subject().edit({{"pace", 100}}));
  EXPECT_EQ(at.reported(), diary{});
  EXPECT_EQ(at.subject().options(true)["pace"], 5);
  at.stop();
  (void)at.reported();
  ASSERT_TRUE(at.start());
  EXPECT_EQ(at.reported(), (diary{"1 opens at elsewhere", "2 opens at elsewhere"}));
  at.stop();
}

TEST(sharded, what_was_counted_survives_a_restart_and_the_present_does_not) {
  stage at;
  ASSERT_TRUE(at.start());
  EXPECT_EQ(at.subject().stats().messages_in.get(), 20U);
  EXPECT_EQ(at.subject().stats().connections_now.get(), 2U);
  at.stop();
  EXPECT_EQ(at.subject().stats().messages_in.get(), 22U) << "closing counts too";
  EXPECT_EQ(at.subject().stats().connections_now.get(), 0U);
  ASSERT_TRUE(at.start());
  EXPECT_EQ(at.subject().stats().messages_in.get(), 42U);
  EXPECT_EQ(at.subject().stats().connections_now.get(), 2U);
  EXPECT_EQ(at.subject().stats().connections_peak.get(), 2U);
  EXPECT_EQ(at.subject().stats().connections_total.get(), 4U);
  at.stop();
}

TEST(sharded, of_an_edit_and_a_part_s_own_change_the_later_counts) {
  stage at;
  ASSERT_TRUE(at.start());
  at.subject().set_pace(7);
  (void)at.reported();
  EXPECT_EQ(at.subject().options(true)["pace"], 7);
  // The part has not received the edit when it changes the option by itself.
  at.subject().set_pace(8);
  ASSERT_TRUE(at.subject().edit({{"pace", 9}}));
  (void)at.reported();
  EXPECT_EQ(at.subject().options(true)["pace"], 9);
  at.subject().set_pace(8);
  (void)at.reported();
  EXPECT_EQ(at.subject().options(true)["pace"], 8);
  at.stop();
}

TEST(sharded, one_that_ends_by_itself_says_why_until_it_is_started_again) {
  stage at;
  int failures = 0;
  at.subject().on_failure = [&] {
    EXPECT_EQ(loop::loop::current(), &at.sim().home);
    ++failures;
  };
  ASSERT_TRUE(at.start());
  at.subject().break_down("it rained");
  (void)at.reported();
  EXPECT_EQ(failures, 1);
  EXPECT_EQ(at.subject().failure_reason(), "it rained");
  at.stop();
  EXPECT_EQ(at.subject().failure_reason(), "it rained");
  ASSERT_TRUE(at.start());
  EXPECT_EQ(at.subject().failure_reason(), "");
  at.stop();
}

}  // namespace
}  // namespace strata::runtime
