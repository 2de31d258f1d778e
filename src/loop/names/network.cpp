#include "loop/names/network.hpp"

#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <span>

namespace strata::loop {

namespace {

/// Returns the bytes of an IP address in network order; none for another family.
std::span<const std::byte> bytes_of(const socket_address& address) {
  if (address.family() == AF_INET) {
    const auto* const ip4 = reinterpret_cast<const sockaddr_in*>(address.data());
    return std::as_bytes(std::span(&ip4->sin_addr, 1));
  }
  if (address.family() == AF_INET6) {
    const auto* const ip6 = reinterpret_cast<const sockaddr_in6*>(address.data());
    return std::as_bytes(std::span(&ip6->sin6_addr, 1));
  }
  return {};
}

/// Reports whether the first `bits` bits are equal.
bool begin_alike(std::span<const std::byte> one, std::span<const std::byte> other, unsigned bits) {
  const auto whole = bits / 8;
  if (std::memcmp(one.data(), other.data(), whole) != 0) return false;
  const auto rest = bits % 8;
  return rest == 0 || ((one[whole] ^ other[whole]) >> (8 - rest)) == std::byte{0};
}

std::unexpected<error> refuse_network(const std::string& text, std::string reason) {
  return failure(errc::invalid_argument, "use network '" + text + "'", std::move(reason),
                 "write an address, and how many bits of it count: 10.0.0.0/8, 2001:db8::/32");
}

}  // namespace

result<network> network::parse(const std::string& text) {
  const auto slash = text.find('/');
  const auto address = socket_address::from_ip(text.substr(0, slash), 0);
  if (!address) return refuse_network(text, "'" + text.substr(0, slash) + "' is not an IP address");
  const auto bytes = bytes_of(*address);
  network made;
  made.family_ = address->family();
  made.bits_ = static_cast<unsigned>(8 * bytes.size());
  std::ranges::copy(bytes, made.prefix_.begin());
  if (slash == std::string::npos) return made;
  unsigned bits = 0;
  const auto* const end = text.data() + text.size();
  const auto [last, code] = std::from_chars(text.data() + slash + 1, end, bits);
  if (code != std::errc{} || last != end || bits > made.bits_) {
    return refuse_network(text, "'" + text.substr(slash + 1) +
                                    "' is not a number of bits from 0 to " +
                                    std::to_string(made.bits_));
  }
  made.bits_ = bits;
  return made;
}

bool network::contains(const socket_address& address) const {
  return address.family() == family_ && begin_alike(bytes_of(address), prefix_, bits_);
}

bool is_in(const std::vector<network>& networks, const socket_address& address) {
  return std::ranges::any_of(networks,
                             [&address](const network& each) { return each.contains(address); });
}

}  // namespace strata::loop
