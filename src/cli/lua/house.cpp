#include "cli/lua/house.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "options/option_table.hpp"
#include "text/nearest.hpp"

namespace strata::cli {

using options::option_kind;

namespace {

// As the option's row has it, however it was written: '1MiB', {} for no list, a path from here.
nlohmann::json value_for(const options::option_row& row, nlohmann::json value,
                         const std::string& folder) {
  const bool is_typed = row.kind == option_kind::flag || row.kind == option_kind::count ||
                        row.kind == option_kind::port || row.kind == option_kind::bytes ||
                        row.kind == option_kind::seconds;
  if (is_typed && value.is_string()) {
    auto parsed = options::parse_option(row, value.get_ref<const std::string&>());
    if (parsed) return std::move(*parsed);
  }
  if (row.kind == option_kind::list) {
    if (value.is_object() && value.empty()) value = nlohmann::json::array();
    if (!value.is_array()) value = nlohmann::json::array({std::move(value)});
  }
  const auto absolute = [&](nlohmann::json& path) {
    if (!options::is_path(row) || !path.is_string()) return;
    const auto& text = path.get_ref<const std::string&>();
    if (!text.empty() && !text.starts_with('/')) path = folder + "/" + text;
  };
  if (value.is_array()) std::ranges::for_each(value, absolute);
  absolute(value);
  return value;
}

bool is_default(const options::option_row& row, const nlohmann::json& there) {
  if (row.default_text.empty()) {
    const auto* const text = there.get_ptr<const nlohmann::json::string_t*>();
    return there == false || (text != nullptr ? text->empty() : there.empty());
  }
  const auto parsed = options::parse_option(row, row.default_text);
  return parsed && (there == *parsed || there == nlohmann::json::array({*parsed}));
}

// Null is wanted where the option is to be as it is by default.
bool has_same(const options::option_row& row, const nlohmann::json& there,
              const nlohmann::json& value) {
  if (value.is_null()) return is_default(row, there);
  // What it is nobody is told.
  if (row.kind == option_kind::secret && there == "********") return true;
  return there == value;
}

const options::option_row* row_of(const runtime::type_row& type, std::string_view key) {
  const auto found = std::ranges::find(type.rows(), key, &options::option_row::key);
  return found == type.rows().end() ? nullptr : &*found;
}

std::vector<std::string> texts_at(const nlohmann::json& object, const char* key) {
  return object.value(key, std::vector<std::string>{});
}

}  // namespace

house::house(const invocation& call, std::string folder)
    : client_(call.daemon),
      folder_(std::move(folder)),
      is_dry_(call.is_set("dry_run")),
      restarts_(call.is_set("restart")) {}

std::optional<nlohmann::json> house::accepted(script::call& call, outcome<json> answer) {
  was_called_ = true;
  if (answer) return std::move(*answer);
  refused_ = answer.error();
  call.fail(answer.error().message);
  return std::nullopt;
}

// Null where there is none; nothing where the call has failed.
std::optional<nlohmann::json> house::find(script::call& call, const std::string& name) {
  was_called_ = true;
  auto found = client_.get(runtime_target(name));
  if (!found && found.error().exit == exit_not_found) return json();
  return accepted(call, std::move(found));
}

const runtime::type_row* house::type_of(script::call& call, const std::string& name) const {
  const auto* const found = runtime::find_type(name);
  if (found != nullptr) return found;
  std::vector<std::string> known;
  for (const auto& row : runtime::types()) known.emplace_back(row.name);
  call.fail(fmt::format("there is no type '{}'{}; there are {}", name,
                        text::did_you_mean(name, known), fmt::join(known, ", ")));
  return nullptr;
}

bool house::read_options(script::call& call, int index, json& value) const {
  value = json::object();
  if (!call.has(index)) return true;
  if (!call.structure(index, value)) return false;
  if (value.is_object()) return true;
  if (value.empty()) {
    value = json::object();
    return true;
  }
  call.fail("the options are no table of names: {port = 8080}");
  return false;
}

// A list of names, each of which stands for its default.
bool house::read_resets(script::call& call, int index, json& value) const {
  json names;
  if (!call.structure(index, names)) return false;
  value = json::object();
  for (const auto& each : names) {
    if (!names.is_array() || !each.is_string()) {
      call.fail("what is to be reset is no list of options' names: {'group', 'max_message'}");
      return false;
    }
    value[each.get<std::string>()] = nullptr;
  }
  return true;
}

bool house::normalise(script::call& call, const runtime::type_row& type, json& given) const {
  for (auto& [key, value] : given.items()) {
    const auto* const row = row_of(type, key);
    if (row == nullptr) {
      std::vector<std::string> known;
      for (const auto& each : type.rows()) known.emplace_back(each.key);
      call.fail(
          fmt::format("a {} has no option '{}'{}", type.name, key, text::did_you_mean(key, known)));
      return false;
    }
    if (value.is_null()) continue;
    value = value_for(*row, std::move(value), folder_);
    if (const auto good = options::check_option(*row, value); !good) {
      call.fail(describe(good.error()));
      return false;
    }
  }
  return true;
}

void house::create(script::call& call) {
  json wanted;
  const std::string name(call.text(1));
  const auto* const type = type_of(call, std::string(call.text(0)));
  if (type == nullptr || !read_options(call, 2, wanted)) return;
  const bool starts = !wanted.contains("start") || wanted["start"] != false;
  wanted.erase("start");
  if (!normalise(call, *type, wanted)) return;
  const auto there = find(call, name);
  if (!there) return;
  if (there->is_null()) {
    make(call, {{"type", type->name}, {"name", name}, {"options", wanted}, {"start", starts}});
    return;
  }
  if (there->value("type", "") != type->name) {
    call.fail(fmt::format("'{}' is there already, and is a {}: remove it, or take another name",
                          name, there->value("type", "")));
    return;
  }
  adjust(call, *type, *there, std::move(wanted));
  const bool is_up = there->value("state", "") == "running";
  if (!call.failure().empty() || !starts || is_up) return;
  if (may_act() && !accepted(call, client_.post(runtime_target(name, "start")))) return;
  deeds_.push_back({name, "started", {}, {}});
}

void house::make(script::call& call, json body) {
  const auto name = body.at("name").get<std::string>();
  body["dry_run"] = is_dry_;
  // An owner that would have been created is not there for the daemon to see.
  const bool is_blind = is_dry_ && planned_.contains(body["options"].value("owner", std::string()));
  if (!is_blind && !accepted(call, client_.post("/v1/runtimes", body))) return;
  if (is_dry_) planned_.insert(name);
  deeds_.push_back({name, "created", {}, {}});
}

void house::adjust(script::call& call, const runtime::type_row& type, const json& there,
                   json wanted) {
  const auto name = there.value("name", std::string());
  const auto now = there.value("options", json::object());
  deed done{name, "unchanged", {}, {}};
  auto changes = json::object();
  for (const auto& [key, value] : wanted.items()) {
    if (has_same(*row_of(type, key), now.value(key, json()), value)) continue;
    changes[key] = value;
    done.options.push_back(key);
    done.what = "changed";
  }
  const bool is_up = there.value("state", "") == "running";
  if (!changes.empty() && may_act()) {
    const auto edited = accepted(call, client_.patch(runtime_target(name), {{"options", changes}}));
    if (!edited) return;
    if (is_up) done.waiting = texts_at(*edited, "needs_restart");
  } else if (is_up) {
    for (const auto& key : done.options) {
      if (row_of(type, key)->needs_restart) done.waiting.push_back(key);
    }
  }
  if (restarts_ && !done.waiting.empty()) {
    if (may_act() && !accepted(call, client_.post(runtime_target(name, "restart")))) return;
    done.what = "changed and restarted";
    done.waiting.clear();
  }
  deeds_.push_back(std::move(done));
}

void house::edit(script::call& call) { change(call, &house::read_options); }

void house::reset(script::call& call) { change(call, &house::read_resets); }

void house::change(script::call& call, bool (house::*read)(script::call&, int, json&) const) {
  json wanted;
  const std::string name(call.text(0));
  if (!(this->*read)(call, 1, wanted)) return;
  const auto there = find(call, name);
  if (!there || planned_.contains(name)) return;
  if (there->is_null())
    return call.fail(fmt::format("cannot find runtime '{}': there is none of that name", name));
  const auto* const type = type_of(call, there->value("type", ""));
  if (type == nullptr || !normalise(call, *type, wanted)) return;
  adjust(call, *type, *there, std::move(wanted));
}

void house::act(script::call& call, const char* verb, std::string_view state, const char* done) {
  const std::string name(call.text(0));
  const auto there = find(call, name);
  if (!there) return;
  if (there->is_null() && !planned_.contains(name)) {
    return call.fail(fmt::format("cannot find runtime '{}': there is none of that name", name));
  }
  const bool is_so = !there->is_null() && there->value("state", "") == state;
  if (!is_so && may_act() && !accepted(call, client_.post(runtime_target(name, verb)))) return;
  deeds_.push_back({name, is_so ? "unchanged" : done, {}, {}});
}

void house::remove(script::call& call) {
  const std::string name(call.text(0));
  const auto there = find(call, name);
  if (!there) return;
  const bool is_gone = there->is_null() && planned_.erase(name) == 0;
  if (!is_gone && may_act() && !accepted(call, client_.remove(runtime_target(name)))) return;
  deeds_.push_back({name, is_gone ? "unchanged" : "removed", {}, {}});
}

void house::send(script::call& call) {
  const std::string name(call.text(0));
  was_called_ = true;
  if (!may_act()) return call.give(std::uint64_t{0});
  const auto sent = accepted(call, client_.ask(name, "send", call.text(1)));
  if (sent) call.give(sent->value("delivered", std::uint64_t{0}));
}

// A rehearsal asks for what changes nothing.
void house::ask(script::call& call) {
  nlohmann::json parameters;
  if (call.has(2) && !call.json_structure(2, parameters)) return;
  was_called_ = true;
  const auto* const known = runtime::find_shared_operation(call.text(1));
  if (known != nullptr && known->row->needed != runtime::role::read && !may_act()) {
    return call.give(nlohmann::json());
  }
  const auto given =
      accepted(call, client_.ask(std::string(call.text(0)), call.text(1),
                                 call.has(3) ? call.text(3) : std::string_view(), parameters));
  if (given) call.give(*given);
}

void house::get(script::call& call) {
  const auto there = find(call, std::string(call.text(0)));
  if (there) call.give(*there);
}

void house::list(script::call& call) {
  const auto all = accepted(call, client_.get("/v1/runtimes"));
  if (all) call.give(*all);
}

// A row is read as a row.
// clang-format off
std::span<const script::function_row> house::functions() {
  using script::method;
  static constexpr script::function_row table[] = {
      {"create", "type: string, name: string, options?: table", "",
       "sees to it that there is such a runtime, with these options, and that it runs, but for "
       "start=false", method<&house::create>},
      {"edit", "name: string, options: table", "", "changes the options that differ",
       method<&house::edit>},
      {"reset", "name: string, options: string[]", "",
       "sees to it that these options are as they are by default", method<&house::reset>},
      {"remove", "name: string", "", "sees to it that there is none", method<&house::remove>},
      {"start", "name: string", "", "starts it, unless it runs", method<&house::start>},
      {"stop", "name: string", "", "stops it, if it runs", method<&house::stop>},
      {"send", "name: string, message: string", "integer", "sends a message, as `strata send`",
       method<&house::send>},
      {"ask", "name: string, operation: string, parameters?: table, body?: string", "table?",
       "asks it for an operation of its type, such as 'backends'", method<&house::ask>},
      {"get", "name: string", "table?", "what it is, or nil", method<&house::get>},
      {"list", "", "table[]", "all runtimes", method<&house::list>},
  };
  return table;
}
// clang-format on

}  // namespace strata::cli
