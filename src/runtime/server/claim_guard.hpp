// Limits guesses of the master's password: by one address in a row, and by all together. Any thread
// of a server may use it.
//
// An address is an IPv4 address or an IPv6 /64; all Unix sockets are one. Datagram senders, which
// can be forged, are counted apart: a forger locks out no client with a connection.
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
  /// Wrong claims in a row before the first pause; each further one brings a pause twice as long.
  static constexpr unsigned most_wrong = 5;
  static constexpr std::uint64_t most_wrong_a_second = 100;
  static constexpr std::size_t most_addresses = 1024;

  struct claimant {
    loop::socket_address address;
    bool has_connection = true;
  };

  /// Whether a claim is checked now, or denied without a check.
  [[nodiscard]] bool admits(const claimant& claimant, loop::time_point now);
  /// Records a wrong claim. Returns the pause that begins with it, or zero.
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
