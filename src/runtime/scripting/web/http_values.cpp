#include "runtime/scripting/web/http_values.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "http/field.hpp"
#include "text/json_text.hpp"
#include "text/word.hpp"

namespace strata::runtime::scripting {

using nlohmann::json;

namespace {

constexpr std::string_view not_a_scripts[] = {"content-length", "transfer-encoding", "connection",
                                              "upgrade", "trailer"};

bool is_ours(std::string_view name, http_side side) {
  if (side == http_side::answer && text::same_text(name, "date")) return true;
  return std::ranges::any_of(not_a_scripts, [&](auto each) { return text::same_text(each, name); });
}

result<void> add(const std::string& name, const json& value, http_side side,
                 proto::http_fields& fields) {
  if (!value.is_primitive() || value.is_null()) {
    return failure(errc::invalid_argument, "send the header field '" + name + "'",
                   "its value is not a text, a number or a boolean", "write it as a string");
  }
  const auto text = value.is_string() ? value.get<std::string>() : text::write_json(value);
  auto field = http::parse_field(name + ": " + text);
  if (!field) return std::unexpected(field.error());
  if (is_ours(field->first, side)) {
    return failure(errc::invalid_argument, "send the header field '" + name + "'",
                   "strata itself sets this field", "leave it out");
  }
  fields.push_back(std::move(*field));
  return {};
}

}  // namespace

json table_of(const proto::http_fields& fields) {
  auto made = json::object();
  for (const auto& [name, value] : fields) {
    auto& there = made[name];
    there = there.is_null() ? value
                            : there.get<std::string>() + (name == "cookie" ? "; " : ", ") + value;
  }
  return made;
}

result<proto::http_fields> fields_of(const json& table, http_side side) {
  if (!table.is_object()) {
    return failure(errc::invalid_argument, "send header fields",
                   "they are not a table with names as keys",
                   "write headers = {['X-Name'] = 'value'}");
  }
  proto::http_fields fields;
  for (const auto& [name, value] : table.items()) {
    const auto all = value.is_array() ? value : json::array({value});
    for (const auto& each : all) {
      if (auto added = add(name, each, side, fields); !added) return std::unexpected(added.error());
    }
  }
  return fields;
}

}  // namespace strata::runtime::scripting
