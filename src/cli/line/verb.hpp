// A verb of the command line: its row in the table.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/line/daemon_address.hpp"
#include "cli/line/invocation.hpp"
#include "cli/line/outcome.hpp"
#include "options/option_table.hpp"
#include "runtime/types/types.hpp"

namespace strata::cli {

using option_rows = std::vector<options::option_row>;

enum class verb_group : std::uint8_t { runtimes, look, talk, ethernet, netlink, system };

/// Finds the type whose options the verb takes too, from the verb's first word.
using type_finder = outcome<const runtime::type_row*> (*)(const std::string& first_word,
                                                          const daemon_address& daemon);

/// Whether there is a runtime of that name.
using name_checker = bool (*)(const std::string& name, const daemon_address& daemon);

/// For `most_words`: no limit.
inline constexpr std::size_t any_number = SIZE_MAX;

struct verb_row {
  std::string_view name;      ///< one word, or preceded by its families: `l2 send`
  std::string_view synopsis;  ///< what follows the name: `NAME|GLOB...`
  verb_group group = verb_group::system;
  std::string_view summary;
  std::size_t least_words = 0;
  std::size_t most_words = 0;
  handler run = nullptr;
  option_rows flags = {};
  type_finder find_type = nullptr;
  std::vector<std::string_view> aliases = {};  ///< other common names for it
  /// Whether `run` itself acts on all daemons that `--on` stands for; else it runs for each.
  bool serves_several_daemons = false;
  /// The index of the word from which on all is a command of the user's: its flags are its own.
  std::size_t first_of_command = any_number;
};

/// Finds a verb by its name or an alias. Errors: misused, with the nearest of them.
[[nodiscard]] outcome<const verb_row*> find_verb(std::span<const verb_row> verbs,
                                                 std::string_view name);

/// Whether the verb has a flag of its own with that key, which replaces the common one.
[[nodiscard]] bool has_own_flag(const verb_row& verb, std::string_view key);

/// Whether there are longer verbs that begin with `words`.
[[nodiscard]] bool is_family(std::span<const verb_row> verbs, std::string_view words);

/// Whether the verb's words name runtimes, to which -l KEY=VALUE adds those with that label. A verb
/// that takes a type's options has -l from there.
[[nodiscard]] inline bool has_label_flag(const verb_row& verb) {
  return verb.synopsis.contains("NAME|GLOB|@GROUP") && verb.find_type == nullptr;
}

/// Whether the verb's first word is a type, not the name of a runtime.
[[nodiscard]] bool names_type(const verb_row& verb);

/// "also: list, status", or empty.
[[nodiscard]] std::string aliases_of(const verb_row& verb);

/// "strata start NAME|GLOB|@GROUP... [flags]"
[[nodiscard]] std::string usage_line(const verb_row& verb, const runtime::type_row* type = nullptr);

}  // namespace strata::cli
