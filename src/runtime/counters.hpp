// The counters of a runtime. Each shard has its own and is their only writer; any thread may read
// them at any time. So a count costs one plain addition and takes no lock.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

#include "options/counter.hpp"

namespace strata::runtime {

using options::counter;

/// Counts per second over the last minute, without a timer of its own: one slot per second, each
/// with the number of its second.
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
  /// The total of the `seconds` whole seconds before `now_s`; at most 63.
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
  connection,
  stranger,
  repeat,
  kernel,
  memory,
  script,
  link,    ///< the interface was down, or had no carrier
  refused  ///< by the kernel, at sending
};
inline constexpr std::string_view drop_names[] = {"rate_limit",  "global_rate_limit",
                                                  "slow_client", "mode",
                                                  "too_large",   "file",
                                                  "connection",  "stranger",
                                                  "repeat",      "kernel",
                                                  "memory",      "script",
                                                  "link",        "refused"};
static_assert(std::size(drop_names) <= std::tuple_size_v<options::case_counters>);

/// Why a client was refused, in the order of `refusal_names`.
enum class refusal : std::uint8_t {
  limit,     ///< --max-connections
  files,     ///< the process has no descriptors left for clients
  address,   ///< --allow, --deny, or a cache for this machine only
  rate,      ///< --rate-per-client
  origin,    ///< a page of another site
  script,    ///< on_websocket, on_auth
  password,  ///< a wrong password
};
inline constexpr std::string_view refusal_names[] = {"limit",  "files",  "address", "rate",
                                                     "origin", "script", "password"};
static_assert(std::size(refusal_names) <= std::tuple_size_v<options::case_counters>);

struct counters;

/// The figures of every runtime; figures.cpp has a row for each. A runtime counts in objects of
/// this type, and shows their sum.
struct statistics {
  counter connections_now;
  counter connections_peak;
  counter connections_total;
  counter connections_refused;
  counter connections_memory;
  counter handshakes_failed;
  counter http2_floods;
  counter messages_in;
  counter messages_out;
  counter bytes_in;
  counter bytes_out;
  counter errors;
  options::case_counters dropped;  ///< by `drop`
  options::case_counters refused;  ///< by `refusal`
  counter in_1s;
  counter in_1m;
  counter out_1s;
  counter out_1m;
  counter lag_us;
  counter lag_max_us;

  /// The figures that remain when their object has ended: sums, but no present values.
  [[nodiscard]] statistics past() const;
  /// Adds the counts of a part of the runtime up to `now_s`.
  void add(const counters& part, std::uint64_t now_s);
};

/// The counters of one part of a runtime, on one loop.
struct counters : statistics {
  rate_meter rate_in;
  rate_meter rate_out;

  void drop_message(drop why, std::uint64_t count = 1) {
    dropped[static_cast<std::size_t>(why)].add(count);
  }
};

}  // namespace strata::runtime
