// `NAME|GLOB|@GROUP...`: applies a verb to each of several runtimes. A word KEY=VALUE stands for
// the runtimes with this label, KEY=VALUE,KEY=VALUE for those with all of these labels.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/daemon_client/control_client.hpp"
#include "cli/line/outcome.hpp"
#include "options/option_table.hpp"

namespace strata::cli {

/// Whether the word has a wildcard of glob(7).
[[nodiscard]] bool is_glob(std::string_view word);
/// Whether the word may name more than one runtime: a glob, a group, or labels.
[[nodiscard]] bool names_several(std::string_view word);

/// Whether the word stands for what has labels: KEY=VALUE, or KEY=VALUE,KEY=VALUE.
[[nodiscard]] bool is_label(std::string_view word);

using labels = std::map<std::string, std::string>;

/// Whether `held` has all labels of such a word.
[[nodiscard]] bool has_labels(const labels& held, std::string_view word);
/// The member `labels` of an object that the API returns.
[[nodiscard]] labels labels_of(const nlohmann::json& shown);

/// The flag of verbs that take `NAME|GLOB|@GROUP`: each of its values is a word of labels.
[[nodiscard]] options::option_row label_flag();

struct known_runtime {
  std::string name;
  std::string group;
  cli::labels labels = {};
};

/// The runtimes that the API lists.
[[nodiscard]] std::vector<known_runtime> known_runtimes(const nlohmann::json& listed);

/// The runtimes that `words` name, each once; globs, groups and labels are matched against `known`.
/// A word that matches nothing and an empty word are refused.
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
