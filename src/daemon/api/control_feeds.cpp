// Figures, and the streams of the control API's routes.
#include "daemon/api/control_api.hpp"
#include "daemon/api/query.hpp"
#include "daemon/supervisor/render.hpp"

namespace strata::daemon {

namespace {

/// One API client's reader of a tap, whose runtime may be removed meanwhile.
struct tap_reading {
  tap_reading(std::shared_ptr<runtime::tap> source, loop::loop& loop, runtime::tap_filter filter,
              live_reader reader)
      : tap(std::move(source)),
        following(tap->follow(
            loop, {.on_line =
                       [filter = std::move(filter),
                        on_line = std::move(reader.on_line)](const runtime::tapped& tapped) {
                         if (filter.takes(tapped)) on_line(json_of(tapped, filter.max_bytes));
                       },
                   .on_loss = std::move(reader.on_loss),
                   .on_end = std::move(reader.on_end)})) {}

  std::shared_ptr<runtime::tap> tap;
  runtime::tap::following following;
};

result<runtime::tap_filter> read_tap_filter(const proto::http_request& request) {
  auto asked = read_query(request, runtime::tap_rows(), "tap");
  if (!asked) return std::unexpected(asked.error());
  runtime::tap_filter filter;
  if (auto read = options::apply_json(filter, runtime::tap_filter_table(), *asked); !read) {
    return std::unexpected(read.error());
  }
  return filter;
}

}  // namespace

loop::task<> control_api::stream_to(http::exchange& exchange, const api_client& client,
                                    const route_row& row, feed source, feed_request request) {
  open_stream going_out(exchange, client, row.needed);
  streams_.push_back(going_out);
  co_await stream(supervisor_.home(), exchange, std::move(source), std::move(request));
}

void control_api::replace_tokens(token_list tokens) {
  access_.set_tokens(std::move(tokens));
  for (const auto& each : streams_) {
    const auto role = role_of(each.exchange, each.client);
    if (role && *role >= each.needed) continue;
    facts_.log->write(runtime::level::info,
                      each.client.text + " was disconnected: its token is no longer accepted");
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

result<feed> control_api::messages_of(const call& call) const {
  auto found = supervisor_.find(call.name);
  if (!found) return std::unexpected(found.error());
  auto journal = (*found)->messages;
  return feed{
      .keeps = journal, .journal = journal.get(), .line = message_json, .always_follows = true};
}

result<feed> control_api::tap_of(const call& call) const {
  auto found = supervisor_.find(call.name);
  if (!found) return std::unexpected(found.error());
  auto filter = read_tap_filter(call.request);
  if (!filter) return std::unexpected(filter.error());
  feed source;
  source.always_follows = true;
  source.follow = [tap = (*found)->tap, filter = *filter](loop::loop& loop, live_reader reader) {
    return std::make_shared<tap_reading>(tap, loop, filter, std::move(reader));
  };
  return source;
}

result<feed> control_api::log_of(const call& call) const {
  auto found = supervisor_.find(call.name);
  if (!found) return std::unexpected(found.error());
  auto journal = (*found)->log;
  return feed{.keeps = journal, .journal = journal.get(), .line = log_line_json};
}

result<feed> control_api::events(const call& /*call*/) const {
  return feed{.journal = &supervisor_.events(), .line = event_json};
}

result<feed> control_api::stats_of(const call& call) const {
  auto found = supervisor_.find(call.name);
  if (!found) return std::unexpected(found.error());
  return feed{.sample = [this, entry = *found] {
    return entry->removed ? std::string() : dump(stats_json(*entry, supervisor_.home().now()));
  }};
}

result<feed> control_api::stats_of_all(const call& /*call*/) const {
  return feed{
      .sample = [this] { return dump(stats_json(supervisor_.list(), supervisor_.home().now())); }};
}

}  // namespace strata::daemon
