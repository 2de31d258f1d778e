#include "runtime/server/session.hpp"

#include <fmt/format.h>

#include "runtime/server/shard.hpp"

namespace strata::runtime::server {

using namespace std::chrono_literals;

member::member(shard& shard, encoding encoding, presence presence, std::uint64_t id)
    : came(shard.loop().now()),
      home_(shard),
      id_(id != 0 ? id : shard.next_id()),
      wanted_(encoding),
      as_(presence) {
  home_.enter(*this);
}

member::~member() { home_.leave(*this); }

session::session(shard& shard, std::unique_ptr<net::stream> connection)
    : member(shard, encoding_of(shard.framing())),
      stream_(std::move(connection)),
      reader_(shard.framing(), shard.options().max_message) {}

loop::task<> session::serve(shard& shard, std::unique_ptr<net::stream> connection,
                            [[maybe_unused]] serve::connection_gauge::place place) {
  session served(shard, std::move(connection));
  // Nothing that was received is in this frame while it waits: most connections wait.
  for (;;) {
    if (shard.is_busy_with(served)) co_await shard.handled(served);
    co_await served.stream_->ready();
    if (!served.take(served.stream_->take_ready())) break;
  }
  if (served.has_ended_) co_await served.say_goodbye();
}

bool session::take(const result<loop::buffer>& buffer) {
  if (is_dismissed_) return false;
  if (!buffer) {
    // Many clients disconnect with a reset, so only other failures are errors.
    if (buffer.error().code != errc::connection_closed) home_.count().errors.add();
    return false;
  }
  if (!buffer->empty()) return feed(buffer->bytes());
  feed_unfinished();
  has_ended_ = true;
  return false;
}

// The client may have closed only its sending side: it still gets its unsent messages.
loop::task<> session::say_goodbye() { co_await stream_->flushed(home_.loop().now() + 5s); }

bool session::feed(byte_span bytes) {
  last_active = home_.loop().now();
  home_.count_in(*this, bytes.size());
  home_.memory().grew(bytes.size());
  reader_.set_max_message(home_.options().max_message);
  const auto fed =
      reader_.feed(bytes, [this](byte_span message) { home_.on_message(*this, {message}); });
  home_.publish();
  if (!fed) {
    home_.count().drop_message(drop::too_large);
    home_.count().errors.add();
    const auto& peer = stream_->peer();
    const auto subject = peer.tls_subject.empty() ? "" : " (" + peer.tls_subject + ")";
    home_.state().log->write_few("bad message", level::warning,
                                 fmt::format("client {}{} disconnected: {}", peer.address.text(),
                                             subject, describe(fed.error())),
                                 fmt::format("#{}", id()));
  }
  return fed.has_value();
}

// A last line without its LF is a message; a message cut off behind its length is not.
void session::feed_unfinished() {
  if (wanted() == encoding::line && !reader_.unfinished().empty()) {
    (void)feed(as_bytes("\n"));
  }
}

loop::task<> session::delivered(loop::time_point limit) { co_await stream_->delivered(limit); }

std::size_t session::offer(const batch& messages) {
  const auto count = messages.count();
  const auto& bytes = messages.as(wanted());
  if (stream_->broken() != 0) return 0;
  if (stream_->unsent() + bytes.size() > home_.options().max_buffer) {
    home_.on_slow(*this, count, stream_->peer().address, stream_->unsent());
    return 0;
  }
  stream_->push(bytes);
  home_.count_out(*this, count, bytes.size());
  return count;
}

}  // namespace strata::runtime::server
