// The supervisor with a store that blocks until it is released, or fails.
#include "daemon/supervisor/supervisor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>

#include "daemon/store/testing/memory_record_store.hpp"
#include "daemon/supervisor/testing/sim_loops.hpp"
#include "loop/backends/sim_loop.hpp"

namespace strata::daemon {
namespace {

using namespace std::chrono_literals;

class supervisor_test : public testing::Test {
 protected:
  template <class T>
  using pending = std::shared_ptr<std::optional<T>>;

  /// Begins an operation, and runs until only blocked calls wait.
  template <class T>
  pending<T> begin(loop::task<T> work) {
    auto into = std::make_shared<std::optional<T>>();
    const auto run = [](loop::task<T> inner, pending<T> value) -> loop::task<> {
      value->emplace(co_await inner);
    };
    tasks_.spawn(run(std::move(work), into));
    wait_until_applied();
    return into;
  }
  void wait_until_applied() { world_.run_for(1s); }
  void release(const std::string& text) {
    store_.release(text);
    wait_until_applied();
  }
  pending<bool> begin_shut_down() {
    const auto run = [](supervisor& supervisor, loop::time_point limit) -> loop::task<bool> {
      co_await supervisor.shut_down(limit);
      co_return true;
    };
    return begin(run(subject_, home_.now() + 3600s));
  }

  loop::task<> edit_group(std::string name, std::string group) {
    nlohmann::json changes = {{"group", std::move(group)}};
    (void)co_await subject_.edit(std::move(name), std::move(changes));
  }

  std::vector<std::string> backends_of(const std::string& name) {
    const auto asked = begin(subject_.ask(name, "backends", {}));
    std::vector<std::string> backends;
    if (!*asked || !**asked) return {"no answer"};
    for (const auto& each : ***asked) backends.push_back(each.at("backend"));
    return backends;
  }

  static nlohmann::json options(const std::string& owner = {}) {
    return {{"listen", {"tcp://127.0.0.1:0"}}, {"owner", owner}};
  }
  pending<result<entry_ref>> create(const std::string& name, bool start = false,
                                    const std::string& owner = {}) {
    return begin(subject_.create(
        {.type = "server", .name = name, .options = options(owner), .is_started = start}));
  }
  void have(const std::string& name, const std::string& owner = {}) {
    const auto made = create(name, false, owner);
    ASSERT_TRUE(*made && **made) << name;
  }
  [[nodiscard]] nlohmann::json kept_options(const std::string& name) {
    return nlohmann::json::parse(records_.records.at(name).options);
  }
  [[nodiscard]] std::string owner_of(const std::string& name) const {
    return (*subject_.find(name))->body->common().owner;
  }

