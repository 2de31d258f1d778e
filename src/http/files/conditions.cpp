#include "http/files/conditions.hpp"

#include "http/http_date.hpp"
#include "proto/http/http_fields.hpp"

namespace strata::http {

namespace {

enum class comparison : bool { strong, weak };

// Searches a list of tags; a tag may contain a comma. Reading stops at a syntax error.
bool lists_tag(std::string_view list, std::string_view tag, comparison comparison) {
  for (;;) {
    const auto begin = list.find_first_not_of(" \t,");
    if (begin == std::string_view::npos) return false;
    list.remove_prefix(begin);
    const bool is_weak = list.starts_with("W/");
    if (is_weak) list.remove_prefix(2);
    const auto end = list.starts_with('"') ? list.find('"', 1) : std::string_view::npos;
    if (end == std::string_view::npos) return false;
    const bool may_match = comparison == comparison::weak || !is_weak;
    if (may_match && list.substr(0, end + 1) == tag) return true;
    list.remove_prefix(end + 1);
  }
}

bool matches(std::string_view list, std::string_view tag, comparison comparison) {
  return list == "*" || lists_tag(list, tag, comparison);
}

std::optional<std::int64_t> date_field(const proto::http_fields& headers, std::string_view name) {
  const auto text = proto::find_field(headers, name);
  return text ? parse_date(*text) : std::nullopt;
}

}  // namespace

judgement judge(const proto::http_fields& headers, const validators& validators) {
  if (const auto wanted = proto::joined_field(headers, "if-match")) {
    if (!matches(*wanted, validators.etag, comparison::strong)) return judgement::failed;
  } else if (const auto date = date_field(headers, "if-unmodified-since")) {
    if (validators.modified_s > *date) return judgement::failed;
  }
  if (const auto known = proto::joined_field(headers, "if-none-match")) {
    const bool is_known = matches(*known, validators.etag, comparison::weak);
    return is_known ? judgement::not_modified : judgement::go_on;
  }
  const auto date = date_field(headers, "if-modified-since");
  return date && validators.modified_s <= *date ? judgement::not_modified : judgement::go_on;
}

bool allows_range(const proto::http_fields& headers, const validators& validators,
                  std::int64_t now_s) {
  const auto condition = proto::find_field(headers, "if-range");
  if (!condition) return true;
  if (condition->starts_with('"')) return *condition == validators.etag;
  const auto date = parse_date(*condition);
  return date && *date == validators.modified_s && validators.modified_s < now_s;
}

}  // namespace strata::http
