#include "runtime/scripting/script_connection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "http/websocket_port.hpp"
#include "runtime/runtime_service.hpp"
#include "runtime/scripting/options_table.hpp"

namespace strata::runtime::scripting {

using namespace std::chrono_literals;
using script::answers;
using script::call;

namespace {

constexpr double usual_connect_ms = 5000;
constexpr double usual_max_message = 1U << 20U;
constexpr double most_max_message = 64U << 20U;
constexpr std::size_t most_waiting_bytes = 256U << 10U;  // queued before the peer is held back
constexpr std::size_t most_waiting_messages = 1000;
constexpr std::size_t most_unsent_bytes = 4U << 20U;
constexpr auto farewell = 2s;
// Values that scripts compare with.
constexpr const char* has_closed = "closed";
constexpr const char* timed_out = "timeout";

answers nothing_for(std::string why) {
  return std::vector<nlohmann::json>{nullptr, std::move(why)};
}

// The socket closes once everything is sent.
loop::task<> deliver(loop::loop& loop, std::shared_ptr<net::message_port> port) {
  port->end();
  co_await port->flushed(loop.now() + farewell);
}

}  // namespace

script_connection::script_connection(loop::loop& loop, net::directory* names, script_wishes wishes)
    : loop_(loop), names_(names), how_(std::move(wishes)), changed_(loop) {}

script_connection::~script_connection() { script_connection::close(); }

void script_connection::close() {
  tasks_.cancel();
  if (!end_) end_ = has_closed;
  arrived_.clear();
  unfinished_.clear();
  trouble_.clear();
  bytes_ = 0;
  changed_.notify();
  if (port_) loop_.spawn(deliver(loop_, std::exchange(port_, nullptr)));
}

loop::task<result<std::unique_ptr<net::message_port>>> script_connection::open_port() {
  net::connecting how{.timeout = how_.timeout, .names = names_};
  if (how_.url.scheme->is_secure) {
    auto secure = net::tls_context::for_client(how_.tls);
    if (!secure) co_return std::unexpected(secure.error());
    how.secure = std::move(*secure);
  }
  const auto limit = loop_.now() + how_.timeout;
  auto made = co_await net::connect(loop_, how_.url, std::move(how));
  if (!made) co_return std::unexpected(made.error());
  if (how_.url.is_web()) {
    http::websocket_wishes wishes{.fields = {}, .protocols = {}, .max_message = how_.max_message};
    co_return co_await http::connect_websocket(loop_, std::move(made->bytes), how_.url,
                                               std::move(wishes), limit);
  }
  if (made->messages) made->messages->take_large();
  co_return net::make_message_port(loop_, std::move(*made),
                                   how_.framing.value_or(proto::framing::raw), how_.max_message);
}

loop::task<result<void>> script_connection::open() {
  auto made = co_await open_port();
  if (!made) co_return std::unexpected(made.error());
  if (end_) {
    co_return failure(errc::canceled, "connect to " + how_.url.text(), "the script was ended");
  }
  port_ = std::move(*made);
  tasks_.spawn(receive_all());
  co_return result<void>{};
}

result<void> script_connection::push(byte_span message) {
  const auto refuse = [this](errc code, std::string why) {
    return failure(code, "send to " + how_.url.text(), std::move(why));
  };
  if (!port_ || end_) return refuse(errc::connection_closed, end_.value_or(has_closed));
  if (message.size() > port_->max_size()) {
    return refuse(errc::invalid_argument,
                  fmt::format("the message has {} bytes, and {} is the most", message.size(),
                              port_->max_size()));
  }
  if (unsent() != 0 && unsent() + message.size() > most_unsent_bytes) {
    return refuse(errc::limit_exceeded,
                  fmt::format("{} bytes already wait for the peer to read them", unsent()));
  }
  if (!port_->offer(message)) return refuse(errc::limit_exceeded, "there is no room for it");
  return {};
}

loop::task<std::optional<std::string>> script_connection::next() {
  const auto here = self();
  co_await changed_.wait([this] { return !arrived_.empty() || end_; });
  co_return take();
}

loop::task<> script_connection::room() {
  const auto port = port_;
  if (port) co_await port->flushed(loop::time_point::max());
}

loop::task<> script_connection::receive_all() {
  net::message_port::receiver receiver{
      .on_bytes = [](std::size_t) {},
      .on_message = [this](byte_span message) { on_message(message); },
      .on_trouble =
          [this](const error& why, bool) {
            trouble_ = describe(why);
            changed_.notify();
          },
      .on_notice = [](bool, const std::string&) {},
      .room = [this] { return await_room(); },
  };
  const auto why = co_await port_->receive(std::move(receiver));
  const bool is_clean = why.code == errc::connection_closed && why.sys_errno == 0;
  end_ = is_clean ? has_closed : describe(why);
  changed_.notify();
}

loop::task<> script_connection::await_room() {
  [[maybe_unused]] const bool has_room = co_await changed_.wait(
      [this] { return bytes_ < most_waiting_bytes && arrived_.size() < most_waiting_messages; });
}

void script_connection::on_message(byte_span message) {
  bytes_ += message.size();
  arrived_.emplace_back(as_text(message));
  changed_.notify();
}

bool script_connection::has_lines() const {
  return how_.url.is_stream() && !how_.url.is_web() && !how_.framing;
}

std::optional<std::string> script_connection::take() {
  if (!unfinished_.empty()) return std::exchange(unfinished_, {});
  if (arrived_.empty()) return std::nullopt;
  auto first = std::move(arrived_.front());
  arrived_.pop_front();
  bytes_ -= first.size();
  changed_.notify();
  return first;
}

// Returns a line without its end, LF or CR LF; the last line may have none.
std::optional<std::string> script_connection::take_line() {
  while (!arrived_.empty()) {
    auto& first = arrived_.front();
    const auto end = first.find('\n');
    if (unfinished_.size() + std::min(end, first.size()) > how_.max_message) {
      close();
      end_ = fmt::format("a line is longer than {} bytes: raise max_message", how_.max_message);
      return std::nullopt;
    }
    unfinished_.append(first, 0, end);
    const auto used = end == std::string::npos ? first.size() : end + 1;
    bytes_ -= used;
    first.erase(0, used);
    if (first.empty()) arrived_.pop_front();
    changed_.notify();
    if (end == std::string::npos) continue;
    if (unfinished_.ends_with('\r')) unfinished_.pop_back();
    return std::exchange(unfinished_, {});
  }
  if (end_ && !unfinished_.empty()) return std::exchange(unfinished_, {});
  return std::nullopt;
}

answers script_connection::answer_of(std::optional<std::string> text) {
  if (text) return std::vector<nlohmann::json>{std::move(*text)};
  if (end_) return nothing_for(*end_);
  if (!trouble_.empty()) return nothing_for(std::exchange(trouble_, {}));
  return nothing_for(timed_out);
}

loop::task<answers> script_connection::await_message(owned self, loop::time_point limit,
                                                     bool is_line) {
  auto& here = *self;
  const auto is_over = [&here] { return here.end_ || !here.trouble_.empty(); };
  const auto has_come = [&] { return !here.arrived_.empty() || is_over(); };
  for (bool may_wait = true;;) {
    auto taken = is_line ? here.take_line() : here.take();
    if (taken || !may_wait || is_over()) co_return here.answer_of(std::move(taken));
    may_wait = co_await here.changed_.wait(has_come, limit);
  }
}

loop::task<answers> script_connection::await_sent(owned self, loop::time_point limit) {
  auto& here = *self;
  const auto port = here.port_;
  if (port) co_await port->flushed(limit);
  if (here.end_) co_return nothing_for(*here.end_);
  if (port->unsent() != 0) co_return nothing_for(timed_out);
  co_return std::vector<nlohmann::json>{true};
}

loop::time_point script_connection::limit_of(const call& call, int index) const {
  if (!call.has(index)) return loop::time_point::max();
  return loop_.now() + loop::from_seconds(std::max(call.number(index), 0.0));
}

// --- what scripts call

void script_connection::send(call& call) {
  const auto taken = push(as_bytes(call.text(0)));
  if (!taken) return call.refuse(taken.error().reason);
  call.give(true);
}

loop::task<answers> script_connection::receive(call& call) {
  return await_message(self(), limit_of(call, 0), false);
}

loop::task<answers> script_connection::receive_line(call& call) {
  if (!has_lines()) {
    call.fail("it has messages, not lines: call receive");
    return {};
  }
  return await_message(self(), limit_of(call, 0), true);
}

loop::task<answers> script_connection::flush(call& call) {
  return await_sent(self(), limit_of(call, 0));
}

void script_connection::close_by(call& /*with*/) { close(); }

void script_connection::is_open(call& call) { call.give(port_ != nullptr && !end_); }

namespace {

// One entry per row.
// clang-format off
constexpr script::function_row connection_methods[] = {
    {"send", "bytes: string", "boolean?, string?",
     "sends a message or bytes; returns true, or nil and the reason, for example when 4 MiB "
     "already wait",
     script::method<&script_connection::send>},
    {"receive", "seconds?: number", "string?, string?",
     "the next message, or bytes of a stream; or nil and 'timeout', 'closed' or another reason",
     nullptr, script::method<&script_connection::receive>},
    {"receive_line", "seconds?: number", "string?, string?",
     "the next line of a stream, without its line end; or nil and the reason, as receive", nullptr,
     script::method<&script_connection::receive_line>},
    {"flush", "seconds?: number", "boolean?, string?", "waits until all has been sent", nullptr,
     script::method<&script_connection::flush>},
    {"close", "", "", "closes the connection after everything has been sent",
     script::method<&script_connection::close_by>},
    {"is_open", "", "boolean", "true while neither side has closed the connection",
     script::method<&script_connection::is_open>},
};
// clang-format on

loop::task<answers> opened(std::shared_ptr<script_connection> one) {
  auto done = co_await one->open();
  if (!done) co_return std::unexpected(done.error());
  co_return std::vector<nlohmann::json>{};
}

std::optional<std::string> trouble_with(const net::endpoint_url& url,
                                        const std::optional<std::string>& framing) {
  if (!url.scheme->has_messages) {
    return fmt::format("{} is for HTTP: use strata.http", url.text());
  }
  if (!framing) return std::nullopt;
  if (*framing != "line" && *framing != "length" && *framing != "raw") {
    return fmt::format("'{}' is not a framing: write line, length or raw", *framing);
  }
  if (url.is_stream() && !url.is_web()) return std::nullopt;
  return fmt::format("{} has messages of its own: leave framing out", url.text());
}

}  // namespace

const script::object_kind& connection_kind() {
  static constexpr script::object_kind kind{"connection", "what strata.connect returns",
                                            connection_methods};
  return kind;
}

loop::task<answers> connect_script(host& host, call& call) {
  script_wishes how;
  auto url = net::parse_connecting(call.text(0));
  if (!url) {
    call.fail(describe(url.error()));
    return {};
  }
  how.url = std::move(*url);
  if (how.url.scheme->form == net::url_form::path) {
    if (auto allowed = check_unix_path(host.rights(), how.url.path); !allowed) {
      call.fail(describe(allowed.error()));
      return {};
    }
  }
  options_table given(call, 1, {"framing", "timeout_ms", "max_message", "ca", "insecure"});
  const auto framing = given.text("framing");
  how.timeout = given.timeout(usual_connect_ms);
  how.max_message = static_cast<std::size_t>(
      std::clamp(given.number("max_message").value_or(usual_max_message), 1.0, most_max_message));
  how.tls = {.ca = given.text("ca").value_or(""), .is_insecure = given.truth("insecure")};
  if (auto trouble = trouble_with(how.url, framing)) given.refuse(std::move(*trouble));
  if (!given.is_good()) return {};
  if (framing && *framing != "raw") how.framing = proto::framing_of(*framing);
  auto* const others = host.who().others;
  auto made = std::make_shared<script_connection>(
      host.on(), others == nullptr ? nullptr : &others->names(), std::move(how));
  if (!call.give(connection_kind(), made)) return {};
  return opened(std::move(made));
}

}  // namespace strata::runtime::scripting
