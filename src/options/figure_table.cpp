#include "options/figure_table.hpp"

#include <algorithm>
#include <cassert>

namespace strata::options {

nlohmann::json figure_value(const figure_row& row, std::span<const counter> counted) {
  if (row.kind == figure_kind::rate) {
    return static_cast<double>(counted.front().get()) / static_cast<double>(row.span_s);
  }
  if (row.cases.empty()) return counted.front().get();
  assert(row.cases.size() <= counted.size());
  auto by_case = nlohmann::json::object();
  for (std::size_t at = 0; at < row.cases.size(); ++at) {
    const auto value = counted[at].get();
    if (value != 0 || !row.leaves_out_zeros) by_case[std::string(row.cases[at])] = value;
  }
  return by_case;
}

std::string json_pointer(const figure_row& row) {
  std::string pointer = "/" + std::string(row.key);
  std::ranges::replace(pointer, '.', '/');
  return pointer;
}

}  // namespace strata::options
