// The figures of a runtime's script.
#pragma once

#include <array>
#include <tuple>
#include <vector>

#include "options/figure_table.hpp"
#include "script/machine.hpp"

namespace strata::runtime::scripting {

struct script_figures {
  options::counter calls;
  options::counter errors;
  options::counter time_us;
  options::counter reloads;
  options::counter memory;
  options::counter waiting;
  /// By callback; the last case is for other functions: of timers, subscriptions and others.
  options::case_counters callback_calls;
  options::case_counters callback_time_us;
};

/// Sums up the figures of the script's runs.
class stopwatch {
 public:
  explicit stopwatch(script_figures& figures) : into_(figures) {}
  /// Counts a call. `callback`: its row; any larger number means another function.
  void count(std::size_t callback);
  void note(const script::callback_run& ran);

 private:
  script_figures& into_;
  // Most runs are shorter than a microsecond.
  loop::duration all_{};
  std::array<loop::duration, std::tuple_size_v<options::case_counters>> by_callback_{};
};

[[nodiscard]] const std::vector<options::bound_figure<script_figures>>& script_figure_table();

/// The figures that every runtime has, and those of runtimes with scripts.
[[nodiscard]] const std::vector<options::figure_row>& script_figure_rows();

}  // namespace strata::runtime::scripting
