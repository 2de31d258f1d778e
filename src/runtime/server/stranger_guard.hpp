// Keeps a server from doing harm with datagrams from strangers. Anyone can forge a datagram's
// source address: replies then hit a host that never asked for them. And servers that take each
// other for peers pass a message round for ever.
//
// So strangers of one network share an allowance per second, and a message that a stranger repeats
// too often is dropped until it has been silent for a second. Both tables have a fixed size:
// networks that hash to one place share its allowance.
#pragma once

#include <array>
#include <cstdint>

#include "loop/names/address.hpp"
#include "loop/timer.hpp"
#include "strata/base/bytes.hpp"

namespace strata::runtime::server {

class stranger_guard {
 public:
  /// Bytes that may be sent to a stranger for each byte received from it.
  static constexpr std::uint64_t factor = 3;
  /// The maximum of this credit, in bytes.
  static constexpr std::uint64_t most_credit = 256U << 10U;
  /// How often one peer may send the same message within a second.
  static constexpr std::uint32_t most_repeats = 50;

  /// `seed`: so that no sender can choose which networks collide.
  explicit stranger_guard(std::uint64_t seed = any_seed()) : seed_(seed) {}

  [[nodiscard]] static bool is_for(const loop::socket_address& address) {
    return address.family() == AF_INET || address.family() == AF_INET6;
  }
  /// Size of a datagram with its IP and UDP headers.
  [[nodiscard]] static std::uint64_t wire_size(const loop::socket_address& address,
                                               std::size_t bytes);

  /// Takes `bytes` from the allowance per second of the network of `address`: an IPv4 /24 or an
  /// IPv6 /56.
  [[nodiscard]] bool allows(const loop::socket_address& address, std::uint64_t bytes,
                            loop::time_point now, std::uint64_t per_second);
  /// Records a peer's message. Reports whether the peer repeats it too often.
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
