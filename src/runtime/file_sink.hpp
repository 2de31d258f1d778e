// Appends messages to a file without blocking the loop: the messages of one turn are one write.
//
// When the disk is full nothing is dropped at once: messages are queued, up to `most_waiting`
// bytes, and writing is retried every second.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "loop/condition.hpp"
#include "loop/loop.hpp"

namespace strata::runtime {

class file_sink final : private loop::request, private loop::turn_end_hook, private loop::timer {
 public:
  static constexpr std::size_t most_waiting = 8U << 20U;

  /// Opens `path` for appending. `on_error` is called with a sentence at the first of several
  /// failures in a row, and when the sink is destroyed with unwritten messages.
  static result<std::unique_ptr<file_sink>> open(loop::loop& loop, const std::string& path,
                                                 std::function<void(std::string)> on_error);
  ~file_sink() override;
  file_sink(const file_sink&) = delete;
  file_sink& operator=(const file_sink&) = delete;

  /// Queues a message, as a line of its own. Returns false if too much is queued already.
  [[nodiscard]] bool append(byte_span message);
  /// Continues in a new file of that name, after the old one was moved away. Errors: those of that
  /// file; then the old one stays in use.
  [[nodiscard]] result<void> open_again();
  /// Waits, until `limit` at most, until everything is written or writing fails.
  auto flushed(loop::time_point limit) {
    return changed_.wait([this] { return failing_ || is_empty(); }, limit);
  }

 private:
  file_sink(loop::loop& loop, loop::descriptor file, std::string path,
            std::function<void(std::string)> on_error);
  void on_completion(loop::completion completion) override;
  void on_turn_end() override;
  void on_timer() override { on_turn_end(); }
  [[nodiscard]] bool is_empty() const {
    return waiting_.empty() && writing_.empty() && !under_way();
  }

  loop::loop& loop_;
  loop::descriptor file_;
  std::string path_;
  std::function<void(std::string)> on_error_;
  std::string waiting_;
  loop::slice writing_;
  bool failing_ = false;  // the last write failed
  loop::condition changed_;
};

}  // namespace strata::runtime
