#include "proto/resp/resp_value.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace strata::proto {

namespace {

using kind = resp_value::kind;

constexpr std::size_t format_size = 4;  // "txt:"

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto* const end = text.data() + text.size();
  const auto [stop, failed] = std::from_chars(text.data(), end, value);
  if (failed != std::errc{} || stop != end) return {};
  return value;
}

bool is_real(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto* const end = text.data() + text.size();
  const auto [stop, failed] = std::from_chars(text.data(), end, value);
  // A number beyond the range of a double is valid.
  return stop == end && stop != text.data() && failed != std::errc::invalid_argument;
}

bool is_whole(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

kind kind_of(char mark) {
  switch (mark) {
    case '~': return kind::set;
    case '%': return kind::map;
    case '>': return kind::push;
    default: return kind::array;
  }
}

// Reads a value that is complete on one line. Returns false if its form is wrong.
bool read_scalar(char mark, std::string_view rest, resp_value& destination) {
  switch (mark) {
    case '+': destination.what = kind::status; break;
    case '-': destination.what = kind::error; break;
    case ':': {
      const auto value = parse_integer(rest);
      destination.what = kind::integer;
      destination.integer = value.value_or(0);
      return value.has_value();
    }
    case '_': return rest.empty();
    case '#':
      destination.what = kind::boolean;
      destination.integer = rest == "t" ? 1 : 0;
      return rest == "t" || rest == "f";
    case ',':
      destination.what = kind::real;
      destination.text = rest;
      return is_real(rest);
    case '(':
      destination.what = kind::big_number;
      destination.text = rest;
      return is_whole(rest);
    default: return false;
  }
  destination.text = rest;
  return true;
}

}  // namespace

void value_reader::feed(byte_span arrived) {
  forget_used();
  buffer_ += as_text(arrived);
}

// Moves the rest only when it is the smaller part, so that each byte is moved at most once.
void value_reader::forget_used() {
  if (at_ < buffer_.size() / 2 || at_ == 0) return;
  buffer_.erase(0, at_);
  dropped_ += at_;
  searched_ -= std::min(searched_, at_);
  at_ = 0;
}

std::unexpected<error> value_reader::refuse(errc code, std::string reason) {
  broken_ = error{.code = code,
                  .operation = "read a Redis reply",
                  .reason = std::move(reason),
                  .remedy = {},
                  .offset = static_cast<std::size_t>(dropped_ + at_)};
  return std::unexpected(*broken_);
}

result<std::optional<resp_value>> value_reader::next() {
  if (broken_) return std::unexpected(*broken_);
  for (;;) {
    resp_value read;
    const auto done = read_one(read);
    if (!done) return std::unexpected(done.error());
    const auto known = dropped_ + (*done == step::incomplete ? buffer_.size() : at_) - begin_;
    if (known > limits_.max_reply) {
      return refuse(errc::limit_exceeded,
                    "it is longer than " + std::to_string(limits_.max_reply) + " bytes");
    }
    if (*done == step::incomplete) return std::optional<resp_value>{};
    if (*done == step::opened) continue;
    auto whole = close(std::move(read));
    if (!whole) continue;
    begin_ = dropped_ + at_;
    values_ = 0;
    return whole;
  }
}

// Adds a complete value to its parent; returns the reply if that completes it.
std::optional<resp_value> value_reader::close(resp_value&& complete) {
  auto value = std::move(complete);
  while (!open_.empty()) {
    auto& parent = open_.back();
    parent.value.elements.push_back(std::move(value));
    if (--parent.missing != 0) return {};
    const bool was_attribute = parent.is_attribute;
    value = std::move(parent.value);
    open_.pop_back();
    if (was_attribute) return {};
  }
  return value;
}

