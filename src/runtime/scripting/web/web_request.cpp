#include "runtime/scripting/web/web_request.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "http/client/http1_client.hpp"
#include "http/field.hpp"
#include "loop/within.hpp"
#include "net/connector.hpp"
#include "proto/token.hpp"
#include "runtime/scripting/web/http_values.hpp"
#include "text/word.hpp"

namespace strata::runtime::scripting {

using nlohmann::json;

namespace {

constexpr double usual_timeout_ms = 5000;
constexpr double longest_timeout_ms = 3600e3;
constexpr std::size_t most_body = 16U << 20U;

struct web_question {
  net::endpoint_url url;
  std::string method = "GET";
  proto::http_fields fields;
  std::string body;
  loop::duration timeout{};
};

std::unexpected<error> wrong(std::string why) {
  return failure(errc::invalid_argument, "ask the web", std::move(why),
                 "give strata.http{url=, method=, headers=, body=, timeout_ms=}");
}

result<web_question> read_question(const json& value) {
  if (!value.is_object() || !value.contains("url") || !value["url"].is_string()) {
    return wrong("it has no url");
  }
  auto url = net::parse_connecting(value["url"].get_ref<const std::string&>());
  if (!url) return std::unexpected(url.error());
  const auto text = url->text();
  if (!text.starts_with("http://") && !text.starts_with("https://")) {
    return wrong(fmt::format("'{}' is neither http:// nor https://", text));
  }
  web_question made{.url = std::move(*url)};
  if (value.contains("method")) {
    if (!value["method"].is_string() || !proto::is_token(value["method"].get<std::string>())) {
      return wrong("its method is not valid");
    }
    made.method = value["method"];
  }
  if (value.contains("body")) {
    if (!value["body"].is_string()) return wrong("its body is not a text");
    made.body = value["body"];
    if (!value.contains("method")) made.method = "POST";
  }
  if (value.contains("headers")) {
    auto fields = fields_of(value["headers"], http_side::request);
    if (!fields) return std::unexpected(fields.error());
    made.fields = std::move(*fields);
  }
  const auto says_host = [](const auto& each) { return text::same_text(each.first, "host"); };
  if (std::ranges::none_of(made.fields, says_host)) {
    made.fields.emplace(made.fields.begin(), "host", http::host_field(made.url));
  }
  made.fields.emplace_back("connection", "close");
  const double ms = value.contains("timeout_ms") && value["timeout_ms"].is_number()
                        ? value["timeout_ms"].get<double>()
                        : usual_timeout_ms;
  made.timeout = loop::from_seconds(std::clamp(ms, 1.0, longest_timeout_ms) / 1000);
  return made;
}

loop::task<result<json>> fetch(loop::loop& loop, const web_question& question) {
  net::connecting how{.timeout = question.timeout};
  auto made = co_await net::connect(loop, question.url, std::move(how));
  if (!made) co_return std::unexpected(made.error());
  http::http1_client over(std::move(made->bytes));
  const auto limit = loop.now() + question.timeout;
  const auto target = question.url.path.empty() ? "/" : question.url.path;
  const auto head = co_await over.ask(question.method, target, question.fields, question.body);
  if (!head) co_return std::unexpected(head.error());
  auto body = co_await over.read_all(most_body, limit);
  if (!body) co_return std::unexpected(body.error());
  json given{{"ok", head->status >= 200 && head->status < 300},
             {"status", head->status},
             {"headers", table_of(head->headers)},
             {"body", std::move(*body)}};
  co_return given;
}

loop::task<script::answers> request(loop::loop& loop, web_question question) {
  auto asked = fetch(loop, question);
  auto got = co_await loop::within(loop, std::move(asked), loop.now() + question.timeout);
  json given;
  if (!got) {
    given = {{"ok", false}, {"error", question.url.text() + " has not answered in time"}};
  } else if (!*got) {
    given = {{"ok", false}, {"error", describe(got->error())}};
  } else {
    given = std::move(**got);
  }
  co_return std::vector<json>{std::move(given)};
}

}  // namespace

loop::task<script::answers> request_web(host& host, script::call& call) {
  json given;
  if (!call.structure(0, given)) return {};
  auto read = read_question(given);
  if (!read) {
    call.fail(describe(read.error()));
    return {};
  }
  return request(host.on(), std::move(*read));
}

}  // namespace strata::runtime::scripting
