// Outgoing replies: written directly into memory that the connections of a shard share, a slice of
// which goes to each connection.
#pragma once

#include <string>
#include <vector>

#include "proto/resp/resp_reply.hpp"
#include "runtime/cache/serving/session_link.hpp"

namespace strata::runtime::cache {

class reply_stream;

/// The shared memory. One stream writes at a time: when another one begins, the first passes on
/// what it wrote.
class reply_arena {
 public:
  reply_arena() = default;
  reply_arena(const reply_arena&) = delete;
  reply_arena& operator=(const reply_arena&) = delete;
  ~reply_arena();

  /// Passes on what the current writer wrote.
  void flush();

 private:
  friend class reply_stream;
  static constexpr std::uint32_t chunk_size = 64U << 10U;
  static constexpr std::size_t most_spare = 16;

  void lend(reply_stream& stream, std::size_t size);
  void change_chunk(std::size_t size);

  loop::chunk* current_ = nullptr;
  // Full chunks, which are reused once their contents have been sent: otherwise the kernel would
  // have to map new memory each time.
  std::vector<loop::chunk*> spare_;
  reply_stream* writing_ = nullptr;
};

/// The replies of one connection.
class reply_stream final : public proto::reply_writer {
 public:
  reply_stream(reply_arena& shared, session_link& link) : shared_(shared), to_(link) {}
  ~reply_stream() override;

  /// Passes what was written to the connection.
  void flush();

 private:
  friend class reply_arena;
  void grow(std::size_t size) override { shared_.lend(*this, size); }

  reply_arena& shared_;
  session_link& to_;
  char* begin_ = nullptr;
};

}  // namespace strata::runtime::cache
