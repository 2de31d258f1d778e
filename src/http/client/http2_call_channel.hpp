// An HTTP/2 stream that a client has opened, as a byte channel: behind a CONNECT for another
// protocol (RFC 8441 section 5). For http2_call alone, which outlives it.
#pragma once

#include <memory>

#include "http/client/http2_call.hpp"
#include "net/byte_channel.hpp"

namespace strata::http {

class http2_call_channel final : public net::byte_channel, private loop::turn_end_hook {
 public:
  http2_call_channel(std::shared_ptr<http2_client> client, http2_call& call);
  ~http2_call_channel() override;

  void push(const loop::slice& data) override;
  /// Bytes of this stream alone.
  [[nodiscard]] std::size_t unsent() const override { return on_.body_.bytes(); }
  [[nodiscard]] int broken() const override;
  [[nodiscard]] loop::task<bool> room(std::size_t low, loop::time_point limit) override;
  [[nodiscard]] loop::task<bool> delivered(loop::time_point limit) override;
  void end() override { on_.finish({}); }
  void abort() override { on_.abort(); }
  void break_off() override { on_.abort(); }
  [[nodiscard]] const net::peer_info& peer() const override { return client_->stream_->peer(); }

  /// Reports that data has arrived, or that the stream has ended. The reader does not run inside
  /// the session.
  void notify() {
    if (waiter_) home_.at_turn_end(*this);
  }

 private:
  bool prepare() override;
  result<loop::buffer> take() override;
  void on_turn_end() override;

  std::shared_ptr<http2_client> client_;
  http2_call& on_;
};

}  // namespace strata::http
