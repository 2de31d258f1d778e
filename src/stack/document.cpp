#include "stack/document.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <ranges>
#include <set>
#include <stdexcept>
#include <utility>

#include "stack/variables.hpp"
#include "text/nearest.hpp"

namespace strata::stack {

using nlohmann::json;
using options::option_row;

namespace {

constexpr std::size_t most_bytes = 1U << 20U;
constexpr std::size_t most_nodes = 100'000;
constexpr std::size_t most_merges = 20;  // within each other
constexpr std::string_view merge_key = "<<";

position position_of(const YAML::Node& node) {
  return {.line = node.Mark().line + 1, .column = node.Mark().column + 1};
}

// Where an option's text leads: `api weight=2` to one place, a route to those behind its arrow.
std::vector<std::string_view> places_in(std::string_view text) {
  const auto arrow = text.find("->");
  const bool is_route = arrow != std::string_view::npos;
  if (is_route) text.remove_prefix(arrow + 2);
  std::vector<std::string_view> places;
  do {
    const auto part = text.substr(0, is_route ? text.find(',') : text.size());
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    const auto begin = std::min(part.find_first_not_of(' '), part.size());
    places.push_back(part.substr(begin, part.find(' ', begin) - begin));
  } while (!text.empty());
  return places;
}

struct mistake : std::runtime_error {
  mistake(const YAML::Node& node, const std::string& text)
      : runtime_error(text), at(position_of(node)) {}
  position at;
};

/// The members of a map, in the order of the document.
struct member {
  std::string key;
  YAML::Node key_node;
  YAML::Node value;
};

class document_reader {
 public:
  document_reader(std::string_view default_name, const reading& reading)
      : reading_(reading),
        document_{.name = std::string(default_name), .file = reading.file, .runtimes = {}} {}

  document read(const YAML::Node& root);

 private:
  void read_variables(const YAML::Node& node);
  void read_runtime(const member& entry);
  [[nodiscard]] std::span<const option_row> rows_of(const YAML::Node& node,
                                                    const std::string& type) const;
  [[nodiscard]] json value_of(const YAML::Node& node);
  [[nodiscard]] std::string text_of(const YAML::Node& node, std::string_view subject);
  /// The elements of a list, or a single one; `key` is the list's.
  [[nodiscard]] std::vector<std::string> texts_in(const YAML::Node& node, std::string_view key);
  void read_daemons(const YAML::Node& node, described_runtime& described);
  /// The members, with those of merged maps that it does not have itself.
  [[nodiscard]] std::vector<member> members_of(const YAML::Node& node, std::string_view subject);
  void merge(const YAML::Node& node, std::vector<member>& members);
  /// A merge within a merge; an alias may lead back to the map that has it.
  class nested;
  [[nodiscard]] bool is_described(const std::string& name) const;
  void add_needs();
  void add_need(described_runtime& runtime, const std::string& name);
  void add_places(described_runtime& runtime, std::string_view text);
  void sort();
  void count() {
    if (++nodes_ > most_nodes) {
      throw mistake(root_, fmt::format("it has more than {} nodes, with those that aliases repeat",
                                       most_nodes));
    }
  }

  const reading& reading_;
  YAML::Node root_;
  document document_;
  std::map<std::string, std::string> defaults_;  // of variables
  std::size_t nodes_ = 0;
  std::size_t depth_ = 0;  // of merges
};

class document_reader::nested {
 public:
  nested(document_reader& reader, const YAML::Node& node) : reader_(reader) {
    if (reader_.depth_ == most_merges) {
      throw mistake(node,
                    fmt::format("'<<' merges maps within maps, more than {} deep", most_merges));
    }
    ++reader_.depth_;
  }
  nested(const nested&) = delete;
  nested& operator=(const nested&) = delete;
  ~nested() { --reader_.depth_; }

