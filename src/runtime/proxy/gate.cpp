#include "runtime/proxy/gate.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "loop/within.hpp"
#include "runtime/acceptor_settings.hpp"
#include "runtime/introducers.hpp"
#include "runtime/proxy/ends.hpp"
#include "runtime/refusals.hpp"
#include "runtime/web/http_serving.hpp"

namespace strata::runtime::proxy {

namespace {

// The protocol of connections from a front.
constexpr unsigned raw_listener = 0;
constexpr unsigned http_listener = 1;
constexpr unsigned message_listener = 2;
constexpr unsigned websocket_listener = 3;

// How often the remaining connections are checked during a drain.
constexpr auto drain_look_interval = std::chrono::milliseconds(5);
constexpr auto longest_breaking = std::chrono::milliseconds(500);

}  // namespace

gate::gate(loop::loop& loop, std::size_t number, proxy_options options, gate_setting setting)
    : loop_(loop),
      number_(number),
      options_(std::move(options)),
      setting_(std::move(setting)),
      backends_({.home = loop,
                 .options = options_,
                 .number = number,
                 .shared = *setting_.shared,
                 .counted = figures_,
                 .names = setting_.given.names,
                 .self = setting_.given.name,
                 .report = [this](auto severity, auto event,
                                  const auto& text) { report(severity, event, text); },
                 .on_change =
                     [this] {
                       web_.retain(all_backends());
                       show_branches();
                     }},
                ""),
      goes_by_names_(goes_by_names(options_)),
      bond_means_{.loop = loop,
                  .shown = *setting_.given.tap,
                  .name = setting_.given.name,
                  .counted = counters_},
      web_(loop, means_of_web()),
      messages_(loop, {.options = options_,
                       .open_backend =
                           [this](const auto& client, auto left) {
                             return open_backend(backends_, client, std::move(left));
                           },
                       .admits =
                           [this](const auto& sender) {
                             return admission_.is_open() || admits_client(sender, true);
                           },
                       .on_begun = [this](bond& begun) { enter(begun, next_client()); },
                       .bonds = bond_means_,
                       .connections = setting_.connections,
                       .log = *setting_.given.log}),
      checker_(loop, {.options = options_,
                      .all = [this] { return all_backends(); },
                      .connect =
                          [this](backend_ref backend) {
                            auto preface = backend->preface_for(nullptr);
                            auto where = backend->is.where();
                            return stream_of(connect(std::move(backend), std::move(preface)),
                                             std::move(where));
                          },
                      .report = backends_.means().report}),
      acceptor_(loop, acceptor_settings()) {
  backends_.become(options_.backend);
  admission_.become(options_, setting_.count);
  show_branches();
  setting_.shared->enroll(
      number_, loop_,
      [this] { for_all_backends([](const auto&, backends& backends) { backends.call(); }); },
      [this] { for_all_backends([](const auto&, backends& backends) { backends.take_names(); }); });
}

web_means gate::means_of_web() {
  return {.options = options_,
          .to = backends_,
          .dial =
              [this](auto to, auto preface) {
                auto where = to->is.where();
                return stream_of(dial(std::move(to), std::move(preface)), std::move(where));
              },
          .dial_http1 =
              [this](auto to, auto preface) {
                auto where = to->is.where();
                return stream_of(connect(std::move(to), std::move(preface), setting_.trusted_http1),
                                 std::move(where));
              },
          .adopt = [this](auto serving) { acceptor_.adopt(std::move(serving)); },
          .join = [this](auto client,
                         auto backend) { return join(std::move(client), std::move(backend)); },
          .next_client = [this] { return next_client(); },
          .shown = *setting_.given.tap,
          .name = setting_.given.name,
          .counted = counters_,
          .figures = figures_,
          .admits = admission_,
          .log = *setting_.given.log,
          .script = script_};
}

void gate::for_all_backends(const std::function<void(const std::string& route, backends&)>& work) {
  work("", backends_);
  web_.for_each_route(work);
}

// Bonds leave the list while it still exists.
gate::~gate() {
  messages_.end();
  acceptor_.stop_listening();
  acceptor_.end_connections();
}

serve::acceptor_settings gate::acceptor_settings() {
  auto made = counting_settings(setting_.connections, counters_, *setting_.given.log);
  made.admits = [this](const auto& arrived, unsigned listener) {
    return admits(arrived, listener);
  };
  made.most = [this] { return options_.max_connections; };
  made.serve = [this](auto client, auto place, unsigned listener) {
    if (listener == http_listener) return web_.serve(std::move(client), std::move(place));
    if (listener == raw_listener && options_.proxy_protocol.empty()) {
      return serve_raw(std::move(client), std::move(place));
    }
    return serve(std::move(client), std::move(place), listener);
  };
  made.introduces = introducing(options_.proxy_protocol);
  if (carries_http_alone()) made.refusal = http_refusal();
  made.handshake_limit = [this] { return loop::from_seconds(options_.handshake_timeout); };
  return made;
}

bool gate::admits(const loop::descriptor& arrived, unsigned listener) {
  if (admission_.is_open()) return true;
  const auto client = loop_.remote_address(arrived);
  const bool is_let_in =
      admits_client(client, listener != http_listener && options_.proxy_protocol.empty());
  if (!is_let_in) counters_.connections_refused.add();
  return is_let_in;
}

// For HTTP, the rate applies to requests. If connections start with a PROXY header, the rate
// applies to the client in it.
bool gate::admits_client(const loop::socket_address& client, bool has_rate) {
  if (!admission_.lets_in(client)) {
    figures_.denied.add();
    note_refusal(counters_, *setting_.given.log, client, refusal::address,
                 "--allow or --deny refuses it");
    return false;
  }
  if (!has_rate || admission_.wait_of(client, loop_.now()) == loop::duration::zero()) return true;
  figures_.limited.add();
  note_refusal(counters_, *setting_.given.log, client, refusal::rate,
               "it has more connections than --rate-per-client allows");
  return false;
}

result<void> gate::open_log() {
  if (options_.access_log.empty()) return {};
  auto opened = access_log::open(
      loop_, options_.access_log, options_.access_format,
      [this](const std::string& why) { setting_.given.log->write(level::error, why); });
  if (!opened) return std::unexpected(opened.error());
  log_ = std::move(*opened);
  web_.set_log(log_.get());
  return {};
}

result<void> gate::open_files_again() {
  if (auto read = web_.read_pages(); !read) return read;
  return log_ ? log_->open_again() : result<void>{};
}

loop::task<result<void>> gate::open(std::vector<net::bind_target>& targets) {
  if (auto opened = open_log(); !opened) co_return opened;
  if (auto read = web_.read_pages(); !read) co_return read;
  for (auto& target : targets) {
    // A Unix socket's path cannot be shared: one gate serves it.
    if (target.url.is_for_one() && number_ != 0) continue;
    auto opened = target.url.scheme->listen(loop_, target, {.share_port = setting_.count > 1});
    if (!opened) co_return std::unexpected(opened.error());
    if (opened->messages) {
      messages_.add(std::move(opened->messages));
      continue;
    }
    acceptor_.add(std::move(opened->streams), listener_of(target.url),
                  target.url.scheme->is_secure ? setting_.shown : nullptr);
  }
  backends_.begin();
  web_.begin();
  if (auto opened = open_script(); !opened) co_return opened;
  acceptor_.begin();
  if (is_first()) checker_.apply();
  co_return result<void>{};
}

result<void> gate::open_script() {
  if (options_.lua.empty()) return {};
  const auto& given = setting_.given;
  scripting::identity who{given.name, "proxy", given.log, setting_.values, given.others};
  script_ = std::make_unique<gate_script>(
      loop_, options_, std::move(who),
      gate_script::means{.backends = [this] { return all_backends(); },
                         .report = [this] { return json_of(report()); },
                         .connections = setting_.connections});
  return script_->open();
}

std::vector<backend_report> gate::report() const {
  std::vector<backend_report> all;
  const auto report = [&](const std::string& route, const backends& backends) {
    for (const auto& each : backends.all()) {
      all.push_back({.route = route,
                     .is = each->is,
                     .is_resting = each->stands->rests_until.get() > loop_.now(),
                     .is_down = each->stands->is_down,
                     .last_check = each->stands->last_check,
                     .current = each->stands->current.state(loop_.now()),
                     .connections = each->connections(),
                     .chosen = each->chosen,
                     .failed = each->failed,
                     .counted = *each->counted});
    }
    for (auto& each : backends.unknown()) {
      all.push_back({.route = route, .is = std::move(each), .is_known = false});
    }
  };
  report("", backends_);
  web_.for_each_route(report);
  return all;
}

void gate::show_branches() {
  auto all = web_.branches();
  const auto add = [&all](const std::string& route, const backends& backends) {
    for (const auto& each : backends.all()) {
      all.push_back({.route = route, .backend = each->is.where(), .counted = each->counted});
    }
  };
  add("", backends_);
  web_.for_each_route(add);
  branches_.become(std::move(all));
}

bool gate::carries_http_alone() const {
  return std::ranges::all_of(options_.endpoints(), [this](const auto& text) {
    const auto url = net::parse_endpoint(text);
    if (!url || !url->is_stream()) return true;
    const auto listener = listener_of(*url);
    return listener == http_listener || listener == websocket_listener;
  });
}

unsigned gate::listener_of(const net::endpoint_url& front) const {
  if (joins_messages(options_)) return front.is_web() ? websocket_listener : message_listener;
  return front.is_web() || options_.protocol == "http" ? http_listener : raw_listener;
}

void gate::report(level severity, std::string_view event, const std::string& text) {
  setting_.given.log->write(severity, text);
  setting_.given.report(event, text);
}

loop::task<> gate::stop_accepting() {
  messages_.finish();
  return acceptor_.finish_listening();
}

void gate::stop_receiving() {
  acceptor_.stop_listening();
  messages_.stop_receiving();
  web_.retire();
}

loop::task<bool> gate::drained(loop::time_point limit) {
  co_await web_.ended(limit);
  if (options_.drain) co_await bonds_ended(limit);
  co_return true;
}

loop::task<> gate::bonds_ended(loop::time_point limit) {
  loop::condition looked(loop_);
  const bool are_gone =
      co_await looked.wait([this] { return bonds_.empty(); }, limit, drain_look_interval);
  (void)are_gone;
}

loop::task<> gate::close(loop::time_point limit) {
  (void)co_await loop::within(loop_, drained(limit), limit, &setting_.hurried);
  web_.abort();
  for (auto& each : bonds_) each.break_off();
  // Broken bonds reset both of their ends.
  co_await bonds_ended(loop_.now() + longest_breaking);
  messages_.end();
  acceptor_.end_connections();
  if (script_) co_await script_->end(limit);
  if (log_) co_await log_->flushed(limit);
}

void gate::apply(const live_edit<proxy_options>& edit) {
  options_ = edit.now;
  backends_.become(options_.backend);
  goes_by_names_ = goes_by_names(options_);
  admission_.become(options_, setting_.count);
  web_.apply();
  web_.retain(all_backends());
  show_branches();
  if (is_first()) checker_.apply();
  arm_sweep();
}

void gate::arm_sweep() {
  if (armed() || bonds_.empty() || options_.idle_timeout <= 0) return;
  loop_.arm_after(*this, loop::from_seconds(std::clamp(options_.idle_timeout / 4, 0.01, 5.0)));
}

void gate::on_timer() {
  const auto oldest = loop_.now() - loop::from_seconds(options_.idle_timeout);
  if (options_.idle_timeout > 0) {
    for (auto& each : bonds_) {
      if (each.last_active() < oldest) each.break_off();
    }
  }
  arm_sweep();
}

loop::task<> gate::serve(std::unique_ptr<net::stream> client, serve::connection_gauge::place place,
                         unsigned listener) {
  const bool has_header = !options_.proxy_protocol.empty() && !admission_.is_open();
  if (has_header && !admits_client(client->peer().address, true)) {
    counters_.connections_refused.add();
    client->break_off();
    co_return;
  }
  if (listener == raw_listener) {
    co_await serve_raw(std::move(client), std::move(place));
  } else {
    co_await messages_.serve(std::move(client), listener == websocket_listener);
  }
}

// Most connections are idle most of the time: the state for finding a backend is gone by then.
loop::task<> gate::serve_raw(std::unique_ptr<net::stream> client,
                             serve::connection_gauge::place place) {
  std::unique_ptr<known_client> known;
  if (script_) {
    known = std::make_unique<known_client>(*script_, next_client(), peer_of(*client));
    co_await known->begin();
  }
  auto found = co_await find_backend(*client, known.get());
  if (!found) co_return;
  // A backend that only listens is silent for long: an established connection has to count as a
  // success.
  if (found->use.is_trial()) found->use.note(true);
  acceptor_.adopt(pass_on(std::move(client), std::move(found->over.bytes), std::move(found->use),
                          std::move(found->of), std::move(place), std::move(known)));
}

loop::task<> gate::pass_on(std::unique_ptr<net::stream> client,
                           std::unique_ptr<net::byte_channel> backend, backend_use use,
                           [[maybe_unused]] std::shared_ptr<const backends> of,
                           [[maybe_unused]] serve::connection_gauge::place place,
                           std::unique_ptr<known_client> known) {
  relay joined(bond_means_, relayed::stream, std::move(client), std::move(backend),
               options_.max_buffer, &use, known.get());
  enter(joined, known ? known->id() : next_client());
  if (known) known->join(joined, std::string(place_of(use.of()->is.text)));
  co_await joined.run();
}

std::uint64_t gate::next_client() {
  constexpr unsigned gate_bits = 40;
  return static_cast<std::uint64_t>(number_) << gate_bits | ++last_client_;
}

std::vector<client_report> gate::clients() const {
  std::vector<client_report> all;
  for (const auto& each : bonds_) all.push_back(each.report());
  web_.add_clients(all);
  return all;
}

bool gate::disconnect(std::uint64_t client) {
  const auto found = std::ranges::find(bonds_, client, &bond::id);
  if (found == bonds_.end()) return web_.disconnect(client);
  found->break_off();
  return true;
}

void gate::enter(bond& begun, std::uint64_t client) {
  begun.begin(client);
  bonds_.push_back(begun);
  arm_sweep();
}

loop::task<> gate::join(web_means::switched client, std::unique_ptr<net::byte_channel> backend) {
  relay joined(bond_means_, relayed::websocket, std::move(client.channel), std::move(backend),
               options_.max_buffer, nullptr);
  enter(joined, client.id);
  co_await joined.run();
}

}  // namespace strata::runtime::proxy
