// The figures of runtimes that serve HTTP, besides those of every runtime.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "options/figure_table.hpp"

namespace strata::runtime {

/// `1xx` to `5xx`: the cases of answers by their status's first digit.
[[nodiscard]] std::span<const std::string_view> answer_classes();
void count_by_class(options::case_counters& answers, int status);

struct web_figures {
  options::counter requests;
  options::case_counters answers;  ///< by the status's first digit

  void count_answer(int status);
};

[[nodiscard]] const std::vector<options::bound_figure<web_figures>>& web_figure_table();
/// The figures of every runtime, and these.
[[nodiscard]] const std::vector<options::figure_row>& web_figure_rows();

}  // namespace strata::runtime
