#include "runtime/cache/engine/users/acl_log.hpp"

#include <algorithm>

namespace strata::runtime::cache {

namespace {

// Entries are compared only with the latest ones, so that a flood costs little.
constexpr std::size_t compared_entries = 10;
constexpr std::int64_t max_age_ms = 60'000;

bool is_repetition(const acl_log_entry& entry, const acl_log_entry& earlier) {
  return entry.time_ms - earlier.time_ms <= max_age_ms && entry.reason == earlier.reason &&
         entry.context == earlier.context && entry.object == earlier.object &&
         entry.user == earlier.user;
}

}  // namespace

void acl_log::add(acl_log_entry entry, std::size_t limit) {
  const auto end = entries_.begin() + static_cast<std::ptrdiff_t>(
                                          std::min<std::size_t>(entries_.size(), compared_entries));
  const auto known = std::find_if(entries_.begin(), end, [&](const acl_log_entry& earlier) {
    return is_repetition(entry, earlier);
  });
  if (known != end) {
    entry.count = known->count + 1;
    entries_.erase(known);
  }
  entries_.push_front(std::move(entry));
  if (entries_.size() > limit) entries_.resize(limit);
}

std::string_view name_of(acl_context context) {
  switch (context) {
    case acl_context::toplevel: return "toplevel";
    case acl_context::transaction: return "multi";
    case acl_context::script: break;
  }
  return "lua";
}

}  // namespace strata::runtime::cache
