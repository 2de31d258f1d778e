// What a server counts of HTTP, beside what every runtime counts.
#pragma once

#include <vector>

#include "options/figure_table.hpp"

namespace strata::runtime::server {

struct web_figures {
  options::counter requests;
  options::case_counters answers;  ///< by the status's first digit

  void count_answer(int status);
};

[[nodiscard]] const std::vector<options::bound_figure<web_figures>>& web_figure_table();
/// Those of a server: what every runtime has, and these.
[[nodiscard]] const std::vector<options::figure_row>& figure_rows();

}  // namespace strata::runtime::server
