#include "script/libraries/pattern_matcher.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace strata::script {

namespace {

constexpr int deepest = 200;
constexpr unsigned steps_between = 1024;

bool is_lower(unsigned char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(unsigned char c) { return c >= 'A' && c <= 'Z'; }
bool is_digit(unsigned char c) { return c >= '0' && c <= '9'; }
bool is_graphic(unsigned char c) { return c > ' ' && c < 0x7F; }

bool in_class(unsigned char c, char name) {
  const auto lower = static_cast<char>(name | 0x20);
  bool is_in = false;
  switch (lower) {
    case 'a': is_in = is_lower(c) || is_upper(c); break;
    case 'c': is_in = c < ' ' || c == 0x7F; break;
    case 'd': is_in = is_digit(c); break;
    case 'g': is_in = is_graphic(c); break;
    case 'l': is_in = is_lower(c); break;
    case 'p': is_in = is_graphic(c) && !is_lower(c) && !is_upper(c) && !is_digit(c); break;
    case 's': is_in = c == ' ' || (c >= '\t' && c <= '\r'); break;
    case 'u': is_in = is_upper(c); break;
    case 'w': is_in = is_lower(c) || is_upper(c) || is_digit(c); break;
    case 'x': is_in = is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); break;
    case 'z': is_in = c == 0; break;
    default: return static_cast<unsigned char>(name) == c;
  }
  return is_upper(static_cast<unsigned char>(name)) ? !is_in : is_in;
}

}  // namespace

void pattern_matcher::step() {
  if (++steps_ % steps_between == 0) between_();
}

std::size_t pattern_matcher::match(std::size_t offset, std::size_t start) {
  captured_ = 0;
  depth_ = 0;
  return run(offset, start);
}

// Returns the end of the single character class that begins at `position`.
std::size_t pattern_matcher::class_end(std::size_t position) const {
  const char first = at_pattern(position++);
  if (first == '%') {
    if (position >= pattern_.size()) throw pattern_error{"malformed pattern (ends with '%')"};
    return position + 1;
  }
  if (first != '[') return position;
  if (at_pattern(position) == '^') ++position;
  do {
    if (position >= pattern_.size()) throw pattern_error{"malformed pattern (missing ']')"};
    if (pattern_[position++] == '%') ++position;
  } while (position >= pattern_.size() || pattern_[position] != ']');
  return position + 1;
}

// `position` is at the bracket, `end` behind the closing one.
bool pattern_matcher::in_set(unsigned char letter, std::size_t position, std::size_t end) const {
  const auto last = end - 1;
  bool is_meant = true;
  if (at_pattern(position + 1) == '^') {
    is_meant = false;
    ++position;
  }
  while (++position < last) {
    const auto one = static_cast<unsigned char>(pattern_[position]);
    if (one == '%') {
      ++position;
      if (in_class(letter, at_pattern(position))) return is_meant;
    } else if (at_pattern(position + 1) == '-' && position + 2 < last) {
      position += 2;
      if (one <= letter && letter <= static_cast<unsigned char>(pattern_[position]))
        return is_meant;
    } else if (one == letter) {
      return is_meant;
    }
  }
  return !is_meant;
}

bool pattern_matcher::fits(std::size_t offset, std::size_t position, std::size_t end) const {
  if (offset >= subject_.size()) return false;
  const auto letter = static_cast<unsigned char>(subject_[offset]);
  switch (pattern_[position]) {
    case '.': return true;
    case '%': return in_class(letter, pattern_[position + 1]);
    case '[': return in_set(letter, position, end);
    default: return static_cast<unsigned char>(pattern_[position]) == letter;
  }
}

std::size_t pattern_matcher::expand_most(std::size_t offset, std::size_t position,
                                         std::size_t end) {
  std::size_t count = 0;
  while (fits(offset + count, position, end)) {
    ++count;
    step();
  }
  for (;; --count) {
    const auto found = run(offset + count, end + 1);
    if (found != none || count == 0) return found;
  }
}

std::size_t pattern_matcher::expand_least(std::size_t offset, std::size_t position,
                                          std::size_t end) {
  for (;; ++offset) {
    const auto found = run(offset, end + 1);
    if (found != none) return found;
    if (!fits(offset, position, end)) return none;
  }
}

std::size_t pattern_matcher::begin_capture(std::size_t offset, std::size_t position,
                                           std::ptrdiff_t what) {
  if (captured_ >= most_captures) throw pattern_error{"too many captures"};
  all_[static_cast<std::size_t>(captured_++)] = {offset, what};
  const auto found = run(offset, position);
  if (found == none) --captured_;
  return found;
}

