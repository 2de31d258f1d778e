#include "runtime/proxy/web_gate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "http/client_connection.hpp"
#include "net/scheme.hpp"
#include "net/tls/session.hpp"
#include "runtime/http_serving.hpp"
#include "runtime/proxy/preference.hpp"
#include "runtime/runtime.hpp"

namespace strata::runtime::proxy {

namespace {

// A back's silence after which its client is watched.
constexpr auto longest_unwatched = std::chrono::milliseconds(500);
constexpr unsigned most_stale = 8;  // tries on connections that were closed behind our back

}  // namespace

/// What becomes of the client while its back is waited for.
struct web_gate::upload {
  loop::time_point last_progress;
  std::optional<error> client_failed = {};
  std::size_t most_waiting = 0;
  bool is_whole = false;  // all of the request has been read
  bool has_left = false;
  loop::task_group watching = {};
};

web_gate::web_gate(loop::loop& on, web_means means)
    : loop_(on),
      means_(std::move(means)),
      ledger_(means_.counted, means_.figures),
      words_({.counted = means_.counted, .log = means_.log}),
      gone_(on) {
  pseudonym_ = "strata-" + ids_.request_id().substr(0, 12);
  service_ = {.limits = {},
              .answer = [this](http::exchange& now) { return answer(now); },
              .on_begun =
                  [this](http::served_connection& begun) {
                    connections_.push_back(begun);
                    begun.last_whole = loop_.now();
                    if (is_retiring_) begun.retire();
                  },
              .on_flooded = [this] { means_.counted.http2_floods.add(); },
              .on_gone = [this] { gone_.notify(); }};
  refuse_ = [this](int status, const error& why, const net::peer_info& client) {
    auto said = words_.of(status, describe(why) + "\n");
    ledger_.note_refused(status, said.first.size(), client);
    return said;
  };
  apply();
}

void web_gate::apply() {
  balance_ = *parse_balance(means_.options.balance);
  service_.limits = limits_of(means_.options, means_.options.max_buffer);
  service_.limits.max_unsent = means_.options.max_buffer;
  service_.limits.write_timeout = patience_of(means_.options.answer_timeout);
  trusted_.clear();
  to_back_ = field_rules_of(means_.options.request_header);
  to_client_ = field_rules_of(means_.options.answer_header);
  for (const auto& each : means_.options.trust) trusted_.push_back(*loop::network::parse(each));
  // One that stays knows its backs as before.
  std::vector<std::shared_ptr<route>> routes;
  for (const auto& each : means_.options.route) {
    const auto known =
        std::ranges::find(routes_, each, [](const auto& one) { return one->is.text; });
    auto made = known != routes_.end()
                    ? *known
                    : std::make_shared<route>(*parse_route(each), means_.to.means());
    made->to.become(made->is.backs);
    if (has_begun_) made->to.begin();
    routes.push_back(std::move(made));
  }
  routes_ = std::move(routes);
}

void web_gate::begin() {
  has_begun_ = true;
  for (const auto& each : routes_) each->to.begin();
}

std::shared_ptr<backs> web_gate::named(const std::string& host) const {
  const auto found =
      std::ranges::find_if(routes_, [&](const auto& each) { return matches_name(each->is, host); });
  return found == routes_.end() ? nullptr : std::shared_ptr<backs>(*found, &(*found)->to);
}

std::vector<branch> web_gate::branches() const {
  std::vector<branch> all = {{.route = {}, .back = {}, .counted = unrouted_}};
  for (const auto& each : routes_) {
    all.push_back({.route = each->is.text, .back = {}, .counted = each->counted});
  }
  return all;
}

void web_gate::retire() {
  is_retiring_ = true;
  for (auto& each : connections_) each.retire();
}

loop::task<> web_gate::ended(loop::time_point limit) {
  const bool are_gone = co_await gone_.wait([this] { return connections_.empty(); }, limit);
  (void)are_gone;
}

// Most connections are idle most of the time, and nothing of this stays meanwhile.
loop::task<> web_gate::serve(std::unique_ptr<net::stream> client,
                             serve::connection_gauge::place place) {
  (void)client->peer();  // while it is connected
  const bool is_http2 = co_await speaks_http2(loop_, *client, service_.limits.idle_timeout);
  means_.adopt(serve_http(is_http2, loop_, std::move(client), service_, refuse_, std::move(place)));
}

forwarding web_gate::forwarding_of(const http::exchange& now) {
  const auto& peer = now.peer();
  const bool is_websocket = !now.request().protocol.empty();
  return {.client = host_of(peer.address),
          .is_secure = now.is_secure(),
          .is_trusted = loop::is_in(trusted_, peer.address),
          .pseudonym = pseudonym_,
          .back_host = "localhost",
          .websocket_key = is_websocket ? ids_.websocket_key() : "",
          .says_forwarded = means_.options.forwarded,
          .request_id = means_.options.request_id ? ids_.request_id() : "",
          .traceparent = means_.options.traceparent ? ids_.traceparent() : ""};
}

loop::task<> web_gate::answer(http::exchange& now) {
  ledger_.note_begin(loop_.now());
  passage of{.began = loop_.now(),
             .client = client_of(now.request(), now.peer().address, trusted_),
             .tls_subject = {},
             .branch = unrouted_};
  if (ledger_.has_log()) of.tls_subject = now.peer().tls_subject;
  const bool is_turned_away = turn_away(now, of.client);
  if (!is_turned_away) co_await serve_request(now, of);
  ledger_.note_end(now, of, loop_.now());
}

bool web_gate::turn_away(http::exchange& now, const loop::socket_address& client) {
  if (means_.admits.is_open()) return false;
  if (!means_.admits.lets_in(client)) {
    means_.figures.denied.add();
    words_.say(now, 403, "clients of your address are not served\n");
    return true;
  }
  const auto wait = means_.admits.wait_of(client, loop_.now());
  if (wait == loop::duration::zero()) return false;
  means_.figures.limited.add();
  const auto wait_s = fmt::format("{}", std::chrono::ceil<std::chrono::seconds>(wait).count());
  words_.say(now, 429, "too many requests from your address: try again in " + wait_s + " s\n",
             {{"Retry-After", wait_s}});
  return true;
}

loop::task<> web_gate::serve_request(http::exchange& now, passage& of) {
  auto asked = forward(now.request(), forwarding_of(now));
  if (asked) {
    change(asked->fields, to_back_);
    if (means_.options.request_id) {
      of.request_id = proto::find_field(asked->fields, "x-request-id").value_or("");
    }
    co_await follow_route(now, std::move(*asked), of);
  } else {
    words_.say(now, asked.error().status, asked.error().reason + "\n");
  }
}

// It may be edited away while the request is under way.
std::shared_ptr<web_gate::route> web_gate::route_of(const proto::http_request& request) const {
  const auto path = plain_path(request.path);
  for (const auto& each : routes_) {
    if (matches(each->is, request, path)) return each;
  }
  return nullptr;
}

loop::task<> web_gate::follow_route(http::exchange& now, forwarded_request asked, passage& of) {
  const auto taken = route_of(now.request());
  if (!taken) {
    if (means_.options.backend.empty()) {
      words_.say(now, 404, "no route leads from here\n");
    } else {
      co_await pass_on(now, asked, means_.to, of);
    }
    co_return;
  }
  of.route = taken->is.text;
  of.branch = taken->counted;
  const auto& is = taken->is;
  const auto target = stripped(is, asked.target);
  if (is.status != 0) {
    proto::http_fields fields;
    if (!is.location.empty()) fields = {{"Location", location_for(is, asked.target)}};
    words_.say(now, is.status, "", std::move(fields));
  } else if (!target) {
    words_.say(now, 400, "write the path as it is, without % where none is needed\n");
  } else {
    asked.target = *target;
    co_await pass_on(now, asked, taken->to, of);
  }
}

loop::task<> web_gate::pass_on(http::exchange& now, const forwarded_request& asked, backs& to,
                               passage& of) {
  const bool may_repeat = is_idempotent(asked.method) && !now.has_body() && asked.upgrade.empty();
  std::vector<back_ref> tried;
  std::optional<failed_try> failed;
  const auto marks = marks_of(now.request(), means_.options.sticky);
  auto what = wish_of(now, balance_);
  what.marks = marks;
  auto left = means_.options.retries;
  for (unsigned tries = 0;; ++tries) {
    auto by = co_await reach(now.peer(), what, to, tried);
    if (!by) {
      if (by.error().code == errc::canceled) {
        now.abort();
      } else if (failed) {
        words_.refuse_after(now, failed->back, failed->why);
      } else if (by.error().code == errc::limit_exceeded) {
        words_.refuse_as_full(now, describe(by.error()));
      } else {
        words_.refuse(now, 503, describe(by.error()));
      }
      co_return;
    }
    const auto& name = means_.options.sticky;
    if (!name.empty()) by->cookie = cookie_for({name, now.is_secure()}, *by->use.of(), to, marks);
    by->request_id = of.request_id;
    of.by = by->use.of();
    failed = co_await try_on(now, asked, *by);
    of.has_answered = !failed && now.has_begun();
    if (!failed) co_return;
    ++by->use.of()->failed;
    // A connection that was kept may have been closed just now, and so may the others to that back:
    // that says nothing of the back, and is no retry, within reason.
    const bool was_stale = by->was_pooled && tries < most_stale;
    const bool is_late = failed->why.code == errc::timed_out;
    if (!by->was_pooled || !failed->is_unheard || is_late) by->use.note(false);
    if ((left == 0 && !was_stale) || !may_repeat || !failed->is_unheard) {
      words_.refuse_after(now, failed->back, failed->why);
      co_return;
    }
    if (was_stale) {
      pool_.forget(*by->use.of());
    } else {
      --left;
      ledger_.note_retry(of);
      tried.push_back(by->use.of());
    }
  }
}

// Errors: of the back that was tried last.
loop::task<result<web_gate::reached>> web_gate::reach(const net::peer_info& client, wish what,
                                                      backs& to, std::vector<back_ref>& tried) {
  std::optional<error> last;
  for (;;) {
    what.tried = tried;
    auto use = co_await to.enter(what);
    if (!use) {
      const bool was_tried = last && use.error().code == errc::not_found;
      co_return std::unexpected(was_tried ? std::move(*last) : use.error());
    }
    const auto next = use->of();
    auto preface = next->preface_for(&client);
    reached made{.use = std::move(*use), .over = pool_.take(*next, preface)};
    if (!made.over) made.over = pool_.share(*next, preface);
    made.was_pooled = made.over != nullptr;
    made.preface = preface;
    if (made.was_pooled) co_return made;
    auto stream = co_await means_.dial(next, std::move(preface));
    if (stream) {
      made.over = speak_on(std::move(*stream), made);
      co_return made;
    }
    made.use.note(false);
    last = stream.error();
    tried.push_back(next);
  }
}

std::unique_ptr<http::inquiry> web_gate::speak_on(std::unique_ptr<net::stream> made,
                                                  const reached& for_it) {
  if (!for_it.use.of()->takes_http2(*made)) {
    return std::make_unique<http::client_connection>(std::move(made));
  }
  const auto patience = patience_of(means_.options.idle_back_timeout);
  auto shared = std::make_shared<http::http2_client>(loop_, std::move(made), patience);
  pool_.keep(for_it.use.of(), for_it.preface, shared);
  return shared->open();
}

// A back that takes no upgrade by HTTP/2 may speak HTTP/1.1 where TLS lets it choose. As it has
// agreed on HTTP/2 before, it knows how to choose: one that does not say HTTP/1.1 now speaks none.
loop::task<result<void>> web_gate::make_switchable(const std::string& protocol, reached& by) {
  const bool may_ask = co_await by.over->may_switch_to(protocol, next_limit(loop_.now()));
  if (may_ask) co_return result<void>{};
  const std::string operation = "open a " + protocol + " at " + by.use.of()->is.where();
  const auto& scheme = *by.use.of()->is.url.scheme;
  if (!scheme.is_secure && scheme.form != net::url_form::name) {
    co_return failure(errc::not_supported, operation, "it takes none by HTTP/2",
                      "leave out http2 behind the back, if it speaks HTTP/1.1 too");
  }
  auto made = co_await means_.dial_http1(by.use.of(), by.preface);
  if (!made) co_return std::unexpected(std::move(made.error()));
  const auto* const secured = (*made)->tls();
  if (secured == nullptr || secured->application != "http/1.1") {
    co_return failure(errc::not_supported, operation,
                      "it takes none by HTTP/2, and does not agree on HTTP/1.1");
  }
  by.over = std::make_unique<http::client_connection>(std::move(*made));
  by.was_pooled = false;
  co_return result<void>{};
}

loop::task<std::optional<web_gate::failed_try>> web_gate::try_on(http::exchange& now,
                                                                 const forwarded_request& asked,
                                                                 reached& by) {
  if (!asked.upgrade.empty()) {
    const auto can = co_await make_switchable(asked.upgrade, by);
    if (!can) {
      means_.log.write_few("upgrade at " + by.use.of()->is.text, level::warning,
                           describe(can.error()));
      words_.say(now, 501, "the back is spoken to in HTTP/2, and does not take that upgrade\n");
      co_return std::nullopt;
    }
  }
  // What opens a WebSocket by HTTP/2 has none: what follows is the WebSocket's.
  const bool has_body = now.has_body() && now.request().protocol.empty();
  by.over->begin({.method = asked.method,
                  .target = asked.target,
                  .fields = asked.fields,
                  .has_body = has_body,
                  .length = length_of(now.request().headers)});
  upload progress{.last_progress = loop_.now(),
                  .most_waiting = means_.options.max_buffer,
                  .is_whole = !has_body};
  loop::task_group sending;
  if (has_body) {
    sending.spawn(send_body(now, by, progress));
  } else {
    by.over->finish();
  }
  auto head = co_await await_head(now, by, progress);
  progress.watching.cancel();
  if (progress.has_left) {
    now.abort();
    co_return std::nullopt;
  }
  if (progress.client_failed) {
    sending.cancel();
    words_.say(now, http::status_of(*progress.client_failed),
               describe(*progress.client_failed) + "\n");
    co_return std::nullopt;
  }
  const bool is_switched = head && head->status == 101;
  if (is_switched && asked.upgrade.empty()) {
    head = failure(errc::malformed, "read the HTTP reply", "it switches to what nobody asked for");
  }
  if (!head)
    co_return failed_try{std::move(head.error()), by.use.of()->is.text, !by.over->has_heard()};
  by.use.note(head->status < 502 || head->status > 504);
  if (is_switched) {
    co_await switch_over(now, by, std::move(*head));
  } else {
    co_await pass_back(now, by, std::move(*head));
  }
  co_return std::nullopt;
}

// Where the client fails, the back's connection ends, and with it what waits for the answer.
loop::task<> web_gate::send_body(http::exchange& now, reached& by, upload& progress) {
  for (;;) {
    auto piece = co_await now.read();
    if (!piece) {
      progress.client_failed = std::move(piece.error());
      by.over->abort();
      co_return;
    }
    if (piece->empty()) break;
    means_.counted.bytes_in.add(piece->size());
    by.over->push(*piece);
    const bool goes_on = co_await by.over->room(progress.most_waiting);
    if (!goes_on) co_return;
    progress.last_progress = loop_.now();
  }
  by.over->finish(passed_trailers(now.take_trailers()));
  progress.is_whole = true;
}

loop::time_point web_gate::next_limit(loop::time_point since) const {
  return since + patience_of(means_.options.answer_timeout);
}

// A back need not answer before it has all of the body. While it is silent for long, the client is
// watched, which most answers are too quick for.
loop::task<result<proto::http_response_head>> web_gate::await_head(http::exchange& now, reached& by,
                                                                   upload& progress) {
  for (;;) {
    const auto begun = progress.last_progress;
    const bool is_watched = !progress.watching.empty();
    const auto limit = next_limit(begun);
    const auto look = is_watched ? limit : std::min(limit, loop_.now() + longest_unwatched);
    auto head = co_await by.over->head(look);
    const bool is_late = !head && head.error().code == errc::timed_out;
    if (!is_late) co_return head;
    if (look == limit && progress.last_progress == begun) co_return head;
    if (!is_watched && progress.is_whole) progress.watching.spawn(watch(now, by, progress));
  }
}

// Nobody waits for the answer any more: the back is told so by the end of its connection.
loop::task<> web_gate::watch(http::exchange& now, reached& by, upload& progress) {
  co_await now.client_left();
  progress.has_left = true;
  by.over->abort();
}

loop::task<> web_gate::pass_back(http::exchange& now, reached& by, proto::http_response_head head) {
  const bool has_date = proto::find_field(head.headers, "date").has_value();
  auto length = length_of(head.headers);
  if (!length && !now.is_head() && by.over->is_empty()) length = 0;
  auto fields = answered_fields(std::move(head.headers), false);
  dress(fields, by);
  now.begin(
      {.status = head.status, .fields = std::move(fields), .length = length, .has_date = has_date});
  for (;;) {
    auto piece = co_await by.over->read(next_limit(loop_.now()));
    if (!piece) {
      means_.counted.errors.add();
      ++by.use.of()->failed;
      means_.log.write_few("answer of " + by.use.of()->is.text, level::warning,
                           fmt::format("back '{}' has broken off an answer: {}",
                                       by.use.of()->is.text, describe(piece.error())));
      now.abort();
      co_return;
    }
    if (piece->empty()) break;
    means_.counted.bytes_out.add(piece->size());
    const bool goes_on = co_await now.write(*piece);
    if (!goes_on) {
      now.abort();
      co_return;
    }
  }
  now.finish(passed_trailers(by.over->take_trailers()));
  if (by.over->is_free()) {
    const auto limit = loop_.now() + patience_of(means_.options.idle_back_timeout);
    pool_.give({by.use.of(), std::move(by.preface), std::move(by.over)}, limit,
               means_.options.max_idle);
  }
}

void web_gate::dress(proto::http_fields& answer, const reached& by) const {
  if (!by.cookie.empty()) answer.emplace_back("set-cookie", by.cookie);
  if (!by.request_id.empty()) {
    std::erase_if(answer, [](const auto& field) { return field.first == "x-request-id"; });
    answer.emplace_back("x-request-id", by.request_id);
  }
  change(answer, to_client_);
}

loop::task<> web_gate::switch_over(http::exchange& now, reached& by,
                                   proto::http_response_head head) const {
  auto fields = answered_fields(std::move(head.headers), now.owns_connection());
  dress(fields, by);
  if (!now.owns_connection()) {
    std::erase_if(fields, [](const auto& field) { return field.first == "sec-websocket-accept"; });
  }
  auto client = now.upgrade(fields);
  co_await means_.join(std::move(client), by.over->upgrade());
}

}  // namespace strata::runtime::proxy
