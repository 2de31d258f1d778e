// What is in a session of HTTP/2: nghttp2's, and what is counted beside it. For
// proto/http/http2* alone.
#pragma once

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "proto/http/http2.hpp"
#include "proto/http/http2_budget.hpp"
#include "proto/http/http2_head.hpp"

namespace strata::proto {

/// Streams of a client that cannot be used any more: those that it has ended itself, and those that
/// it has skipped. Only the last few are known, so a frame of any other closed stream may be one
/// that was under way when this end reset it.
class http2_past {
 public:
  /// A request's head comes. Says whether its identifier is above all before, as it should be.
  [[nodiscard]] bool begin(std::int32_t stream) {
    if (stream <= last_) return false;
    if (stream - 2 > last_) {
      skipped_[next_skipped_++ % skipped_.size()] = {.first = last_ + 2, .last = stream - 2};
    }
    last_ = stream;
    return true;
  }
  /// The client has ended its side, or reset the stream.
  void end(std::int32_t stream) { ended_[next_ended_++ % ended_.size()] = stream; }

  [[nodiscard]] bool has_ended(std::int32_t stream) const {
    return std::ranges::find(ended_, stream) != ended_.end();
  }
  /// Closed by a later one before it was used (RFC 9113, section 5.1.1).
  [[nodiscard]] bool has_skipped(std::int32_t stream) const {
    return std::ranges::any_of(skipped_, [stream](const range& each) {
      return each.first <= stream && stream <= each.last;
    });
  }

 private:
  struct range {
    std::int32_t first = 0;
    std::int32_t last = -1;
  };

  std::array<std::int32_t, 32> ended_{};
  std::array<range, 4> skipped_{};
  std::size_t next_ended_ = 0;
  std::size_t next_skipped_ = 0;
  std::int32_t last_ = -1;
};

struct http2_session::state {
  state(http2_listener& listener, const http2_limits& limited, http2_role playing)
      : to(listener),
        limits(limited),
        role(playing),
        head(limited.max_header),
        resets(limited.max_resets, limited.resets_a_second),
        controls(limited.max_controls, limited.controls_a_second) {}

  struct deleter {
    void operator()(nghttp2_session* session) const { nghttp2_session_del(session); }
  };

  http2_listener& to;
  http2_limits limits;
  http2_role role;
  std::unique_ptr<nghttp2_session, deleter> session;
  http2_head head;               // of a request
  http_response_head reply;      // of an answer; or, without a status, trailers
  bool has_status = false;       // the reply
  std::size_t reply_size = 0;    // as of a head
  std::uint32_t asked_open = 0;  // a client's streams that are not closed
  http2_budget resets;
  http2_budget controls;
  time_point now;
  std::string_view flooding;  // with what; empty: it does not flood
  http2_past past;
  /// Of the protocol, which nghttp2 passes over; empty: none.
  std::string_view breach;
  http2_code breach_code = http2_code::no_error;
  std::int32_t head_of = 0;   // the stream whose head has begun, and is not whole; 0: none
  bool has_settings = false;  // the client's first ones have come
  bool has_failed = false;
  // Of the present `give_output`.
  std::size_t most = 0;
  std::size_t written = 0;
  bool is_paused = false;
  // For one `answer`, kept for the next.
  std::string names;
  std::vector<nghttp2_nv> pairs;
};

/// What nghttp2 calls.
struct http2_calls {
  using state = http2_session::state;

  /// A session that calls these with `state`.
  [[nodiscard]] static nghttp2_session* make_session(state& state);
  /// How nghttp2 asks for the body of a stream's answer.
  [[nodiscard]] static nghttp2_data_provider body_of(http2_stream& answering);
  /// nghttp2 takes the texts as mutable, and copies them.
  [[nodiscard]] static nghttp2_nv pair_of(std::string_view name, std::string_view value);
  /// Of HTTP/1.1's connections: no field of HTTP/2 (section 8.2.2).
  [[nodiscard]] static bool is_of_connections(std::string_view name);
};

}  // namespace strata::proto
