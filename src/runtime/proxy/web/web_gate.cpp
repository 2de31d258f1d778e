#include "runtime/proxy/web/web_gate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "http/client/http1_client.hpp"
#include "runtime/proxy/web/preference.hpp"
#include "runtime/refusals.hpp"
#include "runtime/runtime.hpp"
#include "runtime/web/http_serving.hpp"
#include "runtime/web/http_tap.hpp"

namespace strata::runtime::proxy {

namespace {

constexpr unsigned most_stale = 8;  // attempts on pooled connections that were already closed

}  // namespace

web_gate::web_gate(loop::loop& loop, web_means means)
    : loop_(loop),
      means_(std::move(means)),
      reporter_(means_.counted, means_.figures),
      own_answers_({.counted = means_.counted, .log = means_.log}),
      gone_(loop) {
  pseudonym_ = "strata-" + ids_.request_id().substr(0, 12);
  service_ = {.limits = {},
              .handlers = {.answer = [this](http::exchange& exchange) { return answer(exchange); },
                           .refuse =
                               [this](int status, const error& why, const net::peer_info& client) {
                                 auto said = own_answers_.body_of(status, describe(why) + "\n");
                                 reporter_.note_refused(status, said.first.size(), client);
                                 return said;
                               }},
              .on_begun =
                  [this](http::served_connection& begun) {
                    connections_.push_back(begun);
                    begun.id = means_.next_client();
                    begun.came = begun.last_whole = begun.last_active = loop_.now();
                    if (is_retiring_) begun.retire();
                  },
              .on_flooded = [this] { means_.counted.http2_floods.add(); },
              .on_gone = [this] { gone_.notify(); }};
  apply();
}

void web_gate::apply() {
  balance_ = *parse_balance(means_.options.balance);
  service_.limits = limits_of(means_.options, means_.options.max_buffer);
  service_.limits.max_unsent = means_.options.max_buffer;
  service_.limits.write_timeout = timeout_of(means_.options.answer_timeout);
  trusted_.clear();
  to_backend_ = field_rules_of(means_.options.request_header);
  to_client_ = field_rules_of(means_.options.answer_header);
  for (const auto& each : means_.options.trust) trusted_.push_back(*loop::network::parse(each));
  // A route that stays keeps its backends' state.
  std::vector<std::shared_ptr<route>> routes;
  for (const auto& each : means_.options.route) {
    const auto known =
        std::ranges::find(routes_, each, [](const auto& one) { return one->is.text; });
    auto made = known != routes_.end()
                    ? *known
                    : std::make_shared<route>(*parse_route(each), means_.to.means());
    made->to.become(made->is.backends);
    if (has_begun_) made->to.begin();
    routes.push_back(std::move(made));
  }
  routes_ = std::move(routes);
}

void web_gate::begin() {
  has_begun_ = true;
  for (const auto& each : routes_) each->to.begin();
}

std::shared_ptr<backends> web_gate::named(const std::string& host) const {
  const auto found =
      std::ranges::find_if(routes_, [&](const auto& each) { return matches_name(each->is, host); });
  return found == routes_.end() ? nullptr : std::shared_ptr<backends>(*found, &(*found)->to);
}

std::vector<branch> web_gate::branches() const {
  std::vector<branch> all = {{.route = {}, .backend = {}, .counted = unrouted_}};
  for (const auto& each : routes_) {
    all.push_back({.route = each->is.text, .backend = {}, .counted = each->counted});
  }
  return all;
}

void web_gate::retire() {
  is_retiring_ = true;
  for (auto& each : connections_) each.retire();
}

void web_gate::abort() {
  for (auto& each : connections_) each.dismiss();
}

loop::task<> web_gate::ended(loop::time_point limit) {
  const bool are_gone = co_await gone_.wait([this] { return connections_.empty(); }, limit);
  (void)are_gone;
}

// Most connections are idle most of the time: no state of this remains meanwhile.
loop::task<> web_gate::serve(std::unique_ptr<net::stream> client,
                             serve::connection_gauge::place place) {
  (void)client->peer();  // queried while it is connected
  const bool is_http2 = co_await speaks_http2(*client, service_.limits.idle_timeout);
  means_.adopt(serve_http(is_http2, std::move(client), service_, std::move(place)));
}

forwarding web_gate::forwarding_of(const http::exchange& exchange) {
  const auto& peer = exchange.peer();
  const bool is_websocket = !exchange.request().protocol.empty();
  return {.client = host_of(peer.address),
          .is_secure = exchange.is_secure(),
          .is_trusted = loop::is_in(trusted_, peer.address),
          .pseudonym = pseudonym_,
          .backend_host = "localhost",
          .websocket_key = is_websocket ? ids_.websocket_key() : "",
          .says_forwarded = means_.options.forwarded,
          .request_id = means_.options.request_id ? ids_.request_id() : "",
          .traceparent = means_.options.traceparent ? ids_.traceparent() : ""};
}

loop::task<> web_gate::answer(http::exchange& exchange) {
  reporter_.note_begin(loop_.now());
  transit transit{.began = loop_.now(),
                  .client = client_of(exchange.request(), exchange.peer().address, trusted_),
                  .tls_subject = {},
                  .branch = unrouted_};
  if (reporter_.has_log()) transit.tls_subject = exchange.peer().tls_subject;
  const auto shown = http_tap::open(means_.shown, means_.name, exchange);
  transit.shown = shown.get();
  const bool is_turned_away = turn_away(exchange, transit.client);
  if (!is_turned_away) co_await serve_request(exchange, transit);
  reporter_.note_end(exchange, transit, loop_.now());
}

bool web_gate::turn_away(http::exchange& exchange, const loop::socket_address& client) {
  if (means_.admits.is_open()) return false;
  if (!means_.admits.lets_in(client)) {
    means_.figures.denied.add();
    note_refusal(means_.counted, means_.log, client, refusal::address,
                 "--allow or --deny refuses it");
    own_answers_.answer(exchange, 403, "clients of your address are not served\n");
    return true;
  }
  const auto wait = means_.admits.wait_of(client, loop_.now());
  if (wait == loop::duration::zero()) return false;
  means_.figures.limited.add();
  note_refusal(means_.counted, means_.log, client, refusal::rate,
               "it has more requests than --rate-per-client allows");
  const auto wait_s = fmt::format("{}", std::chrono::ceil<std::chrono::seconds>(wait).count());
  own_answers_.answer(exchange, 429,
                      "too many requests from your address: try again in " + wait_s + " s\n",
                      {{"Retry-After", wait_s}});
  return true;
}

loop::task<> web_gate::serve_request(http::exchange& exchange, transit& transit) {
  auto asked = forward(exchange.request(), forwarding_of(exchange));
  if (asked) {
    change(asked->fields, to_backend_);
    if (means_.options.request_id) {
      transit.request_id = proto::find_field(asked->fields, "x-request-id").value_or("");
    }
    if (means_.script && means_.script->receives_requests()) {
      co_await serve_scripted(exchange, std::move(*asked), transit);
    } else {
      co_await follow_route(exchange, std::move(*asked), transit);
    }
  } else {
    own_answers_.answer(exchange, asked.error().status, asked.error().reason + "\n");
  }
}

void web_gate::answer_as_failed(http::exchange& exchange) {
  own_answers_.answer(exchange, 500, "the proxy's script has failed\n");
}

loop::task<> web_gate::serve_scripted(http::exchange& exchange, forwarded_request request,
                                      transit& transit) {
  scripting::lazy_request described(exchange);
  transit.described = &described;
  if (means_.script->has(scripting::callback::proxy_request)) {
    auto answer = co_await means_.script->change(described, request);
    if (!answer) {
      answer_as_failed(exchange);
      co_return;
    }
    if (*answer) {
      (*answer)->send(exchange);
      co_return;
    }
  }
  ordered where;
  if (means_.script->has(scripting::callback::route)) {
    auto routing = means_.script->routing_for_one();
    means_.script->route(&described, routing);
    if (!routing.has_ended()) {
      [[maybe_unused]] const bool has_come = co_await routing.ended();
    }
    where = obey(exchange, routing.take(), transit);
  }
  if (where.is_answered) co_return;
  if (where.to == nullptr) {
    co_await follow_route(exchange, std::move(request), transit);
  } else {
    co_await pass_on(exchange, request, *where.to, transit);
  }
}

web_gate::ordered web_gate::obey(http::exchange& exchange, result<gate_script::direction> chosen,
                                 transit& transit) {
  if (!chosen) {
    answer_as_failed(exchange);
    return {.is_answered = true, .keeps = {}};
  }
  if (chosen->answer) {
    chosen->answer->send(exchange);
    return {.is_answered = true, .keeps = {}};
  }
  if (!chosen->to) return {};
  auto [home, taken] = home_of(*chosen->to);
  if (home == nullptr) return {};
  if (taken) {
    transit.route = taken->is.text;
    transit.branch = taken->counted;
  }
  transit.mark = chosen->to->mark;
  return {.to = home, .keeps = std::move(taken)};
}

std::pair<backends*, std::shared_ptr<web_gate::route>> web_gate::home_of(const backend& backend) {
  const auto has = [&backend](const backends& backends) {
    return std::ranges::any_of(backends.all(),
                               [&](const backend_ref& each) { return each.get() == &backend; });
  };
  if (has(means_.to)) return {&means_.to, nullptr};
  for (const auto& each : routes_) {
    if (has(each->to)) return {&each->to, each};
  }
  return {nullptr, nullptr};
}

// An edit may remove the route while the request is under way.
std::shared_ptr<web_gate::route> web_gate::route_of(const proto::http_request& request) const {
  const auto path = plain_path(request.path);
  for (const auto& each : routes_) {
    if (matches(each->is, request, path)) return each;
  }
  return nullptr;
}

loop::task<> web_gate::follow_route(http::exchange& exchange, forwarded_request request,
                                    transit& transit) {
  const auto taken = route_of(exchange.request());
  if (!taken) {
    if (means_.options.backend.empty()) {
      own_answers_.answer(exchange, 404, "no route matches this request\n");
    } else {
      co_await pass_on(exchange, request, means_.to, transit);
    }
    co_return;
  }
  transit.route = taken->is.text;
  transit.branch = taken->counted;
  const auto& is = taken->is;
  const auto target = stripped(is, request.target);
  if (is.status != 0) {
    proto::http_fields fields;
    if (!is.location.empty()) fields = {{"Location", location_for(is, request.target)}};
    own_answers_.answer(exchange, is.status, "", std::move(fields));
  } else if (!target) {
    own_answers_.answer(exchange, 400, "write the path without needless percent-encoding\n");
  } else {
    request.target = *target;
    co_await pass_on(exchange, request, taken->to, transit);
  }
}

loop::task<> web_gate::pass_on(http::exchange& exchange, const forwarded_request& request,
                               backends& backends, transit& transit) {
  const bool may_repeat =
      is_idempotent(request.method) && !exchange.has_body() && request.upgrade.empty();
  std::vector<backend_ref> tried;
  std::optional<failed_try> failed;
  const auto marks = transit.mark != 0 ? std::vector<std::uint64_t>{transit.mark}
                                       : marks_of(exchange.request(), means_.options.sticky);
  auto what = wish_of(exchange, balance_);
  what.marks = marks;
  sent_body sent;
  bool was_refused = false;
  auto left = means_.options.retries;
  for (unsigned tries = 0;; ++tries) {
    auto by = co_await reach(exchange.peer(), what, backends, tried);
    if (!by) {
      if (by.error().code == errc::canceled) {
        exchange.abort();
      } else if (failed) {
        own_answers_.refuse_after(exchange, failed->backend, failed->why);
      } else if (by.error().code == errc::limit_exceeded) {
        own_answers_.refuse_as_full(exchange, describe(by.error()));
      } else {
        own_answers_.refuse(exchange, 503, describe(by.error()));
      }
      co_return;
    }
    const auto& name = means_.options.sticky;
    if (!name.empty())
      by->cookie = cookie_for({name, exchange.is_secure()}, *by->use.of(), backends, marks);
    by->request_id = transit.request_id;
    by->described = transit.described;
    transit.by = by->use.of();
    if (transit.shown != nullptr) transit.shown->set_origin(transit.by->is.text);
    failed = co_await try_on(exchange, request, *by, sent);
    transit.has_answered = !failed && exchange.has_begun();
    if (!failed) co_return;
    if (failed->is_refused && !sent.is_lost && !std::exchange(was_refused, true)) {
      pool_.forget(by->use.of().get());
      reporter_.note_retry(transit);
      continue;
    }
    ++by->use.of()->failed;
    // A pooled connection may have just been closed, and so may the others to that backend: that
    // says nothing about the backend, and does not count as a retry, up to a limit.
    const bool was_stale = by->was_pooled && tries < most_stale;
    const bool is_late = failed->why.code == errc::timed_out;
    if (!by->was_pooled || !failed->is_unanswered || is_late) by->use.note(false);
    if ((left == 0 && !was_stale) || !may_repeat || !failed->is_unanswered) {
      own_answers_.refuse_after(exchange, failed->backend, failed->why);
      co_return;
    }
    if (was_stale) {
      pool_.forget(by->use.of().get());
    } else {
      --left;
      reporter_.note_retry(transit);
      tried.push_back(by->use.of());
    }
  }
}

// Errors: those of the backend that was tried last.
loop::task<result<web_gate::backend_leg>> web_gate::reach(const net::peer_info& client, wish wish,
                                                          backends& backends,
                                                          std::vector<backend_ref>& tried) {
  std::optional<error> last;
  for (;;) {
    wish.tried = tried;
    auto use = co_await backends.enter(wish);
    if (!use) {
      const bool was_tried = last && use.error().code == errc::not_found;
      co_return std::unexpected(was_tried ? std::move(*last) : use.error());
    }
    const auto next = use->of();
    auto preface = next->preface_for(&client);
    backend_leg leg{.use = std::move(*use), .over = pool_.take(next.get(), preface)};
    if (!leg.over) leg.over = pool_.share(next.get(), preface);
    leg.was_pooled = leg.over != nullptr;
    leg.preface = preface;
    if (leg.was_pooled) co_return leg;
    auto stream = co_await means_.dial(next, std::move(preface));
    if (stream) {
      leg.over = speak_on(std::move(*stream), leg);
      co_return leg;
    }
    leg.use.note_unreached(stream.error());
    last = stream.error();
    tried.push_back(next);
  }
}

std::unique_ptr<http::inquiry> web_gate::speak_on(std::unique_ptr<net::stream> stream,
                                                  const backend_leg& leg) {
  if (!leg.use.of()->takes_http2(*stream)) {
    return std::make_unique<http::http1_client>(std::move(stream));
  }
  const auto timeout = timeout_of(means_.options.idle_backend_timeout);
  auto shared = std::make_shared<http::http2_client>(loop_, std::move(stream), timeout);
  pool_.keep(leg.use.of(), leg.preface, shared);
  return shared->open();
}

}  // namespace strata::runtime::proxy
