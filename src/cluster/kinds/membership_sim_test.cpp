// Daemons of one cluster over a store of cards whose links are cut, slow and lossy, with daemons
// that are killed, start again, stop for a while, or pass to later ones: no name has two holders at
// a time, and two TTLs after the last fault all views are what stands in the store. A store that is
// restored from a backup has forgotten who holds a name, so only the views are looked at then.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cluster/etcd/testing/etcd_store.hpp"
#include "cluster/membership.hpp"
#include "cluster/testing/store_in_memory.hpp"
#include "loop/backends/sim_loop.hpp"
#include "net/testing/seeds.hpp"

namespace strata::cluster {
namespace {

using namespace std::chrono_literals;

constexpr auto ttl = 10s;

/// More processes than names, so that some names are wanted by two.
struct crowd {
  std::size_t names;
  std::size_t processes;
  std::size_t runtimes;  ///< of each
};
/// A pause is of all processes on a loop. More loops take more time.
constexpr std::size_t most_loops = 8;
constexpr crowd few = {.names = 4, .processes = 6, .runtimes = 1};

/// One process of a daemon.
class process {
 public:
  process(loop::sim_world& world, loop::loop& loop, card_store& store, const std::string& name,
          std::size_t runtimes, const std::string& claim_key)
      : runtimes_(runtimes),
        access_(store.connect(loop, ttl,
                              [&world] { return static_cast<double>(world.draw(1000)) / 1000; })),
        member_(
            loop, *access_.registry,
            {.daemon = name, .ttl = ttl, .pause_seed = world.draw(1000) + 1}, [] {},
            [](const std::string&) {}),
        name_(name) {
    member_.begin();
    access_.registry->adopt(claim_key);
    member_.join(next_card());
  }

  [[nodiscard]] std::string hand_over() { return member_.hand_over(); }
  void take_back() { member_.take_back(next_card()); }
  void change() { member_.update(next_card()); }
  [[nodiscard]] link_faults& faults() { return *access_.faults; }
  [[nodiscard]] const membership& member() const { return member_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const card& present() const { return card_; }

 private:
  card next_card() {
    ++version_;
    card_ = {.daemon = name_};
    for (std::size_t number = 0; number < runtimes_; ++number) {
      card_.runtimes.push_back({.name = "api" + std::to_string(number),
                                .type = "server",
                                .state = "running",
                                .connections = version_});
    }
    return card_;
  }

  const std::size_t runtimes_;
  card_store::access access_;
  membership member_;
  std::string name_;
  card card_;
  std::uint64_t version_ = 0;
};

class stage {
 public:
  template <class Store>
  stage(std::uint64_t seed, crowd crowd, std::in_place_type_t<Store> /*type*/)
      : crowd_(crowd),
        world_(seed),
        loop_(world_.add_loop()),
        store_(std::make_unique<Store>([this] { return world_.now(); })),
        all_(crowd.processes) {
    for (std::size_t count = std::min(most_loops, crowd.processes); count > 0; --count) {
      loops_.push_back(&world_.add_loop());
    }
    store_->on_claim = [this](const std::string& daemon) { check_holders(daemon); };
    for (std::size_t number = 0; number < all_.size(); ++number) start(number);
    loop_.spawn(keep_time());
  }
  ~stage() {
    handing_over_.earlier.reset();
    for (auto& each : all_) each.reset();
  }
  stage(const stage&) = delete;
  stage& operator=(const stage&) = delete;

  void trouble();
  void mend();
  void check();
  void run_for(loop::duration span) { world_.run_for(span); }
  std::uint64_t draw(std::uint64_t below) { return world_.draw(below); }

