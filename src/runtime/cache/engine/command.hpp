// The commands: one row each, from which execution, COMMAND's answers and the documentation come.
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

/// Which words are keys, as COMMAND INFO has it: the first, the last (-1: the last word), and every
/// how many. All 0: none, or not to be said so.
struct key_range {
  int first = 0;
  int last = 0;
  int step = 0;
};

/// What the flags' names mean where they matter to execution.
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
};

/// What the engine has to know of a command beyond what COMMAND INFO says.
enum command_trait : std::uint8_t {
  trait_for_subscribers = 1U << 0U,   ///< a RESP2 client that is subscribed may say it
  trait_ends_transaction = 1U << 1U,  ///< executed inside MULTI, and not queued
  trait_quick = 1U << 2U,  ///< takes as long as its words say, though Redis does not call it fast
};

// The order is that in which a row is read.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding)
struct command_row {
  std::string_view name;
  /// Words, the name included; negative: at least that number.
  int arity;
  /// As COMMAND INFO lists them, with blanks between.
  std::string_view flags;
  key_range keys;
  /// How each key is used, as COMMAND INFO's key specifications: "RO access 1 0 1; …". See
  /// command_info.cpp.
  std::string_view key_uses;
  /// ACL categories, less @read, @write, @fast and @slow, which the flags say.
  std::string_view categories;
  std::string_view since;
  std::string_view summary;
  /// Null when there are only subcommands.
  void (*run)(call&) = nullptr;
  std::span<const command_row> subcommands = {};
  std::uint8_t traits = 0;  ///< of `command_trait`
};

/// A row, and what is known of it once all tables are read.
struct command {
  const command_row* row = nullptr;
  const command_row* parent = nullptr;  ///< of a subcommand
  std::string_view group;
  std::uint32_t flags = 0;
  std::size_t index = 0;  ///< in `all_commands()`, subcommands included

  // From the row, where execution finds them at once.
  void (*run)(call&) = nullptr;
  bool is_plain = false;  ///< it can run, and has no subcommands
  std::size_t least_words = 0;
  std::size_t most_words = 0;
  std::size_t first_key = 0;  ///< 0: none

  [[nodiscard]] bool has(command_flag flag) const { return (flags & flag) != 0; }
  [[nodiscard]] bool has(command_trait trait) const { return (row->traits & trait) != 0; }
  /// "config|get" for a subcommand.
  [[nodiscard]] std::string full_name() const;
  [[nodiscard]] bool takes(std::size_t words) const {
    return words >= least_words && words <= most_words;
  }
};

/// The commands of one file, and their group as COMMAND DOCS names it.
struct command_group {
  std::string_view name;
  std::span<const command_row> rows;
};

/// All commands, sorted by name, each followed by its subcommands.
[[nodiscard]] std::span<const command> all_commands();
/// By its name in any case; null when there is none.
[[nodiscard]] const command* find_command(std::string_view name);
[[nodiscard]] const command* find_subcommand(const command& command, std::string_view name);

enum class key_choice : std::uint8_t { all, changed };
/// Positions of the key words of a call: of all, or of those that it may change. Errors: false when
/// they cannot be told from the words.
[[nodiscard]] bool find_keys(const command& command, std::span<const std::string_view> words,
                             std::vector<std::size_t>& positions,
                             key_choice choice = key_choice::all);

}  // namespace strata::runtime::cache
