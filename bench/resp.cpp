#include "resp.hpp"

#include <fmt/core.h>

#include <charconv>
#include <iterator>

#include "failure.hpp"

namespace strata::bench {

namespace {

std::int64_t to_integer(std::string_view digits) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size()) {
    fail(fmt::format("redis sent a number that is none: '{}'", digits));
  }
  return value;
}

// Reads from the front of the bytes; every step says nullopt when they end too early.
class cursor {
 public:
  explicit cursor(std::string_view bytes) : bytes_(bytes) {}

  std::size_t position() const { return position_; }

  std::optional<std::string_view> line() {
    const std::size_t end = bytes_.find("\r\n", position_);
    if (end == std::string_view::npos) return std::nullopt;
    const auto found = bytes_.substr(position_, end - position_);
    position_ = end + 2;
    return found;
  }

  std::optional<std::string_view> bulk(std::string_view length_digits) {
    const std::int64_t length = to_integer(length_digits);
    if (length < 0) return std::string_view{};  // the null bulk string
    const auto size = static_cast<std::size_t>(length);
    if (bytes_.size() - position_ < size + 2) return std::nullopt;
    const auto found = bytes_.substr(position_, size);
    if (bytes_.substr(position_ + size, 2) != "\r\n") fail("redis: a bulk string without its end");
    position_ += size + 2;
    return found;
  }

  // A scalar's text: of a bulk string its bytes, of all others the rest of the line.
  std::optional<std::string_view> scalar() {
    const auto head = line();
    if (!head) return std::nullopt;
    if (head->empty()) fail("redis: an empty line where a value should start");
    const auto rest = head->substr(1);
    switch (head->front()) {
      case '$': return bulk(rest);
      case '+':
      case '-':
      case ':': return rest;
      default: fail(fmt::format("redis: unexpected type '{}'", head->front()));
    }
  }

 private:
  std::string_view bytes_;
  std::size_t position_ = 0;
};

}  // namespace

std::optional<resp_reply> read_reply(std::string_view bytes) {
  if (bytes.empty()) return std::nullopt;
  resp_reply reply;
  reply.type = bytes.front();
  cursor at(bytes);
  if (reply.type != '*') {
    const auto text = at.scalar();
    if (!text) return std::nullopt;
    reply.text = *text;
    if (reply.type == ':') reply.integer = to_integer(*text);
  } else {
    const auto head = at.line();
    if (!head) return std::nullopt;
    const std::int64_t count = to_integer(head->substr(1));
    if (count < 0 || static_cast<std::size_t>(count) > reply.items.size()) {
      fail(fmt::format("redis: an array of {} where a message has 3", count));
    }
    reply.item_count = static_cast<std::size_t>(count);
    for (std::size_t i = 0; i < reply.item_count; ++i) {
      const auto item = at.scalar();
      if (!item) return std::nullopt;
      reply.items[i] = *item;
    }
  }
  reply.length = at.position();
  return reply;
}

void append_command(std::string& out, std::initializer_list<std::string_view> words) {
  fmt::format_to(std::back_inserter(out), "*{}\r\n", words.size());
  for (const auto word : words) {
    fmt::format_to(std::back_inserter(out), "${}\r\n", word.size());
    out += word;
    out += "\r\n";
  }
}

}  // namespace strata::bench
