#include "runtime/scripting/web/http_answer.hpp"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "runtime/scripting/web/http_values.hpp"
#include "text/word.hpp"

namespace strata::runtime::scripting {

result<http_answer> http_answer::read(const nlohmann::json& value, std::string_view text) {
  http_answer made;
  made.type_ = plain_answer;
  if (value.is_string()) {
    made.body_ = value.get<std::string>();
    return made;
  }
  if (auto taken = made.take(value); !taken) {
    return failure(errc::invalid_argument, "take the answer of " + std::string(text),
                   taken.error().reason, "return a text, or {status=, headers=, body=} or {json=}");
  }
  return made;
}

result<void> http_answer::take(const nlohmann::json& value) {
  const auto wrong = [](std::string why) {
    return failure(errc::invalid_argument, "take an answer", std::move(why));
  };
  if (!value.is_object()) return wrong("it is neither a text nor a table of names");
  if (const auto status = value.find("status"); status != value.end()) {
    if (!status->is_number_integer() || *status < 200 || *status > 599) {
      return wrong("its status is not a whole number from 200 to 599");
    }
    head_.status = status->get<int>();
  }
  if (const auto table = value.find("headers"); table != value.end()) {
    auto fields = fields_of(*table, http_side::answer);
    if (!fields) return wrong(describe(fields.error()));
    head_.fields = std::move(*fields);
    has_type_ = std::ranges::any_of(
        head_.fields, [](const auto& each) { return text::same_text(each.first, "content-type"); });
  }
  if (!take_body(value)) return wrong("its body is not a text");
  return {};
}

bool http_answer::take_body(const nlohmann::json& value) {
  if (const auto tree = value.find("json"); tree != value.end()) {
    type_ = "application/json";
    body_ = tree->dump(-1, ' ', false, nlohmann::json::error_handler_t::ignore);
    return true;
  }
  const auto body = value.find("body");
  if (body == value.end() || body->is_null()) return true;
  if (!body->is_string()) return false;
  body_ = body->get<std::string>();
  return true;
}

void http_answer::say_type() {
  if (!has_type_ && http::may_have_body(head_.status)) {
    head_.fields.emplace_back("Content-Type", type_);
  }
}

bool http_answer::begin(http::exchange& exchange) {
  say_type();
  const bool has_body = http::may_have_body(head_.status);
  exchange.begin(std::move(head_));
  return has_body;
}

void http_answer::send(http::exchange& exchange) {
  say_type();
  exchange.respond(std::move(head_), body_);
}

// A row of this table is a field of the request's table.
struct request_field {
  std::string_view name;
  nlohmann::json (*of)(const http::exchange& exchange);
};

constexpr request_field request_fields[] = {
    {"method", [](const auto& asked) { return nlohmann::json(asked.request().method); }},
    {"path", [](const auto& asked) { return nlohmann::json(asked.request().path); }},
    {"target", [](const auto& asked) { return nlohmann::json(asked.request().target); }},
    {"query",
     [](const auto& asked) {
       const auto& request = asked.request();
       return request.has_opaque_query ? nlohmann::json() : table_of(request.query);
     }},
    {"headers", [](const auto& asked) { return table_of(asked.request().headers); }},
    {"version", [](const auto& asked) { return nlohmann::json(asked.request().version); }},
    {"peer", [](const auto& asked) { return nlohmann::json(asked.peer().address.text()); }},
    {"is_secure", [](const auto& asked) { return nlohmann::json(asked.is_secure()); }},
};

nlohmann::json table_of(const http::exchange& exchange, const std::string& body) {
  nlohmann::json made{{"body", body}};
  for (const auto& each : request_fields) made[std::string(each.name)] = each.of(exchange);
  return made;
}

// Fields of one name are joined, which most requests do not need.
bool lazy_request::give_texts(std::string_view name, script::text_table& table) const {
  if (name != "headers") return false;
  constexpr std::size_t many = 32;  // limit for comparing names pairwise
  const auto& fields = asked_.request().headers;
  if (fields.size() > many) return false;
  for (auto one = fields.begin(); one != fields.end(); ++one) {
    const auto is_same = [&](const auto& other) { return other.first == one->first; };
    if (std::any_of(std::next(one), fields.end(), is_same)) return false;
  }
  table.begin(fields.size());
  for (const auto& [each, value] : fields) table.add(each, value);
  return true;
}

nlohmann::json lazy_request::field(std::string_view name) const {
  const auto* const found = std::ranges::find(request_fields, name, &request_field::name);
  return found == std::end(request_fields) ? nlohmann::json() : found->of(asked_);
}

}  // namespace strata::runtime::scripting
