// Standard input and output as one stream of a loop: input is received, and pushed data is written.
//
// Two threads do the I/O, as files cannot be polled, and terminals are shared with programs that do
// not expect non-blocking calls. They hold what the kernel's socket buffers hold, and no more: a
// slow reader of standard output holds up the stream's writer. They are never joined, as either may
// block for ever, and own all that they use.
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
    input_failed,   ///< the stream then gets no end of input
    output_failed,  ///< the rest of the pushed data is lost
    output_done,    ///< everything pushed before the end has been written
  };
  struct event {
    happening what = happening::output_done;
    int sys_errno = 0;
  };

  /// Without `reads_input` nothing is received. Errors: limit_exceeded if there are no more
  /// descriptors or threads.
  [[nodiscard]] static result<std::unique_ptr<standard_streams>> open(loop::loop& loop,
                                                                      bool reads_input);

  /// Call it once.
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
