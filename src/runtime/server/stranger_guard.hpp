// What keeps a server from doing harm with datagrams of strangers. Anyone can forge the address
// that a datagram comes from: what is sent there hits somebody who never asked for it. And servers
// that take each other for peers pass a message round for ever.
//
// So strangers of one network share an allowance a second, and what one of them repeats too often
// is not heard until it has been quiet for a second. Both tables have a fixed size: networks that
// fall on one place share its allowance.
#pragma once

#include <array>
#include <cstdint>

#include "loop/names/address.hpp"
#include "loop/timer.hpp"
#include "strata/base/bytes.hpp"

namespace strata::runtime::server {

class stranger_guard {
 public:
  /// What a stranger may be sent for each byte that it sends.
  static constexpr std::uint64_t factor = 3;
  /// The most that it can save up of that, in bytes.
  static constexpr std::uint64_t most_credit = 256U << 10U;
  /// As often may one peer say the same within a second.
  static constexpr std::uint32_t most_repeats = 50;

  /// `seed`: so that nobody can choose who shares a place.
  explicit stranger_guard(std::uint64_t seed = any_seed()) : seed_(seed) {}

  [[nodiscard]] static bool is_for(const loop::socket_address& address) {
    return address.family() == AF_INET || address.family() == AF_INET6;
  }
  /// Of a datagram with its IP and UDP headers.
  [[nodiscard]] static std::uint64_t wire_size(const loop::socket_address& address,
                                               std::size_t bytes);

  /// Takes `bytes` of what the network of `address` may be sent a second: an IPv4 /24 or an IPv6
  /// /56.
  [[nodiscard]] bool allows(const loop::socket_address& address, std::uint64_t bytes,
                            loop::time_point now, std::uint64_t per_second);
  /// Notes what the peer has said. Whether it says so too often.
  [[nodiscard]] bool is_repeated(std::uint64_t peer, byte_span bytes, loop::time_point now);

 private:
  struct saying {
    std::uint64_t key = 0;
    loop::time_point began;
    loop::time_point last;
    std::uint32_t count = 0;
  };

  static std::uint64_t any_seed();

  std::uint64_t seed_;
  std::array<std::int64_t, 4096> due_ns_{};
  std::array<saying, 1024> sayings_{};
};

}  // namespace strata::runtime::server
