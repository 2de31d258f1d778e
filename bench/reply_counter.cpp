#include "reply_counter.hpp"

#include <algorithm>
#include <charconv>

#include "failure.hpp"

namespace strata::bench {

namespace {

constexpr std::size_t longest_line = 1U << 20U;

// Returns the number behind the type of a line; it may be -1, for null.
std::int64_t number_in(std::string_view line) {
  std::int64_t number = 0;
  const auto* const end = line.data() + line.size();
  const auto [rest, code] = std::from_chars(line.data() + 1, end, number);
  if (code != std::errc{} || rest == end || *rest != '\r' || number < -1) {
    fail(fmt::format("the server sent a length that is none: '{}'", line));
  }
  return number;
}

}  // namespace

std::size_t reply_counter::count(std::string_view bytes) {
  whole_ = 0;
  while (!bytes.empty()) {
    if (text_ != 0) {
      const auto part = std::min<std::uint64_t>(text_, bytes.size());
      text_ -= part;
      bytes.remove_prefix(part);
      if (text_ == 0) end_value();
      continue;
    }
    const auto end = bytes.find('\n');
    if (end == std::string_view::npos || !line_.empty()) {
      line_ += bytes.substr(0, end == std::string_view::npos ? end : end + 1);
      if (line_.size() > longest_line) fail("the server sent a line without an end");
      if (end == std::string_view::npos) break;
      read_line(line_);
      line_.clear();
    } else {
      read_line(bytes.substr(0, end + 1));
    }
    bytes.remove_prefix(end + 1);
  }
  return whole_;
}

void reply_counter::read_line(std::string_view line) {
  if (values_ == 0) values_ = 1;
  switch (line.front()) {
    case '-': fail(fmt::format("the server answered '{}'", line.substr(0, line.find('\r'))));
    case '$':
    case '=':
      if (const auto length = number_in(line); length >= 0) {
        text_ = static_cast<std::uint64_t>(length) + 2;
        return;
      }
      break;
    case '*':
    case '~':
    case '>':
      if (const auto length = number_in(line); length > 0) {
        values_ += static_cast<std::uint64_t>(length);
      }
      break;
    case '%':
      if (const auto length = number_in(line); length > 0) {
        values_ += 2 * static_cast<std::uint64_t>(length);
      }
      break;
    case '+':
    case ':':
    case '_':
    case '#':
    case ',':
    case '(': break;
    default: fail(fmt::format("the server sent a reply of no type: '{}'", line.substr(0, 40)));
  }
  end_value();
}

void reply_counter::end_value() {
  if (--values_ == 0) ++whole_;
}

}  // namespace strata::bench
