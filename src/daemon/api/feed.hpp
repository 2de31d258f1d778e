// What the control API streams: lines of a journal as they are written, lines that nobody keeps, or
// samples of what changes all the time. As application/x-ndjson; as server-sent events for those who accept
// text/event-stream. On the home loop.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "http/exchange.hpp"
#include "loop/loop.hpp"
#include "runtime/journal.hpp"

namespace strata::daemon {

/// What follows lines that nobody keeps, such as what a tap shows. All is called on the loop.
struct live_reader {
  std::function<void(const std::string& json)> on_line;
  /// That many lines are missing before the next one.
  std::function<void(std::size_t count)> on_loss;
  std::function<void()> on_end;
};

struct feed {
  std::shared_ptr<runtime::journal> keeps;  ///< of a runtime that may be removed meanwhile
  runtime::journal* journal = nullptr;      ///< null: there is none
  std::string (*line)(const runtime::journal_line&) = nullptr;
  /// Follows lines that nobody keeps, until what it gives is destroyed. Empty: there are none.
  std::function<std::shared_ptr<void>(loop::loop& loop, live_reader reader)> follow;
  /// Gives a sample, or nothing when there will be no more.
  std::function<std::string()> sample;
  bool always_follows = false;
};

/// How a request wants its feed.
struct feed_request {
  std::size_t tail = 1000;
  loop::duration interval = std::chrono::seconds(1);  ///< between samples
  std::string last_id;                                ///< of the last event that the client has
  bool follows = false;
  bool is_event_stream = false;
};

/// Errors: invalid_argument when `tail` or `interval` cannot be used.
[[nodiscard]] result<feed_request> read_feed_request(const proto::http_request& request);

/// Answers the exchange; where the request follows, until the client goes.
[[nodiscard]] loop::task<> stream(loop::loop& loop, http::exchange& exchange, feed source,
                                  feed_request request);

}  // namespace strata::daemon
