#include "runtime/web/web_figures.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "runtime/figures.hpp"

namespace strata::runtime {

namespace {

constexpr std::string_view class_names[] = {"1xx", "2xx", "3xx", "4xx", "5xx"};
static_assert(std::size(class_names) <= std::tuple_size_v<options::case_counters>);

}  // namespace

std::span<const std::string_view> answer_classes() { return class_names; }

void count_by_class(options::case_counters& answers, int status) {
  const int first = status / 100;
  if (first >= 1 && first <= 5) answers[static_cast<std::size_t>(first - 1)].add();
}

void web_figures::count_answer(int status) {
  requests.add();
  count_by_class(answers, status);
}

// One figure per row of two or three lines.
// clang-format off
const std::vector<options::bound_figure<web_figures>>& web_figure_table() {
  static const std::vector<options::bound_figure<web_figures>> table = {
      {{.key = "http.requests",
        .help = "HTTP requests answered, malformed ones too",
        .metric = "strata_http_requests_total", .column = "requests", .is_hidden = true},
       &web_figures::requests},
      {{.key = "http.answers", .help = "HTTP answers, by the class of their status",
        .metric = "strata_http_answers_total", .column = "answers", .is_hidden = true,
        .label = "class", .cases = class_names},
       &web_figures::answers},
  };
  return table;
}
// clang-format on

const std::vector<options::figure_row>& web_figure_rows() {
  static const auto rows = [] {
    auto all = common_figure_rows();
    std::ranges::move(rows_of(web_figure_table()), std::back_inserter(all));
    return all;
  }();
  return rows;
}

}  // namespace strata::runtime
