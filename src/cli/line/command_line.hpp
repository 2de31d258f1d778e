// From arguments to typed values, by option rows.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/line/outcome.hpp"
#include "options/option_table.hpp"

namespace strata::cli {

using option_rows = std::vector<options::option_row>;

struct parsed_line {
  std::vector<std::string> words;  ///< what is no flag, in its order; all that follows `--`
  nlohmann::json flags = nlohmann::json::object();  ///< by row key, typed; only those given
};

/// Errors: misused, naming the flag and what it takes; an unknown flag with the nearest one.
[[nodiscard]] outcome<parsed_line> parse_line(std::vector<std::string> tokens,
                                              std::span<const options::option_row> rows);

/// Where the first word stands, when only `rows` are known, or nullopt when there is none. Errors:
/// misused when an unknown flag comes first, since it may have a value, which is no word.
[[nodiscard]] outcome<std::optional<std::size_t>> find_first_word(
    std::span<const std::string> tokens, std::span<const options::option_row> rows);

/// Those of the flags that the rows have.
[[nodiscard]] nlohmann::json pick_flags(const nlohmann::json& flags,
                                        std::span<const options::option_row> rows);

}  // namespace strata::cli