result<value_reader::step> value_reader::read_one(resp_value& value) {
  const auto from = std::max(at_, searched_);
  const auto end = buffer_.find("\r\n", from);
  const auto known =
      end != std::string::npos ? end : buffer_.size() - (buffer_.ends_with('\r') ? 1 : 0);
  if (known > at_ + limits_.max_bulk) {
    return refuse(errc::limit_exceeded,
                  "a line is longer than " + std::to_string(limits_.max_bulk) + " bytes");
  }
  if (end == std::string::npos) {
    searched_ = known;
    return step::incomplete;
  }
  if (end == at_) return refuse(errc::malformed, "a line is empty");
  const char mark = buffer_[at_];
  const auto rest = std::string_view(buffer_).substr(at_ + 1, end - at_ - 1);
  if (mark == '$' || mark == '=' || mark == '!') {
    value.what = mark == '$' ? kind::bulk : mark == '=' ? kind::verbatim : kind::error;
    return read_bulk(rest, end + 2, value);
  }
  if (++values_ > limits_.max_values) {
    return refuse(errc::limit_exceeded,
                  "it has more than " + std::to_string(limits_.max_values) + " values");
  }
  if (mark == '*' || mark == '~' || mark == '%' || mark == '>' || mark == '|') {
    const auto opened = open(mark, rest, value);
    if (opened) at_ = end + 2;
    return opened;
  }
  if (!read_scalar(mark, rest, value)) {
    return refuse(errc::malformed, "a value is malformed");
  }
  at_ = end + 2;
  return step::complete;
}

result<value_reader::step> value_reader::read_bulk(std::string_view length, std::size_t line_end,
                                                   resp_value& value) {
  const auto size = parse_integer(length);
  if (!size || *size < -1 || (*size == -1 && value.what != kind::bulk)) {
    return refuse(errc::malformed, "the length of a string is not a number");
  }
  if (*size == -1) {
    value.what = kind::null;
    at_ = line_end;
    ++values_;
    return step::complete;
  }
  const auto bytes = static_cast<std::uint64_t>(*size);
  if (bytes > limits_.max_bulk) {
    return refuse(errc::limit_exceeded,
                  "a string is longer than " + std::to_string(limits_.max_bulk) + " bytes");
  }
  if (buffer_.size() - line_end < bytes + 2) return step::incomplete;
  auto text = std::string_view(buffer_).substr(line_end, bytes);
  if (buffer_.compare(line_end + bytes, 2, "\r\n") != 0) {
    return refuse(errc::malformed, "a string does not end where its length says");
  }
  if (value.what == kind::verbatim) {
    if (text.size() < format_size || text[format_size - 1] != ':') {
      return refuse(errc::malformed, "a verbatim string has no format");
    }
    text.remove_prefix(format_size);
  }
  value.text = text;
  at_ = line_end + bytes + 2;
  if (++values_ > limits_.max_values) {
    return refuse(errc::limit_exceeded,
                  "it has more than " + std::to_string(limits_.max_values) + " values");
  }
  return step::complete;
}

// An aggregate without elements is complete at once, unless it is an attribute.
result<value_reader::step> value_reader::open(char mark, std::string_view text, resp_value& value) {
  const auto count = parse_integer(text);
  const bool pairs = mark == '%' || mark == '|';
  if (!count || *count < (mark == '*' ? -1 : 0)) {
    return refuse(errc::malformed, "the length of an aggregate is not a number");
  }
  if (*count == 0) value.what = kind_of(mark);
  if (*count <= 0) return mark == '|' ? step::opened : step::complete;
  const auto elements = static_cast<std::uint64_t>(*count);
  if (elements > limits_.max_values) {
    return refuse(errc::limit_exceeded,
                  "it has more than " + std::to_string(limits_.max_values) + " values");
  }
  if (open_.size() >= limits_.max_depth) {
    return refuse(errc::limit_exceeded,
                  "its values are nested deeper than " + std::to_string(limits_.max_depth));
  }
  open_value opened{
      .value = {}, .missing = pairs ? elements * 2 : elements, .is_attribute = mark == '|'};
  opened.value.what = kind_of(mark);
  open_.push_back(std::move(opened));
  return step::opened;
}

}  // namespace strata::proto
