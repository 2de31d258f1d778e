#include "measure/run/experiment.hpp"

#include <fmt/chrono.h>

#include <algorithm>
#include <ctime>
#include <iterator>

#include "measure/counting/message.hpp"

namespace strata::measure {

namespace {

order order_for(const plan& plan, const series& one, std::uint64_t run) {
  return {.role = one.kind() == quantity::round_trip ? "ping" : "send",
          .path = std::string(one.path().name),
          .mtu = one.mtu(),
          .payload = one.payload(),
          .tagged = one.is_tagged(),
          .vlan_id = plan.vlan_id,
          .priority = plan.priority,
          .busy = one.is_busy(),
          .buffer = plan.buffer,
          .run = run,
          .seconds = plan.seconds,
          .rate = one.rate(),
          .foreign = one.foreign(),
          .planted_sleep = plan.planted_sleep};
}

// Returns the order of one run: one contender of each group, then another one of each group, and so
// on. So a contender is measured within seconds of the base, and a temporary slowdown of the
// machine affects all payloads.
std::vector<series*> order_of_run(std::vector<std::vector<series>>& groups, std::uint64_t run) {
  std::size_t passes = 0;
  for (const auto& each : groups) passes = std::max(passes, each.size());
  std::vector<series*> order;
  for (std::size_t pass = 0; pass < passes; ++pass) {
    for (auto& group : groups) {
      if (pass < group.size()) order.push_back(&group[(pass + run) % group.size()]);
    }
  }
  return order;
}

std::string text_of(const series& one) {
  return std::string(name_of(one.kind())) + ' ' + std::string(one.path().name) + ' ' +
         std::to_string(one.payload()) + " B";
}

class runner {
 public:
  runner(testbed& testbed, const plan& plan, const progress& show)
      : testbed_(testbed), plan_(plan), show_(show), begin_ns_(now_ns()) {
    for (const auto& group : plan.groups) {
      auto& contenders = groups_.emplace_back();
      for (const auto& who : group.contenders) contenders.emplace_back(group, who);
    }
  }

  result<void> run(std::uint64_t number) {
    const auto order = order_of_run(groups_, number);
    double done = 0;
    for (auto* const one : order) {
      const double part = done++ / static_cast<double>(order.size());
      if (!one->failure().empty()) continue;
      show_((static_cast<double>(number) + part) / static_cast<double>(plan_.runs), text_of(*one));
      if (auto measured = measure(*one); !measured) return measured;
    }
    return {};
  }
  [[nodiscard]] std::vector<series> take() {
    std::vector<series> all;
    for (auto& each : groups_) std::ranges::move(each, std::back_inserter(all));
    return all;
  }
  [[nodiscard]] double seconds() const { return static_cast<double>(now_ns() - begin_ns_) / 1e9; }

 private:
  // Fails only if no other path could be measured either.
  result<void> measure(series& one) {
    const auto seen = testbed_.run(order_for(plan_, one, ++count_));
    if (seen) {
      one.add(*seen);
    } else if (seen.error().code == errc::connection_closed) {
      return std::unexpected(seen.error());
    } else {
      one.give_up(strata::describe(seen.error()));
    }
    return {};
  }

  testbed& testbed_;
  const plan& plan_;
  const progress& show_;
  std::uint64_t begin_ns_;
  std::vector<std::vector<series>> groups_;
  std::uint64_t count_ = 0;
};

std::string local_time() {
  const auto now = std::time(nullptr);
  std::tm parts{};
  ::localtime_r(&now, &parts);
  return fmt::format("{:%FT%T%z}", parts);
}

}  // namespace

result<findings> run_experiment(testbed& testbed, const plan& plan, const progress& show) {
  constexpr std::size_t socket_repetitions = 15;
  findings found{.of = plan, .link = testbed.describe(), .began = local_time()};
  runner doing(testbed, plan, show);
  for (std::uint64_t number = 0; number < plan.runs; ++number) {
    if (auto done = doing.run(number); !done) return std::unexpected(done.error());
  }
  found.all = doing.take();
  if (plan.measures_sockets) {
    show(1, "sockets");
    auto timed = testbed.time_sockets(socket_repetitions);
    if (!timed) return std::unexpected(timed.error());
    found.sockets = std::move((*timed)["sockets"]);
  }
  found.seconds = doing.seconds();
  return found;
}

}  // namespace strata::measure
