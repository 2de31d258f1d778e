// HTTP requests that a server's script answers.
#include "runtime/scripting/http_answer.hpp"
#include "runtime/scripting/streamed_body.hpp"
#include "runtime/server/shard.hpp"
#include "runtime/server/shard_script.hpp"

namespace strata::runtime::server {

using scripting::callback;

loop::task<bool> shard_script::answer(http::exchange& now) {
  std::string body;
  if (now.has_body()) {
    auto read = co_await now.read_all(home_.options().http_max_body);
    if (!read) {
      now.respond(http::status_of(read.error()), scripting::plain_answer,
                  describe(read.error()) + "\n");
      co_return true;
    }
    home_.count().bytes_in.add(read->size());
    body = std::move(*read);
  }
  const auto request = scripting::table_of(now, body);
  std::vector<script::argument> with{&request};
  std::unique_ptr<script::kept_function> pieces;
  const auto take = [&pieces](const script::finished& by) -> result<nlohmann::json> {
    if (by.has_failed()) return failure(errc::canceled, "answer", "the script has failed", "");
    pieces = by.function("body");
    return by.structure(0, pieces ? "body" : nullptr);
  };
  auto given = co_await host_.ask(callback::http_request, std::move(with), take);
  home_.publish();
  if (given && given->is_null()) co_return false;
  auto made = given ? scripting::http_answer::read(*given, "on_http_request")
                    : std::unexpected(given.error());
  if (made && pieces) {
    co_await scripting::send_in_pieces(host_, now, std::move(*made), std::move(pieces));
    home_.publish();
  } else if (made) {
    made->send(now);
  } else {
    if (made.error().code != errc::canceled) host_.log(level::error, describe(made.error()));
    now.respond(500, scripting::plain_answer, "the server's script has failed\n");
  }
  co_return true;
}

loop::task<shard_script::websocket_choice> shard_script::choose(http::exchange& now) {
  if (!host_.has(callback::websocket)) co_return websocket_choice{};
  const auto request = scripting::table_of(now, {});
  std::vector<script::argument> with{&request};
  const auto take = [](const script::finished& by) {
    websocket_choice choice{.is_refused = by.has_failed() || by.is_false(), .protocol = {}};
    if (by.is_text()) choice.protocol = by.text();
    return choice;
  };
  co_return co_await host_.ask(callback::websocket, std::move(with), take);
}

}  // namespace strata::runtime::server
