#include "cli/pipe/terminal_text.hpp"

#include <algorithm>
#include <cstddef>

#include "text/readable.hpp"

namespace strata::cli {

namespace {

/// The number of bytes at the end of `text` that may begin a character or a line end.
std::size_t size_of_unfinished(std::string_view text) {
  if (text.ends_with('\r')) return 1;
  constexpr std::size_t longest_letter = 4;
  for (std::size_t back = 1; back < longest_letter && back <= text.size(); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if (byte < 0x80U) return 0;
    if (byte < 0xC0U) continue;
    const std::size_t whole = byte >= 0xF0U ? 4 : byte >= 0xE0U ? 3 : 2;
    return whole > back ? back : 0;
  }
  return 0;
}

}  // namespace

std::string_view terminal_text::feed(std::string_view piece) {
  kept_ += piece;
  std::string_view rest(kept_);
  const auto unfinished = size_of_unfinished(rest);
  rest.remove_suffix(unfinished);
  shown_.clear();
  while (!rest.empty()) {
    const auto end = std::min(rest.find('\n'), rest.size());
    auto line = rest.substr(0, end);
    const bool is_whole = end != rest.size();
    if (is_whole && line.ends_with('\r')) line.remove_suffix(1);
    shown_ += text::printable(line);
    if (is_whole) shown_ += '\n';
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  kept_.erase(0, kept_.size() - unfinished);
  return shown_;
}

std::string_view terminal_text::finish() {
  shown_ = text::printable(kept_);
  kept_.clear();
  return shown_;
}

}  // namespace strata::cli
