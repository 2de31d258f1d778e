#include "http/websocket_port.hpp"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <span>

#include "http/client/http1_client.hpp"
#include "http/field.hpp"
#include "http/server_connection.hpp"
#include "loop/within.hpp"
#include "net/tls/digest.hpp"
#include "proto/deflate.hpp"
#include "proto/token.hpp"
#include "proto/websocket/websocket.hpp"
#include "proto/websocket/websocket_handshake.hpp"
#include "text/base64.hpp"
#include "text/utf8.hpp"
#include "text/word.hpp"

namespace strata::http {

namespace {

using namespace std::chrono_literals;
using proto::websocket_close;
using proto::websocket_event;
using proto::websocket_opcode;

// How long a server may take to end the connection once both sides have sent a close frame.
constexpr auto longest_closing = 2s;

// Unpredictable bytes for a frame's mask (RFC 6455 section 10.3).
class unforeseeable {
 public:
  proto::websocket_mask mask() {
    if (used_ == pool_.size()) refill();
    proto::websocket_mask made{};
    for (auto& each : made) each = pool_[used_++];
    return made;
  }

 private:
  void refill() {
    // The kernel always returns all of at most 256 bytes.
    [[maybe_unused]] const int code = ::getentropy(pool_.data(), pool_.size());
    assert(code == 0);
    used_ = 0;
  }

  std::array<std::byte, 256> pool_{};
  std::size_t used_ = pool_.size();
};

class websocket_port final : public net::message_port, private loop::timer {
 public:
  struct settings {
    proto::websocket_role side = proto::websocket_role::client;
    std::size_t max_message = 0;
    loop::duration ping;
    std::string subprotocol = {};
    bool is_binary = false;
  };

  websocket_port(loop::loop& loop, std::unique_ptr<net::byte_channel> over, const settings& how,
                 std::optional<proto::websocket_deflate> agreed)
      : loop_(loop),
        stream_(std::move(over)),
        side_(how.side),
        reader_(how.side, how.max_message, agreed),
        ping_(how.ping),
        subprotocol_(how.subprotocol),
        is_binary_(how.is_binary),
        last_received_(loop.now()) {
    if (agreed && agreed->can_compress(side_)) make_deflater(*agreed);
    if (ping_ != loop::duration::zero()) loop_.arm_after(*this, ping_);
  }

  [[nodiscard]] std::string_view subprotocol() const override { return subprotocol_; }

  loop::task<error> receive(receiver receiver) override {
    const auto ended =
        failure(errc::connection_closed, "receive", "the peer has closed the connection").error();
    result<void> fed;
    while (fed && !reader_.is_closed()) {
      {
        // Lent memory is returned before waiting for room.
        auto got = co_await stream_->receive();
        if (!got) co_return got.error();
        if (got->empty() && stream_->broken() != 0) {
          co_return system_error(stream_->broken(), "send");
        }
        // A peer that ends in good order sends a close frame first (section 7.1.5).
        if (got->empty() && !is_closing_) co_return left();
        if (got->empty()) co_return ended;
        last_received_ = loop_.now();
        is_pinged_ = false;
        receiver.on_bytes(got->bytes().size());
        fed = reader_.feed_in_place(
            got->writable(), [&](const websocket_event& event) { on_event(event, receiver); });
      }
      if (!receiver.room || !fed) continue;
      is_held_back_ = true;
      co_await receiver.room();
      is_held_back_ = false;
      last_received_ = loop_.now();
    }
    if (!fed) close(reader_.refusal_code(), fed.error().reason);
    co_await part();
    co_return fed ? ended : fed.error();
  }

  std::optional<std::size_t> offer(byte_span message) override {
    if (is_closing_) return std::nullopt;
    text::utf8_checker checker;
    const bool is_text = !is_binary_ && checker.feed(message) && checker.is_whole();
    proto::websocket_frame frame{
        .opcode = is_text ? websocket_opcode::text : websocket_opcode::binary, .mask = {}};
    packed_.clear();
    if (deflater_ && message.size() >= least_deflated) {
      if (forgets_) deflater_->restart();
      deflater_->compress(message, packed_);
      frame.is_compressed = true;
    }
    return push(frame, frame.is_compressed ? as_bytes(packed_) : message);
  }

