#include "http/http2/http2_transport.hpp"

#include <utility>

namespace strata::http {

namespace {

// Unsent bytes that a connection may hand to the kernel. More stays in its streams, where the
// session can still choose between streams.
constexpr std::size_t high_water = 256U << 10U;
constexpr std::size_t low_water = 64U << 10U;

}  // namespace

http2_transport::http2_transport(loop::loop& loop, std::unique_ptr<net::stream> stream,
                                 const proto::http2_limits& limits, proto::http2_role role)
    : loop_(loop), stream_(std::move(stream)), output_(*stream_), session_(*this, limits, role) {}

void http2_transport::give_output() {
  if (is_closed_) return;
  while (stream_->broken() == 0 && stream_->unsent() < high_water) {
    const auto given = session_.give_output(high_water - stream_->unsent());
    output_.push();
    if (given == 0) break;
  }
  // A block for each of many silent connections would take much memory.
  if (is_idle()) output_.forget_block();
}

void http2_transport::flush() {
  give_output();
  if (!is_closed_ && !is_writing_ && session_.wants_output() && stream_->unsent() >= high_water) {
    is_writing_ = true;
    running_.spawn(write_on());
  }
  on_flush();
}

loop::task<> http2_transport::write_on() {
  do {
    const bool has_room = co_await stream_->writable(low_water);
    if (!has_room || stream_->broken() != 0) break;
    give_output();
  } while (stream_->unsent() >= high_water);
  is_writing_ = false;
  on_flush();
}

}  // namespace strata::http
