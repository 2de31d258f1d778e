// Two message ports, each of which hears what the other says: message by message, in order.
//
// For one loop's thread. Memory is bounded: while messages wait for one side, no more are received
// of the other, as far as it can be held back. A datagram that the network loses is lost.
//
// An end is passed on where there is a way to: see `port_end`. A side that cannot be told that the
// other has ended is left when it has been silent for a while.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <string>

#include "loop/condition.hpp"
#include "loop/task_group.hpp"
#include "net/message_port.hpp"

namespace strata::net {

class message_joint {
 public:
  struct settings {
    std::size_t most_unsent = 1U << 18U;  ///< bytes that may wait for a side that reads slowly
    loop::duration linger = std::chrono::milliseconds(500);  ///< that silence
    bool is_one_way = false;                                 ///< what the second says is dropped
    bool hears_empty = false;                                ///< an empty datagram is a message
    /// Told of each message that came, before it goes on; may be empty.
    std::function<void(bool from_first, byte_span message)> on_message = {};
    /// Something was lost, and it goes on; `is_new`: nothing was lost just before.
    std::function<void(bool of_first, const error& why, bool is_new)> on_trouble = {};
    /// What happens to an interface, as of `datagram::notice`.
    std::function<void(bool is_trouble, const std::string& text)> on_notice = {};
  };
  /// Why it ended before both had said all.
  struct breach {
    bool is_of_first = false;  ///< the first port broke; else the second
    error why;
  };

  message_joint(loop::loop& loop, message_port& first, message_port& second, settings settings);
  message_joint(const message_joint&) = delete;
  message_joint& operator=(const message_joint&) = delete;

  /// Awaits that all has been said and is on its way, or that a port is broken: then the owner is
  /// to break off both. Call it once.
  [[nodiscard]] loop::task<std::optional<breach>> run();
  /// Ends `run` soon, as if the first port were broken.
  void give_up();

 private:
  struct side {
    message_port* port = nullptr;
    std::deque<std::string> waiting = {};  // messages that it had no room for
    loop::time_point last_heard = {};
    bool is_over = false;    // nothing more comes from it
    bool tells_size = true;  // a message that is too large is news
  };

  loop::task<> hear(side& source, side& side);
  loop::task<> room(side& side);
  void pass(side& side, byte_span message);
  void break_off(const side& side, error why);
  [[nodiscard]] bool is_first(const side& side) const { return &side == sides_.data(); }
  loop::task<> end(side& side, const std::optional<port_farewell>& farewell);
  loop::task<> silence(side& side);
  loop::task<> finish();

  loop::loop& loop_;
  std::array<side, 2> sides_;
  settings settings_;
  loop::condition changed_;
  std::optional<breach> breach_;
  loop::task_group hearing_;
};

}  // namespace strata::net
