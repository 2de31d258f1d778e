#include "runtime/server/arrival.hpp"

#include <memory>
#include <span>
#include <vector>

#include "net/tls/session.hpp"
#include "runtime/server/session.hpp"
#include "runtime/server/shard.hpp"
#include "runtime/server/web/web.hpp"
#include "serve/detection.hpp"

namespace strata::runtime::server {

namespace {

using serve::verdict;

verdict begins_with(std::string_view seen, std::string_view mark) {
  if (seen.starts_with(mark)) return verdict::yes;
  return mark.starts_with(seen) ? verdict::more : verdict::no;
}

// Matches a request line up to the first byte of its target (RFC 9112 section 3), or HTTP/2's
// preface (RFC 9113 section 3.4).
verdict match_http(byte_span first) {
  static constexpr std::string_view beginnings[] = {
      "GET /",     "HEAD /",   "POST /",      "PUT /",      "DELETE /",     "OPTIONS /",
      "OPTIONS *", "PATCH /",  "TRACE /",     "CONNECT ",   "GET http",     "HEAD http",
      "POST http", "PUT http", "DELETE http", "PATCH http", "OPTIONS http", "PRI * HTTP/2.0\r\n"};
  auto best = verdict::no;
  for (const auto each : beginnings) {
    const auto said = begins_with(as_text(first), each);
    if (said == verdict::yes) return said;
    if (said == verdict::more) best = said;
  }
  return best;
}

constexpr serve::protocol_row rows[] = {{"tls", serve::looks_like_tls}, {"http", match_http}};
constexpr const auto* tls = &rows[0];

std::span<const serve::protocol_row> rows_for(bool may_be_tls) {
  return may_be_tls ? std::span(rows) : std::span(rows).subspan(1);
}

/// Receives messages for a connection whose protocol is not known yet.
class newcomer final : public member {
 public:
  newcomer(shard& shard, net::stream& stream)
      : member(shard, encoding_of(shard.framing()), presence::passing), stream_(stream) {}

  std::size_t offer(const batch& messages) override {
    const auto& bytes = messages.as(wanted());
    if (held_bytes_ + bytes.size() > home_.options().max_buffer) {
      home_.on_slow(*this, messages.count(), stream_.peer().address, held_bytes_);
      return 0;
    }
    held_bytes_ += bytes.size();
    held_.push_back(bytes);
    // Counted at once, since the sender gets a report of the delivery.
    home_.count_out(*this, messages.count(), bytes.size());
    return messages.count();
  }
  [[nodiscard]] loop::socket_address address() const override { return stream_.peer().address; }
  [[nodiscard]] std::string tls_subject() const override { return stream_.peer().tls_subject; }
  [[nodiscard]] std::string_view protocol() const override { return stream_.transport(); }
  [[nodiscard]] std::size_t held() const override { return held_bytes_ + stream_.unsent(); }
  void dismiss(parting /*why*/) override { stream_.leave(); }
  loop::task<> delivered(loop::time_point limit) override {
    if (!is_agreeing_) hand_over();
    co_await stream_.delivered(limit);
  }

  /// During the handshake nothing else can be sent to the client.
  loop::task<bool> agree_on_tls() {
    is_agreeing_ = true;
    const bool agreed = co_await home_.start_tls(stream_);
    is_agreeing_ = false;
    co_return agreed;
  }
  /// The connection is a raw member: sends the messages held for it.
  void hand_over() {
    is_raw_ = is_raw_ || !held_.empty();
    for (const auto& each : std::exchange(held_, {})) stream_.push(each);
  }

  /// Whether messages were sent before the protocol was known, because the server stops: it is a
  /// raw member then.
  [[nodiscard]] bool is_raw() const { return is_raw_; }

 private:
  net::stream& stream_;
  std::vector<loop::slice> held_;
  std::size_t held_bytes_ = 0;
  bool is_agreeing_ = false;
  bool is_raw_ = false;
};

// One coroutine waits, with nothing beside it: there may be very many silent clients. Its frame is
// no larger than that of `session::serve`, which takes its place in the allocator's slabs.
loop::task<> find_protocol(shard& shard, std::unique_ptr<net::stream> arrived,
                           serve::connection_gauge::place place) {
  auto speaks = protocol::raw;
  {
    const auto waiting = std::make_unique<newcomer>(shard, *arrived);
    bool may_be_tls = shard.secure();
    for (bool is_known = false; !is_known;) {
      const auto limit = shard.loop().now() + loop::from_seconds(shard.options().detect_timeout);
      serve::detector detector(rows_for(may_be_tls));
      for (;;) {
        const bool has_come = co_await arrived->ready(limit);
        if (!has_come || detector.take(*arrived)) break;
      }
      const auto* const found = detector.finish(*arrived);
      is_known = true;
      if (found == nullptr || waiting->is_raw()) continue;
      if (found == tls) {
        const bool agreed = co_await waiting->agree_on_tls();
        if (!agreed) co_return;
        is_known = !arrived->tls()->application.empty();
        may_be_tls = false;
      }
      if (is_known) speaks = protocol::http;
    }
    if (speaks == protocol::raw) waiting->hand_over();
  }
  // In a task of its own, so that this coroutine's frame does not last as long as the connection.
  shard.adopt(receive_arrival(shard, std::move(arrived), std::move(place), speaks));
}

}  // namespace

loop::task<> receive_arrival(shard& shard, std::unique_ptr<net::stream> arrived,
                             serve::connection_gauge::place place, protocol speaks) {
  switch (speaks) {
    case protocol::automatic: return find_protocol(shard, std::move(arrived), std::move(place));
    case protocol::http: return serve_web(shard, std::move(arrived), std::move(place));
    case protocol::raw: break;
  }
  return session::serve(shard, std::move(arrived), std::move(place));
}

}  // namespace strata::runtime::server
