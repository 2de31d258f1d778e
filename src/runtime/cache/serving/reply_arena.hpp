// Replies on their way out: written straight into memory that the connections of a shard share, a
// slice of which each connection's outbox gets.
#pragma once

#include <string>
#include <vector>

#include "net/outbox.hpp"
#include "proto/resp/resp_reply.hpp"

namespace strata::runtime::cache {

class reply_stream;

/// The memory. One stream writes at a time: another that begins makes it hand over what it wrote.
class reply_arena {
 public:
  reply_arena() = default;
  reply_arena(const reply_arena&) = delete;
  reply_arena& operator=(const reply_arena&) = delete;
  ~reply_arena();

  /// Hands over what the present writer wrote.
  void flush();

 private:
  friend class reply_stream;
  static constexpr std::uint32_t chunk_size = 64U << 10U;
  static constexpr std::size_t most_spare = 16;

  void lend(reply_stream& stream, std::size_t size);
  void change_chunk(std::size_t size);

  loop::chunk* current_ = nullptr;
  // Chunks that are full, and will be used again once what they hold has been sent: new memory
  // would have to be mapped by the kernel each time.
  std::vector<loop::chunk*> spare_;
  reply_stream* writing_ = nullptr;
};

/// One connection's replies.
class reply_stream final : public proto::reply_writer {
 public:
  reply_stream(reply_arena& shared, net::outbox& outbox) : shared_(shared), to_(outbox) {}
  ~reply_stream() override;

  /// Hands what was written to the outbox.
  void flush();

 private:
  friend class reply_arena;
  void grow(std::size_t size) override { shared_.lend(*this, size); }

  reply_arena& shared_;
  net::outbox& to_;
  char* begin_ = nullptr;
};

}  // namespace strata::runtime::cache