  [[nodiscard]] std::size_t max_size() const override { return SIZE_MAX; }
  [[nodiscard]] std::size_t unsent() const override { return stream_->unsent(); }
  loop::task<> flushed(loop::time_point limit) override { co_await stream_->flushed(limit); }
  void end() override { close(websocket_close::normal, {}); }
  void end_with(const net::port_farewell& farewell) override {
    close(farewell.code == 0 ? websocket_close::no_status
                             : static_cast<websocket_close>(farewell.code),
          farewell.reason);
  }
  [[nodiscard]] std::optional<net::port_farewell> farewell() const override { return farewell_; }
  [[nodiscard]] net::port_end ends() const override { return net::port_end::all; }
  void break_off() override { close(websocket_close::internal_error, "the other end broke"); }

 private:
  static constexpr std::size_t least_deflated = 64;
  static constexpr std::size_t most_pongs = 1U << 20U;

  void make_deflater(const proto::websocket_deflate& agreed) {
    deflater_.emplace(proto::deflater::settings{.window_bits = agreed.window_bits_of(side_)});
    forgets_ = agreed.forgets(side_);
  }

  std::size_t push(proto::websocket_frame frame, byte_span payload) {
    if (side_ == proto::websocket_role::client) frame.mask = masks_.mask();
    const auto head = proto::websocket_head_for(frame, payload.size());
    auto& whole = *loop::chunk::make(static_cast<std::uint32_t>(head.size + payload.size()));
    whole.append(head.span());
    if (frame.mask) {
      proto::apply_mask(payload, whole.tail(), *frame.mask);
      whole.take(static_cast<std::uint32_t>(payload.size()));
    } else {
      whole.append(payload);
    }
    const auto size = whole.size();
    stream_->push(loop::slice(whole, 0, size));
    // The analyzer does not track the reference count.
    whole.release();  // NOLINT(clang-analyzer-unix.Malloc)
    return size;
  }

  void on_event(const websocket_event& event, const receiver& receiver) {
    switch (event.what) {
      case websocket_event::kind::text:
      case websocket_event::kind::binary: receiver.on_message(event.payload); break;
      case websocket_event::kind::ping:
        // Also after our own close: only a received close ends that duty (section 5.5.2).
        if (stream_->unsent() < most_pongs) {
          push({.opcode = websocket_opcode::pong, .mask = {}}, event.payload);
        }
        break;
      case websocket_event::kind::pong: break;
      case websocket_event::kind::close:
        if (!is_closing_) note_farewell(event);
        close(event.close_code, {});
        break;
    }
  }

  void note_farewell(const websocket_event& event) {
    const bool has_code = event.close_code != websocket_close::no_status;
    farewell_ = {.code = has_code ? static_cast<std::uint16_t>(event.close_code)
                                  : static_cast<std::uint16_t>(0),
                 .reason = std::string(as_text(event.payload))};
  }

  static error left() {
    return {.code = errc::connection_closed,
            .operation = "receive",
            .sys_errno = ECONNABORTED,
            .reason = "the peer closed the connection without a close frame"};
  }

  void close(websocket_close code, std::string_view reason) {
    if (std::exchange(is_closing_, true)) return;
    const auto payload = proto::websocket_close_payload(code, reason);
    push({.opcode = websocket_opcode::close, .mask = {}}, as_bytes(payload));
  }

  // Our close frame is sent before the connection closes; the server is to end it (section 7.1.1).
  loop::task<> part() {
    const auto limit = loop_.now() + longest_closing;
    const bool is_sent = co_await stream_->flushed(limit);
    if (!is_sent) co_return;
    if (side_ == proto::websocket_role::server) stream_->end();
    for (;;) {
      const auto rest = co_await stream_->receive(limit);
      if (!rest || !*rest || (*rest)->empty()) co_return;
    }
  }

  void on_timer() override {
    if (is_held_back_) {
      loop_.arm_after(*this, ping_);
    } else if (loop_.now() - last_received_ < ping_) {
      loop_.arm(*this, last_received_ + ping_);
    } else if (is_pinged_) {
      stream_->abort();
    } else {
      is_pinged_ = true;
      if (!is_closing_) push({.opcode = websocket_opcode::ping, .mask = {}}, {});
      loop_.arm_after(*this, ping_);
    }
  }

