#include "runtime/scripting/orders.hpp"

#include <utility>

namespace strata::runtime::scripting {

using nlohmann::json;

namespace {

loop::task<script::answers> obeyed(house& by, loop::loop& on, house_order what) {
  auto done = co_await by.obey(on, std::move(what));
  if (!done) co_return std::unexpected(done.error());
  co_return std::vector<json>{std::move(*done)};
}

// An empty table is a list to nobody but JSON.
json options_of(json given) {
  if (given.is_null() || given.empty()) return json::object();
  return given;
}

}  // namespace

loop::task<script::answers> give_order(host& of, house_order what) {
  what.by = of.who().name;
  return obeyed(*of.who().others, of.on(), std::move(what));
}

house_order creation(script::call& with) {
  json options;
  if (with.has(2) && !with.structure(2, options)) return {};
  options = options_of(std::move(options));
  // As a command line has it: -s.
  const bool starts = !options.contains("start") || options["start"] == true;
  options.erase("start");
  return {
      .verb = house_verb::create,
      .name = std::string(with.text(1)),
      .details = {
          {"type", std::string(with.text(0))}, {"options", std::move(options)}, {"start", starts}}};
}

house_order change(script::call& with) {
  json options;
  if (!with.structure(1, options)) return {};
  return {.verb = house_verb::edit,
          .name = std::string(with.text(0)),
          .details = options_of(std::move(options))};
}

}  // namespace strata::runtime::scripting
