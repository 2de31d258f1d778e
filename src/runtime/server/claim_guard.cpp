#include "runtime/server/claim_guard.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/rate_limiter.hpp"

namespace strata::runtime::server {

using namespace std::chrono_literals;

namespace {

constexpr loop::duration first_pause = 1s;
constexpr loop::duration longest_pause = 60s;
// The count of an address whose last wrong claim is older than this starts again.
constexpr loop::duration memory = 10min;

}  // namespace

bool claim_guard::admits(const claimant& claimant, loop::time_point now) {
  const std::scoped_lock guard(lock_);
  const auto now_ns = now.time_since_epoch().count();
  if (admitted_in_ns(due_ns_, now_ns, most_wrong_a_second) > 0) return false;
  const auto found = records_.find(key_of(claimant));
  return found == records_.end() || found->second.until <= now;
}

loop::duration claim_guard::note_wrong(const claimant& claimant, loop::time_point now) {
  const std::scoped_lock guard(lock_);
  (void)admit(due_ns_, now.time_since_epoch().count(), most_wrong_a_second);
  auto& of = record_of(claimant, now);
  of.last = now;
  if (++of.wrong < most_wrong) return {};
  of.pause = of.pause == loop::duration{} ? first_pause : std::min(of.pause * 2, longest_pause);
  of.until = now + of.pause;
  return of.pause;
}

void claim_guard::note_right(const claimant& claimant) {
  const std::scoped_lock guard(lock_);
  records_.erase(key_of(claimant));
}

claim_guard::key claim_guard::key_of(const claimant& claimant) {
  key made{};
  made[0] =
      static_cast<std::uint8_t>(claimant.address.family() * 2 + (claimant.has_connection ? 1 : 0));
  if (claimant.address.family() == AF_INET) {
    const auto* const ip4 = reinterpret_cast<const sockaddr_in*>(claimant.address.data());
    std::memcpy(&made[1], &ip4->sin_addr, 4);
  } else if (claimant.address.family() == AF_INET6) {
    const auto* const ip6 = reinterpret_cast<const sockaddr_in6*>(claimant.address.data());
    std::memcpy(&made[1], &ip6->sin6_addr, 8);
  }
  return made;
}

// If all places are taken, the address whose wrong claim is the oldest is dropped.
claim_guard::record& claim_guard::record_of(const claimant& claimant, loop::time_point now) {
  const auto which = key_of(claimant);
  if (!records_.contains(which) && records_.size() >= most_addresses) {
    records_.erase(
        std::ranges::min_element(records_, {}, [](const auto& each) { return each.second.last; }));
  }
  auto& of = records_[which];
  if (now - of.last > memory) of = {};
  return of;
}

}  // namespace strata::runtime::server