  loop::loop& loop_;
  std::unique_ptr<net::byte_channel> stream_;
  proto::websocket_role side_;
  proto::websocket_reader reader_;
  std::optional<proto::deflater> deflater_;
  bool forgets_ = false;
  std::string packed_;
  unforeseeable masks_;
  loop::duration ping_;
  std::string subprotocol_;
  bool is_binary_;
  loop::time_point last_received_;
  std::optional<net::port_farewell> farewell_;  // the peer's close frame
  bool is_pinged_ = false;
  bool is_held_back_ = false;  // nothing is being received, so silence means nothing
  bool is_closing_ = false;
};

std::string new_key() {
  std::array<char, 16> bytes{};
  [[maybe_unused]] const int code = ::getentropy(bytes.data(), bytes.size());
  assert(code == 0);
  return text::base64_encode(as_bytes({bytes.data(), bytes.size()}));
}

// A second field of these names would make a server refuse the request (RFC 6455 sections 4.2.1 and
// 11.3).
}  // namespace

bool is_of_the_opening(std::string_view name) {
  static constexpr std::string_view names[] = {"host",       "upgrade",        "connection",
                                               "te",         "content-length", "transfer-encoding",
                                               "keep-alive", "expect"};
  return text::in_small_letters(name).starts_with("sec-websocket-") ||
         std::ranges::any_of(names, [&](auto each) { return text::same_text(each, name); });
}

namespace {

proto::http_fields request_fields(const net::endpoint_url& url, const websocket_wishes& wishes,
                                  const std::string& key) {
  proto::http_fields fields{{"Host", host_field(url)},
                            {"Upgrade", "websocket"},
                            {"Connection", "Upgrade"},
                            {"Sec-WebSocket-Key", key},
                            {"Sec-WebSocket-Version", std::string(proto::websocket_version)}};
  if (!wishes.protocols.empty()) {
    std::string all;
    for (const auto& each : wishes.protocols) all += (all.empty() ? "" : ", ") + each;
    fields.emplace_back("Sec-WebSocket-Protocol", all);
  }
  if (wishes.is_deflated) {
    fields.emplace_back("Sec-WebSocket-Extensions", proto::deflate_offer());
  }
  fields.insert(fields.end(), wishes.fields.begin(), wishes.fields.end());
  return fields;
}

loop::task<result<std::unique_ptr<net::message_port>>> open(loop::loop& loop,
                                                            std::unique_ptr<net::stream> stream,
                                                            net::endpoint_url url,
                                                            websocket_wishes wishes) {
  const auto operation = "open a WebSocket at " + url.text();
  const auto key = new_key();
  http1_client asking(std::move(stream));
  const auto fields = request_fields(url, wishes, key);
  const std::string_view target = url.path.empty() ? std::string_view("/") : url.path;
  auto head = co_await asking.ask("GET", target, fields, "");
  if (!head) co_return std::unexpected(head.error());
  const auto hashed = proto::websocket_accept_text(key);
  const auto accept = proto::websocket_accept(net::sha1(as_bytes(hashed)));
  auto agreed = proto::read_websocket_response(*head, accept, wishes.protocols);
  if (!agreed) {
    auto why = agreed.error();
    why.operation = operation;
    co_return std::unexpected(why);
  }
  auto deflate = proto::agree_on_deflate(agreed->extensions);
  const bool is_unasked = !wishes.is_deflated && !agreed->extensions.empty();
  if (!deflate || is_unasked) {
    co_return failure(
        errc::malformed, operation,
        "the server answers with an extension that was not offered: " + agreed->extensions);
  }
  const websocket_port::settings how{
      .max_message = wishes.max_message, .ping = wishes.ping, .subprotocol = agreed->protocol};
  co_return std::make_unique<websocket_port>(loop, asking.upgrade(), how, *deflate);
}

// Answers the requests of one client until it opens a WebSocket.
class admission {
 public:
  admission(loop::loop& loop, const websocket_welcome& welcome) : loop_(loop), how_(welcome) {}

