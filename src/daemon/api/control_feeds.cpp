// The streams of the control API: messages, log lines and events as they come.
#include <fmt/format.h>

#include <charconv>

#include "daemon/api/control_api.hpp"
#include "daemon/supervisor/render.hpp"

namespace strata::daemon {

namespace {

constexpr std::size_t most_behind = 8U << 20U;  // bytes that may wait for a follower

}  // namespace

result<control_api::feed> control_api::messages_of(const std::string& name) const {
  auto found = supervisor_.find(name);
  if (!found) return std::unexpected(found.error());
  auto journal = (*found)->messages;
  return feed{.keeps = journal, .of = journal.get(), .line = message_json, .always_follows = true};
}

result<control_api::feed> control_api::log_of(const std::string& name) const {
  auto found = supervisor_.find(name);
  if (!found) return std::unexpected(found.error());
  auto journal = (*found)->log;
  return feed{.keeps = journal, .of = journal.get(), .line = log_line_json};
}

result<control_api::feed> control_api::events(const std::string& /*name*/) const {
  return feed{.keeps = {}, .of = &supervisor_.events(), .line = event_json};
}

loop::task<> control_api::stream(http::exchange& exchange, feed feed) {
  std::size_t tail = 1000;
  const auto& request = exchange.request();
  if (const auto asked = request.query_value("tail")) {
    const auto* const end = asked->data() + asked->size();
    const auto [rest, code] = std::from_chars(asked->data(), end, tail);
    if (code != std::errc{} || rest != end) {
      const auto reply = as_answer(
          failure(errc::invalid_argument, "read 'tail'", fmt::format("'{}' is no number", *asked))
              .error());
      exchange.respond(reply.status, reply.type, reply.body);
      co_return;
    }
  }
  const auto follow = request.query_value("follow");
  const bool follows = feed.always_follows || follow == "true" || follow == "1";
  exchange.begin(
      {.status = 200,
       .fields = {{"Content-Type", "application/x-ndjson"}, {"Cache-Control", "no-store"}},
       .length = {}});
  std::string text;
  for (const auto& line : feed.of->last(tail)) text += feed.line(line);
  exchange.push(text);
  if (!follows || request.method == "HEAD") {
    exchange.finish();
    co_return;
  }
  const auto following = feed.of->follow(
      supervisor_.home(),
      [&exchange, write = feed.line](const runtime::journal_line& line) {
        if (exchange.unsent() > most_behind) {
          exchange.abort();
          return;
        }
        exchange.push(write(line));
      },
      [&exchange] { exchange.finish(); });
  // Nothing more is expected from the client but its end.
  co_await exchange.client_end();
}

}  // namespace strata::daemon
