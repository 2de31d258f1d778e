// One stream connection of a server: bytes in become messages, messages become bytes out.
#pragma once

#include "net/stream.hpp"
#include "proto/framing.hpp"
#include "runtime/server/member.hpp"

namespace strata::runtime {

class session final : public member {
 public:
  session(shard& home, loop::socket connection);

  /// Reads until the client or the server has enough.
  loop::task<> run();

  void offer(const batch& messages) override;
  void dismiss() override { stream_.abort(); }
  [[nodiscard]] net::stream& wire() { return stream_; }

 private:
  /// False when the connection has to end.
  bool feed(byte_span bytes);
  void feed_unfinished();
  loop::task<> flush();

  net::stream stream_;
  proto::frame_reader reader_;
  bool told_slow_ = false;  // once is enough for the log, however often it happens
};

}  // namespace strata::runtime
