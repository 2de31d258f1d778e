// The connection of one client, on one loop: made, used, and made again when it ends.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "loop/loop.hpp"
#include "loop/task_group.hpp"
#include "net/backoff.hpp"
#include "net/message_port.hpp"
#include "proto/framing.hpp"
#include "runtime/client/options.hpp"
#include "runtime/counters.hpp"
#include "runtime/file_sink.hpp"
#include "runtime/runtime.hpp"

namespace strata::runtime::client {

class link {
 public:
  link(loop::loop& owner, client_options options, net::directory& names,
       std::shared_ptr<journal> log, std::shared_ptr<journal> messages);

  /// Makes the connection and keeps it. Without `reconnect`, the result is that of the first
  /// attempt; with it, this returns at once. `on_end` is called on this loop when the link gives
  /// up after that.
  loop::task<result<void>> open(std::function<void(std::string)> on_end);
  /// Sends what waits, for at most five seconds and until `limit`, and ends the connection.
  loop::task<> close(loop::time_point limit);
  result<send_outcome> send(byte_span message);
  void apply(const client_options& changed);

  // --- from any thread
  [[nodiscard]] const counters& counted() const { return counters_; }
  [[nodiscard]] bool connected() const { return connected_.load(); }
  [[nodiscard]] std::uint64_t connections() const { return connections_.get(); }
  [[nodiscard]] loop::loop_lag lag() const { return loop_.lag(); }

 private:
  loop::task<> keep();
  loop::task<result<void>> connect();
  loop::task<std::string> receive();
  void on_message(byte_span message);
  bool push(byte_span message);
  void begin_connection();
  void end_connection();

  loop::loop& loop_;
  client_options options_;
  net::endpoint_url url_;
  net::directory& names_;
  proto::framing framing_;
  std::shared_ptr<journal> log_;
  std::shared_ptr<journal> messages_;
  std::function<void(std::string)> on_end_;
  counters counters_;
  counter connections_;
  std::atomic<bool> connected_ = false;
  net::backoff backoff_;
  std::unique_ptr<file_sink> file_;
  std::unique_ptr<net::message_port> port_;  // while it is connected
  std::deque<std::string> queue_;
  loop::task_group tasks_;
};

}  // namespace strata::runtime::client
