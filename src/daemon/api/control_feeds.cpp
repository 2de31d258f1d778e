// Figures, and the streams of the control API's routes.
#include "daemon/api/control_answers.hpp"
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

loop::task<api_answer> control_answers::stats(call call) {
  auto found = supervisor_.find(call.name);
  if (!found) co_return error_answer(found.error());
  co_return json_answer(stats_json(**found, supervisor_.home().now()));
}

loop::task<api_answer> control_answers::all_stats(call /*call*/) {
  co_return json_answer(stats_json(supervisor_.list(), supervisor_.home().now()));
}

result<feed> control_answers::messages_of(const call& call) const {
  auto found = supervisor_.find(call.name);
  if (!found) return std::unexpected(found.error());
  auto journal = (*found)->messages;
  return feed{
      .keeps = journal, .journal = journal.get(), .line = message_json, .always_follows = true};
}

result<feed> control_answers::tap_of(const call& call) const {
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

result<feed> control_answers::log_of(const call& call) const {
  auto found = supervisor_.find(call.name);
  if (!found) return std::unexpected(found.error());
  auto journal = (*found)->log;
  return feed{.keeps = journal, .journal = journal.get(), .line = log_line_json};
}

result<feed> control_answers::events(const call& /*call*/) const {
  return feed{.journal = &supervisor_.events(), .line = event_json};
}

result<feed> control_answers::stats_of(const call& call) const {
  auto found = supervisor_.find(call.name);
  if (!found) return std::unexpected(found.error());
  return feed{.sample = [this, entry = *found] {
    return entry->removed ? std::string() : dump(stats_json(*entry, supervisor_.home().now()));
  }};
}

result<feed> control_answers::stats_of_all(const call& /*call*/) const {
  return feed{
      .sample = [this] { return dump(stats_json(supervisor_.list(), supervisor_.home().now())); }};
}

}  // namespace strata::daemon
