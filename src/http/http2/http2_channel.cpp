#include "http/http2/http2_channel.hpp"

#include <cerrno>

#include "http/http2/http2_exchange.hpp"

namespace strata::http {

http2_channel::http2_channel(http2_exchange& exchange)
    : byte_channel(exchange.connection_.loop_), on_(exchange) {
  on_.channel_ = this;
}

// Pushed data is sent before the end.
http2_channel::~http2_channel() {
  on_.channel_ = nullptr;
  end();
}

void http2_channel::push(const loop::slice& data) { on_.push(data); }

std::size_t http2_channel::unsent() const { return on_.unsent(); }

int http2_channel::broken() const { return on_.is_gone() ? ECONNRESET : 0; }

// The channel may be destroyed meanwhile. So may the exchange, but then the wait returns false.
loop::task<bool> http2_channel::room(std::size_t low, loop::time_point limit) {
  const bool has_room =
      co_await on_.changed().wait([&on = on_, low] { return on.unsent() <= low; }, limit);
  co_return has_room;
}

loop::task<bool> http2_channel::delivered(loop::time_point limit) {
  auto& on = on_;
  const bool is_flushed = co_await flushed(limit);
  if (!is_flushed) co_return false;
  const bool is_delivered = co_await on.connection_.stream_->delivered(limit);
  co_return is_delivered;
}

void http2_channel::end() {
  if (!on_.is_answered()) on_.finish();
}

void http2_channel::abort() { on_.reset(proto::http2_code::cancel); }

const net::peer_info& http2_channel::peer() const { return on_.peer(); }

bool http2_channel::prepare() { return !on_.unread_.empty() || on_.is_whole_ || on_.is_gone(); }

result<loop::buffer> http2_channel::take() {
  if (!on_.unread_.empty()) {
    const auto bytes = std::exchange(on_.unread_, {});
    on_.credit(bytes.size());
    return loop::buffer::copy_of(as_bytes(bytes));
  }
  if (on_.is_whole_) return loop::buffer{};
  return failure(errc::connection_closed, "receive", "the stream was reset");
}

void http2_channel::on_turn_end() {
  if (waiter_ && prepare()) std::exchange(waiter_, {}).resume();
}

}  // namespace strata::http
