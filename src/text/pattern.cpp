#include "text/pattern.hpp"

#include <algorithm>
#include <cctype>

namespace strata::text {

namespace {

char folded(char each, bool ignore_case) {
  return ignore_case ? static_cast<char>(std::tolower(static_cast<unsigned char>(each))) : each;
}

// One element of a pattern other than a star: whether `each` matches it, and its length.
struct single {
  bool fits;
  std::size_t size;
};

single match_class(std::string_view pattern, char each, bool ignore_case) {
  std::size_t at = 1;
  const bool negated = at < pattern.size() && pattern[at] == '^';
  if (negated) ++at;
  bool fits = false;
  for (;; ++at) {
    if (at >= pattern.size()) {
      // An unterminated class ends with the pattern, as in Redis.
      break;
    }
    if (pattern[at] == '\\' && at + 1 < pattern.size()) {
      ++at;
      fits = fits || pattern[at] == each;
    } else if (pattern[at] == ']') {
      ++at;
      break;
    } else if (at + 2 < pattern.size() && pattern[at + 1] == '-') {
      char low = folded(pattern[at], ignore_case);
      char high = folded(pattern[at + 2], ignore_case);
      if (low > high) std::swap(low, high);
      const char wanted = folded(each, ignore_case);
      fits = fits || (wanted >= low && wanted <= high);
      at += 2;
    } else {
      fits = fits || folded(pattern[at], ignore_case) == folded(each, ignore_case);
    }
  }
  return {fits != negated, at};
}

single match_one(std::string_view pattern, char each, bool ignore_case) {
  switch (pattern.front()) {
    case '?': return {true, 1};
    case '[': return match_class(pattern, each, ignore_case);
    case '\\':
      if (pattern.size() > 1) {
        return {folded(pattern[1], ignore_case) == folded(each, ignore_case), 2};
      }
      [[fallthrough]];
    default: return {folded(pattern.front(), ignore_case) == folded(each, ignore_case), 1};
  }
}

}  // namespace

// Only the last star needs to be retried: the part before it has then been matched as early as
// possible.
bool matches_pattern(std::string_view pattern, std::string_view text, bool ignore_case) {
  std::size_t at = 0;
  std::size_t in_text = 0;
  std::size_t star = std::string_view::npos;
  std::size_t star_text = 0;
  while (in_text < text.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = ++at;
      star_text = in_text;
      continue;
    }
    if (at < pattern.size()) {
      const auto one = match_one(pattern.substr(at), text[in_text], ignore_case);
      if (one.fits) {
        at += one.size;
        ++in_text;
        continue;
      }
    }
    if (star == std::string_view::npos) return false;
    at = star;
    in_text = ++star_text;
  }
  while (at < pattern.size() && pattern[at] == '*') ++at;
  return at == pattern.size();
}

}  // namespace strata::text
