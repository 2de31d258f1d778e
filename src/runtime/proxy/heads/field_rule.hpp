// What a proxy changes in the heads that it passes on: `set NAME: VALUE`, `add NAME: VALUE` or
// `remove NAME`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "proto/http/http1.hpp"
#include "strata/base/result.hpp"

namespace strata::runtime::proxy {

struct field_rule {
  enum class kind : std::uint8_t { set, add, remove };

  kind does = kind::set;
  std::string name;  ///< in lower case
  std::string value;
};

/// Errors: invalid_argument, naming the text and what is wrong with it; for fields too that say
/// where a message ends, which are the proxy's own.
[[nodiscard]] result<field_rule> parse_field_rule(const std::string& text);
/// Of texts that parse.
[[nodiscard]] std::vector<field_rule> field_rules_of(const std::vector<std::string>& texts);

/// In their order.
void change(proto::http_fields& fields, const std::vector<field_rule>& rules);

}  // namespace strata::runtime::proxy
