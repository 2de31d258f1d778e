// The commands common to hashes, sets and sorted sets: size, removing members, scanning.
#pragma once

#include <string>
#include <vector>

#include "runtime/cache/commands/scan_words.hpp"
#include "runtime/cache/engine/call.hpp"

namespace strata::runtime::cache {

/// Replies with the number of elements in the collection at word 1.
template <class Value>
void reply_size(call& c) {
  if (const auto found = c.read_as<Value>(1)) {
    c.reply.integer(*found == nullptr ? 0 : static_cast<std::int64_t>((*found)->size()));
  }
}

/// Removes the members at words 2 and following from the collection at word 1; replies with how
/// many existed.
template <class Value>
void erase_members(call& c, event_class kind, std::string_view event) {
  const auto found = c.find_as<Value>(1);
  if (!found) return;
  std::uint64_t removed = 0;
  if (*found != nullptr) {
    for (const auto& each : c.words.subspan(2)) removed += (*found)->erase(each) ? 1 : 0;
  }
  if (removed != 0) {
    c.changed(c[1], kind, event, removed);
    c.drop_if_empty(1, **found);
  }
  c.reply.integer(static_cast<std::int64_t>(removed));
}

/// Scans the collection at word 1: replies with each element's name, followed by `text_of` of the
/// rest of the element. If the key is missing, or has another kind of value, Redis does not check
/// the options.
template <class Value, class TextOf>
void scan_members(call& c, TextOf&& text_of) {
  if (!read_scan_cursor(c, 2)) return;
  const auto found = c.read_as<Value>(1);
  if (!found) return;
  if (*found == nullptr) {
    reply_scan(c, 0, 0);
    return;
  }
  const auto words = read_scan_words(c, 2);
  if (!words) return;
  std::vector<std::string> texts;
  const auto next = scan_enough(*words, [&](std::uint64_t cursor, std::int64_t& seen) {
    return (*found)->scan(cursor, [&](std::string_view name, const auto&... rest) {
      ++seen;
      if (!words->matches(name)) return;
      texts.emplace_back(name);
      (texts.emplace_back(text_of(**found, rest)), ...);
    });
  });
  reply_scan(c, next, texts.size());
  for (const auto& each : texts) c.reply.bulk(each);
}

}  // namespace strata::runtime::cache
