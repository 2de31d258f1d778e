#include "runtime/scripting/callbacks.hpp"

#include <iterator>

namespace strata::runtime::scripting {

namespace {

// A row is read as a row.
// clang-format off
constexpr script::callback_row callback_table[] = {
    {"on_start", "", "", "the runtime has started, or the script was loaded again"},
    {"on_stop", "", "", "the runtime stops; it waits for this, for a moment"},
    {"on_tick", "elapsed_ms: number", "",
     "again and again, every `tick_ms` milliseconds (a global of the script; 100, at least 10)"},
    {"on_message", "message: string, id: integer", "",
     "a message has come; in a server, the script and not --mode decides what becomes of it"},
    {"on_client_message", "id: integer, message: string", "",
     "the same, with the client that sent it first"},
    {"on_connect", "id: integer", "",
     "a client has come; in a client: it is connected; in a proxy: of those whose connections pass "
     "as they are, before a backend is looked for"},
    {"on_disconnect", "id: integer", "",
     "a client has gone, whose data are still there; in a client: the connection has ended"},
    {"on_send", "message: string", "string|boolean|nil",
     "`strata send` sends a message: another text is sent instead, and nothing if it gives false"},
    {"on_auth", "id: integer", "boolean",
     "a client has come, and hears and says nothing yet: false sends it away"},
    {"on_http_request", "request: strata.request", "string|table|nil",
     "an HTTP request: gives the answer ({status=, headers=, body=} or {json=}, or a text), or nil "
     "for a file or a 404. A body that is a function gives piece after piece, and nil at its end"},
    {"on_http_body", "request: strata.request", "function|string|table|nil",
     "an HTTP request with a body that has not been read yet: a function takes it piece by piece, "
     "and nil at its end, for which it gives the answer; nil: it is read whole, for "
     "on_http_request"},
    {"on_websocket", "request: strata.request", "boolean|string|nil",
     "a client asks for a WebSocket: false refuses it, a text chooses that subprotocol"},
    {"on_master_auth", "id: integer, password: string", "boolean",
     "in mode master, a client has said 'master PASSWORD': whether it becomes the master"},
    {"on_upstream_connect", "upstream: integer", "", "one of --upstream is connected"},
    {"on_upstream", "upstream: integer, message: string", "", "it has said something"},
    {"on_upstream_disconnect", "upstream: integer", "",
     "that connection has ended; it is made again"},
    {"on_miss", "key: string, database: integer", "string|nil, number?",
     "GET and its kin look for a key that is not there, and wait: gives its value, which is kept, "
     "and for how many seconds; nil: there is none. Clients wait `miss_ms` (a global; 5000)"},
    {"on_write", "key: string, value: string?, ttl: number?, change: strata.change", "",
     "a key has been changed; of another value than a string, `change.command` says how"},
    {"on_delete", "key: string, database: integer", "", "a key has been removed"},
    {"on_expire", "key: string, database: integer", "", "a key's time was over"},
    {"on_flush", "batch: strata.change[]", "boolean|integer|nil",
     "changes since the last batch, each key's last (every `flush_ms`, 100, at most `flush_max`, "
     "1000): false, an error or a smaller number than theirs, and the rest is given again"},
    {"on_route", "request: strata.request", "string|integer|table|nil",
     "an HTTP request has come, or a connection ({peer=, local=, name=}): gives the backend that "
     "it is for (one of --backend or of a route, or its number from 1), an answer "
     "({status=, headers=, body=}), or nil: as the options say"},
    {"on_proxy_request", "request: strata.request|integer, data?: string", "table|string|nil",
     "a request is to be passed on: gives what is changed ({target=, headers={name=value|false}}), "
     "or an answer in its place. Of a connection that is no HTTP, (id, data): a piece of what the "
     "client says; gives what goes on in its place, nil: nothing"},
    {"on_proxy_response", "response: table|integer, request: strata.request|string",
     "table|string|nil",
     "a backend has answered ({status=, headers=}): gives what is changed ({status=, "
     "headers={name=value|false}, body=}). Of a connection that is no HTTP, (id, data): a piece of "
     "what the backend says, as on_proxy_request"},
    {"on_proxy_request_body", "piece: string?, request: strata.request", "string|boolean|nil",
     "a piece of a request's body, and nil at its end: another text is passed on, false: nothing"},
    {"on_proxy_response_body", "piece: string?, request: strata.request", "string|boolean|nil",
     "the same of an answer's body"},
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
