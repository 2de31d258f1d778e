// Options of raw sockets, which rings share, and conversions of C arguments to spans.
#pragma once

#include <sys/uio.h>

#include <array>

#include "strata/l2/raw_socket.hpp"
#include "strata/strata.h"

namespace strata::abi {

[[nodiscard]] l2::raw_socket_options options_of(const strata_raw_socket_options* given);

void copy_mac(const mac_address& address, std::uint8_t* bytes);

[[nodiscard]] strata_received received_of(const l2::received_frame& frame);

/// As many of the frames as fit in one batch.
class batch_of {
 public:
  batch_of(const iovec* frames, std::size_t count);
  [[nodiscard]] std::span<const byte_span> spans() const { return {spans_.data(), count_}; }

 private:
  std::array<byte_span, l2::raw_socket::max_batch> spans_;
  std::size_t count_;
};

}  // namespace strata::abi
