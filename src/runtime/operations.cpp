#include "runtime/operations.hpp"

#include <algorithm>

namespace strata::runtime {

namespace {

constexpr answer_row sent_rows[] = {
    {.key = "delivered",
     .help = "connections to which the message was handed",
     .kind = answer_kind::count},
    {.key = "queued",
     .help = "1 if the message is kept until connected, else 0",
     .kind = answer_kind::count},
};

}  // namespace

std::string_view name_of(role role) {
  switch (role) {
    case role::read: return "read";
    case role::operate: return "operate";
    case role::admin: return "admin";
  }
  return {};
}

std::optional<role> find_role(std::string_view name) {
  for (const auto each : {role::read, role::operate, role::admin}) {
    if (name_of(each) == name) return each;
  }
  return std::nullopt;
}

result<void> check_call(const operation_row& row, const operation_call& call) {
  const auto operation = "ask for '" + std::string(row.name) + "'";
  if (!call.parameters.is_object()) {
    return failure(errc::invalid_argument, operation, "its parameters are not a JSON object");
  }
  for (const auto& [key, value] : call.parameters.items()) {
    const auto known = std::ranges::find(row.parameters, key, &options::option_row::key);
    if (known == row.parameters.end()) {
      return failure(errc::invalid_argument, operation, "it takes no parameter '" + key + "'",
                     "see GET /v1/types");
    }
    if (value.is_null()) {
      return failure(errc::invalid_argument, operation, "its '" + key + "' is null",
                     "leave it out");
    }
    if (auto good = options::check_option(*known, value); !good) return good;
  }
  for (const auto& each : std::span(row.parameters).first(row.required)) {
    if (call.parameters.contains(std::string(each.key))) continue;
    return failure(errc::invalid_argument, operation,
                   "it lacks the parameter '" + std::string(each.key) + "'", "see GET /v1/types");
  }
  if (row.body_type.empty() && !call.body.empty()) {
    return failure(errc::invalid_argument, operation, "it takes no body", "leave the body out");
  }
  return {};
}

const operation_row* find_operation(std::span<const operation_row> rows, std::string_view name) {
  const auto found = std::ranges::find(rows, name, &operation_row::name);
  return found == rows.end() ? nullptr : &*found;
}

nlohmann::json json_of(const send_outcome& outcome) {
  return {{"delivered", outcome.delivered}, {"queued", outcome.queued}};
}

operation_row sending_operation(decltype(operation_row::run) run,
                                std::vector<options::option_row> parameters) {
  return {.name = "send",
          .method = "POST",
          .summary = "send the body as one message; a server sends it to all its clients",
          .parameters = std::move(parameters),
          .body_type = "application/octet-stream",
          .schema = "Sent",
          .answer = sent_rows,
          .needed = role::operate,
          .run = run};
}

}  // namespace strata::runtime
