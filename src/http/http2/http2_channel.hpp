// An HTTP/2 stream as a byte channel, behind a CONNECT for another protocol (RFC 8441 section 5).
// The flow outlives it.
#pragma once

#include <memory>

#include "http/http2/http2_flow.hpp"
#include "net/byte_channel.hpp"

namespace strata::http {

class http2_channel final : public net::byte_channel, private loop::turn_end_hook {
 public:
  /// `connection` is kept as long as the channel; it may be null.
  explicit http2_channel(http2_flow& flow, std::shared_ptr<const void> connection = nullptr);
  ~http2_channel() override;

  void push(const loop::slice& data) override { flow_.send(data); }
  /// Bytes of this stream alone.
  [[nodiscard]] std::size_t unsent() const override { return flow_.queued(); }
  [[nodiscard]] int broken() const override;
  [[nodiscard]] loop::task<bool> room(std::size_t low, loop::time_point limit) override;
  [[nodiscard]] loop::task<bool> delivered(loop::time_point limit) override;
  void end() override { flow_.end_sending(); }
  void abort() override { flow_.cancel(); }
  void break_off() override { flow_.cancel(); }
  [[nodiscard]] const net::peer_info& peer() const override { return flow_.carrier().peer(); }
  [[nodiscard]] std::string_view transport() const override { return flow_.carrier().transport(); }

  /// Reports that data has arrived, or that the stream has ended. The reader does not run inside
  /// the session.
  void notify() {
    if (waiter_) home_.at_turn_end(*this);
  }

 private:
  bool prepare() override { return flow_.has_news(); }
  result<loop::buffer> take() override;
  void on_turn_end() override;

  http2_flow& flow_;
  std::shared_ptr<const void> connection_;
};

}  // namespace strata::http
