// What the control API's description says of a route. control_routes.cpp binds each row to what
// serves it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "options/option_table.hpp"
#include "runtime/operations.hpp"

namespace strata::daemon {

struct route_row {
  std::string_view method;
  std::string path;  ///< with `{name}` where a runtime's name stands
  std::string summary;
  std::string_view description = {};
  /// The names of schemas in openapi.cpp; `[]` at the end: an array of them. Empty: plain text, or
  /// nothing.
  std::string_view body = {};
  std::string answer = {};
  /// Of the query, beside those below.
  std::span<const options::option_row> parameters = {};
  std::size_t required = 0;         ///< of them: the first ones
  std::string_view body_type = {};  ///< empty: the request has no body
  std::string_view answer_type = "application/json";
  int status = 200;
  runtime::role needed = runtime::role::read;
  bool has_tail = false;      ///< takes `?tail=N&follow=true`
  bool has_interval = false;  ///< takes `?follow=true&interval=TIME`
  bool has_timeout = false;   ///< takes `?timeout=TIME`
  bool may_fail = true;       ///< in a way of its own
  bool is_change = false;     ///< of what there is: the log says who asked for it
  bool is_public = false;     ///< where the metrics are served, too
};

}  // namespace strata::daemon
