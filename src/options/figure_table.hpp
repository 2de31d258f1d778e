// The tables of figures: one row per figure of the statistics, from which the control API's JSON,
// the metrics, the columns of `strata stats` and the API's description are all made.
//
// What counts keeps its figures in a plain struct of counters and binds each member to a row, as
// options are bound (option_table.hpp).
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
  counter,  ///< only grows; what is gone has counted too
  peak,     ///< the largest value so far, of those who are gone too
  gauge,    ///< of this moment: nothing is left of what is gone
  rate,     ///< as a gauge; what came in `span_s` seconds, shown per second
  latency,  ///< how long things took; as a counter
};

enum class figure_unit : std::uint8_t { none, bytes, microseconds };

struct figure_row {
  std::string_view key = {};  ///< in JSON: `messages.in` is the member `in` of `messages`
  figure_kind kind = figure_kind::counter;
  figure_unit unit = figure_unit::none;
  std::string_view help = {};    ///< one line, lower case, no full stop
  std::string_view metric = {};  ///< as Prometheus names it; empty: it is not shown there
  std::string_view column = {};  ///< as `strata stats --columns` names it; empty: there is none
  bool is_hidden = false;        ///< the column is shown only where it is asked for
  std::uint64_t span_s = 1;      ///< of a rate
  /// A figure by case is an object of counts, one for each case; `label` says what the cases are.
  std::string_view label = {};
  std::span<const std::string_view> cases = {};
  bool leaves_out_zeros = false;  ///< cases that have not come about are not shown
};

/// A row and the member of `Statistics` that holds its value.
template <class Statistics>
struct bound_figure {
  figure_row row;
  std::variant<counter Statistics::*, case_counters Statistics::*, latency Statistics::*> member;
};

/// The rows alone, for those who do not know the struct.
template <class Statistics>
[[nodiscard]] std::vector<figure_row> rows_of(const std::vector<bound_figure<Statistics>>& table) {
  std::vector<figure_row> rows;
  rows.reserve(table.size());
  for (const auto& bound : table) rows.push_back(bound.row);
  return rows;
}

/// The figures of a struct for one that derives from it.
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

/// The counters that a row is bound to: one, or as many as there may be cases. Not of a latency.
template <class Statistics>
[[nodiscard]] auto counters_of(Statistics& statistics,
                               const bound_figure<std::remove_const_t<Statistics>>& bound) {
  using one = std::conditional_t<std::is_const_v<Statistics>, const counter, counter>;
  if (const auto* single = std::get_if<0>(&bound.member))
    return std::span<one>(&(statistics.**single), 1);
  return std::span<one>(statistics.*std::get<1>(bound.member));
}

/// Adds what a part has counted to a sum of all parts.
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

/// What stays when what was counted is gone: sums and peaks, but nothing of the present moment.
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

/// The row's value: a whole number, of a rate any number, of a figure by case an object.
[[nodiscard]] nlohmann::json figure_value(const figure_row& row, std::span<const counter> counted);

/// The values of the table's rows, in their order.
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

/// `messages.in` as RFC 6901 has it: `/messages/in`.
[[nodiscard]] std::string json_pointer(const figure_row& row);

}  // namespace strata::options
