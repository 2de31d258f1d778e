#include "runtime/server/script/request_answers.hpp"

#include "runtime/scripting/web/http_answer.hpp"
#include "runtime/scripting/web/streamed_body.hpp"
#include "runtime/scripting/web/taken_body.hpp"
#include "runtime/server/shard.hpp"

namespace strata::runtime::server {

using scripting::callback;

using scripting::given_answer;

namespace {

constexpr auto http_body = "on_http_body";
constexpr auto http_request = "on_http_request";

}  // namespace

class request_answers::pending_answer {
 public:
  explicit pending_answer(request_answers& answers) : answers_(answers) { ++answers_.pending_; }
  pending_answer(const pending_answer&) = delete;
  pending_answer& operator=(const pending_answer&) = delete;
  ~pending_answer() {
    --answers_.pending_;
    answers_.settled_.notify();
  }

 private:
  request_answers& answers_;
};

loop::task<bool> request_answers::answer(http::exchange& exchange) {
  const pending_answer pending(*this);
  std::string_view by = http_body;
  result<given_answer> given;
  if (exchange.has_body() && host_.has(callback::http_body))
    given = co_await ask_for_taker(exchange);
  if (given && given->head.is_null() && !exchange.has_begun() &&
      host_.has(callback::http_request)) {
    by = http_request;
    given = co_await ask_for_answer(exchange);
  }
  home_.publish();
  if (exchange.has_begun()) co_return true;  // the request's body could not be read
  if (given && given->head.is_null()) co_return false;
  auto made =
      given ? scripting::http_answer::read(given->head, by) : std::unexpected(given.error());
  if (!made && host_.has_ended()) {
    exchange.respond(503, scripting::plain_answer, "the server is stopping\n");
  } else if (!made) {
    if (made.error().code != errc::canceled) host_.log(level::error, describe(made.error()));
    exchange.respond(500, scripting::plain_answer, "the server's script has failed\n");
  } else if (given->body) {
    co_await scripting::send_in_pieces(host_, exchange, std::move(*made), std::move(given->body));
    home_.publish();
  } else {
    made->send(exchange);
  }
  co_return true;
}

loop::task<result<given_answer>> request_answers::ask_for_taker(http::exchange& exchange) {
  const auto request = scripting::table_of(exchange, {});
  std::vector<script::argument> with{&request};
  std::unique_ptr<script::kept_function> taker;
  const auto take = [&taker](const script::finished& outcome) {
    taker = outcome.function();
    return taker ? result<given_answer>() : scripting::read_answer(outcome, http_body);
  };
  auto given = co_await host_.ask(callback::http_body, std::move(with), take);
  if (!taker) co_return given;
  co_return co_await scripting::take_in_pieces(host_, exchange, *taker, home_.count().bytes_in);
}

loop::task<result<given_answer>> request_answers::ask_for_answer(http::exchange& exchange) {
  std::string body;
  if (exchange.has_body()) {
    auto read = co_await exchange.read_all(home_.options().http_max_body);
    if (!read) {
      exchange.respond(http::status_of(read.error()), scripting::plain_answer,
                       describe(read.error()) + "\n");
      co_return given_answer{};
    }
    home_.count().bytes_in.add(read->size());
    body = std::move(*read);
  }
  const auto request = scripting::table_of(exchange, body);
  std::vector<script::argument> with{&request};
  const auto take = [](const script::finished& outcome) {
    return scripting::read_answer(outcome, http_request);
  };
  co_return co_await host_.ask(callback::http_request, std::move(with), take);
}

loop::task<websocket_choice> request_answers::choose(http::exchange& exchange, std::uint64_t id) {
  const pending_answer pending(*this);
  if (!host_.has(callback::websocket)) co_return websocket_choice{};
  const auto request = scripting::table_of(exchange, {});
  std::vector<script::argument> with{&request, static_cast<double>(id)};
  const auto take = [](const script::finished& outcome) {
    websocket_choice choice{.is_refused = outcome.has_failed() || outcome.is_false(),
                            .protocol = {}};
    if (outcome.is_text()) choice.protocol = outcome.text();
    return choice;
  };
  co_return co_await host_.ask(callback::websocket, std::move(with), take);
}

void request_answers::keep_identity(std::uint64_t id, const proto::http_request& request) {
  static constexpr std::pair<const char*, const char*> fields[] = {
      {"cookie", "cookie"},
      {"origin", "origin"},
      {"protocol", "sec-websocket-protocol"},
      {"authorization", "authorization"}};
  auto identity = nlohmann::json::object();
  for (const auto& [name, field] : fields) {
    if (const auto value = request.header(field)) identity[name] = *value;
  }
  identities_.insert_or_assign(id, std::move(identity));
}

const nlohmann::json* request_answers::identity_of(std::uint64_t id) const {
  const auto found = identities_.find(id);
  return found == identities_.end() ? nullptr : &found->second;
}

}  // namespace strata::runtime::server
