// The memory of a script: how much it uses, up to which limit, and when garbage must be collected.
//
// It owns no block: they are Lua's. For the machine's loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace strata::script {

class memory_account {
 public:
  explicit memory_account(std::uint64_t limit) : limit_(limit) {}
  memory_account(const memory_account&) = delete;
  memory_account& operator=(const memory_account&) = delete;

  /// Bytes in all blocks.
  [[nodiscard]] std::uint64_t used() const { return used_; }
  /// Reports whether there are blocks that take long to process.
  [[nodiscard]] bool has_large_blocks() const { return large_ > 0; }

  /// Reports whether the limit allows this many bytes more. A refusal makes a garbage collection
  /// due.
  [[nodiscard]] bool admit(std::size_t more) {
    if (used_ + more <= limit_) return true;
    was_refused_ = true;
    return false;
  }
  /// Allocates, moves or frees a block, as `lua_Alloc` does, whatever the limit is. Returns null if
  /// the system has no memory, and after it has freed the block.
  [[nodiscard]] void* resize(void* block, std::size_t old_size, std::size_t new_size) {
    if (new_size == 0) {
      std::free(block);  // NOLINT(cppcoreguidelines-no-malloc)
      count(old_size, 0);
      return nullptr;
    }
    void* const moved = std::realloc(block, new_size);  // NOLINT(cppcoreguidelines-no-malloc)
    if (moved != nullptr) count(old_size, new_size);
    return moved;
  }
  /// Reports whether garbage should be collected: after a refusal, or when much has been allocated
  /// since the last collection. LuaJIT gives up when there is no memory, even if much of it is
  /// garbage.
  [[nodiscard]] bool is_collection_due() const {
    return was_refused_ || (used_ >= limit_ / 2 && used_ >= used_after_collection_ + limit_ / 8);
  }
  /// Called when garbage has been collected.
  void note_collection() {
    was_refused_ = false;
    used_after_collection_ = used_;
  }

 private:
  static constexpr std::uint64_t large_block = 1U << 20U;

  void count(std::size_t old_size, std::size_t new_size) {
    used_ = used_ - old_size + new_size;
    if (old_size >= large_block) large_ -= old_size;
    if (new_size >= large_block) large_ += new_size;
  }

  std::uint64_t limit_;
  std::uint64_t used_ = 0;
  std::uint64_t used_after_collection_ = 0;
  std::uint64_t large_ = 0;   // bytes in blocks that take long to process
  bool was_refused_ = false;  // since the last collection
};

}  // namespace strata::script
