// What stands at one end of a pipe, as the command line names it: `-`, `URL` or `listen:URL`.
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
  net::endpoint_url url = {};  ///< not of standard input and output

  [[nodiscard]] bool is_standard() const { return what == kind::standard; }
  [[nodiscard]] bool listens() const { return what == kind::listening; }
  [[nodiscard]] bool connects() const { return what == kind::connecting; }
  /// It carries messages, and not a stream of bytes.
  [[nodiscard]] bool has_messages() const;
  /// It begins with TLS.
  [[nodiscard]] bool is_secure() const;
  /// Connections come one by one, each with a peer of its own.
  [[nodiscard]] bool accepts() const;
  /// As it is shown.
  [[nodiscard]] std::string text() const;
};

using pipe_ends = std::array<pipe_end, 2>;

/// Errors: misused, naming the word, and what an end may be.
[[nodiscard]] outcome<pipe_ends> parse_ends(const invocation& call);

/// The options that the flags give. Errors: misused, also for a flag that would do nothing with
/// such ends.
[[nodiscard]] outcome<pipe_options> read_pipe_options(const invocation& call,
                                                      const pipe_ends& ends);

}  // namespace strata::cli
