// Which clients a proxy lets in, and how often.
//
// For one loop's thread.
#pragma once

#include <vector>

#include "loop/loop.hpp"
#include "loop/names/network.hpp"
#include "proto/http/http1.hpp"
#include "runtime/proxy/admission/client_rates.hpp"
#include "runtime/proxy/options.hpp"

namespace strata::runtime::proxy {

/// Whether its networks parse. Errors: invalid_argument, naming the one that does not.
[[nodiscard]] result<void> check_networks(const std::vector<std::string>& texts);

class admission {
 public:
  /// `share`: among how many loops a client's rate is divided.
  void become(const proxy_options& options, std::size_t share);

  /// Whether nothing is asked of anybody.
  [[nodiscard]] bool is_open() const { return allowed_.empty() && denied_.empty() && rate_ == 0; }
  /// One without an IP address, of this machine, always is let in.
  [[nodiscard]] bool lets_in(const loop::socket_address& client) const;
  /// How long until one more of that client may come; 0: it may now, and has been counted.
  [[nodiscard]] loop::duration wait_of(const loop::socket_address& client, loop::time_point now);

 private:
  std::vector<loop::network> allowed_;
  std::vector<loop::network> denied_;
  std::uint64_t rate_ = 0;
  client_rates rates_;
};

/// An IP address without the port; else empty.
[[nodiscard]] std::string host_of(const loop::socket_address& address);

/// For whom a request is: the peer, or where that is trusted, what X-Forwarded-For says of those
/// before it, from the right up to the first that is not.
[[nodiscard]] loop::socket_address client_of(const proto::http_request& request,
                                             const loop::socket_address& peer,
                                             const std::vector<loop::network>& trusted);

}  // namespace strata::runtime::proxy
