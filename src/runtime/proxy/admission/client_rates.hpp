// "At most N a second for each client", for as many clients as are remembered.
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

  /// Nanoseconds until one more of that client may come; 0: it may now, and has been counted. A
  /// second's worth may come at once. Clients by IPv6 that share the first 64 bits are one. Those
  /// that have no IP address have no limit.
  [[nodiscard]] std::int64_t wait_of(const loop::socket_address& client, std::int64_t now_ns,
                                     std::uint64_t per_second);
  /// Clients that are remembered: of too many, the one that came last the longest ago goes first.
  [[nodiscard]] std::size_t size() const { return clients_.size(); }

 private:
  struct client_key {
    std::uint64_t bits = 0;
    bool is_ip6 = false;
    bool operator==(const client_key&) const = default;
  };
  struct key_hash {
    std::uint64_t salt;  // so that nobody can choose addresses that meet in one place
    std::size_t operator()(const client_key& key) const;
  };
  struct allowance {
    client_key key;
    std::int64_t due_ns = 0;
  };
  [[nodiscard]] static client_key key_of(const loop::socket_address& client);
  [[nodiscard]] allowance& find(const client_key& key);
  void forget_old(std::int64_t now_ns);

  std::list<allowance> clients_;  // the one that came last comes first
  boost::unordered_flat_map<client_key, std::list<allowance>::iterator, key_hash> places_{
      0, key_hash{random_salt()}};
  [[nodiscard]] static std::uint64_t random_salt();
};

}  // namespace strata::runtime::proxy
