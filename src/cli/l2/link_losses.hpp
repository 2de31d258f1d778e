// What an interface dropped of what it was to send, while a verb sent: the kernel takes frames, and
// says that they are sent, whether or not the link lets them out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace strata::cli {

class link_losses {
 public:
  /// Counts from here on, of everybody's frames.
  explicit link_losses(std::string name);

  /// Frames that the interface dropped or could not send; nullopt where sysfs does not tell.
  [[nodiscard]] std::optional<std::uint64_t> dropped() const;
  /// Why none of `sent` frames can have left, or the last of them: a sentence.
  [[nodiscard]] std::optional<std::string> trouble(std::uint64_t sent) const;

 private:
  std::string name_;
  std::optional<std::uint64_t> before_;
};

}  // namespace strata::cli
