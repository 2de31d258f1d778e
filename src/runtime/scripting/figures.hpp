// What a runtime counts of its script.
#pragma once

#include <vector>

#include "options/figure_table.hpp"

namespace strata::runtime::scripting {

struct script_figures {
  options::counter calls;
  options::counter errors;
  options::counter time_us;
  options::counter reloads;
  options::counter memory;
  options::counter waiting;
};

[[nodiscard]] const std::vector<options::bound_figure<script_figures>>& script_figure_table();

/// What every runtime has, and what those have that run scripts.
[[nodiscard]] const std::vector<options::figure_row>& script_figure_rows();

}  // namespace strata::runtime::scripting
