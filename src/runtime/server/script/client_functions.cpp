#include "runtime/server/script/client_functions.hpp"

#include "loop/call_on.hpp"
#include "runtime/server/script/shard_script.hpp"
#include "runtime/server/shard.hpp"
#include "script/call.hpp"

namespace strata::runtime::server {

using script::answers;
using script::call;

namespace {

using shard_list = std::vector<server_state::far_shard>;

loop::task<answers> ids_of(loop::loop& asking, shard_list shards) {
  auto all = nlohmann::json::array();
  for (const auto& each : shards) {
    const auto ids = co_await loop::run_on(asking, *each.where,
                                           [who = each.who] { return who->script()->clients(); });
    for (const auto id : ids) all.push_back(id);
  }
  co_return std::vector<nlohmann::json>{std::move(all)};
}

template <class Ask>
loop::task<answers> ask_upstreams(shard& shard, Ask ask) {
  const auto first = shard.state().shards.front();
  auto look = [who = first.who, ask = std::move(ask)] { return ask(who->script()->up()); };
  co_return co_await loop::run_on(shard.loop(), *first.where, std::move(look));
}

}  // namespace

script_client* client_functions::find_present(std::uint64_t id) const {
  auto* const client = script_.find(id);
  return client == nullptr || client->is == nullptr ? nullptr : client;
}

void client_functions::send(call& call) {
  const auto message = call.text(1);
  if (message.size() > home_.options().max_message) {
    call.fail("the message is longer than --max-message");
    return;
  }
  call.give(script_.send(call.integer(0), message));
}

void client_functions::broadcast(call& call) {
  const auto message = call.text(0);
  if (message.size() > home_.options().max_message) {
    call.fail("the message is longer than --max-message");
    return;
  }
  script_.broadcast(message, call.has(1) ? call.integer(1) : 0);
}

void client_functions::multicast(call& call) {
  nlohmann::json ids;
  if (!call.structure(0, ids)) return;
  for (const auto& each : ids) {
    if (!each.is_number_unsigned() && !each.is_number_integer()) {
      call.fail("the list has elements that are not ids of clients");
      return;
    }
    script_.send(each.get<std::uint64_t>(), call.text(1));
  }
}

void client_functions::disconnect(call& call) {
  const auto id = call.integer(0);
  const auto* const home = home_.state().home_of(id);
  if (home == nullptr) return;
  if (home->who == &home_) {
    script_.disconnect(id);
  } else {
    home->where->post([who = home->who, id] { who->script()->disconnect(id); });
  }
}

loop::task<answers> client_functions::clients(call& /*with*/) {
  return ids_of(home_.loop(), home_.state().shards);
}

void client_functions::peer(call& call) {
  const auto* const client = find_present(call.integer(0));
  if (client == nullptr) {
    call.give_nothing();
    return;
  }
  nlohmann::json peer{{"address", client->is->address().text()}};
  if (const auto subject = client->is->tls_subject(); !subject.empty()) {
    peer["tls_subject"] = subject;
  }
  call.give(peer);
}

void client_functions::ws_headers(call& call) {
  const auto* const identity = script_.answers().identity_of(call.integer(0));
  if (identity == nullptr) {
    call.give_nothing();
  } else {
    call.give(*identity);
  }
}

void client_functions::peer_ip(call& call) {
  const auto* const client = find_present(call.integer(0));
  call.give(client == nullptr ? std::string_view() : client->is->address().ip());
}

void client_functions::set_data(call& call) {
  auto* const client = script_.find(call.integer(0));
  if (client == nullptr) {
    call.give(false);
    return;
  }
  auto& data = client->data;
  if (!call.has(2)) {
    data.forget(call.text(1));
    call.give(true);
    return;
  }
  nlohmann::json value;
  if (!call.structure(2, value)) return;
  if (!data.keep(call.text(1), std::move(value))) {
    call.fail("there is no room: a client's data is limited to 1 MiB");
    return;
  }
  call.give(true);
}

void client_functions::get_data(call& call) {
  const auto* const client = script_.find(call.integer(0));
  const auto* const value = client == nullptr ? nullptr : client->data.find(call.text(1));
  if (value == nullptr) {
    call.give_nothing();
    return;
  }
  call.give(*value);
}

void client_functions::join_group(call& call) {
  const bool is_present = find_present(call.integer(0)) != nullptr;
  if (is_present && !script_.groups().join(call.integer(0), call.text(1))) {
    call.fail("a client can be in at most 10,000 groups, with names of at most 1,024 bytes");
    return;
  }
  call.give(is_present);
}

void client_functions::leave_group(call& call) {
  call.give(script_.groups().leave(call.integer(0), call.text(1)));
}

void client_functions::group_send(call& call) {
  const std::string group(call.text(0));
  const std::string message(call.text(1));
  const auto except = call.has(2) ? call.integer(2) : 0;
  script_.send_to_group(group, message, except);
  for (const auto& each : home_.state().shards) {
    if (each.who == &home_) continue;
    each.where->post([who = each.who, group, message, except] {
      who->script()->send_to_group(group, message, except);
    });
  }
}

// The first shard has all upstreams.
loop::task<answers> client_functions::connected_upstreams(call& /*with*/) {
  const auto ask = [](upstreams& up) {
    return std::vector<nlohmann::json>{nlohmann::json(up.connected())};
  };
  return ask_upstreams(home_, ask);
}

loop::task<answers> client_functions::send_upstream(call& call) {
  auto ask = [which = call.integer(0), message = std::string(call.text(1))](upstreams& up) {
    const auto sent = up.send(which, message);
    if (sent) return std::vector<nlohmann::json>{true};
    return std::vector<nlohmann::json>{nullptr, describe(sent.error())};
  };
  return ask_upstreams(home_, std::move(ask));
}

loop::task<answers> client_functions::broadcast_upstream(call& call) {
  auto ask = [message = std::string(call.text(0))](upstreams& up) {
    std::uint64_t taken = 0;
    for (const auto each : up.connected()) taken += up.send(each, message) ? 1 : 0;
    return std::vector<nlohmann::json>{taken};
  };
  return ask_upstreams(home_, std::move(ask));
}

loop::task<answers> client_functions::route(call& call) {
  return script_.routes().open(call.integer(0), std::string(call.text(1)));
}

void client_functions::unroute(call& call) {
  auto* const client = script_.find(call.integer(0));
  const bool is_routed = client != nullptr && client->routed != nullptr;
  if (is_routed) client_routes::close(*client);
  call.give(is_routed);
}

void client_functions::get_route(call& call) {
  const auto* const client = script_.find(call.integer(0));
  if (client == nullptr || !client->routed) return call.give_nothing();
  call.give(std::string_view(client->route));
}

void client_functions::pipe(call& call) {
  script_.routes().pipe(call.integer(0), call.integer(1));
  script_.routes().pipe(call.integer(1), call.integer(0));
}

void client_functions::unpipe(call& call) {
  const auto* const client = script_.find(call.integer(0));
  if (client == nullptr || client->piped == 0) return;
  const auto other = client->piped;
  script_.routes().pipe(call.integer(0), 0);
  script_.routes().pipe(other, 0);
}

void client_functions::connections(call& call) {
  call.give(static_cast<double>(home_.state().connections.now()));
}

using script::method;

// One entry per row.
// clang-format off
constexpr script::function_row client_functions::rows[] = {
    {"send", "id: integer, message: string", "boolean",
     "sends a message to one client; false if it has disconnected",
     method<&client_functions::send>},
    {"broadcast", "message: string, except?: integer", "",
     "sends a message to all clients, or all but one",
     method<&client_functions::broadcast>},
    {"multicast", "ids: integer[], message: string", "",
     "sends a message to some clients", method<&client_functions::multicast>},
    {"disconnect", "id: integer", "", "closes a client's connection after everything sent before "
                                      "has been delivered",
     method<&client_functions::disconnect>},
    {"clients", "", "integer[]", "the ids of all clients, on all loops", nullptr,
     method<&client_functions::clients>},
    {"route", "id: integer, where: string", "boolean?, string?",
     "relays between a client and another runtime or a URL; the script does not get these messages "
     "until that ends; nil and the reason on failure",
     nullptr, method<&client_functions::route>},
    {"unroute", "id: integer", "boolean", "ends a route; false if there was none",
     method<&client_functions::unroute>},
    {"get_route", "id: integer", "string?", "where a client's messages are routed to, or nil",
     method<&client_functions::get_route>},
    {"pipe", "a: integer, b: integer", "",
     "relays between two clients; the script does not get their messages",
     method<&client_functions::pipe>},
    {"unpipe", "id: integer", "", "ends the relay, for both clients",
     method<&client_functions::unpipe>},
    {"upstreams", "", "integer[]", "the numbers of the connected upstreams (--upstream), from 1",
     nullptr, method<&client_functions::connected_upstreams>},
    {"upstream_send", "upstream: integer, message: string", "boolean?, string?",
     "sends a message to one upstream; returns true, or nil and the reason", nullptr,
     method<&client_functions::send_upstream>},
    {"upstream_broadcast", "message: string", "integer",
     "sends a message to all upstreams; returns how many accepted it", nullptr,
     method<&client_functions::broadcast_upstream>},
    {"connections", "", "integer", "the number of connections",
     method<&client_functions::connections>},
    {"peer", "id: integer", "table?",
     "address and TLS subject of a client ({address=, tls_subject=}), or nil if it has "
     "disconnected",
     method<&client_functions::peer>},
    {"ws_headers", "id: integer", "table?",
     "the fields cookie, origin, protocol and authorization of the request that opened a client's "
     "WebSocket, as far as it has them; nil for another client",
     method<&client_functions::ws_headers>},
    {"peer_ip", "id: integer", "string", "a client's IP address, without its port",
     method<&client_functions::peer_ip>},
    {"set_data", "id: integer, name: string, value?: any", "boolean",
     "stores a value with a client (at most 1 MiB in all), which survives a reload of the script; "
     "nil removes it",
     method<&client_functions::set_data>},
    {"get_data", "id: integer, name: string", "any", "a value stored with a client, or nil",
     method<&client_functions::get_data>},
    {"join_group", "id: integer, group: string", "boolean",
     "puts a client into a group (at most 10,000 groups, with names of at most 1,024 bytes); false "
     "if it has disconnected",
     method<&client_functions::join_group>},
    {"leave_group", "id: integer, group: string", "boolean",
     "removes a client from a group; false if it was not in it",
     method<&client_functions::leave_group>},
    {"group_send", "group: string, message: string, except?: integer", "",
     "sends a message to a group's clients, or all but one",
     method<&client_functions::group_send>},
};
// clang-format on

std::span<const script::function_row> script_functions() { return client_functions::rows; }

}  // namespace strata::runtime::server
