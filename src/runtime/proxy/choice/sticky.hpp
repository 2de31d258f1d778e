// The cookie that returns a client to its previous backend: `NAME=MARK.MARK`, with one mark for
// each set of backends (those of a route, those of `--backend`).
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

/// The marks in a cookie's value; a few at most, whatever its length.
[[nodiscard]] std::vector<std::uint64_t> read_marks(std::string_view value);

/// The value of Set-Cookie.
[[nodiscard]] std::string cookie_text(std::string_view name,
                                      const std::vector<std::uint64_t>& marks, bool is_secure);

}  // namespace strata::runtime::proxy
