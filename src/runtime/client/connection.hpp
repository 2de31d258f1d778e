// The connection of one client, on one loop: made, used, and made again when it ends.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "loop/loop.hpp"
#include "loop/task_group.hpp"
#include "net/backoff.hpp"
#include "net/message_port.hpp"
#include "net/tls/slot.hpp"
#include "proto/framing.hpp"
#include "runtime/client/options.hpp"
#include "runtime/counters.hpp"
#include "runtime/file_sink.hpp"
#include "runtime/operations.hpp"
#include "runtime/scripting/shared_store.hpp"
#include "runtime/sharded.hpp"
#include "runtime/tap.hpp"
#include "serve/connection_gauge.hpp"

namespace strata::runtime::client {

class connection_script;

class connection final : public part {
 public:
  /// Called on this loop when the connection ends after it was opened; `is_done` when no other was
  /// to follow it.
  using end_listener = std::function<void(const std::string& why, bool is_done)>;

  /// What `hurried` refers to outlives this: opening and closing end soon after it is set.
  ~connection() override;
  connection(loop::loop& loop, client_options options, const context& context,
             serve::connection_gauge& gauge, const std::atomic<bool>& hurried, end_listener on_end,
             std::shared_ptr<scripting::shared_store> shared);

  /// Makes the connection and keeps it. Without `reconnect`, the result is that of the first
  /// attempt; with it, this returns at once.
  [[nodiscard]] loop::task<result<void>> open(std::vector<net::bind_target>& targets) override;
  /// Sends what waits, for at most five seconds and until `limit`, and ends the connection.
  [[nodiscard]] loop::task<> close(loop::time_point limit) override;
  result<send_outcome> send(byte_span message);
  void apply(const live_edit<client_options>& edit) { options_ = edit.now; }
  [[nodiscard]] bool is_connected() const { return port_ != nullptr; }
  /// Null: there is none.
  [[nodiscard]] connection_script* script() const { return script_.get(); }
  /// Reads the files of TLS, for connections to come. False: it connects without TLS, as far as one
  /// can know. Errors: of the files; then those that were read before stay in force.
  [[nodiscard]] result<bool> read_certificates();
  /// What it was read from them; null: nothing. From any thread.
  [[nodiscard]] std::shared_ptr<const net::tls_context> secure() const { return secure_.get(); }

  [[nodiscard]] const counters& counted() const override { return counters_; }

 private:
  loop::task<> keep();
  loop::task<bool> deliver(loop::time_point limit);
  loop::task<result<void>> connect();
  loop::task<result<std::unique_ptr<net::message_port>>> open_websocket(
      std::unique_ptr<net::stream> stream);
  /// Of a connection, or of an attempt to make one.
  struct ending {
    std::string why = {};
    bool is_awaited = false;
  };
  [[nodiscard]] bool is_awaited(const error& why) const;
  loop::task<ending> receive();
  void on_message(byte_span message);
  void show(bool is_outgoing, byte_span message);
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
  std::shared_ptr<tap> tap_;
  std::string name_;  // of the runtime
  serve::connection_gauge& gauge_;
  const std::atomic<bool>& hurried_;
  end_listener on_end_;
  counters counters_;
  serve::connection_gauge::place place_;  // while it is connected
  net::backoff backoff_;
  net::tls_slot secure_;
  std::unique_ptr<file_sink> file_;
  std::unique_ptr<net::message_port> port_;  // as well
  std::deque<std::string> queue_;
  std::unique_ptr<connection_script> script_;
  loop::task_group tasks_;
};

}  // namespace strata::runtime::client
