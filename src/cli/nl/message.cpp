#include "cli/nl/message.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/terminal/output.hpp"
#include "text/readable.hpp"
#include "ynl/value.hpp"

namespace strata::cli {

using nlohmann::json;

namespace {

// In a specification a set may contain itself, and a message may be nested without limit.
constexpr std::size_t deepest_nest = 16;

std::string hex_of(byte_span bytes) {
  constexpr std::size_t most = 64;
  std::string text;
  for (const auto byte : bytes.first(std::min(most, bytes.size()))) {
    text += fmt::format("{:02x}", static_cast<unsigned>(byte));
  }
  return bytes.size() > most ? text + "…" : text;
}

bool is_text(const wire::netlink_attribute& attribute) {
  const auto all = as_text(attribute.value());
  if (all.size() < 2 || all.back() != '\0') return false;
  return std::ranges::all_of(all.substr(0, all.size() - 1),
                             [](char letter) { return letter >= ' ' && letter != '\x7f'; });
}

// A number of four bytes is seldom a nest with one empty attribute.
bool is_nest(const wire::netlink_attribute& attribute) {
  const wire::netlink_attributes within(attribute.value());
  return attribute.is_marked_nested() || (within.bytes().size() > 8 && within.is_whole());
}

bool holds_attributes(const ynl::attribute& known) { return known.set || known.elements; }

json list_to_json(const wire::netlink_attributes& attributes, const ynl::scope& scope,
                  std::size_t depth);

json unknown_to_json(const wire::netlink_attribute& attribute, std::size_t depth) {
  json object{{"attribute", attribute.type()}, {"hex", hex_of(attribute.value())}};
  if (const auto number = attribute.any_number()) object["number"] = *number;
  if (is_text(attribute)) object["text"] = text::printable(attribute.text());
  if (is_nest(attribute) && depth < deepest_nest) {
    object["attributes"] = list_to_json(wire::netlink_attributes(attribute.value()), {}, depth + 1);
  }
  return object;
}

json known_to_json(const wire::netlink_attribute& attribute, const ynl::attribute& known,
                   const ynl::scope& scope, std::size_t depth) {
  json object{{"attribute", attribute.type()}, {"hex", hex_of(attribute.value())}};
  if (holds_attributes(known)) {
    object["attributes"] =
        list_to_json(wire::netlink_attributes(attribute.value()), scope.within(&known), depth + 1);
    return object;
  }
  auto value = ynl::value_to_json(attribute, known, scope.names_of(known));
  if (value.is_null()) {
    const bool is_binary = known.kind == nl::attribute_kind::binary;
    return is_binary ? object : unknown_to_json(attribute, depth);
  }
  if (known.kind == nl::attribute_kind::nul_string) {
    object["text"] = value;
  } else if (known.kind != nl::attribute_kind::flag) {
    const auto number = ynl::value_to_json(attribute, known, nullptr);
    if (number.is_number()) object["number"] = number;
  }
  object["value"] = std::move(value);
  return object;
}

json list_to_json(const wire::netlink_attributes& attributes, const ynl::scope& scope,
                  std::size_t depth) {
  auto list = json::array();
  for (const auto& each : attributes) {
    const auto* const known = scope.find(each.type());
    if (known == nullptr || depth == deepest_nest) {
      list.push_back(unknown_to_json(each, depth));
      continue;
    }
    if (known->kind == nl::attribute_kind::invalid) continue;
    auto object = known_to_json(each, *known, scope, depth);
    // An element has only a number.
    if (scope.set != nullptr) object["name"] = text::printable(known->name);
    list.push_back(std::move(object));
  }
  return list;
}

std::string value_text(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value == true) return "flag";
  if (!value.is_array()) return value.dump();
  std::string text;
  for (const auto& each : value) text += (text.empty() ? "" : "|") + value_text(each);
  return text.empty() ? "0" : text;
}

std::string render_list(const json& list, std::size_t indent) {
  std::string text;
  for (const auto& each : list) {
    const auto name = each.contains("name") ? each["name"].get<std::string>()
                                            : std::to_string(each["attribute"].get<unsigned>());
    text += fmt::format("{:{}}{}", "", indent, name);
    const auto hex = each["hex"].get<std::string>();
    if (each.contains("text")) {
      text += fmt::format(" \"{}\"\n", each["text"].get<std::string>());
    } else if (each.contains("value")) {
      text += fmt::format(" {}\n", value_text(each["value"]));
    } else if (each.contains("attributes")) {
      text += "\n" + render_list(each["attributes"], indent + 2);
    } else if (each.contains("number")) {
      text += fmt::format(" {}\n", each["number"].dump());
    } else {
      text += fmt::format(" {}\n", hex.empty() ? "flag" : hex);
    }
  }
  return text;
}

}  // namespace

json attributes_to_json(const wire::netlink_attributes& attributes, const ynl::scope& scope) {
  return list_to_json(attributes, scope, 0);
}

json message_to_json(const wire::genl_message& message, const ynl::spec* spec,
                     const ynl::operation* operation) {
  json object{{"command", message.command}};
  if (operation != nullptr) object["name"] = text::printable(operation->name);
  object["attributes"] = attributes_to_json(message.attributes, ynl::scope::of(spec, operation));
  return object;
}

std::string render_message(const json& message) {
  const auto name = message.contains("name") ? message["name"].get<std::string>()
                                             : std::to_string(message["command"].get<unsigned>());
  return fmt::format("command {}\n{}", name, render_list(message["attributes"], 2));
}

void message_sink::take(const wire::netlink_message& raw, const ynl::operation* called) {
  const auto message = wire::genl_message::parse(raw);
  if (!message || raw.is(wire::netlink_control::error)) return;
  const auto* operation = called;
  if (operation == nullptr && spec_ != nullptr) operation = spec_->find_event(message->command);
  const auto object = message_to_json(*message, spec_, operation);
  const bool is_first = !std::exchange(begun_, true);
  print(as_json_ ? (is_first ? "[\n" : ",\n") + object.dump() : render_message(object));
}

void message_sink::end() const {
  if (as_json_) print(begun_ ? "\n]\n" : "[]\n");
}

}  // namespace strata::cli
