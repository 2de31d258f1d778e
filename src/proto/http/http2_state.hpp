// The state of an HTTP/2 session: nghttp2's session and our own counters. For proto/http/http2*
// alone.
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

/// Streams of a client that cannot be used any more: those that it has ended itself, and those
/// whose numbers it has skipped. Only the last few are known, so a frame of any other closed stream
/// may have been under way when this end reset the stream.
class http2_past {
 public:
  /// Records a new request's head. Reports whether its identifier is higher than all before, as
  /// required.
  [[nodiscard]] bool begin(std::int32_t stream) {
    if (stream <= last_) return false;
    if (stream - 2 > last_) {
      skipped_[next_skipped_++ % skipped_.size()] = {.first = last_ + 2, .last = stream - 2};
    }
    last_ = stream;
    return true;
  }
  /// Records that the client has ended its side, or reset the stream.
  void end(std::int32_t stream) { ended_[next_ended_++ % ended_.size()] = stream; }

  [[nodiscard]] bool has_ended(std::int32_t stream) const {
    return std::ranges::find(ended_, stream) != ended_.end();
  }
  /// Reports whether the stream was closed by a later one before it was used (RFC 9113, section
  /// 5.1.1).
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
  http_response_head reply;      // of an answer; without a status, trailers
  bool has_status = false;       // whether `reply` has one
  std::size_t reply_size = 0;    // counted as for a head
  std::uint32_t asked_open = 0;  // number of a client's open streams
  http2_budget resets;
  http2_budget controls;
  time_point now;
  std::string_view flooding;  // what the peer floods with; empty if nothing
  http2_past past;
  /// A protocol violation that nghttp2 ignores; empty if none.
  std::string_view breach;
  http2_code breach_code = http2_code::no_error;
  std::int32_t head_of = 0;   // the stream whose head is incomplete; 0 if none
  bool has_settings = false;  // the peer's first settings have arrived
  bool has_failed = false;
  // For the current `give_output`.
  std::size_t most = 0;
  std::size_t written = 0;
  bool is_paused = false;
  // Memory for one `answer`, kept for the next.
  std::string names;
  std::vector<nghttp2_nv> pairs;
};

/// The callbacks of nghttp2.
struct http2_calls {
  using state = http2_session::state;

  /// Creates a session that calls these with `state`.
  [[nodiscard]] static nghttp2_session* make_session(state& state);
  /// Returns the provider through which nghttp2 requests the body of a stream's answer.
  [[nodiscard]] static nghttp2_data_provider body_of(http2_stream& answering);
  /// nghttp2 takes the texts as mutable, but copies them.
  [[nodiscard]] static nghttp2_nv pair_of(std::string_view name, std::string_view value);
  /// Reports whether it is a connection field of HTTP/1.1, which HTTP/2 does not allow (section
  /// 8.2.2).
  [[nodiscard]] static bool is_of_connections(std::string_view name);
};

}  // namespace strata::proto
