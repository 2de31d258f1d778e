// An HTTP/2 stream as a byte channel, behind a CONNECT for another protocol (RFC 8441 section 5).
// For http2_exchange alone, which outlives it.
#pragma once

#include "net/byte_channel.hpp"

namespace strata::http {

class http2_exchange;

class http2_channel final : public net::byte_channel, private loop::turn_end_hook {
 public:
  explicit http2_channel(http2_exchange& exchange);
  ~http2_channel() override;

  void push(const loop::slice& data) override;
  /// Bytes of this stream alone.
  [[nodiscard]] std::size_t unsent() const override;
  [[nodiscard]] int broken() const override;
  [[nodiscard]] loop::task<bool> room(std::size_t low, loop::time_point limit) override;
  [[nodiscard]] loop::task<bool> delivered(loop::time_point limit) override;
  void end() override;
  void abort() override;
  void break_off() override { abort(); }
  [[nodiscard]] const net::peer_info& peer() const override;

  /// Reports that data has arrived, or that the stream has ended. The reader does not run inside
  /// the session.
  void notify() {
    if (waiter_) home_.at_turn_end(*this);
  }

 private:
  bool prepare() override;
  result<loop::buffer> take() override;
  void on_turn_end() override;

  http2_exchange& on_;
};

}  // namespace strata::http
