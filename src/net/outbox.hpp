// What waits to be sent on one stream, as slices of shared chunks.
//
// Whatever is pushed during a turn of the loop goes out in one send at the turn's end. Neighbouring
// slices of one chunk become one, so a connection that hears all broadcasts of a turn costs one
// contiguous send however many messages there were.
#pragma once

#include <cstdint>
#include <vector>

#include "loop/loop.hpp"

namespace strata::net {

class outbox final : private loop::request, private loop::turn_end_hook {
 public:
  outbox(loop::loop& owner, const loop::socket& to) : loop_(owner), to_(to) {}

  /// Takes `data` to be sent after all that was pushed before.
  void push(const loop::slice& data);
  void push_copy(byte_span bytes) { push(loop::slice::copy_of(bytes)); }

  /// Bytes pushed and not yet taken by the kernel.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] bool empty() const { return bytes_ == 0; }
  /// The errno that ended sending, or 0. After it everything pushed is dropped.
  [[nodiscard]] int broken() const { return broken_; }

 private:
  void on_completion(loop::completion done) override;
  void on_turn_end() override;
  void take_sent(std::size_t count);
  void compact_last();

  loop::loop& loop_;
  const loop::socket& to_;
  std::vector<loop::slice> waiting_;
  std::size_t first_ = 0;  // slices before this one are gone
  std::size_t bytes_ = 0;
  int broken_ = 0;
};

}  // namespace strata::net
