// Clients of a scripted server whose messages are routed: to another runtime, to a URL, or to
// another client.
#include "net/connector.hpp"
#include "runtime/runtime_service.hpp"
#include "runtime/scripting/script_connection.hpp"
#include "runtime/server/script_client.hpp"
#include "runtime/server/shard.hpp"
#include "runtime/server/shard_script.hpp"
#include "script/call.hpp"

namespace strata::runtime::server {

using script::answers;
using script::call;

namespace {

constexpr std::size_t most_unsent = 256U << 10U;  // bytes before the client is held back
constexpr auto longest_connecting = std::chrono::seconds(5);

loop::task<answers> refused(std::string why) {
  co_return std::vector<nlohmann::json>{nullptr, std::move(why)};
}

}  // namespace

bool shard_script::is_carried(const client& one) { return one.routed != nullptr || one.piped != 0; }

bool shard_script::carry(client& one, std::string_view text) {
  if (!is_carried(one)) return false;
  if (one.piped != 0) {
    send(one.piped, text);
    return true;
  }
  if (!one.routed->push(as_bytes(text))) home_.count().drop_message(drop::script);
  if (is_held_up(one)) carrying_.spawn(await_room(one.routed));
  return true;
}

bool shard_script::is_held_up(const client& one) {
  return one.routed && one.routed->unsent() > most_unsent;
}

loop::task<> shard_script::await_room(std::shared_ptr<scripting::script_connection> connection) {
  co_await connection->room();
  settled_.notify();
}

// Data still on its way from there is dropped.
void shard_script::end_route(client& one) {
  if (!one.routed) return;
  one.routed->close();
  one.routed = nullptr;
  one.route.clear();
}

loop::task<answers> shard_script::call_route(call& call) {
  const auto id = call.integer(0);
  if (!is_there(id)) return refused("there is no such client on this loop");
  const std::string name(call.text(1));
  auto url = net::parse_connecting(name.contains("://") ? name : "runtime://" + name);
  if (!url) return refused(describe(url.error()));
  if (!url->scheme->has_messages) return refused(name + " carries no messages");
  scripting::script_wishes how{.url = std::move(*url),
                               .framing = proto::framing_of(home_.options().framing),
                               .timeout = longest_connecting,
                               .max_message = home_.options().max_message};
  auto* const others = host_.who().others;
  return begin_route(
      id, name,
      std::make_shared<scripting::script_connection>(
          home_.loop(), others == nullptr ? nullptr : &others->names(), std::move(how)));
}

loop::task<answers> shard_script::begin_route(
    std::uint64_t id, std::string name, std::shared_ptr<scripting::script_connection> connection) {
  const auto opened = co_await connection->open();
  if (!opened) co_return std::unexpected(opened.error());
  auto* const one = find(id);
  if (one == nullptr || one->is == nullptr) {
    connection->close();
    co_return std::vector<nlohmann::json>{nullptr, "the client has disconnected"};
  }
  end_route(*one);
  one->routed = connection;
  one->route = std::move(name);
  one->piped = 0;
  carrying_.spawn(carry_back(id, std::move(connection)));
  co_return std::vector<nlohmann::json>{true};
}

loop::task<> shard_script::carry_back(std::uint64_t id,
                                      std::shared_ptr<scripting::script_connection> connection) {
  for (;;) {
    const auto said = co_await connection->next();
    auto* const one = find(id);
    if (one == nullptr || one->routed != connection) co_return;
    if (!said) {
      end_route(*one);
      settled_.notify();
      co_return;
    }
    send(id, *said);
  }
}

void shard_script::call_unroute(call& call) {
  auto* const one = find(call.integer(0));
  const bool had = one != nullptr && one->routed != nullptr;
  if (had) end_route(*one);
  call.give(had);
}

void shard_script::call_get_route(call& call) {
  const auto* const one = find(call.integer(0));
  if (one == nullptr || !one->routed) return call.give_nothing();
  call.give(std::string_view(one->route));
}

void shard_script::pipe_here(std::uint64_t id, std::uint64_t end) {
  auto* const one = find(id);
  if (one == nullptr) return;
  end_route(*one);
  one->piped = end;
}

void shard_script::set_pipe(std::uint64_t id, std::uint64_t end) {
  const auto* const home = home_.state().home_of(id);
  if (home == nullptr) return;
  if (home->who == &home_) {
    pipe_here(id, end);
  } else {
    home->where->post([who = home->who, id, end] { who->script()->pipe_here(id, end); });
  }
}

void shard_script::call_pipe(call& call) {
  set_pipe(call.integer(0), call.integer(1));
  set_pipe(call.integer(1), call.integer(0));
}

void shard_script::call_unpipe(call& call) {
  const auto* const one = find(call.integer(0));
  if (one == nullptr || one->piped == 0) return;
  const auto other = one->piped;
  set_pipe(call.integer(0), 0);
  set_pipe(other, 0);
}

}  // namespace strata::runtime::server
