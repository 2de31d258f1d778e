#include "runtime/program/output_file.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

namespace strata::runtime::program {

result<std::unique_ptr<output_file>> output_file::open(loop::loop& loop, settings settings,
                                                       std::function<void(std::string)> on_error) {
  std::unique_ptr<output_file> made(new output_file(std::move(settings), on_error));
  auto sink = file_sink::open(loop, made->settings_.path, std::move(on_error));
  if (!sink) return std::unexpected(sink.error());
  made->sink_ = std::move(*sink);
  std::error_code failed;
  const auto size = std::filesystem::file_size(made->settings_.path, failed);
  if (!failed) made->size_ = size;
  return made;
}

// If a file cannot be renamed, the output grows on: better too long a file than none.
void output_file::rotate() {
  const auto name = [this](std::uint64_t age) {
    return age == 0 ? settings_.path : fmt::format("{}.{}", settings_.path, age);
  };
  for (auto age = settings_.keep; age > 0; --age) {
    (void)std::rename(name(age - 1).c_str(), name(age).c_str());
  }
  if (settings_.keep == 0) (void)std::remove(settings_.path.c_str());
  if (const auto opened = sink_->open_again(); !opened) on_error_(describe(opened.error()));
  size_ = 0;
}

loop::task<> output_file::make_room(std::size_t size) {
  co_await flush(loop::time_point::max());
  if (size_ != 0 && size_ + size > settings_.max_size) rotate();
}

void output_file::write(std::string_view line) {
  const bool is_taken = sink_->append(as_bytes(line));
  if (is_taken) size_ += line.size() + 1;
  if (!is_taken && !is_losing_) {
    on_error_(fmt::format("lines are missing in '{}': it could not be written for too long",
                          settings_.path));
  }
  is_losing_ = !is_taken;
}

loop::task<> output_file::flush(loop::time_point limit) {
  const bool is_written = co_await sink_->flushed(limit);
  (void)is_written;
}

}  // namespace strata::runtime::program
