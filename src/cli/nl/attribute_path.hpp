// An attribute as it is typed, parsed into its parts.
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
  std::vector<const ynl::attribute*> known;  ///< for each step; nullptr if unknown
  ynl::scope scope;                          ///< the scope of the last step
  std::string_view type;                     ///< empty if none was given
  std::optional<std::string_view> value;

  [[nodiscard]] std::uint16_t number() const { return path.back(); }
};

/// "--attr cannot be 'WHOLE': WHY"
[[nodiscard]] std::unexpected<refusal> refuse_attribute(std::string_view whole,
                                                        std::string_view why);

/// The result refers to `whole` and to the scope's specification. Errors: misused, naming the
/// fault.
[[nodiscard]] outcome<typed_attribute> parse_attribute(std::string_view whole,
                                                       const ynl::scope& scope);

}  // namespace strata::cli
