// CLIENT PAUSE: postpones clients' commands, or only those that write, for a while. When the pause
// is over, each client continues with its postponed command.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/cache/engine/clients/client.hpp"

namespace strata::runtime::cache {

class pause {
 public:
  enum class extent : std::uint8_t { none, writes, all };

  [[nodiscard]] bool is_on() const { return what_ != extent::none; }
  /// Begins or extends a pause: the later end and the larger extent apply.
  void begin(extent extent, std::int64_t end_ms);
  /// Ends the pause for all clients.
  void end();
  [[nodiscard]] bool is_over(std::int64_t now_ms) const { return is_on() && now_ms >= end_ms_; }
  [[nodiscard]] std::optional<std::int64_t> end_ms() const {
    return is_on() ? std::optional(end_ms_) : std::nullopt;
  }

  /// Reports whether this command of `client` must wait.
  [[nodiscard]] bool holds(const client& client, const command& command) const;
  void postpone(client& client);
  void leave(client& gone);

 private:
  extent what_ = extent::none;
  std::int64_t end_ms_ = 0;
  std::vector<client*> postponed_;
};

}  // namespace strata::runtime::cache
