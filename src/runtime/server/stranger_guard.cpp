#include "runtime/server/stranger_guard.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>
#include <string_view>

namespace strata::runtime::server {

using namespace std::chrono_literals;

namespace {

constexpr std::int64_t second_ns = 1'000'000'000;

// The part of an address that a network's owner cannot choose.
std::uint64_t network_of(const loop::socket_address& address) {
  std::uint64_t prefix = 0;
  if (address.family() == AF_INET) {
    const auto* const ip4 = reinterpret_cast<const sockaddr_in*>(address.data());
    std::memcpy(&prefix, &ip4->sin_addr, 3);
  } else {
    const auto* const ip6 = reinterpret_cast<const sockaddr_in6*>(address.data());
    std::memcpy(&prefix, &ip6->sin6_addr, 7);
  }
  return prefix;
}

std::uint64_t mixed(std::uint64_t seed, std::uint64_t value) {
  const std::array<std::uint64_t, 2> both{seed, value};
  return std::hash<std::string_view>()({reinterpret_cast<const char*>(both.data()), sizeof both});
}

}  // namespace

std::uint64_t stranger_guard::any_seed() {
  std::random_device random;
  return std::uint64_t{random()} << 32U | random();
}

std::uint64_t stranger_guard::wire_size(const loop::socket_address& address, std::size_t bytes) {
  return bytes + (address.family() == AF_INET ? 28 : 48);
}

bool stranger_guard::allows(const loop::socket_address& address, std::uint64_t bytes,
                            loop::time_point now, std::uint64_t per_second) {
  auto& due = due_ns_[mixed(seed_, network_of(address)) % due_ns_.size()];
  const auto now_ns = now.time_since_epoch().count();
  const auto share = static_cast<double>(bytes) / static_cast<double>(per_second);
  const auto next =
      std::max(due, now_ns) + static_cast<std::int64_t>(share * static_cast<double>(second_ns));
  if (next - now_ns > second_ns) return false;
  due = next;
  return true;
}

bool stranger_guard::is_repeated(std::uint64_t peer, byte_span bytes, loop::time_point now) {
  const auto key = mixed(seed_ ^ peer, std::hash<std::string_view>()(as_text(bytes)));
  auto& slot = sayings_[key % sayings_.size()];
  const bool was_quiet = slot.key != key || now - slot.last >= 1s;
  const bool has_stopped = slot.count > most_repeats;
  if (was_quiet || (!has_stopped && now - slot.began >= 1s)) slot = {key, now, now, 0};
  slot.last = now;
  if (slot.count <= most_repeats) ++slot.count;
  return slot.count > most_repeats;
}

}  // namespace strata::runtime::server
