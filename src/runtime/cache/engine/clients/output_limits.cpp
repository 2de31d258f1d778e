#include "runtime/cache/engine/clients/output_limits.hpp"

#include <fmt/format.h>

#include <vector>

#include "text/redis_number.hpp"
#include "text/word.hpp"

namespace strata::runtime::cache {

namespace {

constexpr std::array<std::string_view, 3> names = {"normal", "slave", "pubsub"};

std::optional<std::size_t> find_kind(std::string_view name) {
  if (text::same_text(name, "replica")) return 1;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (text::same_text(names[i], name)) return i;
  }
  return {};
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    if (end != 0) words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

}  // namespace

std::string output_limits::text() const {
  std::string made;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto& each = limits_[i];
    made += fmt::format("{}{} {} {} {}", i == 0 ? "" : " ", std::string(names[i]), each.hard,
                        each.soft, each.soft_s);
  }
  return made;
}

std::optional<std::string_view> output_limits::set(std::string_view text) {
  const auto words = words_of(text);
  if (words.size() % 4 != 0) return "Wrong number of arguments in buffer limit configuration.";
  auto next = limits_;
  for (std::size_t i = 0; i < words.size(); i += 4) {
    const auto which = find_kind(words[i]);
    if (!which) return "Invalid client class specified in buffer limit configuration.";
    const auto hard = text::parse_memory(words[i + 1]);
    const auto soft = text::parse_memory(words[i + 2]);
    const auto seconds = text::parse_integer(words[i + 3]);
    if (!hard || !soft || !seconds || *hard < 0 || *soft < 0 || *seconds < 0) {
      return "Error in hard, soft or soft_seconds setting in buffer limit configuration.";
    }
    next[*which] = {*hard, *soft, *seconds};
  }
  limits_ = next;
  return {};
}

}  // namespace strata::runtime::cache
