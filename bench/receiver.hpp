// One receiving connection: takes the stream apart into messages and checks each.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "histogram.hpp"
#include "message.hpp"
#include "options.hpp"
#include "socket.hpp"

namespace strata::bench {

// What receivers got. Sequences start at 0 and rise by one, so a step ahead is a loss, a step back
// a repetition (or a message out of order, which is as wrong).
struct tally {
  std::uint64_t delivered = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t corrupted = 0;  // not a message: cut, mixed or foreign bytes

  tally& operator+=(const tally& other) {
    delivered += other.delivered;
    duplicated += other.duplicated;
    corrupted += other.corrupted;
    return *this;
  }
};

class receiver {
 public:
  receiver(owned_fd socket, protocol speak);

  int fd() const { return socket_.get(); }
  bool connected() const { return socket_.open(); }
  bool probed() const { return probed_; }
  const tally& counts() const { return counts_; }
  // The sequence after the last one that arrived.
  std::uint64_t position() const { return position_; }

  // One recv() into the shared scratch memory, which must hold two of the largest messages.
  // Closes the connection at its end.
  void receive(std::span<char> scratch, const message_format& format, histogram& delays);

 private:
  std::size_t take_lines(std::string_view bytes, const message_format& format, histogram& delays);
  std::size_t take_replies(std::string_view bytes, const message_format& format, histogram& delays);
  void take(std::string_view payload, const message_format& format, histogram& delays);

  owned_fd socket_;
  protocol speak_;
  bool probed_ = false;
  std::uint64_t position_ = 0;
  std::uint64_t received_ns_ = 0;  // when the recv() being taken apart returned
  tally counts_;
  std::string tail_;  // the start of a message whose rest has not arrived
};

}  // namespace strata::bench
