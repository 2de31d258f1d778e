// The commands: one row each, from which execution, COMMAND's replies and the documentation are
// derived.
//
// A command is a function in a file of commands/ and a row in that file's table; command_table.cpp
// lists the tables.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace strata::runtime::cache {

class call;

/// The words that are keys, as in COMMAND INFO: the first, the last (-1: the last word), and the
/// step. All 0: none, or not expressible this way.
struct key_range {
  int first = 0;
  int last = 0;
  int step = 0;
};

/// The flags, by their names in COMMAND INFO, that matter to execution.
enum command_flag : std::uint32_t {
  flag_write = 1U << 0U,
  flag_deny_oom = 1U << 1U,  ///< refused when memory is full
  flag_admin = 1U << 2U,
  flag_pubsub = 1U << 3U,
  flag_no_multi = 1U << 4U,
  flag_no_auth = 1U << 5U,
  flag_fast = 1U << 6U,
  flag_blocking = 1U << 7U,
  flag_readonly = 1U << 8U,
  flag_skip_monitor = 1U << 9U,
  flag_movable_keys = 1U << 10U,
  flag_loading = 1U << 11U,  ///< allowed while the data is being loaded
  flag_no_script = 1U << 12U,
  flag_allow_busy = 1U << 13U,         ///< allowed while a script is interrupted
  flag_stale = 1U << 15U,              ///< allowed while the data may be old
  flag_no_mandatory_keys = 1U << 14U,  ///< may have no keys
};

/// Properties of a command that the engine needs beyond COMMAND INFO.
enum command_trait : std::uint8_t {
  trait_for_subscribers = 1U << 0U,   ///< allowed for a subscribed RESP2 client
  trait_ends_transaction = 1U << 1U,  ///< executed inside MULTI, not queued
  trait_quick = 1U << 2U,  ///< its time depends only on its words, though Redis does not flag it as
                           ///< fast
  trait_propagated = 1U << 3U,  ///< propagated to followers, though Redis does not flag it as write
  trait_runs_script = 1U << 4U,     ///< its script may execute commands that are propagated
  trait_publishes = 1U << 5U,       ///< its first argument is a channel
  trait_takes_channels = 1U << 6U,  ///< its arguments are channels
  trait_takes_patterns = 1U << 7U,  ///< its arguments are patterns of channels
};

/// The arity that a command had before a later version of Redis gave it more words.
struct former_arity {
  int arity = 0;
  unsigned until = 0;  ///< the version that changed it, as in version.hpp; 0: none did
};

// The members are in the order in which a row is read.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding)
struct command_row {
  std::string_view name;
  /// The number of words, the name included; negative: at least that number.
  int arity;
  /// As in COMMAND INFO, separated by blanks.
  std::string_view flags;
  key_range keys;
  /// How each key is used, as in COMMAND INFO's key specifications: "RO access 1 0 1; …". See
  /// command_info.hpp.
  std::string_view key_uses;
  /// ACL categories, without @read, @write, @fast and @slow, which follow from the flags.
  std::string_view categories;
  std::string_view since;
  std::string_view summary;
  /// Null if there are only subcommands.
  void (*run)(call&) = nullptr;
  std::span<const command_row> subcommands = {};
  std::uint8_t traits = 0;  ///< of `command_trait`
  former_arity former = {};
};

/// A row, and the data derived from it once all tables are read.
struct command {
  const command_row* row = nullptr;
  const command_row* parent = nullptr;  ///< for a subcommand
  std::string_view group;
  std::uint32_t flags = 0;
  std::size_t index = 0;  ///< in `all_commands()`, subcommands included
  unsigned since = 0;     ///< the version that added it, as a number: see version.hpp

  // Copied from the row, for fast access during execution.
  void (*run)(call&) = nullptr;
  bool is_plain = false;  ///< can run, has no subcommands, and every version has it
  std::size_t least_words = 0;
  std::size_t most_words = 0;
  std::size_t first_key = 0;  ///< 0: none

  [[nodiscard]] bool has(command_flag flag) const { return (flags & flag) != 0; }
  [[nodiscard]] bool has(command_trait trait) const { return (row->traits & trait) != 0; }
  /// Redis hides these, and only these, from MONITOR.
  [[nodiscard]] bool runs_script() const { return has(flag_skip_monitor); }
  /// Returns "config|get" for a subcommand.
  [[nodiscard]] std::string full_name() const;
  [[nodiscard]] bool takes(std::size_t words) const {
    return words >= least_words && words <= most_words;
  }
  /// Returns the arity in a version of Redis.
  [[nodiscard]] int arity_in(unsigned version) const {
    return version < row->former.until ? row->former.arity : row->arity;
  }
};

/// The commands of one file, and their group in COMMAND DOCS.
struct command_group {
  std::string_view name;
  std::span<const command_row> rows;
};

/// Returns all commands, sorted by name, each followed by its subcommands.
[[nodiscard]] std::span<const command> all_commands();
/// Finds a command by its name, ignoring case; null if there is none.
[[nodiscard]] const command* find_command(std::string_view name);
[[nodiscard]] const command* find_subcommand(const command& command, std::string_view name);

enum class key_choice : std::uint8_t { all, changed };
/// Finds the positions of a call's keys: all, or those that it may change. Returns false if they do
/// not follow from the words.
[[nodiscard]] bool find_keys(const command& command, std::span<const std::string_view> words,
                             std::vector<std::size_t>& positions,
                             key_choice choice = key_choice::all);

}  // namespace strata::runtime::cache
