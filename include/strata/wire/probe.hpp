// The probe that `strata l2 ping`, `echo`, `flood` and `sink` put into an Ethernet frame, in front
// of padding up to the requested size.
//
//      0  magic                        u32
//      4  kind                         u8, and three zeros
//      8  run                          u64     random, of one ping or flood
//     16  sequence                     u64     of the frame in its run, from 1 on
//     24  time                         u64     of the sender's own clock, in ns; an answer keeps it
//
// All numbers are in network order. Sans-I/O and total: no input causes reads out of bounds,
// exceptions or allocations. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "strata/base/bytes.hpp"

namespace strata::wire {

enum class probe_kind : std::uint8_t {
  request = 1,  ///< asks for an answer
  answer,       ///< a request, sent back to its sender
  load,         ///< only counted
};

struct probe {
  static constexpr std::size_t size = 32;

  probe_kind kind = probe_kind::request;
  std::uint64_t run = 0;
  std::uint64_t sequence = 0;
  std::uint64_t time_ns = 0;

  /// `payload` begins behind the Ethernet header. Returns nullopt if it is truncated or no probe.
  [[nodiscard]] static std::optional<probe> parse(byte_span payload);
  void write(std::span<std::byte, size> bytes) const;

  bool operator==(const probe&) const = default;
};

}  // namespace strata::wire
