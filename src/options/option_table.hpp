// The option tables: one row per option, from which the command line, the control API's JSON, the
// help text, the man page and the state file are all made.
//
// A runtime type keeps its options in a plain struct and binds each member to a row. Code that only
// describes options (the CLI) sees the rows; code that uses the values (the runtime) sees the
// struct.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "strata/base/result.hpp"

namespace strata::options {

enum class option_kind : std::uint8_t {
  flag,     ///< true or false; JSON boolean
  count,    ///< a whole number; JSON number
  port,     ///< 0 to 65535; JSON number
  bytes,    ///< a size; JSON number; text takes K, M, G and KiB, MiB, GiB (all powers of 1024)
  seconds,  ///< a duration; JSON number of seconds; text takes ms, s, m, h
  text,     ///< JSON string
  secret,   ///< as text, but never shown; or a reference to a credential
  choice,   ///< one of `choices`; JSON string
  list,     ///< may be given more than once; JSON array of strings
};

/// What an option's value refers to outside its runtime.
enum class option_reach : std::uint8_t {
  nothing,
  read_path,     ///< a file or folder that is read; relative to the caller's folder
  written_path,  ///< a file that is written; relative to the caller's folder
  listening,     ///< where clients connect; a path for a Unix socket
  connecting,    ///< where a connection goes, a name or an address; a path for a Unix socket
  script_right,  ///< a permission of a script
  running,       ///< a program that is run, as the daemon's user
};

struct option_row {
  std::string_view key = {};  ///< in JSON, `max_message`; the long flag is `--max-message`
  char short_flag = 0;        ///< `p` for `-p`, or 0
  option_kind kind = option_kind::text;
  std::string_view value_name = {};     ///< for help: `PORT`
  std::string_view default_text = {};   ///< as typed on the command line; empty: unset
  std::string_view help = {};           ///< one line, lower case, no full stop
  bool needs_restart = false;           ///< a change takes effect at the next start
  std::string_view choices = {};        ///< `line|length|raw`: all of a `choice`, some of a `text`
  std::string_view implicit_text = {};  ///< the value of the bare flag, if it may be bare
  std::uint64_t max = UINT64_MAX;       ///< largest value of `count`, `port` and `bytes`
  std::uint64_t min = 0;                ///< smallest value of these
  option_reach reach = option_reach::nothing;
  std::string_view separators = {};  ///< of a `list`: each separates elements of one text
  std::string_view only_with = {};   ///< no effect without one of these: `drain|mode=master`
  std::string_view only_on = {};     ///< no effect on endpoints that carry none of these: `UDP|TLS`
};

/// A flag of the command line that stands for several flags of its type.
struct flag_set {
  option_row row;  ///< kind `flag`
  struct flag_value {
    std::string_view key;
    std::string_view text;  ///< as typed on the command line
  };
  std::span<const flag_value> members;
};

/// Whether its value is a path of the file system.
[[nodiscard]] constexpr bool is_path(const option_row& row) {
  return row.reach == option_reach::read_path || row.reach == option_reach::written_path;
}

/// Splits `a|b` into "a" and "b", which live as long as `choices` does.
[[nodiscard]] std::vector<std::string_view> split_choices(std::string_view choices);

/// The long flag of `max_message`: `--max-message`.
[[nodiscard]] std::string long_flag(const option_row& row);

/// Converts what a user typed to the JSON value of the row's kind (for `list`: one element's
/// string). Errors: invalid_argument, naming the flag, the value and what it takes.
[[nodiscard]] result<nlohmann::json> parse_option(const option_row& row, std::string_view text);

/// Splits a text for a `list` into its elements, which may be one. A text with the URL of a Unix
/// socket is one element.
[[nodiscard]] std::vector<std::string> list_elements(const option_row& row, std::string_view text);

/// The form in which a value was given, so that errors use its terms.
enum class option_form : std::uint8_t { json, flag };

/// Checks a JSON value against the row. Errors: invalid_argument, naming key or flag, and value.
[[nodiscard]] result<void> check_option(const option_row& row, const nlohmann::json& value,
                                        option_form form = option_form::json);

/// Returns the secret that the row's value stands for. Errors: as of `fill_in_secrets`.
[[nodiscard]] result<std::string> filled_in(const option_row& row, const std::string& value);
/// Whether the text of a secret is a reference to it.
[[nodiscard]] bool is_reference(const std::string& secret);
/// Whether the row's value is a secret itself, not a reference to one.
[[nodiscard]] bool is_plain_secret(const option_row& row, const nlohmann::json& value);

[[nodiscard]] result<std::uint64_t> parse_size(std::string_view text);
[[nodiscard]] result<double> parse_seconds(std::string_view text);

/// A row and the member of `Options` that holds its value. An optional member may be unset (JSON
/// null).
template <class Options>
struct bound_row {
  option_row row;
  std::variant<bool Options::*, std::uint64_t Options::*, double Options::*, std::string Options::*,
               std::vector<std::string> Options::*, std::optional<std::uint64_t> Options::*>
      member;
};

/// The rows alone, for code that does not know the struct.
template <class Options>
[[nodiscard]] std::vector<option_row> rows_of(const std::vector<bound_row<Options>>& table) {
  std::vector<option_row> rows;
  rows.reserve(table.size());
  for (const auto& bound : table) rows.push_back(bound.row);
  return rows;
}

/// The rows of a base struct, for a derived one.
template <class Derived, class Base>
[[nodiscard]] std::vector<bound_row<Derived>> rows_for(const std::vector<bound_row<Base>>& table) {
  std::vector<bound_row<Derived>> rows;
  rows.reserve(table.size());
  for (const auto& bound : table) {
    std::visit([&](auto member) { rows.push_back({bound.row, member}); }, bound.member);
  }
  return rows;
}

/// Writes the struct's values as a JSON object. Secrets become "********" unless `with_secrets`,
/// except references (credentials.hpp), which reveal nothing.
template <class Options>
[[nodiscard]] nlohmann::json to_json(const Options& options,
                                     const std::vector<bound_row<Options>>& table,
                                     bool with_secrets) {
  auto object = nlohmann::json::object();
  for (const auto& bound : table) {
    auto& value = object[std::string(bound.row.key)];
    std::visit(
        [&](auto member) {
          const auto& held = options.*member;
          if constexpr (requires { held.has_value(); }) {
            value = held ? nlohmann::json(*held) : nlohmann::json(nullptr);
          } else {
            value = held;
          }
        },
        bound.member);
    if (!with_secrets && is_plain_secret(bound.row, value)) value = "********";
  }
  return object;
}

/// Replaces the references in the secrets of `options` by the secrets. References that are the same
/// in `before` are not read again: they get their values from `known`. Errors: those of
/// `secret_of`, naming the flag; or the secret is no valid value of the option.
template <class Options>
[[nodiscard]] result<void> fill_in_secrets(Options& options,
                                           const std::vector<bound_row<Options>>& table,
                                           const Options& before, const Options& known) {
  for (const auto& bound : table) {
    if (bound.row.kind != option_kind::secret) continue;
    const auto member = std::get<std::string Options::*>(bound.member);
    if (options.*member == before.*member) {
      options.*member = known.*member;
      continue;
    }
    auto filled = filled_in(bound.row, options.*member);
    if (!filled) return std::unexpected(filled.error());
    options.*member = std::move(*filled);
  }
  return {};
}

/// The options whose values differ in `destination`, with those values, as a JSON object.
template <class Options>
[[nodiscard]] nlohmann::json changed_options(const Options& options, const Options& destination,
                                             const std::vector<bound_row<Options>>& table) {
  const auto before = to_json(options, table, true);
  const auto after = to_json(destination, table, true);
  auto changed = nlohmann::json::object();
  for (const auto& [key, value] : after.items()) {
    if (before.at(key) != value) changed[key] = value;
  }
  return changed;
}

/// Copies from `next` the options that may change while a runtime runs; the rest waits for the next
/// start.
template <class Options>
void apply_live(Options& running, const std::vector<bound_row<Options>>& table,
                const Options& next) {
  for (const auto& bound : table) {
    if (bound.row.needs_restart) continue;
    std::visit([&](auto member) { running.*member = next.*member; }, bound.member);
  }
}

/// Sets the members that `changes` (a JSON object) names; the others keep their values. Nothing is
/// changed if an error is returned. Errors: invalid_argument for an unknown key or a wrong value.
template <class Options>
[[nodiscard]] result<void> apply_json(Options& options,
                                      const std::vector<bound_row<Options>>& table,
                                      const nlohmann::json& changes) {
  if (!changes.is_object()) {
    return failure(errc::invalid_argument, "read the options", "they are not a JSON object");
  }
  Options next = options;
  for (const auto& [key, value] : changes.items()) {
    const bound_row<Options>* found = nullptr;
    for (const auto& bound : table) {
      if (bound.row.key == key) found = &bound;
    }
    if (found == nullptr) {
      return failure(errc::invalid_argument, "set option '" + key + "'",
                     "there is no such option for this type", "see 'strata create --help'");
    }
    if (auto checked = check_option(found->row, value); !checked) return checked;
    std::visit(
        [&](auto member) {
          using value_type = std::remove_cvref_t<decltype(next.*member)>;
          if constexpr (std::is_same_v<value_type, std::optional<std::uint64_t>>) {
            next.*member = value.is_null() ? value_type{} : value.template get<std::uint64_t>();
          } else {
            next.*member = value.is_null() ? Options{}.*member : value.template get<value_type>();
          }
        },
        found->member);
  }
  options = std::move(next);
  return {};
}

}  // namespace strata::options
