// What a runtime counts of its script.
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
  /// By callback; last, those of functions that are none: of timers, subscriptions and others.
  options::case_counters callback_calls;
  options::case_counters callback_time_us;
};

/// Adds up the figures of what runs.
class stopwatch {
 public:
  explicit stopwatch(script_figures& figures) : into_(figures) {}
  /// A call begins. `callback`: its row; any larger number is another function.
  void count(std::size_t callback);
  void note(const script::stretch& ran);

 private:
  script_figures& into_;
  // Most stretches are shorter than a microsecond.
  loop::duration all_{};
  std::array<loop::duration, std::tuple_size_v<options::case_counters>> by_callback_{};
};

[[nodiscard]] const std::vector<options::bound_figure<script_figures>>& script_figure_table();

/// What every runtime has, and what those have that run scripts.
[[nodiscard]] const std::vector<options::figure_row>& script_figure_rows();

}  // namespace strata::runtime::scripting
