#include "proto/resp_reply.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace strata::proto {

void reply_writer::line(char mark, std::string_view text) {
  reserve(text.size() + 3);
  *at_++ = mark;
  std::memcpy(at_, text.data(), text.size());
  at_ += text.size();
  end_line();
}

void reply_writer::error(std::string_view text) {
  line('-', text);
  // The text may quote what a client sent.
  char* const first = at_ - 2 - text.size();
  std::replace_if(
      first, first + text.size(), [](char each) { return each == '\r' || each == '\n'; }, ' ');
}

void reply_writer::digits(std::int64_t value) { at_ = std::to_chars(at_, at_ + 20, value).ptr; }

void reply_writer::number(char mark, std::int64_t value) {
  reserve(max_head);
  *at_++ = mark;
  digits(value);
  end_line();
}

void reply_writer::bulk_integer(std::int64_t value) {
  char text[20];
  auto* const end = std::to_chars(text, text + sizeof text, value).ptr;
  bulk({text, static_cast<std::size_t>(end - text)});
}

void reply_writer::real(double value) {
  char buffer[40];
  const auto text = format_real(value, buffer);
  if (is_resp3_) {
    line(',', text);
  } else {
    bulk(text);
  }
}

void reply_writer::verbatim(std::string_view kind, std::string_view text) {
  if (!is_resp3_) {
    bulk(text);
    return;
  }
  reserve(text.size() + max_head);
  head('=', text.size() + 4);
  std::memcpy(at_, kind.data(), 3);
  at_ += 3;
  *at_++ = ':';
  std::memcpy(at_, text.data(), text.size());
  at_ += text.size();
  end_line();
}

std::string_view format_real(double value, char (&buffer)[40]) {
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  // Whole numbers of up to 17 digits print as integers, which is much less work.
  constexpr double most_whole = 1e17;
  if (std::abs(value) < most_whole && value != 0) {
    const auto whole = static_cast<std::int64_t>(value);
    if (static_cast<double>(whole) == value) {
      auto* const end = std::to_chars(buffer, buffer + sizeof buffer, whole).ptr;
      return {buffer, static_cast<std::size_t>(end - buffer)};
    }
  }
  auto* const end =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::general, 17).ptr;
  return {buffer, static_cast<std::size_t>(end - buffer)};
}

}  // namespace strata::proto
