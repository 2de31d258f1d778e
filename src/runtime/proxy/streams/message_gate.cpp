#include "runtime/proxy/streams/message_gate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "http/websocket_port.hpp"
#include "loop/names/network.hpp"
#include "proto/token.hpp"
#include "runtime/proxy/admission/admission.hpp"
#include "runtime/proxy/heads/field_rule.hpp"
#include "runtime/proxy/heads/forwarding.hpp"
#include "runtime/proxy/streams/bridge.hpp"
#include "runtime/refusals.hpp"

namespace strata::runtime::proxy {

using namespace std::chrono_literals;

namespace {

// Messages that may be queued while a session's backend is found.
constexpr std::size_t most_messages_waiting = 64;
constexpr std::size_t most_bytes_waiting = 256U << 10U;
// Senders without a connection do not signal that they have gone.
constexpr loop::duration usual_session = 30s;

std::string_view unpadded(std::string_view text) {
  constexpr std::string_view blanks = " \t";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) + 1 - first);
}

}  // namespace

class message_gate::session final : public bond {
 public:
  session(message_gate& owner, front& front, const loop::socket_address& client)
      : bond(owner.means_.bonds),
        owner_(owner),
        at_(front),
        client_(client),
        changed_(owner.loop_) {
    at_.sessions.emplace(client_, this);
  }
  ~session() override { at_.sessions.erase(client_); }

  void break_off() override {
    is_over_ = true;
    changed_.notify();
  }

  void send(byte_span message) {
    note_passed(true, tapped_form::message, message);
    counted().messages_in.add();
    counted().bytes_in.add(message.size());
    if (port_) {
      pass(message);
    } else if (waiting_.size() < most_messages_waiting &&
               waiting_bytes_ + message.size() <= most_bytes_waiting) {
      waiting_bytes_ += message.size();
      waiting_.emplace_back(as_text(message));
    } else {
      counted().drop_message(drop::connection);
    }
  }

  loop::task<> run() {
    net::peer_info client{.address = client_, .local = {}};
    auto found = co_await owner_.find_port(std::move(client), owner_.opening_of({}));
    if (!found) co_return;
    use_ = &found->use;
    port_ = std::move(found->port);
    for (const auto& each : std::exchange(waiting_, {})) pass(as_bytes(each));
    receiving_.spawn(receive());
    for (bool is_over = false; !is_over;) {
      const auto limit = last_active() + timeout();
      if (loop().now() >= limit) break;
      is_over = co_await changed_.wait([this] { return is_over_; }, limit);
    }
    receiving_.cancel();
    use_->note(true);
  }

 private:
  [[nodiscard]] client_report client() const override {
    return {.address = client_.text(),
            .protocol = client_.family() == AF_PACKET ? "l2" : "udp",
            .waiting = waiting_bytes_};
  }
  [[nodiscard]] std::string backend() const override {
    return use_ == nullptr ? std::string() : std::string(use_->of()->is.text);
  }
  [[nodiscard]] loop::duration timeout() const {
    const auto wanted = owner_.means_.options.idle_timeout;
    return wanted > 0 ? loop::from_seconds(wanted) : usual_session;
  }

  void pass(byte_span message) {
    if (message.size() > port_->max_size()) {
      counted().drop_message(drop::too_large);
    } else if (port_->unsent() > owner_.means_.options.max_buffer || !port_->offer(message)) {
      counted().drop_message(drop::slow_client);
    }
  }

  void answer(byte_span message) {
    note_passed(false, tapped_form::message, message);
    use_->note(true);
    if (message.size() > at_.over->max_size()) {
      counted().drop_message(drop::too_large);
    } else if (at_.over->send(client_, loop::slice::copy_of(message))) {
      counted().messages_out.add();
      counted().bytes_out.add(message.size());
    } else {
      counted().drop_message(drop::slow_client);
    }
  }

  loop::task<> receive() {
    net::message_port::receiver receiver{
        .on_bytes = [](std::size_t) {},
        .on_message = [this](byte_span message) { answer(message); },
        .on_trouble =
            [this](const error& why, bool /*is_new*/) {
              counted().errors.add();
              if (!is_nobody_there(why)) return;
              use_->note(false);
              break_off();
            },
        .on_notice = [](bool, const std::string&) {},
        .room = {},
        .receives_empty = true};
    const auto why = co_await port_->receive(std::move(receiver));
    // A backend that ends a stream in good order has served.
    if (why.code != errc::connection_closed) use_->note(false);
    break_off();
  }

