#include "runtime/proxy/admission/client_rates.hpp"

#include <algorithm>
#include <cstring>
#include <random>

#include "runtime/rate_limiter.hpp"

namespace strata::runtime::proxy {

std::uint64_t client_rates::random_salt() {
  std::random_device source;
  return (std::uint64_t{source()} << 32U) | source();
}

// The finalizer of MurmurHash3.
std::size_t client_rates::key_hash::operator()(const client_key& key) const {
  auto mixed = key.bits ^ salt ^ (key.is_ip6 ? 1U : 0U);
  mixed ^= mixed >> 33U;
  mixed *= 0xff51afd7ed558ccdULL;
  mixed ^= mixed >> 33U;
  mixed *= 0xc4ceb9fe1a85ec53ULL;
  return mixed ^ (mixed >> 33U);
}

client_rates::client_key client_rates::key_of(const loop::socket_address& client) {
  client_key made;
  if (client.family() == AF_INET6) {
    const auto* const ip6 = reinterpret_cast<const sockaddr_in6*>(client.data());
    made.is_ip6 = true;
    std::memcpy(&made.bits, &ip6->sin6_addr, sizeof made.bits);
  } else {
    made.bits = reinterpret_cast<const sockaddr_in*>(client.data())->sin_addr.s_addr;
  }
  return made;
}

std::int64_t client_rates::wait_of(const loop::socket_address& client, std::int64_t now_ns,
                                   std::uint64_t per_second) {
  const bool has_address = client.family() == AF_INET || client.family() == AF_INET6;
  if (per_second == 0 || !has_address) return 0;
  auto& of = find(key_of(client));
  const bool is_admitted = admit(of.due_ns, now_ns, per_second);
  const auto wait = is_admitted ? 0 : admitted_in_ns(of.due_ns, now_ns, per_second);
  forget_old(now_ns);
  return is_admitted ? 0 : std::max<std::int64_t>(wait, 1);
}

client_rates::allowance& client_rates::find(const client_key& key) {
  const auto known = places_.find(key);
  if (known != places_.end()) {
    clients_.splice(clients_.begin(), clients_, known->second);
  } else {
    clients_.push_front({.key = key});
    places_.emplace(key, clients_.begin());
  }
  return clients_.front();
}

// A client whose second is over need not be remembered. Forgets a few at a time, so that no request
// pays for all.
void client_rates::forget_old(std::int64_t now_ns) {
  for (int count = 0; count < 2 && clients_.size() > 1; ++count) {
    if (clients_.size() <= most_clients && clients_.back().due_ns > now_ns) return;
    places_.erase(clients_.back().key);
    clients_.pop_back();
  }
}

}  // namespace strata::runtime::proxy
