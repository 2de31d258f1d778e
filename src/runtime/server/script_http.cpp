// HTTP requests that a server's script answers.
#include <algorithm>

#include "runtime/scripting/http_values.hpp"
#include "runtime/server/shard.hpp"
#include "runtime/server/shard_script.hpp"
#include "text/word.hpp"

namespace strata::runtime::server {

using scripting::callback;

namespace {

constexpr std::string_view text_type = "text/plain; charset=utf-8";

// What a script gives for an answer, checked: it may be made of what a client has said.
class script_answer {
 public:
  /// Errors: what it may not be.
  static result<script_answer> read(const nlohmann::json& given) {
    script_answer made;
    if (given.is_string()) {
      made.body_ = given.get<std::string>();
      return made;
    }
    if (!given.is_object()) return wrong("it is neither a text nor a table of names");
    if (const auto status = given.find("status"); status != given.end()) {
      if (!status->is_number_integer() || *status < 200 || *status > 599) {
        return wrong("its status is no whole number from 200 to 599");
      }
      made.head_.status = status->get<int>();
    }
    if (const auto fields = given.find("headers"); fields != given.end()) {
      if (auto taken = made.take_fields(*fields); !taken) return std::unexpected(taken.error());
    }
    return made.take_body(given) ? result<script_answer>(std::move(made))
                                 : wrong("its body is no text, or its json none that is UTF-8");
  }

  void send(http::exchange& on) {
    if (!has_type_ && http::may_have_body(head_.status)) {
      head_.fields.emplace_back("Content-Type", type_);
    }
    on.respond(std::move(head_), body_);
  }

 private:
  static std::unexpected<error> wrong(std::string why) {
    return failure(errc::invalid_argument, "take on_http_request's answer", std::move(why),
                   "give a text, or {status=, headers=, body=} or {json=}");
  }

  result<void> take_fields(const nlohmann::json& table) {
    auto fields = scripting::fields_of(table, scripting::http_side::answer);
    if (!fields) return std::unexpected(fields.error());
    head_.fields = std::move(*fields);
    has_type_ = std::ranges::any_of(
        head_.fields, [](const auto& each) { return text::same_text(each.first, "content-type"); });
    return {};
  }

  bool take_body(const nlohmann::json& given) {
    if (const auto tree = given.find("json"); tree != given.end()) {
      type_ = "application/json";
      body_ = tree->dump(-1, ' ', false, nlohmann::json::error_handler_t::ignore);
      return true;
    }
    const auto body = given.find("body");
    if (body == given.end() || body->is_null()) return true;
    if (!body->is_string()) return false;
    body_ = body->get<std::string>();
    return true;
  }

  http::answer_head head_;
  std::string body_;
  std::string type_{text_type};
  bool has_type_ = false;
};

}  // namespace

nlohmann::json shard_script::request_of(const http::exchange& now, const std::string& body) const {
  const auto& of = now.request();
  return {{"method", of.method},
          {"path", of.path},
          {"target", of.target},
          {"query", scripting::table_of(of.query)},
          {"headers", scripting::table_of(of.headers)},
          {"body", body},
          {"version", of.version},
          {"peer", now.peer().address.text()},
          {"is_secure", now.is_secure()}};
}

loop::task<bool> shard_script::answer(http::exchange& now) {
  std::string body;
  if (now.has_body()) {
    auto read = co_await now.read_all(home_.options().http_max_body);
    if (!read) {
      now.respond(http::status_of(read.error()), text_type, describe(read.error()) + "\n");
      co_return true;
    }
    home_.count().bytes_in.add(read->size());
    body = std::move(*read);
  }
  const auto request = request_of(now, body);
  std::vector<script::argument> with{&request};
  const auto take = [](const script::finished& by) -> result<nlohmann::json> {
    if (by.has_failed()) return failure(errc::canceled, "answer", "the script has failed", "");
    return by.structure();
  };
  auto given = co_await host_.ask(callback::http_request, std::move(with), take);
  home_.publish();
  if (given && given->is_null()) co_return false;
  result<script_answer> made =
      given ? script_answer::read(*given) : result<script_answer>(std::unexpected(given.error()));
  if (made) {
    made->send(now);
  } else {
    if (made.error().code != errc::canceled) host_.log(level::error, describe(made.error()));
    now.respond(500, text_type, "the server's script has failed\n");
  }
  co_return true;
}

loop::task<shard_script::websocket_choice> shard_script::choose(http::exchange& now) {
  if (!host_.has(callback::websocket)) co_return websocket_choice{};
  const auto request = request_of(now, {});
  std::vector<script::argument> with{&request};
  const auto take = [](const script::finished& by) {
    websocket_choice choice{.is_refused = by.has_failed() || by.is_false(), .protocol = {}};
    if (by.is_text()) choice.protocol = by.text();
    return choice;
  };
  co_return co_await host_.ask(callback::websocket, std::move(with), take);
}

}  // namespace strata::runtime::server
