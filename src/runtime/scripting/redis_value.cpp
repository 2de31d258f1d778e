#include "runtime/scripting/redis_value.hpp"

#include <nlohmann/json.hpp>

#include "text/redis_number.hpp"

namespace strata::runtime::scripting {

using nlohmann::json;

namespace {

// A map's keys are texts in JSON.
std::string key_of(const proto::resp_value& of) {
  return of.what == proto::resp_value::kind::integer ? std::to_string(of.integer) : of.text;
}

}  // namespace

json json_of(const proto::resp_value& of) {
  using enum proto::resp_value::kind;
  switch (of.what) {
    case null: return nullptr;
    case integer: return of.integer;
    case boolean: return of.integer != 0;
    case real: {
      const auto number = text::parse_real(of.text);
      return number ? json(*number) : json(of.text);
    }
    case map: {
      auto made = json::object();
      for (std::size_t i = 0; i + 1 < of.elements.size(); i += 2) {
        made[key_of(of.elements[i])] = json_of(of.elements[i + 1]);
      }
      return made;
    }
    case array:
    case set:
    case push: {
      auto made = json::array();
      for (const auto& each : of.elements) made.push_back(json_of(each));
      return made;
    }
    default: return of.text;
  }
}

}  // namespace strata::runtime::scripting
