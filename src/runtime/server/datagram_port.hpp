// One connectionless endpoint of a server (UDP, raw Ethernet): each datagram is a message, and each
// sender becomes a peer that receives the others' messages until it has been silent for too long.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <functional>
#include <memory>
#include <string>

#include "net/datagram.hpp"
#include "net/loss_watch.hpp"
#include "runtime/server/shard.hpp"
#include "runtime/server/stranger_guard.hpp"

namespace strata::runtime::server {

class datagram_port final {
 public:
  using opener = std::function<result<std::unique_ptr<net::datagram>>()>;

  datagram_port(shard& shard, std::unique_ptr<net::datagram> wire);
  /// For an interface: `reopen` makes the wire again once an interface of that name exists again.
  /// Null `wire`: there is none yet.
  datagram_port(shard& shard, std::unique_ptr<net::datagram> wire, std::string interface_name,
                opener reopen);
  ~datagram_port();
  datagram_port(const datagram_port&) = delete;
  datagram_port& operator=(const datagram_port&) = delete;

  loop::task<> run();
  /// Takes no more datagrams from the kernel; those that it has given are still messages.
  void finish() {
    if (wire_) wire_->finish();
  }
  /// Removes peers that have been silent since `oldest`.
  void expire(loop::time_point oldest);
  /// Removes all UDP peers: the token has changed, and they have to join again.
  void forget_udp_peers();
  /// Hands sent messages to the kernel, and counts those that it refused: returns how many.
  std::uint64_t flush();

 private:
  class peer;
  void on_loss(const net::loss_watch::losses& lost);
  /// Handles a failure to receive; returns how long to wait before the next try.
  loop::duration on_failure(int code);
  void on_datagram(net::datagram::arrival arrival);
  [[nodiscard]] bool is_token(const loop::socket_address& address, byte_span bytes) const;
  /// Whether the guard admits the stranger's message, and messages to the stranger.
  [[nodiscard]] bool accepts(peer& stranger, byte_span bytes);
  [[nodiscard]] stranger_guard& guard();
  [[nodiscard]] bool may_send(peer& stranger, std::size_t bytes);
  loop::task<> open_again(std::string_view text);
  void take(std::unique_ptr<net::datagram> wire);
  /// The sender's peer, new or known; null if it does not become one.
  peer* peer_of(const loop::socket_address& address, byte_span bytes);

  shard& home_;
  std::unique_ptr<net::datagram> wire_;
  net::loss_watch losses_;
  std::uint64_t refused_ = 0;
  std::string interface_name_;
  opener reopen_;
  bool failing_ = false;
  bool has_reported_strangers_ = false;
  std::unique_ptr<stranger_guard> guard_;  // created on first use
  boost::unordered_flat_map<loop::socket_address, std::unique_ptr<peer>, loop::address_hash> peers_;
};

}  // namespace strata::runtime::server
