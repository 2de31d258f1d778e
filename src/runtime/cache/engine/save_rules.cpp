#include "runtime/cache/engine/save_rules.hpp"

#include <string>

#include "proto/resp/resp_request.hpp"
#include "text/redis_number.hpp"

namespace strata::runtime::cache {

std::optional<save_rules> save_rules::parse(std::string_view text) {
  std::vector<std::string> words;
  if (!proto::split_words(text, words) || words.size() % 2 != 0) return {};
  save_rules made;
  for (std::size_t i = 0; i < words.size(); i += 2) {
    const auto seconds = text::parse_integer(words[i]);
    const auto changes = text::parse_integer(words[i + 1]);
    if (!seconds || *seconds < 1 || !changes || *changes < 0) return {};
    made.rules_.push_back({*seconds, static_cast<std::uint64_t>(*changes)});
  }
  return made;
}

}  // namespace strata::runtime::cache
