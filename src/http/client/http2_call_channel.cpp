#include "http/client/http2_call_channel.hpp"

#include <cerrno>
#include <utility>

namespace strata::http {

http2_call_channel::http2_call_channel(std::shared_ptr<http2_client> client, http2_call& call)
    : byte_channel(client->loop_), client_(std::move(client)), on_(call) {
  on_.channel_ = this;
}

// Pushed data is sent before the end.
http2_call_channel::~http2_call_channel() {
  on_.finish({});
  on_.channel_ = nullptr;
}

void http2_call_channel::push(const loop::slice& data) { on_.push(data); }

int http2_call_channel::broken() const { return on_.is_gone_ ? ECONNRESET : 0; }

loop::task<bool> http2_call_channel::room(std::size_t low, loop::time_point limit) {
  const bool has_room =
      co_await on_.changed_.wait([&on = on_, low] { return on.body_.bytes() <= low; }, limit);
  co_return has_room;
}

loop::task<bool> http2_call_channel::delivered(loop::time_point limit) {
  const auto client = client_;
  const bool is_flushed = co_await flushed(limit);
  if (!is_flushed) co_return false;
  const bool is_delivered = co_await client->stream_->delivered(limit);
  co_return is_delivered;
}

bool http2_call_channel::prepare() { return !on_.unread_.empty() || on_.is_whole_ || on_.is_gone_; }

result<loop::buffer> http2_call_channel::take() {
  if (!on_.unread_.empty()) {
    const auto bytes = std::exchange(on_.unread_, {});
    on_.credit(bytes.size());
    return loop::buffer::copy_of(as_bytes(bytes));
  }
  if (on_.is_whole_) return loop::buffer{};
  return std::unexpected(on_.failed("the stream was reset, or its connection ended"));
}

void http2_call_channel::on_turn_end() {
  if (waiter_ && prepare()) std::exchange(waiter_, {}).resume();
}

}  // namespace strata::http
