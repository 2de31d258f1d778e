#include "runtime/client/connection.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "http/field.hpp"
#include "http/websocket_port.hpp"
#include "loop/within.hpp"
#include "net/connector.hpp"
#include "net/ethernet/link_watch.hpp"
#include "runtime/client/connection_script.hpp"
#include "runtime/rate_limiter.hpp"
#include "runtime/tls_identity.hpp"

namespace strata::runtime::client {

using namespace std::chrono_literals;

namespace {

/// Empty where the endpoint has no port.
std::string place_of(const net::endpoint_url& url) {
  if (!url.has_port()) return {};
  const bool is_ipv6 = url.host.contains(':');
  return is_ipv6 ? fmt::format("[{}]:{}", url.host, url.port)
                 : fmt::format("{}:{}", url.host, url.port);
}

}  // namespace

connection::connection(loop::loop& loop, client_options options, const context& context,
                       serve::connection_gauge& gauge, const std::atomic<bool>& hurried,
                       end_listener on_end, std::shared_ptr<scripting::shared_store> shared)
    : loop_(loop),
      options_(std::move(options)),
      url_(*net::parse_endpoint(options_.endpoint())),
      names_(context.names),
      framing_(proto::framing_of(options_.framing)),
      log_(context.log),
      messages_(context.messages),
      tap_(context.tap),
      name_(context.name),
      gauge_(gauge),
      hurried_(hurried),
      on_end_(std::move(on_end)),
      backoff_(options_.reconnect_seed) {
  if (options_.lua.empty()) return;
  scripting::identity who{context.name, "client", context.log, std::move(shared), context.others};
  script_ = std::make_unique<connection_script>(*this, loop, options_, std::move(who));
}

connection::~connection() = default;

loop::task<result<void>> connection::open(std::vector<net::bind_target>& /*targets*/) {
  if (!options_.write.empty()) {
    auto opened = file_sink::open(loop_, options_.write, [this](const std::string& why) {
      counters_.errors.add();
      log_->write(level::error, why);
    });
    if (!opened) co_return std::unexpected(opened.error());
    file_ = std::move(*opened);
  }
  if (auto ready = read_certificates(); !ready) co_return std::unexpected(ready.error());
  if (script_) {
    if (auto opened = script_->open(); !opened) co_return opened;
    if (auto begun = script_->begin(); !begun) co_return begun;
  }
  if (!options_.reconnect) {
    auto first = co_await loop::within(loop_, connect(), loop::time_point::max(), &hurried_);
    if (!first) co_return failure(errc::canceled, "connect to " + url_.text(), "it was stopped");
    if (!*first && !is_awaited(first->error())) co_return *first;
  }
  tasks_.spawn(keep());
  co_return result<void>{};
}

// Skipped for a client that needs no certificates: reading the system's authorities takes a tenth
// of a second.
result<bool> connection::read_certificates() {
  const bool may_need_them = url_.scheme->is_secure || url_.scheme->form == net::url_form::name;
  if (!may_need_them) return false;
  auto secure = read_client_tls(options_);
  if (!secure) return std::unexpected(secure.error());
  secure_.set(std::move(*secure));
  return url_.scheme->is_secure || !options_.ca.empty() || !options_.client_cert.empty();
}

loop::task<> connection::close(loop::time_point limit) {
  limit = std::min(limit, loop_.now() + 5s);
  if (script_) co_await script_->end(limit);
  (void)co_await loop::within(loop_, deliver(limit), loop::time_point::max(), &hurried_);
  tasks_.cancel();
  end_connection();
}

loop::task<bool> connection::deliver(loop::time_point limit) {
  if (port_) {
    port_->end();
    co_await port_->flushed(limit);
  }
  if (file_) co_await file_->flushed(limit);
  co_return true;
}

// A missing interface is waited for, whatever the options for connections say.
bool connection::is_awaited(const error& why) const {
  return url_.is_ethernet() && (why.code == errc::not_found || why.sys_errno == ENODEV);
}

loop::task<> connection::keep() {
  constexpr auto longest_look = 1s;
  for (bool was_awaited = false;;) {
    ending last;
    if (!port_) {
      auto made = co_await connect();
      if (!made) last = {describe(made.error()), is_awaited(made.error())};
    }
    if (port_) {
      auto ended = co_await receive();
      last = std::move(ended);
      was_awaited = false;
    }
    end_connection();
    const auto& why = last.why;
    if (last.is_awaited) {
      const bool is_reported = std::exchange(was_awaited, true);
      if (!is_reported) log_->write(level::error, why + "; connecting resumes when it appears");
      co_await net::link_comes(loop_, url_.host, longest_look);
      continue;
    }
    if (!options_.reconnect) {
      on_end_(why, true);
      co_return;
    }
    const auto wait = backoff_.next(options_.reconnect_min, options_.reconnect_max);
    if (*options_.reconnect != 0 && backoff_.failures() > *options_.reconnect) {
      on_end_(fmt::format("{} (gave up after {} attempts)", why, *options_.reconnect), false);
      co_return;
    }
    log_->write(level::warning, fmt::format("{}; next attempt in {:.1f} s", why,
                                            std::chrono::duration<double>(wait).count()));
    if (url_.is_ethernet()) {
      co_await net::link_comes(loop_, url_.host, wait);
    } else {
      co_await loop_.sleep(wait);
    }
  }
}

loop::task<result<void>> connection::connect() {
  net::connecting how{.timeout = loop::from_seconds(options_.connect_timeout),
                      .names = &names_,
                      .secure = secure_.get()};
  auto made = co_await net::connect(loop_, url_, std::move(how));
  if (!made) {
    counters_.errors.add();
    co_return std::unexpected(made.error());
  }
  if (!url_.is_web()) {
    port_ = net::make_message_port(loop_, std::move(*made), framing_, options_.max_message);
  } else {
    auto opened = co_await open_websocket(std::move(made->bytes));
    if (!opened) {
      counters_.errors.add();
      co_return std::unexpected(opened.error());
    }
    port_ = std::move(*opened);
  }
  begin_connection();
  co_return result<void>{};
}

loop::task<result<std::unique_ptr<net::message_port>>> connection::open_websocket(
    std::unique_ptr<net::stream> stream) {
  http::websocket_wishes wishes{.fields = {},
                                .protocols = options_.ws_protocol,
                                .is_deflated = options_.ws_deflate == "on",
                                .max_message = options_.max_message,
                                .ping = loop::from_seconds(options_.ws_ping)};
  for (const auto& each : options_.header) wishes.fields.push_back(*http::parse_field(each));
  const auto limit = options_.connect_timeout == 0
                         ? loop::time_point::max()
                         : loop_.now() + loop::from_seconds(options_.connect_timeout);
  return http::connect_websocket(loop_, std::move(stream), url_, std::move(wishes), limit);
}

void connection::begin_connection() {
  backoff_.succeeded();
  place_ = gauge_.enter(0);
  log_->write(level::info, "connected to " + url_.text());
  for (const auto& each : queue_) push(as_bytes(each));
  queue_.clear();
  if (script_) script_->on_connected();
}

void connection::end_connection() {
  if (script_ && port_) script_->on_disconnected();
  place_ = {};
  if (port_ && port_->unsent() != 0) {
    counters_.drop_message(drop::connection);
    log_->write(level::error,
                fmt::format("the connection ended before {} bytes were sent", port_->unsent()));
  }
  port_.reset();
}

// Receives until the connection ends; returns why it did.
loop::task<connection::ending> connection::receive() {
  net::message_port::receiver receiver{
      .on_bytes = [this](std::size_t count) { counters_.bytes_in.add(count); },
      .on_message = [this](byte_span message) { on_message(message); },
      .on_trouble =
          [this](error failed, bool is_new) {
            counters_.errors.add();
            if (!is_new) return;
            failed.operation += " from " + url_.text();
            failed.remedy = "check that a server listens there";
            log_->write(level::warning, describe(failed));
          },
      .on_notice =
          [this](bool is_trouble, const std::string& text) {
            if (is_trouble) counters_.errors.add();
            log_->write(is_trouble ? level::warning : level::info, text);
          },
      .on_loss =
          [this](const net::message_port::losses& lost) {
            counters_.errors.add(lost.unsent);
            counters_.drop_message(drop::refused, lost.unsent);
            counters_.drop_message(drop::kernel, lost.unreceived);
          },
      .room = {},
  };
  if (script_) receiver.room = [this] { return script_->handled(); };
  const auto why = co_await port_->receive(std::move(receiver));
  if (why.code == errc::limit_exceeded) {
    counters_.drop_message(drop::too_large);
    counters_.errors.add();
    co_return ending{describe(why), false};
  }
  if (why.code == errc::connection_closed && why.sys_errno == 0) {
    co_return ending{fmt::format("{} closed the connection", url_.text()), false};
  }
  co_return ending{fmt::format("the connection to {} broke: {}", url_.text(), describe(why)),
                   is_awaited(why)};
}

void connection::on_message(byte_span message) {
  counters_.messages_in.add();
  counters_.rate_in.add(second_of(loop_.now()), 1);
  if (tap_->is_open()) show(false, message);
  if (options_.mode == "out") {
    counters_.drop_message(drop::mode);
    return;
  }
  if (!is_within_limit()) return;
  if (file_ && !file_->append(message)) counters_.drop_message(drop::file);
  if (!messages_->idle()) messages_->write(level::info, std::string(as_text(message)));
  if (script_ && !script_->on_message(message)) counters_.drop_message(drop::script);
}

bool connection::is_within_limit() {
  const auto now = loop_.now().time_since_epoch().count();
  if (admit(rate_due_, now, options_.global_rate_limit)) return true;
  counters_.drop_message(drop::global_rate_limit);
  return false;
}

void connection::show(bool is_outgoing, byte_span message) {
  tap_->write(tapped_form::message, is_outgoing,
              {.address = place_of(url_),
               .sender = is_outgoing ? name_ : url_.text(),
               .receiver = is_outgoing ? url_.text() : name_,
               .protocol = url_.scheme->name},
              message);
}

// Reports whether there was room for it.
bool connection::push(byte_span message) {
  const auto sent = port_->offer(message);
  if (!sent) {
    counters_.drop_message(port_->is_up() ? drop::slow_client : drop::link);
    return false;
  }
  if (tap_->is_open()) show(true, message);
  counters_.messages_out.add();
  counters_.bytes_out.add(*sent);
  counters_.rate_out.add(second_of(loop_.now()), 1);
  return true;
}

result<send_outcome> connection::send(byte_span message) {
  const std::string operation = "send to " + url_.text();
  if (options_.mode == "in") {
    return failure(errc::conflict, operation, "the client's mode is 'in': it only receives",
                   "change it with 'strata edit NAME --mode inout'");
  }
  const auto limit = port_ ? std::min<std::uint64_t>(options_.max_message, port_->max_size())
                           : options_.max_message;
  if (message.size() > limit) {
    return failure(errc::limit_exceeded, operation,
                   fmt::format("the message has {} bytes, more than {}", message.size(), limit),
                   limit == options_.max_message ? "raise --max-message"
                                                 : "send shorter messages: its endpoint takes no "
                                                   "longer ones");
  }
  if (port_) {
    const auto unsent = port_->unsent();
    if (url_.is_stream() && unsent + message.size() > options_.max_buffer) {
      counters_.drop_message(drop::slow_client);
      return failure(errc::limit_exceeded, operation,
                     fmt::format("{} bytes already wait for the peer to read them", unsent),
                     "send more slowly or raise --max-buffer");
    }
    port_->flush();  // messages sent before
    const bool is_taken = push(message);
    if (is_taken && port_->flush() == 0) return send_outcome{.delivered = 1};
    if (!port_->is_up()) {
      return failure(errc::conflict, operation, "its interface is down, or has no carrier",
                     "check that both ends are up: ip link");
    }
    if (is_taken) {
      return failure(errc::limit_exceeded, operation, "the kernel refused the message",
                     "send more slowly, or check the queue with: tc -s qdisc");
    }
    return failure(errc::limit_exceeded, operation, "too many messages wait to be sent",
                   "send more slowly");
  }
  if (queue_.size() < options_.queue) {
    queue_.emplace_back(as_text(message));
    return send_outcome{.queued = 1};
  }
  return failure(errc::conflict, operation,
                 options_.queue == 0 ? "it is not connected"
                                     : fmt::format("it is not connected and its queue is full ({})",
                                                   options_.queue),
                 options_.queue == 0 ? "wait, or keep messages with --queue N" : "raise --queue");
}

}  // namespace strata::runtime::client
