// What a script may do beyond its own runtime, as set by --lua-allow.
//
// A script reads the files of its own folder without a right. What it creates or edits has at most
// its own rights: each option's row says what the option reaches, which is checked against them.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "options/option_table.hpp"
#include "runtime/options/script_options.hpp"

namespace strata::runtime {

struct script_rights {
  bool net = false;       ///< connect to other programs
  bool runtimes = false;  ///< create, change, end and send messages to other runtimes
  bool is_unsafe = false;
  bool is_compiled = false;
  /// Absolute; the script's own folder comes first.
  std::vector<std::string> read_folders = {};
  std::vector<std::string> write_folders = {};

  [[nodiscard]] bool may_read(const std::string& path) const;
  [[nodiscard]] bool may_write(const std::string& path) const;
  /// Whether a script with these rights may grant the others.
  [[nodiscard]] bool includes(const script_rights& other) const;
};

/// Errors: invalid_argument, naming an invalid value of --lua-allow.
[[nodiscard]] result<script_rights> script_rights_of(const script_options& options);
/// The same from options as JSON, of any type.
[[nodiscard]] result<script_rights> script_rights_of(const nlohmann::json& options);

/// Checks what options reach. Errors: permission_denied, naming the option and the right that it
/// needs.
[[nodiscard]] result<void> check_reach(const script_rights& rights,
                                       std::span<const options::option_row> rows,
                                       const nlohmann::json& options);

/// Checks that the script in `options` gets no right that `rights` lacks. Errors:
/// permission_denied.
[[nodiscard]] result<void> check_child(const script_rights& rights, const nlohmann::json& options);
/// The rights as values of --lua-allow.
[[nodiscard]] std::vector<std::string> words_of(const script_rights& rights);

/// Checks that a Unix socket's file may be connected to. Errors: permission_denied.
[[nodiscard]] result<void> check_unix_path(const script_rights& rights, const std::string& path);

/// Makes the relative paths in `options` absolute, below `folder`.
void make_paths_absolute(std::span<const options::option_row> rows, const std::string& folder,
                         nlohmann::json& options);

}  // namespace strata::runtime
