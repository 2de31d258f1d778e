#include "proto/http/http_fields.hpp"

#include <algorithm>

#include "text/word.hpp"

namespace strata::proto {

namespace {

template <class Visit>
void for_each_element(const http_fields& fields, std::string_view name, Visit visit) {
  for (const auto& [known, value] : fields) {
    if (known != name) continue;
    for (std::string_view rest = value; !rest.empty();) {
      const auto comma = std::min(rest.find(','), rest.size());
      const auto element = text::trimmed(rest.substr(0, comma));
      if (!element.empty()) visit(element);
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  }
}

}  // namespace

std::optional<std::string_view> find_field(const http_fields& fields, std::string_view name) {
  for (const auto& [known, value] : fields) {
    if (known == name) return value;
  }
  return std::nullopt;
}

std::size_t count_of_field(const http_fields& fields, std::string_view name) {
  return static_cast<std::size_t>(
      std::ranges::count(fields, name, [](const auto& field) { return field.first; }));
}

std::optional<std::string> joined_field(const http_fields& fields, std::string_view name) {
  std::optional<std::string> joined;
  for (const auto& [known, value] : fields) {
    if (known != name) continue;
    if (joined) {
      joined->append(", ").append(value);
    } else {
      joined = value;
    }
  }
  return joined;
}

std::vector<std::string_view> field_elements(const http_fields& fields, std::string_view name) {
  std::vector<std::string_view> elements;
  for_each_element(fields, name, [&](std::string_view element) { elements.push_back(element); });
  return elements;
}

bool has_token(const http_fields& fields, std::string_view name, std::string_view token) {
  bool found = false;
  for_each_element(fields, name, [&](std::string_view element) {
    found = found || text::same_text(element, token);
  });
  return found;
}

}  // namespace strata::proto
