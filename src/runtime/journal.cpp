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

struct journal::following::state {
  state(loop::loop& loop, sink call, std::function<void()> last_call)
      : where(loop), on_line(std::move(call)), on_end(std::move(last_call)) {}
  loop::loop& where;
  sink on_line;  // both accessed on the loop's thread only; empty once it has ended
  std::function<void()> on_end;
  std::atomic<std::size_t> waiting = 0;  // bytes
  std::atomic<std::size_t> lost = 0;
};

journal::following& journal::following::operator=(following&& other) noexcept {
  end();
  of_ = std::exchange(other.of_, nullptr);
  state_ = std::move(other.state_);
  return *this;
}

void journal::following::end() {
  if (state_ == nullptr) return;
  state_->on_line = nullptr;
  state_->on_end = nullptr;
  const std::scoped_lock guard(of_->lock_);
  std::erase(of_->followers_, state_);
  of_->followers_now_ = of_->followers_.size();
  state_.reset();
}

journal::following journal::follow(loop::loop& loop, sink on_line, std::function<void()> on_end) {
  following made;
  made.of_ = this;
  made.state_ = std::make_shared<following::state>(loop, std::move(on_line), std::move(on_end));
  const std::scoped_lock guard(lock_);
  followers_.push_back(made.state_);
  followers_now_ = followers_.size();
  return made;
}

void journal::write(level severity, std::string text, std::string subject) {
  journal_line line{.time = std::chrono::system_clock::now(),
                    .severity = severity,
                    .subject = std::move(subject),
                    .text = std::move(text)};
  if (copy_) copy_(line);
  if (severity == level::debug) return;
  const std::scoped_lock guard(lock_);
  line.number = ++written_;
  if (keep_ != 0) {
    lines_.push_back(line);
    if (lines_.size() > keep_) lines_.pop_front();
  }
  const auto size = sizeof line + line.text.size();
  for (const auto& each : followers_) {
    if (each->waiting.load() > most_waiting) {
      ++each->lost;
      continue;
    }
    each->waiting += size;
    each->where.post([to = each, line, size] {
      to->waiting -= size;
      if (!to->on_line) return;
      if (const auto lost = to->lost.exchange(0); lost != 0) {
        to->on_line({.time = line.time,
                     .severity = level::warning,
                     .subject = {},
                     .text = fmt::format("({} lines lost: this reader is too slow)", lost)});
      }
      if (to->on_line) to->on_line(line);
    });
  }
}

void journal::write_few(std::string_view cause, level severity, std::string text,
                        std::string subject) {
  using namespace std::chrono_literals;
  constexpr auto stretch = 10s;
  constexpr std::uint64_t most = 10;
  std::uint64_t left_out = 0;
  {
    const std::scoped_lock guard(lock_);
    auto found = causes_.find(cause);
    if (found == causes_.end()) found = causes_.emplace(cause, allowance{}).first;
    auto& of = found->second;
    const auto now = std::chrono::steady_clock::now();
    if (now - of.since >= stretch) {
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

void journal::end() {
  const std::scoped_lock guard(lock_);
  for (const auto& each : followers_) {
    each->where.post([to = each] {
      if (to->on_end) to->on_end();
    });
  }
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
