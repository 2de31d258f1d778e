// The messages of a WebSocket connection (RFC 6455 sections 5 to 8, RFC 7692), sans I/O: bytes in,
// events out. Writing is in websocket_frame.hpp.
//
// Total: any input gives events, "not yet", or one error with the close code to send; never more is
// kept than `max_message` bytes, the state of zlib and some 300 bytes. Between two messages a
// reader has no memory of its own, except for the inflater if the peer's messages depend on earlier
// ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>

#include "proto/deflate.hpp"
#include "proto/websocket/websocket_extensions.hpp"
#include "proto/websocket/websocket_frame.hpp"
#include "proto/websocket/websocket_head_reader.hpp"
#include "strata/base/bytes.hpp"
#include "strata/base/result.hpp"

namespace strata::proto {

struct websocket_event {
  enum class kind : std::uint8_t { text, binary, ping, pong, close };

  kind what = kind::text;
  byte_span payload;  ///< a message, inflated; the data of a ping or pong; a close's reason
  websocket_close close_code = websocket_close::no_status;  ///< of a close
};

/// Reads the messages of the peer of `side`. One per connection; any thread, one at a time.
class websocket_reader {
 public:
  /// The most empty fragments of one message, and control frames of one `feed`: more is a flood.
  static constexpr std::uint32_t max_empty_fragments = 1024;
  static constexpr std::uint32_t max_controls = 1024;

  explicit websocket_reader(websocket_role side, std::size_t max_message,
                            std::optional<websocket_deflate> agreed = {});
  ~websocket_reader();
  websocket_reader(websocket_reader&&) noexcept;
  websocket_reader& operator=(websocket_reader&&) noexcept;

  /// Calls `sink(const websocket_event&)` for each complete event; its payload is valid during the
  /// call. The sink must not feed or destroy this reader. Bytes behind a close are ignored. Errors:
  /// malformed, and limit_exceeded for messages that are too large or frames that are too many; the
  /// reader stays failed, so send `refusal_code()` and close.
  template <class Sink>
  [[nodiscard]] result<void> feed(byte_span input, Sink&& sink) {
    return read({.rest = input, .is_writable = false}, sink_of(sink));
  }
  /// As `feed`, but faster on a server: payloads are unmasked in place.
  template <class Sink>
  [[nodiscard]] result<void> feed_in_place(mutable_byte_span input, Sink&& sink) {
    return read({.rest = input, .is_writable = true}, sink_of(sink));
  }

  /// The code for the close frame after an error.
  [[nodiscard]] websocket_close refusal_code() const { return refusal_code_; }
  /// Reports whether the peer's close frame has arrived.
  [[nodiscard]] bool is_closed() const { return is_closed_; }
  /// Bytes of memory for an incomplete message or frame, without the inflater's.
  [[nodiscard]] std::size_t held() const;

  void set_max_message(std::size_t size) { max_message_ = size; }

 private:
  struct event_sink {
    void* object;
    void (*call)(void* object, const websocket_event& event);
  };
  struct reading {
    byte_span rest;
    bool is_writable;
  };
  struct unfinished;
  struct pass;

  template <class Sink>
  static event_sink sink_of(Sink& sink) {
    // The call restores the sink's constness.
    auto* object = const_cast<std::remove_const_t<Sink>*>(&sink);
    return {object, [](void* called, const websocket_event& event) {
              (*static_cast<Sink*>(called))(event);
            }};
  }

  [[nodiscard]] result<void> read(reading input, event_sink sink);
  [[nodiscard]] bool read_frames(pass& pass);
  [[nodiscard]] result<void> refusal() const;
  [[nodiscard]] bool refuse(websocket_close code, const char* why);

  [[nodiscard]] bool begin_frame(const websocket_head_reader::head& head, pass& pass);
  [[nodiscard]] bool begin_data(std::uint64_t size);
  [[nodiscard]] byte_span unmask(byte_span piece, pass& pass);

  [[nodiscard]] bool take_control(byte_span piece, pass& pass);
  [[nodiscard]] bool end_control(byte_span payload, pass& pass);
  [[nodiscard]] bool end_close(byte_span payload, pass& pass);
  [[nodiscard]] bool take_data(byte_span piece, pass& pass);
  [[nodiscard]] bool append_plain(byte_span piece);
  [[nodiscard]] bool append_inflated(byte_span piece, bool is_end);
  [[nodiscard]] bool end_message(byte_span payload, pass& pass);
  [[nodiscard]] inflater& peer_inflater();
  void release_inflater();
  [[nodiscard]] unfinished& begun();

  std::unique_ptr<unfinished> unfinished_;
  std::unique_ptr<inflater> inflater_;
  std::size_t max_message_;
  std::uint64_t missing_ = 0;    // of the current frame's payload
  std::uint64_t wire_size_ = 0;  // of the current message, according to its frames' heads
  const char* refusal_ = nullptr;
  websocket_head_reader heads_;
  websocket_frame frame_;  // the current one
  std::optional<websocket_deflate> agreed_;
  std::uint8_t mask_offset_ = 0;
  websocket_opcode message_ = websocket_opcode::continuation;  // of the current message
  websocket_close refusal_code_ = websocket_close::no_status;
  std::uint16_t empty_fragments_ = 0;
  bool is_in_payload_ = false;
  bool is_compressed_ = false;
  bool is_closed_ = false;
};

static_assert(sizeof(websocket_reader) <= 100, "ten thousand idle connections have one each");

}  // namespace strata::proto
