#include "cli/lua/stack_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "text/nearest.hpp"

namespace strata::cli {

stack_file::stack_file(const invocation& call, std::string folder)
    : deployment_(call.daemon,
                  {.is_dry = call.is_set("dry_run"), .restarts = call.is_set("restart")}, deeds_),
      folder_(std::move(folder)) {}

std::optional<nlohmann::json> stack_file::accepted(script::call& call, outcome<json> answer) {
  was_called_ = true;
  if (answer) return std::move(*answer);
  refused_ = answer.error();
  call.fail(answer.error().message);
  return std::nullopt;
}

void stack_file::accept(script::call& call, outcome<> answer) {
  was_called_ = true;
  if (answer) return;
  refused_ = answer.error();
  call.fail(answer.error().message);
}

// Null if there is none; nullopt if the call has failed.
std::optional<nlohmann::json> stack_file::find(script::call& call, const std::string& name) {
  return accepted(call, deployment_.find(name));
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
  if (!shown || deployment_.is_planned(name)) return;
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
  accept(call, deployment_.apply(type, desired, present));
}

void stack_file::act(script::call& call, act_on_name act) {
  accept(call, (deployment_.*act)(std::string(call.text(0))));
}

void stack_file::send(script::call& call) {
  const std::string name(call.text(0));
  was_called_ = true;
  if (deployment_.is_dry()) return call.give(std::uint64_t{0});
  const auto sent = accepted(call, deployment_.client().ask(name, "send", call.text(1)));
  if (sent) call.give(sent->value("delivered", std::uint64_t{0}));
}

// A dry run performs only operations that change nothing.
void stack_file::ask(script::call& call) {
  nlohmann::json parameters;
  if (call.has(2) && !call.json_structure(2, parameters)) return;
  was_called_ = true;
  const auto* const known = runtime::find_shared_operation(call.text(1));
  if (known != nullptr && known->row->needed != runtime::role::read && deployment_.is_dry()) {
    return call.give(nlohmann::json());
  }
  const auto given = accepted(
      call, deployment_.client().ask(std::string(call.text(0)), call.text(1),
                                     call.has(3) ? call.text(3) : std::string_view(), parameters));
  if (given) call.give(*given);
}

void stack_file::get(script::call& call) {
  const auto there = find(call, std::string(call.text(0)));
  if (there) call.give(*there);
}

void stack_file::list(script::call& call) {
  const auto all = accepted(call, deployment_.client().get("/v1/runtimes"));
  if (all) call.give(*all);
}

// One entry per row.
// clang-format off
std::span<const script::function_row> stack_file::functions() {
  using script::method;
  static constexpr script::function_row table[] = {
      {"create", "type: string, name: string, options?: table", "",
       "creates the runtime, or changes the options that differ; starts it, unless start=false",
       method<&stack_file::create>},
      {"edit", "name: string, options: table", "", "changes the options that differ",
       method<&stack_file::edit>},
      {"reset", "name: string, options: string[]", "", "sets options to their defaults",
       method<&stack_file::reset>},
      {"remove", "name: string", "", "stops and removes the runtime, if there is one",
       method<&stack_file::remove>},
      {"start", "name: string", "", "starts the runtime, unless it runs",
       method<&stack_file::start>},
      {"stop", "name: string", "", "stops the runtime, if it runs", method<&stack_file::stop>},
      {"send", "name: string, message: string", "integer",
       "sends a message, as `strata send`; returns the number of connections that accepted it",
       method<&stack_file::send>},
      {"ask", "name: string, operation: string, parameters?: table, body?: string", "table?",
       "runs an operation of the runtime's type, such as 'backends', and returns its answer",
       method<&stack_file::ask>},
      {"get", "name: string", "table?",
       "the runtime, as `strata show --format json` shows it, or nil", method<&stack_file::get>},
      {"list", "", "table[]", "all runtimes, as `strata ls --format json` shows them",
       method<&stack_file::list>},
  };
  return table;
}
// clang-format on

}  // namespace strata::cli