 private:
  document_reader& reader_;
};

/// Labels have an '=' in each part, with a key before it.
bool is_daemon_selector(std::string_view word) {
  if (word.empty() || word.contains(' ')) return false;
  if (!word.contains('=')) return !word.contains(',');
  return std::ranges::all_of(word | std::views::split(','), [](const auto& part) {
    const auto equals = std::string_view(part).find('=');
    return equals != std::string_view::npos && equals != 0;
  });
}

std::string key_text(const YAML::Node& key) {
  if (!key.IsScalar()) throw mistake(key, "a key must be a plain word");
  return key.Scalar();
}

[[noreturn]] void refuse_key(const member& member, std::string_view subject,
                             const std::vector<std::string>& known) {
  throw mistake(member.key_node,
                fmt::format("{} has no key '{}'{}; the keys are {}", subject, member.key,
                            text::did_you_mean(member.key, known), fmt::join(known, ", ")));
}

document document_reader::read(const YAML::Node& root) {
  static const std::vector<std::string> keys = {"name", "variables", "runtimes"};
  root_.reset(root);
  const auto members = members_of(root, "the document");
  for (const auto& each : members) {
    if (each.key == "variables") read_variables(each.value);
  }
  for (const auto& each : members) {
    if (each.key == "name") {
      document_.name = text_of(each.value, "the name of the stack");
    } else if (each.key == "runtimes") {
      for (const auto& runtime : members_of(each.value, "'runtimes'")) read_runtime(runtime);
    } else if (each.key != "variables" && !each.key.starts_with("x-")) {
      refuse_key(each, "the document", keys);
    }
  }
  if (document_.name.empty()) throw mistake(root, "the name of the stack is empty");
  add_needs();
  sort();
  return std::move(document_);
}

void document_reader::read_variables(const YAML::Node& node) {
  for (const auto& each : members_of(node, "'variables'")) {
    defaults_[each.key] = text_of(each.value, fmt::format("the variable '{}'", each.key));
  }
}

std::vector<member> document_reader::members_of(const YAML::Node& node, std::string_view subject) {
  count();
  std::vector<member> members;
  if (node.IsNull()) return members;
  if (!node.IsMap()) throw mistake(node, fmt::format("{} must be a map of KEY: VALUE", subject));
  std::set<std::string> keys;
  for (const auto& each : node) {
    count();
    auto key = key_text(each.first);
    if (key == merge_key) continue;
    if (!keys.insert(key).second) {
      throw mistake(each.first, fmt::format("the key '{}' occurs twice", key));
    }
    members.push_back({.key = std::move(key), .key_node = each.first, .value = each.second});
  }
  for (const auto& each : node) {
    if (each.first.IsScalar() && each.first.Scalar() == merge_key) merge(each.second, members);
  }
  return members;
}

void document_reader::merge(const YAML::Node& node, std::vector<member>& members) {
  count();
  const nested depth(*this, node);
  if (node.IsSequence()) {
    for (const auto& each : node) merge(each, members);
    return;
  }
  for (auto& each : members_of(node, "what '<<' merges")) {
    if (std::ranges::find(members, each.key, &member::key) == members.end()) {
      members.push_back(std::move(each));
    }
  }
}

std::string document_reader::text_of(const YAML::Node& node, std::string_view subject) {
  count();
  if (!node.IsScalar()) throw mistake(node, fmt::format("{} must be a single value", subject));
  const auto value = [this](const std::string& name) -> std::optional<std::string> {
    if (auto set = reading_.variable(name)) return set;
    const auto known = defaults_.find(name);
    return known == defaults_.end() ? std::nullopt : std::optional(known->second);
  };
  auto expanded = expand_variables(node.Scalar(), value);
  if (!expanded) throw mistake(node, expanded.error().reason);
  return std::move(*expanded);
}

// All scalars are texts: the option's row says what a text means.
json document_reader::value_of(const YAML::Node& node) {
  if (node.IsNull()) {
    count();
    return nullptr;
  }
  if (!node.IsSequence()) return text_of(node, "an option");
  auto list = json::array();
  for (const auto& each : node) list.push_back(text_of(each, "each element of a list"));
  return list;
}

std::vector<std::string> document_reader::texts_in(const YAML::Node& node, std::string_view key) {
  if (node.IsScalar()) return {text_of(node, fmt::format("'{}'", key))};
  if (!node.IsSequence()) throw mistake(node, fmt::format("'{}' must be a name or a list", key));
  std::vector<std::string> texts;
  for (const auto& each : node) {
    texts.push_back(text_of(each, fmt::format("each element of '{}'", key)));
  }
  return texts;
}

void document_reader::read_daemons(const YAML::Node& node, described_runtime& described) {
  if (node.IsMap()) throw mistake(node, "'on' is a map; write a label as KEY=VALUE");
  described.daemons = texts_in(node, "on");
  described.daemons_at = position_of(node);
  if (described.daemons.empty()) throw mistake(node, "'on' names no daemon; leave it out");
  for (const auto& each : described.daemons) {
    if (is_daemon_selector(each)) continue;
    throw mistake(node, fmt::format("'{}' in 'on' is neither the name of a daemon, a glob nor "
                                    "KEY=VALUE,KEY=VALUE",
                                    each));
  }
}

std::span<const option_row> document_reader::rows_of(const YAML::Node& node,
                                                     const std::string& type) const {
  const auto rows = reading_.rows_of(type);
  if (rows.empty()) {
    throw mistake(node, fmt::format("there is no type '{}'{}; there are {}", type,
                                    text::did_you_mean(type, reading_.types),
                                    fmt::join(reading_.types, ", ")));
  }
  return rows;
}

void document_reader::read_runtime(const member& entry) {
  described_runtime described{.desired = {.name = entry.key}, .at = position_of(entry.key_node)};
  const auto members = members_of(entry.value, fmt::format("the runtime '{}'", entry.key));
  const auto type = std::ranges::find(members, "type", &member::key);
  if (type == members.end()) {
    throw mistake(entry.key_node, fmt::format("the runtime '{}' has no 'type'; there are {}",
                                              entry.key, fmt::join(reading_.types, ", ")));
  }
  auto& desired = described.desired;
  desired.type = text_of(type->value, "'type'");
  const auto rows = rows_of(type->value, desired.type);
  for (const auto& each : members) {
    if (each.key == "type") continue;
    if (each.key == "depends_on") {
      described.needs = texts_in(each.value, "depends_on");
    } else if (each.key == "on") {
      read_daemons(each.value, described);
    } else if (each.key == "start") {
      const auto start = text_of(each.value, "'start'");
      if (start != "true" && start != "false") {
        throw mistake(each.value, fmt::format("'start' is '{}', not true or false", start));
      }
      desired.runs = start == "true";
    } else {
      auto option =
          normalised(rows, desired.type, {{each.key, value_of(each.value)}}, reading_.folder);
      const bool is_unknown = !option && option.error().code == errc::not_supported;
      if (!option) {
        throw mistake(is_unknown ? each.key_node : each.value,
                      is_unknown ? option.error().reason : describe(option.error()));
      }
      desired.options.update(*option);
    }
  }
  document_.runtimes.push_back(std::move(described));
}

bool document_reader::is_described(const std::string& name) const {
  return std::ranges::any_of(document_.runtimes,
                             [&name](const auto& each) { return each.desired.name == name; });
}

// Besides `depends_on`: the owner, and the runtimes to which options connect.
void document_reader::add_needs() {
  for (auto& each : document_.runtimes) {
    for (const auto& name : each.needs) {
      if (is_described(name)) continue;
      std::vector<std::string> known;
      known.reserve(document_.runtimes.size());
      for (const auto& other : document_.runtimes) known.push_back(other.desired.name);
      const auto at = each.at;
      mistake wrong(root_, fmt::format("'{}' depends on '{}', which the stack does not describe{}",
                                       each.desired.name, name, text::did_you_mean(name, known)));
      wrong.at = at;
      throw wrong;
    }
    for (const auto& row : reading_.rows_of(each.desired.type)) {
      const auto value = each.desired.options.find(row.key);
      if (value == each.desired.options.end()) continue;
      if (row.key == "owner" && value->is_string()) add_need(each, value->get<std::string>());
      if (row.reach != options::option_reach::connecting) continue;
      if (value->is_string()) add_places(each, value->get<std::string>());
      if (!value->is_array()) continue;
      for (const auto& element : *value) add_places(each, element.get<std::string>());
    }
  }
}

void document_reader::add_need(described_runtime& runtime, const std::string& name) {
  if (name != runtime.desired.name && is_described(name)) runtime.needs.push_back(name);
}

// The runtimes that `text` names: `api`, `runtime://api`, `api@daemon` or the members of `@group`.
void document_reader::add_places(described_runtime& runtime, std::string_view text) {
  for (auto place : places_in(text)) {
    constexpr std::string_view scheme = "runtime://";
    if (place.starts_with(scheme)) place.remove_prefix(scheme.size());
    if (!place.starts_with('@')) {
      add_need(runtime, std::string(place.substr(0, place.find('@'))));
      continue;
    }
    for (const auto& other : document_.runtimes) {
      const auto group = other.desired.options.value("group", json());
      if (group == place.substr(1)) add_need(runtime, other.desired.name);
    }
  }
}

// Otherwise the order is that of the document.
void document_reader::sort() {
  std::vector<described_runtime> sorted;
  std::vector<std::string> path;
  std::set<std::string> done;
  auto& all = document_.runtimes;
  const auto visit = [&](const auto& self, described_runtime& runtime) -> void {
    const auto& name = runtime.desired.name;
    if (done.contains(name)) return;
    if (const auto again = std::ranges::find(path, name); again != path.end()) {
      path.push_back(name);
      mistake wrong(root_,
                    fmt::format("the runtimes need each other in a circle: {}",
                                fmt::join(std::ranges::find(path, name), path.end(), " → ")));
      wrong.at = runtime.at;
      throw wrong;
    }
    path.push_back(name);
    for (const auto& need : runtime.needs) {
      self(self, *std::ranges::find(all, need, [](const auto& each) { return each.desired.name; }));
    }
    path.pop_back();
    done.insert(name);
    sorted.push_back(runtime);
  };
  for (auto& each : all) visit(visit, each);
  all = std::move(sorted);
}

}  // namespace

std::string placed_reason(std::string_view file, position place, std::string_view reason) {
  return fmt::format("{}:{}:{}: {}", file, place.line, place.column, reason);
}

result<document> read_document(std::string_view text, std::string_view default_name,
                               const reading& reading) {
  const auto refused = [&reading](errc code, position place, std::string_view reason) {
    return failure(code, fmt::format("read the stack '{}'", reading.file),
                   placed_reason(reading.file, place, reason));
  };
  if (text.size() > most_bytes) {
    return refused(errc::malformed, {.line = 1, .column = 1}, "it is larger than 1 MiB");
  }
  try {  // the parser throws, and so does the reader
    const auto root = YAML::Load(std::string(text));
    return document_reader(default_name, reading).read(root);
  } catch (const mistake& wrong) {
    return refused(errc::invalid_argument, wrong.at, wrong.what());
  } catch (const YAML::Exception& wrong) {
    return refused(errc::malformed, {.line = wrong.mark.line + 1, .column = wrong.mark.column + 1},
                   wrong.msg);
  }
}

}  // namespace strata::stack
