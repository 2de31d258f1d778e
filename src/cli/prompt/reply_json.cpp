#include "cli/prompt/reply_json.hpp"

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "text/base64.hpp"
#include "text/utf8.hpp"

namespace strata::cli {

namespace {

using nlohmann::json;
using proto::resp_value;
using reply_kind = resp_value::kind;

json json_text(const std::string& text) {
  if (text::is_utf8(text)) return text;
  return {{"base64", text::base64_encode(as_bytes(text))}};
}

json json_real(const std::string& written) {
  double number = 0;
  const char* const end = written.data() + written.size();
  const auto [rest, code] = std::from_chars(written.data(), end, number);
  const bool is_number = code == std::errc{} && rest == end && std::isfinite(number);
  return is_number ? json(number) : json(written);
}

// The RESP reader limits the depth of values.
// NOLINTNEXTLINE(misc-no-recursion)
json json_map(const resp_value& map) {
  auto object = json::object();
  auto pairs = json::array();
  for (std::size_t i = 0; i + 1 < map.elements.size(); i += 2) {
    auto key = json_reply(map.elements[i]);
    auto value = json_reply(map.elements[i + 1]);
    if (key.is_string()) object[key.get<std::string>()] = value;
    pairs.push_back({std::move(key), std::move(value)});
  }
  return object.size() == pairs.size() ? object : pairs;
}

}  // namespace

// NOLINTNEXTLINE(misc-no-recursion)
json json_reply(const resp_value& reply) {
  switch (reply.what) {
    case reply_kind::null: return nullptr;
    case reply_kind::integer: return reply.integer;
    case reply_kind::boolean: return reply.integer != 0;
    case reply_kind::real: return json_real(reply.text);
    case reply_kind::error: return {{"error", json_text(reply.text)}};
    case reply_kind::map: return json_map(reply);
    case reply_kind::array:
    case reply_kind::set:
    case reply_kind::push: {
      auto elements = json::array();
      for (const auto& each : reply.elements) elements.push_back(json_reply(each));
      return elements;
    }
    default: return json_text(reply.text);
  }
}

}  // namespace strata::cli
