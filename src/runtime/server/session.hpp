// One stream connection of a server: bytes in become messages, messages become bytes out.
#pragma once

#include <memory>

#include "net/stream.hpp"
#include "proto/framing.hpp"
#include "runtime/server/member.hpp"

namespace strata::runtime::server {

class session final : public member {
 public:
  session(shard& home, std::unique_ptr<net::stream> connection);

  /// Reads until the client or the server has enough.
  loop::task<> run();

  std::size_t offer(const batch& messages) override;
  void dismiss() override { stream_->abort(); }
  loop::task<> delivered(loop::time_point limit) override;
  void end() override { stream_->end(); }

 private:
  /// False when the connection has to end.
  bool feed(byte_span bytes);
  void feed_unfinished();

  std::unique_ptr<net::stream> stream_;
  proto::framing framing_;
  proto::frame_reader reader_;
  bool told_slow_ = false;  // once is enough for the log, however often it happens
};

}  // namespace strata::runtime::server
