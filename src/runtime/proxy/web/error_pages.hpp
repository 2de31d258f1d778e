// Custom pages for the proxy's own answers, from a folder with `502.html` and the like.
//
// For one loop's thread.
#pragma once

#include <map>
#include <string>

#include "loop/loop.hpp"
#include "strata/base/result.hpp"

namespace strata::runtime::proxy {

class error_pages {
 public:
  static constexpr std::size_t longest = 64U << 10U;  // bytes of a page

  /// Reads the pages that exist; none if the folder's name is empty. Errors: a page cannot be read,
  /// or is too long; then the present pages stay in use.
  [[nodiscard]] result<void> read(loop::loop& loop, const std::string& folder);
  /// The page for that status; null if there is none.
  [[nodiscard]] const std::string* of(int status) const;

 private:
  std::map<int, std::string> pages_;
};

}  // namespace strata::runtime::proxy
