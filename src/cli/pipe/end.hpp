// One end of a pipe, as the command line names it: `-`, `URL` or `listen:URL`.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "cli/line/invocation.hpp"
#include "cli/pipe/options.hpp"
#include "net/endpoint_url.hpp"

namespace strata::cli {

struct pipe_end {
  enum class kind : std::uint8_t { standard, connecting, listening };

  kind what = kind::standard;
  net::endpoint_url url = {};  ///< unused for standard input and output

  [[nodiscard]] bool is_standard() const { return what == kind::standard; }
  [[nodiscard]] bool listens() const { return what == kind::listening; }
  [[nodiscard]] bool connects() const { return what == kind::connecting; }
  /// Whether it carries messages, not a stream of bytes.
  [[nodiscard]] bool has_messages() const;
  /// Whether it begins with TLS.
  [[nodiscard]] bool is_secure() const;
  /// Whether it accepts connections, each with a peer of its own.
  [[nodiscard]] bool accepts() const;
  /// The end as text.
  [[nodiscard]] std::string text() const;
};

using pipe_ends = std::array<pipe_end, 2>;

/// Errors: misused, naming the word and the valid forms.
[[nodiscard]] outcome<pipe_ends> parse_ends(const invocation& call);

/// Reads the options from the flags. Errors: misused, also for a flag without effect on such ends.
[[nodiscard]] outcome<pipe_options> read_pipe_options(const invocation& call,
                                                      const pipe_ends& ends);

}  // namespace strata::cli
