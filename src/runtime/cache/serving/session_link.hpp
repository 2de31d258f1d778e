// A connection as its session sees it: requests come from it, and output goes to it.
//
// For the thread of the engine's loop.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "loop/loop.hpp"
#include "loop/slice.hpp"
#include "net/byte_channel.hpp"
#include "proto/resp/resp_request.hpp"
#include "runtime/cache/engine/command.hpp"

namespace strata::runtime::cache {

/// Requests received on one connection and not executed yet.
struct request_batch {
  static constexpr std::size_t most = 32;
  struct request {
    std::size_t first;  ///< of its words
    std::size_t count;
    const command* what;
    std::uint64_t hash;  ///< of its first key
    std::size_t begin;   ///< where it begins in the received bytes
    std::size_t end;     ///< where the next one begins
  };
  std::vector<std::string_view> words;
  std::vector<request> requests;

  void clear() {
    words.clear();
    requests.clear();
  }
  /// Adds the request whose words, from the `first` on, have been appended; returns null if it has
  /// no words.
  const request* add(std::size_t first, std::size_t begin, std::size_t end);
};

/// Some requests of a batch, whose words are all of the batch's.
struct request_view {
  std::span<const std::string_view> words;
  std::span<const request_batch::request> requests;
};

class session_link {
 public:
  session_link() = default;
  session_link(const session_link&) = delete;
  session_link& operator=(const session_link&) = delete;
  virtual ~session_link() = default;

  // --- requests
  /// Returns the next requests, of which there may be none. They are valid until `settle`.
  [[nodiscard]] virtual request_view next(const proto::request_limits& limits,
                                          unsigned database) = 0;
  /// Takes back those of the last view from the `first`-th on: `next` returns them again.
  virtual void take_back(std::size_t first) = 0;
  /// The session uses the requests no more.
  virtual void settle() = 0;
  /// Why nothing more can be read, in Redis's words; empty if it can.
  [[nodiscard]] virtual std::string_view protocol_error() const = 0;
  /// The bytes of unexecuted requests, and the memory reserved for more of them.
  [[nodiscard]] virtual std::size_t input_bytes() const = 0;
  [[nodiscard]] virtual std::size_t input_room() const = 0;

  // --- output
  virtual void push(const loop::slice& bytes) = 0;
  /// Holds back everything after the first `bytes` pushed bytes, until the next call.
  virtual void allow(std::uint64_t bytes) = 0;
  [[nodiscard]] virtual std::uint64_t allowed() const = 0;
  /// The number of bytes pushed so far, and of those that the kernel has not taken yet.
  [[nodiscard]] virtual std::uint64_t pushed() const = 0;
  [[nodiscard]] virtual std::size_t unsent() const = 0;
  /// Waits, until `limit` at most, until no more than `low` bytes are unsent.
  [[nodiscard]] virtual loop::task<> room(std::size_t low, loop::time_point limit) = 0;

  // --- its end
  [[nodiscard]] virtual bool is_broken() const = 0;
  /// Ends it, in good order if nothing is unsent.
  virtual void leave() = 0;

  // --- what is known of it
  [[nodiscard]] virtual const net::peer_info& peer() const = 0;
  [[nodiscard]] virtual std::string_view transport() const = 0;
  [[nodiscard]] virtual int descriptor_number() const = 0;
};

}  // namespace strata::runtime::cache
