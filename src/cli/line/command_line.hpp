// From what a person typed to a verb, its words and typed values, in one pass: which flags a token
// may be follows from the words before it.
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

/// What a line may hold. The rows and verbs must outlive what is parsed with them.
struct line_rules {
  std::span<const verb_row> verbs;
  std::span<const options::option_row> flags;  ///< those of all verbs
  daemon_address usual_daemon;                 ///< where it is, as far as the line does not say
  name_checker is_runtime = nullptr;           ///< asked of a first word that is no verb
  std::string_view verb_of_runtimes = {};      ///< that of a line which begins with a runtime
};

struct parsed_line {
  std::string named;                        ///< the verb as far as it was named: `l2`, `l2 send`
  const verb_row* verb = nullptr;           ///< null only when help is wanted
  const runtime::type_row* type = nullptr;  ///< whose options the verb takes too
  std::vector<std::string> words;           ///< behind the verb, in order; all that follows `--`
  std::size_t first_literal = SIZE_MAX;     ///< the word with which those behind `--` begin
  nlohmann::json flags = nlohmann::json::object();  ///< by row key, typed; only those given
  bool is_shortened = false;  ///< it begins with a runtime, and not with the verb
  bool wants_help = false;    ///< then the rest tells no more than what help is wanted of
};

/// A token that is `--help` or `-h` asks for help, even where a value is missing, and help is given
/// of a line that is wrong too, unless it names a verb that there is not. Errors: misused, naming
/// the flag and what it takes; an unknown flag or verb with the nearest one; those of the verb's
/// type_finder.
[[nodiscard]] outcome<parsed_line> parse_line(std::span<const std::string> tokens,
                                              const line_rules& rules);

/// Those of the flags that the rows have. Paths become absolute.
[[nodiscard]] nlohmann::json pick_flags(const nlohmann::json& flags,
                                        std::span<const options::option_row> rows);

}  // namespace strata::cli
