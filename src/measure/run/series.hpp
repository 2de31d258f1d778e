// The measurements of one contender in all runs, and their statistics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "measure/counting/statistics.hpp"
#include "measure/run/plan.hpp"
#include "measure/run/testbed.hpp"

namespace strata::measure {

class series {
 public:
  series(const group& group, const contender& contender)
      : kind_(group.kind),
        busy_(group.busy),
        payload_(group.payload),
        mtu_(group.mtu),
        rate_(group.rate),
        who_(contender) {}

  void add(const measured& one);
  /// Gives the series up: a path that cannot be measured states why, and is left out of
  /// comparisons.
  void give_up(std::string why) { failure_ = std::move(why); }

  [[nodiscard]] quantity kind() const { return kind_; }
  [[nodiscard]] bool is_busy() const { return busy_; }
  [[nodiscard]] std::uint64_t payload() const { return payload_; }
  [[nodiscard]] std::uint32_t mtu() const { return mtu_; }
  [[nodiscard]] double rate() const { return rate_; }
  [[nodiscard]] const path_row& path() const { return *who_.path; }
  [[nodiscard]] bool is_tagged() const { return who_.tagged; }
  [[nodiscard]] double foreign() const { return who_.foreign; }
  [[nodiscard]] const std::string& failure() const { return failure_; }

  /// The figure to compare: packets per second, µs per round trip, or the receiver's ns per packet.
  [[nodiscard]] double headline() const;
  [[nodiscard]] estimate headline_estimate() const { return estimate_of(headlines_); }
  /// One per run, in order.
  [[nodiscard]] std::span<const double> headlines() const { return headlines_; }
  [[nodiscard]] std::size_t runs() const { return headlines_.size(); }

  /// Medians. CPU time is that of the sending and receiving threads, per message sent and
  /// delivered.
  [[nodiscard]] double packets_per_second() const;
  [[nodiscard]] double bytes_per_second() const {
    return packets_per_second() * static_cast<double>(payload_);
  }
  [[nodiscard]] estimate bytes_estimate() const;
  [[nodiscard]] double sender_ns() const;
  [[nodiscard]] double receiver_ns() const;
  /// For both ends together, in ns per message.
  [[nodiscard]] estimate cpu_estimate() const;
  /// Medians for both ends, per message; nullopt unless each run counted them.
  struct events {
    double sender = 0;
    double receiver = 0;
  };
  [[nodiscard]] std::optional<events> cycles() const { return cycles_.medians(runs()); }
  [[nodiscard]] std::optional<events> instructions() const { return instructions_.medians(runs()); }
  /// Over all runs together, in µs: round trips, or delays at a rate. 0 if there are none.
  [[nodiscard]] double time_us(double part) const { return times_.percentile(part) / 1000; }
  [[nodiscard]] std::uint64_t time_count() const { return times_.total(); }

  /// Sums.
  [[nodiscard]] std::uint64_t sent() const { return sent_; }
  [[nodiscard]] std::uint64_t foreign_sent() const { return foreign_sent_; }
  [[nodiscard]] std::uint64_t delivered() const { return delivered_; }
  [[nodiscard]] std::uint64_t dropped_by_receiver() const { return receiver_dropped_; }
  [[nodiscard]] std::uint64_t dropped_by_interface() const { return interface_dropped_; }
  [[nodiscard]] std::uint64_t duplicates() const { return duplicates_; }
  [[nodiscard]] std::uint64_t reordered() const { return reordered_; }
  [[nodiscard]] std::uint64_t strays() const { return strays_; }
  /// Calls of operator new per message, for both ends; nullopt if they are not counted.
  [[nodiscard]] std::optional<double> allocations() const;

 private:
  struct event_samples {
    std::vector<double> sender;
    std::vector<double> receiver;
    void add(std::int64_t near, std::uint64_t sent, std::int64_t far, std::uint64_t delivered);
    [[nodiscard]] std::optional<events> medians(std::size_t runs) const;
  };

  quantity kind_;
  bool busy_;
  std::uint64_t payload_;
  std::uint32_t mtu_;
  double rate_;
  contender who_;
  std::string failure_;
  std::vector<double> headlines_;
  std::vector<double> packets_per_second_;
  std::vector<double> sender_ns_;
  std::vector<double> receiver_ns_;
  event_samples cycles_;
  event_samples instructions_;
  histogram times_;
  std::uint64_t sent_ = 0;
  std::uint64_t foreign_sent_ = 0;
  std::uint64_t delivered_ = 0;
  std::uint64_t receiver_dropped_ = 0;
  std::uint64_t interface_dropped_ = 0;
  std::uint64_t duplicates_ = 0;
  std::uint64_t reordered_ = 0;
  std::uint64_t strays_ = 0;
  std::int64_t allocations_ = 0;
  bool counts_allocations_ = true;
};

}  // namespace strata::measure
