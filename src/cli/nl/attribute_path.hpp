// An attribute as it is typed, taken apart.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "cli/line/outcome.hpp"
#include "ynl/spec.hpp"

namespace strata::cli {

/// PATH[:TYPE][=VALUE]
struct typed_attribute {
  std::string_view whole;
  std::vector<std::uint16_t> path;
  std::vector<const ynl::attribute*> known;  ///< of each step; nullptr where nothing is
  ynl::scope scope;                          ///< in which the last step stands
  std::string_view type;                     ///< empty when none was named
  std::optional<std::string_view> value;

  [[nodiscard]] std::uint16_t number() const { return path.back(); }
};

/// "--attr cannot be 'WHOLE': WHY"
[[nodiscard]] std::unexpected<refusal> refuse_attribute(std::string_view whole,
                                                        std::string_view why);

/// Refers to `whole` and to the scope's specification. Errors: misused, naming what is wrong.
[[nodiscard]] outcome<typed_attribute> parse_attribute(std::string_view whole,
                                                       const ynl::scope& scope);

}  // namespace strata::cli
