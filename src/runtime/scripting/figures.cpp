#include "runtime/scripting/figures.hpp"

#include <algorithm>
#include <iterator>

#include "runtime/figures.hpp"
#include "runtime/scripting/callbacks.hpp"

namespace strata::runtime::scripting {

using enum options::figure_kind;
using enum options::figure_unit;

namespace {

// Calls of no callback are counted under the last name.
std::span<const std::string_view> case_names() {
  static const auto names = [] {
    std::vector<std::string_view> all;
    for (const auto& row : callback_rows()) all.push_back(row.name);
    all.emplace_back("function");
    return all;
  }();
  return names;
}

std::uint64_t in_microseconds(loop::duration time) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(time).count());
}

}  // namespace

void stopwatch::count(std::size_t callback) {
  into_.calls.add();
  into_.callback_calls[std::min(callback, callback_rows().size())].add();
}

void stopwatch::note(const script::callback_run& ran) {
  if (ran.has_begun) count(ran.callback);
  const auto at = std::min(ran.callback, callback_rows().size());
  into_.time_us.set(in_microseconds(all_ += ran.took));
  into_.callback_time_us[at].set(in_microseconds(by_callback_[at] += ran.took));
}

// One figure per row of two or three lines.
// clang-format off
const std::vector<options::bound_figure<script_figures>>& script_figure_table() {
  static const std::vector<options::bound_figure<script_figures>> table = {
      {{.key = "script.calls", .help = "calls of the script's functions",
        .metric = "strata_script_calls_total", .column = "script_calls", .is_hidden = true},
       &script_figures::calls},
      {{.key = "script.errors", .help = "calls of the script's functions that failed",
        .metric = "strata_script_errors_total", .column = "script_errors", .is_hidden = true},
       &script_figures::errors},
      {{.key = "script.time_us", .unit = microseconds, .help = "time that the script has used",
        .metric = "strata_script_time_microseconds_total", .column = "script_time",
        .is_hidden = true},
       &script_figures::time_us},
      {{.key = "script.reloads", .help = "how often the script was reloaded",
        .metric = "strata_script_reloads_total", .column = "script_reloads", .is_hidden = true},
       &script_figures::reloads},
      {{.key = "script.memory", .kind = gauge, .unit = bytes, .help = "memory used by the script",
        .metric = "strata_script_memory_bytes", .column = "script_memory", .is_hidden = true},
       &script_figures::memory},
      {{.key = "script.waiting", .kind = gauge, .help = "calls of the script's functions that are "
                                                        "waiting",
        .metric = "strata_script_waiting", .column = "script_waiting", .is_hidden = true},
       &script_figures::waiting},
      {{.key = "script.callbacks.calls", .help = "calls of the script's functions, by callback",
        .metric = "strata_script_callback_calls_total", .label = "callback",
        .cases = case_names(), .leaves_out_zeros = true},
       &script_figures::callback_calls},
      {{.key = "script.callbacks.time_us", .unit = microseconds,
        .help = "time that the script has used, by callback",
        .metric = "strata_script_callback_time_microseconds_total", .label = "callback",
        .cases = case_names(), .leaves_out_zeros = true},
       &script_figures::callback_time_us},
  };
  return table;
}
// clang-format on

const std::vector<options::figure_row>& script_figure_rows() {
  static const auto rows = [] {
    auto all = common_figure_rows();
    std::ranges::move(rows_of(script_figure_table()), std::back_inserter(all));
    return all;
  }();
  return rows;
}

}  // namespace strata::runtime::scripting
