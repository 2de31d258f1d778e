// The registry that a URL names.
#pragma once

#include <memory>
#include <string>

#include "cluster/registry.hpp"
#include "net/tls/context.hpp"

namespace strata::cluster {

struct registry_settings {
  /// etcd://HOST:PORT,…[/PREFIX], etcds:// for TLS, or dir:///PATH
  std::string url;
  loop::duration ttl;
  std::string user = {};  ///< of etcd; empty: none
  std::string password = {};
  net::tls_client_settings tls = {};  ///< for etcds://
};

/// `loop` outlives the registry. Errors: invalid_argument; a file of TLS or the folder cannot be
/// used. etcd is not asked yet.
[[nodiscard]] result<std::unique_ptr<registry>> open_registry(loop::loop& loop,
                                                              const registry_settings& settings);

}  // namespace strata::cluster
