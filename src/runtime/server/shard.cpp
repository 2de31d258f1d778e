#include "runtime/server/shard.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "loop/condition.hpp"
#include "loop/within.hpp"
#include "runtime/acceptor_settings.hpp"
#include "runtime/introducers.hpp"
#include "runtime/refusals.hpp"
#include "runtime/server/datagram_port.hpp"
#include "runtime/server/script/shard_script.hpp"
#include "runtime/server/session.hpp"
#include "runtime/web/http_serving.hpp"

namespace strata::runtime::server {

using namespace std::chrono_literals;

namespace {

// How long WebSockets may take to answer the close, if the server does not drain.
constexpr auto longest_farewell = 1s;

}  // namespace

shard::shard(std::shared_ptr<server_state> shared, loop::loop& loop, std::size_t number,
             server_options options, std::string name)
    : state_(std::move(shared)),
      loop_(loop),
      number_(number),
      options_(std::move(options)),
      framing_(proto::framing_of(options_.framing)),
      policy_(&policy_of(options_.mode)),
      deliveries_(*this, encoding_of(framing_)),
      site_(loop, options_),
      memory_(*this),
      acceptor_(loop, acceptor_settings()),
      name_(std::move(name)),
      cache_links_(*this) {}

// Members leave the shard while its own members still exist.
shard::~shard() {
  receiving_.cancel();
  acceptor_.stop_listening();
  acceptor_.end_connections();
}

serve::acceptor_settings shard::acceptor_settings() {
  auto made = counting_settings(state_->connections, counters_, *state_->log);
  made.most = [this] { return options_.max_connections; };
  made.serve = [this](auto connection, auto place, unsigned listener) {
    return receive_arrival(*this, std::move(connection), std::move(place),
                           static_cast<protocol>(listener));
  };
  made.introduces = introducing(options_.proxy_protocol);
  if (carries_http_alone()) made.refusal = http_refusal();
  made.handshake_limit = [this] { return loop::from_seconds(options_.handshake_timeout); };
  return made;
}

loop::task<result<void>> shard::open(std::vector<net::bind_target>& targets) {
  const auto on_error = [this](const std::string& why) {
    counters_.errors.add();
    state_->log->write(level::error, why);
  };
  if (auto opened = site_.open(on_error); !opened) co_return opened;
  if (!options_.write.empty()) {
    auto opened = file_sink::open(loop_, options_.write, on_error);
    if (!opened) co_return std::unexpected(opened.error());
    file_ = std::move(*opened);
  }
  for (auto& target : targets) {
    if (auto opened = open_target(target); !opened) co_return opened;
  }
  if (auto opened = open_script(); !opened) co_return opened;
  acceptor_.begin();
  for (auto& each : datagram_ports_) receiving_.spawn(each.run());
  co_return result<void>{};
}

result<void> shard::open_script() {
  if (options_.lua.empty()) return {};
  script_ = std::make_unique<shard_script>(
      *this, options_,
      scripting::identity{name_, "server", state_->log, state_->shared, state_->others});
  if (auto opened = script_->open(); !opened) return opened;
  return script_->begin();
}

bool shard::is_busy_with(const member& member) const {
  return script_ && script_->is_busy(member.id());
}

loop::task<> shard::handled(const member& member) {
  if (is_busy_with(member)) co_await script_->idle(member.id());
}

result<void> shard::open_target(net::bind_target& target) {
  // A Unix socket's path or an interface cannot be shared: one shard serves it.
  if (target.url.is_for_one() && number_ != 0) return {};
  auto opened = target.url.scheme->listen(loop_, target, {.share_port = state_->shards.size() > 1});
  const bool is_awaited =
      !opened && target.url.is_ethernet() && opened.error().code == errc::not_found;
  if (!opened && !is_awaited) return std::unexpected(opened.error());
  if (opened && opened->streams) {
    acceptor_.add(std::move(opened->streams), static_cast<unsigned>(protocol_of(target.url)),
                  target.url.scheme->is_secure ? state_->secure : nullptr);
  } else if (!target.url.is_ethernet()) {
    opened->messages->set_buffers({options_.receive_buffer, options_.send_buffer});
    datagram_ports_.emplace_back(*this, std::move(opened->messages));
  } else {
    const auto reopen = [this, where = target]() mutable -> result<std::unique_ptr<net::datagram>> {
      auto again = where.url.scheme->listen(loop_, where, {});
      if (!again) return std::unexpected(again.error());
      return std::move(again->messages);
    };
    datagram_ports_.emplace_back(*this, opened ? std::move(opened->messages) : nullptr,
                                 target.url.host, reopen);
  }
  return {};
}

bool shard::carries_http_alone() const {
  return std::ranges::all_of(options_.endpoints(), [this](const auto& text) {
    const auto url = net::parse_endpoint(text);
    return url && (!url->is_stream() || protocol_of(*url) == protocol::http);
  });
}

protocol shard::protocol_of(const net::endpoint_url& url) const {
  if (url.is_web() || options_.protocol == "http") return protocol::http;
  return options_.protocol == "raw" ? protocol::raw : protocol::automatic;
}

loop::task<> shard::stop_accepting() {
  for (auto& each : datagram_ports_) each.finish();
  return acceptor_.finish_listening();
}

void shard::stop_receiving() {
  silent_ = true;
  receiving_.cancel();
  acceptor_.stop_listening();
  for (auto& each : web_connections_) each.retire();
  deliveries_.send_to_shards();
}

result<void> shard::open_files_again() {
  if (file_) {
    if (auto opened = file_->open_again(); !opened) return opened;
  }
  return site_.open_log_again();
}

void shard::enter_web(http::served_connection& arrived) {
  web_connections_.push_back(arrived);
  arrived.id = next_id();
  arrived.came = arrived.last_whole = arrived.last_active = loop_.now();
  memory_.grew(0);
  if (silent_) arrived.retire();
}

loop::task<> shard::web_ended(loop::time_point limit) {
  loop::condition ended(loop_);
  const bool have_ended =
      co_await ended.wait([this] { return web_connections_.empty(); }, limit, 5ms);
  (void)have_ended;
}

loop::task<> shard::close(loop::time_point limit) {
  if (script_ && options_.drain) {
    (void)co_await loop::within(loop_, script_->answered(limit), limit, &state_->hurried);
  }
  if (script_) co_await script_->end(limit);
  (void)co_await loop::within(loop_, deliver(limit), loop::time_point::max(), &state_->hurried);
  // Messages of the last turn are sent before the connections end.
  co_await loop_.sleep(loop::duration::zero());
  acceptor_.end_connections();
  datagram_ports_.clear();
}

loop::task<bool> shard::deliver(loop::time_point limit) {
  if (options_.drain) {
    loop::task_group draining;
    for (auto* each : members_) draining.spawn(each->delivered(limit));
    co_await draining.drained();
  }
  // The file is flushed whether or not the connections drain: its messages were accepted.
  if (file_) co_await file_->flushed(limit);
  co_await site_.flushed(limit);
  if (options_.drain) {
    for (auto* each : members_) each->end();
    co_await web_ended(limit);
  }
  co_await farewells_said(options_.drain ? limit : std::min(limit, loop_.now() + longest_farewell));
  co_return true;
}

// Sends the WebSockets a close frame, and waits for their answers.
loop::task<> shard::farewells_said(loop::time_point limit) {
  for (auto* each : members_) {
    if (each->says_farewell()) each->end();
  }
  const auto are_gone = [this] {
    return std::ranges::none_of(members_, [](const auto* each) { return each->says_farewell(); });
  };
  loop::condition looked(loop_);
  [[maybe_unused]] const bool were_answered = co_await looked.wait(are_gone, limit, 5ms);
}

void shard::apply(const live_edit<server_options>& edit) {
  const bool joins_otherwise = edit.now.udp_join != options_.udp_join;
  const bool is_master_past = edit.now.master_pw != options_.master_pw;
  options_ = edit.now;
  // Each shard demotes its own master: one elsewhere may have used the new password already.
  auto master = state_->master.load();
  if (is_master_past && master >> shard_bits == number_) {
    state_->master.compare_exchange_strong(master, 0);
  }
  if (joins_otherwise) {
    for (auto& each : datagram_ports_) each.forget_udp_peers();
  }
  policy_ = &policy_of(options_.mode);
  arm_sweep();
  memory_.look_soon();
}

bool shard::within_limits(member& member) {
  const auto now = loop_.now().time_since_epoch().count();
  if (!admit(member.rate_due, now, options_.rate_limit)) {
    counters_.drop_message(drop::rate_limit);
    return false;
  }
  if (!state_->rate.allow(now, options_.global_rate_limit)) {
    counters_.drop_message(drop::global_rate_limit);
    return false;
  }
  return true;
}

void shard::on_message(member& member, const message& message) {
  if (silent_) return;
  member.last_whole = loop_.now();
  counters_.messages_in.add();
  ++member.passed.messages_in;
  counters_.rate_in.add(second_of(loop_.now()), 1);
  if (state_->tap->is_open()) {
    deliveries_.show(false, member, client_text(member.id()), name_, message.bytes);
  }
  if (!within_limits(member)) return;
  if (member.is_admitted && cache_links_.take(member, as_text(message.bytes))) return;
  if (script_ && script_->on_message(member, message)) return;
  follow_mode(member, message);
}

void shard::keep(member& member, const message& message) {
  if (file_) {
    // A datagram that looks like two lines could pose as another member's message.
    const bool is_to_be_line = framing_ == proto::framing::line || !member.has_connection();
    const bool is_kept = is_to_be_line && !is_line(message.bytes)
                             ? file_->append(as_bytes(as_line(message.bytes)))
                             : file_->append(message.bytes);
    if (!is_kept) counters_.drop_message(drop::file);
  }
  if (!state_->messages->idle()) {
    state_->messages->write(level::info, std::string(as_text(message.bytes)),
                            fmt::format("#{}", member.id()));
  }
}

void shard::send_to_member(std::uint64_t id, const std::string& text) {
  const auto* const home = state_->home_of(id);
  if (home != nullptr && home->who != this) {
    home->where->post([who = home->who, id, text] { who->send_to_member(id, text); });
  } else if (!send_to(id, as_bytes(text))) {
    counters_.drop_message(drop::mode);
  }
}

void shard::refuse(const loop::socket_address& client, refusal kind, std::string_view reason) {
  note_refusal(counters_, *state_->log, client, kind, reason);
}

bool shard::send_to(std::uint64_t id, byte_span message) {
  auto* const there = find(id);
  if (there == nullptr) return false;
  deliveries_.send(*there, {message});
  publish();
  return true;
}

void shard::publish() {
  if (script_) script_->catch_up();
  deliveries_.deliver();
}

void shard::count_in(member& member, std::uint64_t bytes) {
  counters_.bytes_in.add(bytes);
  member.passed.bytes_in += bytes;
}

void shard::count_out(member& member, std::uint64_t messages, std::uint64_t bytes) {
  member.passed.messages_out += messages;
  member.passed.bytes_out += bytes;
  counters_.messages_out.add(messages);
  counters_.bytes_out.add(bytes);
  counters_.rate_out.add(second_of(loop_.now()), messages);
  memory_.grew(bytes);
}

void shard::on_slow(member& member, std::uint64_t messages, const loop::socket_address& address,
                    std::size_t unsent) {
  counters_.drop_message(drop::slow_client, messages);
  const bool disconnect = options_.slow_client == "disconnect";
  if (!std::exchange(member.has_been_called_slow, true)) {
    state_->log->write(
        level::warning,
        fmt::format("client {} reads too slowly: {} bytes wait for it; {}", address.text(), unsent,
                    disconnect ? "disconnected" : "messages to it are dropped"),
        fmt::format("#{}", member.id()));
  }
  if (disconnect) member.dismiss(parting::too_slow);
}

std::uint64_t shard::broadcast(byte_span message) {
  publish();
  for (auto& each : datagram_ports_) each.flush();  // messages sent before
  auto taken = deliveries_.send_to_all({message});
  for (auto& each : datagram_ports_) taken -= std::min(taken, each.flush());
  return taken;
}

}  // namespace strata::runtime::server
