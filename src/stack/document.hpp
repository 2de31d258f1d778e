// A stack as a YAML document: its runtimes, with their options, in the order of their dependence.
//
// Pure: the caller gives the text, the types' option rows and the variables. Mistakes are reported
// with file, line and column.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "options/option_table.hpp"
#include "stack/plan.hpp"
#include "strata/base/result.hpp"

namespace strata::stack {

/// A position in a document, from 1.
struct position {
  int line = 0;
  int column = 0;
};

/// A runtime of a stack.
struct described_runtime {
  desired_runtime desired;
  std::vector<std::string> needs = {};  ///< the stack's runtimes that must exist before it
  position at = {};
  /// The daemons to which it belongs: names, globs, and labels KEY=VALUE,KEY=VALUE. Empty: the
  /// daemon that the command speaks to.
  std::vector<std::string> daemons = {};
  position daemons_at = {};
};

struct document {
  std::string name;
  std::string file = {};                    ///< its name, for errors
  std::vector<described_runtime> runtimes;  ///< those that others need come first
};

/// What a document is read with.
struct reading {
  std::string file;    ///< its name, for errors
  std::string folder;  ///< relative paths in options are below it
  /// The option rows of a type; empty if there is no such type.
  std::function<std::span<const options::option_row>(std::string_view type)> rows_of;
  std::vector<std::string> types = {};  ///< the names of all types, for errors
  /// The value of a variable that the user or the environment has set.
  std::function<std::optional<std::string>(const std::string& name)> variable;
};

/// Reads a document:
///
///     name: shop
///     variables: {port: 8080}
///     runtimes:
///       store: {type: cache, listen: tcp://127.0.0.1:6390, resp: true}
///       web: {type: server, port: "${port}", depends_on: [store], start: false, on: west-*}
///
/// Each runtime has a `type`; `start: false` leaves it started or stopped as it is; `depends_on`
/// names runtimes of the stack, `on` daemons of a cluster; all other keys are options. `${NAME}`
/// and `${NAME:-VALUE}` stand for variables, `$$` for `$`; `<<` merges maps. A document without a
/// name has `default_name`.
///
/// Errors: malformed, for text that is not YAML, is too large (1 MiB, or 100,000 nodes with those
/// that aliases repeat) or nested too deeply; invalid_argument, for anything else. The reason
/// begins with FILE:LINE:COLUMN.
[[nodiscard]] result<document> read_document(std::string_view text, std::string_view default_name,
                                             const reading& reading);

/// "FILE:LINE:COLUMN: REASON", as errors in a document begin.
[[nodiscard]] std::string placed_reason(std::string_view file, position place,
                                        std::string_view reason);

/// A JSON Schema (draft 2020-12) of the document, from the option rows of all types.
[[nodiscard]] nlohmann::ordered_json document_schema(const reading& reading);

}  // namespace strata::stack
