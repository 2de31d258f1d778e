#include "measure/run/experiment.hpp"

#include <algorithm>

#include "measure/counting/message.hpp"

namespace strata::measure {

namespace {

order order_for(const plan& what, const series& one, std::uint64_t run) {
  return {.role = one.kind() == quantity::round_trip ? "ping" : "send",
          .path = std::string(one.path().name),
          .mtu = one.mtu(),
          .payload = one.payload(),
          .tagged = one.is_tagged(),
          .busy = one.is_busy(),
          .buffer = what.buffer,
          .run = run,
          .seconds = what.seconds,
          .rate = one.rate(),
          .foreign = one.foreign(),
          .planted_sleep = what.planted_sleep};
}

class runner {
 public:
  runner(testbed& in, const plan& what, const progress& show)
      : testbed_(in), plan_(what), show_(show), begin_ns_(now_ns()) {}

  result<void> run(std::size_t index, std::vector<series>& into) {
    const auto& group = plan_.groups[index];
    std::vector<series> contenders;
    contenders.reserve(group.contenders.size());
    for (const auto& who : group.contenders) contenders.emplace_back(group, who);
    for (std::uint64_t round = 0; round < plan_.most_repetitions; ++round) {
      if (round >= plan_.least_repetitions && (is_settled(contenders) || is_late(index))) break;
      for (std::size_t i = 0; i < contenders.size(); ++i) {
        auto& one = contenders[(i + round) % contenders.size()];
        if (!one.failure().empty()) continue;
        show_(part_done(index, round, i, contenders.size()), text_of(one));
        const auto seen = testbed_.run(order_for(plan_, one, ++run_));
        if (seen) {
          one.add(*seen);
        } else if (seen.error().code == errc::connection_closed) {
          return std::unexpected(seen.error());
        } else {
          one.give_up(strata::describe(seen.error()));
        }
      }
    }
    std::ranges::move(contenders, std::back_inserter(into));
    return {};
  }
  [[nodiscard]] double seconds() const { return static_cast<double>(now_ns() - begin_ns_) / 1e9; }

 private:
  [[nodiscard]] bool is_settled(const std::vector<series>& all) const {
    return std::ranges::all_of(all, [&](const series& one) {
      return !one.failure().empty() || one.spread() <= plan_.spread_bound;
    });
  }
  // Each group may take its share of the time.
  [[nodiscard]] bool is_late(std::size_t index) const {
    if (plan_.limit_seconds <= 0) return false;
    const double share = static_cast<double>(index + 1) / static_cast<double>(plan_.groups.size());
    return seconds() > plan_.limit_seconds * share;
  }
  [[nodiscard]] double part_done(std::size_t index, std::uint64_t round, std::size_t at,
                                 std::size_t count) const {
    const auto rounds = static_cast<double>(plan_.most_repetitions);
    const double within =
        (static_cast<double>(round) + static_cast<double>(at) / static_cast<double>(count)) /
        rounds;
    return (static_cast<double>(index) + within) / static_cast<double>(plan_.groups.size());
  }
  static std::string text_of(const series& one) {
    return std::string(name_of(one.kind())) + ' ' + std::string(one.path().name) + ' ' +
           std::to_string(one.payload()) + " B";
  }

  testbed& testbed_;
  const plan& plan_;
  const progress& show_;
  std::uint64_t begin_ns_;
  std::uint64_t run_ = 0;
};

}  // namespace

result<findings> run_experiment(testbed& in, const plan& what, const progress& show) {
  constexpr std::size_t socket_repetitions = 15;
  findings found{.of = what, .link = in.describe()};
  runner doing(in, what, show);
  for (std::size_t i = 0; i < what.groups.size(); ++i) {
    if (auto done = doing.run(i, found.all); !done) return std::unexpected(done.error());
  }
  if (what.measures_sockets) {
    show(1, "sockets");
    auto timed = in.time_sockets(socket_repetitions);
    if (!timed) return std::unexpected(timed.error());
    found.sockets = std::move((*timed)["sockets"]);
  }
  found.seconds = doing.seconds();
  return found;
}

}  // namespace strata::measure
