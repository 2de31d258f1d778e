// The file that a request's path names, decided before anything is opened.
#pragma once

#include <string_view>

namespace strata::http {

struct request_path {
  int refusal = 0;            ///< 400 or 404; 0: the file may be looked up
  std::string_view relative;  ///< path below the served folder; empty: the folder itself
  bool wants_folder = false;  ///< the path ended in a slash
};

/// `path` is decoded, `target` is as received. Both outlive the result. A path that two programs
/// could interpret differently is refused, and so is a name that begins with a dot, except
/// `.well-known` (RFC 8615).
[[nodiscard]] request_path read_path(std::string_view path, std::string_view target);

}  // namespace strata::http
