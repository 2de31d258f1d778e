// For tests: an HTTP/2 client, by libnghttp2, and handmade frames.
#pragma once

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "proto/http/http2.hpp"

namespace strata::proto {

/// Returns a frame (RFC 9113 section 4.1).
[[nodiscard]] inline std::string http2_frame(unsigned type, unsigned flags, std::uint32_t stream,
                                             std::string_view payload = {}) {
  const auto size = payload.size();
  std::string made;
  for (const auto each : {size >> 16U, size >> 8U, size, std::size_t{type}, std::size_t{flags},
                          std::size_t{stream} >> 24U, std::size_t{stream} >> 16U,
                          std::size_t{stream} >> 8U, std::size_t{stream}}) {
    made += static_cast<char>(each & 0xFFU);
  }
  return made.append(payload);
}
/// Returns a client's first bytes, handmade.
[[nodiscard]] inline std::string http2_opening() {
  return std::string(http2_preface) + http2_frame(NGHTTP2_SETTINGS, 0, 0);
}
/// HPACK: GET https://x/ by the static table.
inline constexpr std::string_view http2_get_block = "\x82\x87\x84\x41\x01x";

class http2_test_peer {
 public:
  struct reply {
    int status = 0;
    http_fields headers;
    std::string body;
    bool is_closed = false;
    std::uint32_t code = 0;  // error code of the close
  };

