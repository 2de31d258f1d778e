#include "proto/resp/resp_reply.hpp"

#include <algorithm>
#include <charconv>

namespace strata::proto {

void reply_writer::line(char mark, std::string_view text) {
  reserve(text.size() + 3);
  *at_++ = mark;
  copy(text);
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
  const auto text = text::format_real(value, buffer);
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
  copy(text);
  end_line();
}

}  // namespace strata::proto
