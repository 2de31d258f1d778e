// What a request's path says of a file, before anything is opened.
#pragma once

#include <string_view>

namespace strata::http {

struct request_path {
  int refusal = 0;            ///< 400 or 404; 0: it may be looked for
  std::string_view relative;  ///< below the folder that is served; empty: the folder itself
  bool wants_folder = false;  ///< it ended in a slash
};

/// `path` is decoded, `target` is as it was sent. Both outlive what is returned. A path that two
/// programs could read in two ways is refused, and so is a name that begins with a dot, but for
/// `.well-known` (RFC 8615).
[[nodiscard]] request_path read_path(std::string_view path, std::string_view target);

}  // namespace strata::http
