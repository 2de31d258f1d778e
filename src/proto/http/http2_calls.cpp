#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <new>
#include <utility>

#include "proto/http/http2_state.hpp"

namespace strata::proto {

namespace {

using state = http2_calls::state;

// A head of this many times its limit is an attack, not a mistake.
constexpr std::size_t bomb_factor = 4;
// The most outgoing frames queued for a client that does not read.
constexpr std::size_t max_outbound = 4000;
constexpr std::size_t max_acknowledgements = 1000;

state& of(void* user_data) { return *static_cast<state*>(user_data); }

http2_stream* find(nghttp2_session* session, std::int32_t stream) {
  return static_cast<http2_stream*>(nghttp2_session_get_stream_user_data(session, stream));
}

int flood(state& state, std::string_view text) {
  if (state.flooding.empty()) state.flooding = text;
  return NGHTTP2_ERR_CALLBACK_FAILURE;
}

int fail(state& state, http2_code code, std::string_view breach) {
  state.breach = breach;
  state.breach_code = code;
  return NGHTTP2_ERR_CALLBACK_FAILURE;
}

// Checks what nghttp2 does not: it ignores HEADERS of closed streams, and does not check PRIORITY.
// DATA of closed streams does not arrive here.
int check_stream(nghttp2_session* session, const nghttp2_frame_hd& frame, state& state) {
  if (frame.type == NGHTTP2_PRIORITY && frame.stream_id == 0) {
    return fail(state, http2_code::protocol_error, "PRIORITY on stream 0");
  }
  if (state.role != http2_role::server || frame.type != NGHTTP2_HEADERS) return 0;
  if (state.past.begin(frame.stream_id)) return 0;  // it may still be rejected
  if (nghttp2_session_find_stream(session, frame.stream_id) != nullptr) return 0;
  if (state.past.has_skipped(frame.stream_id)) {
    return fail(state, http2_code::protocol_error, "a stream id below one that was used before");
  }
  if (state.past.has_ended(frame.stream_id)) {
    return fail(state, http2_code::stream_closed, "a frame on a stream that it ended");
  }
  return 0;
}

// Called before nghttp2 checks the frame, so that invalid frames are counted too. Frames of unknown
// types do not arrive here; they cost nothing.
int on_begin_frame(nghttp2_session* session, const nghttp2_frame_hd* frame, void* user_data) {
  auto& by = of(user_data);
  if (nghttp2_session_get_outbound_queue_size(session) > max_outbound) {
    return flood(by, "frames without reading the answers");
  }
  if (const int code = check_stream(session, *frame, by); code != 0) return code;
  const bool is_end = (frame->flags & NGHTTP2_FLAG_END_STREAM) != 0;
  switch (frame->type) {
    case NGHTTP2_RST_STREAM: return by.resets.take(by.now) ? 0 : flood(by, "stream resets");
    case NGHTTP2_HEADERS:
    case NGHTTP2_CONTINUATION:
    case NGHTTP2_WINDOW_UPDATE: return 0;
    case NGHTTP2_DATA:
      if (frame->length != 0 || is_end) return 0;
      return by.controls.take(by.now) ? 0 : flood(by, "empty DATA frames");
    default: return by.controls.take(by.now) ? 0 : flood(by, "control frames");
  }
}

int on_begin_headers(nghttp2_session* /*session*/, const nghttp2_frame* frame, void* user_data) {
  auto& by = of(user_data);
  by.head_of = frame->hd.stream_id;
  by.reply = {};
  by.has_status = false;
  by.reply_size = 0;
  if (frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
    by.head.begin(static_cast<std::uint32_t>(frame->hd.stream_id));
  }
  return 0;
}

// nghttp2 has checked that a status has three digits.
void add_to_reply(state& state, std::string_view name, std::string_view value) {
  if (name == ":status") {
    std::from_chars(value.data(), value.data() + value.size(), state.reply.status);
    state.has_status = true;
  } else if (!name.starts_with(':')) {
    state.reply.headers.emplace_back(name, value);
  }
}

/// Passes on the gathered fields: an answer's head, or trailers, which have no status. Returns
/// false for a status that is invalid in HTTP/2.
bool report_reply(state& state, http2_stream& stream) {
  auto reply = std::exchange(state.reply, {});
  if (!state.has_status) {
    stream.on_trailers(std::move(reply.headers));
    return true;
  }
  if (!is_status(reply.status) || reply.status == 101) return false;
  stream.on_head(std::move(reply));
  return true;
}

int on_header(nghttp2_session* /*session*/, const nghttp2_frame* frame, const std::uint8_t* name,
              std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
              std::uint8_t /*flags*/, void* user_data) {
  auto& by = of(user_data);
  const auto text = [](const std::uint8_t* data, std::size_t size) {
    return as_text(std::as_bytes(std::span(data, size)));
  };
  std::size_t size = 0;
  if (frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
    by.head.add(text(name, name_size), text(value, value_size));
    size = by.head.size();
  } else {
    size = by.reply_size += name_size + value_size + http2_head::field_overhead;
    if (size <= by.limits.max_header)
      add_to_reply(by, text(name, name_size), text(value, value_size));
  }
  return size <= bomb_factor * by.limits.max_header ? 0 : flood(by, "header fields");
}

int on_frame(nghttp2_session* session, const nghttp2_frame* frame, void* user_data) {
  auto& by = of(user_data);
  const bool is_end = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
  const auto id = frame->hd.stream_id;
  const bool is_message = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
  if ((is_message && is_end) || frame->hd.type == NGHTTP2_RST_STREAM) by.past.end(id);
  if (frame->hd.type == NGHTTP2_SETTINGS) {
    by.has_settings = true;
  } else if (frame->hd.type == NGHTTP2_HEADERS) {
    by.head_of = 0;
    if (frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
      auto come = by.head.take();
      come.is_whole = is_end;
      auto* const answering = by.to.on_request(std::move(come));
      assert(answering != nullptr);
      return nghttp2_session_set_stream_user_data(session, id, answering);
    }
    if (auto* const call = find(session, id); call != nullptr) {
      if (by.reply_size > by.limits.max_header) {
        return nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
      }
      if (!report_reply(by, *call)) {
        return nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, id, NGHTTP2_PROTOCOL_ERROR);
      }
    }
  } else if (frame->hd.type != NGHTTP2_DATA) {
    return 0;
  }
  if (auto* const answering = find(session, id); answering != nullptr && is_end) {
    answering->on_end();
  }
  return 0;
}

int on_data(nghttp2_session* session, std::uint8_t /*flags*/, std::int32_t stream,
            const std::uint8_t* data, std::size_t size, void* /*user_data*/) {
  auto* const answering = find(session, stream);
  if (answering == nullptr) return nghttp2_session_consume(session, stream, size);
  answering->on_body(std::as_bytes(std::span(data, size)));
  return 0;
}

// nghttp2 also closes streams above the last one of a GOAWAY with REFUSED_STREAM.
int on_close(nghttp2_session* session, std::int32_t stream, std::uint32_t code, void* user_data) {
  auto& by = of(user_data);
  if (by.head_of == stream) by.head_of = 0;
  auto* const answering = find(session, stream);
  if (answering == nullptr) return 0;
  nghttp2_session_set_stream_user_data(session, stream, nullptr);
  if (by.role == http2_role::client) --by.asked_open;
  if (code == NGHTTP2_REFUSED_STREAM) answering->on_refusal();
  answering->on_close();
  return 0;
}

// Called for a request that was not sent because the server has sent a GOAWAY meanwhile.
int on_unsent(nghttp2_session* session, const nghttp2_frame* frame, int /*code*/,
              void* /*user_data*/) {
  const bool is_request =
      frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST;
  auto* const asking = is_request ? find(session, frame->hd.stream_id) : nullptr;
  if (asking != nullptr) asking->on_refusal();
  return 0;
}

// A client can cause resets by sending invalid frames; each counts as if the client had reset the
// stream itself.
int on_sent(nghttp2_session* /*session*/, const nghttp2_frame* frame, void* user_data) {
  if (frame->hd.type != NGHTTP2_RST_STREAM) return 0;
  const auto code = static_cast<http2_code>(frame->rst_stream.error_code);
  const bool is_ours = code == http2_code::no_error || code == http2_code::internal_error ||
                       code == http2_code::cancel;
  auto& by = of(user_data);
  // Not ended from inside the output: the caller that requested the output ends the session.
  if (!is_ours && !by.resets.take(by.now) && by.flooding.empty()) {
    by.flooding = "streams that must be reset";
  }
  return 0;
}

void submit_trailers(nghttp2_session* session, std::int32_t stream, const http_fields& fields) {
  std::vector<nghttp2_nv> pairs;
  for (const auto& [name, value] : fields) pairs.push_back(http2_calls::pair_of(name, value));
  if (nghttp2_submit_trailer(session, stream, pairs.data(), pairs.size()) == NGHTTP2_ERR_NOMEM) {
    throw std::bad_alloc();
  }
}

ssize_t supply_body(nghttp2_session* session, std::int32_t stream, std::uint8_t* /*buffer*/,
                    std::size_t room, std::uint32_t* flags, nghttp2_data_source* source,
                    void* /*user_data*/) {
  const auto there = static_cast<http2_stream*>(source->ptr)->supplied();
  if (there.bytes == 0 && !there.is_last) return NGHTTP2_ERR_DEFERRED;
  const auto size = std::min(room, there.bytes);
  *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
  if (there.is_last && size == there.bytes) {
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (there.trailers != nullptr) {
      *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
      submit_trailers(session, stream, *there.trailers);
    }
  }
  return static_cast<ssize_t>(size);
}

int send_data(nghttp2_session* /*session*/, nghttp2_frame* /*frame*/, const std::uint8_t* head,
              std::size_t size, nghttp2_data_source* source, void* user_data) {
  constexpr std::size_t head_size = 9;
  auto& by = of(user_data);
  by.to.write(std::as_bytes(std::span(head, head_size)));
  static_cast<http2_stream*>(source->ptr)->move_body(size);
  by.written += head_size + size;
  by.is_paused = by.written >= by.most;
  return by.is_paused ? NGHTTP2_ERR_PAUSE : 0;
}

struct callbacks {
  callbacks() {
    if (nghttp2_session_callbacks_new(&all) != 0) throw std::bad_alloc();
    nghttp2_session_callbacks_set_on_begin_frame_callback(all, on_begin_frame);
    nghttp2_session_callbacks_set_on_begin_headers_callback(all, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(all, on_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(all, on_frame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(all, on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(all, on_close);
    nghttp2_session_callbacks_set_on_frame_send_callback(all, on_sent);
    nghttp2_session_callbacks_set_on_frame_not_send_callback(all, on_unsent);
    nghttp2_session_callbacks_set_send_data_callback(all, send_data);
    if (nghttp2_option_new(&options) != 0) throw std::bad_alloc();
    nghttp2_option_set_no_auto_window_update(options, 1);
    nghttp2_option_set_no_closed_streams(options, 1);
    nghttp2_option_set_max_outbound_ack(options, max_acknowledgements);
    // Our limit uses the loop's clock, and also counts resets that the client causes.
    nghttp2_option_set_stream_reset_rate_limit(options, UINT64_MAX, UINT64_MAX);
  }
  callbacks(const callbacks&) = delete;
  callbacks& operator=(const callbacks&) = delete;
  ~callbacks() {
    nghttp2_session_callbacks_del(all);
    nghttp2_option_del(options);
  }

  nghttp2_session_callbacks* all = nullptr;
  nghttp2_option* options = nullptr;
};

}  // namespace

nghttp2_session* http2_calls::make_session(state& state) {
  static const callbacks ours;
  nghttp2_session* made = nullptr;
  const auto make =
      state.role == http2_role::server ? nghttp2_session_server_new2 : nghttp2_session_client_new2;
  const int code = make(&made, ours.all, &state, ours.options);
  if (code == NGHTTP2_ERR_NOMEM) throw std::bad_alloc();
  assert(code == 0);
  return made;
}

nghttp2_data_provider http2_calls::body_of(http2_stream& answering) {
  nghttp2_data_provider made{};
  made.source.ptr = &answering;
  made.read_callback = supply_body;
  return made;
}

nghttp2_nv http2_calls::pair_of(std::string_view name, std::string_view value) {
  const auto bytes = [](std::string_view text) {
    return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
  };
  return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

bool http2_calls::is_of_connections(std::string_view name) {
  constexpr std::array<std::string_view, 5> names = {"connection", "keep-alive", "proxy-connection",
                                                     "transfer-encoding", "upgrade"};
  return std::ranges::find(names, name) != names.end();
}

}  // namespace strata::proto
