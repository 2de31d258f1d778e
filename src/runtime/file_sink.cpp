#include "runtime/file_sink.hpp"

#include <fmt/format.h>

namespace strata::runtime {

namespace {

constexpr std::size_t largest_write = 1U << 20U;

}  // namespace

file_sink::file_sink(loop::loop& loop, loop::descriptor file, std::string path,
                     std::function<void(std::string)> on_error)
    : loop_(loop),
      file_(std::move(file)),
      path_(std::move(path)),
      on_error_(std::move(on_error)),
      changed_(loop) {}

file_sink::~file_sink() {
  abandon();
  const auto lost = writing_.size() + waiting_.size();
  if (lost != 0) on_error_(fmt::format("{} bytes were not written to '{}'", lost, path_));
}

result<std::unique_ptr<file_sink>> file_sink::open(loop::loop& loop, const std::string& path,
                                                   std::function<void(std::string)> on_error) {
  auto file = loop.open_append(path);
  if (!file) return std::unexpected(file.error());
  return std::unique_ptr<file_sink>(
      new file_sink(loop, std::move(*file), path, std::move(on_error)));
}

result<void> file_sink::open_again() {
  auto file = loop_.open_append(path_);
  if (!file) return std::unexpected(file.error());
  file_ = std::move(*file);
  return {};
}

bool file_sink::append(byte_span message) {
  if (waiting_.size() + message.size() + 1 > most_waiting) return false;
  waiting_ += as_text(message);
  waiting_ += '\n';
  if (!under_way() && !armed()) loop_.at_turn_end(*this);
  return true;
}

void file_sink::on_turn_end() {
  if (under_way()) return;
  if (writing_.empty()) {
    if (waiting_.empty()) return;
    // Writes end with a whole line, so that several sinks of one file do not split each other's
    // lines.
    const auto last = waiting_.rfind('\n', largest_write - 1);
    const auto size = last == std::string::npos ? waiting_.size() : last + 1;
    writing_ = loop::slice::copy_of(as_bytes(waiting_).first(size));
    waiting_.erase(0, size);
  }
  loop_.write(file_, writing_, *this);
}

void file_sink::on_completion(loop::completion completion) {
  changed_.notify();
  if (completion.result <= 0) {
    if (!failing_) {
      on_error_(describe(system_error(completion.result == 0 ? ENOSPC : -completion.result,
                                      "write to '" + path_ + "'",
                                      "free some space; strata tries again every second")));
    }
    failing_ = true;
    loop_.arm_after(*this, std::chrono::seconds(1));
    return;
  }
  failing_ = false;
  writing_.remove_prefix(static_cast<std::uint32_t>(completion.result));
  if (!writing_.empty() || !waiting_.empty()) loop_.at_turn_end(*this);
}

}  // namespace strata::runtime
