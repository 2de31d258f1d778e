// Conditions on the present string of a key, by its value or its digest: the options of SET and
// DELEX since Redis 8.4.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace strata::runtime::cache {

class call;
class entry;

struct string_comparison {
  bool by_digest = false;
  bool is_equal = false;  ///< what the result must be
  std::string_view value;
};

/// Reads IFEQ, IFNE, IFDEQ or IFDNE at word `index`, and the value behind it. Returns nullopt if
/// there is none of them, if it is the last word, or if the cache's version has none of them.
[[nodiscard]] std::optional<string_comparison> read_string_comparison(const call& c,
                                                                      std::size_t index);

/// Reports whether a string, or a missing one, is as required: a missing one differs from each
/// value. Returns nullopt after an error, if the digest to compare with is none.
[[nodiscard]] std::optional<bool> passes_comparison(call& c, const string_comparison& comparison,
                                                    const entry* present);

}  // namespace strata::runtime::cache
