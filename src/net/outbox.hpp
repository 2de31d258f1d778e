// What waits to be sent on one stream, as slices of shared chunks.
//
// Whatever is pushed during a turn of the loop goes out in one send at the turn's end. Neighbouring
// slices of one chunk become one, so a connection that hears all broadcasts of a turn costs one
// contiguous send however many messages there were.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "loop/loop.hpp"

namespace strata::net {

class outbox final : private loop::request, private loop::turn_end_hook {
 public:
  outbox(loop::loop& owner, const loop::socket& to) : loop_(owner), to_(to) {}

  /// Takes `data` to be sent after all that was pushed before.
  void push(const loop::slice& data);
  void push_copy(byte_span bytes) { push(loop::slice::copy_of(bytes)); }

  /// Sends nothing that was pushed after the first `pushed()` bytes, until told otherwise.
  void allow(std::uint64_t bytes);
  [[nodiscard]] std::uint64_t allowed() const { return allowed_; }
  /// Bytes pushed in all.
  [[nodiscard]] std::uint64_t pushed() const { return pushed_; }

  /// Bytes pushed and not yet taken by the kernel.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] bool empty() const { return bytes_ == 0; }
  /// The errno that ended sending, or 0. After it everything pushed is dropped.
  [[nodiscard]] int broken() const { return broken_; }

 private:
  void on_completion(loop::completion done) override;
  void on_turn_end() override;
  void send_first(std::span<const loop::slice> of, std::uint64_t most);
  void take_sent(std::size_t count);
  void compact_last();

  loop::loop& loop_;
  const loop::socket& to_;
  std::vector<loop::slice> waiting_;
  std::size_t first_ = 0;  // slices before this one are gone
  std::size_t bytes_ = 0;
  std::uint64_t pushed_ = 0;
  std::uint64_t allowed_ = UINT64_MAX;
  int broken_ = 0;
};

}  // namespace strata::net
