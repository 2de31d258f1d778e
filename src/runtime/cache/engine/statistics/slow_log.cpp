#include "runtime/cache/engine/statistics/slow_log.hpp"

#include <fmt/format.h>

namespace strata::runtime::cache {

namespace {

constexpr std::size_t most_words = 32;
constexpr std::size_t most_bytes = 128;

}  // namespace

void slow_log::add(std::int64_t time_s, std::int64_t us, std::span<const std::string_view> words,
                   std::string address, std::string name, std::size_t most) {
  line made{next_id_++, time_s, us, {}, std::move(address), std::move(name)};
  const auto shown = words.size() > most_words ? most_words - 1 : words.size();
  for (const auto& each : words.first(shown)) {
    auto& kept = made.words.emplace_back(each.substr(0, most_bytes));
    if (each.size() > most_bytes) {
      kept += fmt::format("... ({} more bytes)", each.size() - most_bytes);
    }
  }
  if (shown < words.size()) {
    made.words.push_back(fmt::format("... ({} more arguments)", words.size() - shown));
  }
  lines_.push_front(std::move(made));
  while (lines_.size() > most) lines_.pop_back();
}

}  // namespace strata::runtime::cache