  /// Returns null if the client has gone before.
  loop::task<std::unique_ptr<net::message_port>> run(std::unique_ptr<net::stream> stream) {
    handler answer = [this](exchange& exchange) { return this->answer(exchange); };
    refusal refuse = [](int /*status*/, const error& why, const net::peer_info& /*of*/) {
      return std::pair(describe(why) + "\n", std::string("text/plain"));
    };
    server_connection serving(std::move(stream));
    const handlers handlers{std::move(answer), std::move(refuse)};
    co_await serving.serve(handlers);
    co_return std::move(made_);
  }

 private:
  loop::task<> answer(exchange& exchange) {
    if (!how_.target.empty() && exchange.request().target != how_.target) {
      exchange.respond(404, "text/plain", "the WebSocket is at " + how_.target + "\n");
      co_return;
    }
    if (!asks_for_websocket(exchange)) {
      answer_head head{.status = 426,
                       .fields = {{"Upgrade", "websocket"},
                                  {"Connection", "Upgrade"},
                                  {"Content-Type", "text/plain"}},
                       .length = {}};
      exchange.respond(std::move(head), "only WebSockets are served here\n");
      co_return;
    }
    auto how = how_;
    if (how_.before) {
      auto chosen = co_await how_.before(exchange.request());
      if (!chosen) {
        exchange.respond(503, "text/plain", "it cannot be opened now\n");
        co_return;
      }
      how.settings.protocols.clear();
      if (!chosen->empty()) how.settings.protocols.push_back(std::move(*chosen));
    }
    made_ = open_websocket_port(loop_, exchange, how);
  }

  loop::loop& loop_;
  const websocket_welcome& how_;
  std::unique_ptr<net::message_port> made_;
};

}  // namespace

std::unique_ptr<net::message_port> open_websocket_port(loop::loop& loop, exchange& exchange,
                                                       const websocket_welcome& welcome) {
  auto opened = open_websocket(exchange, welcome.settings);
  if (!opened) return nullptr;
  const websocket_port::settings how{.side = proto::websocket_role::server,
                                     .max_message = welcome.max_message,
                                     .ping = welcome.ping,
                                     .is_binary = welcome.is_binary};
  return std::make_unique<websocket_port>(loop, std::move(opened->channel), how, opened->deflate);
}

result<void> check_wishes(const websocket_wishes& wishes) {
  for (const auto& [name, value] : wishes.fields) {
    if (!is_of_the_opening(name)) continue;
    return failure(errc::invalid_argument, "send the header field '" + name + "'",
                   "the client itself sets this field if needed", "leave it out");
  }
  const auto& names = wishes.protocols;
  for (auto each = names.begin(); each != names.end(); ++each) {
    if (proto::is_token(*each) && std::find(names.begin(), each, *each) == each) continue;
    return failure(errc::invalid_argument, "offer the subprotocol '" + *each + "'",
                   "subprotocols must be tokens, each named once",
                   "write it with letters, digits and signs, such as 'chat.v1'");
  }
  return {};
}

loop::task<result<std::unique_ptr<net::message_port>>> connect_websocket(
    loop::loop& loop, std::unique_ptr<net::stream> stream, net::endpoint_url url,
    websocket_wishes wishes, loop::time_point limit) {
  const auto text = url.text();
  auto opening = open(loop, std::move(stream), std::move(url), std::move(wishes));
  auto opened = co_await loop::within(loop, std::move(opening), limit);
  if (!opened) {
    co_return failure(errc::timed_out, "open a WebSocket at " + text,
                      "the server did not answer the request in time",
                      "raise --connect-timeout, or check that it speaks WebSocket");
  }
  co_return std::move(*opened);
}

loop::task<result<std::unique_ptr<net::message_port>>> accept_websocket(
    loop::loop& loop, std::unique_ptr<net::stream> stream, websocket_welcome welcome,
    loop::time_point limit) {
  const auto from = stream->peer().address.text();
  admission admitting(loop, welcome);
  auto admitted = co_await loop::within(loop, admitting.run(std::move(stream)), limit);
  if (!admitted) {
    co_return failure(errc::timed_out, "open a WebSocket with " + from,
                      "the client did not request one in time");
  }
  if (!*admitted) {
    co_return failure(errc::connection_closed, "open a WebSocket with " + from,
                      "the client disconnected without a valid request for one");
  }
  co_return std::move(*admitted);
}

}  // namespace strata::http
