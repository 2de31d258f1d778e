#include "cli/nl/text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/terminal/table.hpp"
#include "text/readable.hpp"

namespace strata::cli {

using nlohmann::json;

namespace {

// Limits the depth of nests: a policy may refer to itself.
constexpr std::size_t deepest_policy = 6;

/// Empty if the name is unknown.
std::string name_of(const ynl::spec* spec, const nl::generic_operation& operation) {
  const auto command = static_cast<std::uint8_t>(operation.command);
  const auto* const found =
      spec != nullptr ? spec->find_request(command, !operation.can_do) : nullptr;
  return found != nullptr ? text::printable(found->name) : std::string();
}

std::string needs(const nl::generic_operation& operation) {
  if (operation.needs_admin) return "CAP_NET_ADMIN";
  return operation.needs_uns_admin ? "CAP_NET_ADMIN (of the namespace)" : "-";
}

json attribute_to_json(const nl::family_policy& policy, const nl::attribute_policy& attribute,
                       const ynl::scope& scope, std::size_t depth);

json table_to_json(const nl::family_policy& policy, std::uint32_t number, const ynl::scope& scope,
                   std::size_t depth) {
  auto list = json::array();
  const auto table = policy.tables.find(number);
  if (table == policy.tables.end() || depth == deepest_policy) return list;
  for (const auto& each : table->second) {
    list.push_back(attribute_to_json(policy, each, scope, depth + 1));
  }
  return list;
}

json attribute_to_json(const nl::family_policy& policy, const nl::attribute_policy& attribute,
                       const ynl::scope& scope, std::size_t depth) {
  json object{{"attribute", attribute.type}, {"type", nl::name_of(attribute.kind)}};
  const auto* const known = scope.find(attribute.type);
  if (known != nullptr && scope.set != nullptr) object["name"] = text::printable(known->name);
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
  if (attribute.table) {
    object["attributes"] = table_to_json(policy, *attribute.table, scope.within(known), depth);
  }
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

/// "1", or "1 msg"
std::string numbered(const json& object, const char* number) {
  const auto text = std::to_string(object[number].get<unsigned>());
  return object.contains("name") ? text + " " + object["name"].get<std::string>() : text;
}

void render_attributes_of(const json& list, std::size_t indent, std::string& text) {
  for (const auto& each : list) {
    text += fmt::format("{:{}}{} {}{}\n", "", indent, numbered(each, "attribute"),
                        each["type"].get<std::string>(), limits(each));
    if (each.contains("attributes")) render_attributes_of(each["attributes"], indent + 2, text);
  }
}

json names_to_json(const std::vector<std::string>& names) {
  auto list = json::array();
  for (const auto& each : names) list.push_back(text::printable(each));
  return list;
}

/// "a, b", or "nothing".
std::string words(const json& names) {
  std::string text;
  for (const auto& each : names) text += (text.empty() ? "" : ", ") + each.get<std::string>();
  return text.empty() ? "nothing" : text;
}

/// Replaces each line end and the spaces behind it by one space.
std::string one_line(std::string_view doc) {
  std::string text;
  for (const char letter : doc) {
    const bool is_space = letter == ' ' || letter == '\n' || letter == '\t';
    if (!is_space) {
      text += letter;
    } else if (!text.empty() && text.back() != ' ') {
      text += ' ';
    }
  }
  if (text.ends_with(' ')) text.pop_back();
  return text::printable(text);
}

}  // namespace

json family_to_json(const nl::generic_family& family, const ynl::spec* spec) {
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
    const auto name = name_of(spec, each);
    if (!name.empty()) object["operations"].back()["name"] = name;
  }
  for (const auto& each : family.groups) {
    object["groups"].push_back({{"name", each.name}, {"id", each.id}});
  }
  return object;
}

std::string render_family(const nl::generic_family& family, const ynl::spec* spec) {
  auto text = fmt::format("{}: id {}, version {}, header of {} bytes, attributes up to {}\n\n",
                          text::printable(family.name), family.id, family.version,
                          family.header_size, family.max_attribute);
  std::vector<std::vector<std::string>> rows = {{"COMMAND", "DO", "DUMP", "NEEDS"}};
  if (spec != nullptr) rows[0].emplace_back("NAME");
  for (const auto& each : family.operations) {
    rows.push_back({std::to_string(each.command), each.can_do ? "yes" : "-",
                    each.can_dump ? "yes" : "-", needs(each)});
    if (spec != nullptr) rows.back().push_back(name_of(spec, each));
  }
  text += align(rows);
  if (family.groups.empty()) return text;
  rows = {{"GROUP", "ID"}};
  for (const auto& each : family.groups) {
    rows.push_back({text::printable(each.name), std::to_string(each.id)});
  }
  return text + "\n" + align(rows);
}

json spec_to_json(const ynl::spec& spec) {
  auto list = json::array();
  for (const auto& each : spec.operations) {
    json object{{"name", text::printable(each.name)}, {"doc", one_line(each.doc)}};
    if (!each.group.empty()) object["group"] = text::printable(each.group);
    const auto add = [&](const char* key, const std::optional<ynl::exchange>& exchange) {
      if (!exchange) return;
      object[key] = {{"request_attributes", names_to_json(exchange->request_attributes)},
                     {"reply_attributes", names_to_json(exchange->reply_attributes)}};
    };
    add("do", each.act);
    add("dump", each.dump);
    add("event", each.event);
    list.push_back(std::move(object));
  }
  return {{"file", text::printable(spec.file)}, {"operations", std::move(list)}};
}

std::string render_spec(const ynl::spec& spec) {
  std::string text;
  const auto object = spec_to_json(spec);
  for (const auto& each : object["operations"]) {
    const auto doc = each["doc"].get<std::string>();
    text += each["name"].get<std::string>() + (doc.empty() ? "" : ": " + doc) + "\n";
    for (const char* const how : {"do", "dump", "event"}) {
      if (!each.contains(how)) continue;
      const bool is_asked = how != std::string_view("event");
      text += fmt::format("  {}: {}{}\n", how,
                          is_asked ? words(each[how]["request_attributes"]) + " -> " : "",
                          words(each[how]["reply_attributes"]));
    }
  }
  return text;
}

json policy_to_json(const nl::family_policy& policy, const ynl::spec* spec) {
  auto list = json::array();
  for (const auto& [command, of] : policy.operations) {
    json object{{"command", command}};
    const auto number = static_cast<std::uint8_t>(command);
    const auto add = [&](const char* text, std::optional<std::uint32_t> table, bool is_dump) {
      if (!table) return;
      const auto* const known = spec != nullptr ? spec->find_request(number, is_dump) : nullptr;
      if (known != nullptr) object["name"] = text::printable(known->name);
      object[text] = table_to_json(policy, *table, ynl::scope::of(spec, known), 0);
    };
    add("do", of.for_do, false);
    add("dump", of.for_dump, true);
    list.push_back(std::move(object));
  }
  return list;
}

std::string render_policy(const nl::family_policy& policy, const ynl::spec* spec) {
  std::string text;
  const auto operations = policy_to_json(policy, spec);
  for (const auto& each : operations) {
    for (const char* const how : {"do", "dump"}) {
      if (!each.contains(how)) continue;
      text += fmt::format("command {}, {}:\n", numbered(each, "command"), how);
      if (each[how].empty()) text += "  no attributes\n";
      render_attributes_of(each[how], 2, text);
    }
  }
  return text;
}

}  // namespace strata::cli
