#include "daemon/api/control_answers.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "daemon/api/openapi.hpp"
#include "daemon/api/query.hpp"
#include "daemon/api/types_json.hpp"
#include "daemon/supervisor/render.hpp"
#include "options/option_table.hpp"
#include "text/json_text.hpp"

namespace strata::daemon {

namespace {

result<nlohmann::json> parse_body(const std::string& body) {
  const std::string operation = "read the request's body";
  auto json = text::parse_json(body, operation);
  if (json && !json->is_object()) {
    return failure(errc::malformed, operation, "it is not a JSON object");
  }
  return json;
}

result<std::string> text_at(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) {
    return failure(errc::invalid_argument, "read the request",
                   "the string '" + std::string(key) + "' is missing", description_hint);
  }
  return found->get<std::string>();
}

result<bool> flag_at(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return false;
  if (found->is_boolean()) return found->get<bool>();
  return failure(errc::invalid_argument, "read the request",
                 "'" + std::string(key) + "' is neither true nor false");
}

/// Nullopt: any revision is accepted.
result<std::optional<std::uint64_t>> revision_at(const nlohmann::json& object) {
  const auto found = object.find("revision");
  if (found == object.end()) return std::nullopt;
  if (found->is_number_unsigned()) return found->get<std::uint64_t>();
  return failure(errc::invalid_argument, "read the request",
                 "'revision' is not a whole number from 0", description_hint);
}

result<void> check_keys(const nlohmann::json& object, std::span<const std::string_view> keys) {
  for (const auto& [key, value] : object.items()) {
    if (std::ranges::find(keys, key) != keys.end()) continue;
    return failure(errc::invalid_argument, "read the request",
                   "it has an unknown key '" + key + "'", description_hint);
  }
  return {};
}

}  // namespace

api_answer control_answers::detail(const result<entry_ref>& entry, int status) const {
  if (!entry) return error_answer(entry.error());
  return json_answer(detail_json(**entry, supervisor_.list(), supervisor_.home().now()), status);
}

loop::task<api_answer> control_answers::get_description(call /*of*/) {
  co_return api_answer{200, "application/yaml", openapi_text(route_rows())};
}

loop::task<api_answer> control_answers::get_types(call /*call*/) {
  co_return json_answer(types_json());
}

loop::task<api_answer> control_answers::get_cluster(call /*call*/) {
  const auto cluster = supervisor_.cluster();
  if (!cluster) co_return error_answer(cluster.error());
  co_return json_answer((*cluster)->report());
}

loop::task<api_answer> control_answers::drain_cluster(call /*call*/) {
  auto answer = co_await set_drained(true);
  co_return answer;
}

loop::task<api_answer> control_answers::end_drain(call /*call*/) {
  auto answer = co_await set_drained(false);
  co_return answer;
}

loop::task<api_answer> control_answers::set_drained(bool is_drained) {
  const auto cluster = supervisor_.cluster();
  if (!cluster) co_return error_answer(cluster.error());
  (*cluster)->set_drained(is_drained);
  co_return json_answer((*cluster)->report());
}

loop::task<api_answer> control_answers::list(call /*of*/) {
  co_return json_answer(list_json(supervisor_.list(), supervisor_.home().now()));
}

loop::task<api_answer> control_answers::create(call call) {
  auto body = parse_body(call.body);
  if (!body) co_return error_answer(body.error());
  auto type = text_at(*body, "type");
  if (!type) co_return error_answer(type.error());
  auto name = text_at(*body, "name");
  if (!name) co_return error_answer(name.error());
  const auto start = flag_at(*body, "start");
  if (!start) co_return error_answer(start.error());
  const auto is_rehearsal = flag_at(*body, "dry_run");
  if (!is_rehearsal) co_return error_answer(is_rehearsal.error());
  static constexpr std::string_view keys[] = {"type", "name", "options", "start", "dry_run"};
  if (auto good = check_keys(*body, keys); !good) co_return error_answer(good.error());
  creation ordered{.type = *type,
                   .name = *name,
                   .options = body->value("options", nlohmann::json::object()),
                   .is_started = *start,
                   .is_rehearsal = *is_rehearsal};
  auto made = co_await supervisor_.create(std::move(ordered));
  co_return detail(made, *is_rehearsal ? 200 : 201);
}

