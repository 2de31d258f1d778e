// The tables of figures: one row per figure of the statistics, from which the control API's JSON,
// the metrics, the columns of `strata stats` and the API's description are all made.
//
// A class that counts keeps its figures in a plain struct of counters and binds each member to a
// row, as options are bound (option_table.hpp).
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "options/counter.hpp"
#include "options/latency.hpp"

namespace strata::options {

enum class figure_kind : std::uint8_t {
  counter,  ///< only grows; includes what has ended
  peak,     ///< the largest value so far, including what has ended
  gauge,    ///< the present value, without what has ended
  rate,     ///< as a gauge; the increase in `span_s` seconds, shown per second
  latency,  ///< durations; otherwise as a counter
};

enum class figure_unit : std::uint8_t { none, bytes, microseconds };

struct figure_row {
  std::string_view key = {};  ///< key in JSON: `messages.in` is the member `in` of `messages`
  figure_kind kind = figure_kind::counter;
  figure_unit unit = figure_unit::none;
  std::string_view help = {};    ///< one line, lower case, no full stop
  std::string_view metric = {};  ///< Prometheus name; empty: it has none
  std::string_view column = {};  ///< name for `strata stats --columns`; empty: it has none
  bool is_hidden = false;        ///< the column is shown only on request
  std::uint64_t span_s = 1;      ///< for a rate
  /// Set for a figure by case, an object with one count per case: `label` names what the cases are.
  std::string_view label = {};
  std::span<const std::string_view> cases = {};
  bool leaves_out_zeros = false;  ///< cases with a count of 0 are not shown
};

/// A row and the member of `Statistics` that holds its value.
template <class Statistics>
struct bound_figure {
  figure_row row;
  std::variant<counter Statistics::*, case_counters Statistics::*, latency Statistics::*> member;
};

/// The rows alone, for code that does not know the struct.
template <class Statistics>
[[nodiscard]] std::vector<figure_row> rows_of(const std::vector<bound_figure<Statistics>>& table) {
  std::vector<figure_row> rows;
  rows.reserve(table.size());
  for (const auto& bound : table) rows.push_back(bound.row);
  return rows;
}

/// The figures of a base struct, for a derived one.
template <class Derived, class Base>
[[nodiscard]] std::vector<bound_figure<Derived>> figures_for(
    const std::vector<bound_figure<Base>>& table) {
  std::vector<bound_figure<Derived>> all;
  all.reserve(table.size());
  for (const auto& bound : table) {
    std::visit([&](auto member) { all.push_back({bound.row, member}); }, bound.member);
  }
  return all;
}

/// The counters that a row is bound to: one, or as many as there may be cases. Not for a latency.
template <class Statistics>
[[nodiscard]] auto counters_of(Statistics& statistics,
                               const bound_figure<std::remove_const_t<Statistics>>& bound) {
  using one = std::conditional_t<std::is_const_v<Statistics>, const counter, counter>;
  if (const auto* single = std::get_if<0>(&bound.member))
    return std::span<one>(&(statistics.**single), 1);
  return std::span<one>(statistics.*std::get<1>(bound.member));
}

/// Adds the figures of a part to the sum of all parts.
template <class Statistics>
void add_figures(Statistics& sum, const Statistics& part,
                 const std::vector<bound_figure<Statistics>>& table) {
  for (const auto& bound : table) {
    if (const auto* const times = std::get_if<2>(&bound.member)) {
      (sum.**times).add(part.**times);
      continue;
    }
    const auto into = counters_of(sum, bound);
    const auto from = counters_of(part, bound);
    for (std::size_t at = 0; at < into.size(); ++at) {
      if (bound.row.kind == figure_kind::peak) {
        into[at].raise(from[at].get());
      } else {
        into[at].add(from[at].get());
      }
    }
  }
}

/// The figures that remain when their object has ended: sums and peaks, but no present values.
template <class Statistics>
[[nodiscard]] Statistics past_figures(Statistics statistics,
                                      const std::vector<bound_figure<Statistics>>& table) {
  for (const auto& bound : table) {
    const auto kind = bound.row.kind;
    if (kind == figure_kind::counter || kind == figure_kind::peak || kind == figure_kind::latency)
      continue;
    for (auto& each : counters_of(statistics, bound)) each.set(0);
  }
  return statistics;
}

/// The row's value: a whole number; for a rate any number; for a figure by case an object.
[[nodiscard]] nlohmann::json figure_value(const figure_row& row, std::span<const counter> counted);

/// The values of the table's rows, in order.
template <class Statistics>
[[nodiscard]] std::vector<nlohmann::json> values_of(
    const Statistics& statistics, const std::vector<bound_figure<Statistics>>& table) {
  std::vector<nlohmann::json> values;
  values.reserve(table.size());
  for (const auto& bound : table) {
    const auto* const times = std::get_if<2>(&bound.member);
    values.push_back(times != nullptr ? to_json(statistics.**times)
                                      : figure_value(bound.row, counters_of(statistics, bound)));
  }
  return values;
}

/// `messages.in` as a JSON pointer (RFC 6901): `/messages/in`.
[[nodiscard]] std::string json_pointer(const figure_row& row);

}  // namespace strata::options
