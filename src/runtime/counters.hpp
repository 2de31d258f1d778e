// What a runtime counts. Each shard has counters of its own and is their only writer; anyone reads
// them at any time. So a count costs one plain addition and takes no lock.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <ctime>

namespace strata::runtime {

/// A number that one thread adds to and all may read.
class counter {
 public:
  void add(std::uint64_t count = 1) {
    value_.store(value_.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_ = 0;
};

/// Counts per second over the last minute, without a clock tick of its own: a slot a second, each
/// holding the second that it counts.
class rate_meter {
 public:
  static constexpr std::uint64_t span_s = 64;

  void add(std::uint64_t second, std::uint64_t count) {
    auto& slot = slots_[second % span_s];
    const auto held = slot.load(std::memory_order_relaxed);
    const bool same = held >> count_bits == (second & second_mask);
    const auto base = same ? held : (second & second_mask) << count_bits;
    slot.store(base + count, std::memory_order_relaxed);
  }
  /// How many came in the `seconds` whole seconds before `now_s`; at most 63.
  [[nodiscard]] std::uint64_t total(std::uint64_t now_s, std::uint64_t seconds) const {
    std::uint64_t sum = 0;
    for (std::uint64_t back = 1; back <= seconds && back <= now_s; ++back) {
      const auto held = slots_[(now_s - back) % span_s].load(std::memory_order_relaxed);
      if (held >> count_bits == ((now_s - back) & second_mask)) sum += held & count_mask;
    }
    return sum;
  }

 private:
  static constexpr unsigned count_bits = 40;
  static constexpr std::uint64_t count_mask = (std::uint64_t{1} << count_bits) - 1;
  static constexpr std::uint64_t second_mask = (std::uint64_t{1} << (64 - count_bits)) - 1;
  std::array<std::atomic<std::uint64_t>, span_s> slots_{};
};

/// Why a message was dropped, in the order of `drop_names`.
enum class drop : std::uint8_t {
  rate_limit,
  global_rate_limit,
  slow_client,
  mode,
  too_large,
  file,
  connection
};
inline constexpr std::array<const char*, 7> drop_names = {
    "rate_limit", "global_rate_limit", "slow_client", "mode", "too_large", "file", "connection"};

struct counters {
  counter messages_in;
  counter messages_out;
  counter bytes_in;
  counter bytes_out;
  counter errors;
  counter refused;
  std::array<counter, drop_names.size()> dropped;
  rate_meter rate_in;
  rate_meter rate_out;

  void drop_message(drop why, std::uint64_t count = 1) {
    dropped[static_cast<std::size_t>(why)].add(count);
  }
};

/// Everything counted, at one moment: what the control API and /metrics show.
struct statistics {
  std::uint64_t connections_now = 0;
  std::uint64_t connections_peak = 0;
  std::uint64_t connections_total = 0;
  std::uint64_t connections_refused = 0;
  std::uint64_t messages_in = 0;
  std::uint64_t messages_out = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  std::uint64_t errors = 0;
  std::array<std::uint64_t, drop_names.size()> dropped{};
  std::uint64_t in_1s = 0;
  std::uint64_t in_1m = 0;
  std::uint64_t out_1s = 0;
  std::uint64_t out_1m = 0;
  std::uint64_t lag_us = 0;
  std::uint64_t lag_max_us = 0;

  /// What stays when what was counted is gone: sums, but nothing of the present moment.
  [[nodiscard]] statistics past() const {
    auto kept = *this;
    kept.connections_now = kept.in_1s = kept.in_1m = kept.out_1s = kept.out_1m = 0;
    kept.lag_us = kept.lag_max_us = 0;
    return kept;
  }
  void add(const counters& of, std::uint64_t now_s) {
    connections_refused += of.refused.get();
    messages_in += of.messages_in.get();
    messages_out += of.messages_out.get();
    bytes_in += of.bytes_in.get();
    bytes_out += of.bytes_out.get();
    errors += of.errors.get();
    for (std::size_t i = 0; i < dropped.size(); ++i) dropped[i] += of.dropped[i].get();
    in_1s += of.rate_in.total(now_s, 1);
    in_1m += of.rate_in.total(now_s, 60);
    out_1s += of.rate_out.total(now_s, 1);
    out_1m += of.rate_out.total(now_s, 60);
  }
};

}  // namespace strata::runtime
