#include "daemon/api/feed.hpp"

#include <fmt/format.h>

#include <charconv>

#include "daemon/api/route_row.hpp"
#include "loop/task_group.hpp"
#include "options/option_table.hpp"
#include "proto/http/http_fields.hpp"

namespace strata::daemon {

using namespace std::chrono_literals;

namespace {

constexpr std::size_t most_behind = 8U << 20U;  // unsent bytes for one client
constexpr auto shortest_interval = 100ms;
// How often the room for a report of lost lines is checked.
constexpr auto loss_interval = 20ms;
// Proxies close connections that are silent for a minute.
constexpr auto longest_silence = 15s;

std::optional<std::size_t> parse_number(std::string_view text) {
  std::size_t number = 0;
  const auto* const end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, number);
  if (code != std::errc{} || rest != end) return std::nullopt;
  return number;
}

result<loop::duration> parse_interval(std::string_view text) {
  const auto seconds = options::parse_seconds(text);
  if (!seconds) return std::unexpected(seconds.error());
  const auto interval = loop::from_seconds(*seconds);
  if (interval < shortest_interval) {
    return failure(errc::invalid_argument, "read 'interval'",
                   fmt::format("'{}' is shorter than 100ms", text),
                   "use for example 500ms, 1s or 1m");
  }
  return interval;
}

/// The answer to one request for a feed.
class feed_writer {
 public:
  feed_writer(loop::loop& loop, http::exchange& exchange, feed source, feed_request request)
      : home_(loop),
        exchange_(exchange),
        source_(std::move(source)),
        request_(std::move(request)) {}

  loop::task<> run() {
    exchange_.begin({.status = 200,
                     .fields = {{"Content-Type", request_.is_event_stream ? event_stream : ndjson},
                                {"Cache-Control", "no-store"}},
                     .length = {}});
    if (request_.is_event_stream) exchange_.push(":\n\n");
    const bool follows = request_.follows && !exchange_.is_head();
    // Lines written meanwhile follow the kept lines.
    runtime::journal::following following;
    if (follows && source_.journal != nullptr) following = follow();
    if (source_.journal != nullptr) write_kept();
    if (!follows) {
      if (source_.sample) write(framed(source_.sample(), {}));
      exchange_.finish();
      co_return;
    }
    const auto live = source_.follow ? source_.follow(home_, live_lines()) : nullptr;
    if (source_.sample) tasks_.spawn(take_samples());
    if (request_.is_event_stream) tasks_.spawn(break_silence());
    // Only the client's end is expected from now on.
    co_await exchange_.client_end();
  }

 private:
  [[nodiscard]] std::string framed(std::string_view json, std::string_view id) const {
    if (!request_.is_event_stream) return fmt::format("{}\n", json);
    if (id.empty()) return fmt::format("data: {}\n\n", json);
    return fmt::format("id: {}\ndata: {}\n\n", id, json);
  }
  /// A line about the journal itself has no number, and so no id.
  [[nodiscard]] std::string framed(const runtime::journal_line& line) const {
    return framed(source_.line(line),
                  line.number == 0 ? std::string() : source_.journal->id_of(line));
  }
  void write(std::string_view text) {
    exchange_.push(text);
    written_ = home_.now();
  }

  void write_kept() {
    newest_ = source_.journal->number_of(request_.last_id);
    std::string text;
    for (const auto& line : source_.journal->last(request_.tail)) {
      if (line.number <= newest_) continue;
      text += framed(line);
      newest_ = line.number;
    }
    write(text);
  }

  runtime::journal::following follow() {
    return source_.journal->follow(
        home_,
        [this](const runtime::journal_line& line) {
          if (line.number != 0 && line.number <= newest_) return;
          if (exchange_.unsent() > most_behind) {
            exchange_.abort();
            return;
          }
          write(framed(line));
        },
        [this] { exchange_.finish(); });
  }

  /// A client that does not read loses lines; the next line reports how many.
  live_reader live_lines() {
    return {.on_line =
                [this](const std::string& json) {
                  if (exchange_.unsent() > most_behind) {
                    note_loss(1);
                    return;
                  }
                  write_loss();
                  write(framed(json, {}));
                },
            .on_loss = [this](std::size_t count) { note_loss(count); },
            .on_end = [this] { exchange_.finish(); }};
  }

  void note_loss(std::size_t count) {
    lost_ += count;
    if (!std::exchange(is_reporting_, true)) tasks_.spawn(report_loss());
  }

  /// Writes the loss when the client has read enough, even if no other line follows.
  loop::task<> report_loss() {
    while (exchange_.unsent() > most_behind) co_await home_.sleep(loss_interval);
    write_loss();
    is_reporting_ = false;
  }

  void write_loss() {
    if (lost_ == 0) return;
    write(framed(fmt::format(R"({{"lost":{}}})", std::exchange(lost_, 0)), {}));
  }

  /// Samples that a client has no room for are skipped.
  loop::task<> take_samples() {
    for (;;) {
      const auto sample = source_.sample();
      if (sample.empty()) break;
      if (exchange_.unsent() <= most_behind) write(framed(sample, {}));
      co_await home_.sleep(request_.interval);
    }
    exchange_.finish();
  }

  loop::task<> break_silence() {
    for (;;) {
      co_await home_.sleep(longest_silence);
      if (exchange_.is_answered()) co_return;
      if (home_.now() - written_ >= longest_silence) exchange_.push(":\n\n");
    }
  }

  loop::loop& home_;
  http::exchange& exchange_;
  const feed source_;
  const feed_request request_;
  std::uint64_t newest_ = 0;  // number of the newest line written
  std::size_t lost_ = 0;      // lines that were not written, and have not been reported
  bool is_reporting_ = false;
  loop::time_point written_;
  loop::task_group tasks_;
};

}  // namespace

result<feed_request> read_feed_request(const proto::http_request& request) {
  feed_request read;
  if (const auto text = request.query_value("tail")) {
    const auto tail = parse_number(*text);
    if (!tail) {
      return failure(errc::invalid_argument, "read 'tail'",
                     fmt::format("'{}' is not a whole number", *text));
    }
    read.tail = *tail;
  }
  if (const auto text = request.query_value("interval")) {
    const auto interval = parse_interval(*text);
    if (!interval) return std::unexpected(interval.error());
    read.interval = *interval;
  }
  const auto follow = request.query_value("follow");
  read.is_event_stream = proto::has_token(request.headers, "accept", event_stream);
  read.follows = read.is_event_stream || follow == "true" || follow == "1";
  read.last_id = request.header("last-event-id").value_or("");
  return read;
}

loop::task<> stream(loop::loop& loop, http::exchange& exchange, feed source, feed_request request) {
  if (source.always_follows) request.follows = true;
  feed_writer writer(loop, exchange, std::move(source), std::move(request));
  co_await writer.run();
}

}  // namespace strata::daemon
