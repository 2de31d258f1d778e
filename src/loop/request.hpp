// A request is an operation requested from the loop, and the object that receives its completions.
//
// The requester derives from `request` and starts it with one of the loop's verbs (`receive`,
// `send`, …). Destroying a pending request is always safe: the loop detaches it from its operation,
// cancels the operation, and keeps the memory that the kernel still uses until the kernel is done.
// So a waiting coroutine may be destroyed at any point.
#pragma once

#include <cstdint>
#include <utility>

#include "loop/names/address.hpp"
#include "strata/base/bytes.hpp"

namespace strata::loop {

class loop;
class request;

/// Received bytes, in memory lent by the loop; the destructor returns the memory. Must not outlive
/// its loop or leave its thread. A loop has few such buffers: a coroutine must not hold one while
/// it waits for anything (`owned()` copies it into memory of its own).
class buffer {
 public:
  class pool {
   public:
    virtual void give_back(std::uint32_t id) = 0;

   protected:
    ~pool() = default;
  };

  buffer() = default;
  buffer(pool& lender, std::uint32_t id, byte_span bytes)
      : pool_(&lender), id_(id), bytes_(bytes) {}
  buffer(buffer&& other) noexcept
      : pool_(std::exchange(other.pool_, nullptr)),
        id_(other.id_),
        bytes_(std::exchange(other.bytes_, {})) {}
  buffer& operator=(buffer&& other) noexcept {
    reset();
    pool_ = std::exchange(other.pool_, nullptr);
    id_ = other.id_;
    bytes_ = std::exchange(other.bytes_, {});
    return *this;
  }
  buffer(const buffer&) = delete;
  buffer& operator=(const buffer&) = delete;
  ~buffer() { reset(); }

  /// Returns a buffer with memory of its own, not lent by a loop. No bytes: an empty buffer.
  [[nodiscard]] static buffer copy_of(byte_span bytes);

  [[nodiscard]] byte_span bytes() const { return bytes_; }
  /// Returns the bytes for modification in place: nothing else reads them.
  [[nodiscard]] mutable_byte_span writable() {
    return {const_cast<std::byte*>(bytes_.data()), bytes_.size()};
  }
  /// Returns the bytes in memory of their own; lent memory has been returned.
  [[nodiscard]] buffer owned() &&;
  /// Returns the same lent memory, with only `part` as its bytes.
  [[nodiscard]] buffer narrowed(byte_span part) && {
    bytes_ = part;
    return std::move(*this);
  }
  [[nodiscard]] bool empty() const { return bytes_.empty(); }

 private:
  void reset() {
    if (pool_ != nullptr) std::exchange(pool_, nullptr)->give_back(id_);
  }

  pool* pool_ = nullptr;
  std::uint32_t id_ = 0;
  byte_span bytes_;
};

struct completion {
  /// Bytes moved, a new descriptor (accept), ready events (poll); or a negative errno.
  int result = 0;
  /// More completions of the same request will follow.
  bool more = false;
  /// The received bytes.
  buffer data;
  /// The sender, for datagrams; valid during the call.
  const socket_address* from = nullptr;
};

/// The loop's state of a pending request. Each backend derives its own.
struct operation {
  enum class kind : std::uint8_t {
    accept,
    receive,
    receive_from,
    send,
    send_to,
    send_file,
    connect,
    poll,
    write,
    sync
  };

  operation(kind kind, request* asker, int on) : type(kind), requester(asker), fd(on) {}
  [[nodiscard]] bool is_receive() const {
    return type == kind::receive || type == kind::receive_from;
  }
  operation(const operation&) = delete;
  operation& operator=(const operation&) = delete;
  virtual ~operation() = default;

  kind type;
  request* requester;  ///< null once the request is destroyed
  int fd;
};

class request {
 public:
  request() = default;
  request(const request&) = delete;
  request& operator=(const request&) = delete;
  virtual ~request() { abandon(); }

  [[nodiscard]] bool under_way() const { return operation_ != nullptr; }
  /// Asks the loop to end the operation; a last completion (often -ECANCELED) still arrives.
  void cancel();
  /// Ends the operation without a completion.
  void abandon();

 protected:
  virtual void on_completion(completion completion) = 0;

 private:
  friend class loop;
  loop* loop_ = nullptr;
  operation* operation_ = nullptr;
};

}  // namespace strata::loop
