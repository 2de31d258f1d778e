// A keyspace's notifications about its keys for the server of clients, and how it knows that none
// is needed.
#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/cache/engine/keyspace_limits.hpp"

namespace strata::runtime::cache {

class key_observer {
 public:
  key_observer() = default;
  key_observer(const key_observer&) = delete;
  key_observer& operator=(const key_observer&) = delete;
  virtual ~key_observer() = default;

  /// Called when the key's value has changed, or the key was added or removed. Only while there is
  /// attention.
  virtual void on_touch(unsigned database, std::string_view key) = 0;
  /// Called when a database is about to be emptied.
  virtual void on_clear(unsigned database) = 0;
  /// Called when a database is about to get the keys of `other`; and when it has got another's.
  virtual void on_exchange(unsigned database, unsigned other) = 0;
  virtual void on_exchanged(unsigned database) = 0;
  /// Called only for events that the limits select.
  virtual void on_event(std::string_view event, std::string_view key, unsigned database) = 0;
};

/// The reasons why touched keys must be reported. The keyspace checks it first: while there is no
/// reason, a change costs one test.
class attention {
 public:
  enum class reason : std::uint8_t { watched = 1, awaited = 2, tracked = 4 };

  void set(reason why, bool enabled) {
    const auto bit = static_cast<std::uint8_t>(why);
    reasons_ = static_cast<std::uint8_t>(enabled ? reasons_ | bit : reasons_ & ~bit);
  }
  [[nodiscard]] bool is_paid() const { return reasons_ != 0; }

 private:
  std::uint8_t reasons_ = 0;
};

}  // namespace strata::runtime::cache
