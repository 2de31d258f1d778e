// Figures, and the streams of the control API's routes.
#include "daemon/api/control_api.hpp"
#include "daemon/supervisor/render.hpp"

namespace strata::daemon {

loop::task<> control_api::stream_to(http::exchange& exchange, const visitor& guest,
                                    const route_row& row, feed source, feed_request request) {
  open_stream going_out(exchange, guest, row.needed);
  streams_.push_back(going_out);
  co_await stream(supervisor_.home(), exchange, std::move(source), std::move(request));
}

void control_api::replace_tokens(token_list tokens) {
  access_.set_tokens(std::move(tokens));
  for (const auto& each : streams_) {
    const auto role = role_of(each.exchange, each.guest);
    if (role && *role >= each.needed) continue;
    facts_.log->write(runtime::level::info,
                      each.guest.text + " was disconnected: its token is not accepted any more");
    each.exchange.abort();
  }
}

loop::task<control_api::answer> control_api::stats(call call) {
  auto found = supervisor_.find(call.name);
  if (!found) co_return as_answer(found.error());
  co_return answer{200, "application/json", dump(stats_json(**found, supervisor_.home().now()))};
}

loop::task<control_api::answer> control_api::all_stats(call /*call*/) {
  co_return answer{200, "application/json",
                   dump(stats_json(supervisor_.list(), supervisor_.home().now()))};
}

result<feed> control_api::messages_of(const std::string& name) const {
  auto found = supervisor_.find(name);
  if (!found) return std::unexpected(found.error());
  auto journal = (*found)->messages;
  return feed{
      .keeps = journal, .journal = journal.get(), .line = message_json, .always_follows = true};
}

result<feed> control_api::log_of(const std::string& name) const {
  auto found = supervisor_.find(name);
  if (!found) return std::unexpected(found.error());
  auto journal = (*found)->log;
  return feed{.keeps = journal, .journal = journal.get(), .line = log_line_json};
}

result<feed> control_api::events(const std::string& /*name*/) const {
  return feed{.journal = &supervisor_.events(), .line = event_json};
}

result<feed> control_api::stats_of(const std::string& name) const {
  auto found = supervisor_.find(name);
  if (!found) return std::unexpected(found.error());
  return feed{.sample = [this, entry = *found] {
    return entry->removed ? std::string() : dump(stats_json(*entry, supervisor_.home().now()));
  }};
}

result<feed> control_api::stats_of_all(const std::string& /*name*/) const {
  return feed{
      .sample = [this] { return dump(stats_json(supervisor_.list(), supervisor_.home().now())); }};
}

}  // namespace strata::daemon
