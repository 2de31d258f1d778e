// Fields of an HTTP message (RFC 9110 section 5), and fields that are lists. Field names are in
// lower case.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strata::proto {

/// In the order of the message.
using http_fields = std::vector<std::pair<std::string, std::string>>;

/// Returns the value of the first field of that name, or nullopt.
[[nodiscard]] std::optional<std::string_view> find_field(const http_fields& fields,
                                                         std::string_view name);

/// Returns the number of fields of that name.
[[nodiscard]] std::size_t count_of_field(const http_fields& fields, std::string_view name);

/// Returns the values of all fields of that name, joined with commas (RFC 9110 section 5.3);
/// nullopt if there is none.
[[nodiscard]] std::optional<std::string> joined_field(const http_fields& fields,
                                                      std::string_view name);

/// Returns the elements of the fields' lists (RFC 9110 section 5.6.1), without empty ones. They are
/// views of the fields.
[[nodiscard]] std::vector<std::string_view> field_elements(const http_fields& fields,
                                                           std::string_view name);

/// Reports whether an element of the fields' lists is the token, ignoring case: `Connection: a,
/// Upgrade` has `upgrade`.
[[nodiscard]] bool has_token(const http_fields& fields, std::string_view name,
                             std::string_view token);

}  // namespace strata::proto
