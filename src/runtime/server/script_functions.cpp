// The functions of `self` for servers' scripts.
#include "loop/call_on.hpp"
#include "runtime/server/script_client.hpp"
#include "runtime/server/shard.hpp"
#include "runtime/server/shard_script.hpp"
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

void shard_script::call_send(call& call) {
  const auto message = call.text(1);
  if (message.size() > home_.options().max_message) {
    call.fail("the message is longer than --max-message");
    return;
  }
  call.give(send(call.integer(0), message));
}

void shard_script::call_broadcast(call& call) {
  const auto message = call.text(0);
  if (message.size() > home_.options().max_message) {
    call.fail("the message is longer than --max-message");
    return;
  }
  home_.loop().at_turn_end(*this);
  home_.relay({as_bytes(message)}, call.has(1) ? call.integer(1) : 0);
}

void shard_script::call_multicast(call& call) {
  nlohmann::json ids;
  if (!call.structure(0, ids)) return;
  for (const auto& each : ids) {
    if (!each.is_number_unsigned() && !each.is_number_integer()) {
      call.fail("the list has elements that are not ids of clients");
      return;
    }
    send(each.get<std::uint64_t>(), call.text(1));
  }
}

void shard_script::call_disconnect(call& call) {
  const auto id = call.integer(0);
  const auto* const home = home_.state().home_of(id);
  if (home == nullptr) return;
  if (home->who == &home_) {
    disconnect_here(id);
  } else {
    home->where->post([who = home->who, id] { who->script()->disconnect_here(id); });
  }
}

loop::task<answers> shard_script::call_clients(call& /*with*/) {
  return ids_of(home_.loop(), home_.state().shards);
}

void shard_script::call_peer(call& call) {
  if (!is_there(call.integer(0))) {
    call.give_nothing();
    return;
  }
  const auto& is = *clients_.at(call.integer(0))->is;
  nlohmann::json about{{"address", is.address().text()}};
  if (const auto subject = is.tls_subject(); !subject.empty()) about["tls_subject"] = subject;
  call.give(about);
}

void shard_script::call_peer_ip(call& call) {
  if (!is_there(call.integer(0))) {
    call.give("");
    return;
  }
  call.give(std::string_view(clients_.at(call.integer(0))->is->address().ip()));
}

