// The HTTP side of a gate, for one request at one backend: sends the request there, and the answer
// to the client.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "http/client/http1_client.hpp"
#include "net/scheme.hpp"
#include "net/tls/session.hpp"
#include "runtime/proxy/web/web_gate.hpp"
#include "runtime/runtime.hpp"
#include "runtime/web/http_serving.hpp"

namespace strata::runtime::proxy {

namespace {

// A backend's silence after which its client is watched.
constexpr auto longest_unwatched = std::chrono::milliseconds(500);

}  // namespace

/// The progress of the client's request body while the proxy waits for its backend.
struct web_gate::upload {
  loop::time_point last_progress;
  std::optional<error> client_failed = {};
  std::size_t most_waiting = 0;
  bool is_whole = false;  // the request has been read completely
  bool has_left = false;
  loop::task_group watching = {};
};

// A backend that takes no upgrade by HTTP/2 may speak HTTP/1.1 if TLS lets it choose. It has
// negotiated HTTP/2 before, so it can choose: if it does not select HTTP/1.1 now, it does not
// support it.
loop::task<result<void>> web_gate::make_switchable(const std::string& protocol, backend_leg& leg) {
  const bool may_ask = co_await leg.over->may_switch_to(protocol, next_limit(loop_.now()));
  if (may_ask) co_return result<void>{};
  const std::string operation = "open a " + protocol + " at " + leg.use.of()->is.where();
  const auto& scheme = *leg.use.of()->is.url.scheme;
  if (!scheme.is_secure && scheme.form != net::url_form::name) {
    co_return failure(errc::not_supported, operation, "it accepts none over HTTP/2",
                      "leave out http2 after the backend if it also speaks HTTP/1.1");
  }
  auto made = co_await means_.dial_http1(leg.use.of(), leg.preface);
  if (!made) co_return std::unexpected(std::move(made.error()));
  const auto* const secured = (*made)->tls();
  if (secured == nullptr || secured->application != "http/1.1") {
    co_return failure(errc::not_supported, operation,
                      "it accepts none over HTTP/2, and does not offer HTTP/1.1");
  }
  leg.over = std::make_unique<http::http1_client>(std::move(*made));
  leg.was_pooled = false;
  co_return result<void>{};
}

bool web_gate::begin_on(http::exchange& exchange, const forwarded_request& request,
                        backend_leg& leg, const sent_body& sent) {
  // An HTTP/2 request that opens a WebSocket has no body: what follows is the WebSocket's data.
  const bool has_body = (exchange.has_body() || sent.is_whole || !sent.bytes.empty()) &&
                        exchange.request().protocol.empty();
  // A body that may be empty and have trailers is sent without a length.
  auto length = length_of(exchange.request().headers);
  if (length == 0 || changes(scripting::callback::proxy_request_body, leg)) length.reset();
  exchange.leave_continue();
  leg.over->begin({.method = request.method,
                   .target = request.target,
                   .fields = request.fields,
                   .has_body = has_body,
                   .length = length});
  return has_body;
}

loop::task<std::optional<web_gate::failed_try>> web_gate::try_on(http::exchange& exchange,
                                                                 const forwarded_request& request,
                                                                 backend_leg& leg,
                                                                 sent_body& sent) {
  if (!request.upgrade.empty()) {
    const auto can = co_await make_switchable(request.upgrade, leg);
    if (!can) {
      means_.log.write_few("upgrade at " + leg.use.of()->is.text, level::warning,
                           describe(can.error()));
      own_answers_.answer(
          exchange, 501,
          "the connection to the backend is HTTP/2, which does not support this upgrade\n");
      co_return std::nullopt;
    }
  }
  const bool has_body = begin_on(exchange, request, leg, sent);
  upload progress{.last_progress = loop_.now(),
                  .most_waiting = means_.options.max_buffer,
                  .is_whole = !has_body};
  loop::task_group sending;
  if (has_body) {
    sending.spawn(send_body(exchange, leg, progress, sent));
  } else {
    leg.over->finish();
  }
  auto head = co_await await_head(exchange, leg, progress);
  progress.watching.cancel();
  if (progress.has_left) {
    exchange.abort();
    co_return std::nullopt;
  }
  if (progress.client_failed && progress.client_failed->code == errc::canceled) {
    sending.cancel();
    answer_as_failed(exchange);
    co_return std::nullopt;
  }
  if (progress.client_failed) {
    sending.cancel();
    own_answers_.answer(exchange, http::status_of(*progress.client_failed),
                        describe(*progress.client_failed) + "\n");
    co_return std::nullopt;
  }
  const bool is_switched = head && head->status == 101;
  if (is_switched && request.upgrade.empty()) {
    head = failure(errc::malformed, "read the HTTP reply",
                   "it switches to a protocol that was not requested");
  }
  if (!head) {
    co_return failed_try{.why = std::move(head.error()),
                         .backend = leg.use.of()->is.text,
                         .is_unanswered = !leg.over->has_received(),
                         .is_refused = leg.over->is_refused()};
  }
  leg.use.note(head->status < 502 || head->status > 504);
  if (is_switched) {
    co_await switch_over(exchange, leg, std::move(*head));
  } else {
    co_await pass_back(exchange, leg, std::move(*head), progress);
  }
  co_return std::nullopt;
}

// If the client fails, the backend's connection ends, and so does the wait for the answer.
loop::task<> web_gate::send_body(http::exchange& exchange, backend_leg& leg, upload& progress,
                                 sent_body& sent) {
  if (!sent.bytes.empty()) leg.over->push(sent.bytes);
  while (!sent.is_whole) {
    auto piece = co_await exchange.read();
    if (!piece) {
      progress.client_failed = std::move(piece.error());
      leg.over->abort();
      co_return;
    }
    const bool is_end = piece->empty();
    means_.counted.bytes_in.add(piece->size());
    if (changes(scripting::callback::proxy_request_body, leg)) {
      auto changed = co_await means_.script->change_piece(
          scripting::callback::proxy_request_body, is_end ? nullptr : &*piece, *leg.described);
      if (!changed) {
        progress.client_failed = std::move(changed.error());
        leg.over->abort();
        co_return;
      }
      piece = std::move(changed);
    }
    if (!piece->empty()) {
      keep(sent, *piece, leg);
      leg.over->push(loop::slice::of(std::move(*piece)));
    }
    if (is_end) {
      sent.trailers = passed_trailers(exchange.take_trailers());
      sent.is_whole = true;
      break;
    }
    const bool goes_on = co_await leg.over->room(progress.most_waiting);
    if (!goes_on) co_return;
    progress.last_progress = loop_.now();
  }
  leg.over->finish(sent.trailers);
  progress.is_whole = true;
}

// Keeps a sent piece for another try. A body that a script changes is not kept: the script is not
// asked to change it again.
void web_gate::keep(sent_body& sent, const std::string& piece, const backend_leg& leg) const {
  const bool fits = sent.bytes.size() + piece.size() <= means_.options.max_buffer;
  sent.is_lost = sent.is_lost || !fits || !leg.over->can_be_refused() ||
                 changes(scripting::callback::proxy_request_body, leg);
  if (sent.is_lost) {
    std::string().swap(sent.bytes);
  } else {
    sent.bytes += piece;
  }
}

loop::time_point web_gate::next_limit(loop::time_point since) const {
  return since + timeout_of(means_.options.answer_timeout);
}

// A backend may answer only after the whole body. During a long silence the client is watched,
// which most answers are too quick for.
loop::task<result<proto::http_response_head>> web_gate::await_head(http::exchange& exchange,
                                                                   backend_leg& leg,
                                                                   upload& progress) {
  for (;;) {
    const auto begun = progress.last_progress;
    const bool is_watched = !progress.watching.empty();
    const auto limit = next_limit(begun);
    const auto look = is_watched ? limit : std::min(limit, loop_.now() + longest_unwatched);
    auto head = co_await leg.over->head(look);
    const bool is_late = !head && head.error().code == errc::timed_out;
    if (head && proto::is_interim(head->status)) {
      exchange.inform(head->status, answered_fields(std::move(head->headers), false));
      const bool has_room = co_await exchange.room();
      if (has_room) {
        progress.last_progress = loop_.now();
        continue;
      }
      progress.has_left = true;
      leg.over->abort();
    }
    if (!is_late) co_return head;
    if (look == limit && progress.last_progress == begun) co_return head;
    if (!is_watched && progress.is_whole) progress.watching.spawn(watch(exchange, leg, progress));
  }
}

// The client is gone: the end of the backend's connection tells the backend.
loop::task<> web_gate::watch(http::exchange& exchange, backend_leg& leg, upload& progress) {
  co_await exchange.client_left();
  progress.has_left = true;
  leg.over->abort();
}

loop::task<result<std::string>> web_gate::await_piece(http::exchange& exchange, backend_leg& leg,
                                                      upload& progress) {
  const auto limit = next_limit(loop_.now());
  const auto look = progress.is_whole ? std::min(limit, loop_.now() + longest_unwatched) : limit;
  auto piece = co_await leg.over->read(look);
  const bool is_silent = !piece && piece.error().code == errc::timed_out && look != limit;
  if (is_silent) {
    progress.watching.spawn(watch(exchange, leg, progress));
    piece = co_await leg.over->read(limit);
    progress.watching.cancel();
  }
  co_return piece;
}

loop::task<> web_gate::pass_back(http::exchange& exchange, backend_leg& leg,
                                 proto::http_response_head head, upload& progress) {
  const bool has_date = proto::find_field(head.headers, "date").has_value();
  auto length = length_of(head.headers);
  // An HTTP/2 answer without a body may still have trailers.
  if (!exchange.is_head() && leg.over->is_empty()) {
    length = 0;
  } else if (length == 0 && !exchange.is_head()) {
    length.reset();
  }
  gate_script::answered said{.status = head.status,
                             .fields = answered_fields(std::move(head.headers), false),
                             .body = std::nullopt,
                             .reason = std::move(head.reason)};
  dress(said.fields, leg);
  if (changes(scripting::callback::proxy_response, leg)) {
    const bool is_changed = co_await change_answer(exchange, leg, said);
    if (!is_changed) co_return;
  }
  const bool has_body = http::may_have_body(head.status) && !exchange.is_head() && length != 0;
  const bool is_piecewise = has_body && changes(scripting::callback::proxy_response_body, leg);
  if (is_piecewise) length = std::nullopt;
  exchange.begin({.status = said.status,
                  .fields = std::move(said.fields),
                  .length = length,
                  .reason = said.status == head.status ? std::move(said.reason) : std::string(),
                  .has_date = has_date});
  for (;;) {
    auto piece = co_await await_piece(exchange, leg, progress);
    if (progress.has_left) {
      exchange.abort();
      co_return;
    }
    if (!piece) {
      means_.counted.errors.add();
      ++leg.use.of()->failed;
      means_.log.write_few("answer of " + leg.use.of()->is.text, level::warning,
                           fmt::format("backend '{}' has broken off an answer: {}",
                                       leg.use.of()->is.text, describe(piece.error())));
      exchange.abort();
      co_return;
    }
    const bool is_end = piece->empty();
    if (is_end && !is_piecewise) break;
    means_.counted.bytes_out.add(piece->size());
    bool goes_on = false;
    if (is_piecewise) {
      goes_on = co_await pass_piece(exchange, leg, is_end ? nullptr : &*piece);
    } else {
      goes_on = co_await exchange.write(loop::slice::of(std::move(*piece)));
    }
    if (goes_on && is_end) break;
    if (!goes_on) {
      exchange.abort();
      co_return;
    }
  }
  exchange.finish(passed_trailers(leg.over->take_trailers()));
  if (leg.over->is_free()) {
    const auto limit = loop_.now() + timeout_of(means_.options.idle_backend_timeout);
    pool_.give({leg.use.of(), std::move(leg.preface), std::move(leg.over)}, limit,
               means_.options.max_idle);
  }
}

// An answer that replaces the backend's is complete, and the backend's body is not read.
loop::task<bool> web_gate::change_answer(http::exchange& exchange, const backend_leg& leg,
                                         gate_script::answered& answered) {
  auto changed = co_await means_.script->change(*leg.described, answered);
  if (changed && !answered.body) co_return true;
  if (!changed) {
    answer_as_failed(exchange);
  } else {
    exchange.respond({.status = answered.status, .fields = std::move(answered.fields)},
                     *answered.body);
  }
  leg.over->abort();
  co_return false;
}

loop::task<bool> web_gate::pass_piece(http::exchange& exchange, const backend_leg& leg,
                                      const std::string* piece) {
  auto changed = co_await means_.script->change_piece(scripting::callback::proxy_response_body,
                                                      piece, *leg.described);
  if (!changed) co_return false;
  if (changed->empty()) co_return true;
  co_return co_await exchange.write(loop::slice::of(std::move(*changed)));
}

void web_gate::dress(proto::http_fields& answer, const backend_leg& leg) const {
  if (!leg.cookie.empty()) answer.emplace_back("set-cookie", leg.cookie);
  if (!leg.request_id.empty()) {
    std::erase_if(answer, [](const auto& field) { return field.first == "x-request-id"; });
    answer.emplace_back("x-request-id", leg.request_id);
  }
  change(answer, to_client_);
}

loop::task<> web_gate::switch_over(http::exchange& exchange, backend_leg& leg,
                                   proto::http_response_head head) const {
  auto fields = answered_fields(std::move(head.headers), exchange.owns_connection());
  dress(fields, leg);
  if (!exchange.owns_connection()) {
    std::erase_if(fields, [](const auto& field) { return field.first == "sec-websocket-accept"; });
  }
  web_means::switched switched{
      .id = exchange.owns_connection() ? exchange.connection().id : means_.next_client(),
      .channel = exchange.upgrade(fields)};
  co_await means_.join(std::move(switched), leg.over->upgrade());
}

}  // namespace strata::runtime::proxy
