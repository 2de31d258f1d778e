#include "runtime/cache/engine/clients/data_availability.hpp"

#include <algorithm>
#include <utility>

namespace strata::runtime::cache {

void data_availability::refuse_changes(obstacle obstacle, std::string error) {
  refusals_[static_cast<std::size_t>(obstacle)] = std::move(error);
  sum_up();
}

std::string_view data_availability::refusal() const {
  const auto* const found =
      std::ranges::find_if(refusals_, [](const std::string& each) { return !each.empty(); });
  return found == refusals_.end() ? std::string_view() : *found;
}

void data_availability::set_loading(bool enabled) {
  is_loading_ = enabled;
  sum_up();
}

void data_availability::set_cut_off(bool enabled) {
  is_cut_off_ = enabled;
  sum_up();
}

void data_availability::set_interrupted(bool enabled) {
  is_interrupted_ = enabled;
  sum_up();
}

}  // namespace strata::runtime::cache