std::size_t pattern_matcher::end_capture(std::size_t offset, std::size_t position) {
  int which = captured_ - 1;
  while (which >= 0 && captured(which).size != open) --which;
  if (which < 0) throw pattern_error{"invalid pattern capture"};
  auto& one = all_[static_cast<std::size_t>(which)];
  one.size = static_cast<std::ptrdiff_t>(offset - one.begin);
  const auto found = run(offset, position);
  if (found == none) one.size = open;
  return found;
}

std::size_t pattern_matcher::balance(std::size_t offset, std::size_t position) {
  if (position + 1 >= pattern_.size()) throw pattern_error{"unbalanced pattern"};
  if (offset >= subject_.size() || subject_[offset] != pattern_[position]) return none;
  int depth = 1;
  while (++offset < subject_.size()) {
    step();
    if (subject_[offset] == pattern_[position + 1]) {
      if (--depth == 0) return offset + 1;
    } else if (subject_[offset] == pattern_[position]) {
      ++depth;
    }
  }
  return none;
}

std::size_t pattern_matcher::back_reference(std::size_t offset, char character) {
  const int number = character - '1';
  if (number < 0 || number >= captured_ || captured(number).size == open) {
    throw pattern_error{"invalid capture index"};
  }
  const auto& one = captured(number);
  const auto text =
      subject_.substr(one.begin, one.size < 0 ? 0 : static_cast<std::size_t>(one.size));
  return subject_.substr(offset).starts_with(text) ? offset + text.size() : none;
}

bool pattern_matcher::is_frontier(std::size_t offset, std::size_t set, std::size_t end) const {
  const auto letter_at = [this](std::size_t where) {
    return where < subject_.size() ? static_cast<unsigned char>(subject_[where]) : 0;
  };
  const auto before = offset == 0 ? static_cast<unsigned char>(0) : letter_at(offset - 1);
  return !in_set(static_cast<unsigned char>(before), set, end) &&
         in_set(static_cast<unsigned char>(letter_at(offset)), set, end);
}

// Matches one class with the repetition mark that may follow it.
std::size_t pattern_matcher::run_single(std::size_t offset, std::size_t position, std::size_t end,
                                        bool& goes_on, std::size_t& next_at, std::size_t& next_in) {
  const bool is_there = fits(offset, position, end);
  switch (at_pattern(end)) {
    case '?': {
      if (is_there) {
        const auto found = run(offset + 1, end + 1);
        if (found != none) return found;
      }
      goes_on = true;
      next_at = offset;
      next_in = end + 1;
      return none;
    }
    case '*': return expand_most(offset, position, end);
    case '+': return is_there ? expand_most(offset + 1, position, end) : none;
    case '-': return expand_least(offset, position, end);
    default:
      goes_on = is_there;
      next_at = offset + 1;
      next_in = end;
      return none;
  }
}

std::size_t pattern_matcher::run(std::size_t offset, std::size_t in) {
  if (++depth_ > deepest) throw pattern_error{"pattern too complex"};
  struct leave {
    int& depth;
    ~leave() { --depth; }
  } const left{depth_};
  for (;;) {
    step();
    if (in >= pattern_.size()) return offset;
    const char first = pattern_[in];
    if (first == '(') {
      return at_pattern(in + 1) == ')' ? begin_capture(offset, in + 2, position)
                                       : begin_capture(offset, in + 1, open);
    }
    if (first == ')') return end_capture(offset, in + 1);
    if (first == '$' && in + 1 == pattern_.size()) return offset == subject_.size() ? offset : none;
    const char second = first == '%' ? at_pattern(in + 1) : '\0';
    if (second == 'b') {
      offset = balance(offset, in + 2);
      if (offset == none) return none;
      in += 4;
    } else if (second == 'f') {
      if (at_pattern(in + 2) != '[') throw pattern_error{"missing '[' after '%f' in pattern"};
      const auto end = class_end(in + 2);
      if (!is_frontier(offset, in + 2, end)) return none;
      in = end;
    } else if (second >= '0' && second <= '9') {
      offset = back_reference(offset, second);
      if (offset == none) return none;
      in += 2;
    } else {
      bool goes_on = false;
      const auto found = run_single(offset, in, class_end(in), goes_on, offset, in);
      if (!goes_on) return found;
    }
  }
}

}  // namespace strata::script
