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

// A row is read as a row.
// clang-format off
constexpr callback_entry callback_table[] = {
    {.id = callback::start, .callers = "server|client|proxy|cache",
     .row = {.name = "on_start",
             .help = "the runtime has started, or the script was loaded again"}},
    {.id = callback::stop, .callers = "server|client|proxy|cache",
     .row = {.name = "on_stop",
             .help = "the runtime stops; it waits for this, for a moment"}},
    {.id = callback::tick, .callers = "server|client|proxy|cache",
     .row = {.name = "on_tick",
             .parameters = "elapsed_ms: number",
             .help = "again and again, every `tick_ms` milliseconds (a global of the script; "
                     "100, at least 10)"}},
    {.id = callback::message, .callers = "server|client",
     .row = {.name = "on_message",
             .parameters = "message: string, id: integer",
             .help = "a message has come; in a server, the script and not --mode decides what "
                     "becomes of it"}},
    {.id = callback::client_message, .callers = "server|client",
     .row = {.name = "on_client_message",
             .parameters = "id: integer, message: string",
             .help = "the same, with the client that sent it first"}},
    {.id = callback::connect, .callers = "server|client|proxy|cache",
     .row = {.name = "on_connect",
             .parameters = "id: integer",
             .help = "a client has come; in a client: it is connected; in a proxy: of those "
                     "whose connections pass as they are, before a backend is looked for"}},
    {.id = callback::disconnect, .callers = "server|client|proxy|cache",
     .row = {.name = "on_disconnect",
             .parameters = "id: integer",
             .help = "a client has gone, whose data are still there; in a client: the connection "
                     "has ended"}},
    {.id = callback::send, .callers = "server|client",
     .row = {.name = "on_send",
             .parameters = "message: string",
             .returns = "string|boolean|nil",
             .help = "`strata send` sends a message: another text is sent instead, and nothing "
                     "if it gives false"}},
    {.id = callback::auth, .callers = "server",
     .row = {.name = "on_auth",
             .parameters = "id: integer",
             .returns = "boolean",
             .help = "a client has come, and hears and says nothing yet: false sends it away"}},
    {.id = callback::http_request, .callers = "server",
     .row = {.name = "on_http_request",
             .parameters = "request: strata.request",
             .returns = "string|table|nil",
             .help = "an HTTP request: gives the answer ({status=, headers=, body=} or {json=}, "
                     "or a text), or nil for a file or a 404. A body that is a function gives "
                     "piece after piece, and nil at its end"}},
    {.id = callback::http_body, .callers = "server",
     .row = {.name = "on_http_body",
             .parameters = "request: strata.request",
             .returns = "function|string|table|nil",
             .help = "an HTTP request with a body that has not been read yet: a function takes "
                     "it piece by piece, and nil at its end, for which it gives the answer; nil: "
                     "it is read whole, for on_http_request"}},
    {.id = callback::websocket, .callers = "server",
     .row = {.name = "on_websocket",
             .parameters = "request: strata.request",
             .returns = "boolean|string|nil",
             .help = "a client asks for a WebSocket: false refuses it, a text chooses that "
                     "subprotocol"}},
    {.id = callback::master_auth, .callers = "server",
     .row = {.name = "on_master_auth",
             .parameters = "id: integer, password: string",
             .returns = "boolean",
             .help = "in mode master, a client has said 'master PASSWORD': whether it becomes "
                     "the master"}},
    {.id = callback::upstream_connect, .callers = "server",
     .row = {.name = "on_upstream_connect",
             .parameters = "upstream: integer",
             .help = "one of --upstream is connected"}},
    {.id = callback::upstream, .callers = "server",
     .row = {.name = "on_upstream",
             .parameters = "upstream: integer, message: string",
             .help = "it has said something"}},
    {.id = callback::upstream_disconnect, .callers = "server",
     .row = {.name = "on_upstream_disconnect",
             .parameters = "upstream: integer",
             .help = "that connection has ended; it is made again"}},
    {.id = callback::miss, .callers = "cache",
     .row = {.name = "on_miss",
             .parameters = "key: string, database: integer",
             .returns = "string|nil, number?",
             .help = "GET and its kin look for a key that is not there, and wait: gives its "
                     "value, which is kept, and for how many seconds; nil: there is none. "
                     "Clients wait `miss_ms` (a global; 5000)"}},
    {.id = callback::write, .callers = "cache",
     .row = {.name = "on_write",
             .parameters = "key: string, value: string?, ttl: number?, change: strata.change",
             .help = "a key has been changed; of another value than a string, `change.command` "
                     "says how"}},
    {.id = callback::deleted, .callers = "cache",
     .row = {.name = "on_delete",
             .parameters = "key: string, database: integer",
             .help = "a key has been removed"}},
    {.id = callback::expire, .callers = "cache",
     .row = {.name = "on_expire",
             .parameters = "key: string, database: integer",
             .help = "a key's time was over"}},
    {.id = callback::flush, .callers = "cache",
     .row = {.name = "on_flush",
             .parameters = "batch: strata.change[]",
             .returns = "boolean|integer|nil",
             .help = "changes since the last batch, each key's last (every `flush_ms`, 100, at "
                     "most `flush_max`, 1000): false, an error or a smaller number than theirs, "
                     "and the rest is given again"}},
    {.id = callback::route, .callers = "proxy",
     .row = {.name = "on_route",
             .parameters = "request: strata.request",
             .returns = "string|integer|table|nil",
             .help = "an HTTP request has come, or a connection ({peer=, local=, name=}): gives "
                     "the backend that it is for (one of --backend or of a route, or its number "
                     "from 1), an answer ({status=, headers=, body=}), or nil: as the options "
                     "say"}},
    {.id = callback::proxy_request, .callers = "proxy",
     .row = {.name = "on_proxy_request",
             .parameters = "request: strata.request|integer, data?: string",
             .returns = "table|string|nil",
             .help = "a request is to be passed on: gives what is changed ({target=, "
                     "headers={name=value|false}}), or an answer in its place. Of a connection "
                     "that is no HTTP, (id, data): a piece of what the client says; gives what "
                     "goes on in its place, nil: nothing"}},
    {.id = callback::proxy_response, .callers = "proxy",
     .row = {.name = "on_proxy_response",
             .parameters = "response: table|integer, request: strata.request|string",
             .returns = "table|string|nil",
             .help = "a backend has answered ({status=, headers=}): gives what is changed "
                     "({status=, headers={name=value|false}, body=}). Of a connection that is no "
                     "HTTP, (id, data): a piece of what the backend says, as on_proxy_request"}},
    {.id = callback::proxy_request_body, .callers = "proxy",
     .row = {.name = "on_proxy_request_body",
             .parameters = "piece: string?, request: strata.request",
             .returns = "string|boolean|nil",
             .help = "a piece of a request's body, and nil at its end: another text is passed "
                     "on, false: nothing"}},
    {.id = callback::proxy_response_body, .callers = "proxy",
     .row = {.name = "on_proxy_response_body",
             .parameters = "piece: string?, request: strata.request",
             .returns = "string|boolean|nil",
             .help = "the same of an answer's body"}},
};
// clang-format on

/// The rows alone, which `id` numbers.
constexpr auto shown_rows = [] {
  std::array<script::callback_row, std::size(callback_table)> all;
  for (const auto& each : callback_table) all[static_cast<std::size_t>(each.id)] = each.row;
  return all;
}();

constexpr bool is_numbered_in_order() {
  constexpr auto last = static_cast<std::size_t>(callback::proxy_response_body);
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
