#include "runtime/proxy/gate.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "net/connector.hpp"
#include "runtime/tls_identity.hpp"

namespace strata::runtime::proxy {

gate::gate(loop::loop& on, std::size_t number, proxy_options options, gate_setting setting)
    : loop_(on),
      number_(number),
      options_(std::move(options)),
      setting_(std::move(setting)),
      acceptor_(on, reception()) {
  backs_.become(options_.backend);
}

// Relays leave the list while it is still there.
gate::~gate() {
  acceptor_.stop_listening();
  acceptor_.end_connections();
}

serve::reception gate::reception() {
  auto& log = *setting_.given.log;
  return {
      .connections = setting_.connections,
      .most = [this] { return options_.max_connections; },
      .serve = [this](auto client, auto place,
                      unsigned) { return serve(std::move(client), std::move(place)); },
      .refusal = {},
      .on_refused = [this] { counters_.connections_refused.add(); },
      .handshake_limit = [this] { return loop::from_seconds(options_.handshake_timeout); },
      .on_secured = [&log](const net::stream& with) { tell_subject(with, log); },
      .on_handshake_failed =
          [this, &log](const error& why, bool is_told) {
            counters_.handshakes_failed.add();
            if (is_told) log.write(level::warning, describe(why));
          },
      .on_trouble =
          [this, &log](const error& why, bool is_new) {
            counters_.errors.add();
            if (is_new) log.write(level::error, describe(why));
          },
  };
}

loop::task<result<void>> gate::open(std::vector<net::bind_target>& targets) {
  for (auto& target : targets) {
    // A Unix socket's path cannot be shared: one gate serves it.
    if (target.url.is_for_one() && number_ != 0) continue;
    auto opened = target.url.scheme->listen(loop_, target, {.share_port = setting_.count > 1});
    if (!opened) co_return std::unexpected(opened.error());
    acceptor_.add(std::move(opened->streams), 0,
                  target.url.scheme->is_secure ? setting_.shown : nullptr);
  }
  acceptor_.begin();
  co_return result<void>{};
}

void gate::fall_silent() { acceptor_.stop_listening(); }

loop::task<> gate::close(loop::time_point /*limit*/) {
  for (auto& each : relays_) each.break_off();
  // They reset both of their ends.
  co_await loop_.sleep(loop::duration::zero());
  acceptor_.end_connections();
}

void gate::apply(const live_edit<proxy_options>& edit) {
  options_ = edit.now;
  backs_.become(options_.backend);
  arm_sweep();
}

void gate::arm_sweep() {
  if (armed() || relays_.empty() || options_.idle_timeout <= 0) return;
  loop_.arm_after(*this, loop::from_seconds(std::clamp(options_.idle_timeout / 4, 0.01, 5.0)));
}

void gate::on_timer() {
  const auto oldest = loop_.now() - loop::from_seconds(options_.idle_timeout);
  if (options_.idle_timeout > 0) {
    for (auto& each : relays_) {
      if (each.last_active() < oldest) each.break_off();
    }
  }
  arm_sweep();
}

loop::task<> gate::serve(std::unique_ptr<net::stream> client,
                         [[maybe_unused]] serve::connection_gauge::place place) {
  auto found = co_await open_back(client->peer().address);
  if (!found) {
    counters_.errors.add();
    setting_.given.log->write_few(
        "no back", level::error,
        fmt::format("client {} found no back: {}", client->peer().address.text(),
                    describe(found.error())));
    break_connection(loop_, *client);
    co_return;
  }
  relay joined(loop_, std::move(client), std::move(found->stream), options_.max_buffer, counters_);
  relays_.push_back(joined);
  arm_sweep();
  co_await joined.run();
}

// Errors: of the back that was tried last.
loop::task<result<gate::opened_back>> gate::open_back(loop::socket_address source) {
  std::vector<backs::back_ref> tried;
  error last{.code = errc::not_found, .operation = "find a back", .reason = "there is none"};
  const auto how = balance_of(options_.balance);
  const auto timeout = loop::from_seconds(options_.connect_timeout);
  while (const auto next = backs_.choose(how, source, tried, loop_.now())) {
    back_use use(next);
    const auto url = next->is.url;
    auto made = co_await net::connect(loop_, url, timeout, &setting_.given.names, setting_.trusted);
    if (made && made->bytes) {
      next->rests_until = {};
      co_return opened_back{std::move(use), std::move(made->bytes)};
    }
    if (!made) last = made.error();
    if (made)
      last = error{.code = errc::invalid_argument,
                   .operation = "connect to " + url.text(),
                   .reason = "it carries no stream"};
    next->rests_until = loop_.now() + loop::from_seconds(options_.rest);
    setting_.given.log->write_few("back " + next->is.text, level::warning,
                                  fmt::format("back '{}' is left alone for {} s: {}", next->is.text,
                                              options_.rest, describe(last)));
    tried.push_back(next);
  }
  co_return std::unexpected(std::move(last));
}

}  // namespace strata::runtime::proxy
