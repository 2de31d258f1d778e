// The option tables: one row an option, from which the command line, the control API's JSON, the
// help text, the man page and the state file are all made.
//
// A runtime type keeps its options in a plain struct and binds each member to a row. Whoever only
// talks about options (the CLI) sees the rows; whoever reads values (the runtime) sees the struct.
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
  secret,   ///< as text, but shown to nobody; or a reference to a credential
  choice,   ///< one of `choices`; JSON string
  list,     ///< may be given more than once; JSON array of strings
};

/// What an option's value names outside of its runtime.
enum class option_reach : std::uint8_t {
  nothing,
  read_path,     ///< a file or folder that is read; a relative one is meant in the caller's folder
  written_path,  ///< a file that is written; relative likewise
  listening,     ///< where clients are taken; a Unix socket's is a path
  connecting,    ///< where a connection leads, a name or an address; a Unix socket's is a path
  script_right,  ///< what a script may do
};

struct option_row {
  std::string_view key = {};  ///< in JSON, `max_message`; the long flag is `--max-message`
  char short_flag = 0;        ///< `p` for `-p`, or 0
  option_kind kind = option_kind::text;
  std::string_view value_name = {};     ///< for help: `PORT`
  std::string_view default_text = {};   ///< as one would type it; empty: unset
  std::string_view help = {};           ///< one line, lower case, no full stop
  bool needs_restart = false;           ///< a change takes effect at the next start
  std::string_view choices = {};        ///< `line|length|raw`: all of a `choice`, some of a `text`
  std::string_view implicit_text = {};  ///< the value that the bare flag means, if it may be bare
  std::uint64_t max = UINT64_MAX;       ///< largest value of `count`, `port` and `bytes`
  std::uint64_t min = 0;                ///< smallest value of the same
  option_reach reach = option_reach::nothing;
  std::string_view only_with = {};  ///< without effect but with one of these: `drain|mode=master`
  std::string_view only_on = {};    ///< or on an endpoint that carries one of these: `UDP|TLS`
};

/// Its value is a path of the file system.
[[nodiscard]] constexpr bool is_path(const option_row& row) {
  return row.reach == option_reach::read_path || row.reach == option_reach::written_path;
}

/// `a|b` as "a" and "b", which live as long as `choices` does.
[[nodiscard]] std::vector<std::string_view> split_choices(std::string_view choices);

/// `max_message` as the long flag: `--max-message`.
[[nodiscard]] std::string long_flag(const option_row& row);

/// What a person typed, as the JSON value of the row's kind (for `list`: one element's string).
/// Errors: invalid_argument, naming the flag, the value and what it takes.
[[nodiscard]] result<nlohmann::json> parse_option(const option_row& row, std::string_view text);

/// How whoever gave a value has written it, so that errors speak of that.
enum class option_form : std::uint8_t { json, flag };

/// Checks a JSON value against the row. Errors: invalid_argument, naming key or flag, and value.
[[nodiscard]] result<void> check_option(const option_row& row, const nlohmann::json& value,
                                        option_form form = option_form::json);

/// The secret that the row's value stands for. Errors: as of `fill_in_secrets`.
[[nodiscard]] result<std::string> filled_in(const option_row& row, const std::string& value);
/// Whether a secret's value is no secret itself, but says where it is.
[[nodiscard]] bool is_reference(const std::string& secret);

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

/// The rows alone, for those who do not know the struct.
template <class Options>
[[nodiscard]] std::vector<option_row> rows_of(const std::vector<bound_row<Options>>& table) {
  std::vector<option_row> rows;
  rows.reserve(table.size());
  for (const auto& bound : table) rows.push_back(bound.row);
  return rows;
}

/// The rows of a struct for one that derives from it.
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
/// but for those that are references (credentials.hpp), which tell nothing.
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
    if (bound.row.kind != option_kind::secret || with_secrets) continue;
    const auto& secret = value.get_ref<const std::string&>();
    if (!secret.empty() && !is_reference(secret)) value = "********";
  }
  return object;
}

/// Puts into the secrets of `options` what their references stand for. Those that are the same in
/// `before` are known: they become what they are in `known`. Errors: of `secret_of`, naming the
/// flag; what a reference stands for is no value of the option.
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

/// The options that have another value in `destination`, with that value, as a JSON object.
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

/// What may change while a runtime runs becomes what it is in `next`; the rest waits for the next
/// start.
template <class Options>
void apply_live(Options& running, const std::vector<bound_row<Options>>& table,
                const Options& next) {
  for (const auto& bound : table) {
    if (bound.row.needs_restart) continue;
    std::visit([&](auto member) { running.*member = next.*member; }, bound.member);
  }
}

/// Sets the members that `changes` (a JSON object) names; the others stay. Nothing is changed when
/// an error is returned. Errors: invalid_argument for an unknown key or a wrong value.
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
