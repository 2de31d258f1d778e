// All receivers of a scenario and the poller that drives them, the sender's socket included.
#pragma once

#include <cstdint>
#include <vector>

#include "histogram.hpp"
#include "message.hpp"
#include "options.hpp"
#include "receiver.hpp"
#include "sender.hpp"
#include "socket.hpp"

namespace strata::bench {

class audience {
 public:
  // Connects that many receivers, and subscribes them where the protocol asks for it.
  audience(const options& wanted, std::uint64_t receivers);

  // The sender is polled along with the receivers until it is dismissed.
  void attend(sender& source);
  void dismiss(sender& source);

  // Sends probes until every receiver got one, so that no message is sent before the server has
  // accepted them all. false when some got none within the time.
  bool probe(sender& source, double seconds);

  // Handles what is ready, waiting for it at most timeout_ms.
  void poll(int timeout_ms);

  // Polls until every connected receiver has everything below `sequence`, or no receiver got
  // anything for two seconds.
  void drain(std::uint64_t sequence);

  // What the slowest connected receiver got: the sequence it waits for.
  std::uint64_t slowest() const;

  std::uint64_t probed() const;
  std::uint64_t disconnected() const;
  tally counts() const;
  std::uint64_t size() const { return receivers_.size(); }
  const histogram& delays() const { return delays_; }
  // When the last bytes arrived.
  std::uint64_t last_ns() const { return last_ns_; }
  const message_format& format() const { return format_; }

 private:
  message_format format_;
  poller poller_;
  std::vector<receiver> receivers_;
  std::vector<char> scratch_;
  sender* sender_ = nullptr;
  histogram delays_;
  std::uint64_t last_ns_ = 0;
};

}  // namespace strata::bench
