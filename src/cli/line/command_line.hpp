// Parses a command line into a verb, its words and typed values, in one pass: the words before a
// token decide which flags it may be.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "cli/line/outcome.hpp"
#include "cli/line/verb.hpp"
#include "options/option_table.hpp"
#include "runtime/types/types.hpp"

namespace strata::cli {

/// What a line may contain. The rows and verbs must outlive the parsed line.
struct line_rules {
  std::span<const verb_row> verbs;
  std::span<const options::option_row> flags;  ///< the flags of all verbs
  daemon_address usual_daemon;                 ///< its address, unless the line gives another
  name_checker is_runtime = nullptr;           ///< called for a first word that is no verb
  std::string_view verb_of_runtimes = {};      ///< verb of a line that begins with a runtime
};

struct parsed_line {
  std::string named;                        ///< the verb as far as it is named: `l2`, `l2 send`
  const verb_row* verb = nullptr;           ///< null only if help is requested
  const runtime::type_row* type = nullptr;  ///< type whose options the verb takes too
  std::vector<std::string> words;           ///< words behind the verb; all words behind `--`
  std::size_t first_literal = SIZE_MAX;     ///< index of the first word behind `--`
  nlohmann::json flags = nlohmann::json::object();  ///< by row key, typed; only the given ones
  bool is_shortened = false;  ///< the line begins with a runtime instead of the verb
  bool wants_help = false;    ///< then the rest only determines the subject of the help
};

/// Parses a line. `--help` or `-h` requests help, even in place of a missing value, and even if the
/// line is wrong, unless it names an unknown verb. Errors: misused, naming the flag and what it
/// takes; an unknown flag or verb with the nearest one; those of the verb's type_finder.
[[nodiscard]] outcome<parsed_line> parse_line(std::span<const std::string> tokens,
                                              const line_rules& rules);

/// The flags that are in `rows`. Paths become absolute.
[[nodiscard]] nlohmann::json pick_flags(const nlohmann::json& flags,
                                        std::span<const options::option_row> rows);

}  // namespace strata::cli
