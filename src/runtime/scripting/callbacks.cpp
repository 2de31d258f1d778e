#include "runtime/scripting/callbacks.hpp"

#include <iterator>

namespace strata::runtime::scripting {

namespace {

// A row is read as a row.
// clang-format off
constexpr script::callback_row callback_table[] = {
    {"on_start", "", "", "called when the runtime has started and when the script has been "
                         "reloaded"},
    {"on_stop", "", "", "called when the runtime stops, which waits a moment for the function"},
    {"on_tick", "elapsed_ms: number", "",
     "called every `tick_ms` milliseconds (a global of the script; default 100, minimum 10)"},
    {"on_message", "message: string, id: integer", "",
     "called for each received message; in a server, the script decides what happens to it, "
     "instead of --mode"},
    {"on_client_message", "id: integer, message: string", "",
     "as on_message, but with the id of the client as the first argument"},
    {"on_connect", "id: integer", "",
     "a client has connected; in a client: the connection is established; in a proxy: a connection "
     "that is forwarded as it is has been accepted, before a backend is chosen"},
    {"on_disconnect", "id: integer", "",
     "a client has disconnected; its data still exist; in a client: the connection has ended"},
    {"on_send", "message: string", "string|boolean|nil",
     "`strata send` sends a message: return a text to send that instead, or false to send nothing"},
    {"on_auth", "id: integer", "boolean",
     "a client has connected but cannot send or receive yet: return false to refuse it"},
    {"on_http_request", "request: strata.request", "string|table|nil",
     "an HTTP request has arrived: return the answer ({status=, headers=, body=} or {json=}, or a "
     "text), or nil for a file or a 404. A body can be a function that returns one piece per call, "
     "and nil at the end"},
    {"on_http_body", "request: strata.request", "function|string|table|nil",
     "an HTTP request whose body has not been read yet: return a function that is called with each "
     "piece, and with nil at the end, when it returns the answer; or return nil to have the whole "
     "body read for on_http_request"},
    {"on_websocket", "request: strata.request", "boolean|string|nil",
     "a client requests a WebSocket: return false to refuse it, or a text to choose that "
     "subprotocol"},
    {"on_master_auth", "id: integer, password: string", "boolean",
     "in mode master, a client has sent 'master PASSWORD': return whether it becomes the master"},
    {"on_upstream_connect", "upstream: integer", "", "an upstream (--upstream) is connected"},
    {"on_upstream", "upstream: integer, message: string", "", "a message from an upstream has "
                                                              "arrived"},
    {"on_upstream_disconnect", "upstream: integer", "",
     "the connection to an upstream has ended; the server reconnects"},
    {"on_miss", "key: string, database: integer", "string|nil, number?",
     "GET or a similar command did not find a key and waits: return its value, which is stored, "
     "and for how many seconds; or nil if there is none. Clients wait `miss_ms` (a global; default "
     "5000)"},
    {"on_write", "key: string, value: string?, ttl: number?, change: strata.change", "",
     "a key has been changed; if the value is not a string, `change.command` is the command that "
     "changed it"},
    {"on_delete", "key: string, database: integer", "", "a key has been removed"},
    {"on_expire", "key: string, database: integer", "", "a key has expired"},
    {"on_flush", "batch: strata.change[]", "boolean|integer|nil",
     "called every `flush_ms` (default 100) with the changes since the last batch, the latest one "
     "per key, at most `flush_max` (default 1000); return false or the number of accepted changes, "
     "or raise an error, to get the rest again"},
    {"on_route", "request: strata.request", "string|integer|table|nil",
     "an HTTP request or a connection ({peer=, local=, name=}) has arrived: return the backend to "
     "use (one of --backend or of a route, or its number from 1), an answer ({status=, headers=, "
     "body=}), or nil to decide by the options"},
    {"on_proxy_request", "request: strata.request|integer, data?: string", "table|string|nil",
     "a request is about to be forwarded: return changes ({target=, headers={name=value|false}}), "
     "or an answer instead. For a connection without HTTP, called as (id, data) with each piece "
     "from the client: return the data to forward instead, or nil for none"},
    {"on_proxy_response", "response: table|integer, request: strata.request|string",
     "table|string|nil",
     "a backend has answered ({status=, headers=}): return changes ({status=, "
     "headers={name=value|false}, body=}). For a connection without HTTP, called as (id, data) "
     "with each piece from the backend, as on_proxy_request"},
    {"on_proxy_request_body", "piece: string?, request: strata.request", "string|boolean|nil",
     "called with each piece of a request's body, and with nil at the end: return a text to "
     "forward that instead, or false to forward nothing"},
    {"on_proxy_response_body", "piece: string?, request: strata.request", "string|boolean|nil",
     "as on_proxy_request_body, for the body of an answer"},
};

constexpr std::string_view callers[] = {
    "server|client|proxy|cache", "server|client|proxy|cache", "server|client|proxy|cache",
    "server|client", "server|client", "server|client|proxy|cache", "server|client|proxy|cache",
    "server|client", "server", "server", "server", "server", "server", "server", "server", "server",
    "cache", "cache", "cache", "cache", "cache",
    "proxy", "proxy", "proxy", "proxy", "proxy",
};
// clang-format on
static_assert(std::size(callback_table) == std::size(callers));
static_assert(std::size(callback_table) ==
              static_cast<std::size_t>(callback::proxy_response_body) + 1);

}  // namespace

std::span<const script::callback_row> callback_rows() { return callback_table; }

std::string_view callers_of(std::size_t row) { return callers[row]; }

bool is_called_by(std::size_t row, std::string_view type) {
  auto names = callers[row];
  while (!names.empty()) {
    const auto end = names.find('|');
    if (names.substr(0, end) == type) return true;
    names.remove_prefix(end == std::string_view::npos ? names.size() : end + 1);
  }
  return false;
}

}  // namespace strata::runtime::scripting
