// The cookie by which a client comes back to the backend that it was at: `NAME=MARK.MARK`, of each
// set of backends (those of a route, those of `--backend`) one mark.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proto/http/http1.hpp"

namespace strata::runtime::proxy {

/// The value of the first cookie of that name.
[[nodiscard]] std::optional<std::string_view> find_cookie(const proto::http_fields& fields,
                                                          std::string_view name);

/// The marks that a cookie's value has; a few at most, of whatever it says.
[[nodiscard]] std::vector<std::uint64_t> read_marks(std::string_view value);

/// What Set-Cookie says.
[[nodiscard]] std::string cookie_text(std::string_view name,
                                      const std::vector<std::uint64_t>& marks, bool is_secure);

}  // namespace strata::runtime::proxy
