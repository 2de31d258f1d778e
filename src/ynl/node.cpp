#include "ynl/node.hpp"

#include <fmt/format.h>

#include "text/number.hpp"

namespace strata::ynl {

std::optional<node> node::find(const char* key) const {
  if (!yaml_.IsMap()) refuse(fmt::format("expected a map with the key '{}'", key));
  const auto found = yaml_[key];
  if (!found.IsDefined() || found.IsNull()) return {};
  return node(found);
}

std::optional<node> node::map(const char* key) const {
  auto found = find(key);
  if (found && !found->is_map()) found->refuse(fmt::format("'{}' must be a map", key));
  return found;
}

std::vector<node> node::list(const char* key) const {
  const auto found = find(key);
  if (!found) return {};
  if (!found->yaml().IsSequence()) found->refuse(fmt::format("'{}' must be a list", key));
  std::vector<node> all;
  for (const auto& each : found->yaml()) all.emplace_back(each);
  return all;
}

std::string node::text(std::string_view text) const {
  constexpr std::size_t longest = 4096;
  if (!yaml_.IsScalar()) refuse(fmt::format("{} must be a string", text));
  if (yaml_.Scalar().size() > longest) {
    refuse(fmt::format("{} has more than {} characters", text, longest));
  }
  return yaml_.Scalar();
}

std::string node::text_of(const char* key, std::string_view otherwise) const {
  const auto found = find(key);
  return found ? found->text(fmt::format("'{}'", key)) : std::string(otherwise);
}

std::string node::needed_text(const char* key) const {
  auto made = text_of(key);
  if (made.empty()) refuse(fmt::format("'{}' is missing", key));
  return made;
}

std::vector<std::string> node::texts_of(const char* key) const {
  std::vector<std::string> all;
  for (const auto& each : list(key)) all.push_back(each.text(fmt::format("each of '{}'", key)));
  return all;
}

std::optional<std::uint64_t> node::number_of(const char* key, std::uint64_t most) const {
  const auto found = find(key);
  if (!found) return {};
  const auto written = found->text(fmt::format("'{}'", key));
  const auto number = text::number_in<std::uint64_t>(written);
  if (!number || *number > most) {
    found->refuse(
        fmt::format("'{}' cannot be '{}': use a number from 0 to {}", key, written, most));
  }
  return number;
}

bool node::is_true(const char* key) const { return text_of(key) == "true"; }

}  // namespace strata::ynl
