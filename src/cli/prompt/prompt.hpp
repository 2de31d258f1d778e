// strata start -i NAME, for a cache: commands are typed and replies shown, as by redis-cli.
#pragma once

#include <string>

#include "cli/line/invocation.hpp"
#include "cli/line/outcome.hpp"

namespace strata::cli {

/// At a terminal, lines are edited and replies formatted; otherwise lines are read from standard
/// input and replies written raw. `endpoint` is where the cache `name` listens; `password` is sent
/// if it requires one.
[[nodiscard]] outcome<int> run_cache_prompt(const invocation& call, const std::string& name,
                                            const std::string& endpoint,
                                            const std::string& password);

}  // namespace strata::cli
