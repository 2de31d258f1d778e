#include "runtime/server/script/client_routes.hpp"

#include "net/connector.hpp"
#include "runtime/runtime_service.hpp"
#include "runtime/server/script/shard_script.hpp"
#include "runtime/server/shard.hpp"

namespace strata::runtime::server {

using script::answers;

namespace {

constexpr std::size_t most_unsent = 256U << 10U;  // bytes before the client is held back
constexpr auto longest_connecting = std::chrono::seconds(5);

loop::task<answers> refused(std::string why) {
  co_return std::vector<nlohmann::json>{nullptr, std::move(why)};
}

}  // namespace

bool client_routes::carry(script_client& client, std::string_view text) {
  if (!is_routed(client)) return false;
  if (client.piped != 0) {
    script_.send(client.piped, text);
    return true;
  }
  if (client.coupled) {
    if (!client.coupled->push(text)) home_.count().drop_message(drop::script);
    if (is_held_up(client)) carrying_.spawn(await_room(client.coupled));
    return true;
  }
  if (!client.routed->push(as_bytes(text))) home_.count().drop_message(drop::script);
  if (is_held_up(client)) carrying_.spawn(await_room(client.routed));
  return true;
}

bool client_routes::is_held_up(const script_client& client) {
  if (client.coupled) return client.coupled->unsent() > most_unsent;
  return client.routed && client.routed->unsent() > most_unsent;
}

loop::task<> client_routes::await_room(std::shared_ptr<far_pipe> pipe) {
  co_await pipe->room();
  script_.notify();
}

loop::task<> client_routes::await_room(std::shared_ptr<scripting::script_connection> connection) {
  co_await connection->room();
  script_.notify();
}

void client_routes::close(script_client& client) {
  if (!client.routed) return;
  client.routed->close();
  client.routed = nullptr;
  client.route.clear();
}

void client_routes::leave(script_client& client) {
  close(client);
  if (client.piped != 0) pipe(client.piped, 0);
  if (!client.coupled) return;
  carrying_.spawn(tell_end(std::exchange(client.coupled, nullptr), client.id));
}

// The last messages arrive first. The other end may have gone before.
loop::task<> client_routes::tell_end(std::shared_ptr<far_pipe> pipe, std::uint64_t id) {
  co_await pipe->room();
  const auto& end = pipe->end();
  service_request request{
      .verb = service_verb::ask,
      .name = end.runtime,
      .details = {{"operation", "uncouple"},
                  {"parameters", {{"client", end.id}, {"runtime", home_.name()}, {"other", id}}},
                  {"body", ""}}};
  (void)co_await home_.state().others->perform(home_.loop(), std::move(request));
}

bool client_routes::couple(std::uint64_t id, far_client end) {
  auto* const client = script_.find(id);
  auto* const others = home_.state().others;
  if (client == nullptr || client->is == nullptr || others == nullptr) return false;
  close(*client);
  client->piped = 0;
  if (client->coupled) carrying_.spawn(finish(std::move(client->coupled)));
  client->coupled = std::make_shared<far_pipe>(home_.loop(), *others, std::move(end),
                                               [this, id] { carrying_.spawn(drop_couple(id)); });
  return true;
}

// The pipe itself asks for it, and must have returned before.
loop::task<> client_routes::drop_couple(std::uint64_t id) {
  co_await home_.loop().sleep({});
  auto* const client = script_.find(id);
  const bool is_over = client != nullptr && client->coupled && client->coupled->has_ended();
  if (is_over) client->coupled = nullptr;
  script_.notify();
}

bool client_routes::uncouple(std::uint64_t id, const far_client& end) {
  auto* const client = script_.find(id);
  if (client == nullptr || !client->coupled) return false;
  const auto& leads = client->coupled->end();
  if (leads.runtime != end.runtime || leads.id != end.id) return false;
  carrying_.spawn(finish(std::exchange(client->coupled, nullptr)));
  script_.notify();
  return true;
}

// What was said before the end still arrives.
loop::task<> client_routes::finish(std::shared_ptr<far_pipe> pipe) { co_await pipe->room(); }

loop::task<answers> client_routes::open(std::uint64_t id, std::string name) {
  const auto* const client = script_.find(id);
  if (client == nullptr || client->is == nullptr) {
    return refused("there is no such client on this loop");
  }
  auto url = net::parse_connecting(name.contains("://") ? name : "runtime://" + name);
  if (!url) return refused(describe(url.error()));
  if (!url->scheme->has_messages) return refused(name + " carries no messages");
  scripting::script_wishes how{.url = std::move(*url),
                               .framing = proto::framing_of(home_.options().framing),
                               .timeout = longest_connecting,
                               .max_message = home_.options().max_message};
  auto* const others = script_.host().who().others;
  return begin(id, std::move(name),
               std::make_shared<scripting::script_connection>(
                   home_.loop(), others == nullptr ? nullptr : &others->names(), std::move(how)));
}

loop::task<answers> client_routes::begin(std::uint64_t id, std::string name,
                                         std::shared_ptr<scripting::script_connection> connection) {
  const auto opened = co_await connection->open();
  if (!opened) co_return std::unexpected(opened.error());
  auto* const client = script_.find(id);
  if (client == nullptr || client->is == nullptr) {
    connection->close();
    co_return std::vector<nlohmann::json>{nullptr, "the client has disconnected"};
  }
  close(*client);
  client->routed = connection;
  client->route = std::move(name);
  client->piped = 0;
  carrying_.spawn(carry_back(id, std::move(connection)));
  co_return std::vector<nlohmann::json>{true};
}

loop::task<> client_routes::carry_back(std::uint64_t id,
                                       std::shared_ptr<scripting::script_connection> connection) {
  for (;;) {
    const auto message = co_await connection->next();
    auto* const client = script_.find(id);
    if (client == nullptr || client->routed != connection) co_return;
    if (!message) {
      close(*client);
      script_.notify();
      co_return;
    }
    script_.send(id, *message);
  }
}

void client_routes::pipe_here(std::uint64_t id, std::uint64_t end) {
  auto* const client = script_.find(id);
  if (client == nullptr) return;
  close(*client);
  client->piped = end;
}

void client_routes::pipe(std::uint64_t id, std::uint64_t end) {
  const auto* const home = home_.state().home_of(id);
  if (home == nullptr) return;
  if (home->who == &home_) {
    pipe_here(id, end);
  } else {
    home->where->post([who = home->who, id, end] { who->script()->routes().pipe_here(id, end); });
  }
}

}  // namespace strata::runtime::server
