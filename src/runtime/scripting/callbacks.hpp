// The script functions that runtimes call: the one list of them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "script/library.hpp"

namespace strata::runtime::scripting {

/// In the order of the rows.
enum class callback : std::uint8_t {
  start,
  stop,
  tick,
  message,
  client_message,
  connect,
  disconnect,
  send,
  auth,
  http_request,
  http_body,
  websocket,
  master_auth,
  upstream_connect,
  upstream,
  upstream_disconnect,
  miss,
  write,
  deleted,
  expire,
  flush,
  route,
  proxy_request,
  proxy_response,
  proxy_request_body,
  proxy_response_body,
  cluster_join,
  cluster_leave,
};

[[nodiscard]] std::span<const script::callback_row> callback_rows();
/// The types of runtimes that call it: `server|client`.
[[nodiscard]] std::string_view callers_of(std::size_t row);
[[nodiscard]] bool is_called_by(std::size_t row, std::string_view type);

}  // namespace strata::runtime::scripting
