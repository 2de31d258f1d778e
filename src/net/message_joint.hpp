// Joins two message ports, each receiving what the other sends: message by message, in order.
//
// For one loop's thread. Memory is bounded: while messages are queued for one side, no more are
// received from the other, as far as its peer can be held back. A datagram that the network loses
// is lost.
//
// An end is forwarded if the port has a way to signal it: see `port_end`. A side whose port cannot
// signal an end is closed once it has been silent for a while.
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
    std::size_t most_unsent = 1U << 18U;  ///< bytes that may be queued for a side that reads slowly
    loop::duration linger = std::chrono::milliseconds(500);  ///< how long that silence lasts
    bool is_one_way = false;                                 ///< drops the second's messages
    bool receives_empty = false;                             ///< an empty datagram is a message
    /// Told of each message that came, before it goes on; may be empty.
    std::function<void(bool from_first, byte_span message)> on_message = {};
    /// Called when something was lost and the joint goes on; `is_new`: nothing was lost just
    /// before.
    std::function<void(bool of_first, const error& why, bool is_new)> on_trouble = {};
    /// Called for what happens to an interface, as `datagram::notice`.
    std::function<void(bool is_trouble, const std::string& text)> on_notice = {};
  };
  /// Why the joint ended before both sides had ended.
  struct breach {
    bool is_of_first = false;  ///< the first port broke; else the second
    error why;
  };

  message_joint(loop::loop& loop, message_port& first, message_port& second, settings settings);
  message_joint(const message_joint&) = delete;
  message_joint& operator=(const message_joint&) = delete;

  /// Waits until both sides have ended and everything is sent, or a port is broken: then the owner
  /// is to break off both. Call it once.
  [[nodiscard]] loop::task<std::optional<breach>> run();
  /// Ends `run` soon, as if the first port had broken.
  void give_up();

 private:
  struct side {
    message_port* port = nullptr;
    std::deque<std::string> waiting = {};  // messages for which the port had no room
    loop::time_point last_received = {};
    bool is_over = false;      // it sends nothing more
    bool reports_size = true;  // a message that is too large is not yet reported
  };

  loop::task<> receive(side& source, side& side);
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
  loop::task_group receiving_;
};

}  // namespace strata::net
