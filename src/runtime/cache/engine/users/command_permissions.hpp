// The commands that a user may execute, as a list of rules. Source: "ACL", redis.io.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/cache/engine/command.hpp"
#include "runtime/cache/engine/users/command_set.hpp"
#include "strata/base/result.hpp"

namespace strata::runtime::cache {

class command_permissions {
 public:
  /// Applies "+get", "-get", "+config|get", "+select|1" (a first argument), "+@read" or "-@all".
  /// Errors: invalid_argument or not_found; the reason is Redis's text.
  [[nodiscard]] result<void> apply(std::string_view rule);
  /// `words` are the call's, its name included.
  [[nodiscard]] bool allows(const command& command, std::span<const std::string_view> words) const;
  [[nodiscard]] bool allows_all() const { return state_.allowed == every_command(); }
  /// Returns rules that produce the same permissions: those that were applied, without those that
  /// later ones replace or that have no effect. The text of what they produce is the same text.
  [[nodiscard]] std::string text() const;

 private:
  /// A command that is allowed with one first argument only.
  struct first_argument {
    std::size_t command;
    std::string text;
    bool operator==(const first_argument&) const = default;
  };
  struct state {
    command_set allowed;
    std::vector<first_argument> arguments;
    bool operator==(const state&) const = default;
  };
  /// A rule, parsed.
  struct change {
    bool is_addition = false;
    std::string name;      ///< the rule without its sign, in small letters
    command_set commands;  ///< whose permission changes as a whole
    std::vector<first_argument> arguments = {};
  };

  [[nodiscard]] static result<change> parse(std::string_view rule);
  [[nodiscard]] static result<change> parse_command(change change, std::string_view name);
  static void make(state& state, const change& change);
  /// Reports whether the later rule decides on all that the earlier one does.
  [[nodiscard]] static bool is_replaced(const change& earlier, const change& later);
  void remove_idle();
  /// Returns the permissions before the first rule.
  [[nodiscard]] state first_state() const;

  state state_;
  bool begins_with_all_ = false;
  std::vector<change> rules_;
};

}  // namespace strata::runtime::cache
