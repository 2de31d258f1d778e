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
  /// Called on this loop when the connection ends after it was opened; `is_done` if no other was to
  /// follow it.
  using end_listener = std::function<void(const std::string& why, bool is_done)>;

  /// `hurried` outlives this object: once it is set, opening and closing end soon.
  ~connection() override;
  connection(loop::loop& loop, client_options options, const context& context,
             serve::connection_gauge& gauge, const std::atomic<bool>& hurried, end_listener on_end,
             std::shared_ptr<scripting::shared_store> shared);

  /// Makes the connection and keeps it. Without `reconnect`, returns the result of the first
  /// attempt; with it, returns at once.
  [[nodiscard]] loop::task<result<void>> open(std::vector<net::bind_target>& targets) override;
  /// Sends what is queued, for at most five seconds and until `limit`, and ends the connection.
  [[nodiscard]] loop::task<> close(loop::time_point limit) override;
  result<send_outcome> send(byte_span message);
  void apply(const live_edit<client_options>& edit) { options_ = edit.now; }
  [[nodiscard]] bool is_connected() const { return port_ != nullptr; }
  /// Null if there is none.
  [[nodiscard]] connection_script* script() const { return script_.get(); }
  /// Reads the TLS files for later connections. Returns false if the client connects without TLS,
  /// as far as it is known. Errors: those of the files; then the previous ones stay in force.
  [[nodiscard]] result<bool> read_certificates();
  /// The context read from them; null if there is none. From any thread.
  [[nodiscard]] std::shared_ptr<const net::tls_context> secure() const { return secure_.get(); }

  [[nodiscard]] const counters& counted() const override { return counters_; }

 private:
  loop::task<> keep();
  loop::task<bool> deliver(loop::time_point limit);
  loop::task<result<void>> connect();
  loop::task<result<std::unique_ptr<net::message_port>>> open_websocket(
      std::unique_ptr<net::stream> stream);
  /// The end of a connection, or of an attempt to make one.
  struct ending {
    std::string why = {};
    bool is_awaited = false;
  };
  [[nodiscard]] bool is_awaited(const error& why) const;
  loop::task<ending> receive();
  void on_message(byte_span message);
  [[nodiscard]] bool is_within_limit();
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
  std::int64_t rate_due_ = 0;             // survives reconnecting
  serve::connection_gauge::place place_;  // held while it is connected
  net::backoff backoff_;
  net::tls_slot secure_;
  std::unique_ptr<file_sink> file_;
  std::unique_ptr<net::message_port> port_;  // likewise
  std::deque<std::string> queue_;
  std::unique_ptr<connection_script> script_;
  loop::task_group tasks_;
};

}  // namespace strata::runtime::client
