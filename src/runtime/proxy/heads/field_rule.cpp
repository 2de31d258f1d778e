#include "runtime/proxy/heads/field_rule.hpp"

#include <utility>

#include "http/field.hpp"
#include "proto/token.hpp"
#include "runtime/proxy/heads/forwarding.hpp"
#include "text/word.hpp"

namespace strata::runtime::proxy {

namespace {

std::unexpected<error> refuse_rule(const std::string& text, std::string reason) {
  return failure(errc::invalid_argument, "change header fields by '" + text + "'",
                 std::move(reason), "write 'set NAME: VALUE', 'add NAME: VALUE' or 'remove NAME'");
}

}  // namespace

result<field_rule> parse_field_rule(const std::string& text) {
  const auto blank = text.find(' ');
  const auto verb = text.substr(0, blank);
  const auto rest = blank == std::string::npos ? std::string() : text.substr(blank + 1);
  field_rule made;
  if (verb == "remove") {
    if (!proto::is_token(rest))
      return refuse_rule(text, "'" + rest + "' is not the name of a header field");
    made = {.does = field_rule::kind::remove, .name = rest, .value = {}};
  } else if (verb == "set" || verb == "add") {
    auto field = http::parse_field(rest);
    if (!field) return std::unexpected(field.error());
    made = {.does = verb == "set" ? field_rule::kind::set : field_rule::kind::add,
            .name = std::move(field->first),
            .value = std::move(field->second)};
  } else {
    return refuse_rule(text, "'" + verb + "' is neither set nor add nor remove");
  }
  made.name = text::in_small_letters(made.name);
  if (is_of_one_connection(made.name)) {
    return refuse_rule(text, "the proxy itself sets '" + made.name + "', or removes it");
  }
  return made;
}

std::vector<field_rule> field_rules_of(const std::vector<std::string>& texts) {
  std::vector<field_rule> all;
  all.reserve(texts.size());
  for (const auto& each : texts) all.push_back(*parse_field_rule(each));
  return all;
}

void change(proto::http_fields& fields, const std::vector<field_rule>& rules) {
  for (const auto& rule : rules) {
    if (rule.does != field_rule::kind::add) {
      std::erase_if(fields, [&rule](const auto& field) { return field.first == rule.name; });
    }
    if (rule.does != field_rule::kind::remove) fields.emplace_back(rule.name, rule.value);
  }
}

}  // namespace strata::runtime::proxy
