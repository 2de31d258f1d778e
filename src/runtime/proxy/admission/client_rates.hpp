// "At most N per second for each client", for a bounded number of clients.
//
// For one loop's thread.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <list>

#include "loop/names/address.hpp"

namespace strata::runtime::proxy {

class client_rates {
 public:
  static constexpr std::size_t most_clients = 65'536;

  /// Nanoseconds until the client may proceed; 0: it may now, and has been counted. A burst of one
  /// second's worth is allowed. IPv6 clients that share the first 64 bits are one client. Clients
  /// without an IP address have no limit.
  [[nodiscard]] std::int64_t wait_of(const loop::socket_address& client, std::int64_t now_ns,
                                     std::uint64_t per_second);
  /// The number of remembered clients: beyond the limit, the least recently seen one is dropped.
  [[nodiscard]] std::size_t size() const { return clients_.size(); }

 private:
  struct client_key {
    std::uint64_t bits = 0;
    bool is_ip6 = false;
    bool operator==(const client_key&) const = default;
  };
  struct key_hash {
    std::uint64_t salt;  // so that clients cannot choose addresses that collide
    std::size_t operator()(const client_key& key) const;
  };
  struct allowance {
    client_key key;
    std::int64_t due_ns = 0;
  };
  [[nodiscard]] static client_key key_of(const loop::socket_address& client);
  [[nodiscard]] allowance& find(const client_key& key);
  void forget_old(std::int64_t now_ns);

  std::list<allowance> clients_;  // most recently seen first
  boost::unordered_flat_map<client_key, std::list<allowance>::iterator, key_hash> places_{
      0, key_hash{random_salt()}};
  [[nodiscard]] static std::uint64_t random_salt();
};

}  // namespace strata::runtime::proxy
