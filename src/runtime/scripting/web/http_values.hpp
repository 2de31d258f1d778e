// HTTP header fields as tables for scripts.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "proto/http/http1.hpp"
#include "strata/base/result.hpp"

namespace strata::runtime::scripting {

enum class http_side : std::uint8_t { request, answer };

/// Fields of one name are joined into one list (RFC 9110 section 5.2).
[[nodiscard]] nlohmann::json table_of(const proto::http_fields& fields);

/// Reads fields from a table; a list value stands for several fields. Errors: the value is no table
/// with names, or has an invalid field, or one that scripts may not set: framing and connection
/// fields, and in an answer the date.
[[nodiscard]] result<proto::http_fields> fields_of(const nlohmann::json& table, http_side side);

}  // namespace strata::runtime::scripting
