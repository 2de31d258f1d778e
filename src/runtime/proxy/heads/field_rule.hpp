// A proxy's changes to the heads that it passes on: `set NAME: VALUE`, `add NAME: VALUE` or `remove
// NAME`.
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

/// Parses a rule. Errors: invalid_argument, naming the text and the mistake; also for framing
/// fields, which are the proxy's own.
[[nodiscard]] result<field_rule> parse_field_rule(const std::string& text);
/// The rules of texts that parse.
[[nodiscard]] std::vector<field_rule> field_rules_of(const std::vector<std::string>& texts);

/// Applies the rules in order.
void change(proto::http_fields& fields, const std::vector<field_rule>& rules);

}  // namespace strata::runtime::proxy