 private:
  void check_views() const;
  void check_single_holders();
  [[nodiscard]] loop::sim_loop& loop_of(std::size_t number) {
    return *loops_[number % loops_.size()];
  }
  void start(std::size_t number) {
    loop_of(number).pause(loop::duration::zero());
    all_[number] = make(number, {});
  }
  [[nodiscard]] std::unique_ptr<process> make(std::size_t number, const std::string& claim_key) {
    return std::make_unique<process>(world_, loop_of(number), *store_,
                                     "d" + std::to_string(number % crowd_.names), crowd_.runtimes,
                                     claim_key);
  }
  // Until the next trouble, both run.
  void hand_over(std::size_t number) {
    auto later = make(number, all_[number]->hand_over());
    handing_over_ = {.number = number, .earlier = std::exchange(all_[number], std::move(later))};
  }
  // The later one serves, or is gone and the earlier one goes on.
  void end_handover() {
    if (!handing_over_.earlier) return;
    if (draw(2) == 0) {
      auto& place = all_[handing_over_.number];
      place = std::move(handing_over_.earlier);
      place->take_back();
    }
    handing_over_.earlier.reset();
  }
  /// Whether it would act as the holder of its name now.
  [[nodiscard]] bool holds(std::size_t number) {
    if (loop_of(number).is_paused()) return false;
    loop_of(number).read_time();
    return all_[number]->member().present_state() == membership::state::held;
  }
  // Whoever has held a name must know that it may be lost before another gets it, unless it is
  // paused: then it must know before it does anything else.
  void check_holders(const std::string& daemon) {
    if (has_forgotten_) return;
    for (std::size_t number = 0; number < all_.size(); ++number) {
      const auto& each = all_[number];
      if (!each || each->name() != daemon) continue;
      EXPECT_FALSE(holds(number)) << daemon;
    }
  }
  loop::task<> keep_time() {
    for (;;) {
      store_->expire();
      co_await loop_.sleep(100ms);
    }
  }

