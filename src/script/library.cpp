#include "script/library.hpp"

#include <utility>

#include "text/word.hpp"

namespace strata::script {

namespace {

constexpr std::pair<std::string_view, value_kind> kinds[] = {
    {"any", value_kind::any},          {"boolean", value_kind::boolean},
    {"number", value_kind::number},    {"integer", value_kind::integer},
    {"string", value_kind::string},    {"table", value_kind::table},
    {"function", value_kind::function}};

// The annotations for editors describe tables and functions in more detail than is checked:
// `fun(id: integer)`, `string[]`.
value_kind kind_of(std::string_view type) {
  if (type.starts_with("fun(")) return value_kind::function;
  if (type.contains('|')) return value_kind::any;
  if (type.ends_with("[]") || type.starts_with("table")) return value_kind::table;
  for (const auto& [name, kind] : kinds) {
    if (name == type) return kind;
  }
  return value_kind::any;
}

// Finds the first comma that is not within brackets.
std::size_t end_of_first(std::string_view text) {
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '(' || text[at] == '<') ++depth;
    if (text[at] == ')' || text[at] == '>') --depth;
    if (text[at] == ',' && depth == 0) return at;
  }
  return text.size();
}

}  // namespace

std::vector<parameter> parse_parameters(std::string_view signature) {
  std::vector<parameter> all;
  while (!signature.empty()) {
    const auto end = end_of_first(signature);
    const auto one = text::trimmed(signature.substr(0, end));
    signature.remove_prefix(end == signature.size() ? end : end + 1);
    const auto colon = one.find(':');
    auto name = text::trimmed(one.substr(0, colon));
    const bool is_optional = name.ends_with('?');
    if (is_optional) name.remove_suffix(1);
    const auto type =
        colon == std::string_view::npos ? "any" : text::trimmed(one.substr(colon + 1));
    all.push_back({name, kind_of(type), is_optional, type});
  }
  return all;
}

std::string_view name_of(value_kind kind) {
  for (const auto& [name, each] : kinds) {
    if (each == kind) return name;
  }
  return "any";
}

}  // namespace strata::script
