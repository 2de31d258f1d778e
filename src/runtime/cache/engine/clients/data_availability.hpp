// Whether clients may read and change a cache's data at present: not while it is being loaded, and
// no changes while there is an obstacle to them.
//
// The log, the snapshots, replication and the script set the obstacles; the engine checks
// `is_restricted()` before each command. The front owns it. No I/O, one thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace strata::runtime::cache {

/// Reasons to refuse changes.
enum class obstacle : std::uint8_t { log_fails, save_fails, few_followers, follows, script_lags };
inline constexpr std::size_t obstacle_count = 5;

class data_availability {
 public:
  /// Makes commands that change data fail with this error because of the obstacle; empty: no
  /// longer.
  void refuse_changes(obstacle obstacle, std::string error);
  [[nodiscard]] bool has(obstacle obstacle) const {
    return !refusals_[static_cast<std::size_t>(obstacle)].empty();
  }
  /// Returns the error for changes; empty if they are accepted.
  [[nodiscard]] std::string_view refusal() const;
  /// While enabled, the data is being loaded, and clients must not read it.
  void set_loading(bool enabled);
  [[nodiscard]] bool is_loading() const { return is_loading_; }
  /// While enabled, this cache follows another one without a connection to it: the data may be old.
  void set_cut_off(bool enabled);
  [[nodiscard]] bool is_cut_off() const { return is_cut_off_; }
  /// Set while the command that changes the data is interrupted.
  void set_interrupted(bool enabled);
  /// Reports whether changes are refused, data is being loaded or may be old, or a command is
  /// interrupted.
  [[nodiscard]] bool is_restricted() const { return is_restricted_; }

 private:
  void sum_up() {
    is_restricted_ = is_loading_ || is_cut_off_ || is_interrupted_ || !refusal().empty();
  }

  std::array<std::string, obstacle_count> refusals_;
  bool is_loading_ = false;
  bool is_cut_off_ = false;
  bool is_interrupted_ = false;
  bool is_restricted_ = false;
};

}  // namespace strata::runtime::cache
