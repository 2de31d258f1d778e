// `strata.connect`: a connection that a script opens, and holds as a value.
//
// Received data is queued here until the script asks for it. The peer is held back if there is
// much.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "loop/condition.hpp"
#include "loop/task_group.hpp"
#include "net/connector.hpp"
#include "net/message_port.hpp"
#include "runtime/scripting/host.hpp"
#include "script/call.hpp"

namespace strata::runtime::scripting {

struct script_wishes {
  net::endpoint_url url = {};
  std::optional<proto::framing> framing = {};  ///< nullopt: a stream without messages
  loop::duration timeout = {};                 ///< for connecting
  std::size_t max_message = 0;
  net::tls_client_settings tls = {};
};

class script_connection final : public script::object {
 public:
  script_connection(loop::loop& loop, net::directory* names, script_wishes wishes);
  ~script_connection() override;

  /// Connects. Call it once. Errors: name the URL.
  [[nodiscard]] loop::task<result<void>> open();
  /// Closes the connection. Unsent data is still sent, for a moment.
  void close() override;

  /// Errors: why the message is not taken.
  [[nodiscard]] result<void> push(byte_span message);
  /// Waits for the next message; nullopt at the end. One wait at a time.
  [[nodiscard]] loop::task<std::optional<std::string>> next();
  [[nodiscard]] std::size_t unsent() const { return port_ ? port_->unsent() : 0; }
  /// Waits until little enough is unsent, or the connection ends.
  [[nodiscard]] loop::task<> room();

  // --- what scripts call
  void send(script::call& call);
  loop::task<script::answers> receive(script::call& call);
  loop::task<script::answers> receive_line(script::call& call);
  loop::task<script::answers> flush(script::call& call);
  void close_by(script::call& call);
  void is_open(script::call& call);

 private:
  using owned = std::shared_ptr<script_connection>;

  [[nodiscard]] owned self() {
    return std::static_pointer_cast<script_connection>(shared_from_this());
  }
  [[nodiscard]] loop::task<result<std::unique_ptr<net::message_port>>> open_port();
  loop::task<> receive_all();
  loop::task<> await_room();
  void on_message(byte_span message);
  [[nodiscard]] bool has_lines() const;
  [[nodiscard]] std::optional<std::string> take();
  [[nodiscard]] std::optional<std::string> take_line();
  [[nodiscard]] script::answers answer_of(std::optional<std::string> text);
  [[nodiscard]] loop::time_point limit_of(const script::call& call, int index) const;
  static loop::task<script::answers> await_message(owned self, loop::time_point limit,
                                                   bool is_line);
  static loop::task<script::answers> await_sent(owned self, loop::time_point limit);

  loop::loop& loop_;
  net::directory* names_;
  script_wishes how_;
  std::shared_ptr<net::message_port> port_;  // set once it is open
  std::deque<std::string> arrived_;
  std::size_t bytes_ = 0;           // bytes of the queued messages
  std::string unfinished_;          // the beginning of a line
  std::string trouble_;             // a problem that does not end it
  std::optional<std::string> end_;  // why nothing more is received
  loop::condition changed_;
  loop::task_group tasks_;
};

/// `strata.connect(url, options?)`.
[[nodiscard]] loop::task<script::answers> connect_script(host& host, script::call& call);
[[nodiscard]] const script::object_kind& connection_kind();

}  // namespace strata::runtime::scripting
