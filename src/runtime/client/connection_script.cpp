#include "runtime/client/connection_script.hpp"

#include "runtime/client/connection.hpp"
#include "script/call.hpp"

namespace strata::runtime::client {

using scripting::callback;

namespace {

constexpr std::uint64_t peer = 1;  // a client has one peer

}  // namespace

connection_script::connection_script(connection& connection, loop::loop& loop,
                                     const client_options& options, scripting::identity identity)
    : home_(connection),
      host_(loop, options, std::move(identity)),
      turns_(host_, peer, *this),
      settled_(loop) {
  host_.offer(script_functions(), this);
}

void connection_script::on_connected() {
  if (host_.has(callback::connect)) turns_.notify_soon(callback::connect);
}

void connection_script::on_disconnected() {
  if (host_.has(callback::disconnect)) turns_.notify_soon(callback::disconnect);
}

bool connection_script::on_message(byte_span bytes) {
  const auto notify = [&](callback callback) {
    return !host_.has(callback) || turns_.notify(callback, as_text(bytes));
  };
  return notify(callback::client_message) && notify(callback::message);
}

loop::task<> connection_script::handled() {
  [[maybe_unused]] const bool is = co_await settled_.wait([this] { return !turns_.is_busy(); });
}

loop::task<std::optional<std::string>> connection_script::on_send(std::string message) {
  auto changed = host_.change_sent(std::move(message));
  co_return co_await changed;
}

void connection_script::call_send(script::call& call) {
  const auto sent = home_.send(as_bytes(call.text(0)));
  call.give(sent.has_value());
  if (!sent) call.give(std::string_view(describe(sent.error())));
}

void connection_script::call_is_connected(script::call& call) { call.give(home_.is_connected()); }

// One entry per row.
// clang-format off
constexpr script::function_row connection_script::functions[] = {
    {"send", "message: string", "boolean, string?",
     "sends a message; returns false and the reason if it cannot be sent",
     script::method<&connection_script::call_send>},
    {"is_connected", "", "boolean", "whether there is a connection now",
     script::method<&connection_script::call_is_connected>},
};
// clang-format on

std::span<const script::function_row> script_functions() { return connection_script::functions; }

}  // namespace strata::runtime::client
