// One stream connection of a server: bytes in become messages, messages become bytes out.
#pragma once

#include <memory>

#include "net/stream.hpp"
#include "proto/framing.hpp"
#include "runtime/server/member.hpp"
#include "serve/connection_gauge.hpp"

namespace strata::runtime::server {

class session final : public member {
 public:
  /// Reads until the client or the server ends it. One coroutine per connection: an idle one costs
  /// its frame and its stream.
  static loop::task<> serve(shard& shard, std::unique_ptr<net::stream> connection,
                            serve::connection_gauge::place place);

  session(shard& shard, std::unique_ptr<net::stream> connection);

  [[nodiscard]] loop::socket_address address() const override { return stream_->peer().address; }
  [[nodiscard]] std::string tls_subject() const override { return stream_->peer().tls_subject; }
  [[nodiscard]] std::string_view protocol() const override { return stream_->transport(); }
  std::size_t offer(const batch& messages) override;
  [[nodiscard]] std::size_t held() const override {
    return reader_.unfinished().size() + stream_->unsent();
  }
  void dismiss(parting /*why*/) override {
    is_dismissed_ = true;
    stream_->leave();
  }
  loop::task<> delivered(loop::time_point limit) override;
  void end() override { stream_->end(); }

 private:
  /// Returns false if nothing more is read.
  bool take(const result<loop::buffer>& buffer);
  loop::task<> say_goodbye();
  /// Returns false if the connection has to end.
  bool feed(byte_span bytes);
  void feed_unfinished();

  bool is_dismissed_ = false;  // its incomplete input is no message
  bool has_ended_ = false;     // by the client, in good order
  std::unique_ptr<net::stream> stream_;
  proto::frame_reader reader_;
};

}  // namespace strata::runtime::server
