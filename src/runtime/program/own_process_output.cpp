// What an own process prints: lines for the log, and for a file.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "runtime/program/own_process.hpp"
#include "text/readable.hpp"

namespace strata::runtime::program {

using namespace std::chrono_literals;

namespace {

// A longer line is cut, and its parts are lines.
constexpr std::size_t longest_line = 8192;
constexpr auto output_limit = 5s;
constexpr auto least_output_limit = 200ms;
// The text of the condition `line:TEXT`; empty for another one.
std::string_view awaited_text(std::string_view condition) {
  constexpr std::string_view prefix = "line:";
  return condition.starts_with(prefix) ? condition.substr(prefix.size()) : std::string_view();
}

}  // namespace

result<void> own_process::open_output() {
  if (options_.output_file.empty() || output_) return {};
  auto path = with_places(options_.output_file, values_);
  if (!path) return std::unexpected(path.error());
  auto file = output_file::open(
      loop_,
      {.path = std::move(*path), .max_size = options_.output_size, .keep = options_.output_keep},
      [this](const std::string& reason) { log_.write(level::error, reason, subject()); });
  if (!file) return std::unexpected(file.error());
  output_ = std::move(*file);
  return {};
}

loop::task<> own_process::read(loop::descriptor pipe) {
  // A line without an end is one too, also if the reading is canceled.
  struct last_line {
    own_process& process;
    std::string unfinished = {};
    ~last_line() {
      if (!unfinished.empty()) process.take_line(unfinished);
      --process.readers_;
      process.changed_.notify();
    }
  } line{*this};
  ++readers_;
  std::array<char, 16384> piece{};
  for (;;) {
    loop::awaited_request readable;
    loop_.poll(pipe, POLLIN, readable);
    (void)co_await readable;
    const auto size = ::read(pipe.fd(), piece.data(), piece.size());
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (size <= 0) break;
    const auto count = static_cast<std::size_t>(size);
    // Meanwhile the program waits, as soon as the pipe is full.
    if (output_) co_await output_->make_room(line.unfinished.size() + 2 * count);
    take_output(line.unfinished, {piece.data(), count});
  }
}

void own_process::take_output(std::string& unfinished, std::string_view piece) {
  unfinished += piece;
  std::string_view left = unfinished;
  for (auto end = left.find('\n'); end != std::string_view::npos || left.size() > longest_line;
       end = left.find('\n')) {
    const auto length = std::min(end, longest_line);
    take_line(left.substr(0, length));
    left.remove_prefix(length == end ? length + 1 : length);
  }
  unfinished.erase(0, unfinished.size() - left.size());
}

void own_process::take_line(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  const auto awaited = awaited_text(options_.ready);
  if (!awaited.empty() && line.contains(awaited)) {
    has_signaled_ = true;
    changed_.notify();
  }
  log_.keep(level::info, text::printable(line), subject());
  if (output_) output_->write(line);
}

// What the process wrote last is still in the pipe.
loop::task<> own_process::finish_output(loop::time_point stop_limit) {
  const auto now = loop_.now();
  const auto limit = std::clamp(stop_limit, now + least_output_limit, now + output_limit);
  const bool is_read = co_await changed_.wait([this] { return readers_ == 0; }, limit);
  (void)is_read;
  if (output_) co_await output_->flush(limit);
}

}  // namespace strata::runtime::program
