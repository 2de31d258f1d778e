// Postpones clients' commands: all of them or only those that write, while CLIENT PAUSE lasts;
// those that write, during a failover; those that may change certain keys, while MIGRATE moves
// these. When the reason is over, each client continues with its postponed command.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/cache/engine/clients/client.hpp"

namespace strata::runtime::cache {

class evaluator;

class pause {
 public:
  enum class extent : std::uint8_t { none, writes, all };

  /// Keys that no client may change. The name of a key holds in all databases.
  using held_keys = std::vector<std::string>;

  [[nodiscard]] bool is_on() const {
    return what_ != extent::none || is_failing_over_ || !holds_.empty();
  }
  /// Reports whether all writes are postponed: then nothing may change by itself, either.
  [[nodiscard]] bool holds_writes() const { return what_ != extent::none || is_failing_over_; }
  /// Begins or extends a pause: the later end and the larger extent apply.
  void begin(extent extent, std::int64_t end_ms);
  /// Ends the pause for all clients.
  void end();
  [[nodiscard]] bool is_over(std::int64_t now_ms) const {
    return what_ != extent::none && now_ms >= end_ms_;
  }
  [[nodiscard]] std::optional<std::int64_t> end_ms() const {
    return what_ != extent::none ? std::optional(end_ms_) : std::nullopt;
  }
  /// Begins or ends the postponement of writes for a failover; CLIENT UNPAUSE does not end it.
  void set_failing_over(bool enabled);
  /// Postpones commands that may change these keys, which the caller keeps until it releases them.
  void hold(const held_keys& keys) { holds_.push_back(&keys); }
  void release(const held_keys& keys);

  /// Reports whether this command of `client` must wait. `scripts` may be null.
  [[nodiscard]] bool holds(const client& client, const command& command,
                           std::span<const std::string_view> words, evaluator* scripts) const;
  void postpone(client& client);
  void leave(client& gone);

 private:
  void resume_all();
  [[nodiscard]] bool holds_call(const command& command, std::span<const std::string_view> words,
                                evaluator* scripts) const;
  [[nodiscard]] bool may_change_held(const command& command,
                                     std::span<const std::string_view> words) const;

  extent what_ = extent::none;
  bool is_failing_over_ = false;
  std::int64_t end_ms_ = 0;
  std::vector<const held_keys*> holds_;
  std::vector<client*> postponed_;
};

}  // namespace strata::runtime::cache
