#include "runtime/scripting/service_functions.hpp"

#include <utility>

#include "runtime/runtime_service.hpp"
#include "runtime/scripting/channels.hpp"
#include "runtime/scripting/event_subscription.hpp"
#include "runtime/scripting/host.hpp"
#include "script/call.hpp"

namespace strata::runtime::scripting {

using nlohmann::json;
using script::answers;
using script::call;

namespace {

host& host_in(void* self) { return *static_cast<host*>(self); }

loop::task<answers> performed(runtime_service& service, loop::loop& loop, service_request request) {
  auto done = co_await service.perform(loop, std::move(request));
  if (!done) co_return std::unexpected(done.error());
  co_return std::vector<json>{std::move(*done)};
}

loop::task<answers> send_request(host& host, service_request request) {
  request.by = host.who().name;
  request.rights = host.rights();
  return performed(*host.who().others, host.on(), std::move(request));
}

template <service_verb Verb>
loop::task<answers> request_of(void* self, call& call) {
  service_request request{.verb = Verb};
  if (call.count() > 0) request.name = call.text(0);
  return send_request(host_in(self), std::move(request));
}

// An empty Lua table arrives as an empty list; here it means no options.
json options_of(json value) {
  if (value.is_null() || value.empty()) return json::object();
  return value;
}

loop::task<answers> create(void* self, call& call) {
  json options;
  if (call.has(2) && !call.json_structure(2, options)) return {};
  options = options_of(std::move(options));
  // As -s on the command line.
  const bool starts = !options.contains("start") || options["start"] == true;
  options.erase("start");
  service_request request{
      .verb = service_verb::create,
      .name = std::string(call.text(1)),
      .details = {
          {"type", std::string(call.text(0))}, {"options", std::move(options)}, {"start", starts}}};
  return send_request(host_in(self), std::move(request));
}

loop::task<answers> edit(void* self, call& call) {
  json options;
  if (!call.json_structure(1, options)) return {};
  return send_request(host_in(self), {.verb = service_verb::edit,
                                      .name = std::string(call.text(0)),
                                      .details = options_of(std::move(options))});
}

service_request asking(std::string name, std::string operation, json parameters, std::string body) {
  return {.verb = service_verb::ask,
          .name = std::move(name),
          .details = {{"operation", std::move(operation)},
                      {"parameters", std::move(parameters)},
                      {"body", std::move(body)}}};
}

loop::task<answers> ask(void* self, call& call) {
  json parameters;
  if (call.has(2) && !call.json_structure(2, parameters)) return {};
  return send_request(host_in(self),
                      asking(std::string(call.text(0)), std::string(call.text(1)),
                             options_of(std::move(parameters)),
                             call.has(3) ? std::string(call.text(3)) : std::string()));
}

service_request sending(std::string name, std::string_view message,
                        json parameters = json::object()) {
  return asking(std::move(name), "send", std::move(parameters), std::string(message));
}

/// The number of connections that took the message.
loop::task<answers> sent(loop::task<answers> asking) {
  auto outcome = co_await asking;
  if (!outcome || !outcome->front().is_object()) co_return outcome;
  co_return std::vector<json>{std::move(outcome->front().at("delivered"))};
}

loop::task<answers> send(void* self, call& call) {
  auto parameters = json::object();
  if (call.has(2)) parameters["client"] = call.integer(2);
  return sent(send_request(
      host_in(self), sending(std::string(call.text(0)), call.text(1), std::move(parameters))));
}

// --- its own runtime

loop::task<answers> get_own(host& host, service_verb verb) {
  return send_request(host, {.verb = verb, .name = host.who().name});
}

loop::task<answers> own_stats(void* self, call& /*with*/) {
  return get_own(host_in(self), service_verb::stats);
}

loop::task<answers> own_field(host& host, const char* field) {
  auto looking = get_own(host, service_verb::get);
  auto own = co_await looking;
  if (!own) co_return own;
  co_return std::vector<json>{std::move(own->front().at(field))};
}

loop::task<answers> own_options(void* self, call& /*with*/) {
  return own_field(host_in(self), "options");
}

loop::task<answers> own_endpoints(void* self, call& /*with*/) {
  return own_field(host_in(self), "endpoints");
}

// `request` has no name yet.
loop::task<answers> sent_to_owner(host& host, service_request request) {
  auto looking = own_field(host, "owner");
  auto owner = co_await looking;
  if (!owner) co_return owner;
  request.name = owner->front().get<std::string>();
  if (request.name.empty()) {
    co_return std::vector<json>{nullptr, "this runtime has no owner"};
  }
  auto giving = send_request(host, std::move(request));
  co_return co_await giving;
}

loop::task<answers> owner_send(void* self, call& call) {
  auto request = sending({}, call.text(1), json{{"client", call.integer(0)}});
  return sent(sent_to_owner(host_in(self), std::move(request)));
}

loop::task<answers> owner_broadcast(void* self, call& call) {
  return sent(sent_to_owner(host_in(self), sending({}, call.text(0))));
}

template <bool ArePatterns>
loop::task<answers> subscribe_to(void* self, call& call) {
  return subscribe(host_in(self), call, ArePatterns);
}

void events(void* self, call& call) { follow_events(host_in(self), call); }

// One entry per row.
// clang-format off
constexpr script::function_row service_table[] = {
    {"create", "type: string, name: string, options?: table", "table?, string?",
     "creates a runtime that this one owns and, unless start=false, starts it; changes the "
     "runtime of that name if this one owns it; returns its description, or nil and the reason",
     nullptr, create, script::right::runtimes},
    {"start", "name: string", "table?, string?", "starts a runtime", nullptr,
     request_of<service_verb::start>, script::right::runtimes},
    {"stop", "name: string", "table?, string?", "stops a runtime", nullptr,
     request_of<service_verb::stop>, script::right::runtimes},
    {"remove", "name: string", "boolean?, string?", "stops and removes a runtime", nullptr,
     request_of<service_verb::remove>, script::right::runtimes},
    {"edit", "name: string, options: table", "table?, string?", "changes a runtime's options",
     nullptr, edit, script::right::runtimes},
    {"send", "name: string, message: string, client?: integer", "integer?, string?",
     "sends a message, as `strata send`, or to one client of a server; returns the number of "
     "connections that accepted it", nullptr, send, script::right::runtimes},
    {"ask", "name: string, operation: string, parameters?: table, body?: string",
     "table?, string?",
     "runs an operation of a runtime's type, such as 'backends' (GET /v1/types lists them); "
     "returns its answer, or nil and the reason", nullptr, ask, script::right::runtimes},
    {"pipe", "first: string, id: integer, second: string, other: integer", "boolean?, string?",
     "couples a client of one server with a client of another, both with scripts: the messages of "
     "each go to the other, until one disconnects; returns true, or nil and the reason", nullptr,
     nullptr, script::right::runtimes},
    {"unpipe", "first: string, id: integer, second: string, other: integer", "boolean?, string?",
     "ends that: the messages go to the scripts again", nullptr, nullptr, script::right::runtimes},
    {"list", "", "table[]", "all runtimes, as `strata ls --format json` shows them", nullptr,
     request_of<service_verb::list>},
    {"get", "name: string", "table?, string?",
     "a runtime with its options and children, as `strata show --format json` shows it", nullptr,
     request_of<service_verb::get>},
    {"stats", "name: string", "table?, string?",
     "the figures of a runtime, as `strata stats --format json` shows "
     "them", nullptr, request_of<service_verb::stats>},
    {"events", "call: fun(event: table)", "strata.subscription",
     "calls a function for each further event of any runtime: {time=, event=, runtime=, type=, "
     "detail=}", events},
    {"subscribe", "where: string, channels: string|string[], call: fun(channel: string, "
     "message: string), options?: table", "strata.subscription, string?",
     "calls a function for each message published in channels of a cache or Redis server (named as "
     "for strata.redis); reconnects; a reason in addition to the subscription means that it is "
     "still trying to connect",
     nullptr, subscribe_to<false>, script::right::net},
    {"psubscribe", "where: string, patterns: string|string[], call: fun(channel: string, "
     "message: string, pattern: string), options?: table", "strata.subscription, string?",
     "as strata.subscribe, for all channels that match patterns", nullptr, subscribe_to<true>},
    {"group", "name: string", "table[]",
     "the running members of a group, as strata.list returns them; those of other daemons of the "
     "cluster as strata.cluster.runtimes does; waits"},
    {"watch_group", "name: string, call: fun(members: table[])", "strata.subscription",
     "calls a function with the members of a group, now and after each change"},
};

constexpr script::function_row own_table[] = {
    {"options", "", "table?, string?", "the runtime's options", nullptr, own_options},
    {"endpoints", "", "string[]?, string?", "the endpoints at which the runtime listens, or to "
                                            "which it connects", nullptr,
     own_endpoints},
    {"stats", "", "table?, string?", "the runtime's figures, as strata.stats returns them", nullptr,
     own_stats},
    {"owner_send", "id: integer, message: string", "integer?, string?",
     "sends a message to one client of the server that owns this runtime", nullptr, owner_send},
    {"owner_broadcast", "message: string", "integer?, string?",
     "sends a message to all clients of that server, as `strata send`", nullptr, owner_broadcast},
};
// clang-format on

constexpr own_value own_value_table[] = {
    {"name", "string", "the runtime's name"},
    {"type", "string", "its type"},
    {"port", "integer", "the first port at which it listens; 0: none, or none yet; waits"},
    {"state", "string", "its state, as `strata ls` shows it; waits"},
    {"protocol", "string?", "its option 'protocol', or nil; waits"},
};

constexpr std::string_view own_lua = R"lua(
local self, stats, options, endpoints = self, self.stats, self.options, self.endpoints
local values = {}

function values.port()
  for _, each in ipairs(endpoints()) do
    local port = each:match(':(%d+)/?$')
    if port then return tonumber(port) end
  end
  return 0
end

function values.state() return stats().state end
function values.protocol() return options().protocol end

setmetatable(self, { __index = function(_, name)
  local value = values[name]
  if value then return value() end
end })
)lua";

constexpr std::string_view service_lua = R"lua(
local strata, ipairs, pcall, error, table_concat = strata, ipairs, pcall, error, table.concat

function strata.group(name)
  local members = {}
  for _, each in ipairs(strata.list()) do
    if each.group == name and each.state == 'running' then members[#members + 1] = each end
  end
  local view = strata.cluster.get()
  for _, daemon in ipairs(view and view.daemons or {}) do
    for _, each in ipairs(daemon.is_own and {} or daemon.runtimes) do
      each.daemon = daemon.daemon
      if each.group == name and each.state == 'running' then members[#members + 1] = each end
    end
  end
  return members
end

local ask = strata.ask

function strata.pipe(first, id, second, other)
  local ends = { client = id, runtime = second, other = other }
  local done, why = ask(first, 'couple', ends)
  if not done then return nil, why end
  done, why = ask(second, 'couple', { client = other, runtime = first, other = id })
  if done then return true end
  ask(first, 'uncouple', ends)
  return nil, why
end

function strata.unpipe(first, id, second, other)
  local done, why = ask(first, 'uncouple', { client = id, runtime = second, other = other })
  ask(second, 'uncouple', { client = other, runtime = first, other = id })
  if not done then return nil, why end
  return done.coupled
end

local function names_of(members)
  local names = {}
  for at, each in ipairs(members) do
    names[at] = (each.daemon or '') .. ' ' .. each.name .. ' ' .. table_concat(each.endpoints, ' ')
  end
  return table_concat(names, '\n')
end

function strata.watch_group(name, call)
  local known
  local is_looking, has_changed = false, false
  local function look()
    has_changed = true
    if is_looking then return end
    is_looking = true
    while has_changed do
      has_changed = false
      local members = strata.group(name)
      local now = names_of(members)
      if now ~= known then
        known = now
        local is_done, why = pcall(call, members)
        if not is_done then
          is_looking = false
          error(why, 0)
        end
      end
    end
    is_looking = false
  end
  local followed = strata.events(look)
  strata.set_timeout(0, look)
  return followed
end
)lua";

}  // namespace

std::span<const script::function_row> service_functions() { return service_table; }
std::span<const script::function_row> own_functions() { return own_table; }
std::span<const own_value> own_values() { return own_value_table; }
std::string_view service_lines() { return service_lua; }
std::string_view own_lines() { return own_lua; }

}  // namespace strata::runtime::scripting
