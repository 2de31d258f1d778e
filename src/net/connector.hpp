// Connects to what a URL names: looks up its addresses and takes the first that answers.
#pragma once

#include <optional>

#include "net/directory.hpp"
#include "net/scheme.hpp"
#include "net/tls/context.hpp"

namespace strata::net {

struct connecting {
  /// For the look-up, and again for each address; 0: only the system's own limits.
  loop::duration timeout;
  /// Looks up runtimes. Null: a URL that names a runtime is an error.
  directory* names = nullptr;
  /// The TLS context for secure URL schemes. Null: the server's certificate must be valid for the
  /// URL's host under the system's trusted authorities.
  std::shared_ptr<const tls_context> secure = nullptr;
  /// Sent on a stream before everything else, TLS included.
  std::string preface = {};
  /// The URL's address if it is known: then nothing is looked up.
  std::optional<loop::socket_address> at = std::nullopt;
};

/// Connects to `url`. Errors: those of the last address that was tried, naming the URL.
[[nodiscard]] loop::task<result<connection>> connect(loop::loop& loop, endpoint_url url,
                                                     connecting connecting);

}  // namespace strata::net
