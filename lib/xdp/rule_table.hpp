// The place of each filter in the XDP program's table, and the queues on which it is used.
#pragma once

#include <array>
#include <expected>
#include <optional>

#include "strata/xdp/program.hpp"
#include "xdp/bpf/rules.h"

namespace strata::xdp {

class rule_table {
 public:
  static constexpr std::uint32_t most_rules = STRATA_MOST_RULES;
  static constexpr std::uint32_t most_queues = STRATA_MOST_QUEUES;

  enum class refusal : std::uint8_t { taken, full, queue_too_high };
  struct place {
    std::uint32_t rule = 0;
    bool is_new = false;
  };

  /// Returns a place for `filter` on `queue`: that of the same filter on another queue, or a free
  /// one.
  [[nodiscard]] std::expected<place, refusal> take(const filter& filter, std::uint32_t queue);
  /// Returns true if the rule is no longer used on any queue.
  bool leave(std::uint32_t rule, std::uint32_t queue);
  /// Returns the table in the program's format.
  [[nodiscard]] strata_rules written() const;

 private:
  struct entry {
    filter which;
    std::uint64_t queues = 0;  // one bit per queue
  };
  std::array<entry, most_rules> entries_;
};

}  // namespace strata::xdp
