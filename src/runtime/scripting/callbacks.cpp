#include "runtime/scripting/callbacks.hpp"

#include <array>
#include <iterator>

namespace strata::runtime::scripting {

namespace {

struct callback_entry {
  callback id;
  std::string_view callers;  ///< types of runtimes
  script::callback_row row;
};

// One entry per row.
// clang-format off
constexpr callback_entry callback_table[] = {
    {.id = callback::start, .callers = "server|client|proxy|cache",
     .row = {.name = "on_start",
             .help = "called when the runtime has started and when the script has been reloaded"}},
    {.id = callback::stop, .callers = "server|client|proxy|cache",
     .row = {.name = "on_stop",
             .help = "called when the runtime stops, which waits a moment for the function"}},
    {.id = callback::tick, .callers = "server|client|proxy|cache",
     .row = {.name = "on_tick",
             .parameters = "elapsed_ms: number",
             .help = "called every `tick_ms` milliseconds (a global of the script; default "
                     "100, minimum 10)"}},
    {.id = callback::message, .callers = "server|client",
     .row = {.name = "on_message",
             .parameters = "message: string, id: integer",
             .help = "called for each received message; in a server, the script decides what "
                     "happens to it, instead of --mode"}},
    {.id = callback::client_message, .callers = "server|client",
     .row = {.name = "on_client_message",
             .parameters = "id: integer, message: string",
             .help = "as on_message, but with the id of the client as the first argument"}},
    {.id = callback::connect, .callers = "server|client|proxy|cache",
     .row = {.name = "on_connect",
             .parameters = "id: integer",
             .help = "a client has connected; in a client: the connection is established; in a "
                     "proxy: a connection that is forwarded as it is has been accepted, before "
                     "a backend is chosen"}},
    {.id = callback::disconnect, .callers = "server|client|proxy|cache",
     .row = {.name = "on_disconnect",
             .parameters = "id: integer",
             .help = "a client has disconnected; its data still exist; in a client: the "
                     "connection has ended"}},
    {.id = callback::send, .callers = "server|client",
     .row = {.name = "on_send",
             .parameters = "message: string",
             .returns = "string|boolean|nil",
             .help = "`strata send` sends a message: return a text to send that instead, or "
                     "false to send nothing"}},
    {.id = callback::auth, .callers = "server",
     .row = {.name = "on_auth",
             .parameters = "id: integer",
             .returns = "boolean",
             .help = "a client has connected but cannot send or receive yet: return false to "
                     "refuse it"}},
    {.id = callback::http_request, .callers = "server",
     .row = {.name = "on_http_request",
             .parameters = "request: strata.request",
             .returns = "string|table|nil",
             .help = "an HTTP request has arrived: return the answer ({status=, headers=, "
                     "body=} or {json=}, or a text), or nil for a file or a 404. A body can be "
                     "a function that returns one piece per call, and nil at the end"}},
    {.id = callback::http_body, .callers = "server",
     .row = {.name = "on_http_body",
             .parameters = "request: strata.request",
             .returns = "function|string|table|nil",
             .help = "an HTTP request whose body has not been read yet: return a function that "
                     "is called with each piece, and with nil at the end, when it returns the "
                     "answer; or return nil to have the whole body read for on_http_request"}},
    {.id = callback::websocket, .callers = "server",
     .row = {.name = "on_websocket",
             .parameters = "request: strata.request, id: integer",
             .returns = "boolean|string|nil",
             .help = "a client requests a WebSocket, which will have that id: return false to "
                     "refuse it, or a text to choose that subprotocol"}},
    {.id = callback::master_auth, .callers = "server",
     .row = {.name = "on_master_auth",
             .parameters = "id: integer, password: string",
             .returns = "boolean",
             .help = "in mode master, a client has sent 'master PASSWORD': return whether it "
                     "becomes the master"}},
    {.id = callback::upstream_connect, .callers = "server",
     .row = {.name = "on_upstream_connect",
             .parameters = "upstream: integer",
             .help = "an upstream (--upstream) is connected"}},
    {.id = callback::upstream, .callers = "server",
     .row = {.name = "on_upstream",
             .parameters = "upstream: integer, message: string",
             .help = "a message from an upstream has arrived"}},
    {.id = callback::upstream_disconnect, .callers = "server",
     .row = {.name = "on_upstream_disconnect",
             .parameters = "upstream: integer",
             .help = "the connection to an upstream has ended; the server reconnects"}},
    {.id = callback::miss, .callers = "cache",
     .row = {.name = "on_miss",
             .parameters = "key: string, database: integer",
             .returns = "string|nil, number?",
             .help = "GET or a similar command did not find a key and waits: return its value, "
                     "which is stored, and for how many seconds; or nil if there is none. "
                     "Clients wait `miss_ms` (a global; default 5000)"}},
    {.id = callback::write, .callers = "cache",
     .row = {.name = "on_write",
             .parameters = "key: string, value: string?, ttl: number?, change: strata.change",
             .help = "a key has been changed; if the value is not a string, `change.command` "
                     "is the command that changed it"}},
    {.id = callback::deleted, .callers = "cache",
     .row = {.name = "on_delete",
             .parameters = "key: string, database: integer",
             .help = "a key has been removed"}},
    {.id = callback::expire, .callers = "cache",
     .row = {.name = "on_expire",
             .parameters = "key: string, database: integer",
             .help = "a key has expired"}},
    {.id = callback::flush, .callers = "cache",
     .row = {.name = "on_flush",
             .parameters = "batch: strata.change[]",
             .returns = "boolean|integer|nil",
             .help = "called every `flush_ms` (default 100) with the changes since the last "
                     "batch, the latest one per key, at most `flush_max` (default 1000); "
                     "return false or the number of accepted changes, or raise an error, to "
                     "get the rest again"}},
    {.id = callback::route, .callers = "proxy",
     .row = {.name = "on_route",
             .parameters = "request: strata.request",
             .returns = "string|integer|table|nil",
             .help = "an HTTP request or a connection ({peer=, local=, name=}) has arrived: "
                     "return the backend to use (one of --backend or of a route, or its number "
                     "from 1), an answer ({status=, headers=, body=}), or nil to decide by the "
                     "options"}},
    {.id = callback::proxy_request, .callers = "proxy",
     .row = {.name = "on_proxy_request",
             .parameters = "request: strata.request|integer, data?: string",
             .returns = "table|string|nil",
             .help = "a request is about to be forwarded: return changes ({target=, "
                     "headers={name=value|false}}), or an answer instead. For a connection "
                     "without HTTP, called as (id, data) with each piece from the client: "
                     "return the data to forward instead, or nil for none"}},
    {.id = callback::proxy_response, .callers = "proxy",
     .row = {.name = "on_proxy_response",
             .parameters = "response: table|integer, request: strata.request|string",
             .returns = "table|string|nil",
             .help = "a backend has answered ({status=, headers=}): return changes ({status=, "
                     "headers={name=value|false}, body=}). For a connection without HTTP, "
                     "called as (id, data) with each piece from the backend, as on_proxy_request"}},
    {.id = callback::proxy_request_body, .callers = "proxy",
     .row = {.name = "on_proxy_request_body",
             .parameters = "piece: string?, request: strata.request",
             .returns = "string|boolean|nil",
             .help = "called with each piece of a request's body, and with nil at the end: "
                     "return a text to forward that instead, or false to forward nothing"}},
    {.id = callback::proxy_response_body, .callers = "proxy",
     .row = {.name = "on_proxy_response_body",
             .parameters = "piece: string?, request: strata.request",
             .returns = "string|boolean|nil",
             .help = "as on_proxy_request_body, for the body of an answer"}},
    {.id = callback::cluster_join, .callers = "server|client|proxy|cache",
     .row = {.name = "on_cluster_join",
             .parameters = "daemon: string",
             .help = "another daemon of the cluster is known from now on"}},
    {.id = callback::cluster_leave, .callers = "server|client|proxy|cache",
     .row = {.name = "on_cluster_leave",
             .parameters = "daemon: string",
             .help = "another daemon has left the cluster, or has not renewed its place in time"}},
};
// clang-format on

/// The rows alone, indexed by `id`.
constexpr auto shown_rows = [] {
  std::array<script::callback_row, std::size(callback_table)> all;
  for (const auto& each : callback_table) all[static_cast<std::size_t>(each.id)] = each.row;
  return all;
}();

constexpr bool is_numbered_in_order() {
  constexpr auto last = static_cast<std::size_t>(callback::cluster_leave);
  if (std::size(callback_table) != last + 1) return false;
  for (std::size_t at = 0; at < std::size(callback_table); ++at) {
    if (static_cast<std::size_t>(callback_table[at].id) != at) return false;
  }
  return true;
}
static_assert(is_numbered_in_order());

}  // namespace

std::span<const script::callback_row> callback_rows() { return shown_rows; }

std::string_view callers_of(std::size_t row) { return callback_table[row].callers; }

bool is_called_by(std::size_t row, std::string_view type) {
  auto names = callback_table[row].callers;
  while (!names.empty()) {
    const auto end = names.find('|');
    if (names.substr(0, end) == type) return true;
    names.remove_prefix(end == std::string_view::npos ? names.size() : end + 1);
  }
  return false;
}

}  // namespace strata::runtime::scripting
