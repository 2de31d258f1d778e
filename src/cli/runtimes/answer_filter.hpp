// `--filter FIELD=VALUE`: which objects of an operation's answer are shown.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "cli/line/outcome.hpp"
#include "cli/terminal/table.hpp"

namespace strata::cli {

class answer_filter {
 public:
  /// Parses an array of strings; a field is a column's name. Errors: misused, with the valid
  /// fields.
  [[nodiscard]] static outcome<answer_filter> parse(const nlohmann::json& value,
                                                    std::span<const column> columns);

  /// Whether each given field of `object` has its given value: as JSON writes it, text without its
  /// quotes. A list matches any of its elements; a missing field is empty.
  [[nodiscard]] bool takes(const nlohmann::json& object) const;

 private:
  struct condition {
    nlohmann::json::json_pointer field;
    std::string value;
  };

  std::vector<condition> conditions_;
};

}  // namespace strata::cli
