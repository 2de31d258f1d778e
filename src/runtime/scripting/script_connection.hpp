// `strata.connect`: a connection that a script opens, and holds as a value.
//
// What has come waits here until the script asks for it. When much does, the peer is held back.
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
  std::optional<proto::framing> framing = {};  ///< nothing: a stream is bytes
  loop::duration timeout = {};                 ///< of connecting
  std::size_t max_message = 0;
  net::tls_client_settings tls = {};
};

class script_connection final : public script::object {
 public:
  script_connection(loop::loop& loop, net::directory* names, script_wishes wishes);
  ~script_connection() override;

  /// Once. Errors: naming the URL.
  [[nodiscard]] loop::task<result<void>> open();
  /// What is unsent still goes, for a moment.
  void close() override;

  /// Errors: why it is not taken.
  [[nodiscard]] result<void> push(byte_span message);
  /// Awaits the next message; nullopt at its end. One at a time.
  [[nodiscard]] loop::task<std::optional<std::string>> next();
  [[nodiscard]] std::size_t unsent() const { return port_ ? port_->unsent() : 0; }
  /// Awaits that little enough is unsent, or its end.
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
  loop::task<> hear();
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
  std::shared_ptr<net::message_port> port_;  // once it is open
  std::deque<std::string> arrived_;
  std::size_t bytes_ = 0;           // that have arrived
  std::string unfinished_;          // a line's beginning
  std::string trouble_;             // that does not end it
  std::optional<std::string> end_;  // why nothing more comes
  loop::condition changed_;
  loop::task_group tasks_;
};

/// `strata.connect(url, options?)`.
[[nodiscard]] loop::task<script::answers> connect_script(host& host, script::call& call);
[[nodiscard]] const script::object_kind& connection_kind();

}  // namespace strata::runtime::scripting
