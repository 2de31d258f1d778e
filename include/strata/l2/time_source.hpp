// Clocks that time the sending of frames: CLOCK_MONOTONIC, CLOCK_TAI, and the clocks of network
// cards, which PTP sets (/dev/ptpN, Documentation/driver-api/ptp.rst).
#pragma once

#include <cstdint>
#include <ctime>
#include <string>
#include <string_view>

#include "strata/base/result.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::l2 {

/// A clock that can be read and waited for. Owns the descriptor of its device, if it has one.
/// Several threads may read and wait at a time.
class time_source {
 public:
  [[nodiscard]] static time_source monotonic();
  /// Atomic time: UTC plus the leap seconds. Equals UTC if the kernel was not given their number
  /// (ptp4l and chronyd set it).
  [[nodiscard]] static time_source tai();
  /// Opens a card's clock by its device: "/dev/ptp0". Errors: not_found; permission_denied;
  /// not_supported (no PTP clock). Linux 2.6.39 or newer.
  [[nodiscard]] static result<time_source> ptp(const std::string& path);
  /// Parses "mono", "tai" or "ptp:/dev/ptp0". Errors: invalid_argument; as `ptp`.
  [[nodiscard]] static result<time_source> from_text(std::string_view text);

  /// Returns the text that `from_text` accepts.
  [[nodiscard]] const std::string& text() const { return text_; }
  /// For clock_gettime(2).
  [[nodiscard]] clockid_t id() const { return id_; }
  [[nodiscard]] std::uint64_t now_ns() const;
  /// Waits until this clock reaches `time_ns`. Returns false if a signal came first. A thread
  /// cannot sleep on a card's clock: the wait sleeps on the monotonic clock and compares the two.
  /// Errors: conflict (a card's clock that stands still).
  [[nodiscard]] result<bool> wait_until(std::uint64_t time_ns) const;

 private:
  time_source(clockid_t id, std::string text, unique_fd device)
      : id_(id), text_(std::move(text)), device_(std::move(device)) {}

  clockid_t id_;
  std::string text_;
  unique_fd device_;
};

}  // namespace strata::l2
