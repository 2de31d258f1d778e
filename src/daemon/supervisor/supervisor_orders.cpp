// The requests of scripts.
#include <algorithm>

#include "daemon/supervisor/render.hpp"
#include "daemon/supervisor/supervisor.hpp"
#include "loop/call_on.hpp"

namespace strata::daemon {

using namespace std::chrono_literals;
using nlohmann::json;
using runtime::house_verb;

namespace {

constexpr auto longest_creation = 10s;
constexpr auto between_looks = 20ms;

}  // namespace

loop::task<result<json>> supervisor::obey(loop::loop& asking, runtime::house_order order) {
  auto work = [this, order = std::move(order)] { return obey_here(order); };
  co_return co_await loop::call_on(asking, home_, std::move(work));
}

loop::task<result<json>> supervisor::obey_here(runtime::house_order order) {
  const auto shown = [this](const result<entry_ref>& entry) -> result<json> {
    if (!entry) return std::unexpected(entry.error());
    return summary_json(**entry, list(), home_.now());
  };
  switch (order.verb) {
    case house_verb::list: {
      auto found = list_json(list(), home_.now());
      co_return found;
    }
    case house_verb::get:
    case house_verb::stats: co_return co_await look_for(std::move(order));
    case house_verb::create: co_return co_await create_for(std::move(order));
    case house_verb::start: co_return shown(co_await start(order.name));
    case house_verb::stop: co_return shown(co_await stop(order.name));
    case house_verb::remove: {
      const auto gone = co_await remove(order.name);
      if (!gone) co_return std::unexpected(gone.error());
      co_return true;
    }
    case house_verb::edit: {
      const auto allowed = check_edit(order);
      if (!allowed) co_return std::unexpected(allowed.error());
      const auto edited = co_await edit(order.name, order.details);
      if (!edited) co_return std::unexpected(edited.error());
      co_return json{{"applied", edited->applied}, {"needs_restart", edited->needs_restart}};
    }
    case house_verb::ask: co_return co_await ask_for(std::move(order));
  }
  co_return json();
}

// A runtime that a script creates has at most the script's rights: those it names, or else the
// default rights that the script has.
result<void> supervisor::check_creation(const runtime::house_order& order, json& options) {
  if (!order.rights) return {};
  const auto& rights = *order.rights;
  const std::string type_name = order.details.at("type");
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

result<void> supervisor::check_edit(runtime::house_order& order) const {
  if (!order.rights) return {};
  const auto& rights = *order.rights;
  const auto found = find(order.name);
  if (!found) return std::unexpected(found.error());
  const auto rows = std::span((*found)->type->rows());
  auto& changes = order.details;
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

loop::task<result<json>> supervisor::look_for(runtime::house_order order) {
  if (order.name == order.by) co_await stored(order.by);
  const auto found = find(order.name);
  if (!found) co_return std::unexpected(found.error());
  if (order.verb == house_verb::stats) co_return stats_json(**found, home_.now());
  co_return detail_json(**found, list(), home_.now());
}

// No script runs with the rights of another.
loop::task<result<json>> supervisor::ask_for(runtime::house_order order) {
  const std::string operation = order.details.at("operation");
  const auto* const known = runtime::find_shared_operation(operation);
  if (order.rights && known != nullptr && known->row->needed == runtime::role::admin) {
    co_return failure(errc::permission_denied, "make '" + order.name + "' run '" + operation + "'",
                      "no script may do this, whatever its rights");
  }
  runtime::operation_call call{.parameters = std::move(order.details.at("parameters")),
                               .body = std::move(order.details.at("body"))};
  if (known != nullptr && known->row->timeout_s > 0) {
    call.limit = home_.now() + loop::from_seconds(known->row->timeout_s);
  }
  co_return co_await ask(order.name, operation, std::move(call));
}

// An existing runtime of the script's own is changed to what it asks for: running a script again
// changes nothing.
loop::task<result<json>> supervisor::create_for(runtime::house_order order) {
  co_await stored(order.by);
  auto options = order.details.at("options");
  if (!options.contains("owner")) options["owner"] = order.by;
  if (auto allowed = check_creation(order, options); !allowed) {
    co_return std::unexpected(allowed.error());
  }
  const bool starts = order.details.at("start").get<bool>();
  const auto there = find(order.name);
  const bool is_own = there && json((*there)->body->common().owner) == options.at("owner") &&
                      json((*there)->type->name) == order.details.at("type");
  if (!is_own) {
    creation ordered{.type = order.details.at("type"),
                     .name = order.name,
                     .options = std::move(options),
                     .is_started = starts,
                     .origin = order.by};
    const auto made = co_await create(std::move(ordered));
    if (!made) co_return std::unexpected(made.error());
    co_return summary_json(**made, list(), home_.now());
  }
  const auto edited = co_await edit(order.name, std::move(options));
  if (!edited) co_return std::unexpected(edited.error());
  if (starts) {
    const auto started = co_await start(order.name);
    if (!started) co_return std::unexpected(started.error());
  }
  co_return summary_json(**there, list(), home_.now());
}

}  // namespace strata::daemon
