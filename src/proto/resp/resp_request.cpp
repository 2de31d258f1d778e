#include "proto/resp/resp_request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "strata/base/huge_pages.hpp"

namespace strata::proto {

namespace {

constexpr std::size_t max_line = 64U << 10U;      // of an inline command, or of a length line
constexpr std::size_t small_enough = 64U << 10U;  // memory that an idle connection may keep
constexpr std::size_t reserve_limit = 4U << 20U;  // the most memory reserved for a length alone
constexpr std::uint64_t stranger_arguments = 10;
constexpr std::uint64_t stranger_bulk = 16384;

bool is_resp_digit(char each) { return each >= '0' && each <= '9'; }

// Parses the digits of a length, as strictly as Redis's string2ll: no leading zeros, no plus.
std::optional<std::int64_t> parse_length(std::string_view text) {
  const bool negative = !text.empty() && text.front() == '-';
  if (negative) text.remove_prefix(1);
  if (text.empty() || text.size() > 19 || (text.front() == '0' && (text.size() > 1 || negative))) {
    return {};
  }
  std::uint64_t value = 0;
  for (const char each : text) {
    if (!is_resp_digit(each)) return {};
    value = value * 10 + static_cast<std::uint64_t>(each - '0');
  }
  if (value > INT64_MAX) return {};
  return negative ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
}

// A line's value, and the offset of the next line.
struct length_line {
  std::optional<std::int64_t> value;
  std::size_t next;
};

// Reads the line at `offset`, whose first byte is a mark and not part of the value. Returns nullopt
// if it has no end yet.
std::optional<length_line> read_length(std::string_view bytes, std::size_t offset) {
  // Nearly all lengths have one or two digits.
  if (offset + 4 <= bytes.size() && is_resp_digit(bytes[offset + 1])) {
    const std::int64_t first = bytes[offset + 1] - '0';
    if (bytes[offset + 2] == '\r') return length_line{first, offset + 4};
    if (first != 0 && is_resp_digit(bytes[offset + 2]) && offset + 5 <= bytes.size() &&
        bytes[offset + 3] == '\r') {
      return length_line{first * 10 + (bytes[offset + 2] - '0'), offset + 5};
    }
  }
  const auto end = bytes.find('\r', offset + 1);
  if (end == std::string_view::npos || end + 1 >= bytes.size()) return {};
  return length_line{parse_length(bytes.substr(offset + 1, end - offset - 1)), end + 2};
}

int hex_digit(char each) {
  if (is_resp_digit(each)) return each - '0';
  const char lower = static_cast<char>(each | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

bool is_space(char each) { return each == ' ' || (each >= '\t' && each <= '\r'); }
bool is_plain(char each) { return each != '"' && each != '\'' && !is_space(each); }

char unescaped(char each) {
  switch (each) {
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'b': return '\b';
    case 'a': return '\a';
    default: return each;
  }
}

// Reads one quoted part from behind its quote on; returns its end, or nullopt if it has none.
std::optional<std::size_t> unquote(std::string_view line, std::size_t offset, char quote,
                                   std::string& word) {
  while (offset < line.size()) {
    const char each = line[offset];
    const bool escape = each == '\\' && offset + 1 < line.size();
    if (escape && quote == '"' && line[offset + 1] == 'x' && offset + 3 < line.size() &&
        hex_digit(line[offset + 2]) >= 0 && hex_digit(line[offset + 3]) >= 0) {
      word += static_cast<char>(hex_digit(line[offset + 2]) * 16 + hex_digit(line[offset + 3]));
      offset += 4;
    } else if (escape && quote == '"') {
      word += unescaped(line[offset + 1]);
      offset += 2;
    } else if (escape && line[offset + 1] == '\'') {
      word += '\'';
      offset += 2;
    } else if (each == quote) {
      // A closing quote ends the word.
      if (offset + 1 < line.size() && !is_space(line[offset + 1])) return {};
      return offset + 1;
    } else {
      word += each;
      ++offset;
    }
  }
  return {};
}

}  // namespace

bool split_words(std::string_view line, std::vector<std::string>& words) {
  std::size_t at = 0;
  for (;;) {
    while (at < line.size() && is_space(line[at])) ++at;
    if (at == line.size()) return true;
    std::string word;
    while (at < line.size() && !is_space(line[at])) {
      if (!is_plain(line[at])) {
        const auto end = unquote(line, at + 1, line[at], word);
        if (!end) return false;
        at = *end;
        break;
      }
      const auto begin = at;
      while (at < line.size() && is_plain(line[at])) ++at;
      word.append(line, begin, at - begin);
    }
    words.push_back(std::move(word));
  }
}

void request_reader::feed(byte_span arrived) {
  if (kept_.empty()) {
    bytes_ = as_text(arrived);
    begin_ = position_ = 0;
    return;
  }
  // Reserving memory for all of it at once saves copies as it grows. A length alone reserves no
  // more than it costs to send a part of that.
  const bool is_believed = wanted_ <= reserve_limit || kept_.size() >= reserve_limit;
  if (kept_.capacity() < wanted_ && is_believed) {
    // Includes the bytes behind it in the same piece.
    kept_.reserve(wanted_ + std::max(small_enough, arrived.size()));
    use_huge_pages(kept_.data(), kept_.capacity());
  }
  kept_ += as_text(arrived);
  bytes_ = kept_;
}

void request_reader::keep() {
  if (!inline_words_.empty()) inline_words_.clear();
  const auto rest = bytes_.substr(begin_);
  if (rest.data() != kept_.data()) {
    if (rest.empty()) {
      kept_.clear();
      shrink();
    } else {
      keep_aside(rest);
    }
  }
  position_ -= begin_;
  begin_ = 0;
  bytes_ = kept_;
}

void request_reader::keep_aside(std::string_view rest) {
  if (!kept_.empty()) {
    // The rest is a part of `kept_`.
    kept_.erase(0, kept_.size() - rest.size());
    if (wanted_ <= small_enough) shrink();
    return;
  }
  // Reserves room for the whole request, so that it is not moved again when more of it arrives.
  if (wanted_ > rest.size() && wanted_ <= reserve_limit) kept_.reserve(wanted_);
  kept_ = rest;
}

// Frees memory that a large request needed. Assigning a short string would keep it.
void request_reader::shrink() {
  if (kept_.capacity() > small_enough && kept_.size() <= small_enough) kept_.shrink_to_fit();
}

void request_reader::go_back(std::size_t position) {
  begin_ = position_ = position;
  missing_ = 0;
  wanted_ = 0;
  unfinished_.clear();
}

request_reader::outcome request_reader::fail(std::string why) {
  error_ = std::move(why);
  return outcome::broken;
}

request_reader::outcome request_reader::next(std::vector<std::string_view>& arguments) {
  if (missing_ != 0) return take_up(arguments);
  begin_ = position_;
  if (parse_usual(arguments)) return outcome::request;
  if (begin_ == bytes_.size()) return outcome::incomplete;
  if (bytes_[begin_] != '*') return parse_inline(arguments);
  return parse_array(arguments);
}

// Parses the usual request: complete, with at most nine arguments of less than 100 bytes. Does
// nothing for others.
bool request_reader::parse_usual(std::vector<std::string_view>& arguments) {
  const char* at = bytes_.data() + position_;
  const char* const end = bytes_.data() + bytes_.size();
  if (end - at < 4 || at[0] != '*' || at[1] < '1' || at[1] > '9' || at[2] != '\r') return false;
  const auto before = arguments.size();
  int count = at[1] - '0';
  at += 4;
  for (; count != 0; --count) {
    if (end - at < 6 || at[0] != '$' || !is_resp_digit(at[1])) break;
    auto size = static_cast<std::size_t>(at[1] - '0');
    if (at[2] == '\r') {
      at += 4;
    } else {
      if (size == 0 || !is_resp_digit(at[2]) || at[3] != '\r') break;
      size = size * 10 + static_cast<std::size_t>(at[2] - '0');
      at += 5;
    }
    if (static_cast<std::size_t>(end - at) < size + 2) break;
    arguments.emplace_back(at, size);
    at += size + 2;
  }
  if (count != 0) {
    arguments.resize(before);
    return false;
  }
  was_inline_ = false;
  position_ = static_cast<std::size_t>(at - bytes_.data());
  return true;
}

request_reader::outcome request_reader::parse_array(std::vector<std::string_view>& arguments) {
  was_inline_ = false;
  const auto known = parse_count();
  if (known != outcome::request || missing_ == 0) return known;
  const auto before = arguments.size();
  const auto parsed = parse_bulks([&](std::size_t offset, std::size_t size) {
    arguments.push_back(bytes_.substr(offset, size));
  });
  if (parsed == outcome::incomplete) {
    for (auto i = before; i < arguments.size(); ++i) {
      const auto offset = static_cast<std::size_t>(arguments[i].data() - bytes_.data());
      unfinished_.push_back({offset - begin_, arguments[i].size()});
    }
    arguments.resize(before);
  }
  return parsed;
}

// Continues a request of which a part came before.
request_reader::outcome request_reader::take_up(std::vector<std::string_view>& arguments) {
  if (held() > limits_.max_buffer) return fail("Protocol error: too big request");
  if (bytes_.size() - begin_ < wanted_) return outcome::incomplete;
  const auto parsed = parse_bulks([&](std::size_t offset, std::size_t size) {
    unfinished_.push_back({offset - begin_, size});
  });
  if (parsed != outcome::request) return parsed;
  for (const auto& each : unfinished_) {
    arguments.push_back(bytes_.substr(begin_ + each.offset, each.size));
  }
  unfinished_.clear();
  if (unfinished_.capacity() > 1024) unfinished_.shrink_to_fit();
  return parsed;
}

request_reader::outcome request_reader::parse_count() {
  const auto line = read_length(bytes_, position_);
  if (!line) {
    return bytes_.size() - position_ > max_line ? fail("Protocol error: too big mbulk count string")
                                                : outcome::incomplete;
  }
  if (!line->value || *line->value > static_cast<std::int64_t>(limits_.max_arguments)) {
    return fail("Protocol error: invalid multibulk length");
  }
  if (limits_.is_stranger && *line->value > static_cast<std::int64_t>(stranger_arguments)) {
    return fail("Protocol error: unauthenticated multibulk length");
  }
  position_ = line->next;
  missing_ = static_cast<std::uint64_t>(std::max<std::int64_t>(*line->value, 0));
  return outcome::request;
}

template <class Found>
request_reader::outcome request_reader::parse_bulks(Found&& found) {
  while (missing_ != 0) {
    wanted_ = 0;
    if (position_ >= bytes_.size()) return outcome::incomplete;
    if (bytes_[position_] != '$') {
      return fail(std::string("Protocol error: expected '$', got '") + bytes_[position_] + "'");
    }
    const auto line = read_length(bytes_, position_);
    if (!line) {
      return bytes_.size() - position_ > max_line
                 ? fail("Protocol error: too big bulk count string")
                 : outcome::incomplete;
    }
    if (!line->value || *line->value < 0 ||
        static_cast<std::uint64_t>(*line->value) > limits_.max_bulk) {
      return fail("Protocol error: invalid bulk length");
    }
    const auto size = static_cast<std::size_t>(*line->value);
    if (limits_.is_stranger && size > stranger_bulk) {
      return fail("Protocol error: unauthenticated bulk length");
    }
    if (line->next + size + 2 > bytes_.size()) {
      wanted_ = line->next - begin_ + size + 2;
      return outcome::incomplete;
    }
    found(line->next, size);
    position_ = line->next + size + 2;
    --missing_;
  }
  return outcome::request;
}

request_reader::outcome request_reader::parse_inline(std::vector<std::string_view>& arguments) {
  const auto end = bytes_.find('\n', position_);
  if (end == std::string_view::npos) {
    return bytes_.size() - position_ > max_line ? fail("Protocol error: too big inline request")
                                                : outcome::incomplete;
  }
  auto line = bytes_.substr(position_, end - position_);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  was_inline_ = true;
  std::vector<std::string> words;
  if (!split_words(line, words)) return fail("Protocol error: unbalanced quotes in request");
  position_ = end + 1;
  inline_words_.push_back(std::move(words));
  for (const auto& each : inline_words_.back()) arguments.emplace_back(each);
  return outcome::request;
}

void append_command(std::string& text, std::span<const std::string_view> words) {
  fmt::format_to(std::back_inserter(text), "*{}\r\n", words.size());
  for (const auto& each : words) {
    fmt::format_to(std::back_inserter(text), "${}\r\n", each.size());
    text += each;
    text += "\r\n";
  }
}

}  // namespace strata::proto
