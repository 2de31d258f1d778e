// Connects to what a URL names: finds its addresses, and takes the first that answers.
#pragma once

#include <optional>

#include "net/directory.hpp"
#include "net/scheme.hpp"
#include "net/tls/context.hpp"

namespace strata::net {

struct connecting {
  /// For the look-up, and again for each address; 0: none but the system's.
  loop::duration timeout;
  /// Finds runtimes. Null: a URL that names one is an error.
  directory* names = nullptr;
  /// What TLS is agreed on by, where the URL's scheme is secure. Null: the server's certificate
  /// must be good for the URL's host by what the system trusts.
  std::shared_ptr<const tls_context> secure = nullptr;
  /// What a stream says before all else, TLS too.
  std::string preface = {};
  /// The URL's address, where it is known: nothing is looked up then.
  std::optional<loop::socket_address> at = std::nullopt;
};

/// Errors: of the last address that was tried, naming the URL.
[[nodiscard]] loop::task<result<connection>> connect(loop::loop& loop, endpoint_url url,
                                                     connecting connecting);

}  // namespace strata::net
