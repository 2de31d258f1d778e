// What a proxy says with the answers that are its own: the pages of a folder, `502.html` and the
// like, in place of its own words.
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

  /// Reads those that are there; an empty folder's name is none. Errors: of one that cannot be
  /// read, or is longer; then the pages are those that were.
  [[nodiscard]] result<void> read(loop::loop& loop, const std::string& folder);
  /// The page for that status; null: there is none.
  [[nodiscard]] const std::string* of(int status) const;

 private:
  std::map<int, std::string> pages_;
};

}  // namespace strata::runtime::proxy
