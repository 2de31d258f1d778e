// The requests of scripts.
#include <algorithm>

#include "daemon/supervisor/render.hpp"
#include "daemon/supervisor/supervisor.hpp"
#include "loop/call_on.hpp"
#include "stack/plan.hpp"

namespace strata::daemon {

using namespace std::chrono_literals;
using nlohmann::json;
using runtime::service_verb;

namespace {

constexpr auto longest_creation = 10s;
constexpr auto between_looks = 20ms;

}  // namespace

loop::task<result<json>> supervisor::perform(loop::loop& asking, runtime::service_request request) {
  auto work = [this, request = std::move(request)] { return perform_here(request); };
  co_return co_await loop::call_on(asking, home_, std::move(work));
}

loop::task<result<json>> supervisor::perform_here(runtime::service_request request) {
  const auto shown = [this](const result<entry_ref>& entry) -> result<json> {
    if (!entry) return std::unexpected(entry.error());
    return summary_json(**entry, list(), home_.now());
  };
  switch (request.verb) {
    case service_verb::list: {
      auto found = list_json(list(), home_.now());
      co_return found;
    }
    case service_verb::get:
    case service_verb::stats: co_return co_await look_for(std::move(request));
    case service_verb::create: co_return co_await create_for(std::move(request));
    case service_verb::start: co_return shown(co_await start(request.name));
    case service_verb::stop: co_return shown(co_await stop(request.name));
    case service_verb::remove: {
      const auto gone = co_await remove(request.name);
      if (!gone) co_return std::unexpected(gone.error());
      co_return true;
    }
    case service_verb::edit: {
      const auto allowed = check_edit(request);
      if (!allowed) co_return std::unexpected(allowed.error());
      const auto edited = co_await edit(request.name, request.details);
      if (!edited) co_return std::unexpected(edited.error());
      co_return json{{"applied", edited->applied}, {"needs_restart", edited->needs_restart}};
    }
    case service_verb::ask: co_return co_await ask_for(std::move(request));
    case service_verb::cluster: {
      const auto view = cluster();
      if (!view) co_return std::unexpected(view.error());
      auto report = (*view)->report();
      co_return report;
    }
  }
  co_return json();
}

// A runtime that a script creates has at most the script's rights: those it names, or else the
// default rights that the script has.
result<void> supervisor::check_creation(const runtime::service_request& request, json& options) {
  if (!request.rights) return {};
  const auto& rights = *request.rights;
  const std::string type_name = request.details.at("type");
  const auto* const type = runtime::find_type(type_name);
  if (type == nullptr) return {};  // create reports it
  runtime::make_paths_absolute(type->rows(), rights.read_folders.front(), options);
  if (auto reached = runtime::check_reach(rights, type->rows(), options); !reached) {
    return reached;
  }
  const bool is_limited = !rights.net || !rights.runtimes;
  if (is_limited && options.contains("lua") && !options.contains("lua_allow")) {
    options["lua_allow"] = runtime::words_of(rights);
  }
  return runtime::check_child(rights, options);
}

result<void> supervisor::check_edit(runtime::service_request& request) const {
  if (!request.rights) return {};
  const auto& rights = *request.rights;
  const auto found = find(request.name);
  if (!found) return std::unexpected(found.error());
  const auto rows = std::span((*found)->type->rows());
  auto& changes = request.details;
  runtime::make_paths_absolute(rows, rights.read_folders.front(), changes);
  if (auto reached = runtime::check_reach(rights, rows, changes); !reached) return reached;
  const bool gives_rights = std::ranges::any_of(rows, [&changes](const auto& row) {
    return changes.contains(std::string(row.key)) &&
           (row.reach == options::option_reach::script_right || row.key == "lua");
  });
  if (!gives_rights) return {};
  auto next = (*found)->body->options(false);
  next.update(changes);
  return runtime::check_child(rights, next);
}

// A script may ask in on_start, before its runtime's record is stored.
loop::task<> supervisor::stored(std::string name) {
  const auto limit = home_.now() + longest_creation;
  while (!reconciler_.is_ending() && home_.now() < limit && !find(name))
    co_await home_.sleep(between_looks);
}

loop::task<result<json>> supervisor::look_for(runtime::service_request request) {
  if (request.name == request.by) co_await stored(request.by);
  const auto found = find(request.name);
  if (!found) co_return std::unexpected(found.error());
  if (request.verb == service_verb::stats) co_return stats_json(**found, home_.now());
  co_return detail_json(**found, list(), home_.now());
}

// No script runs with the rights of another.
loop::task<result<json>> supervisor::ask_for(runtime::service_request request) {
  const std::string operation = request.details.at("operation");
  const auto* const known = runtime::find_shared_operation(operation);
  if (request.rights && known != nullptr && known->row->needed == runtime::role::admin) {
    co_return failure(errc::permission_denied,
                      "make '" + request.name + "' run '" + operation + "'",
                      "no script may do this, whatever its rights");
  }
  runtime::operation_call call{.parameters = std::move(request.details.at("parameters")),
                               .body = std::move(request.details.at("body"))};
  if (known != nullptr && known->row->timeout_s > 0) {
    call.limit = home_.now() + loop::from_seconds(known->row->timeout_s);
  }
  co_return co_await ask(request.name, operation, std::move(call));
}

// An existing runtime of the script's own is changed to what it asks for: running a script again
// changes nothing.
loop::task<result<json>> supervisor::create_for(runtime::service_request request) {
  co_await stored(request.by);
  auto options = request.details.at("options");
  if (!options.contains("owner")) options["owner"] = request.by;
  if (auto allowed = check_creation(request, options); !allowed) {
    co_return std::unexpected(allowed.error());
  }
  const stack::desired_runtime desired{.name = request.name,
                                       .type = request.details.at("type"),
                                       .options = std::move(options),
                                       .runs = request.details.at("start").get<bool>()};
  const auto present = find(desired.name);
  const bool is_own = present && (*present)->type->name == desired.type &&
                      json((*present)->body->common().owner) == desired.options.at("owner");
  if (!is_own) {
    creation ordered{.type = desired.type,
                     .name = desired.name,
                     .options = desired.options,
                     .is_started = desired.runs,
                     .origin = request.by};
    const auto made = co_await create(std::move(ordered));
    if (!made) co_return std::unexpected(made.error());
    co_return summary_json(**made, list(), home_.now());
  }
  const auto& entry = **present;
  const stack::present_runtime present_state{.type = desired.type,
                                             .options = entry.body->options(true),
                                             .is_running = entry.state == run_state::running};
  auto plan = stack::plan_for(entry.type->rows(), desired, present_state);
  if (!plan) co_return std::unexpected(plan.error());
  if (!plan->changes.empty()) {
    const auto edited = co_await edit(desired.name, std::move(plan->changes));
    if (!edited) co_return std::unexpected(edited.error());
  }
  if (plan->is_start) {
    const auto started = co_await start(desired.name);
    if (!started) co_return std::unexpected(started.error());
  }
  co_return summary_json(entry, list(), home_.now());
}

}  // namespace strata::daemon