  const crowd crowd_;
  loop::sim_world world_;
  loop::sim_loop& loop_;
  std::vector<loop::sim_loop*> loops_;  // of the processes
  std::unique_ptr<card_store> store_;
  std::vector<std::unique_ptr<process>> all_;
  struct {
    std::size_t number = 0;
    std::unique_ptr<process> earlier = nullptr;
  } handing_over_;
  bool is_full_ = false;            // the store
  std::set<std::size_t> troubled_;  // since all was mended
  bool has_forgotten_ = false;      // the store was restored since then
};

void stage::trouble() {
  end_handover();
  const auto number = draw(all_.size());
  troubled_.insert(number);
  auto& subject = *all_[number];
  auto& faults = subject.faults();
  switch (draw(14)) {
    case 0: faults.is_cut = !faults.is_cut; break;
    case 1: faults.is_dead = !faults.is_dead; break;
    case 2: faults.loses_requests = 0.3; break;
    case 3: faults.loses_answers = 0.3; break;
    case 4: faults.slowest = std::chrono::seconds(draw(12)); break;
    case 5: start(number); break;  // killed, and started again at once
    case 6: store_->compact(); break;
    case 7: faults = {}; break;
    case 8: store_->set_full(is_full_ = !is_full_); break;
    case 9: store_->back_up(); break;
    case 10:
      store_->restore();
      has_forgotten_ = true;
      break;
    case 11: hand_over(number); break;
    case 12: loop_of(number).pause(std::chrono::seconds(draw(25))); break;
    default: subject.change(); break;
  }
  check_single_holders();
}

// Of the processes that run, as they know it themselves.
void stage::check_single_holders() {
  if (has_forgotten_) return;
  std::set<std::string> held;
  for (std::size_t number = 0; number < all_.size(); ++number) {
    if (!holds(number)) continue;
    EXPECT_TRUE(held.insert(all_[number]->name()).second) << number;
  }
}

void stage::mend() {
  end_handover();
  store_->set_full(is_full_ = false);
  for (auto* const each : loops_) each->pause(loop::duration::zero());
  for (const auto number : troubled_) {
    all_[number]->faults() = {};
    all_[number]->change();
  }
  troubled_.clear();
}

void stage::check() {
  check_views();
  has_forgotten_ = false;
}

// The names of the daemons whose cards are not equal.
std::string differences(const std::map<std::string, card>& seen,
                        const std::map<std::string, card>& present) {
  std::string names;
  const auto add_missing = [&names](const auto& cards, const auto& others, std::string_view verb) {
    for (const auto& [daemon, card] : cards) {
      const auto other = others.find(daemon);
      if (other == others.end() || other->second != card)
        fmt::format_to(std::back_inserter(names), "{} {}, ", verb, daemon);
    }
  };
  add_missing(seen, present, "sees another");
  add_missing(present, seen, "does not see");
  return names;
}

void stage::check_views() const {
  auto texts = store_->cards();
  std::map<std::string, card> present;
  for (const auto& [daemon, text] : texts) present[daemon] = read_card(text).value();
  EXPECT_EQ(present.size(), crowd_.names);
  std::map<std::string, std::size_t> holders;
  for (const auto& each : all_) {
    const bool holds = each->member().present_state() == membership::state::held;
    if (holds) {
      ++holders[each->name()];
      EXPECT_EQ(texts[each->name()], write_card(each->present()));
    } else {
      EXPECT_EQ(each->member().present_state(), membership::state::conflict) << each->name();
    }
    EXPECT_TRUE(each->member().cards() == present)
        << differences(each->member().cards(), present) << "as " << each->name() << " sees it";
  }
  EXPECT_EQ(holders.size(), crowd_.names);
  for (const auto& [name, count] : holders) EXPECT_EQ(count, 1U) << name;
}

/// A world in which faults come and end, as often as there are episodes.
struct scenario {
  crowd who;
  std::uint64_t most_faults;  ///< of an episode
  std::uint64_t episodes;
};

template <class Store>
void play(std::uint64_t seed, const scenario& scenario) {
  stage stage(seed, scenario.who, std::in_place_type<Store>);
  for (std::uint64_t episode = 0; episode < scenario.episodes; ++episode) {
    SCOPED_TRACE("episode " + std::to_string(episode));
    for (auto faults = stage.draw(scenario.most_faults); faults > 0; --faults) {
      stage.trouble();
      stage.run_for(std::chrono::milliseconds(stage.draw(8000)));
    }
    stage.mend();
    stage.run_for(2 * ttl + 15s);
    stage.check();
    if (testing::Test::HasFailure()) return;
  }
}

template <class Store>
void play_few() {
  for_each_seed([](std::uint64_t seed) {
    play<Store>(seed, {.who = few, .most_faults = 30, .episodes = 2});
  });
}

TEST(membership_simulation, views_agree_two_ttls_after_the_last_fault) {
  play_few<store_in_memory>();
}

TEST(membership_simulation, views_agree_over_etcd) { play_few<etcd_store>(); }

std::uint64_t number_from(const char* variable, std::uint64_t usual) {
  const char* const given = std::getenv(variable);
  return given == nullptr ? usual : std::strtoull(given, nullptr, 10);
}

// STRATA_DAEMONS sets their number, STRATA_EPISODES how often faults come: a thousand daemons take
// longer to start than to live through an episode. Every five hundredth seed is one of this test.
template <class Store>
void play_many() {
  const auto count = number_from("STRATA_DAEMONS", 40);
  const scenario many = {.who = {.names = count, .processes = count + count / 20, .runtimes = 10},
                         .most_faults = 60,
                         .episodes = number_from("STRATA_EPISODES", 3)};
  for_each_seed([&many](std::uint64_t seed) {
    if (seed % 500 == 1) play<Store>(seed, many);
  });
}

TEST(membership_simulation, the_views_of_many_daemons_agree) { play_many<store_in_memory>(); }

TEST(membership_simulation, the_views_of_many_daemons_agree_over_etcd) { play_many<etcd_store>(); }

}  // namespace
}  // namespace strata::cluster