  explicit http2_test_peer(bool auto_window = true) {
    nghttp2_session_callbacks* calls = nullptr;
    nghttp2_session_callbacks_new(&calls);
    nghttp2_session_callbacks_set_on_header_callback(calls, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(calls, on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(calls, on_close);
    nghttp2_session_callbacks_set_on_frame_recv_callback(calls, on_frame);
    nghttp2_option* options = nullptr;
    nghttp2_option_new(&options);
    nghttp2_option_set_no_auto_window_update(options, auto_window ? 0 : 1);
    nghttp2_session* made = nullptr;
    nghttp2_session_client_new2(&made, calls, this, options);
    session_.reset(made);
    nghttp2_option_del(options);
    nghttp2_session_callbacks_del(calls);
    nghttp2_submit_settings(made, NGHTTP2_FLAG_NONE, nullptr, 0);
  }
  http2_test_peer(const http2_test_peer&) = delete;
  http2_test_peer& operator=(const http2_test_peer&) = delete;

  /// Sends a request; an empty `body` means none. `is_open`: the body does not end.
  std::uint32_t ask(const std::string& method, const std::string& path,
                    const http_fields& more = {}, std::string body = {}, bool is_open = false) {
    http_fields all = {{":method", method}, {":scheme", "http"}, {":path", path}};
    if (std::ranges::find(more, ":authority", &http_fields::value_type::first) == more.end()) {
      all.emplace_back(":authority", "test");
    }
    std::ranges::copy_if(more, std::back_inserter(all),
                         [](const auto& each) { return each.first.starts_with(':'); });
    std::ranges::copy_if(more, std::back_inserter(all),
                         [](const auto& each) { return !each.first.starts_with(':'); });
    return ask_with(std::move(all), std::move(body), is_open);
  }
  /// Sends a request with exactly these fields, even if they are wrong.
  std::uint32_t ask_with(http_fields all, std::string body = {}, bool is_open = false) {
    std::vector<nghttp2_nv> pairs;
    for (auto& [name, value] : all) {
      pairs.push_back({reinterpret_cast<std::uint8_t*>(name.data()),
                       reinterpret_cast<std::uint8_t*>(value.data()), name.size(), value.size(),
                       NGHTTP2_NV_FLAG_NONE});
    }
    auto& held = bodies_.emplace_back(std::make_unique<outgoing>(std::move(body), 0U, is_open));
    nghttp2_data_provider provider{};
    provider.source.ptr = held.get();
    provider.read_callback = give_body;
    const bool has_body = is_open || !held->bytes.empty();
    const auto id = static_cast<std::uint32_t>(
        nghttp2_submit_request(session_.get(), nullptr, pairs.data(), pairs.size(),
                               has_body ? &provider : nullptr, nullptr));
    by_stream_[id] = held.get();
    return id;
  }
  /// Requests another protocol (RFC 8441); continue with `say` and `end`.
  std::uint32_t connect(const std::string& protocol, http_fields more = {}, std::string body = {}) {
    more.insert(more.begin(), {":protocol", protocol});
    return ask("CONNECT", "/", more, std::move(body), true);
  }
  /// Sends more of an open body.
  void say(std::uint32_t stream, std::string_view more) {
    by_stream_[stream]->bytes += more;
    nghttp2_session_resume_data(session_.get(), static_cast<std::int32_t>(stream));
  }
  /// The number of bytes of a body that the server's windows have not let through.
  [[nodiscard]] std::size_t unsaid(std::uint32_t stream) const {
    const auto& of = *by_stream_.at(stream);
    return of.bytes.size() - of.sent;
  }
  void end(std::uint32_t stream) {
    by_stream_[stream]->is_open = false;
    nghttp2_session_resume_data(session_.get(), static_cast<std::int32_t>(stream));
  }
  void reset(std::uint32_t stream) {
    nghttp2_submit_rst_stream(session_.get(), 0, static_cast<std::int32_t>(stream), NGHTTP2_CANCEL);
  }
  void ping() { nghttp2_submit_ping(session_.get(), 0, nullptr); }
  void leave() { nghttp2_session_terminate_session(session_.get(), NGHTTP2_NO_ERROR); }
  /// Reports `bytes` bytes of a stream as read; for use without the automatic window.
  void consume(std::uint32_t stream, std::size_t bytes) {
    nghttp2_session_consume(session_.get(), static_cast<std::int32_t>(stream), bytes);
  }

  /// Returns the output for the server.
  [[nodiscard]] std::string take() {
    std::string all;
    const std::uint8_t* bytes = nullptr;
    for (;;) {
      const auto size = nghttp2_session_mem_send(session_.get(), &bytes);
      if (size <= 0) return all;
      all.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
    }
  }
  /// Takes the server's output. Returns false if it is invalid.
  bool feed(std::string_view input) {
    return nghttp2_session_mem_recv(session_.get(),
                                    reinterpret_cast<const std::uint8_t*>(input.data()),
                                    input.size()) == static_cast<ssize_t>(input.size());
  }

  [[nodiscard]] reply& of(std::uint32_t stream) { return replies_[stream]; }
  /// The error code of a received GOAWAY; -1 if none has arrived.
  [[nodiscard]] std::int64_t farewell() const { return farewell_; }
  /// Returns a setting of the server.
  [[nodiscard]] std::uint32_t setting(nghttp2_settings_id which) const {
    return nghttp2_session_get_remote_settings(session_.get(), which);
  }

 private:
  struct outgoing {
    outgoing(std::string text, std::size_t start, bool open)
        : bytes(std::move(text)), sent(start), is_open(open) {}
    std::string bytes;
    std::size_t sent;
    bool is_open;
  };
  struct deleter {
    void operator()(nghttp2_session* session) const { nghttp2_session_del(session); }
  };

  static reply& of(void* user, std::int32_t stream) {
    return static_cast<http2_test_peer*>(user)->replies_[static_cast<std::uint32_t>(stream)];
  }
  static int on_header(nghttp2_session* /*session*/, const nghttp2_frame* frame,
                       const std::uint8_t* name, std::size_t name_size, const std::uint8_t* value,
                       std::size_t value_size, std::uint8_t /*flags*/, void* user) {
    auto& to = of(user, frame->hd.stream_id);
    const std::string field(reinterpret_cast<const char*>(name), name_size);
    const std::string text(reinterpret_cast<const char*>(value), value_size);
    if (field == ":status") {
      to.status = std::stoi(text);
    } else {
      to.headers.emplace_back(field, text);
    }
    return 0;
  }
  static int on_data(nghttp2_session* /*session*/, std::uint8_t /*flags*/, std::int32_t stream,
                     const std::uint8_t* data, std::size_t size, void* user) {
    of(user, stream).body.append(reinterpret_cast<const char*>(data), size);
    return 0;
  }
  static int on_close(nghttp2_session* /*session*/, std::int32_t stream, std::uint32_t code,
                      void* user) {
    of(user, stream).is_closed = true;
    of(user, stream).code = code;
    return 0;
  }
  static int on_frame(nghttp2_session* /*session*/, const nghttp2_frame* frame, void* user) {
    if (frame->hd.type == NGHTTP2_GOAWAY) {
      static_cast<http2_test_peer*>(user)->farewell_ = frame->goaway.error_code;
    }
    return 0;
  }
  static ssize_t give_body(nghttp2_session* /*session*/, std::int32_t /*stream*/,
                           std::uint8_t* bytes, std::size_t room, std::uint32_t* flags,
                           nghttp2_data_source* source, void* /*user*/) {
    auto& from = *static_cast<outgoing*>(source->ptr);
    const auto size = std::min(room, from.bytes.size() - from.sent);
    std::ranges::copy(std::string_view(from.bytes).substr(from.sent, size), bytes);
    from.sent += size;
    if (from.sent == from.bytes.size() && !from.is_open) *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (size == 0 && from.is_open) return NGHTTP2_ERR_DEFERRED;
    return static_cast<ssize_t>(size);
  }

  std::unique_ptr<nghttp2_session, deleter> session_;
  std::vector<std::unique_ptr<outgoing>> bodies_;
  std::map<std::uint32_t, outgoing*> by_stream_;
  std::map<std::uint32_t, reply> replies_;
  std::int64_t farewell_ = -1;
};

}  // namespace strata::proto