loop::task<api_answer> control_answers::show(call call) {
  co_return detail(supervisor_.find(call.name));
}

loop::task<api_answer> control_answers::edit(call call) {
  auto body = parse_body(call.body);
  if (!body) co_return error_answer(body.error());
  static constexpr std::string_view keys[] = {"options", "revision"};
  if (auto good = check_keys(*body, keys); !good) co_return error_answer(good.error());
  const auto revision = revision_at(*body);
  if (!revision) co_return error_answer(revision.error());
  auto edited =
      co_await supervisor_.edit(call.name, body->value("options", nlohmann::json()), *revision);
  if (!edited) co_return error_answer(edited.error());
  co_return json_answer({{"applied", edited->applied}, {"needs_restart", edited->needs_restart}});
}

loop::task<api_answer> control_answers::remove(call call) {
  const auto limit = limit_of(call, loop::time_point::max());
  if (!limit) co_return error_answer(limit.error());
  auto gone = co_await supervisor_.remove(call.name, *limit);
  if (!gone) co_return error_answer(gone.error());
  co_return api_answer{.status = 204};
}

loop::task<api_answer> control_answers::start(call call) {
  auto done = co_await supervisor_.start(call.name);
  co_return detail(done);
}

result<loop::time_point> control_answers::limit_of(const call& call, loop::time_point usual) const {
  const auto asked = call.request.query_value("timeout");
  if (!asked) return usual;
  const auto seconds = options::parse_seconds(*asked);
  if (!seconds) return std::unexpected(seconds.error());
  return supervisor_.home().now() + loop::from_seconds(*seconds);
}

loop::task<api_answer> control_answers::stop(call call) {
  const auto limit = limit_of(call, loop::time_point::max());
  if (!limit) co_return error_answer(limit.error());
  auto done = co_await supervisor_.stop(call.name, *limit);
  co_return detail(done);
}

loop::task<api_answer> control_answers::restart(call call) {
  const auto limit = limit_of(call, loop::time_point::max());
  if (!limit) co_return error_answer(limit.error());
  auto done = co_await supervisor_.restart(call.name, *limit);
  co_return detail(done);
}

loop::task<api_answer> control_answers::reload(call call) {
  auto done = co_await supervisor_.reload(call.name);
  co_return detail(done);
}

result<runtime::operation_call> control_answers::operation_call_of(call& call) const {
  const auto& row = *call.operation;
  runtime::operation_call asked{.body = std::move(call.body)};
  if (row.timeout_s > 0) {
    const auto limit = limit_of(call, supervisor_.home().now() + loop::from_seconds(row.timeout_s));
    if (!limit) return std::unexpected(limit.error());
    asked.limit = *limit;
  }
  auto parameters = read_query(call.request, row.parameters, row.name, row.timeout_s > 0);
  if (!parameters) return std::unexpected(parameters.error());
  asked.parameters = std::move(*parameters);
  return asked;
}

loop::task<api_answer> control_answers::ask(call call) {
  auto asked = operation_call_of(call);
  if (!asked) co_return error_answer(asked.error());
  const auto given =
      co_await supervisor_.ask(call.name, std::string(call.operation->name), std::move(*asked));
  if (!given) co_return error_answer(given.error());
  if (call.operation->answer.empty()) co_return detail(supervisor_.find(call.name));
  co_return json_answer(*given);
}

loop::task<result<std::unique_ptr<runtime::session>>> control_answers::open_session(call call) {
  auto asked = operation_call_of(call);
  if (!asked) co_return std::unexpected(asked.error());
  co_return co_await supervisor_.open_session(call.name, std::string(call.operation->name),
                                              std::move(*asked));
}

}  // namespace strata::daemon