void shard_script::call_set_data(call& call) {
  if (!clients_.contains(call.integer(0))) {
    call.give(false);
    return;
  }
  auto& data = clients_.at(call.integer(0))->data;
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

void shard_script::call_get_data(call& call) {
  if (clients_.contains(call.integer(0))) {
    const auto* const value = clients_.at(call.integer(0))->data.find(call.text(1));
    if (value != nullptr) {
      call.give(*value);
      return;
    }
  }
  call.give_nothing();
}

void shard_script::call_join_group(call& call) {
  const bool is = is_there(call.integer(0));
  if (is && !groups_.join(call.integer(0), call.text(1))) {
    call.fail("a client can be in at most 10,000 groups, with names of at most 1,024 bytes");
    return;
  }
  call.give(is);
}

void shard_script::call_leave_group(call& call) {
  call.give(groups_.leave(call.integer(0), call.text(1)));
}

void shard_script::call_group_send(call& call) {
  const std::string group(call.text(0));
  const std::string message(call.text(1));
  const auto except = call.has(2) ? call.integer(2) : 0;
  send_to_group(group, message, except);
  for (const auto& each : home_.state().shards) {
    if (each.who == &home_) continue;
    each.where->post([who = each.who, group, message, except] {
      who->script()->send_to_group(group, message, except);
    });
  }
}

// The first shard has all upstreams.
loop::task<answers> shard_script::call_upstreams(call& /*with*/) {
  const auto ask = [](upstreams& up) {
    return std::vector<nlohmann::json>{nlohmann::json(up.connected())};
  };
  return ask_upstreams(home_, ask);
}

loop::task<answers> shard_script::call_upstream_send(call& call) {
  auto ask = [which = call.integer(0), message = std::string(call.text(1))](upstreams& up) {
    const auto sent = up.send(which, message);
    if (sent) return std::vector<nlohmann::json>{true};
    return std::vector<nlohmann::json>{nullptr, describe(sent.error())};
  };
  return ask_upstreams(home_, std::move(ask));
}

loop::task<answers> shard_script::call_upstream_broadcast(call& call) {
  auto ask = [message = std::string(call.text(0))](upstreams& up) {
    std::uint64_t taken = 0;
    for (const auto each : up.connected()) taken += up.send(each, message) ? 1 : 0;
    return std::vector<nlohmann::json>{taken};
  };
  return ask_upstreams(home_, std::move(ask));
}

void shard_script::call_connections(call& call) {
  call.give(static_cast<double>(home_.state().connections.now()));
}

using script::method;

// One entry per row.
// clang-format off
constexpr script::function_row shard_script::functions[] = {
    {"send", "id: integer, message: string", "boolean",
     "sends a message to one client; false if it has disconnected",
     method<&shard_script::call_send>},
    {"broadcast", "message: string, except?: integer", "",
     "sends a message to all clients, or all but one",
     method<&shard_script::call_broadcast>},
    {"multicast", "ids: integer[], message: string", "",
     "sends a message to some clients", method<&shard_script::call_multicast>},
    {"disconnect", "id: integer", "", "closes a client's connection after everything sent before "
                                      "has been delivered",
     method<&shard_script::call_disconnect>},
    {"clients", "", "integer[]", "the ids of all clients, on all loops", nullptr,
     method<&shard_script::call_clients>},
    {"route", "id: integer, where: string", "boolean?, string?",
     "relays between a client and another runtime or a URL; the script does not get these messages "
     "until that ends; nil and the reason on failure",
     nullptr, method<&shard_script::call_route>},
    {"unroute", "id: integer", "boolean", "ends a route; false if there was none",
     method<&shard_script::call_unroute>},
    {"get_route", "id: integer", "string?", "where a client's messages are routed to, or nil",
     method<&shard_script::call_get_route>},
    {"pipe", "a: integer, b: integer", "",
     "relays between two clients; the script does not get their messages",
     method<&shard_script::call_pipe>},
    {"unpipe", "id: integer", "", "ends the relay, for both clients",
     method<&shard_script::call_unpipe>},
    {"upstreams", "", "integer[]", "the numbers of the connected upstreams (--upstream), from 1",
     nullptr, method<&shard_script::call_upstreams>},
    {"upstream_send", "upstream: integer, message: string", "boolean?, string?",
     "sends a message to one upstream; returns true, or nil and the reason", nullptr,
     method<&shard_script::call_upstream_send>},
    {"upstream_broadcast", "message: string", "integer",
     "sends a message to all upstreams; returns how many accepted it", nullptr,
     method<&shard_script::call_upstream_broadcast>},
    {"connections", "", "integer", "the number of connections",
     method<&shard_script::call_connections>},
    {"peer", "id: integer", "table?",
     "address and TLS subject of a client ({address=, tls_subject=}), or nil if it has "
     "disconnected",
     method<&shard_script::call_peer>},
    {"peer_ip", "id: integer", "string", "a client's IP address, without its port",
     method<&shard_script::call_peer_ip>},
    {"set_data", "id: integer, name: string, value?: any", "boolean",
     "stores a value with a client (at most 1 MiB in all), which survives a reload of the script; "
     "nil removes it",
     method<&shard_script::call_set_data>},
    {"get_data", "id: integer, name: string", "any", "a value stored with a client, or nil",
     method<&shard_script::call_get_data>},
    {"join_group", "id: integer, group: string", "boolean",
     "puts a client into a group (at most 10,000 groups, with names of at most 1,024 bytes); false "
     "if it has disconnected",
     method<&shard_script::call_join_group>},
    {"leave_group", "id: integer, group: string", "boolean",
     "removes a client from a group; false if it was not in it",
     method<&shard_script::call_leave_group>},
    {"group_send", "group: string, message: string, except?: integer", "",
     "sends a message to a group's clients, or all but one",
     method<&shard_script::call_group_send>},
};
// clang-format on

std::span<const script::function_row> script_functions() { return shard_script::functions; }

}  // namespace strata::runtime::server
