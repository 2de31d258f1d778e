// The queueing disciplines of an interface as the kernel reports them (tc(8), tc-taprio(8),
// tc-etf(8)): values. Of taprio and etf, everything relevant to scheduled frames is read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace strata::nl {

/// One step of a schedule: for this time, the gates whose bits are set are open.
struct gate_entry {
  std::uint8_t command = 0;  ///< 0: set gates; others are for hardware
  std::uint32_t gates = 0;   ///< one bit per traffic class
  std::uint32_t interval_ns = 0;
  bool operator==(const gate_entry&) const = default;
};

struct gate_schedule {
  std::int64_t base_time_ns = 0;  ///< by the discipline's clock
  std::int64_t cycle_time_ns = 0;
  std::int64_t cycle_extension_ns = 0;
  std::vector<gate_entry> entries;
  bool operator==(const gate_schedule&) const = default;
};

/// IEEE 802.1Qbv. Linux 4.20 or newer.
struct taprio {
  int clock_id = 0;         ///< CLOCK_…; -1 with full offload, whose clock is the card's
  std::uint32_t flags = 0;  ///< 1: txtime-assist, 2: full offload
  std::uint32_t txtime_delay_ns = 0;
  std::vector<std::uint8_t> class_of_priority;  ///< by SO_PRIORITY, 0 to 15
  std::optional<gate_schedule> running;
  std::optional<gate_schedule> next;  ///< replaces `running` at its base time

  [[nodiscard]] bool assists_txtime() const { return (flags & 1U) != 0; }
  [[nodiscard]] bool is_offloaded() const { return (flags & 2U) != 0; }
  bool operator==(const taprio&) const = default;
};

/// Holds frames until their SO_TXTIME. Linux 4.19 or newer.
struct etf {
  int clock_id = 0;
  std::int32_t delta_ns = 0;  ///< how long before its time the frame goes to the driver
  bool is_deadline = false;   ///< the time is the latest: sends as soon as possible
  bool is_offloaded = false;
  bool skips_socket_check = false;
  bool operator==(const etf&) const = default;
};

struct qdisc {
  int interface_index = 0;
  std::uint32_t handle = 0;  ///< 0x80010000 is "8001:"
  std::uint32_t parent = 0;  ///< 0xffffffff: the root
  std::string kind;          ///< "taprio", "etf", "fq_codel", "noqueue", …
  std::variant<std::monostate, taprio, etf> what;

  [[nodiscard]] bool is_root() const { return parent == UINT32_MAX; }
  /// Reports whether frames with a send time are held until then: etf, fq, and taprio with
  /// txtime-assist.
  [[nodiscard]] bool holds_frames() const;
  /// "8001:2", "root"
  [[nodiscard]] static std::string text_of(std::uint32_t handle);
  bool operator==(const qdisc&) const = default;
};

/// Returns "tai", "mono", … for a CLOCK_….
[[nodiscard]] std::string clock_text(int clock_id);

}  // namespace strata::nl
