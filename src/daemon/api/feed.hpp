// The streams of the control API: lines of a journal as they are written, lines that are not kept,
// or samples of continually changing data. As application/x-ndjson, or as server-sent events for
// clients that accept text/event-stream. On the home loop.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "http/exchange.hpp"
#include "loop/loop.hpp"
#include "runtime/journal.hpp"

namespace strata::daemon {

/// A reader of lines that are not kept, such as a tap's. Its functions are called on the loop.
struct live_reader {
  std::function<void(const std::string& json)> on_line;
  /// Reports that `count` lines are missing before the next one.
  std::function<void(std::size_t count)> on_loss;
  std::function<void()> on_end;
};

struct feed {
  std::shared_ptr<runtime::journal> keeps;  ///< keeps a removed runtime's journal alive
  runtime::journal* journal = nullptr;      ///< null: samples are sent
  std::string (*line)(const runtime::journal_line&) = nullptr;
  /// Follows lines that are not kept, until its result is destroyed; empty if there are none.
  std::function<std::shared_ptr<void>(loop::loop& loop, live_reader reader)> follow;
  /// Returns a sample, or an empty text if there will be no more.
  std::function<std::string()> sample;
  bool always_follows = false;
};

/// The parameters of a request for a feed.
struct feed_request {
  std::size_t tail = 1000;
  loop::duration interval = std::chrono::seconds(1);  ///< between samples
  std::string last_id;                                ///< id of the client's last event
  bool follows = false;
  bool is_event_stream = false;
};

/// Reads the parameters. Errors: invalid_argument if `tail` or `interval` is not valid.
[[nodiscard]] result<feed_request> read_feed_request(const proto::http_request& request);

/// Answers the exchange; with `follow`, until the client disconnects.
[[nodiscard]] loop::task<> stream(loop::loop& loop, http::exchange& exchange, feed source,
                                  feed_request request);

}  // namespace strata::daemon
