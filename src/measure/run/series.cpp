#include "measure/run/series.hpp"

namespace strata::measure {

namespace {

double per(std::uint64_t of, std::uint64_t count) {
  return count == 0 ? 0 : static_cast<double>(of) / static_cast<double>(count);
}

}  // namespace

void series::add(const measured& one) {
  const auto& [near, far] = one;
  const bool both_ways = kind_ == quantity::round_trip;
  // The rate is by the receiver's clock; if all messages arrived in one batch, by the sender's.
  const double by_sender = near.seconds > 0 ? static_cast<double>(far.delivered) / near.seconds : 0;
  const double rate = both_ways || far.rate == 0 ? by_sender : far.rate;
  packets_per_second_.push_back(rate);
  sender_ns_.push_back(per(near.cpu_ns, near.sent));
  receiver_ns_.push_back(per(far.cpu_ns, far.delivered));
  cycles_.add(near.cycles, near.sent, far.cycles, far.delivered);
  instructions_.add(near.instructions, near.sent, far.instructions, far.delivered);
  const auto& times = both_ways ? near.times : far.times;
  times_.add(times);
  histogram alone;
  alone.add(times);
  switch (kind_) {
    case quantity::one_way: headlines_.push_back(rate); break;
    case quantity::round_trip: headlines_.push_back(alone.percentile(0.5) / 1000); break;
    case quantity::filter: headlines_.push_back(receiver_ns_.back()); break;
  }
  // A round trip counts the returned messages.
  sent_ += near.sent;
  foreign_sent_ += near.foreign;
  delivered_ += both_ways ? near.delivered : far.delivered;
  receiver_dropped_ += near.dropped + far.dropped;
  interface_dropped_ += near.interface_dropped + far.interface_dropped;
  duplicates_ += near.duplicates + far.duplicates;
  reordered_ += near.reordered + far.reordered;
  strays_ += near.strays + far.strays;
  counts_allocations_ = counts_allocations_ && near.allocations >= 0 && far.allocations >= 0;
  allocations_ += near.allocations + far.allocations;
}

void series::event_samples::add(std::int64_t near, std::uint64_t sent, std::int64_t far,
                                std::uint64_t delivered) {
  if (near < 0 || far < 0) return;
  sender.push_back(per(static_cast<std::uint64_t>(near), sent));
  receiver.push_back(per(static_cast<std::uint64_t>(far), delivered));
}

std::optional<series::events> series::event_samples::medians(std::size_t runs) const {
  if (runs == 0 || sender.size() != runs) return std::nullopt;
  return events{.sender = median(sender), .receiver = median(receiver)};
}

double series::headline() const { return median(headlines_); }
double series::packets_per_second() const { return median(packets_per_second_); }
double series::sender_ns() const { return median(sender_ns_); }
double series::receiver_ns() const { return median(receiver_ns_); }

estimate series::bytes_estimate() const {
  auto bytes = packets_per_second_;
  for (double& each : bytes) each *= static_cast<double>(payload_);
  return estimate_of(bytes);
}

estimate series::cpu_estimate() const {
  auto both = sender_ns_;
  for (std::size_t i = 0; i < both.size(); ++i) both[i] += receiver_ns_[i];
  return estimate_of(both);
}

std::optional<double> series::allocations() const {
  if (!counts_allocations_ || sent_ == 0) return std::nullopt;
  return static_cast<double>(allocations_) / static_cast<double>(sent_);
}

}  // namespace strata::measure
