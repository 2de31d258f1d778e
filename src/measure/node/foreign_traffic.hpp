// Frames of another EtherType, sent during a measurement: traffic that a receiver's filter must
// reject.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "measure/ends/end.hpp"
#include "strata/base/result.hpp"
#include "strata/l2/raw_socket.hpp"

namespace strata::measure {

class foreign_traffic {
 public:
  /// Errors: those of its socket.
  [[nodiscard]] static result<foreign_traffic> open(const end_options& options, double rate);

  /// Sends the frames that are due `passed_ns` after the measurement began, at most one batch.
  [[nodiscard]] result<void> send_due(std::uint64_t passed_ns);
  [[nodiscard]] std::uint64_t sent() const { return sent_; }

 private:
  foreign_traffic(l2::raw_socket socket, std::vector<std::byte> frame, double rate)
      : socket_(std::move(socket)), frame_(std::move(frame)), rate_(rate) {}

  l2::raw_socket socket_;
  std::vector<std::byte> frame_;
  double rate_;
  std::uint64_t sent_ = 0;
};

}  // namespace strata::measure
