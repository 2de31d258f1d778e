// Standard input and output as one stream of a loop: what is read comes, what is pushed is written.
//
// Two threads stand between, as files cannot be polled and terminals are shared with others whom
// non-blocking calls would surprise. They hold what the kernel's socket buffers hold, and no more:
// a reader of standard output that is slow holds up the stream's writer. They are never joined, as
// either may wait for ever, and own all that they use.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "loop/loop.hpp"
#include "net/stream.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::cli {

class standard_streams {
 public:
  enum class happening : std::uint8_t {
    input_failed,   ///< then no end of it comes
    output_failed,  ///< the rest of what was pushed is lost
    output_done,    ///< all that was pushed before the end has been written
  };
  struct event {
    happening what = happening::output_done;
    int sys_errno = 0;
  };

  /// Without `reads_input` nothing comes. Errors: limit_exceeded when there are no more descriptors
  /// or threads.
  [[nodiscard]] static result<std::unique_ptr<standard_streams>> open(loop::loop& loop,
                                                                      bool reads_input);

  /// To be taken once.
  [[nodiscard]] std::unique_ptr<net::stream> take_stream() { return std::move(stream_); }
  [[nodiscard]] loop::task<event> next_event();

 private:
  standard_streams(loop::loop& loop, std::unique_ptr<net::stream> stream, int events)
      : loop_(loop), stream_(std::move(stream)), events_(loop.adopt(events)) {}

  loop::loop& loop_;
  std::unique_ptr<net::stream> stream_;
  loop::descriptor events_;
};

/// Whether standard input, or output, is a terminal.
[[nodiscard]] bool input_is_terminal();
[[nodiscard]] bool output_is_terminal();

}  // namespace strata::cli
