#include "runtime/scripting/redis_values.hpp"

#include <charconv>
#include <cmath>
#include <utility>

namespace strata::runtime::scripting {

namespace {

using nlohmann::json;
using proto::resp_value;
using kind = resp_value::kind;

json exact(std::int64_t number) {
  constexpr std::int64_t most = 1LL << 53;
  if (number > most || number < -most) return std::to_string(number);
  return number;
}

json real(std::string&& written) {
  double number = 0;
  const char* const end = written.data() + written.size();
  const auto [rest, code] = std::from_chars(written.data(), end, number);
  if (code == std::errc{} && rest == end && std::isfinite(number)) return number;
  return std::move(written);
}

// The RESP reader limits the depth of values.
// NOLINTNEXTLINE(misc-no-recursion)
json value_of(resp_value&& value) {
  switch (value.what) {
    case kind::null: return nullptr;
    case kind::integer: return exact(value.integer);
    case kind::boolean: return value.integer != 0;
    case kind::real: return real(std::move(value.text));
    case kind::error: return {{"err", std::move(value.text)}};
    case kind::array:
    case kind::set:
    case kind::push: {
      auto all = json::array();
      for (auto& each : value.elements) all.push_back(value_of(std::move(each)));
      return all;
    }
    case kind::map: {
      auto all = json::object();
      for (std::size_t at = 0; at + 1 < value.elements.size(); at += 2) {
        auto key = value_of(std::move(value.elements[at]));
        auto name = key.is_string() ? key.get<std::string>()
                                    : key.dump(-1, ' ', false, json::error_handler_t::replace);
        all[std::move(name)] = value_of(std::move(value.elements[at + 1]));
      }
      return all;
    }
    default: return std::move(value.text);
  }
}

}  // namespace

script::answers script_values(resp_value&& reply) {
  if (reply.what == kind::error) return std::vector<json>{nullptr, std::move(reply.text)};
  std::vector<json> all;
  all.push_back(value_of(std::move(reply)));
  return all;
}

}  // namespace strata::runtime::scripting
