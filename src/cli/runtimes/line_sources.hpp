// Streams of several runtimes, read at the same time.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/daemon_client/control_client.hpp"
#include "cli/daemon_client/names.hpp"
#include "cli/line/invocation.hpp"
#include "cli/line/outcome.hpp"

namespace strata::cli {

/// A runtime's stream of lines.
struct line_source {
  std::string name;
  line_stream stream;
};

/// The runtimes that the verb's words name; all, without words.
struct source_names {
  std::vector<std::string> names;
  std::size_t width = 0;  ///< of the longest name at least, if lines follow their names; else 0
  int exit = exit_done;   ///< not that, if a word names none: it was reported
};
[[nodiscard]] outcome<source_names> name_sources(control_client& client, const invocation& call);

/// Calls `open` for each name, as `for_each_name` does. Returns the exit code.
[[nodiscard]] outcome<int> open_sources(control_client& client, const source_names& sources,
                                        const std::function<outcome<>(const std::string&)>& open);

/// Takes one line of a source.
using line_taker = std::function<outcome<>(const std::string& name, const std::string& line)>;

/// Passes the lines of all sources to `take` as they arrive, until all have ended. `pause` is
/// called whenever all that has arrived is taken. Errors: those of `take`, `pause` and the streams.
[[nodiscard]] outcome<> take_all(std::vector<line_source> sources, const line_taker& take,
                                 const std::function<outcome<>()>& pause);

/// As `take_all`; but if the verb's words may name several runtimes, those that are created later
/// are followed too, with the streams that `open` returns, until the daemon ends.
[[nodiscard]] outcome<> follow_all(
    const invocation& call, const source_names& present, std::vector<line_source> sources,
    const std::function<outcome<line_source>(const std::string&)>& open, const line_taker& take,
    const std::function<outcome<>()>& pause);

}  // namespace strata::cli
