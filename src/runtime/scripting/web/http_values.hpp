// Header fields of HTTP as scripts have them: a table of names.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "proto/http/http1.hpp"
#include "strata/base/result.hpp"

namespace strata::runtime::scripting {

enum class http_side : std::uint8_t { request, answer };

/// Fields of one name are one list (RFC 9110 section 5.2).
[[nodiscard]] nlohmann::json table_of(const proto::http_fields& fields);

/// A value may be a list of as many fields. Errors: it is no table of names, a field that is none,
/// and those that say where a message ends or what its connection is, and of an answer the date:
/// these are not a script's.
[[nodiscard]] result<proto::http_fields> fields_of(const nlohmann::json& table, http_side side);

}  // namespace strata::runtime::scripting
