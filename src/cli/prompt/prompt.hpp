// strata start -i NAME, of a cache: commands are typed, replies shown, as by redis-cli.
#pragma once

#include <string>

#include "cli/line/invocation.hpp"
#include "cli/line/outcome.hpp"

namespace strata::cli {

/// At a terminal, lines are edited and replies laid out for people; else lines are read from
/// standard input and replies written as they are. `endpoint` is where the cache `name` listens;
/// it is told `password` if it wants one.
[[nodiscard]] outcome<int> run_cache_prompt(const invocation& call, const std::string& name,
                                            const std::string& endpoint,
                                            const std::string& password);

}  // namespace strata::cli
