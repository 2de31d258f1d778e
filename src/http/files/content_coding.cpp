#include "http/files/content_coding.hpp"

#include <algorithm>
#include <optional>

#include "text/word.hpp"

namespace strata::http {

namespace {

// Parses `1`, `0.5`, `0.125`.
int read_thousandths(std::string_view digits) {
  if (digits.empty() || (digits[0] != '0' && digits[0] != '1') || digits.size() > 5) return 0;
  if (digits.size() > 1 && digits[1] != '.') return 0;
  int value = digits[0] == '1' ? 1000 : 0;
  int scale = 100;
  for (const char each : digits.substr(std::min<std::size_t>(digits.size(), 2))) {
    if (each < '0' || each > '9') return 0;
    value += (each - '0') * scale;
    scale /= 10;
  }
  return std::min(value, 1000);
}

}  // namespace

int read_weight(std::string_view parameters) {
  while (!parameters.empty()) {
    const auto begin = parameters.find(';');
    if (begin == std::string_view::npos) return 1000;
    parameters.remove_prefix(begin + 1);
    const auto one = text::trimmed(parameters.substr(0, parameters.find(';')));
    if (one.size() >= 2 && text::same_text(one.substr(0, 2), "q=")) {
      return read_thousandths(text::trimmed(one.substr(2)));
    }
  }
  return 1000;
}

coding_preference read_accept_encoding(std::string_view value) {
  std::optional<int> gzip;
  std::optional<int> brotli;
  std::optional<int> identity;
  std::optional<int> others;
  while (!value.empty()) {
    const auto end = std::min(value.find(','), value.size());
    const auto element = value.substr(0, end);
    value.remove_prefix(std::min(end + 1, value.size()));
    const auto name = text::trimmed(element.substr(0, element.find(';')));
    const int weight = read_weight(element.substr(std::min(element.find(';'), element.size())));
    if (text::same_text(name, "gzip") || text::same_text(name, "x-gzip")) gzip = weight;
    if (text::same_text(name, "br")) brotli = weight;
    if (text::same_text(name, "identity")) identity = weight;
    if (name == "*") others = weight;
  }
  // A coding that is not named gets the weight of `*`. The identity, if not named, gets 0: any
  // accepted coding is preferred to it.
  const int rest = others.value_or(0);
  const int plain = identity.value_or(0);
  const int by_gzip = gzip.value_or(rest);
  const int by_brotli = brotli.value_or(rest);
  return {.takes_gzip = by_gzip > 0 && by_gzip >= plain,
          .takes_brotli = by_brotli > 0 && by_brotli >= plain,
          .prefers_gzip = by_gzip > by_brotli};
}

coding coding_preference::choose(bool has_gzip, bool has_brotli) const {
  const bool by_gzip = has_gzip && takes_gzip;
  const bool by_brotli = has_brotli && takes_brotli;
  if (by_brotli && !(by_gzip && prefers_gzip)) return coding::brotli;
  return by_gzip ? coding::gzip : coding::identity;
}

char coding_preference::letter() const {
  const int bits = (takes_gzip ? 1 : 0) + (takes_brotli ? 2 : 0) + (prefers_gzip ? 4 : 0);
  return static_cast<char>('0' + bits);
}

}  // namespace strata::http
