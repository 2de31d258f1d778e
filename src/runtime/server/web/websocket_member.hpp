// A member on a WebSocket, in the server's role (RFC 6455).
#pragma once

#include <memory>

#include "http/websocket_opening.hpp"
#include "net/byte_channel.hpp"
#include "proto/websocket/websocket.hpp"
#include "runtime/server/member.hpp"
#include "serve/connection_gauge.hpp"

namespace strata::runtime::server {

class websocket_member final : public member {
 public:
  /// Reads until one side has closed it. `id` is that of the member, from the shard.
  static loop::task<> serve(shard& shard, http::opened_websocket websocket, std::uint64_t id,
                            serve::connection_gauge::place place);

  websocket_member(shard& shard, http::opened_websocket&& websocket, std::uint64_t id);
  ~websocket_member() override;

  [[nodiscard]] loop::socket_address address() const override { return channel_->peer().address; }
  [[nodiscard]] std::string tls_subject() const override { return channel_->peer().tls_subject; }
  [[nodiscard]] std::string_view protocol() const override { return "ws"; }
  std::size_t offer(const batch& messages) override;
  [[nodiscard]] std::size_t held() const override {
    return parting_ ? 0 : reader_.held() + channel_->unsent();
  }
  void dismiss(parting why) override;
  loop::task<> delivered(loop::time_point limit) override;
  void end() override { close(proto::websocket_close::going_away, {}); }
  [[nodiscard]] bool says_farewell() const override { return channel_->broken() == 0; }
  /// Pings a silent peer, and ends one that does not answer.
  void look_after(loop::time_point now) override;

 private:
  /// Returns false if nothing more is read.
  bool take(result<loop::buffer>&& buffer);
  void on_event(const proto::websocket_event& event);
  void fail(const error& why);
  void push_control(proto::websocket_opcode opcode, byte_span payload);
  /// Sends a close frame with the reason, once; nothing is sent behind it.
  void close(proto::websocket_close code, std::string_view reason);
  /// Waits until the peer ends the connection.
  loop::task<> part();

  bool is_closing_ = false;  // our close frame is sent
  bool is_pinged_ = false;   // a ping is unanswered
  std::unique_ptr<net::byte_channel> channel_;
  proto::websocket_reader reader_;
  loop::time_point last_received_;
  class parting_limit;
  std::unique_ptr<parting_limit> parting_;  // set when it was dismissed, and its peer is to end it
};

}  // namespace strata::runtime::server
