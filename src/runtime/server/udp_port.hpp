// One UDP socket of a server: each datagram is a message, and each sender becomes a peer that hears
// the others until it has been silent for too long.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <memory>

#include "net/datagram.hpp"
#include "runtime/server/shard.hpp"

namespace strata::runtime {

class udp_port {
 public:
  udp_port(shard& home, loop::socket bound);
  ~udp_port();
  udp_port(const udp_port&) = delete;
  udp_port& operator=(const udp_port&) = delete;

  loop::task<> run();
  [[nodiscard]] net::datagram& wire() { return wire_; }
  /// Forgets peers that were silent since `oldest`.
  void expire(loop::time_point oldest);

 private:
  class peer;
  /// The sender's peer, new or known; null when there are too many.
  peer* peer_of(const loop::socket_address& address);

  shard& home_;
  net::datagram wire_;
  // Datagrams' senders are easily forged: their number is bounded.
  static constexpr std::size_t most_peers = 10000;
  boost::unordered_flat_map<loop::socket_address, std::unique_ptr<peer>, loop::address_hash> peers_;
};

}  // namespace strata::runtime
