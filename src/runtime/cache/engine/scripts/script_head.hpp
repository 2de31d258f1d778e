// The first line of a script, if it begins with `#!`: its engine, its name, and its flags.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace strata::runtime::cache {

enum script_flag : std::uint8_t {
  script_no_writes = 1U << 0U,
  script_allow_oom = 1U << 1U,
  script_allow_stale = 1U << 2U,
  script_no_cluster = 1U << 3U,
  script_allow_cross_slot_keys = 1U << 4U,
};

/// Whether a library, or a function, may have that name.
[[nodiscard]] bool is_script_name(std::string_view name);
/// Finds a flag by its name, such as `no-writes`.
[[nodiscard]] std::optional<script_flag> find_script_flag(std::string_view name);
/// The names of all flags among `flags`, in Redis's order.
[[nodiscard]] std::string_view name_of(script_flag flag);

struct script_head {
  bool is_there = false;
  std::string engine;
  std::string name;        ///< of a library; empty: none
  std::uint8_t flags = 0;  ///< of `script_flag`
  std::string_view body;   ///< what follows it, the end of its line included
};

/// Reads the head of a script of EVAL, which may lack one. Errors: in Redis's words.
[[nodiscard]] std::expected<script_head, std::string> read_script_head(std::string_view text);
/// Reads the head of a library of functions, which must have a name. Errors: in Redis's words.
[[nodiscard]] std::expected<script_head, std::string> read_library_head(std::string_view text);

}  // namespace strata::runtime::cache
