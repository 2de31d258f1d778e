#include "runtime/scripting/web/taken_body.hpp"

#include <array>
#include <string>
#include <utility>

#include "runtime/scripting/web/http_answer.hpp"
#include "script/asked.hpp"

namespace strata::runtime::scripting {

namespace {

std::unexpected<error> script_failed() {
  return failure(errc::canceled, "answer", "the script has failed", "");
}

loop::task<result<given_answer>> call_taker(host& host, script::kept_function& taker,
                                            std::array<script::argument, 2> array) {
  if (taker.is_gone()) co_return script_failed();
  const auto read = [](const script::finished& ended) {
    return read_answer(ended, "on_http_body");
  };
  script::question one(host.on(), read);
  taker.start(array, &one);
  if (!one.has_ended()) {
    [[maybe_unused]] const bool has_come = co_await one.ended();
  }
  co_return one.take();
}

given_answer no_content() {
  given_answer made;
  made.head["status"] = 204;
  return made;
}

}  // namespace

result<given_answer> read_answer(const script::finished& outcome, std::string_view name) {
  if (outcome.has_failed()) return script_failed();
  given_answer made;
  made.body = outcome.function("body");
  auto head = outcome.structure(0, made.body ? "body" : nullptr);
  if (!head) {
    head.error().operation = "take the answer of " + std::string(name);
    return std::unexpected(head.error());
  }
  made.head = std::move(*head);
  return made;
}

loop::task<result<given_answer>> take_in_pieces(host& host, http::exchange& exchange,
                                                script::kept_function& taker, counter& bytes) {
  for (;;) {
    const auto piece = co_await exchange.read();
    if (!piece) {
      const auto why = describe(piece.error());
      const std::array<script::argument, 2> with{std::monostate{}, std::string_view(why)};
      [[maybe_unused]] const auto last = co_await call_taker(host, taker, with);
      exchange.respond(http::status_of(piece.error()), plain_answer, why + "\n");
      co_return given_answer{};
    }
    bytes.add(piece->size());
    const bool is_end = piece->empty();
    std::array<script::argument, 2> with{};
    if (!is_end) with[0] = std::string_view(*piece);
    auto given = co_await call_taker(host, taker, with);
    if (!given || !given->head.is_null()) co_return given;
    if (is_end) co_return no_content();
  }
}

}  // namespace strata::runtime::scripting