  message_gate& owner_;
  front& at_;
  loop::socket_address client_;
  loop::condition changed_;
  std::deque<std::string> waiting_;  // queued until there is a backend
  std::size_t waiting_bytes_ = 0;
  bool is_over_ = false;
  backend_use* use_ = nullptr;  // set while it runs
  std::unique_ptr<net::message_port> port_;
  loop::task_group receiving_;
};

void message_gate::add(std::unique_ptr<net::datagram> datagram) {
  datagram->take_large();
  fronts_.push_back({.over = std::move(datagram), .sessions = {}});
  receiving_.spawn(receive(fronts_.back()));
}

// Sessions leave their front while it still exists.
void message_gate::end() {
  receiving_.cancel();
  serving_.cancel();
}

loop::task<> message_gate::receive(front& front) {
  front.over->on_notice([this](bool is_trouble, const std::string& text) {
    means_.log.write(is_trouble ? level::error : level::info, text);
  });
  for (;;) {
    const auto got = co_await front.over->receive();
    if (got.result == -ENODEV) {
      means_.bonds.counted.errors.add();
      means_.log.write(level::error, "the interface was removed: what it carried has ended");
      co_return;
    }
    if (got.result < 0) {
      means_.bonds.counted.errors.add();
      co_await loop_.sleep(10ms);
      continue;
    }
    take(front, got);
  }
}

void message_gate::take(front& front, const net::datagram::arrival& arrival) {
  if (!front.sessions.contains(arrival.from)) {
    if (is_silent_ || !means_.admits(arrival.from)) return;
    auto place = means_.connections.enter(means_.options.max_connections);
    if (!place) {
      means_.bonds.counted.connections_refused.add();
      note_refusal(means_.bonds.counted, means_.log, arrival.from, refusal::limit,
                   "the limit of --max-connections is reached");
      return;
    }
    serving_.spawn(serve_sender(front, arrival.from, std::move(place)));
  }
  const auto known = front.sessions.find(arrival.from);
  if (known != front.sessions.end()) known->second->send(arrival.data.bytes());
}

loop::task<> message_gate::serve_sender(front& front, loop::socket_address client,
                                        [[maybe_unused]] serve::connection_gauge::place place) {
  session with(*this, front, client);
  means_.on_begun(with);
  co_await with.run();
}

loop::task<> message_gate::serve(std::unique_ptr<net::stream> client, bool is_websocket) {
  const auto peer = client->peer();
  const bool is_secure = client->tls() != nullptr;
  const auto protocol = !is_websocket ? client->transport() : is_secure ? "wss" : "ws";
  std::optional<result<opened_port>> found;
  std::unique_ptr<net::message_port> port;
  if (is_websocket) {
    port = co_await welcome(std::move(client), found);
  } else {
    port = net::make_message_port(loop_, {std::move(client), nullptr},
                                  proto::framing_of(means_.options.framing),
                                  means_.options.max_message);
    found = co_await find_port(peer, opening_of({}));
  }
  if (!port) co_return;
  if (!*found) {
    port->break_off();
    co_return;
  }
  auto& use = (*found)->use;
  // A backend that only listens is silent for long: an established connection has to count as a
  // success.
  if (use.is_trial()) use.note(true);
  bridge::ends ends{.client = peer, .protocol = protocol, .backend = use.of()->is.text};
  bridge joined(means_.bonds, std::move(ends), std::move(port), std::move((*found)->port),
                means_.options.max_buffer, [&use](bool is_good) { use.note(is_good); });
  means_.on_begun(joined);
  co_await joined.run();
}

