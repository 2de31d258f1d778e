// A client's session of HTTP/2 takes any bytes as its server's, and keeps its limits.
#include <algorithm>
#include <array>
#include <cstdlib>

#include "proto/http/http2.hpp"

namespace {

using strata::byte_span;
using strata::proto::http2_limits;

constexpr http2_limits limits = {.max_header = 2048,
                                 .max_streams = 10,
                                 .stream_window = 70'000,
                                 .connection_window = 100'000,
                                 .max_resets = 20,
                                 .max_controls = 40};

struct asked final : strata::proto::http2_stream {
  void on_head(strata::proto::http_response_head&& head) override {
    std::size_t size = 0;
    for (const auto& [name, value] : head.headers) size += name.size() + value.size();
    if (is_closed || head.status < 100 || head.status > 999 || size > limits.max_header) {
      std::abort();
    }
    // Interim answers come before the final one.
    if (head.status < 200 && has_head) std::abort();
    has_head = head.status >= 200;
  }
  void on_body(byte_span bytes) override {
    unread += bytes.size();
    if (!has_head || is_closed || is_whole || unread > limits.stream_window) std::abort();
  }
  void on_trailers(strata::proto::http_fields&& fields) override {
    if (!has_head || is_closed) std::abort();
    for (const auto& [name, value] : fields) {
      if (name.starts_with(':')) std::abort();
    }
  }
  void on_end() override { is_whole = true; }
  void on_close() override {
    if (is_closed) std::abort();
    is_closed = true;
  }
  [[nodiscard]] supply supplied() const override { return {waiting, true}; }
  void move_body(std::size_t count) override { waiting -= count; }

  std::size_t waiting = 100'000;
  std::size_t unread = 0;
  bool has_head = false;
  bool is_whole = false;
  bool is_closed = false;
};

struct silent final : strata::proto::http2_listener {
  strata::proto::http2_stream* on_request(arrival&& /*come*/) override { std::abort(); }
  void write(byte_span /*bytes*/) override {}
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  silent nobody;
  std::array<asked, 3> asking;  // outlives the session
  strata::proto::http2_session session(nobody, limits, strata::proto::http2_role::client);
  const strata::proto::http_fields fields = {{"te", "trailers"}};
  for (auto& each : asking) {
    const bool has_body = &each != asking.data();
    const auto id = session.ask({.method = "POST",
                                 .scheme = "http",
                                 .authority = "h",
                                 .target = "/",
                                 .fields = fields,
                                 .has_body = has_body},
                                each);
    if (id == 0) std::abort();
  }
  session.give_output(SIZE_MAX);
  const std::size_t piece = 1 + data[0];
  for (auto rest = std::as_bytes(std::span(data + 1, size - 1)); !rest.empty();) {
    const auto part = rest.first(std::min(piece, rest.size()));
    rest = rest.subspan(part.size());
    const auto taken = session.feed(part, strata::proto::http2_session::time_point{});
    session.give_output(SIZE_MAX);
    if (!taken) break;
  }
  return 0;
}
