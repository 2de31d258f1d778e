// Compares several results of `strata bench paths`: which ratios agree between machines.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "measure/report/table.hpp"
#include "strata/base/result.hpp"

namespace strata::measure {

struct named_result {
  std::string name;  ///< for the tables: the file's path
  nlohmann::json document;
};

/// Returns the document of a comparison: `hosts`, the machines and conditions of each result; and
/// `rows`, with the figures and the ratios to the base path of all hosts for each measurement of
/// each path (null if a host has none). For ratios of at least two hosts:
///   - `agree`: all intervals have a common point; null if a host had too few runs to tell.
///   - `side`: `above` or `below` 1 by all intervals, otherwise `undecided`.
///   - `low` and `high`: of all intervals together.
///
/// Errors: malformed for a document that is no result; invalid_argument for results with different
/// base paths.
[[nodiscard]] result<nlohmann::json> compare(const std::vector<named_result>& results);

/// Returns the tables of hosts, ratios and figures.
[[nodiscard]] std::vector<table> comparison_tables(const nlohmann::json& compared);

/// Returns a sentence on how many ratios agree.
[[nodiscard]] std::string comparison_summary(const nlohmann::json& compared);

}  // namespace strata::measure
