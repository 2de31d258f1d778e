#include "runtime/options/labels.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

namespace strata::runtime {

namespace {

constexpr std::size_t longest_key = 63;
constexpr std::size_t longest_value = 255;

bool is_alphanumeric(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= '0' && letter <= '9');
}

bool has_label_letters(std::string_view text) {
  return std::ranges::all_of(text, [](char letter) {
    return is_alphanumeric(letter) || std::string_view("._-/").contains(letter);
  });
}

std::string key_of(std::string_view label) { return std::string(label.substr(0, label.find('='))); }

std::unexpected<error> wrong_label(const std::string& label, std::string reason) {
  return failure(errc::invalid_argument, "use the label '" + label + "'", std::move(reason),
                 "write KEY=VALUE, such as app=shop");
}

result<void> check_label(const std::string& label) {
  const auto equals = label.find('=');
  if (equals == std::string::npos) return wrong_label(label, "it has no '='");
  const auto key = std::string_view(label).substr(0, equals);
  const auto value = std::string_view(label).substr(equals + 1);
  if (key.empty() || key.size() > longest_key || !is_alphanumeric(key.front()) ||
      !has_label_letters(key)) {
    return wrong_label(label,
                       "a key has 1 to 63 letters, digits, '.', '_', '-' and '/', and "
                       "begins with a letter or a digit");
  }
  if (value.size() > longest_value || !has_label_letters(value)) {
    return wrong_label(label, "a value has at most 255 letters, digits, '.', '_', '-' and '/'");
  }
  return {};
}

}  // namespace

result<void> check_labels(std::span<const std::string> labels) {
  std::set<std::string> keys;
  for (const auto& each : labels) {
    if (auto checked = check_label(each); !checked) return checked;
    if (!keys.insert(key_of(each)).second) {
      return wrong_label(each, "there is another label with the key '" + key_of(each) + "'");
    }
  }
  return {};
}

nlohmann::json labels_json(std::span<const std::string> labels) {
  auto object = nlohmann::json::object();
  for (const auto& each : labels) object[key_of(each)] = each.substr(each.find('=') + 1);
  return object;
}

}  // namespace strata::runtime