  loop::sim_world world_{1};
  loop::sim_loop& home_ = world_.add_loop();
  sim_loops loops_{world_};
  memory_records records_;
  store_faults faults_;
  // Owned by the supervisor.
  memory_record_store& store_ = *new memory_record_store(home_, records_, faults_, 1);
  supervisor subject_{home_, loops_, std::unique_ptr<record_store>(&store_)};
  loop::task_group tasks_;
};

TEST_F(supervisor_test, others_go_on_while_a_save_takes_for_ever) {
  have("other");
  store_.block("put stuck");
  const auto stuck = create("stuck");
  const auto edited = begin(subject_.edit("other", {{"group", "g"}}));
  const auto started = begin(subject_.start("other"));
  ASSERT_TRUE(*edited && **edited && *started && **started);
  EXPECT_EQ((*subject_.find("other"))->state, run_state::running);
  EXPECT_EQ(subject_.list().all().size(), 1U) << "what is not saved is shown to nobody";
  EXPECT_FALSE(subject_.find("stuck"));
  EXPECT_FALSE(*stuck) << "it is acknowledged when it is saved";
  release("put stuck");
  EXPECT_TRUE(*stuck && **stuck);
  EXPECT_EQ(subject_.list().all().size(), 2U);
  EXPECT_TRUE(*begin_shut_down());
}

TEST_F(supervisor_test, a_watch_of_a_group_is_given_its_members_after_each_change) {
  have("a");
  have("b");
  using names = std::vector<std::string>;
  std::vector<net::place_members> given;
  auto watch = subject_.names().watch_members(
      home_, "watcher", "@g",
      [&given](net::place_members members) { given.push_back(std::move(members)); });
  wait_until_applied();
  ASSERT_EQ(given.size(), 1U) << "even of an empty group";
  EXPECT_EQ(given.back().names, names());

  begin(subject_.start("a"));
  EXPECT_EQ(given.size(), 1U) << "what is in no group changes none";
  begin(subject_.edit("a", {{"group", "g"}}));
  EXPECT_EQ(given.back().names, names({"a"}));
  begin(subject_.edit("b", {{"group", "g"}}));
  EXPECT_EQ(given.size(), 2U) << "what does not run is no member";
  begin(subject_.start("b"));
  EXPECT_EQ(given.back().names, names({"a", "b"}));
  begin(subject_.stop("a"));
  EXPECT_EQ(given.back().names, names({"b"}));

  const nlohmann::json circle = {
      {"listen", {"tcp://127.0.0.1:0"}}, {"backend", {"runtime://watcher"}}, {"group", "g"}};
  begin(subject_.create({.type = "proxy", .name = "c", .options = circle, .is_started = true}));
  EXPECT_EQ(given.back().names, names({"b"}));
  EXPECT_EQ(given.back().circular, names({"c"}));
  begin(subject_.remove("c"));
  EXPECT_EQ(given.back().circular, names());

  const auto count = given.size();
  watch.reset();
  begin(subject_.stop("b"));
  EXPECT_EQ(given.size(), count) << "the watch has ended";
}

TEST_F(supervisor_test, a_member_that_led_back_is_given_once_it_does_no_longer) {
  have("c");
  for (const std::string name : {"a", "b"}) {
    const nlohmann::json options = {{"listen", {"tcp://127.0.0.1:0"}},
                                    {"backend", {"@to_" + name}}};
    begin(subject_.create({.type = "proxy", .name = name, .options = options, .is_started = true}));
  }
  using names = std::vector<std::string>;
  for (const auto& [member, other] :
       {std::pair("a", "b"), std::pair("b", "a"), std::pair("a", "b")}) {
    // The directory has just made a pass, and sees both edits in its next one.
    tasks_.spawn(edit_group("c", std::string("x_") + member));
    world_.run_for(20ms);
    tasks_.spawn(edit_group(other, ""));
    begin(subject_.edit(member, {{"group", std::string("to_") + other}}));
    EXPECT_EQ(backends_of(other), names({std::string("runtime://") + member}));
    EXPECT_EQ(backends_of(member), names({std::string("@to_") + member})) << "it has no member";
  }
}

TEST_F(supervisor_test, a_rehearsal_is_in_no_group_afterwards) {
  std::vector<net::place_members> given;
  const auto watch = subject_.names().watch_members(
      home_, "watcher", "@g",
      [&given](net::place_members members) { given.push_back(std::move(members)); });
  have("a");
  begin(subject_.edit("a", {{"group", "g"}}));
  begin(subject_.start("a"));
  const nlohmann::json circle = {{"listen", {"tcp://127.0.0.1:0"}},
                                 {"backend", {"runtime://watcher", "runtime://a"}},
                                 {"group", "g"}};
  const auto rehearsed = begin(
      subject_.create({.type = "proxy", .name = "c", .options = circle, .is_rehearsal = true}));
  ASSERT_TRUE(*rehearsed && **rehearsed);
  EXPECT_EQ(given.back().names, std::vector<std::string>({"a"}));
  EXPECT_EQ(given.back().circular, std::vector<std::string>());
}

TEST_F(supervisor_test, of_two_creates_of_a_name_one_is_refused_at_once) {
  store_.block("put twin");
  const auto first = create("twin");
  const auto second = create("twin");
  ASSERT_TRUE(*second && !**second);
  EXPECT_EQ((*second)->error().code, errc::already_exists);
  release("put twin");
  ASSERT_TRUE(*first && **first);
  EXPECT_EQ(std::ranges::count(store_.asked, "put twin"), 1);
  EXPECT_EQ(records_.records.size(), 1U);
}

TEST_F(supervisor_test, a_create_whose_save_fails_leaves_the_name_free) {
  store_.block("put a");
  store_.fail("put a");
  const auto failed = create("a");
  release("put a");
  ASSERT_TRUE(*failed && !**failed);
  EXPECT_EQ((*failed)->error().code, errc::no_space);
  EXPECT_TRUE(subject_.list().all().empty());
  const auto again = create("a");
  ASSERT_TRUE(*again && !**again);
  EXPECT_EQ((*again)->error().code, errc::no_space) << "and not already_exists";
}

TEST_F(supervisor_test, a_name_is_taken_until_its_removal_is_saved) {
  have("a");
  store_.block("remove a");
  const auto removed = begin(subject_.remove("a"));
  const auto refused = create("a");
  ASSERT_TRUE(*refused && !**refused);
  EXPECT_EQ((*refused)->error().code, errc::already_exists);
  release("remove a");
  ASSERT_TRUE(*removed && **removed);
  const auto made = create("a");
  ASSERT_TRUE(*made && **made);
  EXPECT_EQ(records_.records.count("a"), 1U);
}

TEST_F(supervisor_test, an_edit_while_it_is_removed_finds_nothing_and_saves_nothing) {
  have("a");
  store_.block("remove a");
  const auto removed = begin(subject_.remove("a"));
  const auto edited = begin(subject_.edit("a", {{"group", "late"}}));
  const auto started = begin(subject_.start("a"));
  EXPECT_FALSE(*edited) << "one operation on a runtime at a time";
  release("remove a");
  ASSERT_TRUE(*removed && **removed && *edited && *started);
  ASSERT_FALSE(**edited);
  EXPECT_EQ((*edited)->error().code, errc::not_found);
  EXPECT_FALSE(**started);
  EXPECT_TRUE(records_.records.empty());
}

TEST_F(supervisor_test, a_removal_that_fails_changes_nothing) {
  have("a");
  store_.fail("remove a");
  const auto removed = begin(subject_.remove("a"));
  ASSERT_TRUE(*removed && !**removed);
  EXPECT_TRUE(subject_.find("a"));
}

TEST_F(supervisor_test, an_edit_whose_save_fails_is_taken_back) {
  have("a");
  store_.block("put a");
  store_.fail("put a");
  const auto edited = begin(subject_.edit("a", {{"group", "g"}}));
  EXPECT_FALSE(*edited);
  release("put a");
  ASSERT_TRUE(*edited && !**edited);
  EXPECT_EQ((*edited)->error().code, errc::no_space);
  EXPECT_EQ((*subject_.find("a"))->body->common().group, "");
  EXPECT_EQ(kept_options("a").at("group"), "");
}

TEST_F(supervisor_test, a_start_whose_save_fails_leaves_nothing_running) {
  have("a");
  store_.fail("put a");
  const auto started = begin(subject_.start("a"));
  ASSERT_TRUE(*started && !**started);
  EXPECT_EQ((*subject_.find("a"))->state, run_state::failed);
  EXPECT_EQ(world_.open_count(), 0U);
}

TEST_F(supervisor_test, no_circle_of_owners_comes_of_an_edit_that_is_taken_back) {
  have("c");
  have("b");
  have("a", "c");
  store_.block("put a");
  store_.fail("put a");
  const auto edited = begin(subject_.edit("a", {{"owner", "b"}}));
  const auto circle = begin(subject_.edit("c", {{"owner", "a"}}));
  ASSERT_TRUE(*circle && !**circle) << "a may become a child of c again";
  EXPECT_EQ((*circle)->error().code, errc::conflict);
  release("put a");
  ASSERT_TRUE(*edited && !**edited);
  EXPECT_EQ(owner_of("a"), "c");
}

TEST_F(supervisor_test, a_child_that_is_created_while_its_owner_goes_is_left_without_owner) {
  have("parent");
  store_.block("put child");
  const auto child = create("child", false, "parent");
  const auto removed = begin(subject_.remove("parent"));
  EXPECT_FALSE(*removed) << "it awaits the child";
  const auto late = create("late", false, "parent");
  ASSERT_TRUE(*late && !**late) << "the owner is gone";
  EXPECT_EQ((*late)->error().code, errc::not_found);
  release("put child");
  ASSERT_TRUE(*child && **child && *removed && **removed);
  EXPECT_EQ(owner_of("child"), "");
  EXPECT_EQ(kept_options("child").at("owner"), "");
}

TEST_F(supervisor_test, the_end_awaits_the_saves_and_what_was_acknowledged_is_saved) {
  have("edited");
  store_.block("put created");
  store_.block("put edited");
  const auto created = create("created", true);
  const auto edited = begin(subject_.edit("edited", {{"group", "g"}}));
  const auto ended = begin_shut_down();
  EXPECT_FALSE(*ended);
  EXPECT_EQ(subject_.unstopped(), (std::vector<std::string>{"created", "edited"}));
  release("put created");
  EXPECT_FALSE(*ended) << "one save is still under way";
  ASSERT_TRUE(*created && **created);
  EXPECT_TRUE(records_.records.at("created").running);
  release("put edited");
  ASSERT_TRUE(*edited && **edited);
  EXPECT_TRUE(*ended);
  EXPECT_EQ(kept_options("edited").at("group"), "g");
  EXPECT_EQ(world_.open_count(), 0U) << "what ran is stopped";
}

TEST_F(supervisor_test, what_waits_behind_the_end_neither_starts_nor_is_left_half_done) {
  have("a");
  store_.block("put a");
  const auto edited = begin(subject_.edit("a", {{"group", "g"}}));
  const auto ended = begin_shut_down();
  const auto started = begin(subject_.start("a"));
  const auto late = begin(subject_.edit("a", {{"group", "h"}}));
  release("put a");
  ASSERT_TRUE(*edited && *started && *late && *ended);
  EXPECT_TRUE(**edited);
  ASSERT_FALSE(**started);
  EXPECT_EQ((*started)->error().code, errc::conflict);
  EXPECT_TRUE(**late);
  EXPECT_EQ(kept_options("a").at("group"), "h");
}

TEST_F(supervisor_test, the_records_come_back_and_what_ran_runs) {
  const auto text = options().dump();
  records_.put({"a", "server", "2026-11-21T00:00:00.000Z", true, text});
  records_.put({"b", "server", "2026-11-21T00:00:00.000Z", false, text});
  records_.put({"c", "of no type", "2026-11-21T00:00:00.000Z", true, text});
  const auto loaded = begin(subject_.load());
  ASSERT_TRUE(*loaded && **loaded);
  tasks_.spawn(subject_.start_all());
  wait_until_applied();
  ASSERT_EQ(subject_.list().all().size(), 2U);
  EXPECT_EQ((*subject_.find("a"))->state, run_state::running);
  EXPECT_EQ((*subject_.find("b"))->state, run_state::created);
  EXPECT_EQ(records_.records.count("c"), 1U) << "what this build cannot run stays";
  EXPECT_TRUE(*begin_shut_down());
}

TEST_F(supervisor_test, a_stop_that_cannot_be_written_is_written_as_soon_as_the_store_takes_it) {
  have("a");
  ASSERT_TRUE(**begin(subject_.start("a")));
  store_.fail("put a");
  const auto stopped = begin(subject_.stop("a"));
  ASSERT_TRUE(*stopped && !**stopped);
  EXPECT_NE(describe((*stopped)->error()).find("'a', which is stopped"), std::string::npos);
  EXPECT_EQ((*subject_.find("a"))->state, run_state::stopped);
  EXPECT_TRUE(records_.records.at("a").running);
  store_.heal("put a");
  world_.run_for(60s);
  EXPECT_FALSE(records_.records.at("a").running);
}

TEST_F(supervisor_test, a_start_that_fails_is_not_to_run_with_the_next_daemon) {
  have("a");
  const auto port = (*create("holder", true)).has_value();
  ASSERT_TRUE(port);
  const auto taken = (*subject_.find("holder"))->body->endpoints();
  ASSERT_TRUE(**begin(subject_.edit("a", {{"listen", taken}})));
  const auto started = begin(subject_.start("a"));
  ASSERT_TRUE(*started && !**started);
  EXPECT_EQ((*subject_.find("a"))->state, run_state::failed);
  EXPECT_FALSE(records_.records.at("a").running);
  EXPECT_FALSE((*subject_.find("a"))->next_start) << "nobody starts it again";
  EXPECT_TRUE(*begin_shut_down());
}

TEST_F(supervisor_test, an_edit_of_a_stale_revision_is_refused) {
  have("a");
  const auto known = (*subject_.find("a"))->stored.revision;
  const auto first = begin(subject_.edit("a", {{"group", "first"}}, known));
  ASSERT_TRUE(*first && **first);
  const auto second = begin(subject_.edit("a", {{"group", "second"}}, known));
  ASSERT_TRUE(*second && !**second);
  EXPECT_EQ((*second)->error().code, errc::conflict);
  EXPECT_EQ((*subject_.find("a"))->body->common().group, "first");
}

TEST_F(supervisor_test, a_write_whose_answer_was_lost_does_not_stand_in_the_way_of_the_next) {
  have("a");
  faults_.lost_answer = 1;
  const auto lost = begin(subject_.edit("a", {{"group", "lost"}}));
  ASSERT_TRUE(*lost && !**lost);
  faults_ = {};
  const auto next = begin(subject_.edit("a", {{"owner", ""}}));
  ASSERT_TRUE(*next && **next) << describe((*next)->error());
  wait_until_applied();
  EXPECT_EQ(records_.records.at("a").revision, (*subject_.find("a"))->stored.revision);
}

TEST_F(supervisor_test, what_another_writes_is_done) {
  const auto loaded = begin(subject_.load());
  ASSERT_TRUE(*loaded && **loaded);
  have("a");
  have("b");
  auto theirs = records_.records.at("a");
  auto changed = nlohmann::json::parse(theirs.options);
  changed["group"] = "theirs";
  theirs.options = changed.dump();
  theirs.running = true;
  records_.put(theirs);
  records_.erase("b");
  records_.put({"c", "server", "2026-11-21T00:00:00.000Z", true, options().dump()});
  wait_until_applied();
  const auto a = subject_.find("a");
  ASSERT_TRUE(a);
  EXPECT_EQ((*a)->state, run_state::running);
  EXPECT_EQ((*a)->body->common().group, "theirs");
  EXPECT_FALSE(subject_.find("b"));
  const auto c = subject_.find("c");
  ASSERT_TRUE(c);
  EXPECT_EQ((*c)->state, run_state::running);
  EXPECT_TRUE(*begin_shut_down());
}

TEST_F(supervisor_test, a_record_that_another_makes_unusable_or_usable_again_is_taken_so) {
  const auto loaded = begin(subject_.load());
  ASSERT_TRUE(*loaded && **loaded);
  have("a");
  const auto good = records_.records.at("a");
  auto strange = good;
  strange.type = "of no type";
  records_.put(strange);
  wait_until_applied();
  EXPECT_FALSE(subject_.find("a"));
  ASSERT_TRUE(subject_.list().unusable().contains("a"));
  records_.put(good);
  wait_until_applied();
  EXPECT_TRUE(subject_.find("a"));
  EXPECT_TRUE(subject_.list().unusable().empty());
  strange.revision = 0;
  records_.put(strange);
  wait_until_applied();
  ASSERT_TRUE(**begin(subject_.remove("a"))) << "by the revision that the store has";
  EXPECT_TRUE(records_.records.empty());
}

TEST_F(supervisor_test, a_history_that_is_lost_is_made_up_for_by_all_names) {
  const auto loaded = begin(subject_.load());
  ASSERT_TRUE(*loaded && **loaded);
  have("a");
  faults_.forgetting = 1;
  records_.erase("a");
  wait_until_applied();
  EXPECT_TRUE(subject_.list().all().empty());
  records_.put({"b", "server", "2026-11-21T00:00:00.000Z", false, options().dump()});
  wait_until_applied();
  EXPECT_TRUE(subject_.find("b"));
}

TEST_F(supervisor_test, a_store_that_cannot_be_read_is_an_error) {
  store_.fail("load");
  const auto loaded = begin(subject_.load());
  ASSERT_TRUE(*loaded && !**loaded);
  EXPECT_EQ((*loaded)->error().code, errc::no_space);
}

}  // namespace
}  // namespace strata::daemon
