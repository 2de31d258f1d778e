// The options that types with messages have in common.
#pragma once

#include <string_view>

#include "options/option_table.hpp"

namespace strata::runtime {

// One option per row of two or three lines.
// clang-format off
/// `only_on` as in the row: what an endpoint must carry.
template <class Options>
[[nodiscard]] options::bound_row<Options> framing_row(std::string_view only_on) {
  using enum options::option_kind;
  return {{.key = "framing", .kind = choice, .value_name = "HOW", .default_text = "line",
           .help = "message boundaries in a stream: line: line ends, length: a 4-byte big-endian "
                   "length before each message, raw: each read is a message",
           .needs_restart = true, .choices = "line|length|raw", .only_on = only_on},
          &Options::framing};
}

/// A copy of all received messages.
template <class Options>
[[nodiscard]] options::bound_row<Options> write_row() {
  using enum options::option_kind;
  return {{.key = "write", .short_flag = 'w', .kind = text, .value_name = "FILE",
           .help = "append every received message to FILE", .needs_restart = true,
           .reach = options::option_reach::written_path},
          &Options::write};
}
// clang-format on

}  // namespace strata::runtime
