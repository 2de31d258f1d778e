#include "cli/nl_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/table.hpp"
#include "cli/text.hpp"

namespace strata::cli {

using nlohmann::json;

namespace {

// Nests within nests within nests: a policy may name itself.
constexpr std::size_t deepest = 6;

std::string needs(const nl::generic_operation& operation) {
  if (operation.needs_admin) return "CAP_NET_ADMIN";
  return operation.needs_uns_admin ? "CAP_NET_ADMIN (of the namespace)" : "-";
}

json attribute_to_json(const nl::family_policy& policy, const nl::attribute_policy& attribute,
                       std::size_t depth);

json table_to_json(const nl::family_policy& policy, std::uint32_t number, std::size_t depth) {
  auto list = json::array();
  const auto table = policy.tables.find(number);
  if (table == policy.tables.end() || depth == deepest) return list;
  for (const auto& each : table->second) list.push_back(attribute_to_json(policy, each, depth + 1));
  return list;
}

json attribute_to_json(const nl::family_policy& policy, const nl::attribute_policy& attribute,
                       std::size_t depth) {
  json object{{"attribute", attribute.type}, {"type", nl::name_of(attribute.kind)}};
  const auto add = [&](const char* key, const auto& value) {
    if (value) object[key] = *value;
  };
  add("min", attribute.least_signed);
  add("max", attribute.most_signed);
  add("min", attribute.least);
  add("max", attribute.most);
  add("min_bytes", attribute.least_size);
  add("max_bytes", attribute.most_size);
  add("mask", attribute.mask);
  if (attribute.table) object["attributes"] = table_to_json(policy, *attribute.table, depth);
  return object;
}

std::string limits(const json& attribute) {
  std::string text;
  const auto add = [&](const char* key, std::string_view format) {
    if (attribute.contains(key)) text += fmt::format(fmt::runtime(format), attribute[key].dump());
  };
  add("min", ", from {}");
  add("max", ", up to {}");
  add("min_bytes", ", {} bytes at least");
  add("max_bytes", ", {} bytes at most");
  add("mask", ", of the bits {}");
  return text;
}

void render_attributes_of(const json& list, std::size_t indent, std::string& text) {
  for (const auto& each : list) {
    text += fmt::format("{:{}}{} {}{}\n", "", indent, each["attribute"].get<unsigned>(),
                        each["type"].get<std::string>(), limits(each));
    if (each.contains("attributes")) render_attributes_of(each["attributes"], indent + 2, text);
  }
}

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

// A number of four bytes is seldom a nest of one empty attribute.
bool is_nest(const wire::netlink_attribute& attribute) {
  const wire::netlink_attributes within(attribute.value());
  return attribute.is_marked_nested() || (within.bytes().size() > 8 && within.is_whole());
}

}  // namespace

json family_to_json(const nl::generic_family& family) {
  json object{{"name", family.name},
              {"id", family.id},
              {"version", family.version},
              {"header_size", family.header_size},
              {"max_attribute", family.max_attribute},
              {"operations", json::array()},
              {"groups", json::array()}};
  for (const auto& each : family.operations) {
    object["operations"].push_back({{"command", each.command},
                                    {"do", each.can_do},
                                    {"dump", each.can_dump},
                                    {"policy", each.has_policy},
                                    {"needs_admin", each.needs_admin},
                                    {"needs_uns_admin", each.needs_uns_admin}});
  }
  for (const auto& each : family.groups) {
    object["groups"].push_back({{"name", each.name}, {"id", each.id}});
  }
  return object;
}

std::string render_family(const nl::generic_family& family) {
  auto text = fmt::format("{}: id {}, version {}, header of {} bytes, attributes up to {}\n\n",
                          printable(family.name), family.id, family.version, family.header_size,
                          family.max_attribute);
  std::vector<std::vector<std::string>> rows = {{"COMMAND", "DO", "DUMP", "NEEDS"}};
  for (const auto& each : family.operations) {
    rows.push_back({std::to_string(each.command), each.can_do ? "yes" : "-",
                    each.can_dump ? "yes" : "-", needs(each)});
  }
  text += align(rows);
  if (family.groups.empty()) return text;
  rows = {{"GROUP", "ID"}};
  for (const auto& each : family.groups) {
    rows.push_back({printable(each.name), std::to_string(each.id)});
  }
  return text + "\n" + align(rows);
}

json policy_to_json(const nl::family_policy& policy) {
  auto list = json::array();
  for (const auto& [command, of] : policy.operations) {
    json object{{"command", command}};
    if (of.for_do) object["do"] = table_to_json(policy, *of.for_do, 0);
    if (of.for_dump) object["dump"] = table_to_json(policy, *of.for_dump, 0);
    list.push_back(std::move(object));
  }
  return list;
}

std::string render_policy(const nl::family_policy& policy) {
  std::string text;
  const auto operations = policy_to_json(policy);
  for (const auto& each : operations) {
    for (const char* const how : {"do", "dump"}) {
      if (!each.contains(how)) continue;
      text += fmt::format("command {}, {}:\n", each["command"].get<unsigned>(), how);
      if (each[how].empty()) text += "  no attributes\n";
      render_attributes_of(each[how], 2, text);
    }
  }
  return text;
}

json attributes_to_json(const wire::netlink_attributes& attributes) {
  auto list = json::array();
  for (const auto& each : attributes) {
    json object{{"attribute", each.type()}, {"hex", hex_of(each.value())}};
    if (const auto number = each.any_number()) object["number"] = *number;
    if (is_text(each)) object["text"] = printable(each.text());
    if (is_nest(each)) {
      object["attributes"] = attributes_to_json(wire::netlink_attributes(each.value()));
    }
    list.push_back(std::move(object));
  }
  return list;
}

std::string render_attributes(const wire::netlink_attributes& attributes, std::size_t indent) {
  std::string text;
  for (const auto& each : attributes) {
    text += fmt::format("{:{}}{}", "", indent, each.type());
    if (is_text(each)) {
      text += fmt::format(" \"{}\"\n", printable(each.text()));
    } else if (is_nest(each)) {
      text += "\n" + render_attributes(wire::netlink_attributes(each.value()), indent + 2);
    } else if (const auto number = each.any_number()) {
      text += fmt::format(" {}\n", *number);
    } else {
      text += fmt::format(" {}\n", each.value().empty() ? "flag" : hex_of(each.value()));
    }
  }
  return text;
}

}  // namespace strata::cli
