#include "runtime/cache/engine/users/command_request.hpp"

namespace strata::runtime::cache {

command_request::command_request(const cache::command& called,
                                 std::span<const std::string_view> texts)
    : command(called),
      words(texts),
      keys(find_key_accesses(called, texts)),
      names_patterns(called.has(trait_takes_patterns)) {
  const bool has_several = names_patterns || called.has(trait_takes_channels);
  if (!has_several && !called.has(trait_publishes)) return;
  const std::size_t end = has_several ? words.size() : 2;
  for (std::size_t i = 1; i < end; ++i) channels.push_back(i);
}

}  // namespace strata::runtime::cache
