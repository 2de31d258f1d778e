// Outgoing frames that an interface dropped while a verb was sending: the kernel accepts frames,
// and reports them as sent, whether or not the link sends them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace strata::cli {

class link_losses {
 public:
  /// Counts from here on, all frames of the interface.
  explicit link_losses(std::string name);

  /// Frames that the interface dropped or could not send; nullopt if sysfs does not provide it.
  [[nodiscard]] std::optional<std::uint64_t> dropped() const;
  /// A sentence on why none of the `sent` frames, or not the last of them, can have left; nullopt
  /// if they may have.
  [[nodiscard]] std::optional<std::string> trouble(std::uint64_t sent) const;

 private:
  std::string name_;
  std::optional<std::uint64_t> before_;
};

}  // namespace strata::cli
