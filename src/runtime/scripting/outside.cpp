#include "runtime/scripting/outside.hpp"

#include "runtime/scripting/file_reading.hpp"
#include "runtime/scripting/netlink.hpp"
#include "runtime/scripting/redis_client.hpp"
#include "runtime/scripting/script_connection.hpp"
#include "runtime/scripting/subscription.hpp"

namespace strata::runtime::scripting {

namespace {

loop::task<script::answers> connect(void* self, script::call& call) {
  return connect_script(*static_cast<host*>(self), call);
}

void redis(void* self, script::call& call) { open_redis(*static_cast<host*>(self), call); }

loop::task<script::answers> read_one(void* self, script::call& call) {
  return read_file(*static_cast<host*>(self), call);
}

loop::task<script::answers> netlink(void* self, script::call& call) {
  return ask_netlink(*static_cast<host*>(self), call);
}

loop::task<script::answers> netlink_listen(void* self, script::call& call) {
  return receive_netlink(*static_cast<host*>(self), call);
}

// One entry per row.
// clang-format off
constexpr script::function_row outside_table[] = {
    {"connect", "url: string, options?: table", "strata.connection?, string?",
     "connects to an endpoint (tcp, tls, unix, ws, wss, udp, l2, xdp, runtime://NAME); options: "
     "framing='line'|'length'|'raw', timeout_ms=5000, max_message, ca, insecure; returns a "
     "connection, or nil and the reason", nullptr, connect, script::right::net},
    {"redis", "where: string, options?: table", "strata.redis",
     "a client of a cache of this daemon, by its name, or of redis://USER:PASSWORD@HOST:PORT/0; "
     "options: user, password, database, timeout_ms=5000, ca, insecure; it connects at the first "
     "command", redis, nullptr, script::right::net},
    {"read_file", "path: string", "string?, string?",
     "the bytes of a file in the script's folder or a subfolder, at most 16 MiB; or nil and the "
     "reason",
     nullptr, read_one},
    {"netlink", "family: string, command: string, attributes?: table, options?: table",
     "table?, string?",
     "sends a command to a generic netlink family: strata.netlink('nlctrl', 'getfamily', "
     "{family_name='ethtool'}) returns the attributes of the answer by name, with dump=true a list "
     "of them; or nil and the reason", nullptr, netlink, script::right::net},
    {"netlink_listen", "family: string, group: string, call: fun(message: table)",
     "strata.subscription?, string?",
     "calls a function for each message that a family multicasts: {command=, name=, "
     "attributes=}", nullptr,
     netlink_listen, script::right::net},
};
// clang-format on

}  // namespace

std::span<const script::function_row> outside_functions() { return outside_table; }

std::span<const script::object_kind* const> outside_kinds() {
  static const script::object_kind* const kinds[] = {&connection_kind(), &redis_kind(),
                                                     &subscription_kind()};
  return kinds;
}

std::string_view outside_lines() { return redis_lines(); }

}  // namespace strata::runtime::scripting