loop::task<std::unique_ptr<net::message_port>> message_gate::welcome(
    std::unique_ptr<net::stream> client, std::optional<result<opened_port>>& stream) {
  const auto from = client->peer().address.text();
  const auto before = [this, peer = client->peer(), is_secure = client->tls() != nullptr,
                       &stream](const proto::http_request& request) {
    return find_for(request, peer, is_secure, stream);
  };
  http::websocket_welcome how{
      .settings = {}, .target = {}, .max_message = means_.options.max_message, .before = before};
  const auto limit = loop_.now() + loop::from_seconds(means_.options.handshake_timeout);
  auto opened = co_await http::accept_websocket(loop_, std::move(client), std::move(how), limit);
  if (opened) co_return std::move(*opened);
  // It was already reported that there is no backend.
  if (stream && !*stream) co_return nullptr;
  means_.bonds.counted.errors.add();
  means_.log.write_few(
      "no WebSocket", level::warning,
      fmt::format("client {} has opened no WebSocket: {}", from, describe(opened.error())));
  co_return nullptr;
}

loop::task<result<std::string>> message_gate::find_for(const proto::http_request& request,
                                                       net::peer_info client, bool is_secure,
                                                       std::optional<result<opened_port>>& port) {
  auto how = opening_for(request, client, is_secure);
  port = co_await find_port(std::move(client), std::move(how));
  if (!*port) co_return std::unexpected(port->error());
  co_return std::string((*port)->port->subprotocol());
}

message_gate::opening message_gate::opening_for(const proto::http_request& request,
                                                const net::peer_info& client, bool is_secure) {
  std::vector<loop::network> trusted;
  trusted.reserve(means_.options.trust.size());
  for (const auto& each : means_.options.trust) trusted.push_back(*loop::network::parse(each));
  const forwarding how{.client = host_of(client.address),
                       .is_secure = is_secure,
                       .is_trusted = loop::is_in(trusted, client.address),
                       .pseudonym = pseudonym_,
                       .backend_host = "localhost",
                       .websocket_key = {},
                       .says_forwarded = means_.options.forwarded};
  auto made = forward(request, how);
  return opening_of(made ? std::move(made->fields) : proto::http_fields{});
}

message_gate::opening message_gate::opening_of(proto::http_fields fields) const {
  change(fields, field_rules_of(means_.options.request_header));
  opening made;
  if (const auto offered = proto::find_field(fields, "sec-websocket-protocol")) {
    for (std::string_view rest = *offered; !rest.empty();) {
      const auto end = std::min(rest.find(','), rest.size());
      const auto one = unpadded(rest.substr(0, end));
      const bool is_new = std::ranges::find(made.protocols, one) == made.protocols.end();
      if (proto::is_token(one) && is_new) made.protocols.emplace_back(one);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  std::erase_if(fields, [](const auto& each) { return http::is_of_the_opening(each.first); });
  made.fields = std::move(fields);
  return made;
}

void message_gate::report_no_backend(const net::peer_info& client, const error& why) {
  means_.bonds.counted.errors.add();
  means_.log.write_few(
      "no backend", level::error,
      fmt::format("client {} found no backend: {}", client.address.text(), describe(why)));
}

loop::task<result<message_gate::opened_port>> message_gate::find_port(net::peer_info client,
                                                                      opening opening) {
  std::function<loop::task<>()> nobody_leaves;
  auto found = co_await means_.open_backend(client, std::move(nobody_leaves));
  if (!found) {
    report_no_backend(client, found.error());
    co_return std::unexpected(found.error());
  }
  auto port = co_await port_to(*found->use.of(), std::move(found->over), std::move(opening));
  if (!port) {
    found->use.note_unreached(port.error());
    report_no_backend(client, port.error());
    co_return std::unexpected(port.error());
  }
  co_return opened_port{std::move(found->use), std::move(*port)};
}

loop::task<result<std::unique_ptr<net::message_port>>> message_gate::port_to(
    const backend& backend, net::connection connection, opening opening) {
  const auto& options = means_.options;
  if (connection.messages) connection.messages->take_large();
  if (!connection.bytes || !backend.is.url.is_web()) {
    co_return net::make_message_port(loop_, std::move(connection),
                                     proto::framing_of(options.framing), options.max_message);
  }
  http::websocket_wishes wishes{.fields = std::move(opening.fields),
                                .protocols = std::move(opening.protocols),
                                .max_message = options.max_message};
  const auto limit = loop_.now() + loop::from_seconds(options.connect_timeout);
  auto opened = co_await http::connect_websocket(loop_, std::move(connection.bytes), backend.is.url,
                                                 std::move(wishes), limit);
  co_return opened;
}

}  // namespace strata::runtime::proxy
