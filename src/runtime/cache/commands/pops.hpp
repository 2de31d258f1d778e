// The common part of commands that take elements from the first non-empty of several keys, or wait
// for elements.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "runtime/cache/engine/call.hpp"

namespace strata::runtime::cache {

/// The first of several keys that holds a `Value`; null if none does.
template <class Value>
struct first_found {
  std::size_t index = 0;
  Value* value = nullptr;
};

/// Searches `count` keys from word `first` on. Returns nullopt after an error. A waiting client is
/// served from the key that woke it, and ignores values of other types.
template <class Value>
[[nodiscard]] std::optional<first_found<Value>> find_first(call& c, std::size_t first,
                                                           std::size_t count) {
  for (std::size_t i = first; i < first + count; ++i) {
    if (!c.may_serve(i)) continue;
    entry* const there = c.find(i);
    if (there != nullptr && there->type() != Value::kind && c.who.waiting) continue;
    const auto found = c.open<Value>(there);
    if (!found) return {};
    if (*found != nullptr) return first_found<Value>{i, *found};
  }
  return first_found<Value>{};
}

/// Waits for the `count` keys from word `first` on; replies with null if the client cannot wait.
void wait_or_null(call& c, std::size_t first, std::size_t count,
                  std::optional<std::int64_t> deadline_ms);

/// numkeys key … <end> [COUNT n]
struct multi_pop {
  std::size_t keys = 0;
  bool at_first_end = false;
  std::int64_t count = 1;
};

/// Reads the words from `first` on; the end is one of the two names. Returns nullopt after an
/// error.
[[nodiscard]] std::optional<multi_pop> read_multi_pop(call& c, std::size_t first,
                                                      std::string_view first_end,
                                                      std::string_view other_end);

}  // namespace strata::runtime::cache
