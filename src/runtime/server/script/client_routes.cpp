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
  if (!client.routed->push(as_bytes(text))) home_.count().drop_message(drop::script);
  if (is_held_up(client)) carrying_.spawn(await_room(client.routed));
  return true;
}

bool client_routes::is_held_up(const script_client& client) {
  return client.routed && client.routed->unsent() > most_unsent;
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
}

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
