// What several results of `strata bench paths` say together: which ratios agree between machines.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "measure/report/table.hpp"
#include "strata/base/result.hpp"

namespace strata::measure {

struct named_result {
  std::string name;  ///< as the tables have it: the file's path
  nlohmann::json document;
};

/// The document of a comparison: `hosts`, what each result was measured on and how; and `rows`, for
/// each measurement of each path the figures and the ratios to the base path of all hosts (null
/// where one has none). Of ratios that two hosts or more have:
/// - `agree`: all intervals have a point in common; null if a host had too few runs to say.
/// - `side`: `above` or `below` 1 by all intervals, else `undecided`.
/// - `low` and `high`: of all intervals together.
/// Errors: malformed, for what is no result; invalid_argument, for results with different base
/// paths.
[[nodiscard]] result<nlohmann::json> compare(const std::vector<named_result>& results);

/// Hosts, ratios, figures.
[[nodiscard]] std::vector<table> comparison_tables(const nlohmann::json& compared);

/// How many ratios agree, in a sentence.
[[nodiscard]] std::string comparison_summary(const nlohmann::json& compared);

}  // namespace strata::measure
