#include "http/http2/http2_channel.hpp"

#include <cerrno>
#include <utility>

namespace strata::http {

http2_channel::http2_channel(http2_flow& flow, std::shared_ptr<const void> connection)
    : byte_channel(flow.home()), flow_(flow), connection_(std::move(connection)) {
  flow_.set_channel(this);
}

// Pushed data is sent before the end.
http2_channel::~http2_channel() {
  flow_.end_sending();
  flow_.set_channel(nullptr);
}

int http2_channel::broken() const { return flow_.is_gone() ? ECONNRESET : 0; }

// The channel may be destroyed meanwhile. So may the flow, but then the wait returns false.
loop::task<bool> http2_channel::room(std::size_t low, loop::time_point limit) {
  const bool has_room =
      co_await flow_.changed().wait([&flow = flow_, low] { return flow.queued() <= low; }, limit);
  co_return has_room;
}

loop::task<bool> http2_channel::delivered(loop::time_point limit) {
  const auto connection = connection_;
  auto& carrier = flow_.carrier();
  const bool is_flushed = co_await flushed(limit);
  if (!is_flushed) co_return false;
  const bool is_delivered = co_await carrier.delivered(limit);
  co_return is_delivered;
}

result<loop::buffer> http2_channel::take() {
  if (const auto bytes = flow_.take_unread(); !bytes.empty()) {
    return loop::buffer::copy_of(as_bytes(bytes));
  }
  if (flow_.is_whole()) return loop::buffer{};
  return failure(errc::connection_closed, "receive",
                 "the stream was reset, or its connection ended");
}

void http2_channel::on_turn_end() {
  if (waiter_ && prepare()) std::exchange(waiter_, {}).resume();
}

}  // namespace strata::http
