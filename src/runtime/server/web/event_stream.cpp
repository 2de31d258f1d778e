#include "runtime/server/web/event_stream.hpp"

#include "http/served_connection.hpp"
#include "runtime/server/shard.hpp"

namespace strata::runtime::server {

using namespace std::chrono_literals;

namespace {

// Proxies close connections that are silent for a minute.
constexpr auto longest_silence = 15s;

}  // namespace

loop::task<> event_stream::serve(shard& shard, http::exchange& exchange) {
  http::answer_head head{
      .status = 200,
      .fields = {{"Content-Type", "text/event-stream"}, {"Cache-Control", "no-store"}},
      .length = {}};
  exchange.begin(std::move(head));
  if (exchange.is_head()) {
    exchange.finish();
    co_return;
  }
  // Shows the client at once that it is subscribed.
  exchange.push(": hello\n\n");
  if (exchange.owns_connection()) exchange.connection().is_listed = false;
  event_stream listening(shard, exchange);
  co_await exchange.client_end();
}

std::size_t event_stream::offer(const batch& messages) {
  if (exchange_.is_answered()) return 0;
  const auto count = messages.count();
  const auto& bytes = messages.as(wanted());
  if (exchange_.unsent() + bytes.size() > home_.options().max_buffer) {
    home_.on_slow(*this, count, exchange_.peer().address, exchange_.unsent());
    return 0;
  }
  last_sent_ = home_.loop().now();
  exchange_.push(bytes);
  home_.count_out(*this, count, bytes.size());
  return count;
}

void event_stream::dismiss(parting why) {
  const bool is_stuck = why == parting::too_slow || why == parting::memory;
  if (is_stuck || exchange_.unsent() != 0) {
    exchange_.abort();
  } else {
    exchange_.finish();
  }
}

loop::task<> event_stream::delivered(loop::time_point limit) {
  co_await exchange_.delivered(limit);
}

void event_stream::look_after(loop::time_point now) {
  if (now - last_sent_ < longest_silence || exchange_.is_answered()) return;
  last_sent_ = now;
  last_active = now;
  exchange_.push(":\n\n");
}

}  // namespace strata::runtime::server
