#include "runtime/server/web/websocket_member.hpp"

#include <fmt/format.h>

#include "runtime/server/shard.hpp"

namespace strata::runtime::server {

using namespace std::chrono_literals;
using proto::websocket_close;
using proto::websocket_event;
using proto::websocket_opcode;

namespace {

// How long a peer may take to end the connection once both sides have sent a close frame.
constexpr auto longest_closing = 2s;
// How long a dismissed peer may take.
constexpr auto longest_parting = 1s;

struct farewell {
  websocket_close code;
  std::string_view reason;
};

farewell farewell_for(parting why) {
  switch (why) {
    case parting::asked_for: return {websocket_close::normal, {}};
    case parting::idle: return {websocket_close::going_away, "idle for too long"};
    case parting::silent: return {websocket_close::going_away, "no answer to a ping"};
    case parting::refused: return {websocket_close::policy_violation, "not admitted"};
    case parting::too_slow: return {websocket_close::policy_violation, "reads too slowly"};
    case parting::memory: return {websocket_close::try_again_later, "too much memory in use"};
  }
  return {websocket_close::going_away, {}};
}

}  // namespace

// Allocated on demand, since most members are never dismissed.
class websocket_member::parting_limit final : public loop::timer {
 public:
  explicit parting_limit(net::byte_channel& channel) : channel_(channel) {}

 private:
  /// The peer has not ended the connection in time.
  void on_timer() override { channel_.abort(); }

  net::byte_channel& channel_;
};

websocket_member::~websocket_member() = default;

websocket_member::websocket_member(shard& shard, http::opened_websocket&& websocket,
                                   std::uint64_t id)
    : member(
          shard,
          websocket.deflate && websocket.deflate->server_max_window_bits == proto::max_window_bits
              ? encoding::websocket_deflated
              : encoding::websocket,
          presence::connected, id),
      channel_(std::move(websocket.channel)),
      reader_(proto::websocket_role::server, shard.options().max_message, websocket.deflate),
      last_received_(shard.loop().now()) {}

loop::task<> websocket_member::serve(shard& shard, http::opened_websocket websocket,
                                     std::uint64_t id,
                                     [[maybe_unused]] serve::connection_gauge::place place) {
  websocket_member served(shard, std::move(websocket), id);
  // Nothing that was received is in this frame while it waits: most connections wait.
  for (;;) {
    if (shard.is_busy_with(served)) co_await shard.handled(served);
    co_await served.channel_->ready();
    if (!served.take(served.channel_->take_ready())) break;
  }
  if (served.is_closing_) co_await served.part();
}

bool websocket_member::take(result<loop::buffer>&& buffer) {
  if (!buffer) {
    if (buffer.error().code != errc::connection_closed) home_.count().errors.add();
    return false;
  }
  if (buffer->empty()) return false;
  last_active = last_received_ = home_.loop().now();
  is_pinged_ = false;
  home_.count_in(*this, buffer->bytes().size());
  home_.memory().grew(buffer->bytes().size());
  reader_.set_max_message(home_.options().max_message);
  const auto fed = reader_.feed_in_place(buffer->writable(),
                                         [this](const websocket_event& event) { on_event(event); });
  home_.publish();
  if (!fed) fail(fed.error());
  return fed.has_value() && !reader_.is_closed();
}

void websocket_member::on_event(const websocket_event& event) {
  switch (event.what) {
    case websocket_event::kind::text:
      home_.on_message(*this, {event.payload, message_kind::text});
      break;
    case websocket_event::kind::binary:
      home_.on_message(*this, {event.payload, message_kind::binary});
      break;
    case websocket_event::kind::ping:
      // Earlier messages are answered before the ping.
      home_.publish();
      push_control(websocket_opcode::pong, event.payload);
      break;
    case websocket_event::kind::pong: break;
    case websocket_event::kind::close:
      home_.publish();
      close(event.close_code, {});
      break;
  }
}

void websocket_member::fail(const error& why) {
  const bool is_large = reader_.refusal_code() == websocket_close::message_too_big;
  if (is_large) home_.count().drop_message(drop::too_large);
  home_.count().errors.add();
  home_.state().log->write(
      level::warning,
      fmt::format("client {} disconnected: {}", channel_->peer().address.text(), describe(why)),
      fmt::format("#{}", id()));
  close(reader_.refusal_code(), why.reason);
}

void websocket_member::push_control(websocket_opcode opcode, byte_span payload) {
  // A peer that sends pings and does not read gets no more pongs once its queue is full.
  if (is_closing_ || channel_->unsent() > home_.options().max_buffer) return;
  std::string frame(
      as_text(proto::websocket_head_for({.opcode = opcode, .mask = {}}, payload.size()).span()));
  frame += as_text(payload);
  channel_->push_copy(as_bytes(frame));
}

void websocket_member::close(websocket_close code, std::string_view reason) {
  if (is_closing_) return;
  push_control(websocket_opcode::close, as_bytes(proto::websocket_close_payload(code, reason)));
  is_closing_ = true;
}

// A peer that does not read its queue would not read the reason either.
void websocket_member::dismiss(parting why) {
  if (parting_) return;
  parting_ = std::make_unique<parting_limit>(*channel_);
  const auto [code, reason] = farewell_for(why);
  const bool reads = why != parting::too_slow && channel_->unsent() == 0;
  close(code, reason);
  if (!reads) return channel_->abort();
  channel_->end();
  home_.loop().arm_after(*parting_, longest_parting);
}

// The client is to end the connection first: then the server keeps no port in TIME_WAIT.
loop::task<> websocket_member::part() {
  const auto limit = home_.loop().now() + longest_closing;
  const bool is_sent = co_await channel_->flushed(limit);
  if (!is_sent) co_return;
  channel_->end();
  for (;;) {
    const auto rest = co_await channel_->receive(limit);
    if (!rest || !*rest || (*rest)->empty()) co_return;
  }
}

loop::task<> websocket_member::delivered(loop::time_point limit) {
  co_await channel_->delivered(limit);
}

std::size_t websocket_member::offer(const batch& messages) {
  if (is_closing_ || channel_->broken() != 0) return 0;
  const auto& options = home_.options();
  const auto count = messages.count();
  const auto& bytes = messages.as(wanted());
  if (channel_->unsent() + bytes.size() <= options.max_buffer) {
    channel_->push(bytes);
    home_.count_out(*this, count, bytes.size());
    return count;
  }
  home_.on_slow(*this, count, channel_->peer().address, channel_->unsent());
  return 0;
}

void websocket_member::look_after(loop::time_point now) {
  const auto interval = home_.options().ws_ping;
  if (interval == 0 || now - last_received_ < loop::from_seconds(interval)) return;
  if (!std::exchange(is_pinged_, true)) {
    last_received_ = now;
    push_control(websocket_opcode::ping, {});
  } else {
    dismiss(parting::silent);
  }
}

}  // namespace strata::runtime::server
