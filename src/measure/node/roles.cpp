#include "measure/node/roles.hpp"

#include <algorithm>
#include <optional>

#include "measure/node/allocation_count.hpp"
#include "measure/node/thread_events.hpp"

namespace strata::measure {

namespace {

constexpr std::uint64_t second_ns = 1'000'000'000;

// Measures a thread's CPU time, events and allocations, from its creation to `into`.
class meter {
 public:
  void into(end_result& result) const {
    result.cpu_ns = thread_cpu_ns() - cpu_;
    if (allocations_) {
      result.allocations = static_cast<std::int64_t>(*allocation_count() - *allocations_);
    }
    if (!events_) return;
    if (const auto counted = events_->read()) {
      result.cycles = static_cast<std::int64_t>((*counted)[0]);
      result.instructions = static_cast<std::int64_t>((*counted)[1]);
    }
  }

 private:
  result<thread_events> events_ = thread_events::open_cycles_and_instructions();
  std::uint64_t cpu_ = thread_cpu_ns();
  std::optional<std::uint64_t> allocations_ = allocation_count();
};

void count_into(end_result& result, const tally& tally) {
  result.delivered = tally.delivered();
  result.duplicates = tally.duplicates();
  result.reordered = tally.reordered();
  result.strays = tally.strays();
  result.rate = tally.rate();
}

// Sends at full speed.
result<void> flood(const order& order, sender& out, end_result& seen) {
  const auto end = now_ns() + static_cast<std::uint64_t>(order.seconds * second_ns);
  while (now_ns() < end) {
    const auto taken = out.send({.first = {.sequence = seen.sent, .run = order.run}}, out.most());
    if (!taken) return std::unexpected(taken.error());
    seen.sent += *taken;
  }
  return {};
}

// Sends at a rate. Each message carries the time at which it should have been sent, whatever
// delayed it.
result<void> send_paced(const order& order, sender& out, foreign_traffic* traffic,
                        end_result& seen) {
  const double interval_ns = second_ns / order.rate;
  const auto begin = now_ns();
  const auto length_ns = static_cast<std::uint64_t>(order.seconds * second_ns);
  const auto all = static_cast<std::uint64_t>(order.seconds * order.rate);
  while (seen.sent < all) {
    const auto passed = now_ns() - begin;
    // Ends also at a rate that the path cannot carry.
    if (passed > 2 * length_ns + second_ns) break;
    if (traffic != nullptr) {
      if (auto sent = traffic->send_due(passed); !sent) return sent;
      seen.foreign = traffic->sent();
    }
    const auto reached = static_cast<std::uint64_t>(static_cast<double>(passed) / interval_ns) + 1;
    const auto due = std::min(all, reached);
    if (due <= seen.sent) continue;
    const double behind_ns = static_cast<double>(seen.sent) * interval_ns;
    const pace stamps{.first = {.sequence = seen.sent,
                                .time_ns = begin + static_cast<std::uint64_t>(behind_ns),
                                .run = order.run},
                      .interval_ns = interval_ns};
    const auto count = std::min<std::uint64_t>(due - seen.sent, out.most());
    const auto taken = out.send(stamps, count);
    if (!taken) return std::unexpected(taken.error());
    seen.sent += *taken;
  }
  return {};
}

result<void> run_sender(const order& order, sender& out, foreign_traffic* traffic,
                        end_result& seen) {
  const auto begin = now_ns();
  const meter worked;
  auto done = order.rate > 0 ? send_paced(order, out, traffic, seen) : flood(order, out, seen);
  if (done) done = out.flush();
  worked.into(seen);
  seen.seconds = static_cast<double>(now_ns() - begin) / second_ns;
  return done;
}

// Receives until it is asked to stop, and then until nothing more arrives.
result<void> run_receiver(const order& order, receiver& receiver, const stop_flag& stop,
                          end_result& seen) {
  tally counted(order.run, order.planted_sleep);
  const meter worked;
  std::optional<std::uint64_t> asked_ns;
  for (;;) {
    const auto got = receiver.receive(counted);
    if (!got) return std::unexpected(got.error());
    if (asked_ns && (*got == 0 || now_ns() - *asked_ns > second_ns)) break;
    if (!asked_ns && stop.load(std::memory_order_relaxed)) asked_ns = now_ns();
  }
  worked.into(seen);
  count_into(seen, counted);
  seen.times = counted.delays().buckets();
  const auto dropped = receiver.dropped();
  if (!dropped) return std::unexpected(dropped.error());
  seen.dropped = *dropped;
  return {};
}

result<void> run_ping(const order& order, const end& both, end_result& seen) {
  constexpr std::uint64_t answer_limit_ns = second_ns / 10;
  tally counted(order.run, false);
  histogram times;
  const auto begin = now_ns();
  const auto end = begin + static_cast<std::uint64_t>(order.seconds * second_ns);
  const meter worked;
  for (auto sent_ns = begin; sent_ns < end;) {
    const auto before = counted.delivered();
    sent_ns = now_ns();
    const auto taken = both.out->send({.first = {.sequence = seen.sent, .run = order.run}}, 1);
    if (!taken) return std::unexpected(taken.error());
    if (*taken == 0) continue;
    ++seen.sent;
    for (;;) {
      const auto got = both.in->receive(counted);
      if (!got) return std::unexpected(got.error());
      const auto now = now_ns();
      // A late answer to an earlier message does not count as this one's.
      if (counted.delivered() != before && counted.last().sequence + 1 == seen.sent) {
        times.record(now - sent_ns);
        break;
      }
      if (now - sent_ns > answer_limit_ns) break;
    }
  }
  worked.into(seen);
  count_into(seen, counted);
  seen.seconds = static_cast<double>(now_ns() - begin) / second_ns;
  seen.times = times.buckets();
  return {};
}

result<void> run_echo(const order& order, const end& both, const stop_flag& stop,
                      end_result& seen) {
  tally counted(order.run, false);
  const meter worked;
  while (!stop.load(std::memory_order_relaxed)) {
    const auto before = counted.delivered();
    const auto got = both.in->receive(counted);
    if (!got) return std::unexpected(got.error());
    if (counted.delivered() == before) continue;
    auto answered = both.out->send({.first = counted.last()}, 1);
    while (answered && *answered == 0 && !stop.load(std::memory_order_relaxed)) {
      answered = both.out->send({.first = counted.last()}, 1);
    }
    if (!answered) return std::unexpected(answered.error());
    ++seen.sent;
  }
  worked.into(seen);
  count_into(seen, counted);
  return {};
}

}  // namespace

end_result play(const order& order, const end& end, foreign_traffic* traffic,
                const stop_flag& stop) {
  end_result seen;
  result<void> done;
  if (order.role == "send") {
    done = run_sender(order, *end.out, traffic, seen);
  } else if (order.role == "receive") {
    done = run_receiver(order, *end.in, stop, seen);
  } else if (order.role == "ping") {
    done = run_ping(order, end, seen);
  } else {
    done = run_echo(order, end, stop, seen);
  }
  if (!done) seen.failure = describe(done.error());
  return seen;
}

}  // namespace strata::measure
