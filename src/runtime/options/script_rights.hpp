// What a script may do beyond its own runtime, as --lua-allow says.
//
// A script reads the files of its own folder without a right. What it creates or edits has at most
// its own rights: each option says in its row what it reaches, and is held against them.
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
  bool runtimes = false;  ///< create, change, end and send to other runtimes
  bool is_unsafe = false;
  bool is_compiled = false;
  /// Absolute; the script's own folder comes first.
  std::vector<std::string> read_folders = {};
  std::vector<std::string> write_folders = {};

  [[nodiscard]] bool may_read(const std::string& path) const;
  [[nodiscard]] bool may_write(const std::string& path) const;
  /// Whoever has these rights may give those.
  [[nodiscard]] bool includes(const script_rights& other) const;
};

/// Errors: invalid_argument, naming a value of --lua-allow that is none.
[[nodiscard]] result<script_rights> script_rights_of(const script_options& options);
/// The same of options as JSON, those of any type.
[[nodiscard]] result<script_rights> script_rights_of(const nlohmann::json& options);

/// Errors: permission_denied, naming the option and the right that it takes.
[[nodiscard]] result<void> check_reach(const script_rights& rights,
                                       std::span<const options::option_row> rows,
                                       const nlohmann::json& options);

/// The script among `options` gets no right that `rights` lack. Errors: permission_denied.
[[nodiscard]] result<void> check_child(const script_rights& rights, const nlohmann::json& options);
/// As values of --lua-allow.
[[nodiscard]] std::vector<std::string> words_of(const script_rights& rights);

/// A Unix socket's file may be connected to. Errors: permission_denied.
[[nodiscard]] result<void> check_unix_path(const script_rights& rights, const std::string& path);

/// The paths among `options` that are relative, as paths in `folder`.
void make_paths_absolute(std::span<const options::option_row> rows, const std::string& folder,
                         nlohmann::json& options);

}  // namespace strata::runtime
