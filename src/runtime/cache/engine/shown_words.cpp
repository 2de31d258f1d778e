#include "runtime/cache/engine/shown_words.hpp"

#include <algorithm>

#include "text/word.hpp"

namespace strata::runtime::cache {

namespace {

constexpr std::string_view redacted = "(redacted)";

// Hides `count` words from `first` on.
void redact(std::span<std::string_view> words, std::size_t first, std::size_t count) {
  first = std::min(first, words.size());
  std::ranges::fill(words.subspan(first, std::min(count, words.size() - first)), redacted);
}

bool is_secret_parameter(std::string_view name) {
  return text::same_text(name, "requirepass") || text::same_text(name, "masterauth");
}

}  // namespace

std::vector<std::string_view> shown_words(const command& what,
                                          std::span<const std::string_view> words) {
  std::vector<std::string_view> shown(words.begin(), words.end());
  const bool is_setting = what.parent != nullptr && what.parent->name == "config";
  if (what.row->name == "auth") {
    redact(shown, 1, shown.size());
  } else if (what.row->name == "hello") {
    const auto found = std::ranges::find_if(
        words, [](std::string_view each) { return text::same_text(each, "AUTH"); });
    redact(shown, static_cast<std::size_t>(found - words.begin()) + 1, 2);
  } else if (is_setting && what.row->name == "set") {
    for (std::size_t at = 2; at + 1 < words.size(); at += 2) {
      if (is_secret_parameter(words[at])) redact(shown, at + 1, 1);
    }
  }
  return shown;
}

}  // namespace strata::runtime::cache
