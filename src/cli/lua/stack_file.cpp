#include "cli/lua/stack_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "text/nearest.hpp"

namespace strata::cli {

namespace {

// For errors other than a wrong value, the reason is a whole sentence.
std::string message_of(const error& failure) {
  return failure.code == errc::invalid_argument ? describe(failure) : failure.reason;
}

std::optional<stack::present_runtime> present_in(const nlohmann::json& shown) {
  if (shown.is_null()) return std::nullopt;
  return stack::present_runtime{.type = shown.value("type", ""),
                                .options = shown.value("options", nlohmann::json::object()),
                                .is_running = shown.value("state", "") == "running"};
}

}  // namespace

stack_file::stack_file(const invocation& call, std::string folder)
    : client_(call.daemon),
      folder_(std::move(folder)),
      is_dry_(call.is_set("dry_run")),
      restarts_(call.is_set("restart")) {}

std::optional<nlohmann::json> stack_file::accepted(script::call& call, outcome<json> answer) {
  was_called_ = true;
  if (answer) return std::move(*answer);
  refused_ = answer.error();
  call.fail(answer.error().message);
  return std::nullopt;
}

// Null if there is none; nullopt if the call has failed.
std::optional<nlohmann::json> stack_file::find(script::call& call, const std::string& name) {
  was_called_ = true;
  auto found = client_.get(runtime_target(name));
  if (!found && found.error().exit == exit_not_found) return json();
  return accepted(call, std::move(found));
}

const runtime::type_row* stack_file::type_of(script::call& call, const std::string& name) const {
  const auto* const found = runtime::find_type(name);
  if (found != nullptr) return found;
  std::vector<std::string> known;
  for (const auto& row : runtime::types()) known.emplace_back(row.name);
  call.fail(fmt::format("there is no type '{}'{}; there are {}", name,
                        text::did_you_mean(name, known), fmt::join(known, ", ")));
  return nullptr;
}

bool stack_file::read_options(script::call& call, int index, json& value) const {
  value = json::object();
  if (!call.has(index)) return true;
  if (!call.structure(index, value)) return false;
  if (value.is_object()) return true;
  if (value.empty()) {
    value = json::object();
    return true;
  }
  call.fail("the options are not a table with names, such as {port = 8080}");
  return false;
}

// Reads a list of option names; each is reset to its default.
bool stack_file::read_resets(script::call& call, int index, json& value) const {
  json names;
  if (!call.structure(index, names)) return false;
  value = json::object();
  for (const auto& each : names) {
    if (!names.is_array() || !each.is_string()) {
      call.fail("'reset' must be a list of option names, such as {'group', 'max_message'}");
      return false;
    }
    value[each.get<std::string>()] = nullptr;
  }
  return true;
}

bool stack_file::normalise(script::call& call, const runtime::type_row& type, json& options) const {
  auto normalised = stack::normalised(type.rows(), type.name, std::move(options), folder_);
  if (!normalised) {
    call.fail(message_of(normalised.error()));
    return false;
  }
  options = std::move(*normalised);
  return true;
}

void stack_file::create(script::call& call) {
  json options;
  const std::string name(call.text(1));
  const auto* const type = type_of(call, std::string(call.text(0)));
  if (type == nullptr || !read_options(call, 2, options)) return;
  const bool runs = !options.contains("start") || options["start"] != false;
  options.erase("start");
  if (!normalise(call, *type, options)) return;
  const auto shown = find(call, name);
  if (!shown) return;
  const stack::desired_runtime desired{
      .name = name, .type = std::string(type->name), .options = std::move(options), .runs = runs};
  apply(call, *type, desired, present_in(*shown));
}

void stack_file::change(script::call& call, option_reader read) {
  json options;
  const std::string name(call.text(0));
  if (!(this->*read)(call, 1, options)) return;
  const auto shown = find(call, name);
  if (!shown || planned_.contains(name)) return;
  const auto present = present_in(*shown);
  if (!present)
    return call.fail(fmt::format("cannot find runtime '{}': no runtime has this name", name));
  const auto* const type = type_of(call, present->type);
  if (type == nullptr || !normalise(call, *type, options)) return;
  const stack::desired_runtime desired{.name = name,
                                       .type = present->type,
                                       .options = std::move(options),
                                       .runs = present->is_running};
  apply(call, *type, desired, present);
}

void stack_file::apply(script::call& call, const runtime::type_row& type,
                       const stack::desired_runtime& desired,
                       const std::optional<stack::present_runtime>& present) {
  const auto plan = stack::plan_for(type.rows(), desired, present);
  if (!plan) return call.fail(message_of(plan.error()));
  if (plan->is_creation) return make(call, desired);
  if (!adjust(call, desired.name, *plan, present->is_running) || !plan->is_start) return;
  if (may_act() && !accepted(call, client_.post(runtime_target(desired.name, "start")))) return;
  deeds_.push_back({desired.name, "started", {}, {}});
}

void stack_file::make(script::call& call, const stack::desired_runtime& desired) {
  const json body = {{"type", desired.type},
                     {"name", desired.name},
                     {"options", desired.options},
                     {"start", desired.runs},
                     {"dry_run", is_dry_}};
  // In a dry run, the daemon does not know an owner that would have been created before.
  const bool is_blind = is_dry_ && planned_.contains(desired.options.value("owner", std::string()));
  if (!is_blind && !accepted(call, client_.post("/v1/runtimes", body))) return;
  if (is_dry_) planned_.insert(desired.name);
  deeds_.push_back({desired.name, "created", {}, {}});
}

bool stack_file::adjust(script::call& call, const std::string& name, const stack::plan& plan,
                        bool is_running) {
  deed done{name, plan.changes.empty() ? "unchanged" : "changed", {}, plan.waiting};
  for (const auto& [key, value] : plan.changes.items()) done.options.push_back(key);
  if (!plan.changes.empty() && may_act()) {
    const auto edited =
        accepted(call, client_.patch(runtime_target(name), {{"options", plan.changes}}));
    if (!edited) return false;
    if (is_running) done.waiting = edited->value("needs_restart", std::vector<std::string>{});
  }
  if (restarts_ && !done.waiting.empty()) {
    if (may_act() && !accepted(call, client_.post(runtime_target(name, "restart")))) return false;
    done.effect = "changed and restarted";
    done.waiting.clear();
  }
  deeds_.push_back(std::move(done));
  return true;
}

void stack_file::act(script::call& call, const char* verb, std::string_view state,
                     const char* effect) {
  const std::string name(call.text(0));
  const auto there = find(call, name);
  if (!there) return;
  if (there->is_null() && !planned_.contains(name)) {
    return call.fail(fmt::format("cannot find runtime '{}': no runtime has this name", name));
  }
  const bool is_so = !there->is_null() && there->value("state", "") == state;
  if (!is_so && may_act() && !accepted(call, client_.post(runtime_target(name, verb)))) return;
  deeds_.push_back({name, is_so ? "unchanged" : effect, {}, {}});
}

void stack_file::remove(script::call& call) {
  const std::string name(call.text(0));
  const auto there = find(call, name);
  if (!there) return;
  const bool is_gone = there->is_null() && planned_.erase(name) == 0;
  if (!is_gone && may_act() && !accepted(call, client_.remove(runtime_target(name)))) return;
  deeds_.push_back({name, is_gone ? "unchanged" : "removed", {}, {}});
}

void stack_file::send(script::call& call) {
  const std::string name(call.text(0));
  was_called_ = true;
  if (!may_act()) return call.give(std::uint64_t{0});
  const auto sent = accepted(call, client_.ask(name, "send", call.text(1)));
  if (sent) call.give(sent->value("delivered", std::uint64_t{0}));
}

// A dry run performs only operations that change nothing.
void stack_file::ask(script::call& call) {
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

void stack_file::get(script::call& call) {
  const auto there = find(call, std::string(call.text(0)));
  if (there) call.give(*there);
}

void stack_file::list(script::call& call) {
  const auto all = accepted(call, client_.get("/v1/runtimes"));
  if (all) call.give(*all);
}

// One entry per row.
// clang-format off
std::span<const script::function_row> stack_file::functions() {
  using script::method;
  static constexpr script::function_row table[] = {
      {"create", "type: string, name: string, options?: table", "",
       "sees to it that there is such a runtime, with these options, and that it runs, but for "
       "start=false", method<&stack_file::create>},
      {"edit", "name: string, options: table", "", "changes the options that differ",
       method<&stack_file::edit>},
      {"reset", "name: string, options: string[]", "",
       "sees to it that these options are as they are by default", method<&stack_file::reset>},
      {"remove", "name: string", "", "sees to it that there is none", method<&stack_file::remove>},
      {"start", "name: string", "", "starts it, unless it runs", method<&stack_file::start>},
      {"stop", "name: string", "", "stops it, if it runs", method<&stack_file::stop>},
      {"send", "name: string, message: string", "integer", "sends a message, as `strata send`",
       method<&stack_file::send>},
      {"ask", "name: string, operation: string, parameters?: table, body?: string", "table?",
       "asks it for an operation of its type, such as 'backends'", method<&stack_file::ask>},
      {"get", "name: string", "table?", "what it is, or nil", method<&stack_file::get>},
      {"list", "", "table[]", "all runtimes", method<&stack_file::list>},
  };
  return table;
}
// clang-format on

}  // namespace strata::cli
