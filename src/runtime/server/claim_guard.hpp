// How often the master's password may be guessed: by one address in a row, and by all together.
// Any thread of a server may ask.
//
// An address is an IPv4 address or an IPv6 /64; all Unix sockets are one. Those of datagrams, which
// can be forged, count for themselves: a forger locks out nobody that has a connection.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>

#include "loop/names/address.hpp"
#include "loop/timer.hpp"

namespace strata::runtime::server {

class claim_guard {
 public:
  /// Wrong ones in a row before the first pause; each one after it brings another pause, twice as
  /// long as the last.
  static constexpr unsigned most_wrong = 5;
  static constexpr std::uint64_t most_wrong_a_second = 100;
  static constexpr std::size_t most_addresses = 1024;

  struct claimant {
    loop::socket_address address;
    bool has_connection = true;
  };

  /// Whether a claim is looked at now, or denied without a look.
  [[nodiscard]] bool admits(const claimant& claimant, loop::time_point now);
  /// A claim was wrong. The pause that begins with it, or zero.
  loop::duration note_wrong(const claimant& claimant, loop::time_point now);
  void note_right(const claimant& claimant);

 private:
  using key = std::array<std::uint8_t, 9>;
  struct record {
    unsigned wrong = 0;
    loop::duration pause{};
    loop::time_point until;
    loop::time_point last;
  };

  static key key_of(const claimant& claimant);
  record& record_of(const claimant& claimant, loop::time_point now);

  std::mutex lock_;
  std::map<key, record> records_;
  std::int64_t due_ns_ = 0;
};

}  // namespace strata::runtime::server
