// A session of HTTP/2 takes any bytes, whatever its handlers do meanwhile, and keeps its limits.
#include <algorithm>
#include <cstdlib>
#include <list>
#include <string>

#include "proto/http/http2.hpp"

namespace {

using strata::byte_span;
using strata::proto::http2_code;
using strata::proto::http2_limits;

constexpr http2_limits limits = {.max_header = 2048,
                                 .max_streams = 10,
                                 .stream_window = 70'000,
                                 .connection_window = 100'000,
                                 .max_resets = 20,
                                 .max_controls = 40};
// nghttp2 keeps to the window of before until the client has confirmed the new one.
constexpr std::size_t most_unread = 10 * std::size_t{70'000};

/// Where the choices of the handlers come from: the input, from its end.
class chooser {
 public:
  explicit chooser(byte_span from) : from_(from) {}
  unsigned next() {
    if (from_.empty()) return 0;
    const auto got = std::to_integer<unsigned>(from_.back());
    from_ = from_.first(from_.size() - 1);
    return got;
  }

 private:
  byte_span from_;
};

class server final : private strata::proto::http2_listener {
 public:
  explicit server(byte_span choices) : choose_(choices), session_(*this, limits) {}

  bool feed(byte_span piece) {
    const auto now = strata::proto::http2_session::time_point{};
    if (!session_.feed(piece, now)) {
      session_.give_output(SIZE_MAX);
      if (!session_.is_over()) std::abort();
      return false;
    }
    for (auto& each : streams_) act(each);
    session_.give_output(choose_.next() * 100U);
    streams_.remove_if([](const stream& each) { return each.is_closed; });
    if (streams_.size() > limits.max_streams) std::abort();
    return true;
  }

 private:
  struct stream final : strata::proto::http2_stream {
    void on_body(byte_span bytes) override {
      if (is_closed || is_whole) std::abort();
      unread += bytes.size();
      if (unread > most_unread) std::abort();
    }
    void on_end() override { is_whole = true; }
    void on_close() override {
      if (is_closed) std::abort();
      is_closed = true;
    }
    [[nodiscard]] supply supplied() const override { return {waiting, is_last}; }
    void move_body(std::size_t count) override {
      if (count > waiting) std::abort();
      waiting -= count;
    }
    std::uint32_t id = 0;
    std::size_t unread = 0;
    std::size_t waiting = 0;
    bool is_whole = false;
    bool is_closed = false;
    bool is_last = false;
    bool is_answered = false;
  };

  strata::proto::http2_stream* on_request(arrival&& come) override {
    std::size_t size = 0;
    for (const auto& [name, value] : come.request.headers) size += name.size() + value.size();
    if (size > limits.max_header) std::abort();
    if ((come.refusal_status != 0) != come.refusal.has_value()) std::abort();
    auto& made = streams_.emplace_back();
    made.id = come.stream;
    made.is_whole = come.is_whole;
    return &made;
  }
  void write(byte_span /*bytes*/) override {}

  void act(stream& on) {
    if (on.is_closed) return;
    switch (choose_.next() % 6) {
      case 0: session_.consume(on.id, std::exchange(on.unread, 0)); break;
      case 1: answer(on); break;
      case 2:
        on.waiting += choose_.next() * 50U;
        session_.resume(on.id);
        break;
      case 3:
        on.is_last = true;
        session_.resume(on.id);
        break;
      case 4: session_.reset(on.id, http2_code::cancel); break;
      default: break;
    }
  }
  void answer(stream& on) {
    if (std::exchange(on.is_answered, true)) return;
    const strata::proto::http_fields fields = {{"Content-Type", "text/plain"}};
    session_.answer(on.id, {.status = 200,
                            .fields = fields,
                            .date = {},
                            .length = {},
                            .has_body = choose_.next() % 2 == 0});
  }

  chooser choose_;
  std::list<stream> streams_;
  strata::proto::http2_session session_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const auto input = std::as_bytes(std::span(data + 2, size - 2));
  std::string all;
  // Past the preface and the client's settings, so that few inputs end there.
  if (data[0] % 4 != 0) {
    all = strata::proto::http2_preface;
    all += std::string("\0\0\0\4\0\0\0\0\0", 9);
  }
  all += strata::as_text(input);
  server served(input);
  const std::size_t piece = 1 + data[1];
  for (auto rest = strata::as_bytes(all); !rest.empty();) {
    const auto part = rest.first(std::min(piece, rest.size()));
    rest = rest.subspan(part.size());
    if (!served.feed(part)) break;
  }
  return 0;
}
