// `NAME|GLOB|@GROUP...`: applies a verb to each of several runtimes.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/daemon_client/control_client.hpp"
#include "cli/line/outcome.hpp"

namespace strata::cli {

/// Whether the word may name more than one runtime: a glob, or a group.
[[nodiscard]] bool names_several(std::string_view word);

struct known_runtime {
  std::string name;
  std::string group;
};

/// The runtimes that the API lists.
[[nodiscard]] std::vector<known_runtime> known_runtimes(const nlohmann::json& listed);

/// The runtimes that `words` name, each once; globs and groups are matched against `known`. A glob
/// that matches nothing, a group without members and an empty word are refused.
struct expansion {
  std::vector<std::string> names;
  std::vector<refusal> failures;
};
[[nodiscard]] expansion expand(std::span<const std::string> words,
                               std::span<const known_runtime> known);

/// The answers of several runtimes, one each.
struct gathered {
  nlohmann::json answers = nlohmann::json::array();
  int exit = exit_done;
};

using act_on_name = std::function<outcome<nlohmann::json>(const std::string& name)>;

/// Calls `act` for every runtime that the words name, even if it failed for others; a null result
/// leaves the runtime out. Each failure is reported at once; the first one gives the exit code.
/// Errors: those of reaching the daemon, which end it.
[[nodiscard]] outcome<gathered> for_each_name(control_client& client,
                                              std::span<const std::string> words,
                                              const act_on_name& act);

}  // namespace strata::cli
