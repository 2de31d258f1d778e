// Any pattern is matched against any text within bounds, or is refused; the first byte says how
// much of the rest is the pattern.
#include <cstdlib>

#include "script/libraries/pattern_matcher.hpp"
#include "strata/base/bytes.hpp"

namespace {

struct enough {};

void match(std::string_view subject, std::string_view pattern) {
  int looks = 0;
  strata::script::pattern_matcher by(subject, pattern, [&looks] {
    if (++looks == 20) throw enough();
  });
  for (std::size_t at = 0; at <= subject.size(); ++at) {
    const auto end = by.match(at);
    if (end == strata::script::pattern_matcher::none) continue;
    if (end < at || end > subject.size()) std::abort();
    for (int which = 0; which < by.captures(); ++which) {
      const auto& one = by.captured(which);
      if (one.begin > subject.size()) std::abort();
      if (one.size >= 0 && one.begin + static_cast<std::size_t>(one.size) > subject.size()) {
        std::abort();
      }
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto rest = strata::as_text(std::as_bytes(std::span(data, size))).substr(1);
  const auto split = std::min<std::size_t>(data[0], rest.size());
  try {
    match(rest.substr(split), rest.substr(0, split));
  } catch (const strata::script::pattern_error&) {
  } catch (const enough&) {
  }
  return 0;
}
