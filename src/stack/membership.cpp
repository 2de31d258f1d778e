#include "stack/membership.hpp"

#include <fmt/format.h>

namespace strata::stack {

using nlohmann::json;

namespace {

constexpr auto label_key = "label";

}  // namespace

std::string stack_of(const json& options) {
  const auto begin = fmt::format("{}=", stack_label);
  for (const auto& each : options.value(label_key, json::array())) {
    const auto* const label = each.get_ptr<const json::string_t*>();
    if (label != nullptr && label->starts_with(begin)) return label->substr(begin.size());
  }
  return {};
}

void join_stack(desired_runtime& desired, std::string_view stack,
                const std::optional<present_runtime>& present) {
  const auto owner = present ? stack_of(present->options) : std::string(stack);
  const bool keeps_labels = present && !desired.options.contains(label_key);
  if (owner.empty() || keeps_labels) return;
  auto& labels = desired.options[label_key];
  if (!labels.is_array()) labels = json::array();
  labels.push_back(fmt::format("{}={}", stack_label, owner));
}

}  // namespace strata::stack
