// Which clients a proxy admits, and at what rate.
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

/// Checks that the networks parse. Errors: invalid_argument, naming the one that does not.
[[nodiscard]] result<void> check_networks(const std::vector<std::string>& texts);

class admission {
 public:
  /// Applies the options. `share`: the number of loops among which a client's rate is divided.
  void become(const proxy_options& options, std::size_t share);

  /// Whether every client is admitted without a check.
  [[nodiscard]] bool is_open() const { return allowed_.empty() && denied_.empty() && rate_ == 0; }
  /// Whether the client is admitted. A client without an IP address, on this machine, always is.
  [[nodiscard]] bool lets_in(const loop::socket_address& client) const;
  /// How long the client must wait for its next connection or request; 0: it may proceed now, and
  /// has been counted.
  [[nodiscard]] loop::duration wait_of(const loop::socket_address& client, loop::time_point now);

 private:
  std::vector<loop::network> allowed_;
  std::vector<loop::network> denied_;
  std::uint64_t rate_ = 0;
  client_rates rates_;
};

/// An IP address without the port; empty for other addresses.
[[nodiscard]] std::string host_of(const loop::socket_address& address);

/// The client of a request: the peer, or if that is trusted, the address in X-Forwarded-For, read
/// from the right up to the first untrusted one.
[[nodiscard]] loop::socket_address client_of(const proto::http_request& request,
                                             const loop::socket_address& peer,
                                             const std::vector<loop::network>& trusted);

}  // namespace strata::runtime::proxy
