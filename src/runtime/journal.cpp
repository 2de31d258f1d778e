#include "runtime/journal.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace strata::runtime {

std::string_view name_of(level level) {
  switch (level) {
    case level::debug: return "debug";
    case level::info: return "info";
    case level::warning: return "warning";
    case level::error: return "error";
  }
  return "info";
}

std::string format_time(std::chrono::system_clock::time_point time) {
  const auto whole = std::chrono::floor<std::chrono::milliseconds>(time).time_since_epoch();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(whole);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                     fmt::gmtime(static_cast<std::time_t>(seconds.count())),
                     (whole - seconds).count());
}

journal::following journal::follow(loop::loop& loop, sink on_line, std::function<void()> on_end) {
  auto on_loss = [on_line](std::size_t count) {
    on_line({.time = std::chrono::system_clock::now(),
             .severity = level::warning,
             .subject = {},
             .text = fmt::format("({} lines lost: this reader is too slow)", count)});
  };
  return followers_.add(
      loop,
      {.on_line = std::move(on_line), .on_loss = std::move(on_loss), .on_end = std::move(on_end)});
}

void journal::write(level severity, std::string text, std::string subject) {
  journal_line line{.time = std::chrono::system_clock::now(),
                    .severity = severity,
                    .subject = std::move(subject),
                    .text = std::move(text)};
  if (copy_) copy_(line);
  if (severity != level::debug) add(std::move(line));
}

void journal::keep(level severity, std::string text, std::string subject) {
  add({.time = std::chrono::system_clock::now(),
       .severity = severity,
       .subject = std::move(subject),
       .text = std::move(text)});
}

void journal::add(journal_line line) {
  const std::scoped_lock guard(lock_);
  line.number = ++written_;
  if (keep_ != 0) {
    lines_.push_back(line);
    if (lines_.size() > keep_) lines_.pop_front();
  }
  if (followers_.empty()) return;
  const auto size = sizeof line + line.text.size();
  followers_.write(std::make_shared<const journal_line>(std::move(line)), size);
}

void journal::write_few(std::string_view cause, level severity, std::string text,
                        std::string subject) {
  using namespace std::chrono_literals;
  constexpr auto period = 10s;
  constexpr std::uint64_t most = 10;
  std::uint64_t left_out = 0;
  {
    const std::scoped_lock guard(lock_);
    auto found = causes_.find(cause);
    if (found == causes_.end()) found = causes_.emplace(cause, allowance{}).first;
    auto& of = found->second;
    const auto now = std::chrono::steady_clock::now();
    if (now - of.since >= period) {
      of.since = now;
      of.written = 0;
      left_out = std::exchange(of.left_out, 0);
    }
    if (of.written >= most) {
      ++of.left_out;
      return;
    }
    ++of.written;
  }
  if (left_out != 0) text += fmt::format(" ({} more like this were left out)", left_out);
  write(severity, std::move(text), std::move(subject));
}

std::vector<journal_line> journal::last(std::size_t count) const {
  const std::scoped_lock guard(lock_);
  const auto from = lines_.size() - std::min(count, lines_.size());
  return {lines_.begin() + static_cast<std::ptrdiff_t>(from), lines_.end()};
}

std::string journal::id_of(const journal_line& line) const {
  return fmt::format("{:x}-{}", origin_.time_since_epoch().count(), line.number);
}

std::uint64_t journal::number_of(std::string_view id) const {
  const auto dash = std::min(id.find('-'), id.size());
  if (id.substr(0, dash) != fmt::format("{:x}", origin_.time_since_epoch().count())) return 0;
  std::uint64_t number = 0;
  const auto digits = id.substr(std::min(dash + 1, id.size()));
  const auto* const end = digits.data() + digits.size();
  const auto [rest, code] = std::from_chars(digits.data(), end, number);
  const std::scoped_lock guard(lock_);
  return code == std::errc{} && rest == end && number <= written_ ? number : 0;
}

}  // namespace strata::runtime
