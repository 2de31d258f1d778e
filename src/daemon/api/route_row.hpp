// The description of one route of the control API. control_routes.cpp binds each row to its
// implementation.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "options/option_table.hpp"
#include "runtime/operations.hpp"

namespace strata::daemon {

// The media types of answers.
inline constexpr const char* json_type = "application/json";
inline constexpr const char* ndjson = "application/x-ndjson";
inline constexpr const char* event_stream = "text/event-stream";

struct route_row {
  std::string_view method;
  std::string path;  ///< with `{name}` in place of a runtime's name
  std::string summary;
  std::string_view description = {};
  /// Names of schemas in openapi.cpp; a trailing `[]` means an array. Empty: plain text, or
  /// nothing.
  std::string_view body = {};
  std::string answer = {};
  /// Query parameters, besides those below.
  std::span<const options::option_row> parameters = {};
  std::size_t required = 0;         ///< number of required ones, the first
  std::string_view body_type = {};  ///< empty: the request has no body
  std::string_view answer_type = json_type;
  int status = 200;
  runtime::role needed = runtime::role::read;
  bool has_tail = false;      ///< takes `?tail=N&follow=true`
  bool has_interval = false;  ///< takes `?follow=true&interval=TIME`
  bool has_timeout = false;   ///< takes `?timeout=TIME`
  bool may_fail = true;       ///< with errors of its own
  bool is_change = false;     ///< it changes something: the log names the client
  bool is_public = false;     ///< also on the metrics listener
};

}  // namespace strata::daemon
