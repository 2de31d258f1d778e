#include "daemon/supervisor/log_output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "text/readable.hpp"
#include "text/utf8.hpp"

namespace strata::daemon {

namespace {

// A writable pipe takes this much without blocking (PIPE_BUF).
constexpr std::size_t longest_line = 4096;

std::string now_text() { return runtime::format_time(std::chrono::system_clock::now()); }

std::string text_line(std::string_view level, std::string_view runtime, std::string_view text) {
  const auto* const separator = runtime.empty() ? "" : ": ";
  auto line =
      now_text() + " " + text::printable(fmt::format("{} {}{}{}", level, runtime, separator, text));
  line.resize(text::utf8_prefix(line, longest_line - 1).size());
  return line + "\n";
}

// A line that is too long is truncated within its text, so that it stays a JSON object.
std::string json_line(std::string_view level, std::string_view runtime, std::string_view text) {
  constexpr std::size_t escaped_size = 6;  // per byte, at most
  nlohmann::ordered_json object{{"time", now_text()}, {"level", level}};
  if (!runtime.empty()) object["runtime"] = runtime;
  object["text"] = text;
  const auto write = [&object] {
    return object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  };
  auto line = write();
  if (line.size() <= longest_line) return line;
  object["text"] = text::utf8_prefix(text, (longest_line - 512) / escaped_size);
  return write();
}

}  // namespace

spdlog::level::level_enum log_level(runtime::level severity) {
  switch (severity) {
    case runtime::level::debug: return spdlog::level::debug;
    case runtime::level::info: return spdlog::level::info;
    case runtime::level::warning: return spdlog::level::warn;
    case runtime::level::error: return spdlog::level::err;
  }
  return spdlog::level::info;
}

result<std::shared_ptr<log_output>> log_output::open(log_settings settings) {
  std::shared_ptr<log_output> made(new log_output(std::move(settings)));
  if (made->how_.file.empty()) return made;
  if (auto opened = made->open_file(); !opened) return std::unexpected(opened.error());
  return made;
}

bool log_output::is_open_by_name() const {
  struct stat own{};
  struct stat found{};
  return file_ && ::fstat(file_.get(), &own) == 0 && ::stat(how_.file.c_str(), &found) == 0 &&
         own.st_dev == found.st_dev && own.st_ino == found.st_ino;
}

result<void> log_output::open_file() {
  const auto operation = "write the log to '" + how_.file + "'";
  if (is_open_by_name()) return {};
  auto claimed = loop::os_files().claim(how_.file);
  if (!claimed) return std::unexpected(claimed.error());
  auto opened = loop::open_regular(how_.file, O_WRONLY | O_APPEND | O_CREAT, operation);
  if (!opened) return std::unexpected(opened.error());
  struct stat found{};
  if (::fstat(opened->get(), &found) != 0) return system_failure(errno, operation);
  claim_ = std::move(*claimed);
  file_ = std::move(*opened);
  size_ = static_cast<std::uint64_t>(found.st_size);
  return {};
}

result<void> log_output::open_again() {
  const std::scoped_lock guard(lock_);
  if (how_.file.empty()) return {};
  return open_file();
}

// If a file cannot be renamed, the log grows on: better too long a log than none.
void log_output::rotate() {
  const auto name = [this](std::uint64_t age) { return fmt::format("{}.{}", how_.file, age); };
  for (auto age = how_.keep; age > 1; --age) {
    (void)std::rename(name(age - 1).c_str(), name(age).c_str());
  }
  const bool is_away = how_.keep == 0 ? ::unlink(how_.file.c_str()) == 0
                                      : std::rename(how_.file.c_str(), name(1).c_str()) == 0;
  if (is_away) (void)open_file();
}

bool log_output::put(std::string_view text) {
  const int to = file_ ? file_.get() : STDERR_FILENO;
  pollfd ready{.fd = to, .events = POLLOUT, .revents = 0};
  if (!file_ && (::poll(&ready, 1, 0) != 1 || (ready.revents & POLLOUT) == 0)) return false;
  if (is_cut_ && ::write(to, "\n", 1) != 1) return false;
  const auto written = ::write(to, text.data(), text.size());
  is_cut_ = written > 0 && static_cast<std::size_t>(written) != text.size();
  if (written > 0) size_ += static_cast<std::uint64_t>(written);
  return written > 0 && !is_cut_;
}

std::string log_output::line_of(std::string_view level, std::string_view runtime,
                                std::string_view text) const {
  return how_.is_json ? json_line(level, runtime, text) : text_line(level, runtime, text);
}

void log_output::write(std::string_view level, std::string_view runtime, std::string_view text) {
  const auto line = line_of(level, runtime, text);
  const std::scoped_lock guard(lock_);
  if (file_ && how_.max_size != 0 && size_ + line.size() > how_.max_size && size_ != 0) rotate();
  if (lost_ != 0) {
    const auto note = fmt::format("{} lines are missing: the log could not be written", lost_);
    if (put(line_of("warning", "", note))) lost_ = 0;
  }
  if (!put(line)) ++lost_;
}

}  // namespace strata::daemon
