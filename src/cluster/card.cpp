#include "cluster/card.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace strata::cluster {

using nlohmann::json;

namespace {

std::unexpected<error> malformed(std::string reason) {
  return failure(errc::malformed, "read the card of a daemon", std::move(reason),
                 "remove it from the registry; its daemon, if it lives, writes another");
}

// The text of a member, which may be missing. Clears `good` if it is no text, or too long.
std::string text_in(const json& object, const char* key, bool& good) {
  const auto member = object.find(key);
  if (member == object.end()) return {};
  const auto* const text = member->get_ptr<const std::string*>();
  if (text == nullptr || text->size() > 4096) {
    good = false;
    return {};
  }
  return *text;
}

bool read_texts(const json& object, const char* key, std::vector<std::string>& texts) {
  const auto member = object.find(key);
  if (member == object.end()) return true;
  if (!member->is_array() || member->size() > 1024) return false;
  for (const auto& each : *member) {
    if (!each.is_string()) return false;
    texts.push_back(each.get<std::string>());
  }
  return true;
}

bool read_labels(const json& object, std::map<std::string, std::string>& labels) {
  const auto member = object.find("labels");
  if (member == object.end()) return true;
  if (!member->is_object() || member->size() > 1024) return false;
  for (const auto& [key, value] : member->items()) {
    if (!value.is_string()) return false;
    labels[key] = value.get<std::string>();
  }
  return true;
}

std::optional<runtime_card> read_runtime(const json& object) {
  if (!object.is_object()) return std::nullopt;
  bool good = true;
  runtime_card runtime{.name = text_in(object, "name", good),
                       .type = text_in(object, "type", good),
                       .state = text_in(object, "state", good),
                       .group = text_in(object, "group", good)};
  good = good && !runtime.name.empty() && runtime.name.size() <= longest_name;
  const auto connections = object.find("connections");
  if (connections != object.end()) {
    good = good && connections->is_number_unsigned();
    if (good) runtime.connections = connections->get<std::uint64_t>();
  }
  good = good && read_texts(object, "endpoints", runtime.endpoints) &&
         read_texts(object, "targets", runtime.targets) && read_labels(object, runtime.labels);
  return good ? std::optional(std::move(runtime)) : std::nullopt;
}

json runtime_json(const runtime_card& runtime) {
  json object = {{"name", runtime.name}, {"type", runtime.type}, {"state", runtime.state}};
  if (!runtime.group.empty()) object["group"] = runtime.group;
  if (!runtime.endpoints.empty()) object["endpoints"] = runtime.endpoints;
  if (!runtime.targets.empty()) object["targets"] = runtime.targets;
  if (!runtime.labels.empty()) object["labels"] = runtime.labels;
  if (runtime.connections != 0) object["connections"] = runtime.connections;
  return object;
}

}  // namespace

bool is_daemon_name(std::string_view name) {
  const auto is_allowed = [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || letter == '.' || letter == '_' || letter == '-';
  };
  return !name.empty() && name.size() <= longest_name && std::ranges::all_of(name, is_allowed) &&
         name.front() != '.';
}

bool is_zone_name(std::string_view name) { return name.empty() || is_daemon_name(name); }

std::string write_card(const card& card) {
  json object = {{"daemon", card.daemon}, {"runtimes", json::array()}};
  if (!card.version.empty()) object["version"] = card.version;
  if (!card.control.empty()) object["control"] = card.control;
  if (card.is_drained) object["drained"] = true;
  if (!card.zone.empty()) object["zone"] = card.zone;
  if (!card.labels.empty()) object["labels"] = card.labels;
  for (const auto& each : card.runtimes) object["runtimes"].push_back(runtime_json(each));
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

result<card> read_card(std::string_view text) {
  if (text.empty() || text.size() > longest_card) {
    return malformed(fmt::format("it is empty or longer than {} bytes", longest_card));
  }
  const auto object = json::parse(text, nullptr, false);
  if (!object.is_object()) return malformed("it is no JSON object");
  bool good = true;
  card read{.daemon = text_in(object, "daemon", good),
            .version = text_in(object, "version", good),
            .control = text_in(object, "control", good),
            .zone = text_in(object, "zone", good)};
  if (!good || !is_daemon_name(read.daemon)) return malformed("its daemon has no valid name");
  if (!is_zone_name(read.zone)) return malformed("its zone has no valid name");
  if (!read_labels(object, read.labels)) return malformed("its labels are not texts by their keys");
  const auto drained = object.find("drained");
  if (drained != object.end() && !drained->is_boolean())
    return malformed("'drained' is no boolean");
  read.is_drained = drained != object.end() && drained->get<bool>();
  const auto runtimes = object.find("runtimes");
  if (runtimes == object.end()) return read;
  if (!runtimes->is_array() || runtimes->size() > most_runtimes) {
    return malformed(fmt::format("'runtimes' is no array of at most {}", most_runtimes));
  }
  for (const auto& each : *runtimes) {
    auto runtime = read_runtime(each);
    if (!runtime) return malformed(fmt::format("runtime {} is not valid", read.runtimes.size()));
    read.runtimes.push_back(std::move(*runtime));
  }
  return read;
}

}  // namespace strata::cluster
