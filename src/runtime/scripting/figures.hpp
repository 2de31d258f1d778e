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

}  // namespace strata::runtime::scripting
